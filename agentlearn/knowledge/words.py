"""How texts and queries become words that can be compared.

Code is found by the parts of its names: `createInvoice` is also `create` and `invoice`. Endings are
cut off lightly, so that "installing" finds "installs". Chinese and Japanese, which have no spaces,
become pairs of characters. The same is done to what is stored and to what is asked.
"""

from __future__ import annotations

import re
import unicodedata

WORD = re.compile(r"[^\W_]+")
SPACED = bytes(code if chr(code).isalnum() else ord(" ") for code in range(128)) + bytes(128)
"""ASCII with a space for all that is in no word: several times as fast as WORD."""
PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z\d]+|[A-Z\d]+")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]+")
STOP_WORDS = frozenset(
    """
    a about after all also an and any are as at be because been but by can could did do does for
    from get had has have how i if in into is it its just me my no not of on or our out over
    please should so some than that the their them then there these they this to up us use used
    using was we were what when where which who why will with would you your
    """.split()  # noqa: SIM905
)
SMALL_TALK = frozenset(
    """
    able above actually again against ahead almost alone along already although always among another
    anybody anyone anything anyway anywhere apparently around asked asking away back basically
    became become becomes before began behind being believe below beside besides best better between
    beyond both bring brings came cannot certain certainly come comes coming completely course
    currently definitely different doing done down during each either else enough especially even
    ever every everybody everyone everything everywhere exactly except fairly feel feels felt
    finally find finds fine first following found fully further gave generally gets getting give
    given gives giving goes going gone gonna good gotta gotten great guess happen happened happening
    happens hardly having hello help helped helps hence here hers herself himself hope hopefully
    however idea ideas immediately indeed inside instead itself keep keeps kept kind kinda knew know
    knowing known knows last lately later least less lets like likely little long look looked
    looking looks lots made mainly make makes making many maybe mean means meant mention mentioned
    might mind mine more moreover most mostly much must myself namely near nearly need needed needs
    neither never nevertheless nice nobody none nope nothing nowhere obviously often okay once ones
    only onto other others otherwise ought ours ourselves outside overall part particular
    particularly parts perhaps piece place please plus point possible possibly pretty previously
    probably properly quickly quite rather ready really reason recently regarding right same saying
    says seem seemed seems seen sense several shall shows showed shown simple simply since slightly
    small somebody somehow someone something sometimes somewhat somewhere soon sorry still stuff
    such suddenly suppose supposed sure take taken takes taking tell telling tells thank thanks that
    theirs themselves therefore thing things think thinking thinks those though thought thoughts
    three through throughout thus till time times today together told tomorrow tonight took totally
    toward towards tried tries truly trying turn turned turns twice under understand unfortunately
    unless unlike until upon useful uses usually various very wanna want wanted wanting wants ways
    well went whatever whenever wherever whether while whole whom whose willing wish within without
    wonder wondering work worked working works worse worth wrong yeah years yesterday yours yourself
    yourselves

    aint arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt shouldnt thats theres theyre
    wasnt werent whats wont wouldnt youre youve aren couldn didn doesn hadn hasn haven mightn mustn
    needn shouldn wasn weren wouldn

    aber alle allem allen aller alles andere anderen anderer anderes auch beim bereits bitte brauche
    brauchen damit danach danke dann daran darf dass dein deine deinen deiner denn deren dich diese
    diesem diesen dieser dieses doch dort durch eben eine einem einen einer eines einfach einige
    etwas euch euer eure ganz gegen genau gerade geht gibt habe haben hallo hast hatte hatten hier
    hinter ihnen ihre ihrem ihren ihrer irgendwie jede jedem jeden jeder jedes jedoch jetzt kann
    kannst kein keine keinen keiner konnen konnte konnten konntest leider mach mache machen macht
    mehr mein meine meinem meinen meiner mich mochte muss mussen musst nach nachdem nicht nichts
    noch obwohl oder ohne schon sehr sein seine seinem seinen seiner seit sich sind solche soll
    sollen sollte sondern sonst sowie uber unser unsere unter viel viele vielleicht wann waren warum
    weil welche welchen welcher welches wenn werde werden wieder will willst wird wirklich wollen
    wollte worden wurde wurden zwischen

    ahora algo alguien algun alguna algunos aqui aunque cada casi como cosa cosas cual cuando
    cualquier debe deben desde donde ella ellas ellos entonces entre eran eres esas esos esta estaba
    estamos estan estar estas este esto estos estoy favor fueron gracias haber hace hacer hacia haga
    hasta hola luego mejor menos mientras misma mismo mucha mucho muchos nada nosotros nuestra
    nuestro nunca otra otras otro otros para pero porque puede pueden puedes puedo pues quien quiere
    quiero segun siempre sino sobre solo somos tambien tampoco tanto tener tengo tiene tienen tienes
    toda todas todos unas unos usted ustedes vamos veces

    alors apres assez aucun aucune aurait aussi autre autres avait avant avec avez avoir avons
    beaucoup bien bonjour cela celle celles celui cette ceux chaque chez comme contre dans depuis
    devrait doit doivent donc elle elles entre etaient etait etes etre faire fait faites faut jamais
    jusque leur leurs lorsque maintenant mais meme memes merci mieux moins notre nous parce parfois
    pendant peut peuvent peux pour pourquoi pourrait pouvez puis quand quel quelle quelles quelque
    quelques quels quoi rien sans sera serait seulement soit sommes sont sous souvent suis tous tout
    toute toutes toujours tres trop veut veux voici voila vont votre voudrais vous
    """.split()  # noqa: SIM905
)
"""What people say whatever they speak of, without accents. A query that somebody typed is taken at
its word: this is left out only where a conversation is looked through for words to look for."""
MOST_KNOWN = 200_000


