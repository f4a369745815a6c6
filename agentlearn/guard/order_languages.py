"""How planted orders sound in German, French, Spanish and others: the commonest only."""

from __future__ import annotations

from agentlearn.guard.order_shapes import shapes

TABLE = r"""
== override: anweisung, instruktion, vorgabe, befehl, systemprompt, regel
\b(?:ignorier(?:e|t|en)?|vergiss|vergesst|vergessen sie|missachte|verwirf) (?:\S+ ){0,4}?
(?:vorherige|bisherige|obige|frühere|alle|deine|ihre|vorige|vorangegangene)[nr]?
 (?:\S+ ){0,2}?\S*(?:anweisung|instruktion|vorgabe|befehl|systemprompt|regel)

== override: vergiss, ignorier
\b(?:vergiss|ignorier(?:e|t|en)?) (?:alles|was)\b[^.\n]{0,30}\b(?:gesagt|bisher|zuvor|vorher
|davor|oben)\b

== role: du bist, ab jetzt, ab sofort, von nun an
\bdu bist (?:jetzt|nun|ab (?:jetzt|sofort)) (?:ein|der|die|im|frei|kein)
|\b(?:ab (?:jetzt|sofort)|von nun an) (?:bist|wirst|musst|sollst|antworte(?:st)?|befolge
|befolgst)\b

== secrecy: nutzer, user, anwender
\b(?:sag|sage|verrate|erzähl|erzähle|teile|melde) (?:\S+ )?(?:dem|der|den) (?:be)?(?:nutzer|user
|anwender)(?:in)? (?:davon )?(?:nichts|nicht|das nicht|kein)
|\bohne (?:den|die) (?:be)?(?:nutzer|user|anwender)(?:in)? (?:zu|vorher zu) (?:fragen|informieren)

== exfiltration: http
\b(?:sende|schicke?|lade|envoie[zr]?|envía|envia|manda|invia|отправь(?:те)?
|пришли)\b[^.\n]{0,60}(?:passw
|kennw|schlüssel|zugangsdaten|geheim|mots? de passe|clés?|secret|contraseña|clave|token|парол|ключ
|токен|секрет)[^\n]{0,60}https?://|(?:密钥|密码|密碼|凭证|令牌|密鑰|パスワード|秘密|鍵)[^\n]{0,20}(?:发送?到|發送到
|上传到|送信|送って)|(?:发送|上传)[^\n]{0,10}(?:密钥|密码|凭证|令牌)

== override: instructions, consignes, directives, règles
\b(?:ignore[zr]?|oublie[zr]?|ne (?:tiens|tenez|tenir) pas compte|faites abstraction
|fais abstraction
|ne (?:suis|suivez) (?:pas|plus)) (?:\S+ ){0,5}?(?:instructions|consignes|directives|règles)
 (?:précédentes|antérieures|ci-dessus|initiales|du système|données|reçues)

== role: tu es, vous êtes, à partir de maintenant, désormais
\b(?:tu es|vous êtes) (?:maintenant|désormais)\b|\b(?:à partir de maintenant|désormais),? (?:tu
|vous)

== secrecy: utilisateur, sans demander
\bne (?:(?:le|la|lui|en) )?(?:dis|dites|révèle|révélez|mentionne|mentionnez|informe|informez)
 (?:pas|jamais|rien) (?:\S+ ){0,3}?(?:à )?l'utilisateur
|\bsans (?:demander|prévenir|informer|avertir) (?:\S+ )?(?:(?:à )?l'utilisateur|confirmation
|permission|autorisation)

== override: instrucciones, órdenes, reglas, indicaciones, istruzioni, instruções
\b(?:ignora|ignore|ignorar|olvida|olvide|descarta|haz caso omiso de|esqueça|dimentica|desconsidere)
 (?:\S+ ){0,5}?(?:instrucciones|órdenes|reglas|indicaciones|istruzioni|instruções) (?:anteriores
|previas|precedentes|de arriba|del sistema|precedenti|do sistema|acima)

== override: todo lo
\b(?:olvida|ignora|descarta) todo lo (?:anterior|previo|de arriba)\b

== role: ahora eres, a partir de ahora, de ahora en adelante
\bahora eres (?:un|una|el|la|libre)\b|\b(?:a partir de ahora|de ahora en adelante),? (?:eres|debes
|responde|siempre|nunca|vas)\b

== secrecy: usuario
\bno (?:se )?(?:(?:le|lo) )?(?:digas?|menciones?|informes?|reveles?|cuentes?) (?:\S+ ){0,3}?al
 usuario|\bsin (?:preguntar|avisar|informar)(?:le)? al usuario

== override: 指令, 指示, 提示, 规则, 規則, 要求, 命令, 说明
(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要遵循|不要遵守|抛弃|绕过).{0,12}(?:指令|指示|提示|规则|規則|要求|命令|说明)

== role: 你现在是, 你現在是, 从现在, 從現在
你[现現]在是|[从從][现現]在(?:开始|起|開始)[,，]?你

== secrecy: 用户, 用戶, 使用者
(?:不要|别|請勿|请勿|不得)(?:告诉|告訴|通知|提醒|让|讓|向)(?:用户|用戶|使用者)
|(?:无需|不用|不要|無需)(?:询问|征求|詢問)(?:用户|用戶|使用者)

== override: 無視, 忘れ, 従わ
(?:指示|命令|ルール|プロンプト|指令|設定).{0,8}(?:無視し|無視す|忘れ(?:て|ろ|なさい)|従わないで)

== role: あなたは今, 今からあなた, これからあなた
あなたは今(?:から|、)|(?:今|これ)からあなたは

== secrecy: ユーザー, 利用者, 使用者
(?:ユーザー|利用者|使用者)に(?:は)?(?:言わ|伝え|知らせ|教え|報告し|確認せ)(?:ない|ず)

== override: 무시, 잊
(?:이전|위의|모든|기존).{0,10}(?:지시|명령|규칙|지침|프롬프트).{0,8}(?:무시|잊)

== override: инструкци, указани, правил, команд, промпт, сообщени
\b(?:(?:про)?игнорируй(?:те)?|забудь(?:те)?|отмени(?:те)?|не (?:следуй|выполняй|обращай)(?:те)?)
 (?:\S+ ){0,5}?(?:инструкци|указани|правил|команд|промпт|сообщени)

== role: ты теперь, теперь ты, вы теперь, отныне
\b(?:ты теперь|теперь ты|вы теперь|отныне ты|отныне вы)\b

== secrecy: пользовател
\bне (?:говори|сообщай|рассказывай|упоминай)(?:те)? (?:\S+ ){0,3}?пользовател
|\bне спрашивая (?:\S+ ){0,2}?пользовател|\bбез ведома пользовател
"""
SHAPES = shapes(TABLE, {})
