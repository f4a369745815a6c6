"""What the judge said reaches the next attempt only as far as the task allows."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from agentlearn.reflexion.evaluate import Evaluation
from agentlearn.reflexion.feedback import counts_in, feedback_of, names_in
from agentlearn.reflexion.reflect import ByCommand, Failure
from agentlearn.reflexion.task import CommandReflector, Feedback
from agentlearn.reflexion.values import Attempt
from agentlearn.sessions.draft import Draft

PYTEST = """
____ test_add[2-3-5] ____
>       assert add(2, 3) == 5
E       assert 6 == 5
FAILED tests/test_calc.py::test_add[2-3-5] - assert 6 == 5
FAILED tests/test_calc.py::TestSub::test_sub - AssertionError: expected 31337
ERROR tests/test_io.py - ModuleNotFoundError: No module named 'secretmodule'
=================== 2 failed, 7 passed, 1 error in 0.31s ===================
"""
UNITTEST = """
FAIL: test_add (test_calc.TestAdd.test_add)
AssertionError: 6 != 31337
ERROR: test_sub (test_calc.TestSub) (value=31337)
Ran 9 tests in 0.002s

FAILED (failures=1, errors=1)
"""
JEST = """
 FAIL  src/sum.test.js
  ● sums › adds 1 + 2 to equal 31337

    expect(received).toBe(expected)
    Expected: 31337
    Received: 4

Tests:       1 failed, 4 passed, 5 total
"""
GO = """
--- FAIL: TestAdd (0.00s)
    --- FAIL: TestAdd/2+3=31337 (0.00s)
        add_test.go:9: got 6, want 31337
FAIL
FAIL\texample.com/calc/add\t0.003s
"""
CARGO = """
test tests::adds ... FAILED
test tests::subs ... ok
---- tests::adds stdout ----
assertion `left == right` failed
  left: 6
 right: 31337
test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured
"""
OTHER = "FAILED check-version wanted 31337\nFAIL: lint\nERROR parse.rule: 31337 expected\nok more\n"


@pytest.mark.parametrize(
    ("output", "names", "counts"),
    [
        (
            PYTEST,
            (
                "tests/test_calc.py::test_add",
                "tests/test_calc.py::TestSub::test_sub",
                "tests/test_io.py",
            ),
            "2 failed, 7 passed, 1 error",
        ),
        (
            UNITTEST,
            ("test_calc.TestAdd.test_add", "test_calc.TestSub.test_sub"),
            "failures=1, errors=1",
        ),
        (JEST, ("src/sum.test.js › sums",), "1 failed, 4 passed, 5 total"),
        (GO, ("TestAdd",), "lines that tell of a failure: 4"),
        (CARGO, ("tests::adds",), "1 passed, 1 failed"),
        (OTHER, ("check-version", "lint", "parse.rule"), "lines that tell of a failure: 3"),
        ("got 6, expected 31337 errors\n", (), ""),
        ("3 failed because 31337\n", (), ""),
    ],
    ids=["pytest", "unittest", "jest", "go", "cargo", "other", "nothing known", "no summary"],
)
def test_names_and_counts_and_no_expected_value(output: str, names: tuple[str, ...], counts: str):
    assert names_in(output) == names
    assert counts_in(output) == counts
    told = feedback_of(output, "names")
    assert "31337" not in told.sentence() and "secretmodule" not in told.sentence()
    assert told.raw == ""


JEST_EACH = """
 FAIL  src/greet.test.ts
  ● greets bob as hello bob
  ● greet › greets bob as hello bob
  ● greet › for bob › hello bob
  ● hello bob › works
 FAIL  src/other.test.ts
  ● Test suite failed to run
  ● Console
