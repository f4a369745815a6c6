"""How `returns` prints: a table for people, JSON, JSON lines or CSV for programs."""

from __future__ import annotations

import sys
from typing import Any

from agentlearn.cli.output import (
    CsvWriter,
    json_line,
    number,
    short_id,
    sparkline,
    terminal_width,
    write_bytes,
    write_json,
    write_table,
)
from agentlearn.errors import BadInput
from agentlearn.guard import one_line, one_sentence
from agentlearn.rewards.draw import SOURCES, Drawn
from agentlearn.rewards.summary import METHODS, Summary, advantages
from agentlearn.rewards.worth import Scored, Worth
from agentlearn.sessions.values import Place, Session


def printer(
    format: str, gamma: float, per_turn: bool, explain: bool, advantage: str | None
) -> TextPrinter | DataPrinter:
    if advantage is not None and advantage not in METHODS:
        raise BadInput(f"--advantage {advantage} is none of {', '.join(METHODS)}")
    if format == "text":
        return TextPrinter(gamma, per_turn, explain, advantage)
    return DataPrinter(format, gamma, explain, advantage)


def as_dict(worth: Worth) -> dict[str, Any]:
    return {
        "id": worth.id,
        "path": worth.path,
        "dialect": worth.dialect,
        "goal": worth.goal,
        "outcome": worth.outcome,
        "turns": len(worth.rewards),
        "total_reward": worth.total_reward,
        "return": worth.return_,
        "rewards": worth.rewards,
        "returns": worth.returns,
        "sources": worth.sources,
    }


class DataPrinter:
    """Sessions as objects. JSON lines come out as they are read, unless they are compared."""

    def __init__(self, format: str, gamma: float, explain: bool, advantage: str | None) -> None:
        self.format = format
        self.gamma = gamma
        self.explain = explain
        self.advantage = advantage
        self.needs_texts = self.needs_hashes = explain
        self.summary = Summary()
        self.waiting: list[tuple[Worth, dict[str, Any]]] = []
        self.streams = format in ("jsonl", "csv") and advantage is None
        self.csv: CsvWriter | None = None

    def add(self, scored: Scored) -> None:
        worth = scored.worth
        self.summary.add(worth)
        fields = as_dict(worth)
        if self.explain:
            fields["evidence"] = explained(scored)
        if self.streams:
            self.write(fields)
        else:
            self.waiting.append((worth, fields))

    def finish(self) -> None:
        if self.advantage:
            compare(self.advantage, self.waiting)
        objects = [fields for _, fields in self.waiting]
        if self.format == "json":
            write_json(
                {"gamma": self.gamma, "sessions": objects, "summary": self.summary.as_dict()}
            )
        else:
            for fields in objects:
                self.write(fields)
            if self.format == "csv" and self.csv is None:
                self.csv = CsvWriter(_csv_columns(self.advantage))

    def write(self, fields: dict[str, Any]) -> None:
        if self.format != "csv":
            write_bytes(json_line(fields))
            sys.stdout.flush()
            return
        columns = _csv_columns(self.advantage)
        if self.csv is None:
            self.csv = CsvWriter(columns)
        flat = {**fields, **fields["sources"]}
        self.csv.row(flat.get(column) for column in columns)


def _csv_columns(advantage: str | None) -> list[str]:
    columns = ["id", "path", "dialect", "goal", "outcome", "turns", "total_reward", "return"]
    return [*columns, *SOURCES, *(["group", "advantage"] if advantage else [])]


def compare(method: str, waiting: list[tuple[Worth, dict[str, Any]]]) -> None:
    """Give each session its advantage; a group of one has none, which is said."""
    worths = [worth for worth, _ in waiting]
    values, alone = advantages(worths, method)
    for (worth, fields), value in zip(waiting, values, strict=True):
        fields["group"] = worth.group
        fields["advantage"] = value
    if alone:
        print(
            f"warning: {alone} of the tasks have one session only: its advantage is 0",
            file=sys.stderr,
        )


def explained(scored: Scored) -> list[dict[str, Any]]:
    """Every reward with its evidence."""
    from agentlearn.sessions.evidence import gather_evidence

    found = [(index, drawn) for index, rewards in enumerate(scored.drawn) for drawn in rewards]
    evidence = gather_evidence(scored.session, [_place(drawn) for _, drawn in found])
    return [
        {
            "turn": index,
            "value": drawn.value,
            "source": drawn.source,
            "rule": drawn.rule,
            "evidence": {
                "session": where.session, "path": where.path, "start": where.start,
                "end": where.end, "unit": where.unit, "sha256": where.sha256,
            },
        }
        for (index, drawn), where in zip(found, evidence, strict=True)
    ]  # fmt: skip


def _place(drawn: Drawn) -> tuple[int, int] | Place:
    return drawn.place or (drawn.start, drawn.end)


