"""A linter for the store: what is wrong with it, a code per rule.

An error is harmful or unreadable for an agent, a warning wants mending, a note is worth a look.
What people wrote themselves is held to the format and to what must never be kept, not to our
style. What is refused in a draft and what is found here are the same rules (`clean`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Literal

from msgspec import Struct

from agentlearn.errors import AgentlearnError
from agentlearn.store import files
from agentlearn.store.clean import Problem, body_problems, description_problems, text_problems
from agentlearn.store.journal import State
from agentlearn.store.memory import TARGETS, Target, memory_path, notes_of, same_note
from agentlearn.store.origins import standing_of
from agentlearn.store.places import shown_path
from agentlearn.store.shelf import Shelf
from agentlearn.store.similar import NEAR, likeness
from agentlearn.store.skill import MOST_DESCRIPTION, extra_fields
from agentlearn.store.store import Store
from agentlearn.store.values import Skill

Level = Literal["error", "warning", "note"]
RULES: dict[str, tuple[str, Level]] = {
    "AL001": ("no valid skill", "error"),
    "AL002": ("name is not that of the folder", "error"),
    "AL003": ('no "use when"', "warning"),
    "AL004": ("description too long", "error"),
    "AL005": ("skills overlap", "warning"),
    "AL006": ("evidence changed or gone", "warning"),
    "AL007": ("secret", "error"),
    "AL008": ("hidden characters", "error"),
    "AL009": ("injected order", "error"),
    "AL010": ("memory over its budget", "error"),
    "AL011": ("note twice", "warning"),
    "AL012": ("not readable as text", "error"),
    "AL013": ("journal damaged or foreign", "warning"),
    "AL014": ("change unknown to the journal", "note"),
    "AL015": ("changed by hand", "note"),
    "AL016": ("changes wait", "note"),
    "AL017": ("folder without SKILL.md", "warning"),
    "AL018": ("body empty or too long", "warning"),
    "AL019": ("link in the store", "warning"),
    "AL020": ("left by a crash", "warning"),
    "AL021": ("field that no review sets", "warning"),
}
CODES = {"secret": "AL007", "hidden": "AL008", "order": "AL009", "encoding": "AL012"}
"""The codes of what `text_problems` finds."""


class Finding(Struct, frozen=True):
    code: str
    level: Level
    path: str
    """Logical (`skills/run-tests/SKILL.md`), or a name in the store's own folder."""
    line: int
    message: str

    @property
    def title(self) -> str:
        return RULES[self.code][0]


def check_store(store: Store, budgets: dict[Target, int]) -> list[Finding]:
    """Everything that is to be said of a store, file by file."""
    state = store.state()
    shelf = Shelf(store, state, {})
    skills = shelf.skills()
    found = [*_check_journal(state), *_check_things(store)]
    for skill in skills:
        found += _check_skill(shelf, skill)
    found += _check_pairs(skills)
    for target in TARGETS:
        found += _check_memory(store, target, budgets[target])
    found += [*_check_by_hand(store, state), *_check_evidence(state)]
    return sorted(_once(found), key=lambda finding: (finding.path, finding.line, finding.code))


def _once(found: list[Finding]) -> list[Finding]:
    """A line full of hidden characters is one finding."""
    kept: dict[tuple[str, str, int, str], Finding] = {}
    for finding in found:
        message = "" if finding.code in CODES.values() else finding.message
        kept.setdefault((finding.path, finding.code, finding.line, message), finding)
    return list(kept.values())


def shown(store: Store, path: str) -> str:
    """The path of a finding as a person finds it."""
    if path.partition("/")[0] in ("skills", "memory", "archive"):
        return store.places.shown(path)
    return shown_path(store.places.own / path)


def _finding(
    code: str, path: str, message: str, line: int = 1, level: Level | None = None
) -> Finding:
    return Finding(code, level or RULES[code][1], path, line, message)


def _of(problem: Problem, path: str, text: str) -> Finding:
    """What a rule says of the text of a file."""
    line = text.count("\n", 0, problem.at) + 1
    return _finding(CODES[problem.rule], path, f"this {problem.message}", line)


def _check_journal(state: State) -> Iterator[Finding]:
    for line in state.unread:
        yield _finding("AL013", "journal.jsonl", "this line is no record: it is passed by", line)
    if state.foreign:
        count = len(state.foreign)
        said = f"{count} change{'s' * (count > 1)} came from elsewhere: nothing is done by them"
        yield _finding("AL013", "journal.jsonl", said)
    if state.unfinished is not None:
        said = f"change {state.unfinished.id} was begun and is not finished"
        yield _finding("AL020", "journal.jsonl", said)
    if state.staged:
        count = len(state.staged)
        said = f"{count} change{'s wait' if count != 1 else ' waits'}: agentlearn diff shows"
        yield _finding("AL016", "journal.jsonl", said)


def _check_things(store: Store) -> Iterator[Finding]:
    """Links, leftovers and folders that are no skills."""
    places = store.places
    for root, folder in (("skills", places.skills), ("memory", places.memory)):
        for path, kind in files.walk(places.folder(folder)):
            if kind == "link":
                yield _finding("AL019", f"{root}/{path}", "this is a link: it is passed by")
            elif is_leftover(path):
                yield _finding("AL020", f"{root}/{path}", "a command that was killed left this")
    for name in store.folders():
        if not files.exists(*store.root(f"skills/{name}/SKILL.md")):
            yield _finding("AL017", f"skills/{name}", "this folder has no SKILL.md")