"""
CARGO_CASES = """
test tests::add::_2_4_expects_8 ... FAILED
test tests::greet::bob_expects_hello_bob ... FAILED
test tests::parse::value_1_Some__8__ ... FAILED
test tests::both::name_is_equal_to_hello_bob ... FAILED
"""
CAPTURED = """
=================================== FAILURES ===================================
___________________________________ test_a ___________________________________
----------------------------- Captured stdout call -----------------------------
FAILED want::4242-x
FAILED tests/want.py::test_4242 - x
FAIL: want_4242 (want.Hello)
test want::hello ... FAILED
=========================== short test summary info ============================
FAILED tests/test_a.py::test_a - assert 1 == 4242
FAILED tests/test_a.py::TestA::test_greet_0_hello - assert 1 == 4242
1 failed in 0.01s
"""
SILENT = """
=================================== FAILURES ===================================
__________________________________ test_a[hello] __________________________________
E   assert 1 == 8
FAILED want::8-hello
____________________________ ERROR at setup of TestB.test_b ____________________________
____ hello ____
1 failed, 1 error in 0.01s
"""
VERBOSE = """
tests/test_a.py::test_b FAILED                                           [ 50%]
tests/test_a.py::test_c[hello bob] FAILED
tests/test_a.py::TestD::test_d ERROR                                     [100%]
tests/test_a.py::test_e PASSED
[gw0] [ 50%] FAILED tests/test_x.py::test_f
[gw1] [100%] FAILED tests/test_x.py::test_g[hello]
[gw1] [100%] PASSED tests/test_x.py::test_h
___________________ ERROR collecting tests/test_y.py ___________________
"""
SENTENCES = """
ERROR: The answer must be 42
FAIL: Hello bob
ERROR expected:8
ERROR: got_hello 8
FAILED src/a.c:42: hello
FAIL rule-a (8)
FAIL: hello!
"""


@pytest.mark.parametrize(
    ("output", "names"),
    [
        (JEST_EACH, ("src/greet.test.ts › greet", "src/other.test.ts")),
        (CARGO_CASES, ("tests::add", "tests::greet::bob", "tests::parse::value",
                       "tests::both::name")),
        (CAPTURED, ("tests/test_a.py::test_a", "tests/test_a.py::TestA::test_greet")),
        (SILENT, ("test_a", "TestB.test_b")),
        (VERBOSE, ("tests/test_a.py::test_b", "tests/test_a.py::test_c",
                   "tests/test_a.py::TestD::test_d", "tests/test_x.py::test_f",
                   "tests/test_x.py::test_g", "tests/test_y.py")),
        (SENTENCES, ("src/a.c", "rule-a")),
        ("FAIL: lint\nERROR: types \n", ("lint", "types")),
    ],
    ids=["jest each", "cargo cases", "captured", "no summary", "verbose", "sentences", "words"],
)  # fmt: skip
def test_names_that_are_made_of_values_are_cut(output: str, names: tuple[str, ...]):
    assert names_in(output) == names
    sentence = feedback_of(output, "names").sentence()
    assert not re.search("hello|42|8", sentence)


def test_each_level_tells_more_than_the_one_before():
    assert feedback_of(PYTEST, "none").sentence() == ""
    assert feedback_of(PYTEST, "counts").sentence() == (
        "The checks said: 2 failed, 7 passed, 1 error."
    )
    assert "test_sub" in feedback_of(PYTEST, "names").sentence()
    assert "31337" in feedback_of(PYTEST, "raw").raw


def test_many_names_are_counted_and_control_codes_do_nothing():
    output = "".join(f"FAILED tests/t.py::test_{number}\n" for number in range(50))
    sentence = feedback_of("\x1b[31m" + output, "names").sentence()
    assert "and 30 more" in sentence and "\x1b" not in sentence
    assert len(feedback_of("x" * 100_000, "raw").raw) == 2000


@pytest.mark.parametrize(("level", "score"), [("none", None), ("counts", 0.5), ("raw", 0.5)])
def test_a_command_that_may_hear_nothing_hears_no_score(
    tmp_path: Path, level: Feedback, score: float | None
):
    attempt = Attempt(Evaluation(False, 0.5, 1, reward=0.5), changed=(), tampered=(), duration_ms=1)
    session = Draft("native", None).finish("agent")
    failure = Failure("Do it.", session, attempt, feedback_of("nothing known", level))
    reflector = CommandReflector(command="cat")
    reflected = ByCommand(reflector, tmp_path, dict(os.environ), tmp_path / "x").reflect(failure)
    assert reflected.text is not None
    assert json.loads(reflected.text)["evaluation"]["score"] == score
