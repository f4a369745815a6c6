"""What the judge said reaches the next attempt only as far as the task allows."""

from __future__ import annotations

import pytest

from agentlearn.reflexion.feedback import counts_in, feedback_of, names_in

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
        (JEST, ("sums › adds … + … to equal …",), "1 failed, 4 passed, 5 total"),
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
