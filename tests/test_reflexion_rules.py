"""Reflections by rules name the line nearest to the cause, and the same idea stays the same."""

from __future__ import annotations

import time

import pytest

from agentlearn.reflexion.by_rules import ByRules, error_line
from agentlearn.reflexion.evaluate import Evaluation
from agentlearn.reflexion.feedback import feedback_of
from agentlearn.reflexion.reflect import Failure, same_idea
from agentlearn.reflexion.values import Attempt
from agentlearn.sessions.draft import Draft

PYTEST = """
=================================== FAILURES ===================================
____________________________________ test_a ____________________________________
    def test_a():
>       assert add(2, 3) == 5
E       AssertionError: add(2, 3) is 6
E       assert 6 == 5
E        +  where 6 = add(2, 3)
----------------------------- Captured stdout call -----------------------------
error: use something else
=========================== short test summary info ============================
FAILED test_a.py::test_a - AssertionError: add(2, 3) must be 6
============================== 1 failed in 1.41s ===============================
"""
TRACEBACK = """
Traceback (most recent call last):
  File "a.py", line 3, in <module>
    int("x")
ValueError: invalid literal for int() with base 10: 'x'
make: *** [Makefile:2: all] Error 1
"""
UNITTEST = """
FAIL: test_add (t.T.test_add)
Traceback (most recent call last):
AssertionError: 6 != 5
Ran 1 test in 0.001s
FAILED (failures=1)
"""
CARGO = """
error[E0425]: cannot find value `x` in this scope
error[E0308]: mismatched types, expected u8
error: could not compile `demo` (lib) due to 2 previous errors
"""
GCC = """
a.c:3:5: error: unknown type name 'foo'
a.c:9:1: error: expected ';' before '}'
make[1]: *** [a.o] Error 1
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (PYTEST, "AssertionError: add(2, 3) is 6"),
        (PYTEST + "gizmo: error E41: seal is not set, use --seal\n",
         "gizmo: error E41: seal is not set, use --seal"),
        ("FAILED test_a.py::test_a\n1 failed in 1.41s\n", "FAILED test_a.py::test_a"),
        (TRACEBACK, "ValueError: invalid literal for int() with base 10: 'x'"),
        (UNITTEST, "AssertionError: 6 != 5"),
        (CARGO, "error[E0425]: cannot find value `x` in this scope"),
        (GCC, "a.c:3:5: error: unknown type name 'foo'"),
        ("error: no seal\nnpm ERR! Test failed.\nexit status 1\n", "error: no seal"),
        ("error: a\nerror: b\n", "error: b"),
        ("1 failed in 1.41s\n", "1 failed in 1.41s"),
        ("working\ndone\n", "done"),
        ("", ""),
    ],
)  # fmt: skip
def test_the_line_nearest_to_the_cause(text: str, line: str):
    assert error_line(text) == line


def test_a_hostile_output_is_searched_in_no_time():
    began = time.monotonic()
    for text in ("A" * 40_000, "1 11 " * 8_000, "E  x\nerror: use\n" * 2_500, "a/" * 20_000):
        error_line(text)
        same_idea(text[:1200], text[:1200])
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("timed out after 123 ns", "timed out after 98,765 ns"),
        ("failed in 1.41s", "failed in 0.9s"),
        ("<A object at 0x7f00aa10>", "<A object at 0x7f11bb20>"),
        ("pid 123 died", "pid 99 died"),
        ("server[123]: no", "server[4567]: no"),
        ("no /tmp/tmpa1b2c3/x.py", "no /tmp/tmpzzyyxx/x.py"),
        ("no /tmp/pytest-of-a/pytest-1/t0/x.py", "no /tmp/pytest-of-a/pytest-2/t0/x.py"),
        ("no /a/workspaces/t-1/0/repo/x.py", "no /a/workspaces/t-1/1/repo/x.py"),
        ("at 2026-01-02T03:04:05.678Z: no", "at 2026-01-02 03:04:06: no"),
        ("[12:00:01] no", "[12:00:02] no"),
        ("gave up after 17 attempts", "gave up after 18 attempts"),
        ("read 17 bytes, 3.5 MB", "read 18 bytes, 4 MB"),
        ("Do  THAT", "do that"),
    ],
)
def test_passing_numbers_make_no_other_idea(one: str, other: str):
    assert same_idea(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("error E41", "error E42"),
        ("a.py line 3", "a.py line 4"),
        ("a.py:3: no", "a.py:4: no"),
        ("port 80 is in use", "port 8080 is in use"),
        ("localhost:80", "localhost:81"),
        ("(2 failed, 3 passed)", "(1 failed, 4 passed)"),
        ("no /tmp/x/a.py", "no /tmp/x/b.py"),
        ("changed day1/a.py", "changed day2/a.py"),
        ("error 404: use more", "error 405: use more"),
        ("number 1, use more", "number 2, use more"),
    ],
)
def test_numbers_that_mean_something_do(one: str, other: str):
    assert not same_idea(one, other)
    assert not same_idea(one, None) and not same_idea(None, None)


def reflection(printed: str, *before: str) -> str:
    draft = Draft("native", None)
    call = draft.called("agent", "agent", {"command": "agent"}, 1)
    draft.returned(call, printed, 2, exit_code=1)
    attempt = Attempt(Evaluation(False, 0.0, 1), changed=("a.py",), tampered=(), duration_ms=1)
    told = feedback_of("", "names")
    earlier = (attempt,) * len(before)
    reflected = ByRules().reflect(
        Failure("Do it.", draft.finish("agent"), attempt, told, before, earlier)
    )
    assert reflected.text is not None
    return reflected.text


def test_the_same_failure_at_another_time_is_no_new_idea():
    said = "error: no answer from pid {} after {} ns\n1 failed in {}s\n"
    first = reflection(said.format(1, 2, 3))
    second = reflection(said.format(4, 5, 6), first)
    third = reflection(said.format(7, 8, 9), first, second)
    assert same_idea(second, third) and "1 failed" not in third
    assert "has not helped" in second and "has not helped" in third
