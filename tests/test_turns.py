"""From entries to turns, and what is counted."""

from __future__ import annotations

from agentlearn.sessions.draft import Draft
from agentlearn.sessions.native_write import native_lines
from agentlearn.sessions.turns import Turn
from agentlearn.sessions.values import Counts
from tests.files import lines_file, read_one


def draft() -> Draft:
    return Draft("claude-code", None)


def told(made: Draft) -> list[tuple[str, str]]:
    return [(turn.action, turn.observation) for turn in made.finish("s").turns()]


def test_an_empty_session_has_no_turns():
    assert draft().finish("s").turns() == []
    assert draft().finish("s").counts() == Counts(0, 0, 0, 0, 0, 0)


def test_a_call_with_its_own_result_whatever_stands_between():
    made = draft()
    made.called("a", "read", '{"path":"x"}', 1, step="m1")
    made.called("b", "read", '{"path":"y"}', 2, step="m1")
    made.returned("b", "text of y", 3)
    made.returned("a", "text of x", 4)
    turns = made.finish("s").turns()
    assert [(turn.action, turn.observation) for turn in turns] == [
        ('read {"path":"x"}', "text of x"),
        ('read {"path":"y"}', "text of y"),
    ]
    assert [turn.lines for turn in turns] == [(1, 4), (2, 3)]


def test_words_before_a_call_of_the_same_response():
    made = draft()
    made.said("assistant", "Let me look.", 1, step="m1")
    made.said("assistant", "At both.", 2, step="m1")
    made.called("a", "read", "x", 3, step="m1")
    made.called("b", "read", "y", 4, step="m1")
    assert told(made) == [("Let me look.\nAt both.\nread x", ""), ("read y", "")]


def test_results_may_stand_between_the_parts_of_a_response():
    made = draft()
    made.called("a", "read", "x", 1, step="m1")
    made.said("assistant", "And now the other.", 2, step="m1")
    made.returned("a", "text of x", 3)
    made.called("b", "read", "y", 4, step="m1")
    made.returned("b", "text of y", 5)
    assert told(made) == [
        ("read x", "text of x"),
        ("And now the other.\nread y", "text of y"),
    ]


def test_words_of_another_response_are_a_turn_of_their_own():
    made = draft()
    made.said("assistant", "I shall look.", 1, step="m1")
    made.called("a", "read", "x", 2, step="m2")
    made.returned("a", "text", 3)
    assert told(made) == [("I shall look.", ""), ("read x", "text")]


def test_closing_words_have_the_persons_answer():
    made = draft()
    made.said("user", "Mend it", 1)
    made.called("a", "edit", "x", 2, step="m1")
    made.returned("a", "done", 3)
    made.said("assistant", "Mended.", 4, step="m2")
    made.said("system", "a note of the harness", 5)
    made.said("user", "Thanks", 6)
    made.said("user", "And the docs?", 7)
    made.said("assistant", "Those too.", 8, step="m3")
    turns = made.finish("s").turns()
    assert told(made) == [("edit x", "done"), ("Mended.", "Thanks"), ("Those too.", "")]
    assert [turn.lines for turn in turns] == [(2, 3), (4, 6), (8, 8)]


def test_a_result_is_not_the_answer_to_words_nor_words_to_a_call():
    made = draft()
    made.called("a", "edit", "x", 1, step="m1")
    made.said("user", "no, stop", 2)
    assert told(made) == [("edit x", "")]


def test_a_call_without_a_result_and_results_without_a_call():
    made = draft()
    made.returned("ghost", "from nowhere", 1, status="error")
    made.called("a", "run", "x", 2)
    made.returned("other", "from nowhere either", 3, status="rejected")
    assert told(made) == [("run x", "")]
    assert made.finish("s").counts() == Counts(0, 1, 0, 0, 0, 0)


def test_a_second_result_of_a_call_changes_nothing():
    made = draft()
    made.called("a", "run", "x", 1)
    made.returned("a", "fine", 2)
    made.returned("a", "broken", 3, status="error")
    assert told(made) == [("run x", "fine")]
    assert made.finish("s").counts() == Counts(0, 1, 1, 0, 0, 0)


def test_an_id_used_again_after_its_result_is_a_new_call():
    made = draft()
    for line, text in ((1, "one"), (3, "two")):
        made.called("call_0", "run", text, line)
        made.returned("call_0", f"output {text}", line + 1)
    assert told(made) == [("run one", "output one"), ("run two", "output two")]


def test_without_response_ids_what_the_harness_says_parts_the_words():
    made = draft()
    made.said("assistant", "First task done.", 1)
    made.said("system", "Your next task", 2)
    made.called("a", "run", "x", 3)
    assert told(made) == [("First task done.", ""), ("run x", "")]
    made = draft()
    made.said("assistant", "I was about to", 1)
    made.signal("interruption", "", 2)
    made.called("a", "run", "x", 3)
    assert told(made) == [("I was about to", ""), ("run x", "")]


def test_with_response_ids_what_the_harness_says_parts_nothing():
    made = draft()
    made.said("assistant", "Running it.", 1, step="m1")
    made.said("system", "hook error: slow", 2)
    made.called("a", "run", "x", 3, step="m1")
    assert told(made) == [("Running it.\nrun x", "")]


def undone(turns: list[Turn]) -> list[tuple[str, int]]:
    return [(turn.action, turn.undone) for turn in turns]


