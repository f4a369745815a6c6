"""Secrets that are told in a sentence: "always use the password … for staging", "bob / …".

Between the word for a secret and the secret itself stand a few plain words, in any language. So
the words that follow are read one by one: letters lead on, a number or a line end does not, and
the first one that looks made by a machine is the secret. Prose has none: it is the value that
decides, and far more strictly than after `password=`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentlearn.guard.secret_values import is_made, is_path, mixes

WORDS: dict[str, tuple[re.Pattern[str], str]] = {
    literal: (re.compile(pattern, re.ASCII), kind)
    for literal, pattern, kind in (
        ("pass", r"pass(?:words?|wd|phrases?|codes?|wort|e)(?![a-z])", "password"),
        ("pw", r"pwd?(?![a-z])", "password"),
        ("kennwort", "kennwort", "password"),
        ("wachtwoord", "wachtwoord", "password"),
        ("contrase", r"contrase[\wñ?]{1,3}", "password"),
        ("senha", "senha", "password"),
        ("clave", r"claves?(?![a-z])", "password"),
        ("token", r"tokens?(?![a-z])", "token"),
        ("secret", r"secrets?(?![a-z])", "secret"),
        ("cred", r"cred(?:ential)?s?(?![a-z])", "credential"),
        ("login", r"login(?![a-z])", "credential"),
        ("--auth", r"--auth(?![a-z])", "credential"),
        ("log in", r"log in(?![a-z])", "credential"),
        ("logged in", r"logged in(?![a-z])", "credential"),
        ("sign in", r"sign in(?![a-z])", "credential"),
        ("key", r"keys?(?![a-z])", "key"),
    )
}
FOREIGN = ("ароль", "ароля", "密码", "密碼", "パスワード", "비밀번호", "令牌", "токен")
WORD = re.compile(r"[^\s\"'`|,;()<>\[\]{}\\=*“”「」：]+")
LINE_END = re.compile(r"\n|\\+[nr]")
DEFAULT = re.compile(r"[^\n]{0,5}\{(?:\s|\\+n)+(?:(?!default)\w+\s*=[^\n]*?(?:\n|\\+n)\s*){0,4}")
"""A variable of Terraform, whose default is on a line of its own."""
NEXT_LINE = re.compile(r"[^\n:]{0,40}:[ \t]*(?:\n|\\+n){1,2}[ \t]*(?:`{3}\w*(?:\n|\\+n))?")
MOST_CHARS, MOST_WORDS, WITH_LINES = 90, 9, 250
MIXED = re.compile(r"[A-Za-z]\d|\d[A-Za-z]|[A-Za-z]{20}", re.ASCII)
"""What every secret has somewhere: most prose is passed over by it."""
IS_NAMED = re.compile(
    r"(?P<value>[^\s\"'`|,;()<>\[\]{}\\=]{10,200})[\"'`]{0,2}\s(?:\(|as |is )"
    r"(?:(?:the|a|an|my|our|your|his|her|their|its|new|old|current)\s)?(?:[a-z-]{2,20}\s){0,2}\Z"
)
"""The other way round: "… is the staging password"."""
TELLS = {"is", "was", "are", "ist", "lautet", "es", "est", "to", "=", ":", "->", "=>", "|", "："}
LEADS_AWAY = re.compile(
    r"(?:ids?|uuids?|guids?|hash\w*|sha\w*|md5|commit\w*|fingerprint\w*|checksum\w*|digest\w*|file"
    r"|path|public|pub|branch|revision|ref|model|image|url|algorithm|counts?|primary|foreign"
    r"|cache|sort|partition|idempotency|version|signature)\Z"
)
ENDS = (".", "?", "!")
HEX = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{24,}")
"""A hash like any other, unless it stands right after the word."""


def told_secrets(folded: str, lowered: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each secret that stands in a sentence that speaks of one."""
    for literal, (pattern, kind) in WORDS.items():
        at = lowered.find(literal)
        while at >= 0:
            found = pattern.match(lowered, at)
            end = found.end() if found else at + len(literal)
            if found and _begins(folded, at):
                yield from _around(folded, at, end, kind)
            at = lowered.find(literal, end)


