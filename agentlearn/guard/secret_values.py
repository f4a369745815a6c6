"""Whether a value is a secret, or only stands where one could: a word, a placeholder, code, a path.

Keys that machines made mix letters and digits as no writer does; that is told here by how a value
falls into parts, not by its entropy, which rates `getUserSecretById` as high as a short key.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error

SEGMENT = re.compile(r"[A-Za-z0-9]+")
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
SAME = re.compile(r"(.)\1{5}")
MASK = re.compile(r"[xX]{5}|\*{3}|\.{3}|#{3}")
STANDS_FOR = re.compile(
    r"your|example|place-?_?holder|change-?_?(?:me|it|this)|replace|redacted|dummy|insert|sample"
    r"|fake|mocked?(?:[^a-z]|\Z)|masked|x{4}|%[sdrv]|\{\w*\}|\*{3}|\.\.\.|\?\?\?|todo|fixme|goes-?_?here"
    r"|(?:^|[^a-z])(?:foo|bar|baz|here|my|some|test|tests|testing|demo|stub)(?:[^a-z]|\Z)",
    re.IGNORECASE,
)
REFERENCE = re.compile(
    r"--?[a-z]|\$[\w{(]|\$\Z|\{|%\(|%[A-Z_]+%|%[a-zA-Z]\Z|<|\[|@\w+@?\Z|#\{|\(|process\.env|os\.|env[.:(]"
    r"|vault:|ssm:|secrets?[./]|op://|keychain:|file:|arn:|sha\d+[:-]\b"
)
"""What a value begins with that only says where the secret is."""
DATE = re.compile(r"\d{4}-?\d\d-?\d\dT?[\d:]*Z?\Z")
PATH = re.compile(
    r"(?:~|\.{0,2})/[\w.@-]+(?:/|\Z)|[A-Za-z]:[\\/]|https?:|[\w.@-]+(?:/[\w.@-]+)*\.[a-z]{2,4}\Z"
)
IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)*\Z")
NO_SECRET = re.compile(
    r"[0-9a-fA-F.:-]+\Z|[0-9a-fA-F]{7,64}(?:\.\.|\W)|v?\d[\d.]*(?:-|\Z)|~?[A-Za-z_]\w*[.(]\w"
    r"|(?:toolu|call|msg|req|chatcmpl|resp|item|rs|fc|gen|ses|prt|evt|srvtoolu|agent)[_-]"
)
"""Hashes, addresses and ids of entries, versions, and `Name.of3Things`."""
PAIRS = frozenset(
    """
    ab ac ad ag ai al am an ap ar as at au ay ba be bi bl bo bu ca ce ch ci ck cl co cr ct cu da
    dd de di do du ea ec ed ee ef eg el em en ep er es et ev ex fa fe ff fi fl fo fr ge gh gi gn
    gr gs ha he hi ho ia ib ic id ie if ig il im in io ip ir is it iv iz ke la ld le li ll lo ls
    lt lu ly ma mb me mi mm mo mp mu na nc nd ne nf ng ni nn no ns nt nu nv ob oc od og oi ol om
    on oo op or os ot ou ov ow pa pe ph pi pl po pp pr pt pu qu ra rc rd re rg ri rk rm rn ro rr
    rs rt ru ry sa sc se sh si so sp ss st su sy ta tc te th ti to tr ts tt tu ty ua ub ue ul um
    un up ur us ut va ve vi wa wi xt yp ze
    """.split()  # noqa: SIM905 (two hundred pairs are read as one text or not at all)
)
"""The pairs of letters that make up nine tenths of all names in code."""
DUMMIES = re.compile(
    r"(?:pass|passwd|passwort|pass-?_?(?:word|phrase)|pwd|secrets?|token|(?:api-?_?)?key|bearer|basic"
    r"|str|string|text|plaintext|bytes|number|int|bool|boolean|any|object|none|null|nil|true|false"
    r"|undefined|required|optional|hidden|visible|(?:in)?valid|(?:in)?correct|wrong|missing|empty"
    r"|unset|default|value|admin|root|postgres|mysql|guest|user|username|tests?|testing|dev|docker"
    r"|rabbitmq|minio|minioadmin|redis|login|current|confirm|confirmation|prompt|enter|plain|read"
    r"|write|disabled|enabled|deprecated|field|input|the|and|for|with|from|this|that|not|set|used?"
    r"|file|env|vault|auto|manual|rotate|inherit)\Z",
    re.IGNORECASE,
)
"""Words that stand where a password could: types, states, labels, and what everybody uses."""


def is_placeholder(value: str) -> bool:
    """Whether a value names, elides or invents a secret instead of being one."""
    return bool(
        not value
        or REFERENCE.match(value)
        or DUMMIES.match(value)
        or DATE.match(value)
        or SAME.search(value)
        or len(set(value)) <= 2
        or (STANDS_FOR.search(value) and not _is_made_by_machine(value))
    )


def is_invented(body: str) -> bool:
    """Whether what follows a maker's prefix is a mask or words, not a token.

    Made-up tokens (`abcdef123456…`) count as tokens: it costs little to hide one too many.
    """
    parts = SEGMENT.findall(body)
    if MASK.search(body) or not parts:
        return True
    if not all(_is_wordy(part) for part in parts):
        return False
    return not any(map(str.isdigit, body)) or bool(len(parts) > 1 and STANDS_FOR.search(body))


def is_random(value: str, least: int = 8) -> bool:
    """Whether some part of it, at least so long, was made by a machine."""
    return any(len(part) >= least and not _is_wordy(part) for part in SEGMENT.findall(value))


def is_dense(value: str) -> bool:
    """Whether it mixes characters as generated passwords do: signs among letters and digits."""
    kinds = (
        any(char.islower() for char in value),
        any(char.isupper() for char in value),
        any(char.isdigit() for char in value),
        any(not char.isalnum() and char not in "-_./: " for char in value),
    )
    return len(value) >= 10 and all(kinds)


def is_made(value: str, kind: str = "password", told: bool = False) -> bool:
    """Whether it can be told from a word without any help: no name, hash or id looks like it.

    `told`: the sentence says that here it is, so that even what could be read as words is taken.
    """
    if not 10 <= len(value) <= 4000 or NO_SECRET.match(value) or is_placeholder(value):
        return False
    cases = any(map(str.islower, value)) + any(map(str.isupper, value))
    if not any(map(str.isdigit, value)):
        return cases == 2 and len(value) >= 20 and value.isalpha() and is_random(value, 20)
    if cases == 2 and (is_random(value) or (told and _is_chopped(value))):
        return True
    return is_random(value, 12) if kind != "key" else is_dense(value)


def is_path(value: str) -> bool:
    return PATH.match(value) is not None


def is_identifier(value: str) -> bool:
    return IDENTIFIER.match(value) is not None


def mixes(value: str) -> bool:
    """Whether there are both letters and digits."""
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


def is_login(value: str) -> bool:
    """Whether it is a user and a password in base64."""
    try:
        return b":" in b64decode(value + "=" * (-len(value) % 4), validate=True)[1:]
    except (Error, ValueError):
        return False


def _is_made_by_machine(value: str) -> bool:
    return any(len(part) >= 12 and not _is_wordy(part) for part in SEGMENT.findall(value))


def _is_chopped(value: str) -> bool:
    """Whether its words are too short for a name: `AgentV1Input` is at the limit."""
    words = [part for part in PARTS.findall(value) if not part[0].isdigit()]
    return len(value) >= 12 and value.isalnum() and sum(map(len, words)) < 4 * len(words)


def _is_wordy(segment: str) -> bool:
    """Whether it falls into words: `sha256Checksum`, `test123`."""
    parts = PARTS.findall(segment)
    words = [part.lower() for part in parts if not part[0].isdigit()]
    most_numbers = 2 if len(segment) >= 16 else 3
    if len(parts) - len(words) > most_numbers or sum(map(len, words)) < 3 * len(words) - 1:
        return False
    pairs = [word[at : at + 2] for word in words for at in range(len(word) - 1)]
    return sum(pair in PAIRS for pair in pairs) >= 0.6 * len(pairs)
