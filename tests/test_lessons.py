"""The rules against lessons that readers marked in real sessions.

The halves `open` and `unseen` were marked before any rule was written, `more` when the rules were
there (see its head). The figures are told in the README as they are. What is held here is that
they do not get worse, and that nothing at all is written on sessions that teach nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.files import SAMPLES
from tests.lessons.measure import HERE, measure

pytestmark = pytest.mark.skipif(SAMPLES is None, reason="AGENTLEARN_SAMPLES is not set")


@pytest.mark.parametrize(
    ("half", "precision", "recall"), [("open", 0.9, 0.9), ("unseen", 0.6, 0.1), ("more", 0.6, 0.5)]
)
def test_few_and_right(half: str, precision: float, recall: float) -> None:
    figures = measure(half, Path(str(SAMPLES)))
    assert figures.on_quiet == 0, figures
    assert figures.written > 0, figures
    assert figures.precision >= precision, figures
    assert figures.recall >= recall, figures


@pytest.mark.parametrize("half", ["open", "unseen", "more"])
def test_the_set_is_large_enough_and_its_lines_exist(half: str) -> None:
    rows = yaml.safe_load((HERE / f"{half}.yaml").read_text())["sessions"]
    assert len(rows) >= 10
    assert sum(row["quiet"] for row in rows) >= 4
    for row in rows:
        assert row["quiet"] == (not row["lessons"])
        path = Path(str(SAMPLES)) / row["path"]
        assert path.is_file()
        if path.suffix == ".jsonl":
            count = path.read_bytes().count(b"\n") + 1
            marked = [line for lesson in row["lessons"] for line in lesson["lines"]]
            assert all(1 <= line <= count for line in marked)
