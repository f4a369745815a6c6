"""Text for the terminal: what came from a transcript may say anything there, but do nothing."""

from __future__ import annotations

import re

ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor moves
    r"|\x1b[\]PX^_][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)"  # titles, links, device strings
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
LINE_ENDS = re.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
HIDDEN = r"\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f"
"""Characters that turn the direction of text, or that nobody sees."""
CONTROLS = re.compile(rf"[\x00-\x08\x0e-\x1f\x7f-\x9f{HIDDEN}]")
NOT_PLAIN = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{HIDDEN}]")


def plain(text: str) -> str:
    """The text without terminal control codes: colours go, what else would act becomes visible.

    All line ends become one newline, so that nothing begins a line that was not a line before.
    """
    if not NOT_PLAIN.search(text):
        return text
    text = LINE_ENDS.sub("\n", ESCAPES.sub("", text))
    return CONTROLS.sub(lambda found: _visible(found[0]), text)


def _visible(character: str) -> str:
    code = ord(character)
    if code < 256:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def one_sentence(text: str) -> str:
    """A message for the terminal on one line, whole: a name with a line break begins no new one."""
    return plain(text).replace("\n", "\\n")


def one_line(text: str, width: int) -> str:
    """The start of a text on one line, for tables: plain, white space folded, cut with `…`."""
    folded = " ".join(plain(text[: 8 * width]).split())
    return folded if len(folded) <= width else folded[: width - 1] + "…"
