"""Secrets that are told by where they stand: in a URL, a cookie, a command, a credentials file.

Every pattern is matched on text in lower case and begins with a literal: that is what makes it
quick to look for. What must stand before the literal is looked at afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from agentlearn.guard.secret_values import (
    is_dense,
    is_invented,
    is_login,
    is_placeholder,
    is_random,
    mixes,
)

Q = r"\\*[\"'`]"
WORD = rf"(?:{Q})?(?P<secret>[^\s\"'`\\|;&<>]+)"
TWELVE_WORDS = r"(?P<secret>(?:[a-z]{3,8} ){11,23}[a-z]{3,8})\b"
LINE_CHARS = 400
"""How far back in its line the program is looked for that an option belongs to."""


def is_given(value: str) -> bool:
    """A value where only a secret can stand: all but a placeholder is one."""
    return len(value) >= 3 and not is_placeholder(value)


def is_token(value: str) -> bool:
    return not is_placeholder(value) and (is_random(value) or (mixes(value) and len(value) >= 12))


def _is_url_password(value: str) -> bool:
    return not re.match(r"\d{2,5}[?#]", value) and is_given(value)


def _is_mixed(value: str) -> bool:
    return not is_placeholder(value) and (mixes(value) or is_dense(value))


def _is_made(value: str) -> bool:
    """For places so narrow that all but words and masks is a secret."""
    return not is_invented(value)


def _always(value: str) -> bool:
    return True


class Place(NamedTuple):
    kind: str
    source: str
    """Its group `secret` is the value."""
    is_secret: Callable[[str], bool] = is_given
    before: str = ""
    """What must stand earlier in the line."""


PLACES = (
    Place(
        "url-password",
        r"://[^\s/:@\"'`<>\\]{0,100}:(?P<secret>[^\s/\"'`<>\\]{1,300})@(?=[\w.$\[{-])",
        _is_url_password,
    ),
    Place("url-token", r"://(?P<secret>[\w.~%-]{20,300})@(?=[\w.\[])", is_token),
    Place("url-signature", r"sig(?:nature)?=(?P<secret>[\w%+/=.~-]{16,})", is_random, r"[?&;-]\Z"),
    Place("bearer-token", r"bearer[ \t]+(?P<secret>[\w.~+/=-]{8,})", is_token),
    Place("basic-auth", r"basic[ \t]+(?P<secret>[a-z0-9+/]{8,}={0,2})", is_login),
    Place("cookie", r"id=(?P<secret>[\w%.+/=:-]{12,})", is_token, r"(?:sess|session|[._]s)\Z"),
    Place("cookie", r"_session=(?P<secret>[\w%.+/=:-]{12,})", is_token),
    Place(
        "pgpass-password",
        r":(?:5\d{3}|6\d{3}|\*):[a-z_*][\w*-]*:[a-z_*][\w*@-]*:(?P<secret>[^\s\"'`\\]{4,})",
        _is_mixed,
        r"[\w*]\Z",
    ),
    Place("password", rf"echo[ ]{WORD}(?:{Q})?[ ]*\|[ ]*sudo[ ]-s\b"),
    Place("password", rf"identified[ ]by[ ](?:password[ ])?{Q}(?P<secret>[^\"'`\\\n]+)"),
    Place(
        "webhook",
        r"hook(?:s\.slack\.com/(?:services|workflows|triggers)/|s/(?=\d)|b2/)"
        r"(?P<secret>[\w/+@-]{20,})",
        _is_made,
    ),
    Place("telegram-token", r":aa(?P<secret>(?<=\d:aa)[\w-]{30,})", _is_made),
    Place("google-token", r"1//0(?P<secret>[\w-]{30,})", _is_made),
    Place(
        "password-hash",
        r"\$(?P<secret>(?:2[abxy]\$\d\d|argon2(?:id?|d)\$[\w=,$]{1,60}|[156y]|apr1)\$[\w./$+=]{16,})",
        _always,
    ),
    Place("jwk-private", r'"d\\*"[ ]?:[ ]?\\*"(?P<secret>[\w-]{20,})', _is_made),
    Place("seed-phrase", rf"mnemonic(?:{Q})?\s?[:=]\s?(?:{Q})?{TWELVE_WORDS}", _always),
    Place(
        "seed-phrase",
        rf"phrase(?:{Q})?\s?(?:[:=]|is)\s?(?:{Q})?{TWELVE_WORDS}",
        _always,
        r"\b(?:seed|recovery|backup)[ _-]?\Z",
    ),
)
PATTERNS = [
    (place, re.compile(place.source, re.ASCII), re.compile(place.before)) for place in PLACES
]
OPTION = re.compile(r" -(?P<name>[pua]|-user|-proxy-user)(?P<gap>[ =]?)(?=[\"'\w\\])")
LOGIN = re.compile(rf"(?:{Q})?[^\s:\"'`\\]{{1,100}}:(?P<secret>[^\s\"'`\\]+)")
HTTP = re.compile(r"(?:\b|\\n)(?:curl|wget|https?|xh)\b")
OPTIONS = {
    "-p": (re.compile(r"(?:\b|\\n)(?:mysql|mariadb|7z)|sshpass\Z"), re.compile(WORD)),
    "-p ": (re.compile(r"(?:\b|\\n)mongo|\blogin\b|sshpass\Z"), re.compile(WORD)),
    "-a ": (re.compile(r"(?:\b|\\n)redis-cli\b"), re.compile(WORD)),
    "-u": (HTTP, LOGIN),
    "-u ": (HTTP, LOGIN),
    "--user ": (HTTP, LOGIN),
    "--proxy-user ": (HTTP, LOGIN),
}
"""Which programs take a password after an option, and how it is written there."""
COOKIES = re.compile(rf"cookie(?:{Q})?[ \t]*[:=,][ \t]*(?:{Q})?(?P<pairs>[^\n\"'`\\]{{4,8000}})")
PAIR = re.compile(r"(?P<name>[^\s=;,]{1,80})=(?P<secret>[^\s;,]+)")
SESSION_NAME = re.compile(r"sess|sid|auth|token|csrf|xsrf|jwt|remember|login|sso|secret")
MANIFEST = re.compile(r"kind:[ \t]*[\"']?secret\b")
EOL = r"(?:\n|\\+n)"
MANIFEST_DATA = re.compile(rf"{EOL}(?P<indent>[ \t]*)(?:string)?data:[ \t]*(?={EOL})")
MANIFEST_CHARS = 1500
"""How much may stand between the kind of a manifest and its data."""
MANIFEST_PAIR = re.compile(
    rf"{EOL}(?P<indent>[ \t]*)[\w.-]+:[ \t]*[\"']?(?P<secret>[^\s\"'|>{{\\][^\s\"'\\]*)"
    rf"(?:(?!{EOL}).)*"
)


def placed_secrets(folded: str, lowered: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each secret that its surroundings tell."""
    for place, pattern, before in PATTERNS:
        for match in pattern.finditer(lowered):
            start, end = match.span("secret")
            if _stands_after(before, lowered, match.start()) and place.is_secret(folded[start:end]):
                yield place.kind, start, end
    for option in OPTION.finditer(lowered):
        found = OPTIONS.get(f"-{option['name']}{' ' if option['gap'] else ''}")
        given = found and found[1].match(folded, option.end())
        if not found or not given or not is_given(given["secret"]):
            continue
        if _stands_after(found[0], lowered, option.start()):
            yield "password", *given.span("secret")
    for header in COOKIES.finditer(lowered):
        for pair in PAIR.finditer(folded, *header.span("pairs")):
            if _is_session(pair["name"].lower(), pair["secret"]):
                yield "cookie", *pair.span("secret")
    for manifest in MANIFEST.finditer(lowered):
        for start, end in _manifest_values(folded, lowered, manifest.end()):
            yield "kubernetes-secret", start, end


def _manifest_values(folded: str, lowered: str, start: int) -> Iterator[tuple[int, int]]:
    """The values under `data:` of a Kubernetes secret, whatever their names are."""
    is_near = lowered.find("data:", start, start + MANIFEST_CHARS) > 0
    data = MANIFEST_DATA.search(lowered, start, start + MANIFEST_CHARS) if is_near else None
    if not data or "nkind:" in lowered[start : data.start()].replace("\n", "n"):
        return
    end = data.end()
    while pair := MANIFEST_PAIR.match(folded, end):
        if len(pair["indent"]) <= len(data["indent"]):
            return
        if is_given(pair["secret"]):
            yield pair.span("secret")
        end = pair.end()


def _stands_after(before: re.Pattern[str], text: str, start: int) -> bool:
    if not before.pattern:
        return True
    floor = max(0, start - LINE_CHARS)
    return before.search(text, max(floor, text.rfind("\n", floor, start) + 1), start) is not None


def _is_session(name: str, value: str) -> bool:
    if len(value) < 8 or is_placeholder(value):
        return False
    return is_random(value, 16) or (SESSION_NAME.search(name) is not None and mixes(value))
