"""Planted orders that are no sentences: commands, switches, chat templates, hidden markup.

Matched on normalised text in lower case with all its signs.
"""

from __future__ import annotations

from agentlearn.guard.order_shapes import shapes

PARTS = {
    "SHELL": r"(?:sudo (?:-\S+ )*)?(?:/\S{1,40}/)?(?:(?:ba|z|da|k|fi)?sh|python[\d.]*|node|perl"
    r"|ruby|php|pwsh|iex|invoke-expression)\b",
    "FETCH": r"curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|lynx|aria2c",
    "ROLE": r"system|user|assistant|human|tool|developer",
    "VALUABLE": r"\.env\b|\.ssh|id_rsa|id_ed25519|passwd|shadow|credential|\.aws|\.netrc|history"
    r"|secret|token|\.pem|\.key\b|\$\(|`|@-",
}
TABLE = r"""
== piped-to-shell (denied): curl, wget, iwr, irm, invoke-, lynx, aria2c
\b{FETCH}\b[^\n|;]{0,400}\|[^\n]{0,80}?{SHELL}
|\b(?:(?:ba|z|da)?sh|python3?|perl|ruby|node) (?:-\w+ )?["']?(?:<\(|\$\()\s?{FETCH}\b|\b(?:eval
|source|\.) ["']?(?:<\(|\$\(
|`)\s?
{FETCH}\b|\b(?:python3?|node|perl) -[ce] ["']?\$\({FETCH}\b|\b(?:iex|invoke-expression) ?\(+ ?\&?
(?:{FETCH}|new-object)

== piped-to-shell (denied): downloadstring
downloadstring\([^\n]{0,200}(?:\| ?iex|invoke-expression)|\biex\b[^\n]{0,200}downloadstring

== piped-to-shell (denied): chmod
\bchmod \+x (\S{1,100}) ?(?:&&|;) ?(?:sudo )?(?:\./)?\1

== piped-to-shell (denied): urlopen, requests.get, fetch(
\b(?:exec|eval)\([^\n]{0,120}(?:urlopen|requests\.get|fetch)\(

== decoded-and-run (denied): base64, b64decode, atob, -enc, frombase64
\bbase64 (?:-d|-di|--decode)\b[^\n]{0,200}\|[^\n]{0,40}?{SHELL}
|\b(?:exec|eval|os\.system|subprocess\.\w+)\(\s?(?:compile\()?[\w.]{0,40}(?:b64decode|atob)\(
|\bpowershell\b[^\n]{0,80} -e(?:nc|ncodedcommand)?\b|frombase64string\([^\n]{0,200}(?:iex|invoke)

== exfiltration (denied): curl, wget, http
\b(?:curl|wget|httpie|http)\b(?![^\n]{0,300}(?:localhost|127\.0\.0\.1|0\.0\.0\.0))[^\n]{0,300}?
 (?:-d|-f|-t|--data\S*|--form|--upload-file|--post-file|--post-data)[ =]?["']?(?:\w+=)?(?:@
(?!\S{1,80}\.(?:json|xml|ya?ml|csv|graphql|ndjson|proto|sql|html|png|jpe?g|pdf|tar|t?gz|zip|whl|bin
|txt)\b)|[^\s"']{0,80}(?:{VALUABLE}))

== exfiltration (denied): printenv, env |, env|, set |
\b(?:printenv|env|set)\s?\|[^\n]{0,80}?\b(?:curl|nc|ncat|base64|xxd|wget|mail|tee)\b

== exfiltration (denied): /dev/tcp/, nc , ncat , nslookup, dig
 /dev/tcp/[\w.-]+/\d|\bn(?:c|cat) (?:-\S+ ){0,4}[\w.-]+ \d{2,5} ?(?:<|-e\b)|\b(?:nslookup
|dig) \S{0,80}\$\(

== exfiltration: webhook.site, requestbin, pipedream, interact.sh, oast., burpcollaborator, ngrok
== transfer.sh
https?://[\w.-]{0,80}(?:webhook\.site|requestbin|pipedream\.net|interact\.sh|\.oast\.
|burpcollaborator
|\.ngrok(?:-free)?\.(?:io|app|dev)|transfer\.sh)

== unsafe (denied): --no-verify, --dangerously, --yolo, bypasspermissions, --no-gpg-sign
--no-verify\b|--dangerously-[\w-]+|--yolo\b|\bbypass-?permissions\b|--no-gpg-sign\b

== unsafe (denied): chmod, rm -, setenforce, ufw disable, sudoers, authorized_keys
\bchmod (?:-\S+ )?(?:0?777|a\+rwx)\b|\brm (?:-\S+ )*-\S*r\S* (?:-\S+ )*["']?(?:/|~|\$home|/\*
|~/\*)["']?
(?:\s|\Z)|\bsetenforce 0\b|\bufw disable\b|>>? ?\S{0,60}(?:/etc/sudoers|\.ssh/authorized_keys)

== unsafe (denied): commit, alias, -v /, privileged, hookspath
\bcore\.hookspath[ =]["']?/dev/null|\bgit commit (?:\S+ ){0,6}?-[a-mo-z]*n[a-z]*\b(?! =)
|\balias (?:sudo|ssh|git|ls|cd|su)=
|\b(?:docker|podman) run\b[^\n]{0,200} (?:-v|--volume)[ =]/:/

== unsafe (denied): push
\bgit (?:-c \S+ ){0,3}push (?:\S+ ){0,4}?(?:--force|-f)(?: \S+){0,3} (?:\S{0,40}[:/])?(?:main
|master|trunk
|prod\w*)\b
|\bgit (?:-c \S+ ){0,3}push (?:\S+ ){0,4}?\+(?:main|master)\b
|\bgit (?:-c \S+ ){0,3}push (?:\S+ ){0,3}(?:main|master) (?:--force|-f)
(?!-)\b

== unsafe (denied): tls, ssl, verify, insecure, certificate, stricthostkey, curl -k, trusted-host
== web-security
\bnode_tls_reject_unauthorized\s?=\s?["']?0|\bpythonhttpsverify\s?=\s?0|\bgit_ssl_no_verify\b
|\bhttp\.sslverify[ =]["']?false|\bstricthostkeychecking[ =]["']?no\b|\bverify ?= ?false\b
|\bstrict-ssl[ =]["']?false|--insecure\b(?!-)|--no-check-certificate\b|\bcurl (?:\S+ ){0,4}?-\w*k\b
|\brejectunauthorized["']? ?: ?false|\binsecureskipverify ?: ?true|--disable-web-security\b
|--trusted-host\b|\bcert_none\b|\bssl\._create_unverified_context\b

== chat-template: <|, |>, [inst, <<sys, _of_turn, <system, </system, <user, </user, <assistant
== </assistant, <human, </human, <function_, <tool_, </tool_, <invoke, <system-reminder
<\|[\w▁ -]{2,40}\|>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|</?(?:system|system-reminder
|system_prompt|assistant|human|function_calls|function_results|tool_result|tool_results|tool_call
|tool_use|tool_response|antml:\w+|invoke name)(?:\s[^>\n]{0,100})?>|</user>

== chat-template: ### instruction:, ### system:, ### response:, ### human:, ### assistant:
== ### user:, [system], [assistant], [user], system prompt
^\s{0,6}#{2,4} (?:instruction|response|{ROLE}) ?:|^\s{0,4}\[system\]|\[(?:system|assistant
|user)\]\(#|(?:begin|end|start)(?: of)?
 (?:the )?system prompt\b

== fake-turn: tool_result:, tool_call:, assistant:, ai:, system:
^\s{0,8}(?:\[[le]\d+\] )?(?:tool_result|tool_call): |^\s{0,8}system: (?:you\b|ignore|new |override
|from
 now|always|never)|^\s{0,8}\**(?:user|human)\**: [^\n]{0,2000}\n(?:[^\n]{0,2000}\n){0,6}?\s{0,8}\**
(?:assistant|ai|claude|chatgpt)\**: |^\s{0,8}\**(?:assistant|ai|claude|chatgpt)\**: [^\n]{0,2000}\n
(?:[^\n]{0,2000}\n){0,6}?\s{0,8}\**(?:user|human)\**:(?=\s)

== hidden-markup: <!--, [//]:, [comment]:
<!--(?:[^<-]|<(?!!--)|-(?!->)){0,1500}?\b(?:ais?|assistants?|(?:ai|coding|the|all|any) agents?
|(?<![/.-])claude(?![/.-])|copilot|llms?|ignore all|instructions?|you (?:must|should|are|will
|need|have))\b
|^\s{0,3}\[(?://|comment)\]: (?:#|<>) ?[("'][^\n]{0,400}?\b(?:you|your|ai|assistants?|agents?
|claude
|instructions?)\b

== hidden-markup: style=
<\w+[^>\n]{0,200}style\s?=\s?["'][^"'\n]{0,200}(?:display:\s?none|visibility:\s?hidden
|font-size:\s?0
|opacity:\s?0(?![.\d]))

== beacon: ![, <img
!\[[^\]\n]{0,200}\]\(\s?https?://[^)\s]{1,300}[?&/#](?:[^)\s]{0,200}=)?[^)\s]{0,100}(?:\{[^)\n]{1
,80}\
}
|\$\{?\w|<[^)\n]{1,80}>|\[[^)\n]{1,80}\]|%s)
|!\[[^\]\n]{0,200}\]\(\s?https?://[^)\s]{1,300}[?&](?:data
|payload|secrets?|exfil|leak|env|stolen|conversation|history|contents?|prompt|password)=
|<img[^>\n]{0,200}src\s?=\s?["']?https?://[^"'>\s]{1,300}[?&](?:data|payload|secrets?|exfil|leak
|env
|conversation|history|contents?|prompt|password|q|d|c)=
|\]\(javascript:
"""
SHAPES = shapes(TABLE, PARTS)