class _Known(dict[str, str]):
    """What a word becomes, with spaces between if it is several; worked out once a word."""

    def __missing__(self, word: str) -> str:
        if len(self) >= MOST_KNOWN:
            self.clear()
        found = self[word] = " ".join(_forms(word))
        return found


_KNOWN = _Known()


def words_of(text: str) -> list[str]:
    """All words of a text, in order, ready to be compared."""
    return indexed(text).split()


def indexed(text: str) -> str:
    """The words of a text with spaces between, as the index gets them."""
    return " ".join(map(_KNOWN.__getitem__, _split(text)))


def _split(text: str) -> list[str]:
    if text.isascii():
        return text.encode().translate(SPACED).decode().split()
    return WORD.findall(text)


def query_words(text: str, most: int = 32) -> list[str]:
    """The words to look for, each once; those that say nothing only if there are no others."""
    words = _split(text)
    telling = [word for word in words if word.lower() not in STOP_WORDS] or words
    return list(dict.fromkeys(form for word in telling for form in _query_forms(word)))[:most]


def is_telling(word: str) -> bool:
    """Whether a word of a conversation says what it is about."""
    plain = _without_marks(word.lower())
    return plain not in STOP_WORDS and plain not in SMALL_TALK


def _query_forms(word: str) -> list[str]:
    """What a word becomes, without single letters of it: the `i` of `iPhone` is everywhere."""
    forms = _KNOWN[word].split()
    return forms[:1] + [part for part in forms[1:] if len(part) > 1 or not part.isascii()]


def _forms(word: str) -> list[str]:
    """A word as it is compared, and the parts of one that is written together."""
    if CJK.search(word):
        return [form for piece in _pieces(word) for form in piece]
    plain = _without_marks(word)
    parts = PART.findall(plain) if plain.isascii() else []
    whole = stem(plain.lower())
    if len(parts) < 2:
        return [whole]
    return [whole, *(stem(part.lower()) for part in parts)]


def _pieces(word: str) -> list[list[str]]:
    """Runs of characters without spaces as pairs, what stands between them as words."""
    found: list[list[str]] = []
    end = 0
    for match in CJK.finditer(word):
        if match.start() > end:
            found.append(_forms(word[end : match.start()]))
        run = match[0]
        found.append([run[at : at + 2] for at in range(len(run) - 1)] or [run])
        end = match.end()
    if end < len(word):
        found.append(_forms(word[end:]))
    return found


def _without_marks(word: str) -> str:
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFKD", word)
    return "".join(char for char in parts if not unicodedata.combining(char))


def beginning_of(word: str) -> str:
    """What an ASCII text in lower case has in it if the word is one of its words: a stem is how
    the word begins, but for the `y` of what ended in `ies`.
    """
    return word.removesuffix("y")


def stem(word: str) -> str:
    """A word without its ending, as far as that is plain to see."""
    if len(word) < 4 or not word.isascii():
        return word
    for ending, instead, least in (("ies", "y", 5), ("sses", "ss", 5), ("s", "", 4)):
        if word.endswith(ending) and len(word) >= least:
            if ending == "s" and word.endswith(("ss", "us", "is")):
                break
            word = word.removesuffix(ending) + instead
            break
    for ending, least in (("ing", 6), ("ed", 5)):
        if word.endswith(ending) and len(word) >= least:
            word = word.removesuffix(ending)
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word.removesuffix("e") if len(word) > 4 else word
