"""How much of what the judge said may be told: nothing, counts, names, or all of it.

The judge's output holds what the agent must not know, such as the values that a test expects. At
`names` only the names of failing checks get through, and of those only the part that a person gave
them: the values in `test_add[2-3-5]` and in subtests are left out. What no known test program
printed is told as counts, unless its lines begin with FAIL, FAILED or ERROR and a name.
"""

from __future__ import annotations

import re

from msgspec import Struct

from agentlearn.guard import plain
from agentlearn.reflexion.task import Feedback

MOST_NAMES = 20
RAW_CHARS = 2000
NAME = r"[\w./\\:@<>+-]+"
PYTEST = re.compile(
    rf"^(?:FAILED|ERROR) ({NAME}?\.py(?:::[\w.:-]+)?|{NAME}::[\w.:-]+)(?:\[|\s|$)", re.MULTILINE
)
UNITTEST = re.compile(r"^(?:FAIL|ERROR): (\w+) \(([\w.]+)\)", re.MULTILINE)
JEST = re.compile(r"^\s+● (?!Console$|.*\(\d+ tests?\)$)(.+)$", re.MULTILINE)
JEST_SUITE = re.compile(r"^\s*FAIL +(\S+\.[jt]sx?)\b", re.MULTILINE)
GO = re.compile(r"^--- FAIL: ([A-Za-z_]\w*)(?:[/\s(]|$)", re.MULTILINE)
GO_PACKAGE = re.compile(r"^FAIL\s+([\w./-]+/[\w./-]+)(?:\s|$)", re.MULTILINE)
CARGO = re.compile(r"^test ([\w:]+)(?: - should panic)? \.\.\. FAILED", re.MULTILINE)
ANY = re.compile(rf"^(?:FAIL|FAILED|ERROR):? +({NAME})", re.MULTILINE)
WORDS = r"failed|passed|errors?|skipped|xfailed|xpassed|warnings?|deselected|rerun"
SUMMARIES = (
    re.compile(rf"^(?:=+ )?((?:\d+ (?:{WORDS})(?:, )?)+) in [\d.]+s\b", re.MULTILINE),  # pytest
    re.compile(r"^FAILED \(((?:(?:failures|errors|skipped)=\d+(?:, )?)+)\)", re.MULTILINE),
    re.compile(r"^Tests: +((?:\d+ \w+, )*\d+ total)$", re.MULTILINE),  # jest
    re.compile(r"^test result: FAILED\. (\d+ passed; \d+ failed)", re.MULTILINE),  # cargo
)
"""The closing lines of test programs. Numbers that stand anywhere else may be what was expected."""
FAILING = re.compile(r"^\s*(?:--- )?(?:FAIL|FAILED|ERROR)\b", re.MULTILINE)


class Told(Struct, frozen=True):
    """What may be told of an evaluation."""

    counts: str = ""
    names: tuple[str, ...] = ()
    raw: str = ""

    def sentence(self) -> str:
        if self.names:
            more = len(self.names) - MOST_NAMES
            shown = ", ".join(self.names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
            return f"These checks failed: {shown}." + (f" ({self.counts})" if self.counts else "")
        return f"The checks said: {self.counts}." if self.counts else ""


def feedback_of(output: str, level: Feedback) -> Told:
    """What an output tells at a level; each level includes those before it."""
    if level == "none":
        return Told()
    output = plain(output)
    counts = counts_in(output)
    if level == "counts":
        return Told(counts)
    names = names_in(output)
    if level == "names":
        return Told(counts, names)
    return Told(counts, names, output.strip()[-RAW_CHARS:])


def counts_in(output: str) -> str:
    """`2 failed, 5 passed`, as a test program closes; else how many lines tell of a failure."""
    for summary in SUMMARIES:
        if found := summary.findall(output):
            return str(found[-1]).replace(";", ",")
    failing = len(FAILING.findall(output))
    return f"lines that tell of a failure: {failing}" if failing else ""


def names_in(output: str) -> tuple[str, ...]:
    """The failing checks by name, without what stands behind them."""
    names = [found[1] for found in PYTEST.finditer(output)]
    names += [f"{_owner(found[2], found[1])}.{found[1]}" for found in UNITTEST.finditer(output)]
    names += [found[1] for found in GO.finditer(output)]
    names += [found[1] for found in CARGO.finditer(output)]
    if JEST_SUITE.search(output):
        names += [_title(found[1]) for found in JEST.finditer(output)]
        names = names or [found[1] for found in JEST_SUITE.finditer(output)]
    if not names:
        names = [found[1] for found in GO_PACKAGE.finditer(output)]
    if not names:
        names = [found[1].rstrip(":.,") for found in ANY.finditer(output)]
    return tuple(dict.fromkeys(filter(_is_name, names)))


def _owner(dotted: str, method: str) -> str:
    """`module.Class` of a unittest: since 3.11 the method stands after it once more."""
    return dotted.removesuffix(f".{method}")


def _title(text: str) -> str:
    """The title of a jest test without the numbers and quoted values in it."""
    text = re.sub(r"\"[^\"]*\"|'[^']*'|`[^`]*`", "…", text)
    return re.sub(r"(?<![A-Za-z_])[-+]?\d[\d.,]*", "…", text).strip()[:120]


def _is_name(name: str) -> bool:
    return bool(re.search(r"[A-Za-z]", name)) and len(name) <= 200
