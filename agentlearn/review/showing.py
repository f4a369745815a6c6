"""What of a command may stand in a lesson: no person's folders, no values that may be secret."""

from __future__ import annotations

import re

HOME = re.compile(
    r"\b[A-Za-z]:[\\/]Users[\\/](?:[^\\/\"'\n]{1,40}(?=[\\/])|[^\\/\s\"']+)"
    r"|(?:/Users|/home)/[^/\s\"']+|/root\b"
)
LONG_PATH = re.compile(r"(?:/[\w.@+-]+){4,}")
HASH = re.compile(r"\b[0-9a-f]{16,}(?:-\w)?\b")
SECRETIVE = re.compile(
    r"key|pass|pwd|token|secret|auth|cred|session|cookie|salt|licen[cs]e|pin\b|otp|sign|private",
    re.IGNORECASE,
)
"""Wider than what the guard looks for: a value that is not shown costs nothing here."""
PLAIN = re.compile(
    r"[A-Za-z]{1,12}|\d{1,5}|[a-z]{2}_[A-Z]{2}(?:\.[\w-]{1,8})?|--?[\w=-]{1,40}"
    r"|(?:[A-Za-z]:[\\/]|[.~]{0,2}/)[^@:?=]{0,120}"
)
"""A word, a small number, a language, a flag or a path."""


def clean(text: str) -> str:
    """Without the names of people's folders, with long paths and hashes shortened."""
    text = HASH.sub("…", HOME.sub("~", text))
    return LONG_PATH.sub(lambda found: "…/" + "/".join(found[0].split("/")[-2:]), text)


def shown_variable(word: str) -> str:
    """`NAME=value`, the value only where it tells nothing: the name is what helps."""
    name, _, value = word.partition("=")
    is_plain = PLAIN.fullmatch(value) is not None and not SECRETIVE.search(name)
    return f"{name}={clean(value) if is_plain else '…'}"
