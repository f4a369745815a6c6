"""Rewards drawn from evidence: each rule, each source, and what proves nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from agentlearn.errors import BadInput
from agentlearn.rewards.draw import Verdict, draw_rewards, verdict_inside
from agentlearn.rewards.patterns import Patterns
from agentlearn.rewards.rules import DEFAULTS_FILE, NATIVE, Rules, load_rules
from agentlearn.rewards.worth import score_session, total
from agentlearn.sessions.values import Call, Entry, Message, Result, Reward, Session, Signal

RULES = Rules()


def session_of(*entries: Entry, **fields: Any) -> Session:
    return Session(id="s", dialect="test", entries=list(entries), **fields)


def user(text: str, line: int = 1) -> Message:
    return Message("user", text, line)


def agent(text: str = "I did it", line: int = 2, step: str | None = None) -> Message:
    return Message("assistant", text, line, None, step)


def ran(command: str, text: str = "", exit_code: int | None = 0, **fields: Any) -> list[Entry]:
    number = fields.pop("number", 1)
    arguments = msgspec.json.encode({"command": command}).decode()
    return [
        Call(f"c{number}", "Bash", arguments, 10 * number),
        Result(f"c{number}", text, 10 * number + 1, exit_code=exit_code, **fields),
    ]


def drawn(session: Session, rules: Rules = RULES, verdict: Verdict | None = None) -> Any:
    found = draw_rewards(session, session.turns(), rules, verdict)
    return [
        [(each.value, each.source, each.rule, each.start, each.end) for each in turn]
        for turn in found
    ]


def test_the_defaults_stand_in_the_yaml_as_in_the_code() -> None:
    written = yaml.safe_load(DEFAULTS_FILE.read_text())
    coded = msgspec.to_builtins(RULES)
    del coded["stated_only"]
    assert written == msgspec.json.decode(msgspec.json.encode(coded))
    assert load_rules(str(DEFAULTS_FILE)) == RULES


# The person


@pytest.mark.parametrize(
    "words",
    [
        "no, that is wrong", "No.", "nope", "stop", "wrong file", "undo that", "Please don't do it",
        "don’t touch the tests", "that's not what I asked", "it doesn't compile", "still failing",
        "You forgot the import", "why did you delete it?", "I said Python 3.11",
        "use tabs instead of spaces", "change it back", "this is still broken",
    ],
)  # fmt: skip
def test_corrections(words: str) -> None:
    assert drawn(session_of(agent(), user(words, 3))) == [[(-0.5, "person", "correction", 3, 3)]]


@pytest.mark.parametrize(
    "words",
    ["thanks!", "Thank you so much", "perfect", "Great work", "LGTM", "looks good", "that works",
     "ok, thanks", "nice, now add docs"],
)  # fmt: skip
def test_thanks(words: str) -> None:
    assert drawn(session_of(agent(), user(words, 3))) == [[(0.5, "person", "thanks", 3, 3)]]


@pytest.mark.parametrize(
    "words",
    ["no problem", "no worries", "now add a test", "Nothing else", "great, but it fails",
     "the parser should handle notes", "x" * 399 + " thanks", "stopwatch support, please",
     "no " + "long " * 100, "", "   "],
)  # fmt: skip
def test_words_that_judge_nothing(words: str) -> None:
    assert drawn(session_of(agent(), user(words, 3))) == [[]]


def test_the_first_words_judge_nothing_and_two_messages_judge_once() -> None:
    assert drawn(session_of(user("no tests please"), agent())) == [[]]
    found = drawn(session_of(agent(), user("thanks", 3), user("thanks", 4)))
    assert found == [[(0.5, "person", "thanks", 3, 3)]]


def test_words_judge_the_last_turn_before_them() -> None:
    session = session_of(user("go"), *ran("ls"), agent("done", 30), user("wrong", 31))
    assert drawn(session) == [[], [(-0.5, "person", "correction", 31, 31)]]


def test_a_system_message_is_no_persons_word() -> None:
    assert drawn(session_of(agent(), Message("system", "no, wrong", 3))) == [[]]


def test_a_rejection_is_on_its_own_call_and_counts_once() -> None:
    entries = [
        Call("a", "Bash", "{}", 1),
        Call("b", "Edit", "{}", 2),
        Result("b", "", 3, status="rejected"),
        Result("a", "fine", 4),
        Signal("interruption", "", 5),
    ]
    assert drawn(session_of(*entries)) == [[], [(-1.0, "person", "rejection", 2, 3)]]


def test_an_interruption_is_on_the_turn_it_stopped() -> None:
    session = session_of(user("go"), *ran("sleep 100"), Signal("interruption", "", 12))
    assert drawn(session) == [[(-0.5, "person", "interruption", 12, 12)]]
    nothing_yet = session_of(user("go"), Signal("interruption", "", 2), agent(line=3))
    assert drawn(nothing_yet) == [[]]
    earlier = session_of(agent(), user("more", 3), Signal("interruption", "", 4))
    assert drawn(earlier) == [[]]


def test_a_rollback_leaves_one_turn_with_its_price() -> None:
    entries = [
        user("go"),
        *ran("rm x"),
        *ran("rm y", number=2),
        Signal("rollback", "", 30, undoes=4),
    ]
    session = session_of(*entries)
    assert [turn.observation for turn in session.turns()] == ["undone by the person, 2 turns"]
    ((reward,),) = drawn(session)
    assert reward[:3] == (-1.0, "person", "rollback")


def test_what_was_undone_is_not_judged_again() -> None:
    entries = [
        *ran("pytest", "1 failed", 1),
        user("wrong", 12),
        Signal("rollback", "", 13, undoes=3),
        user("thanks", 14),
    ]
    ((reward, *more),) = drawn(session_of(*entries))
    assert reward[:3] == (-1.0, "person", "rollback")
    assert [each[2] for each in more] in ([], ["thanks"])


def test_an_edit_that_the_person_changed() -> None:
    session = session_of(*ran("x"), Signal("edited", "", 12, call_id="c1"))
    assert drawn(session) == [[(-0.2, "person", "edited", 12, 12)]]
    assert drawn(session_of(*ran("x"), Signal("edited", "", 12, call_id="other"))) == [[]]


# Shaped


@pytest.mark.parametrize(
    ("command", "text", "code", "rule"),
    [
        ("pytest -q", "3 passed", 0, "tests_passed"),
        ("pytest -q", "", 0, "tests_passed"),
        ("pytest -q", "1 failed, 3 passed", 1, "tests_failed"),
        ("pytest -q | tail -3", "1 failed, 3 passed", 0, "tests_failed"),
        ("pytest -q | tail -3", "3 passed, 0 failed", 0, "tests_passed"),
        ("pytest -q | tail -3", "", 0, None),
        ("pytest; true", "", 0, None),
        ("cd app && go test ./...", "ok  \tapp\t0.1s", 0, "tests_passed"),
        ("cargo test", "test result: FAILED. 1 passed; 1 failed", 101, "tests_failed"),
        ("npm test", "", 1, "tests_failed"),
        ("python -m unittest", "OK", 0, "tests_passed"),
        ("uv run --no-sync pytest", "2 passed", 0, "tests_passed"),
        ("A=1 timeout 60 make check", "", 2, "tests_failed"),
        ("bash -lc 'pytest -x'", "1 failed", 1, "tests_failed"),
        ("cat pytest.ini", "1 failed", 0, None),
        ("echo pytest", "3 passed", 0, None),
        ("pip install pytest", "", 0, None),
        ("grep -rn pytest .", "", 1, None),
        ("rg needle", "", 1, None),
        ("rg needle", "no such folder", 2, "failed_call"),
        ("diff a b", "1c1", 1, None),
        ("make", "", 2, "failed_call"),
        ("make", "", 0, None),
        ("true && test -f x", "", 1, None),
        ("latest build", "", 0, None),
    ],
)
def test_shaped_rules(command: str, text: str, code: int, rule: str | None) -> None:
    expected = [] if rule is None else [(getattr(RULES.shaped, rule), "shaped", rule, 10, 11)]
    assert drawn(session_of(*ran(command, text, code))) == [expected]


def test_malformed_calls() -> None:
    session = session_of(*ran("x", "InputValidationError: missing", None, status="error"))
    assert drawn(session) == [[(-0.2, "shaped", "malformed_call", 10, 11)]]
    fine = session_of(*ran("cat log", "InputValidationError: in a log", 0))
    assert drawn(fine) == [[]]


def test_collateral_failures_are_nobodys_fault() -> None:
    for status in ("interrupted", "rejected"):
        session = session_of(*ran("pytest", "Cancelled: parallel tool call", None, status=status))
        shaped = [each for turn in drawn(session) for each in turn if each[1] == "shaped"]
        assert shaped == []


def test_a_call_without_a_result_earns_nothing() -> None:
    assert drawn(session_of(Call("c", "Bash", '{"command":"pytest"}', 1))) == [[]]


@pytest.mark.parametrize(
    "text",
    ["Submitted", "success: true", '{"success": true}', "completed", "Task completed successfully",
     "All done", "reward: 1.0", "DONE"],
)  # fmt: skip
def test_claims_prove_nothing(text: str) -> None:
    for session in (
        session_of(user("go"), agent(text)),
        session_of(user("go"), *ran("submit", text)),
        session_of(user("go"), Call("c", "submit", "{}", 2), Result("c", text, 3)),
    ):
        scored = score_session(session, RULES, 1.0)
        assert scored.worth.rewards == [0.0]
        assert scored.worth.outcome == "unknown"


def test_a_native_action_is_taken_as_a_command() -> None:
    session = session_of(Call("turn-0", "", "pytest -q", 1), Result("turn-0", "4 passed", 1))
    assert drawn(session) == [[(0.2, "shaped", "tests_passed", 1, 1)]]


@pytest.mark.parametrize(
    "arguments",
    ['{"command":["pytest","-q"]}', '{"cmd":"pytest"}', '{"script":"pytest"}', "pytest -q"],
)
def test_where_a_command_may_stand(arguments: str) -> None:
    entries = [Call("c", "exec_command", arguments, 1), Result("c", "1 passed", 2)]
    assert drawn(session_of(*entries))[0][0][2] == "tests_passed"


@pytest.mark.parametrize(
    "arguments", ["{", '{"command":7}', "[]", "null", '{"command":{"a":1}}', "", '{"a":"pytest"}']
)
def test_odd_arguments_are_no_command(arguments: str) -> None:
    session = session_of(Call("c", "Bash", arguments, 1), Result("c", "1 passed", 2))
    assert drawn(session) == [[]]


@pytest.mark.parametrize(
    "piece",
    ["python -a ", "env ", "a=b ", "; ", ";/", "\n", " ", "time -x ", "sh -c '", "timeout timeout ",
     "/", "python/", "npx ", "then ", "make ", "cargo +", "1 ", "no ", "change "],
)  # fmt: skip
def test_no_command_and_no_output_is_slow_to_judge(piece: str) -> None:
    """An expression that can match in many ways would try them all, and never come back."""
    patterns = Patterns(RULES)
    text = piece * 4000
    patterns.tests.search(text[:4000] + "x")
    patterns.searches.search(text[:4000] + "x")
    entries = ran(text + "test", text, 1)
    draw_rewards(
        session_of(*entries, user(text[:399], 30)), session_of(*entries).turns(), RULES, None
    )


# Verdicts and what is stated


def test_sources_in_order_of_strength() -> None:
    entries = [
        *ran("pytest", "1 failed", 1),
        user("wrong", 12),
        Signal("verdict", "score", 13, value=0.5),
    ]
    session = session_of(*entries)
    assert drawn(session, verdict=verdict_inside(session)) == [
        [
            (-0.5, "person", "correction", 12, 12),
            (-0.2, "shaped", "tests_failed", 10, 11),
            (0.5, "verdict", "score", 13, 13),
        ]
    ]
    worth = score_session(session, RULES, 1.0).worth
    assert worth.rewards == [total([-0.5, -0.2, 0.5])]
    assert worth.sources == {"stated": 0.0, "verdict": 0.5, "person": -0.5, "shaped": -0.2}
    assert worth.outcome == "failure"


def test_a_given_verdict_goes_before_the_one_inside() -> None:
    session = session_of(*ran("ls"), Signal("verdict", "inside", 13, value=0.0))
    worth = score_session(session, RULES, 1.0, Verdict(None, "success", "label success")).worth
    assert (worth.rewards, worth.outcome) == ([1.0], "success")


def test_the_last_verdict_inside_counts() -> None:
    session = session_of(
        *ran("ls"), Signal("verdict", "a", 3, value=0.0), Signal("verdict", "b", 4, value=1.0)
    )
    assert score_session(session, RULES, 1.0).worth.outcome == "success"


def test_a_verdict_without_a_turn_still_tells_the_outcome() -> None:
    worth = score_session(session_of(Signal("verdict", "a", 3, value=1.0)), RULES, 1.0).worth
    assert (worth.outcome, worth.rewards, worth.return_) == ("success", [], 0.0)


def test_withheld_verdicts_leave_no_trace() -> None:
    session = session_of(*ran("ls"), Signal("verdict", "a", 3, value=1.0), outcome="success")
    worth = score_session(session, RULES, 1.0, withhold=True).worth
    assert (worth.outcome, worth.rewards) == ("unknown", [0.0])


def test_a_stated_session_is_taken_at_its_word() -> None:
    entries = [
        Call("a", "", "pytest", 1, reward=Reward("positive", 0.1)),
        Result("a", "1 failed", 1, exit_code=1),
        user("wrong", 2),
        Call("b", "", "pytest", 3),
        Result("b", "1 failed", 3, exit_code=1),
    ]
    assert drawn(session_of(*entries)) == [[(0.1, "stated", "positive", 1, 1)], []]
    with_verdict = drawn(session_of(*entries), verdict=Verdict(1.0, None, "label"))
    assert with_verdict[1] == [(1.0, "verdict", "label", 0, 0)]


def test_stated_zero_is_stated() -> None:
    entries = [Call("a", "", "pytest", 1, reward=Reward("neutral")), Result("a", "1 failed", 1)]
    assert drawn(session_of(*entries)) == [[(0.0, "stated", "neutral", 1, 1)]]


def test_native_rules_take_nothing_else() -> None:
    entries = [*ran("pytest", "1 failed", 1), user("wrong", 12)]
    inside = Signal("verdict", "judged", 13, value=1.0)
    scored = score_session(session_of(*entries, inside), NATIVE, 1.0)
    assert scored.drawn == [[]], "not even a verdict that lies in the file"
    verdict = Verdict(1.0, None, "label")
    asked_for = drawn(session_of(*entries), NATIVE, verdict)
    assert asked_for == [[(1.0, "verdict", "label", 0, 0)]], "but one that was asked for counts"


@pytest.mark.parametrize(
    "command", ["pytest --version", "pytest --collect-only -q", "go test --help"]
)
def test_a_test_program_that_runs_no_tests_proves_nothing(command: str) -> None:
    assert drawn(session_of(*ran(command, "8 tests, 0 failed", 0))) == [[]]


# The person's own rules


def test_a_part_of_the_rules_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("person: {thanks: 2}\nwords: {thanks: ['^merci']}\nverdict: {pass_at: 0.5}\n")
    rules = load_rules(str(path))
    assert rules.person.thanks == 2.0
    assert rules.person.rejection == -1.0
    assert drawn(session_of(agent(), user("merci", 3)), rules) == [
        [(2.0, "person", "thanks", 3, 3)]
    ]
    assert drawn(session_of(agent(), user("thanks", 3)), rules) == [[]]
    half = session_of(agent(), Signal("verdict", "x", 4, value=0.5))
    assert score_session(half, rules, 1.0).worth.outcome == "success"


def test_rules_of_zero_draw_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("shaped: {tests_failed: 0}\nperson: {correction: 0.0}\n")
    session = session_of(*ran("pytest", "", 1), user("wrong", 12))
    assert drawn(session, load_rules(str(path))) == [[]]


def test_an_empty_file_is_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("# nothing yet\n")
    assert load_rules(str(path)) == RULES


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("persn: {}", "unknown key persn", "did you mean person?"),
        ("person: {thank: 1}", "unknown key person.thank", "did you mean thanks?"),
        ("person: {thanks: much}", "person.thanks: input should be a valid number", None),
        ("person: {thanks: .nan}", "person.thanks: input should be a finite number", None),
        ("person: {thanks: .inf}", "person.thanks: input should be a finite number", None),
        ("stated_only: true", "stated_only is not a rule; pass --rewards native instead", None),
        ("words: {thanks: ['(']}", "is not a regular expression", None),
        ("a: [", "is not YAML", None),
        ("- 1", "holds no rules", None),
        ("!!python/object/apply:os.system ['true']", "is not YAML", None),
    ],
)
def test_rules_that_cannot_be(tmp_path: Path, text: str, message: str, hint: str | None) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        load_rules(str(path))
    assert message in caught.value.message
    assert "mine.yaml" in caught.value.message or "regular expression" in message
    if hint:
        assert caught.value.hint == hint


def test_rules_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        load_rules(str(tmp_path / "none.yaml"))
    assert "No such file" in caught.value.message
    assert str(DEFAULTS_FILE) in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], 0.0),
        ([0.1] * 10, 1.0),
        ([1e308, 1e308, -1e308], 1e308),
        ([1e308, 1e308, -1e308, -1e308, -1e308], -1e308),
        ([1e308] * 3, float("inf")),
        ([-1e308] * 3, float("-inf")),
        ([1e16, 1.0, -1e16], 1.0),
    ],
)
def test_totals_are_exact(values: list[float], expected: float) -> None:
    assert total(values) == expected


def test_an_undone_stretch_is_one_negative_and_points_to_the_undoing(tmp_path: Path):
    """The words that follow are the next request, not a second complaint about the same turns."""
    from tests.files import lines_file, read_one

    head = {"type": "session", "schema": "agentlearn-session/1", "id": "s"}
    rows = [
        head,
        {"type": "message", "role": "user", "text": "go"},
        {"type": "call", "id": "c1", "tool": "bash", "arguments": {"command": "rm x"}},
        {"type": "result", "call_id": "c1", "text": "gone"},
        {"type": "signal", "kind": "rollback", "undoes": 2},
        {"type": "message", "role": "user", "text": "no, do not delete it"},
        {"type": "call", "id": "c2", "tool": "bash", "arguments": {"command": "ls"}},
    ]
    session = read_one(lines_file(tmp_path / "s.jsonl", rows))
    scored = score_session(session, Rules(), 1.0)
    (undone,) = scored.drawn[0]
    assert (undone.rule, undone.value, undone.start) == ("rollback", -1.0, 5)
    assert scored.turns[0].observation == "undone by the person, 1 turn"
    assert scored.worth.rewards == [-1.0, 0.0]


@pytest.mark.parametrize("tool", ["ExitPlanMode", "AskUserQuestion", "ask_followup_question"])
def test_a_plan_or_a_question_that_is_not_taken_up_is_no_refusal(tool: str) -> None:
    entries = [Call("a", tool, "{}", 1), Result("a", "no", 2, status="rejected")]
    assert drawn(session_of(*entries)) == [[(-0.2, "person", "declined", 1, 2)]]


def test_commands_inside_a_script_are_commands() -> None:
    code = 'const r = await tools.exec_command({cmd: "cd x && go test ./...", yield: 1});\ntext(r);'
    entries = [Call("a", "exec", code, 1), Result("a", "FAIL", 2, exit_code=1)]
    assert drawn(session_of(*entries)) == [[(-0.2, "shaped", "tests_failed", 1, 2)]]
    mentions = 'text("we should run go test ./... later")'
    entries = [Call("a", "exec", mentions, 1), Result("a", "FAIL", 2)]
    assert drawn(session_of(*entries)) == [[]]


def test_task_runners_put_a_name_before_the_verdict() -> None:
    passed = ran("mise run test:ci 2>&1 | tail", "[test:ci] ok  pkg/a 0.1s\n[test:ci] ok  pkg/b", 0)
    assert drawn(session_of(*passed)) == [[(0.2, "shaped", "tests_passed", 10, 11)]]
