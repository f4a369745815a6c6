"""Pitfall 11: one session in several files, as forks and growing prefixes, counts once."""

from __future__ import annotations

import gzip
import json
import os
import threading
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest
import zstandard

from agentlearn.sessions.copies import find_copies, is_random, look_at
from tests.commands import call, json_of, names_in, native_file, started
from tests.files import SAMPLES, lines_file, sample

ONE, TWO, THREE = (str(uuid5(NAMESPACE_URL, name)) for name in ("one", "two", "three"))


def chain(session: str, *names: str, minute: int = 0, after: str | None = None) -> list[Any]:
    """Lines of Claude Code: for each name a prompt, a call, its result and an answer."""
    lines: list[dict[str, Any]] = []
    last = after
    for number, name in enumerate(names):
        call = {"type": "tool_use", "id": f"toolu_{name}", "name": "Bash", "input": {"do": name}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{name}", "content": f"did {name}"}
        said = {"type": "text", "text": f"{name} is done"}
        for place, (kind, content) in enumerate(
            [("user", name), ("assistant", [call]), ("user", [result]), ("assistant", [said])]
        ):
            uuid = str(uuid5(NAMESPACE_URL, f"{name}{place}"))
            message = {"role": kind, "content": content}
            if kind == "assistant":
                message["id"] = f"msg_{name}{place}"
            lines.append(
                {
                    "parentUuid": last,
                    "isSidechain": False,
                    "sessionId": session,
                    "type": kind,
                    "message": message,
                    "uuid": uuid,
                    "timestamp": f"2026-11-01T09:{minute + number:02d}:{place:02d}.000Z",
                }
            )
            last = uuid
    return lines


def forked(lines: list[Any], session: str) -> list[Any]:
    return [{**line, "sessionId": session} for line in lines]


def rollout(id: str, *names: str) -> list[Any]:
    """Lines of Codex: for each name a prompt and an answer."""
    lines: list[Any] = [("session_meta", {"id": id, "cwd": "/w/app"})]
    for name in names:
        for role, kind in (("user", "input_text"), ("assistant", "output_text")):
            content = [{"type": kind, "text": f"{role}: {name}"}]
            lines.append(("response_item", {"type": "message", "role": role, "content": content}))
    stamp = "2026-11-01T09:00:{:02d}.000Z".format
    return [
        {"timestamp": stamp(place), "type": kind, "payload": payload}
        for place, (kind, payload) in enumerate(lines)
    ]


def actions(*names: Path) -> list[tuple[str, str]]:
    """Each turn that was counted, with its session."""
    rows = json_of("trajectory", *names)
    return [(row["session_id"], row["action"]) for row in rows]


def sessions_of(*names: Path) -> list[tuple[str, str, int]]:
    found = json_of("sessions", *names)
    return [(Path(one["path"]).name, one["id"], one["turns"]) for one in found]


def notes(*args: str | Path) -> list[str]:
    return call("sessions", *args, "--json").stderr.splitlines()


def test_pitfall_11_of_growing_prefixes_the_last_counts(tmp_path: Path) -> None:
    lines = chain(ONE, "a", "b", "c")
    paths = [
        lines_file(tmp_path / f"{name}.jsonl", lines[:end])
        for name, end in (("1", 3), ("2", 7), ("3", 12))
    ]
    assert sessions_of(tmp_path) == [("3.jsonl", ONE, 6)]
    assert actions(tmp_path) == actions(paths[2])
    assert notes(tmp_path) == [
        f"note: 2 files hold nothing that another does not: {paths[1]} "
        f"(all of it is in {paths[2]}) and 1 more"
    ]


def test_pitfall_11_a_plain_copy_counts_once_and_named_files_are_told(tmp_path: Path) -> None:
    first = lines_file(tmp_path / "a.jsonl", chain(ONE, "a", "b"))
    second = lines_file(tmp_path / "b.jsonl", chain(ONE, "a", "b"))
    told = f"note: 1 file holds nothing that another does not: {second} (all of it is in {first})"
    for names in ([first, second], [second, first], [tmp_path], [f"{tmp_path}/*.jsonl"]):
        assert sessions_of(*names) == [("a.jsonl", ONE, 4)]
        assert notes(*names) == [told]


def test_pitfall_11_a_link_to_a_file_is_a_copy_of_it(tmp_path: Path) -> None:
    lines_file(tmp_path / "a.jsonl", chain(ONE, "a"))
    (tmp_path / "b.jsonl").symlink_to(tmp_path / "a.jsonl")
    assert sessions_of(tmp_path) == [("a.jsonl", ONE, 2)]


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_pitfall_11_a_compressed_copy_counts_once(tmp_path: Path, compress: Any) -> None:
    data = lines_file(tmp_path / "b.jsonl", chain(ONE, "a", "b")).read_bytes()
    (tmp_path / "c.packed").write_bytes(compress(data))
    assert sessions_of(tmp_path) == [("b.jsonl", ONE, 4)]
    (tmp_path / "b.jsonl").write_bytes(data[: len(data) // 2])
    assert sessions_of(tmp_path) == [("c.packed", ONE, 4)]


@pytest.mark.parametrize("lines", [chain(ONE, "a", "b"), rollout(ONE, "a", "b")])
def test_pitfall_11_a_cut_last_line_holds_nothing(tmp_path: Path, lines: list[Any]) -> None:
    whole = lines_file(tmp_path / "whole.jsonl", lines)
    data = whole.read_bytes()
    cut = tmp_path / "cut.jsonl"
    for size in (len(data) // 2, len(data) - 20, len(data) - 2):
        cut.write_bytes(data[:size])
        assert [name for name, _, _ in sessions_of(tmp_path)] == ["whole.jsonl"]


def test_pitfall_11_a_broken_line_amid_others_holds_something(tmp_path: Path) -> None:
    lines = [json.dumps(line) for line in rollout(ONE, "a", "b")]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    (tmp_path / "b.jsonl").write_text("\n".join([lines[0], "{oops", lines[1]]))
    assert len(sessions_of(tmp_path)) == 2


def test_pitfall_11_a_fork_begins_with_what_is_new_in_it(tmp_path: Path) -> None:
    """It copies the lines with their uuids under its own id; the original keeps them."""
    lines = chain(ONE, "a", "b")
    copied = forked(lines, TWO)
    new = chain(TWO, "c", minute=30, after=lines[-1]["uuid"])
    original = lines_file(tmp_path / "z.jsonl", lines)
    fork = lines_file(tmp_path / "y.jsonl", copied + new)
    found = json_of("sessions", tmp_path)
    assert [(one["id"], one["goal"], one["turns"]) for one in found] == [
        (TWO, "c", 2),
        (ONE, "a", 4),
    ]
    assert sorted(actions(tmp_path)) == sorted(
        [*actions(original), (TWO, 'Bash {"do": "c"}'), (TWO, "c is done")]
    )
    assert notes(tmp_path) == [
        f"note: 1 file repeats lines of another, which count once: {fork} (8 lines, of {original})"
    ]
    assert len(actions(fork)) == 6  # alone, it is the whole story


def test_pitfall_11_lines_keep_their_numbers_after_those_that_were_passed_by(
    tmp_path: Path,
) -> None:
    lines = chain(ONE, "a")
    lines_file(tmp_path / "a.jsonl", lines)
    lines_file(tmp_path / "b.jsonl", forked(lines, TWO) + chain(TWO, "b", minute=30))
    text = call("render", tmp_path, "--lines").stdout
    assert f"# session {TWO}\n[L5] user: b\n" in text


def test_pitfall_11_an_original_that_went_on_keeps_its_history(tmp_path: Path) -> None:
    """Forks by the agent itself say whose their lines were, and may give them new uuids."""
    lines = chain(ONE, "a")
    said = [{"sessionId": ONE, "messageUuid": line["uuid"]} for line in lines]
    renamed = chain(TWO, "x")
    copied = [
        {**line, "uuid": other["uuid"], "sessionId": TWO, "forkedFrom": origin}
        for line, other, origin in zip(lines, renamed, said, strict=True)
    ]
    lines_file(tmp_path / "a.jsonl", copied + chain(TWO, "b", minute=30))
    lines_file(tmp_path / "b.jsonl", lines + chain(ONE, "c", minute=50))
    assert sessions_of(tmp_path) == [("a.jsonl", TWO, 2), ("b.jsonl", ONE, 4)]


def test_pitfall_11_a_fork_of_a_fork_counts_each_line_once(tmp_path: Path) -> None:
    first = chain(ONE, "a")
    second = forked(first, TWO) + chain(TWO, "b", minute=20)
    third = forked(second, THREE) + chain(THREE, "c", minute=40)
    for name, lines in (("a", third), ("b", first), ("c", second)):
        lines_file(tmp_path / f"{name}.jsonl", lines)
    lines_file(tmp_path / "grown.jsonl", second[:6])
    assert sessions_of(tmp_path) == [
        ("a.jsonl", THREE, 2),
        ("b.jsonl", ONE, 2),
        ("c.jsonl", TWO, 2),
    ]


def test_pitfall_11_a_fork_without_a_new_line_is_left_out(tmp_path: Path) -> None:
    lines = chain(ONE, "a", "b")
    lines_file(tmp_path / "a.jsonl", lines)
    title = {"type": "ai-title", "aiTitle": "Branch", "sessionId": TWO}
    lines_file(tmp_path / "b.jsonl", [*forked(lines, TWO), title])
    assert sessions_of(tmp_path) == [("a.jsonl", ONE, 4)]
    copied = [{**line, "forkedFrom": {"sessionId": ONE}} for line in forked(lines[:4], TWO)]
    lines_file(tmp_path / "b.jsonl", [*copied, title])
    assert sessions_of(tmp_path) == [("a.jsonl", ONE, 4)]


def test_pitfall_11_what_was_typed_while_the_agent_worked_counts_once(tmp_path: Path) -> None:
    """Two copies that went apart: lines without a uuid are known by their bytes."""
    typed = {"operation": "enqueue", "content": "and b", "timestamp": "2026-11-01T09:00:05.000Z"}
    begin = [*chain(ONE, "a"), {"type": "queue-operation", "sessionId": ONE, **typed}]
    for minute, name in ((10, "c"), (20, "d")):
        lines_file(tmp_path / f"{name}.jsonl", begin + chain(ONE, name, minute=minute))
    rendered = call("render", tmp_path).stdout
    assert rendered.count("user: and b") == 1
    assert rendered.count("user: a\n") == rendered.count("user: c\n") == 1
    assert rendered.count("user: d\n") == 1


def test_pitfall_11_ids_that_people_think_of_join_no_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        lines = chain("s1", "x")
        for number, line in enumerate(lines):
            line["uuid"] = f"u{number}"
        lines_file(tmp_path / f"{name}.jsonl", lines)
    assert [turns for _, _, turns in sessions_of(tmp_path)] == [2, 2]
    assert [note.split(":")[1] for note in notes(tmp_path)] == [
        " the same session counts once a file"
    ]


def test_pitfall_11_line_numbers_for_uuids_make_no_two_lines_one(tmp_path: Path) -> None:
    for name in ("a", "b"):
        lines = chain(ONE, name)
        for number, line in enumerate(lines):
            line["uuid"] = f"line-{number}"
        lines_file(tmp_path / f"{name}.jsonl", lines)
    assert sessions_of(tmp_path) == [("a.jsonl", ONE, 2), ("b.jsonl", ONE, 2)]


def test_ids_that_nobody_makes_up_twice() -> None:
    for name in (ONE, "agent-a0ad4f44468bdf20d", "ses_4f1c9aa07ffeK2bTz9QxLm03Vd", ONE.upper()):
        assert is_random(name), name
    for name in (
        "s1", "u1", "test-session-003", "ses_stage0_small", "gemini_stage0_jsonl", "clear-001",
        "00000000-0000-0000-0000-000000000001", "NORMALIZEDSESSIONID", "",
    ):  # fmt: skip
        assert not is_random(name), name


def test_pitfall_11_a_file_alone_is_read_as_it_is(tmp_path: Path) -> None:
    lines = chain(ONE, "a")
    path = lines_file(tmp_path / "a.jsonl", lines[:2])
    lines_file(tmp_path / "b.jsonl", lines)
    assert sessions_of(path) == [("a.jsonl", ONE, 1)]
    assert notes(path) == []


def test_pitfall_11_an_id_that_was_asked_for_is_read_wherever_it_stands(own_home: Path) -> None:
    folder = own_home / ".claude" / "projects" / "-w-app"
    for name, names in (("first", "a"), ("second", "ab")):
        lines_file(folder / f"{name}.jsonl", chain(ONE, *names))
    assert [(name, turns) for name, _, turns in sessions_of(Path(ONE))] == [
        ("first.jsonl", 2),
        ("second.jsonl", 4),
    ]
    assert [one["turns"] for one in json_of("sessions", "--all")] == [4]


def test_pitfall_11_a_file_of_which_one_session_was_asked_for_holds_no_other(
    own_home: Path, tmp_path: Path
) -> None:
    """It is not read as a whole: what a second file has of it would be lost."""
    lines = chain(ONE, "a") + chain(TWO, "b", minute=30)
    lines_file(own_home / ".claude" / "projects" / "-w-app" / "both.jsonl", lines)
    copy = lines_file(tmp_path / "copy.jsonl", lines)
    assert sessions_of(Path(TWO), copy) == [
        ("both.jsonl", TWO, 2),
        ("copy.jsonl", ONE, 2),
        ("copy.jsonl", TWO, 2),
    ]


def test_pitfall_11_the_same_id_over_different_lines_is_told(tmp_path: Path) -> None:
    title = {"type": "ai-title", "aiTitle": "The same", "sessionId": ONE}
    one = lines_file(tmp_path / "a.jsonl", [title, *chain(ONE, "a")])
    two = lines_file(tmp_path / "b.jsonl", [title, *chain(ONE, "b")])
    assert sessions_of(tmp_path) == [("a.jsonl", ONE, 2), ("b.jsonl", ONE, 2)]
    told = f"note: the same session counts once a file: {ONE} in {one} and {two}"
    assert notes(tmp_path) == [told]


def test_pitfall_11_codex_growing_prefixes(tmp_path: Path) -> None:
    lines = rollout(ONE, "a", "b", "a")
    for end in (3, 4, 7):
        lines_file(tmp_path / f"rollout-{end}.jsonl", lines[:end])
    assert sessions_of(tmp_path) == [("rollout-7.jsonl", ONE, 3)]


def test_pitfall_11_codex_with_a_first_line_longer_than_a_look(tmp_path: Path) -> None:
    lines = rollout(ONE, "a", "b")
    lines[0]["payload"]["base_instructions"] = {"text": "x" * 200_000}
    lines_file(tmp_path / "a.jsonl", lines[:3])
    lines_file(tmp_path / "b.jsonl", lines)
    assert [name for name, _, _ in sessions_of(tmp_path)] == ["b.jsonl"]


def test_pitfall_11_a_codex_fork_that_holds_its_parent_leaves_it_in(tmp_path: Path) -> None:
    """Its reader passes by what was inherited: without the parent's file that would be lost."""
    parent = rollout(ONE, "a")
    head = {**parent[0], "payload": {"id": TWO, "forked_from_id": ONE}}
    head["timestamp"] = parent[-1]["timestamp"]
    lines_file(tmp_path / "parent.jsonl", parent)
    new = rollout(TWO, "b")[1:]
    for line in new:
        line["timestamp"] = "2026-11-01T10:00:00.000Z"
    lines_file(tmp_path / "fork.jsonl", [head, *parent, *new])
    assert sorted(actions(tmp_path)) == sorted([(ONE, "assistant: a"), (TWO, "assistant: b")])
    look = look_at(tmp_path / "fork.jsonl")
    assert look and look.keys == {TWO}


def test_pitfall_11_the_order_of_the_names_changes_nothing(tmp_path: Path) -> None:
    lines = chain(ONE, "a", "b")
    fork = forked(lines[:4], TWO) + chain(TWO, "c", minute=30)
    paths = [
        lines_file(tmp_path / "grown.jsonl", lines[:3]),
        lines_file(tmp_path / "whole.jsonl", lines),
        lines_file(tmp_path / "copy.jsonl", lines),
        lines_file(tmp_path / "fork.jsonl", fork),
        lines_file(tmp_path / "fork-copy.jsonl", fork),
    ]
    expected = [("copy.jsonl", ONE, 4), ("fork-copy.jsonl", TWO, 2)]
    assert sorted(sessions_of(*paths)) == expected
    assert sorted(sessions_of(*reversed(paths))) == expected


def test_pitfall_11_native_files(tmp_path: Path) -> None:
    """A growing file counts once; two runs under one id that differ are two."""
    turns = [0.1, 0.1, 0.2]
    native_file(tmp_path / "a" / "1.jsonl", {"id": ONE, "rewards": turns[:1]})
    native_file(tmp_path / "a" / "2.jsonl", {"id": ONE, "rewards": turns, "outcome": "success"})
    assert sessions_of(tmp_path / "a") == [("2.jsonl", ONE, 3)]
    native_file(tmp_path / "b" / "1.jsonl", {"id": ONE, "rewards": [1], "outcome": "failure"})
    native_file(tmp_path / "b" / "2.jsonl", {"id": ONE, "rewards": [1], "outcome": "success"})
    assert [turns for _, _, turns in sessions_of(tmp_path / "b")] == [1, 1]


def test_pitfall_11_lines_that_say_the_same_are_as_many_as_they_are(tmp_path: Path) -> None:
    """The longer file is the one that is kept, also where only its repetitions are more."""
    for name, count in (("a", 1), ("b", 3), ("c", 2)):
        turn = {"type": "turn", "action": "again", "observation": "no"}
        head = {"type": "session", "schema": "agentlearn-session/1", "id": ONE}
        lines_file(tmp_path / f"{name}.jsonl", [head, *[turn] * count])
    assert sessions_of(tmp_path) == [("b.jsonl", ONE, 3)]
    lines_file(tmp_path / "d.jsonl", [head, turn, {**turn, "action": "another way"}])
    assert sessions_of(tmp_path) == [("b.jsonl", ONE, 3), ("d.jsonl", ONE, 2)]


def test_pitfall_11_sub_agents_are_no_copies_of_their_parent(tmp_path: Path) -> None:
    agent = "a0ad4f44468bdf20d"
    lines = [{**line, "isSidechain": True, "agentId": agent} for line in chain(ONE, "sub")]
    lines_file(tmp_path / ONE / "subagents" / f"agent-{agent}.jsonl", lines)
    lines_file(tmp_path / f"{ONE}.jsonl", chain(ONE, "a"))
    assert {id for _, id, _ in sessions_of(tmp_path)} == {ONE, agent}
    assert notes(tmp_path) == []
    main, sub = look_at(tmp_path / f"{ONE}.jsonl"), look_at(next(tmp_path.glob("*/*/*")))
    assert main and sub and not main.keys & sub.keys  # neither is read twice to find that out


def test_pitfall_11_a_list_of_sessions_joins_none(tmp_path: Path) -> None:
    names = [str(uuid5(NAMESPACE_URL, str(number))) for number in range(9)]
    history = [{"display": "hello", "project": "/w", "sessionId": name} for name in names]
    assert look_at(lines_file(tmp_path / "history.jsonl", history)) is None


def test_pitfall_11_a_pipe_among_the_files_is_read_once(tmp_path: Path) -> None:
    path = lines_file(tmp_path / "a.jsonl", chain(ONE, "a"))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = lines_file(tmp_path / "b.jsonl", chain(TWO, "b")).read_bytes()
    writer = threading.Thread(target=pipe.write_bytes, args=(data,), daemon=True)
    writer.start()
    result = started("sessions", pipe, path, "--format", "jsonl")
    writer.join(10)
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == [TWO, ONE]


@pytest.mark.parametrize("command", ["returns", "trajectory", "sessions", "convert", "render"])
def test_pitfall_11_every_command_counts_once(tmp_path: Path, command: str) -> None:
    lines = chain(ONE, "a", "b")
    lines_file(tmp_path / "1.jsonl", lines[:4])
    whole = lines_file(tmp_path / "2.jsonl", lines)
    both, alone = call(command, tmp_path), call(command, whole)
    assert both.stdout == alone.stdout
    assert alone.stderr == ""
    assert both.stderr.startswith("note: 1 file holds nothing that another does not: ")


def test_pitfall_11_an_audit_counts_once(tmp_path: Path) -> None:
    lines_file(tmp_path / "1.jsonl", chain(ONE, "a"))
    lines_file(tmp_path / "2.jsonl", chain(ONE, "a", "b"))
    lines_file(tmp_path / "3.jsonl", chain(TWO, "c"))
    labels = tmp_path / "labels.csv"
    labels.write_text(f"session,success\n{ONE},true\n{TWO},false\n")
    report = json_of("audit", tmp_path, "--labels", labels)
    assert (report["sessions"], report["successes"]) == (2, 1)


def test_qwen_forks_begin_with_what_is_new_in_them(tmp_path: Path) -> None:
    def parts(lines: list[Any]) -> list[Any]:
        """The same, as Qwen Code writes it: only what was said."""
        said = [line for line in lines if isinstance(line["message"]["content"], str)]
        for line in said:
            line["message"] = {"role": "user", "parts": [{"text": line["message"]["content"]}]}
        return said

    lines = parts(chain(ONE, "a", "b"))
    lines_file(tmp_path / "a.jsonl", lines)
    lines_file(tmp_path / "b.jsonl", forked(lines, TWO) + parts(chain(TWO, "c", minute=30)))
    found = json_of("sessions", tmp_path)
    assert [(one["dialect"], one["id"], one["messages"]) for one in found] == [
        ("qwen", ONE, 2),
        ("qwen", TWO, 1),
    ]


@pytest.mark.skipif(not SAMPLES, reason="AGENTLEARN_SAMPLES is not set")
@pytest.mark.parametrize(
    "name",
    [
        "claude-code/PackmindHub__context-evaluator__5e_d6fd664d05_0_full.jsonl",
        "claude-code/entireio__cli__8c_fa910f8ef9_5_full.jsonl",
        "codex/entireio__git-sync__19_1ffd473fdb_0_full.jsonl",
        "copilot-cli/EntityProcess__agentv__26_9e1b9e5502_0_full.jsonl",
        "claude-stream-json/marquex__trackgentic__mp9r437x.jsonl",
        "pi/kayba-ai__agentic-context-engine__b3db607f-7ae8-4089-b806-44800e961672.jsonl",
    ],
)
def test_pitfall_11_a_real_session_as_it_grew(tmp_path: Path, name: str) -> None:
    data = sample(name).read_bytes()
    rows = data.splitlines(keepends=True)
    checkpoints = [len(rows) * tenth // 10 for tenth in (3, 5, 9, 10)]
    for number, end in enumerate(checkpoints):
        (tmp_path / f"{number}.jsonl").write_bytes(b"".join(rows[:end]))
    (tmp_path / "cut.jsonl").write_bytes(data[: len(data) * 2 // 3])
    grown = find_copies([tmp_path / file for file in names_in(tmp_path)])
    assert {path.name for path in grown.left_out} == {"0.jsonl", "1.jsonl", "2.jsonl", "cut.jsonl"}
    assert actions(tmp_path) == actions(sample(name))


@pytest.mark.skipif(not SAMPLES, reason="AGENTLEARN_SAMPLES is not set")
def test_pitfall_11_no_sample_is_a_copy_of_another() -> None:
    paths = [path for path in sorted(Path(str(SAMPLES)).rglob("*")) if path.is_file()]
    found = find_copies(paths)
    assert len(paths) > 70
    assert (found.left_out, found.shared) == ({}, {})