def told_abroad(text: str) -> Iterator[tuple[str, int, int]]:
    """The same after the word for it in other scripts; the text is not folded."""
    for word in FOREIGN:
        at = text.find(word)
        while at >= 0:
            yield from _around(text, at, at + len(word), "password")
            at = text.find(word, at + len(word))


def _begins(folded: str, at: int) -> bool:
    """`password`, `db_password` and `dbPassword`, not `bypass`, `monkey` and `compass`."""
    if at == 0 or not folded[at - 1].isalnum() or folded[at].isupper():
        return True
    return LINE_END.fullmatch(folded, max(0, at - 2), at) is not None


def _around(text: str, at: int, end: int, kind: str) -> Iterator[tuple[str, int, int]]:
    if not MIXED.search(text, max(0, at - 120), end + WITH_LINES):
        return
    before = text[max(0, at - 120) : at]
    leads = WORD.findall(before[-14:])
    if leads and LEADS_AWAY.match(leads[-1].rstrip("_-").lower()):
        return  # a public key
    if (" is " in before or " as " in before or "(" in before[-40:]) and MIXED.search(before):
        named = IS_NAMED.search(before)
        if named and is_made(named["value"], told=True):
            start, stop = named.span("value")
            yield kind, at - len(before) + start, at - len(before) + stop
    if not MIXED.search(text, end, end + WITH_LINES):
        return
    told = _after(text, end, kind)
    if told is None and (skip := NEXT_LINE.match(text, end) or DEFAULT.match(text, end)):
        told = _after(text, skip.end(), kind, most_words=2)
    if told is not None:
        yield kind, *told


def _after(
    text: str, start: int, kind: str, most_words: int = MOST_WORDS
) -> tuple[int, int] | None:
    """The first word after that place that is a secret, if only plain words lead to it."""
    line_end = LINE_END.search(text, start, start + MOST_CHARS)
    limit = line_end.start() if line_end else min(len(text), start + MOST_CHARS)
    last = start
    before = ""
    for number, word in enumerate(WORD.finditer(text, start, limit)):
        between = text[last : word.start()].strip()
        last = word.end()
        if number >= most_words or LEADS_AWAY.match(before.lower().strip("_:-")):
            return None
        # What goes on after the window was cut off, not ended.
        whole = WORD.match(text, word.start())
        found = _value(whole[0] if whole else word[0], kind, before, between)
        if found is not None:
            return word.start() + found[0], word.start() + found[1]
        plain = word[0].strip(":.-_/>→–—&+#@!?$%")
        is_number = plain.isdigit() and len(plain) > 1
        if is_number or word[0].endswith(ENDS) or len(plain) > 24:
            return None
        before = word[0]
    return None


def _value(word: str, kind: str, before: str, between: str) -> tuple[int, int] | None:
    """Where in the word the secret is."""
    value = word.rstrip(".:!?…")
    start = value.find("/") + 1 if value.count("/") == 1 else 0  # bob/…
    if value.count("/") > 1 and len(value) < 32:
        return None
    value = value[start:]
    if is_path(value) or "://" in value:
        return None
    is_told = before.lower() in TELLS or before.endswith((":", ">")) or between in TELLS
    is_hex = not before and kind != "key" and HEX.fullmatch(value)
    if (
        is_hex
        or is_made(value, kind, is_told or not before)
        or (kind == "password" and is_told and _is_chosen(value))
    ):
        return start, start + len(value)
    return None


def _is_chosen(value: str) -> bool:
    """`Winter2026`, where nothing but a password can be meant."""
    return len(value) >= 8 and value.isalnum() and mixes(value) and value[0].isupper()
