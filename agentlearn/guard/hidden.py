"""Characters that a person does not see, or takes for others, but a model reads.

Text can carry a second text: in zero-width characters, tags, variation selectors, by turning the
direction of writing, or in letters of one script inside a word of another. What a language or an
emoji needs is fine where it is needed: joiners between Persian or Indian letters and in families
of emoji, the signs for an emoji's style, marks of direction where something is written from the
right.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

NEEDLESS = r"\xad\u034f\u115f\u1160\u17b4\u17b5\u180e\u2028\u2029\u202a-\u202e\u2060-\u206f\u2800"
NEEDLESS += r"\u3164\uffa0\ufff9-\ufffc\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
"""Seen by nobody and needed nowhere, or able to turn the direction of what follows."""
MARKS = r"\u061c\u200e\u200f"
JOINERS = r"\u200b-\u200d"
STYLES = r"\ufe00-\ufe0f\U000e0100-\U000e01ef"
TAGS = r"\U000e0000-\U000e007f"
CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
UNUSUAL = re.compile(r"[^\t\n -~]")
SUSPECT = re.compile(rf"[{CONTROLS}{NEEDLESS}{MARKS}{JOINERS}{STYLES}{TAGS}\ufeff]")

RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
DIRECTIONS = dict.fromkeys(map(ord, "\u061c\u200e\u200f"))
JOINED_SCRIPTS = re.compile(
    r"[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\u1800-\u18af\ufb50-\ufeff]"
)
SCRIPTS_WITHOUT_SPACES = re.compile(r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1a20-\u1aaf]")
EMOJI = re.compile(r"[\xa9\xae\u203c-\u3299\U0001f000-\U0001fbff]")
STYLED = re.compile(r"[#*0-9\xa9\xae\u2010-\u32ff\U0001f000-\U0001fbff]")
IDEOGRAPH = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
FLAG = re.compile(
    "\U0001f3f4[\U000e0061-\U000e007a]{2}[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,4}\U000e007f"
)

LIKE_LATIN = dict(
    zip(
        "аеорсухіјѕһԁԛԝАВЕЗІЈКМНОРСТУХЅԌԚԜοανρυιΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
        "aeopcyxijshdqwABE3IJKMHOPCTYXSGQWoavpuiABEZHIKMNOPTYX",
        strict=True,
    )
)
LATIN_LOOKALIKES = frozenset(LIKE_LATIN.values())
WORD = re.compile(r"[^\W\d_]+")
LATIN = re.compile(r"[A-Za-z]")


class Hidden(NamedTuple):
    start: int
    name: str
    """What it is called, with its number: `ZERO WIDTH SPACE (U+200B)`."""
    kind: str = "hidden"
    """`hidden`, or `lookalike` for a letter of another script inside a word."""


def has_hidden(text: str) -> bool:
    return next(_hidden(text), None) is not None


def hidden_characters(text: str) -> list[Hidden]:
    """Every character that is not what a reader sees, in order."""
    return sorted(_hidden(text))


def _hidden(text: str) -> Iterator[Hidden]:
    unusual = set(UNUSUAL.findall(text))
    suspects = "".join(char for char in unusual if SUSPECT.match(char) or _is_unknown(char))
    if any(map(RIGHT_TO_LEFT.match, unusual)):
        suspects = suspects.translate(DIRECTIONS)
    if suspects:
        flags = {index for flag in FLAG.finditer(text) for index in range(*flag.span())}
        for match in re.finditer(f"[{re.escape(suspects)}]", text):
            if match.start() not in flags and not _is_needed(text, match.start()):
                yield Hidden(match.start(), _name(match[0]))
    if any("\u0370" <= char <= "\u052f" for char in unusual):
        for match in WORD.finditer(text):
            for index in () if match[0].isascii() else _lookalikes(match[0]):
                name = f"{_name(match[0][index])} in “{match[0][:40]}”"
                yield Hidden(match.start() + index, name, "lookalike")


def _is_needed(text: str, index: int) -> bool:
    """Whether the character serves what stands beside it."""
    char, before, after = text[index], text[index - 1 : index], text[index + 1 : index + 2]
    if char == "\r":
        return after == "\n"
    if char == "\ufeff":
        return index == 0
    if not before:
        return False
    if char == "\u200d" and EMOJI.match(after):
        # A skin tone or a style may stand between an emoji and the joiner.
        return EMOJI.match(before) is not None or before == "\ufe0f"
    if char in "\u200c\u200d":
        return bool(JOINED_SCRIPTS.match(before) and (not after or JOINED_SCRIPTS.match(after)))
    if char == "\u200b":
        return bool(SCRIPTS_WITHOUT_SPACES.match(before) and SCRIPTS_WITHOUT_SPACES.match(after))
    if char in "\ufe0e\ufe0f":
        return STYLED.match(before) is not None
    if "\ufe00" <= char <= "\ufe0d" or char >= "\U000e0100":
        return IDEOGRAPH.match(before) is not None
    return False


def _is_unknown(char: str) -> bool:
    category = unicodedata.category(char)
    # Emoji and ideographs come with every version of Unicode, and Python's tables lag behind.
    is_new = "\U0001f000" <= char <= "\U0001faff" or "\U00020000" <= char <= "\U0003fffd"
    return category in ("Co", "Cs") or (category == "Cn" and not is_new)


def _lookalikes(word: str) -> list[int]:
    """Where letters pass for those of another script; words of one script have none.

    A word that shows that it is mixed (`Яndex`) deceives nobody.
    """
    latin = [index for index, char in enumerate(word) if LATIN.match(char)]
    foreign = [index for index, char in enumerate(word) if "\u0370" <= char <= "\u052f"]
    if len(latin) >= 2 and all(word[index] in LIKE_LATIN for index in foreign):
        return foreign
    if 0 < len(latin) < len(foreign) and all(word[index] in LATIN_LOOKALIKES for index in latin):
        return latin
    return []


def _name(char: str) -> str:
    name = unicodedata.name(char, "") or {
        "Cc": "control character",
        "Co": "private character",
        "Cs": "half of a surrogate pair",
    }.get(unicodedata.category(char), "unassigned character")
    return f"{name} (U+{ord(char):04X})"
