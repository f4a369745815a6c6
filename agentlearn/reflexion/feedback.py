"""How much of what the judge said may be told: nothing, counts, names, or all of it.

The judge's output holds what the agent must not know, such as the values that a test expects. At
`names` only the names of failing checks get through, and of those only the part that a person gave
them: the values in `test_add[2-3-5]`, in subtests and in `add::_2_4_expects_8` are left out. The
titles of jest are free text, often filled in from a table of values: there it is the file, and the
outermost describe block if that is one word. What no known test program printed is told as counts,
unless its lines begin with FAIL, FAILED or ERROR and a name.
"""

from __future__ import annotations

import re

from msgspec import Struct

from agentlearn.guard import plain
from agentlearn.reflexion.task import Feedback

MOST_NAMES = 20
RAW_CHARS = 2000
NAME = r"[\w./\\:@<>+-]+"
NODE = r"[\w./\\@+-]+\.py(?:::[\w.:-]+)?"
"""A file of pytest's, or a test in it, without its parameters."""
PYTEST_SUMMARY = re.compile(
    r"^=+ short test summary info =+$(.*?)(?=^=+ [^\n]* =+$|\Z)", re.MULTILINE | re.DOTALL
)
PYTEST = re.compile(rf"^(?:FAILED|ERROR) ({NODE}|{NAME}::[\w.:-]+)(?:\[|\s|$)", re.MULTILINE)
PYTEST_LINES = (
    re.compile(rf"^(?:FAILED|ERROR) ({NODE})(?:\[|\s|$)", re.MULTILINE),
    re.compile(rf"^({NODE})(?:\[.*\])? (?:FAILED|ERROR)(?: +\[ *\d+%\])?$", re.MULTILINE),  # -v
    re.compile(rf"^\[gw\d+\] \[ *\d+%\] (?:FAILED|ERROR) ({NODE})(?:\[|\s|$)", re.MULTILINE),
    re.compile(rf"^_+ ERROR collecting ({NODE}) _+$", re.MULTILINE),
)
PYTEST_HEADER = re.compile(
    r"^_+ (?:ERROR at (?:setup|teardown) of )?((?:\w+\.)*test\w*)(?:\[.*\])? _+$", re.MULTILINE
)
UNITTEST = re.compile(r"^(?:FAIL|ERROR): (\w+) \(([\w.]+)\)", re.MULTILINE)
JEST = re.compile(
    r"^[ \t]*FAIL +(?P<file>\S+\.[cm]?[jt]sx?)\b"
    r"|^[ \t]+● (?P<block>[A-Za-z_$][\w$.]*(?:\(\))?) › .",
    re.MULTILINE,
)
GO = re.compile(r"^--- FAIL: ([A-Za-z_]\w*)(?:[/\s(]|$)", re.MULTILINE)
GO_PACKAGE = re.compile(r"^FAIL\t([\w./-]+)(?:\t| \[|$)", re.MULTILINE)
CARGO = re.compile(r"^test ([\w:]+)(?: - should panic)? \.\.\. FAILED", re.MULTILINE)
CARGO_CASE = re.compile(r"(?:^_|(?:^|_)(?:\d|expects_)|_(?:panics|matches|is)_).*")
"""What test_case and rstest make of the values of a case."""
NUMBERED = re.compile(r"(\btest_[A-Za-z]\w*?)_\d+_\w+$")
"""What parameterized and ddt make of them: `test_greet_0_bob`."""
VALUE = r"(?:expected|want(?:ed)?|got|actual|received)(?![a-z])"
ANY = re.compile(
    rf"^(?:FAIL|FAILED|ERROR):?[ \t]+(?!{VALUE})({NAME})"
    r"(?=([ \t]*$)|[\s(])",
    re.MULTILINE,
)
WORDS = r"failed|passed|errors?|skipped|xfailed|xpassed|warnings?|deselected|rerun"
SUMMARIES = (
    re.compile(rf"^(?:=+ )?((?:\d+ (?:{WORDS})(?:, )?)+) in [\d.]+s\b", re.MULTILINE),  # pytest
    re.compile(r"^FAILED \(((?:(?:failures|errors|skipped)=\d+(?:, )?)+)\)", re.MULTILINE),
    re.compile(r"^Tests: +((?:\d+ \w+, )*\d+ total)$", re.MULTILINE),  # jest
    re.compile(r"^test result: FAILED\. (\d+ passed; \d+ failed)", re.MULTILINE),  # cargo
)
"""The closing lines of test programs. Numbers that stand anywhere else may be what was expected."""
FAILING = re.compile(r"^[ \t]*(?:--- )?(?:FAIL|FAILED|ERROR)\b", re.MULTILINE)


