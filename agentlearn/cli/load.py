"""From the names on the command line to sessions, with what went wrong on stderr.

One bad file never ends a run: it is reported, the others are read, and the exit code tells.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sized
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from agentlearn.cli.app import INTERRUPTED, complain
from agentlearn.config import find_project
from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.guard import one_sentence
from agentlearn.sessions.discover import changed_at
from agentlearn.sessions.read import NotATranscript, read_sessions
from agentlearn.sessions.select import Candidate, select
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Session, Warning_

if TYPE_CHECKING:
    from agentlearn.sessions.copies import Copies

BAD_INPUT = 2
PART_FAILED = 5
WORST_FIRST = (130, 2, 4, 5, 1, 3)
"""Where several exit codes apply."""
MOST_NOTES = 10


class Loader:
    """The sessions that were asked for."""

    def __init__(
        self,
        names: list[str] | None,
        latest: bool = False,
        strict: bool = False,
        keep_bytes: bool = False,
    ) -> None:
        """`keep_bytes` of pipes, where evidence will be asked for with its hashes."""
        self.project = find_project()
        self.strict = strict
        self.keep_bytes = keep_bytes
        self.candidates = self.choose(list(names or []), latest)
        self.in_line: list[Candidate] = []
        self.opened = 0
        self.read = 0
        self.passed_over = 0
        self.bad = 0
        self.broken = 0
        self.lost_lines = 0
        self.may_be_empty = False
        self.seen: dict[tuple[str, str], str | None] = {}
        self.again: list[str] = []
        """Sessions met in a second file that is no copy of the first."""
        self.copies: Copies | None = None
        self.notes: dict[str, list[str]] = {}
        """What was not understood, and where: the same thing is told once, at the end."""

    @classmethod
    def of_files(cls, paths: list[Path], strict: bool) -> Loader:
        """For files that were found, not named."""
        loader = cls(["-"], strict=strict)
        loader.candidates = [Candidate(path, named=False) for path in paths]
        return loader

    def leave_out_older(self, than: float) -> None:
        """A file that has not changed since holds nothing newer: it need not be read."""
        self.candidates = [
            item
            for item in self.candidates
            if item.named or item.path is None or changed_at(item.path) >= than
        ]
        self.may_be_empty = True

    def choose(self, names: list[str], latest: bool) -> list[Candidate]:
        if not names and not latest and piped_in():
            return [Candidate(None)]
        return select(names, self.project, latest)

    def sessions(self) -> Iterator[Session]:
        for candidate in self.in_turn():
            yield from self.of(candidate)

    def in_turn(self, bar: bool = True) -> Iterator[Candidate]:
        """The files one by one, with a bar on a terminal if there are many."""
        from agentlearn.cli.progress import with_progress

        self.in_line = self.without_copies()
        if not bar:
            return iter(self.in_line)
        return with_progress(self.in_line, "reading", "files")

    @property
    def unopened(self) -> int:
        """How many files were not come to, where a run ends before its end."""
        return len(self.in_line) - self.opened

    def without_copies(self) -> list[Candidate]:
        """What agents copied from file to file counts once, however the files were found."""
        # Where one session is asked for by its id, the file that was found for it is read.
        files = [item.path for item in self.candidates if item.path and not item.only]
        if len(files) < 2:
            return self.candidates
        from agentlearn.sessions.copies import find_copies

        self.copies = find_copies(files)
        left_out = self.copies.left_out
        return [item for item in self.candidates if item.only or item.path not in left_out]

    def of(self, candidate: Candidate) -> Iterator[Session]:
        """The sessions of one file; what goes wrong with it is told and counted."""
        self.opened += 1
        if candidate.problem is not None:
            complain(candidate.problem)
            self.bad += 1
            return
        try:
            with Source(candidate.path, keep=self.keep_bytes) as source:
                if self.copies and candidate.path in self.copies.shared and not candidate.only:
                    source.elsewhere = self.copies.shared[candidate.path].lines
                found = (each for each in read_sessions(source) if _is_wanted(each, candidate))
                for session in _newest(found) if candidate.newest else found:
                    self.read += 1
                    self.report(session)
                    yield session
        except NotATranscript as error:
            self.refuse(candidate, error)
        except AgentlearnError as error:
            self.fail(error)
        except (OSError, EOFError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            self.fail(BadInput(f"cannot read {candidate.path or 'stdin'}: {reason}"))
        except Exception as error:
            if len(self.candidates) == 1:
                raise
            # A bug, but one that must not cost the other files.
            what = f"{type(error).__name__}: {error}"
            self.fail(BadInput(f"cannot read {candidate.path}: the reader failed with {what}"))

    def refuse(self, candidate: Candidate, error: NotATranscript) -> None:
        if not candidate.named or (error.sidecar and len(self.candidates) > 1):
            self.passed_over += 1
            return
        if len(self.candidates) == 1:
            raise error
        complain(error)
        self.bad += 1

    def fail(self, error: AgentlearnError) -> None:
        if len(self.candidates) == 1:
            raise error
        complain(error)
        self.broken += 1

    def report(self, session: Session) -> None:
        """What could not be read of a session, in one line."""
        lost = [warning for warning in session.warnings if warning.lost and warning.line]
        notes = [warning for warning in session.warnings if not warning.lost]
        skipped = sum(warning.count for warning in lost)
        self.lost_lines += skipped
        where = one_sentence(session.path or session.id)
        for warning in session.warnings:
            if warning.lost and not warning.line:  # not a line, but the rest of the file
                self.lost_lines += 1
                print(f"warning: {where}: {one_sentence(warning.reason)}", file=sys.stderr)
        if lost:
            count = f"{skipped} line{'s' if skipped > 1 else ''}"
            print(f"warning: {where}: {count} skipped {_reasons(lost, skipped)}", file=sys.stderr)
        other = self.seen.setdefault((session.dialect, session.id), session.path)
        if other != session.path:
            self.again.append(f"{session.id} in {other} and {session.path}")
        for note in notes:
            self.notes.setdefault(note.reason, []).append(f"{where}:{note.line}")

    def tell_copies(self) -> None:
        """What was not read because it stands elsewhere: in one line, with one example."""
        if self.copies is None:
            return
        if left_out := self.copies.left_out:
            # A person who named a file wants to know what became of it.
            named = (item.path for item in self.candidates if item.named)
            path = next((path for path in named if path in left_out), next(iter(left_out)))
            files = "1 file holds" if len(left_out) == 1 else f"{len(left_out)} files hold"
            shown = f"{path} (all of it is in {left_out[path]}){_and_more(left_out)}"
            told = f"{files} nothing that another does not: {one_sentence(shown)}"
            print(f"note: {told}", file=sys.stderr)
        if shared := self.copies.shared:
            path, first = next(iter(shared.items()))
            files = "1 file repeats" if len(shared) == 1 else f"{len(shared)} files repeat"
            lines = f"{len(first.lines)} line{'s' if len(first.lines) > 1 else ''}"
            shown = f"{path} ({lines}, of {first.with_file}){_and_more(shared)}"
            told = f"{files} lines of another, which count once: {one_sentence(shown)}"
            print(f"note: {told}", file=sys.stderr)

    def finish(self, code: int = 0) -> None:
        """Tell what was passed over, and leave with the exit code that fits."""
        for reason, places in list(self.notes.items())[:MOST_NOTES]:
            more = f" and {len(places) - 1} more" if len(places) > 1 else ""
            print(f"note: {places[0]}{more}: {one_sentence(reason)}", file=sys.stderr)
        if len(self.notes) > MOST_NOTES:
            print(f"note: {len(self.notes) - MOST_NOTES} more notes like these", file=sys.stderr)
        self.tell_copies()
        if self.again:
            more = f" and {len(self.again) - 1} more" if len(self.again) > 1 else ""
            first = one_sentence(self.again[0])
            print(f"note: the same session counts once a file: {first}{more}", file=sys.stderr)
        if self.passed_over:
            files = f"{self.passed_over} file{'s' if self.passed_over > 1 else ''}"
            print(f"note: passed over {files} without a session", file=sys.stderr)
        if code != INTERRUPTED:
            self._complain_of_nothing()
        codes = {code, BAD_INPUT * bool(self.bad), PART_FAILED * bool(self.broken)}
        worst = next((each for each in WORST_FIRST if each in codes), 0)
        if worst:
            raise typer.Exit(worst)

    def _complain_of_nothing(self) -> None:
        if self.read == 0 and not (self.bad or self.broken or self.may_be_empty):
            raise BadInput(
                "no session was found in what was named",
                "agentlearn sessions --all lists what agents left on this machine",
            )
        if self.strict and self.lost_lines:
            lines = f"{self.lost_lines} line{'s' if self.lost_lines > 1 else ''}"
            raise BadInput(f"--strict: {lines} could not be read")


def _and_more(things: Sized) -> str:
    return f" and {len(things) - 1} more" if len(things) > 1 else ""


def _reasons(lost: list[Warning_], skipped: int) -> str:
    """Which lines, and why: the reason once if it is the same for all, else after each."""
    shown, more = lost[:5], ", …" if skipped > 5 else ""
    if len({warning.reason for warning in shown}) == 1:
        numbers = ", ".join(str(warning.line) for warning in shown)
        return f"({numbers}{more}): {one_sentence(shown[0].reason)}"
    each = ", ".join(f"{warning.line}: {one_sentence(warning.reason)}" for warning in shown)
    return f"({each}{more})"


def piped_in() -> bool:
    """Whether stdin is a pipe or a file; a terminal, or nothing at all, is neither."""
    import os
    import stat

    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return not sys.stdin.isatty() if sys.stdin else False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _newest(sessions: Iterator[Session]) -> Iterator[Session]:
    """The one that ended last; sub-agents end before it."""
    chosen: Session | None = None
    for session in sessions:
        if session.parent is None and (
            chosen is None or (session.ended_at or "") >= (chosen.ended_at or "")
        ):
            chosen = session
    if chosen is not None:
        yield chosen


def _is_wanted(session: Session, candidate: Candidate) -> bool:
    if candidate.only is not None and not session.id.startswith(candidate.only):
        return False
    if candidate.only_in is not None:
        folder = Path(session.cwd) if session.cwd else None
        return folder is not None and (
            folder == candidate.only_in or candidate.only_in in folder.parents
        )
    return True
