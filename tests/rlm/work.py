"""Ordinary work to hide things in: files read and changed, searches, test runs, logs, requests.

Nothing in it fails, and nobody corrects, rejects or takes back anything: whatever of that stands in
a session was planted. The sizes of the lines are those of real sessions: half of them below
1–2 kB, one in ten above 9 kB, one in a hundred above 30 kB.
"""

from __future__ import annotations

import re
from random import Random

from tests.rlm.lines import CWD, Lines
from tests.rlm.work_texts import (
    BLOCKS,
    FOLDERS,
    LOGGED,
    NOUNS,
    REMARKS,
    REQUESTS,
    SUFFIXES,
    SUMMARIES,
    TEST_RUN,
    VERBS,
)

LARGEST = 30_000
"""Characters of an output; what Claude Code keeps beside it makes the line twice as long."""


BLANK = re.compile("<(file|noun|verb|number)>")


class Work:
    def __init__(self, lines: Lines, random: Random, size_bytes: int) -> None:
        self._lines = lines
        self._random = random
        self._largest = min(LARGEST, size_bytes // 80)
        self._steps = [self.read, self.edit, self.search, self.test, self.logs, self.git]
        self._blocks = {
            suffix: [self.filled(block) for block in blocks for _ in range(12)]
            for suffix, blocks in BLOCKS.items()
        }

    def step(self) -> None:
        random = self._random
        if random.random() < 0.04:
            self.request()
        if random.random() < 0.6:
            self._lines.thought()
        if random.random() < 0.25:
            self._lines.agent(self.filled(random.choice(REMARKS)))
        random.choices(self._steps, (30, 28, 15, 10, 7, 10))[0]()

    def request(self) -> None:
        """The agent is done, and the person asks for the next thing."""
        done = self._random.sample(SUMMARIES, self._random.randint(2, 5))
        self._lines.agent("Done:\n\n" + "\n".join(f"- {self.filled(text)}" for text in done))
        self._lines.turn_ended()
        self._lines.person(self.filled(self._random.choice(REQUESTS)))

    def read(self) -> None:
        path = self.path()
        text = self.code(path)
        first = self._random.choice((1, 1, 40, 120, 310))
        self._lines.call("Read", file_path=f"{CWD}/{path}")
        rows = text.split("\n")
        numbered = "\n".join(f"{number:6}→{row}" for number, row in enumerate(rows, first))
        told = {
            "filePath": f"{CWD}/{path}",
            "content": text,
            "numLines": len(rows),
            "startLine": first,
        }
        self._lines.result(numbered, {"type": "text", "file": told})

    def edit(self) -> None:
        path = f"{CWD}/{self.path()}"
        blocks = self._blocks[path.rpartition(".")[2]]
        old, new = self._random.choice(blocks), self._random.choice(blocks)
        self._lines.call("Edit", file_path=path, old_string=old, new_string=new)
        self._lines.edited(path, old, new)

    def search(self) -> None:
        name = self.word()
        self._lines.call("Grep", pattern=name, output_mode="content")
        count = max(2, self.amount() // 90)
        rows = []
        for _ in range(count):
            path = self.path()
            block = self._random.choice(self._blocks[path.rpartition(".")[2]])
            row = self._random.choice(block.split("\n"))
            rows.append(f"{path}:{self._random.randint(1, 900)}:{row}")
        text = "\n".join(rows)
        self._lines.result(text, {"mode": "content", "numFiles": count, "content": text})

    def test(self) -> None:
        """`make unit`, a command that nothing planted uses."""
        self._lines.bash("make unit", "Run the unit tests")
        rows = [self.filled(TEST_RUN) for _ in range(max(3, self.amount() // 70))]
        self._lines.ran("\n".join([*rows, f"{len(rows)} passed"]))

    def logs(self) -> None:
        self._lines.bash(f"tail -n 400 var/log/{self.word()}.log", "Look at the log")
        random = self._random
        rows = [
            f"2026-11-01T{random.randint(10, 23)}:{random.randint(10, 59)}:07Z "
            + self.filled(random.choice(LOGGED))
            for _ in range(max(5, self.amount() // 70))
        ]
        self._lines.ran("\n".join(rows))

    def git(self) -> None:
        path = self.path()
        self._lines.bash(f"git diff --stat && git diff {path}", "See what changed")
        rows = self.code(path).split("\n")
        marked = "\n".join(self._random.choice("   +-") + row for row in rows)
        self._lines.ran(f" {path} | {len(rows)} +++---\n@@ -1,{len(rows)} @@\n{marked}")

    def arguments(self, tool: str) -> dict[str, str]:
        """What this tool could be called with."""
        path, noun = f"{CWD}/{self.path()}", self.word()
        given = {
            "Bash": {"command": f"cp {path} /srv/{noun}"},
            "Edit": {"file_path": path, "old_string": f"{noun} = 1", "new_string": f"{noun} = 2"},
            "Glob": {"pattern": f"**/{noun}*"},
            "Grep": {"pattern": f"{noun}("},
            "Task": {"description": f"Look at {noun}", "prompt": f"Find out how {noun} works"},
            "WebFetch": {"url": f"https://docs.example.com/{noun}", "prompt": "What is it?"},
            "Write": {"file_path": path, "content": f"{noun} = 1\n"},
        }
        return given.get(tool, {"file_path": path})

    def code(self, path: str) -> str:
        blocks = self._blocks[path.rpartition(".")[2]]
        parts, size, wanted = list[str](), 0, self.amount()
        while size < wanted:
            parts.append(self._random.choice(blocks))
            size += len(parts[-1])
        return "\n\n".join(parts)

    def amount(self) -> int:
        """How many characters an output has."""
        return int(min(self._largest, self._random.lognormvariate(7.4, 1.3)))

    def path(self) -> str:
        random = self._random
        name = f"{random.choice(NOUNS)}_{random.choice(VERBS)}"
        return f"{random.choice(FOLDERS)}/{name}.{random.choice(SUFFIXES)}"

    def word(self) -> str:
        return self._random.choice(NOUNS)

    def filled(self, text: str) -> str:
        """The text with its `<file>`, `<noun>`, `<verb>` and `<number>` put in by chance."""
        return BLANK.sub(self._fill, text)

    def _fill(self, blank: re.Match[str]) -> str:
        random = self._random
        if blank[1] == "number":
            return str(random.randint(2, 9000))
        if blank[1] == "file":
            return self.path()
        return random.choice(NOUNS if blank[1] == "noun" else VERBS)