class Told(Struct, frozen=True):
    """What may be told of an evaluation."""

    counts: str = ""
    names: tuple[str, ...] = ()
    raw: str = ""
    level: Feedback = "none"

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
        return Told(counts, level=level)
    names = names_in(output)
    if level == "names":
        return Told(counts, names, level=level)
    return Told(counts, names, output.strip()[-RAW_CHARS:], level)


def counts_in(output: str) -> str:
    """`2 failed, 5 passed`, as a test program closes; else how many lines tell of a failure."""
    if closing := _closing(output):
        return closing
    failing = len(FAILING.findall(output))
    return f"lines that tell of a failure: {failing}" if failing else ""


def _closing(output: str) -> str:
    for summary in SUMMARIES:
        if found := summary.findall(output):
            return str(found[-1]).replace(";", ",")
    return ""


def names_in(output: str) -> tuple[str, ...]:
    """The failing checks by name, without what stands behind them."""
    names, output = _of_pytest(output)
    names = [NUMBERED.sub(r"\1", name) for name in (*names, *_of_unittest(output))]
    names += [found[1] for found in GO.finditer(output)]
    names += [_of_cargo(found[1]) for found in CARGO.finditer(output)]
    names += _of_jest(output)
    names = names or [found[1] for found in GO_PACKAGE.finditer(output)]
    if not names and not _closing(output):
        names = [_of_any(found) for found in ANY.finditer(output)]
    return tuple(dict.fromkeys(filter(_is_name, names)))


def _of_pytest(output: str) -> tuple[list[str], str]:
    """The names, and the output in which others may stand.

    If there is a summary, all before it is passed by: what a test printed may look like a failure.
    """
    if sections := list(PYTEST_SUMMARY.finditer(output)):
        names = [name for section in sections for name in PYTEST.findall(section[1])]
        return names, output[sections[-1].end() :]
    names = [name for lines in PYTEST_LINES for name in lines.findall(output)]
    return names or PYTEST_HEADER.findall(output), output


def _of_unittest(output: str) -> list[str]:
    """`module.Class.method`: since 3.11 the method stands after its class already."""
    found = UNITTEST.findall(output)
    return [f"{dotted.removesuffix(f'.{method}')}.{method}" for method, dotted in found]


def _of_cargo(path: str) -> str:
    parts = [CARGO_CASE.sub("", part) for part in path.split("::")]
    return "::".join(filter(None, parts))


def _of_jest(output: str) -> list[str]:
    files: dict[str, dict[str, None]] = {}
    blocks: dict[str, None] | None = None
    for found in JEST.finditer(output):
        if found["file"]:
            blocks = files.setdefault(found["file"], {})
        elif blocks is not None:
            blocks[found["block"]] = None
    return [
        f"{file} › {block}" if block else file
        for file, blocks in files.items()
        for block in blocks or [""]
    ]


def _of_any(found: re.Match[str]) -> str:
    """Of `parse.rule: …` its name; the first word of a sentence is none."""
    name = re.sub(r":\d.*", "", found[1]).rstrip(":.,-")
    return name if found[2] is not None or re.search(r"\w[_./:-]+\w", name) else ""


def _is_name(name: str) -> bool:
    return bool(re.search(r"[A-Za-z]", name)) and len(name) <= 200
