"""Private keys: base64 between a first and a last line, either of which may be cut off.

Transcripts hold them in every dress: indented, numbered, in JSON with escaped line ends, in pieces
of a string in code. So a block is read as words: those that are base64 belong to the key, what
may stand between its lines is passed over, and the first other word ends it.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator

from agentlearn.guard.secret_values import is_random

FIRST = re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
LAST = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
LONGEST = 24_000
"""Characters; a key of 16,384 bits takes half of it."""
LINE_OF_KEY = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}")
BETWEEN_LINES = re.compile(r"(?:\s|\\|(?<=\\)[nrt]|[\"'`+,;|>()?:\[\]{}]|\b\d{1,6}\b){0,60}")
"""Line ends, escaped ones, quotes, line numbers."""
END_OF_KEY = re.compile(r"(?:\s|\\+[nrt])(?:\s|\\+[nrt])*[A-Za-z0-9+/]{1,15}={1,2}")
LAST_PIECE = re.compile(r"[A-Za-z0-9+/]{0,15}={0,2}(?=(?:\s|\\+[nrt])*\Z)")
CUT_LINE = re.compile(r"\?(?P<line>[A-Za-z0-9+/]{1,15})(?:\s|\\+[nrt])*\Z")
"""What is left of a line that was cut; the sign of a cut, `…`, is a `?` in a folded text."""
HEADERS = re.compile(
    r"(?:(?:\s|\\+[nr])+(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\n\\]*)*"
)
ENCODED = re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]*")
"""A whole block in base64, as Kubernetes keeps keys and certificates."""
UNMARKED = re.compile(
    r"M(?:I[IG][A-Za-z0-9+/]{1,4}(?:IBAAKC|IBADANBgkqhki|AgEAM)|C4CAQAwBQYDK2V|HcCAQEE)"
    r"[A-Za-z0-9+/=]{20,}"
)
"""How keys begin where nobody put a first line before them."""
PUTTY = re.compile(r"Private-Lines: \d+")


def private_keys(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each private key."""
    spans = _marked(text) if "PRIVATE KEY" in text else []
    for match in ENCODED.finditer(text):
        if b"PRIVATE KEY" in _decoded(match[0][:80]):
            spans.append(match.span())
    for match in UNMARKED.finditer(text):
        spans.append((match.start(), _key_end(text, match.end(), len(text)) or match.end()))
    for match in PUTTY.finditer(text):
        if end := _key_end(text, match.end(), len(text)):
            spans.append((match.end(), end))
    for start, end in spans:
        yield "private-key", start, end


def _marked(text: str) -> list[tuple[int, int]]:
    """Keys with a first or a last line."""
    firsts = list(FIRST.finditer(text))
    limits = [*(first.start() for first in firsts), len(text)][1:]
    paired, spans = set(), []
    for first, limit in zip(firsts, limits, strict=True):
        last = LAST.search(text, first.end(), min(limit, first.end() + LONGEST))
        if last and any(_lines(text, first.end(), last.start())):
            spans.append((first.start(), last.end()))
        elif not last and (end := _key_end(text, first.end(), limit)):
            spans.append((first.start(), end))
        if last:
            paired.add(last.start())
    for last in LAST.finditer(text):
        if last.start() not in paired:
            start = _key_start(text, max(0, last.start() - LONGEST), last.start())
            spans += [(start, last.end())] if start is not None else []
    return spans


def _lines(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """The lines of a key that stand there, whatever is around them."""
    return (line for line in LINE_OF_KEY.finditer(text, start, end) if is_random(line[0]))


def _key_end(text: str, start: int, limit: int) -> int:
    """Where the key that begins here ends; 0 if there is none."""
    headers = HEADERS.match(text, start)
    start, end = (headers.end() if headers else start), 0
    limit = min(limit, start + LONGEST)
    for line in _lines(text, start, limit):
        if not BETWEEN_LINES.fullmatch(text, end or start, line.start()):
            break
        end = line.end()
    rest = END_OF_KEY.match(text, end, limit) if end else None
    return rest.end() if rest else end


def _key_start(text: str, floor: int, end: int) -> int | None:
    """Where the key begins whose last line stands at `end`: its own first line was cut off."""
    start = None
    for line in reversed(list(_lines(text, floor, end))):
        between = text[line.end() : end if start is None else start]
        if not BETWEEN_LINES.fullmatch(LAST_PIECE.sub("", between) if start is None else between):
            break
        start = line.start()
    cut = CUT_LINE.search(text, floor, start) if start is not None else None
    return cut.start("line") if cut else start


def _decoded(text: str) -> bytes:
    try:
        return b64decode(text[: len(text) // 4 * 4])
    except (Error, ValueError):
        return b""