def test_an_undone_stretch_leaves_its_first_action():
    made = draft()
    made.said("user", "Begin", 1)
    made.called("a", "read", "x", 2)
    made.returned("a", "text", 3)
    made.said("assistant", "Read it.", 4)
    made.said("user", "Now rewrite it all", 5)
    made.said("assistant", "As you wish.", 6)
    made.called("b", "write", "x", 7)
    made.returned("b", "written", 8)
    made.called("c", "run", "x", 9)
    made.said("assistant", "All new.", 10)
    made.signal("rollback", "", 11, undoes=6)
    made.said("user", "Only mend the typo", 12)
    made.called("d", "edit", "x", 13)
    made.returned("d", "mended", 14)
    assert told(made) == [
        ("read x", "text"),
        ("Read it.", "Now rewrite it all"),
        ("As you wish.\nwrite x", "undone by the person, 3 turns"),
        ("edit x", "mended"),
    ]
    turns = made.finish("s").turns()
    assert undone(turns)[2] == ("As you wish.\nwrite x", 3)
    assert turns[2].result is None
    assert turns[2].lines == (6, 7)


def test_one_undone_turn_is_told_in_the_singular():
    made = draft()
    made.said("user", "Begin", 1)
    made.called("a", "read", "x", 2)
    made.signal("rollback", "", 3, undoes=2)
    assert told(made) == [("read x", "undone by the person, 1 turn")]


def test_what_the_person_says_after_undoing_words_is_no_answer_to_them():
    made = draft()
    made.said("user", "Begin", 1)
    made.said("assistant", "No.", 2)
    made.signal("rollback", "", 3, undoes=2)
    made.said("user", "Begin, please", 4)
    (turn,) = made.finish("s").turns()
    assert (turn.undone, turn.answer, turn.lines) == (1, None, (2, 2))


def test_a_result_that_comes_after_the_undoing_is_dropped():
    made = draft()
    made.said("user", "Begin", 1)
    made.called("a", "run", "x", 2)
    made.signal("rollback", "", 3, undoes=2)
    made.returned("a", "late", 4)
    assert told(made) == [("run x", "undone by the person, 1 turn")]


def test_a_rollback_of_nothing_undoes_nothing():
    made = draft()
    made.called("a", "run", "x", 1)
    made.returned("a", "ok", 2)
    made.signal("rollback", "", 3, undoes=0)
    assert told(made) == [("run x", "ok")]
    made = draft()
    made.said("user", "Begin", 1)
    made.signal("rollback", "", 2, undoes=1)
    assert told(made) == []


def test_nested_rollbacks_count_every_turn_once():
    made = draft()
    made.said("user", "one", 1)
    made.called("a", "run", "1", 2)
    made.said("user", "two", 3)
    made.called("b", "run", "2", 4)
    made.called("c", "run", "3", 5)
    made.signal("rollback", "", 6, undoes=3)
    made.said("user", "two again", 7)
    made.called("d", "run", "4", 8)
    assert undone(made.finish("s").turns()) == [("run 1", 0), ("run 2", 2), ("run 4", 0)]
    made.signal("rollback", "", 9, undoes=8)
    assert undone(made.finish("s").turns()) == [("run 1", 4)]


def test_two_stretches_undone_one_after_the_other():
    made = draft()
    for line in (1, 4):
        made.said("user", "try", line)
        made.called(f"c{line}", "run", str(line), line + 1)
        made.signal("rollback", "", line + 2, undoes=2)
    assert undone(made.finish("s").turns()) == [("run 1", 1), ("run 4", 1)]


def test_only_what_failed_is_an_error():
    made = draft()
    statuses = ("ok", "error", "rejected", "interrupted")
    for line, status in enumerate(statuses, 1):
        made.called(status, "run", "x", line)
        made.returned(status, "", line + 10, status=status)
    for line, code in ((30, 0), (31, 1), (32, -9)):
        made.called(f"c{line}", "run", "x", line)
        made.returned(f"c{line}", "", line, exit_code=code)
    made.called("stopped", "run", "x", 40)
    made.returned("stopped", "", 41, status="interrupted", exit_code=130)
    made.signal("interruption", "", 42)
    made.signal("rejection", "not so", 43, call_id="rejected")
    assert made.finish("s").counts() == Counts(0, 8, 8, 3, 1, 1)


def test_a_converted_session_has_the_same_turns(tmp_path):
    source = lines_file(
        tmp_path / "s.jsonl",
        [
            {"type": "session", "schema": "agentlearn-session/1", "id": "s"},
            {"type": "message", "role": "user", "text": "one"},
            {"type": "call", "id": "a", "tool": "run", "arguments": "1"},
            {"type": "message", "role": "user", "text": "two"},
            {"type": "call", "id": "b", "tool": "run", "arguments": "2"},
            {"type": "signal", "kind": "rollback", "undoes": 2},
            {"type": "message", "role": "assistant", "text": "Sorry."},
        ],
    )
    before = read_one(source)
    again = tmp_path / "again.jsonl"
    again.write_bytes(b"".join(native_lines(before)))
    after = read_one(again)
    assert undone(before.turns()) == [("run 1", 0), ("run 2", 1), ("Sorry.", 0)]
    assert undone(after.turns()) == undone(before.turns())
    assert after.counts() == before.counts()
