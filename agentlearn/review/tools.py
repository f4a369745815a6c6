"""The tools of a reviewer, and no others: list, view and change skills, change memory.

Whatever a model sends, the answer is a text: an unknown tool, broken JSON, wrong arguments and
every refusal are sentences that say what to do instead. Both reviewers come through here, so both
are bound by the same checks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from msgspec import Struct

from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.guard.orders import is_imperative
from agentlearn.guard.secrets import redact
from agentlearn.knowledge.tools import RECALL, KnowledgeTools
from agentlearn.models.model import Tool
from agentlearn.review.arguments import (
    TOOLS,
    Memory,
    SkillManage,
    SkillView,
    given,
    parsed,
    schemas,
)
from agentlearn.review.claims import carries, fits, known_of, may_lose, speaks_of
from agentlearn.review.ending import is_workflow, unfinished
from agentlearn.review.ground import Ground, Standing
from agentlearn.sessions.values import Session
from agentlearn.store import drafting
from agentlearn.store.drafting import Maker, added
from agentlearn.store.memory import SEEN, Target
from agentlearn.store.shelf import STATUS, Desk, Shelf
from agentlearn.store.skill import parse_skill
from agentlearn.store.store import Blocked, Refused
from agentlearn.store.uninterrupted import uninterrupted
from agentlearn.store.values import Change, Cited

SHOWN = 20_000


class Attempt(Struct, frozen=True):
    """A write that a reviewer wanted, and what became of it."""

    kind: str
    action: str
    name: str
    text: str
    status: str
    reason: str | None = None
    change: Change | None = None
    evidence: tuple[Cited, ...] = ()
    blocked: AgentlearnError | None = None
    """It was refused by the state of the store, not for what it says."""


class Tools:
    """The tools over one store, for the review of one session."""

    def __init__(
        self,
        desk: Desk,
        session: Session,
        reviewer: str,
        model: str | None,
        budgets: dict[Target, int],
        watch: Callable[[Attempt], None] = lambda attempt: None,
        knowledge: KnowledgeTools | None = None,
    ) -> None:
        """`knowledge` may be asked, where there is any; nothing is stored through it."""
        self.desk = desk
        self.knowledge = knowledge
        self.ground = Ground(session)
        self.reviewer, self.model = reviewer, model
        self.budgets = budgets
        self.watch = watch
        self.viewed: dict[str, str] = {}
        self.attempts: list[Attempt] = []

    @cached_property
    def unfinished(self) -> str | None:
        return unfinished(self.ground.session)

    def schemas(self) -> list[Tool]:
        return [*schemas(), *(self.knowledge.schemas() if self.knowledge else ())]

    def call(self, name: str, arguments: str | dict[str, Any]) -> str:
        """Run a tool; the answer is for the reviewer."""
        if self.knowledge is not None and name == RECALL.name:
            return redact(self.knowledge.call(name, arguments)[0])
        kind = TOOLS.get(name)
        if kind is None:
            return f"error: there is no tool {name[:60]!r}; the tools are {', '.join(TOOLS)}"
        try:
            wanted = parsed(kind, arguments)
        except ValueError as error:
            return f"error: {error}"
        try:
            if isinstance(wanted, SkillManage):
                return self._manage_skill(wanted)
            if isinstance(wanted, Memory):
                return self._manage_memory(wanted)
            # A secret that a person wrote into a skill by hand must not reach a model.
            return redact(self._view(wanted) if isinstance(wanted, SkillView) else self._list())
        except AgentlearnError as error:
            if not isinstance(error, (Refused, BadInput)):
                raise
            return f"error: {error.message}"

    def _list(self) -> str:
        skills = self.desk.look().skills()
        return "\n".join(f"{skill.folder}: {skill.description}" for skill in skills) or "no skills"

    def _view(self, wanted: SkillView) -> str:
        shelf = self.desk.look()
        skill = shelf.skill(wanted.name) if drafting.name_problem(wanted.name) is None else None
        if skill is None:
            return f"error: there is no skill {wanted.name[:80]!r}\n{self._list()}"
        if wanted.file != "SKILL.md":
            text = shelf.read(drafting.path_in(wanted.name, wanted.file))
            return (
                text[:SHOWN] if text is not None else f"error: it has no file {wanted.file[:80]!r}"
            )
        self.viewed[wanted.name] = skill.text
        others = [file for file in shelf.files_of(wanted.name) if file != "SKILL.md"]
        more = f"\n\nother files: {', '.join(others)}" if others else ""
        return skill.text[:SHOWN] + more

    def _manage_skill(self, wanted: SkillManage) -> str:
        said = wanted.body or wanted.new or wanted.content or wanted.description or ""
        in_references = (wanted.file or "").startswith("references/")
        in_scripts = (wanted.file or "").startswith(("scripts/", "assets/", "templates/"))
        seen_is_enough = in_references and wanted.action in ("write_file", "remove_file", "patch")

        def draft(shelf: Shelf, maker: Maker, standing: Standing) -> Change | None:
            carries(standing, seen_is_enough, f"the skill {wanted.name[:64]}")
            change = self._draft_skill(shelf, maker, wanted, standing.basis == "seen")
            text = _text_of(wanted, change, shelf)
            self._is_no_workflow_of_a_failure(text)
            speaks_of(standing, text, known_of(shelf), not in_scripts)
            if change.absorbed_by is None:
                may_lose(standing, change)
            if wanted.description is not None:
                skill = parse_skill(wanted.name, change.edits[0].after or "")
                fits(skill.description, skill.body)
            return change

        return self._write("skill", wanted.action, wanted.name, said, wanted.evidence, draft)

    def _draft_skill(self, shelf: Shelf, maker: Maker, wanted: SkillManage, seen: bool) -> Change:
        action, name = wanted.action, wanted.name
        if action == "create":
            return drafting.create_skill(
                shelf, maker, name, given(wanted, "description"), given(wanted, "body")
            )
        if action != "delete" and name not in self.viewed and shelf.skill(name) is not None:
            raise Refused(f"view the skill {name} before you change it")
        if action == "patch":
            old, new = given(wanted, "old"), wanted.new or ""
            return drafting.patch_skill(shelf, maker, name, old, new, wanted.file or "SKILL.md")
        if action == "edit":
            viewed = self.viewed.get(name, "")
            return drafting.edit_skill(shelf, maker, name, wanted.description, wanted.body, viewed)
        if action == "write_file":
            file, content = given(wanted, "file"), given(wanted, "content")
            if seen and not content.startswith(SEEN.strip()):
                content = f"{SEEN.strip()}\n\n{content}"
            return drafting.write_skill_file(shelf, maker, name, file, content)
        if action == "remove_file":
            return drafting.remove_skill_file(shelf, maker, name, given(wanted, "file"))
        if name not in self.viewed and shelf.skill(name) is not None:
            raise Refused(f"view the skill {name} before you delete it")
        return drafting.delete_skill(shelf, maker, name, given(wanted, "absorbed_by"))

    def _is_no_workflow_of_a_failure(self, text: str) -> None:
        """What failed or never ended may teach a pitfall; its steps prove nothing."""
        if is_workflow(text) and self.unfinished is not None:
            raise Refused(
                f"this session {self.unfinished}: it may teach a pitfall, not a workflow; "
                'put what went wrong under "## Pitfalls", as "- …", without steps'
            )

    def _manage_memory(self, wanted: Memory) -> str:
        target: Target = "USER" if wanted.target.upper() == "USER" else "MEMORY"
        budget = self.budgets[target]
        said = wanted.text or wanted.old or ""

        def draft(shelf: Shelf, maker: Maker, standing: Standing) -> Change | None:
            carries(standing, target == "MEMORY", f"{target}.md")
            seen = standing.basis == "seen"
            if wanted.action == "remove":
                gone = drafting.remove_note(shelf, maker, target, given(wanted, "old"), seen)
                may_lose(standing, gone)
                return gone
            text = given(wanted, "text")
            drafting.check_clean(text)  # before its lines become one, which hides a key's shape
            self._is_no_workflow_of_a_failure(text)
            if seen and is_imperative(text):
                raise Refused(
                    "those lines are a tool's output: say how things are, not what to do, "
                    "or cite the person's own words"
                )
            if wanted.action == "add":
                change = drafting.add_note(shelf, maker, target, text, budget, seen)
            else:
                old = given(wanted, "old")
                change = drafting.replace_note(shelf, maker, target, old, text, budget, seen)
                may_lose(standing, change)
            stood = shelf.memory(target) or "" if wanted.action == "replace" else ""
            speaks_of(standing, text, stood)
            return change

        return self._write("memory", wanted.action, target, said, wanted.evidence, draft)

    def _write(
        self,
        kind: str,
        action: str,
        name: str,
        said: str,
        places: Any,
        draft: Callable[[Shelf, Maker, Standing], Change | None],
    ) -> str:
        evidence: tuple[Cited, ...] = ()
        try:
            standing = self.ground.stand(places)
            evidence = self.ground.cited(standing.spans, said)
            session = self.ground.session
            maker = Maker(self.reviewer, self.model, session.id, evidence)
            with self.desk.at_work() as (shelf, put):
                change = draft(shelf, maker, standing)
                if change is not None:
                    with uninterrupted():  # what is made is also told
                        put(change)
                        self._made(kind, action, change, evidence)
        except (Refused, BadInput) as error:
            shown, why = redact(said)[:2000], error.message
            # What is wrong with the arguments is a Refused; only files of the store are bad input.
            blocked = error if isinstance(error, (Blocked, BadInput)) else None
            self._note(
                Attempt(kind, action, name[:80], shown, "refused", why, None, evidence, blocked)
            )
            raise
        if change is None:
            return "nothing to do: it is there already"
        return f"done: {change.id}"

    def _made(self, kind: str, action: str, change: Change, evidence: tuple[Cited, ...]) -> None:
        status = STATUS[self.desk.mode]
        self._note(Attempt(kind, action, change.name, change.text, status, None, change, evidence))
        for edit in change.edits:
            if edit.path == f"skills/{change.name}/SKILL.md":
                self.viewed.pop(change.name, None)
                if edit.after is not None:  # who wrote it knows what it says
                    self.viewed[change.name] = edit.after

    def _note(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)
        self.watch(attempt)


def _text_of(wanted: SkillManage, change: Change, shelf: Shelf) -> str:
    """What comes; where nothing comes, what goes."""
    if wanted.action == "patch":
        return change.text.removeprefix("without: ")
    if wanted.action == "edit" and wanted.body is not None:
        stood = shelf.skill(wanted.name)
        before = stood.body if stood is not None else ""
        return added(before, wanted.body) or added(wanted.body, before)
    return wanted.body or wanted.content or wanted.description or ""