def is_leftover(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith(".") and name.endswith(files.TEMPORARY)


def _check_skill(shelf: Shelf, skill: Skill) -> Iterator[Finding]:
    path = f"skills/{skill.folder}/SKILL.md"
    if skill.problem is not None and not skill.text:
        yield _finding("AL012", path, skill.problem)
        return
    if skill.problem is not None:
        yield _format_finding(path, skill)
    style: Level | None = None if skill.is_ours else "note"
    if skill.description:
        for problem in description_problems(skill.description):
            if problem.rule == "use-when":  # the others are problems of the format
                said = f"the description {problem.message}"
                yield _finding("AL003", path, said, _line_of(skill, "description"), style)
    for problem in body_problems(skill.body):
        yield _finding("AL018", path, f"the body {problem.message}", level=style)
    for problem in text_problems(skill.text):
        yield _of(problem, path, skill.text)
    yield from _check_ids(shelf.state, path, skill)
    if skill.is_ours and (extra := extra_fields(skill.text)):
        said = f"it has {', '.join(extra)}, and no review wrote that: who did?"
        yield _finding("AL021", path, said, _line_of(skill, extra[0]))
    for file in shelf.files_of(skill.folder):
        if file != "SKILL.md":
            yield from _check_file(shelf, f"skills/{skill.folder}/{file}")


def _line_of(skill: Skill, field: str) -> int:
    return skill.text.count("\n", 0, max(skill.text.find(f"\n{field}:") + 1, 0)) + 1


def _format_finding(path: str, skill: Skill) -> Finding:
    code = "AL001"
    if skill.name != skill.folder:
        code = "AL002"
    elif len(skill.description) > MOST_DESCRIPTION:
        code = "AL004"
    line = _line_of(skill, "description") if code == "AL004" else 1
    return _finding(code, path, skill.problem or "", line)


def _check_ids(state: State, path: str, skill: Skill) -> Iterator[Finding]:
    """A clone has the skills and not the journal: then nothing is known of any, nor missing."""
    unknown = [key for key in skill.changes if not state.knows(key)]
    if unknown and state.seen:
        listed = ", ".join(unknown[:5])
        yield _finding("AL014", path, f"it names changes that the journal does not know: {listed}")


def _check_file(shelf: Shelf, path: str) -> Iterator[Finding]:
    try:
        text = shelf.read(path) or ""
    except AgentlearnError:  # a picture, an archive: no text that an agent reads
        return
    for problem in text_problems(text):
        yield _of(problem, path, text)


def _check_pairs(skills: list[Skill]) -> Iterator[Finding]:
    valid = [skill for skill in skills if skill.problem is None]
    for one, other in combinations(valid, 2):
        if likeness(one.folder, one.description, other) >= NEAR:
            level: Level | None = None if one.is_ours or other.is_ours else "note"
            said = f"this is nearly the skill {one.folder}: one of them could hold both"
            yield _finding("AL005", f"skills/{other.folder}/SKILL.md", said, level=level)


def _check_memory(store: Store, target: Target, budget: int) -> Iterator[Finding]:
    path = memory_path(target)
    try:
        text = store.read(path)
    except AgentlearnError as error:
        yield _finding("AL012", path, error.message)
        return
    if text is None:
        return
    if len(text) > budget:
        yield _finding("AL010", path, f"it has {len(text)} of {budget} characters")
    for problem in text_problems(text):
        yield _of(problem, path, text)
    notes = notes_of(text)
    for number, note in enumerate(notes):
        for known in notes[:number]:
            if same_note(known.text, note.text):
                said = f"the note of line {text.count(chr(10), 0, known.start) + 1} says the same"
                yield _finding("AL011", path, said, text.count("\n", 0, note.start) + 1)
                break


def _check_by_hand(store: Store, state: State) -> Iterator[Finding]:
    """Files that are not as the last change left them."""
    left: dict[str, str | None] = {}
    for change in state.changes.values():
        left.update((edit.path, edit.after) for edit in change.edits)
    for path, text in left.items():
        try:
            found = store.read(path)
        except AgentlearnError:
            continue  # told already
        if found != text:
            said = "was changed" if found is not None else "was removed"
            yield _finding("AL015", path, f"it {said} by hand since its last change")


def _check_evidence(state: State) -> Iterator[Finding]:
    """Agents clear their transcripts away in time: then the excerpt in the journal is all there is.

    That is told once for each transcript. Lines that say something else now are another matter.
    """
    standing = [change for key, change in state.changes.items() if state.stands(key)]
    found = standing_of(cited for change in standing for cited in change.evidence)
    gone: dict[str, set[str]] = {}
    for change in standing:
        for cited in change.evidence:
            if found[cited] == "gone":
                gone.setdefault(cited.path or "", set()).add(change.id)
            elif found[cited] == "changed":
                said = f"change {change.id} rests on {cited.path}, which says something else now"
                path = change.edits[0].path if change.edits else "journal.jsonl"
                yield _finding("AL006", path, said)
    for path, ids in gone.items():
        those = f"change {min(ids)} rests" if len(ids) == 1 else f"{len(ids)} changes rest"
        yield _finding("AL006", "journal.jsonl", f"{those} on {path}, which is gone")
