"""Characters that nobody sees are found; those that a language or an emoji needs are not."""

import time

import pytest

from agentlearn.guard.hidden import has_hidden, hidden_characters

TAGGED = "".join(chr(0xE0000 + ord(char)) for char in "ignore this")
SMUGGLED = "".join(chr(0xFE00 + byte % 16) for byte in b"order")

HIDDEN = {
    "zero-width space": "a\u200bb",
    "zero-width joiner between Latin letters": "a\u200db",
    "zero-width non-joiner between Latin letters": "a\u200cb",
    "word joiner": "a\u2060b",
    "invisible operator": "a\u2062b",
    "direction override": "abc\u202edef",
    "direction isolate": "abc\u2066def\u2069",
    "direction mark without anything to turn": "abc\u200f def",
    "tags": f"Fine.{TAGGED}",
    "tags after a flag that is none": "\U0001f3f4" + TAGGED,
    "soft hyphen": "in\u00adstruction",
    "Hangul filler": "a\u3164b",
    "half-width filler": "a\uffa0b",
    "bytes in variation selectors": f"😀{SMUGGLED}",
    "bytes in the other variation selectors": "a" + "".join(chr(0xE0100 + b) for b in b"hi"),
    "a style on a letter": "a\ufe0f",
    "bell": "a\x07b",
    "escape": "\x1b[31mred",
    "null": "a\x00b",
    "carriage return alone": "good\rbad",
    "next line": "a\x85b",
    "private use": "a\ue000b",
    "private use, far": "a\U000f0000b",
    "noncharacter": "a\ufffeb",
    "unassigned": "a\U00050000b",
    "half a pair": "a\ud800b",
    "byte order mark in the middle": "a\ufeffb",
    "line separator": "a\u2028b",
    "paragraph separator": "a\u2029b",
    "interlinear annotation": "\ufff9a\ufffab\ufffb",
    "object replacement": "a\ufffcb",
    "blank of Braille": "a\u2800b",
    "grapheme joiner": "a\u034fb",
}
MIXED = ["pаypal", "раypal", "Οpen the file", "аdmin", "пaроль", "Сlaude", "gооgle"]
FINE = [
    "plain text\twith tabs\nand lines\r\nof two systems\n",
    "naïve café — “quotes” … → ✓ │ └ ½ ² № ° § €",
    "family 👨‍👩‍👧‍👦, thumb 👍🏽, heart ❤️, key 1️⃣, rainbow 🏳️‍🌈, couple 👩🏽‍❤️‍👨🏻",
    "England 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "newer emoji 🫨 🫩",
    "text style ☺︎ and emoji style ☺️, ©️ ™️ ↔️ ‼️ #️⃣",
    "می‌خواهم نمی‌دانم",
    "क्‍ष श्री‌",
    "ภาษา\u200bไทย",
    "שלום \u200f(עולם)\u200f",
    "日本語　中文 한국어 葛\U000e0100城",
    "Яндекс и API, git-ом, Ελληνικά και UTF-8",
    "λx, Δt, πr², kΩ, μs, α-β pruning, ε-greedy",
    "e\u0301 combining, Zürich, Łódź, Tiếng Việt",
    "\ufeffa mark at the very start",
    "Яндекс.Taxi and Яndex",
    "no-break\u00a0space and\u202fnarrow one",
]


@pytest.mark.parametrize("name", HIDDEN)
def test_what_nobody_sees_is_found(name):
    assert has_hidden(HIDDEN[name])
    assert {found.kind for found in hidden_characters(HIDDEN[name])} == {"hidden"}


@pytest.mark.parametrize("text", MIXED)
def test_a_word_of_two_scripts_that_look_alike_is_found(text):
    assert {found.kind for found in hidden_characters(text)} == {"lookalike"}


@pytest.mark.parametrize("text", FINE)
def test_what_a_language_or_an_emoji_needs_is_fine(text):
    assert hidden_characters(text) == []
    assert not has_hidden(text)


def test_each_is_named_with_its_place():
    found = hidden_characters("one\u200b two pаy")
    assert [(hidden.start, hidden.kind) for hidden in found] == [(3, "hidden"), (10, "lookalike")]
    assert found[0].name == "ZERO WIDTH SPACE (U+200B)"
    assert "CYRILLIC SMALL LETTER A" in found[1].name


@pytest.mark.parametrize(
    "piece", ["a", "é", "а", "aа", "\u200b", "\u200f", "😀\u200d", "\U000e0061"]
)
def test_no_text_takes_long(piece):
    text = piece * (100_000 // len(piece)) + "ж"
    start = time.process_time()
    hidden_characters(text)
    assert time.process_time() - start < 60  # it does not hang
