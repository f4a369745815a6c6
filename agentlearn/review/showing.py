"""What of a command may stand in a lesson: no person's folders, no values that may be secret."""

from __future__ import annotations

import re

SLASH = r"[\\/]+"
HOME = re.compile(
    rf"(?:\b[A-Za-z]:|{SLASH}mnt{SLASH}[a-z]|{SLASH}[a-z](?={SLASH}users)|{SLASH}var|\\\\wsl\S*?)?"
    rf"{SLASH}(?:users|home){SLASH}(?:[^\\/\"'\n:]{{1,40}}(?=[\\/])|[^\\/\s\"']+)|/root\b"
    r"|-(?:Users|home)-[\w.]+",
    re.IGNORECASE,
)
LONG_PATH = re.compile(r"(?:/[\w.@+-]+){4,}")
HASH = re.compile(r"\b[0-9a-f]{16,}(?:-\w)?\b")
ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{1,12}://\S+|\b[\w.+-]+@[\w-]+\.[\w.-]+", re.IGNORECASE)
"""A place in the net, or a person's address: it may hold a secret, and leads away."""
BEARER = re.compile(r"\b(Bearer|Basic|token)\s+[\w.~+/=-]{6,}", re.IGNORECASE)
GIVEN = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]*)=[^\s'\"`]+")
"""An option with its value, in what a program says."""
QUOTES = str.maketrans({"“": '"', "”": '"', "`": "'", "‘": "'", "’": "'"})
"""Quotes within a quotation could end it."""
SECRETIVE = re.compile(
    r"key|pass|pwd?\b|pw$|token|secret|auth|cred|session|cookie|salt|licen[cs]e|pin\b|otp|mfa|sign"
    r"|private|user|hook",
    re.IGNORECASE,
)
"""Wider than what the guard looks for: a value that is not shown costs nothing here."""
SWITCH = re.compile(r"\d{1,2}|true|false|yes|no|on|off", re.IGNORECASE)
LOCALE = re.compile(r"(?:[a-z]{2}_[A-Z]{2}|C)(?:\.[\w-]{1,8})?")
PLACE_NAME = re.compile(r"(?:DIR|PATH|HOME|CACHE|ROOT|FILE|TMP|TEMP|BIN|CONFIG|STORE)$")
PLACE = re.compile(r"(?:[A-Za-z]:[\\/])?[\w ./\\~+-]{1,120}")
OPTIONS_NAME = re.compile(r"(?:OPTIONS|FLAGS|OPTS|ARGS)$")
OPTION = re.compile(r"--[a-z][a-z-]{2,40}(?:=\d{1,6}[kmg]?)?|-Xm[sx]\d{1,6}[kmg]")
CHOICE_NAME = re.compile(r"(?:ENV|MODE|LEVEL|BACKEND|PLATFORM|TARGET|TOOLCHAIN)$")
CHOICE = re.compile(r"[a-z]{2,12}")
NUMBER_NAME = re.compile(r"(?:PORT|SIZE|COUNT|JOBS|THREADS|WORKERS|TIMEOUT|MEMORY)$")
NUMBER = re.compile(r"\d{1,6}[kmgs]?", re.IGNORECASE)
SHOWN_VALUES = (
    (PLACE_NAME, PLACE),
    (OPTIONS_NAME, OPTION),
    (CHOICE_NAME, CHOICE),
    (NUMBER_NAME, NUMBER),
)


def clean(text: str) -> str:
    """Without the names of people's folders, with long paths and hashes shortened."""
    text = HASH.sub("…", HOME.sub("~", text))
    return LONG_PATH.sub(lambda found: "…/" + "/".join(found[0].split("/")[-2:]), text)


def quoted(text: str) -> str:
    """What a program said, as it may stand between quotes."""
    text = GIVEN.sub(r"\1=…", BEARER.sub(r"\1 …", ADDRESS.sub("…", text)))
    return clean(text).translate(QUOTES)


def shown_variable(word: str) -> str:
    """`NAME=value`, the value only where it tells nothing: the name is what helps."""
    name, _, value = word.partition("=")
    return f"{name}={clean(value) if _is_plain(name, value) else '…'}"


def _is_plain(name: str, value: str) -> bool:
    if SECRETIVE.search(name):
        return False
    if SWITCH.fullmatch(value) or LOCALE.fullmatch(value):
        return True
    return any(of.search(name) and form.fullmatch(value) for of, form in SHOWN_VALUES)