class TextPrinter:
    """A table of sessions, then a summary; turn by turn if that was asked for."""

    def __init__(self, gamma: float, per_turn: bool, explain: bool, advantage: str | None) -> None:
        self.gamma = gamma
        self.per_turn = per_turn
        self.explain = explain
        self.advantage = advantage
        self.needs_texts = per_turn or explain
        self.needs_hashes = False  # people are shown the lines themselves
        self.summary = Summary()
        self.waiting: list[tuple[Worth, dict[str, Any]]] = []
        self.used: set[str] = set()

    def add(self, scored: Scored) -> None:
        worth = scored.worth
        self.summary.add(worth)
        self.used |= _sources_of(scored)
        if self.needs_texts:
            print(_heading(worth))
            if self.per_turn:
                _print_turns(scored)
            if self.explain:
                _print_reasons(scored)
            print()
        self.waiting.append((worth, {}))

    def finish(self) -> None:
        if self.advantage:
            compare(self.advantage, self.waiting)
        if not self.waiting:
            return
        columns = ["session", "dialect", "outcome", "turns", "reward", "return"]
        used = [name for name in SOURCES if name in self.used]
        columns += used + (["advantage"] if self.advantage else []) + ["returns", "goal"]
        rows = []
        for worth, extra in self.waiting:
            row = [short_id(worth.id), worth.dialect, worth.outcome, str(len(worth.rewards))]
            row += [number(worth.total_reward), number(worth.return_)]
            row += [number(worth.sources[name]) for name in used]
            row += [number(extra["advantage"])] if self.advantage else []
            rows.append([*row, sparkline(worth.returns), one_line(worth.goal or "", 200)])
        write_table(
            columns, rows, stretch=len(columns) - 1, droppable=("returns", "dialect", "goal")
        )
        print()
        print(_summary_line(self.summary, self.gamma))


def _sources_of(scored: Scored) -> set[str]:
    """The sources that say anything of a session, also where what they say adds up to nothing."""
    worth = scored.worth
    drawn = [reward for each in scored.drawn for reward in each]
    # A verdict may well be worth nothing.
    used: set[str] = {each.source for each in drawn if each.value or each.source == "verdict"}
    if not drawn and any(worth.rewards):
        used.add("stated")  # it was only scanned
    if worth.outcome in ("success", "failure") and "stated" not in used:
        used.add("verdict")
    return used


def _heading(worth: Worth) -> str:
    goal = one_line(worth.goal or "(no goal)", 80)
    return f"{one_line(worth.id, 60)}  {worth.dialect}  {worth.outcome}  {goal}"


def _print_turns(scored: Scored) -> None:
    worth = scored.worth
    rows = []
    for index, turn in enumerate(scored.turns):
        reward = worth.rewards[index]
        rows.append(
            [
                str(index),
                number(reward) if reward else "0",
                number(worth.returns[index], 3),
                one_line(turn.action, max(20, terminal_width() // 2 - 14)),
                one_line(turn.observation, 200),
            ]
        )
    write_table(["turn", "reward", "return", "action", "observation"], rows, stretch=4)


def _print_reasons(scored: Scored) -> None:
    """Under each reward, the lines that speak for it."""
    texts = _texts_by_line(scored)
    for index, rewards in enumerate(scored.drawn):
        for drawn in rewards:
            where = one_sentence(_cited(scored.session, drawn))
            rule = one_line(drawn.rule, 100)
            print(f"  turn {index}  {drawn.value:+.2f}  {drawn.source}: {rule}  {where}")
            for line in sorted({drawn.start, drawn.end} - {0}):
                for text in texts.get(line, [])[:2]:
                    print(f"      {one_line(text, max(terminal_width() - 6, 40))}")
    if not any(scored.drawn):
        print("  no reward was drawn")


def _cited(session: Session, drawn: Drawn) -> str:
    """Where the lines are. For those of the session that needs no hash, and so no reading."""
    from agentlearn.sessions.evidence import cite, gather_evidence

    if drawn.place is not None:
        return str(gather_evidence(session, [drawn.place])[0])
    if drawn.start == 0:
        return "(in no file)"
    return cite(session.id, drawn.start, drawn.end, session.unit)


def _texts_by_line(scored: Scored) -> dict[int, list[str]]:
    from agentlearn.render import Painter

    painter = Painter(scored.session.unit, lines=True, tools=True)
    wanted = {line for each in scored.drawn for drawn in each for line in (drawn.start, drawn.end)}
    texts: dict[int, list[str]] = {}
    for entry in scored.session.entries:
        if entry.line in wanted:
            texts.setdefault(entry.line, []).append(painter.entry(entry))
    return texts


def _summary_line(summary: Summary, gamma: float) -> str:
    found = summary.as_dict()
    sessions = f"{found['sessions']} session{'s' if found['sessions'] != 1 else ''}"
    turns = f"{found['turns']} turn{'s' if found['turns'] != 1 else ''}"
    parts = [
        f"{sessions}, {turns}, gamma {gamma:g}",
        f"return mean {number(found['mean_return'])}, std {number(found['std_return'])}, "
        f"min {number(found['min_return'])}, max {number(found['max_return'])}",
    ]
    if found["success_rate"] is None:
        parts.append("success rate unknown: no session has a verdict")
    else:
        success = summary.outcomes.get("success", 0)
        judged = success + summary.outcomes.get("failure", 0)
        rate = f"{100 * found['success_rate']:.0f} %"
        parts.append(f"success rate {rate}: {success} of {judged} that succeeded or failed")
    return "\n".join(parts)
