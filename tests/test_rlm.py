"""The explorer: what it may look into, every tool, every limit, every ending."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from agentlearn.errors import BadInput
from agentlearn.events import Progress, SubcallFallback
from agentlearn.models.model import ModelFailed, Reply
from agentlearn.rlm.cache import Cache
from agentlearn.rlm.citations import checked
from agentlearn.rlm.explore import Exploring
from agentlearn.rlm.outline import outline
from agentlearn.rlm.pages import Pages
from agentlearn.rlm.search import TooLong, search
from agentlearn.rlm.side_by_side import OutOfTime, side_by_side
from agentlearn.rlm.tools import MOST_RESULT, part_text
from agentlearn.store.files import Folder
from tests.commands import HEAD
from tests.explorers import ANSWER, SECRET, Ran, long_lines, pages_of, step, use


@pytest.fixture
def pages(tmp_path: Path) -> Pages:
    return pages_of(tmp_path)


# Pages


def test_entries_come_back_as_they_were(tmp_path: Path) -> None:
    said = "naïve \U0001f600 text"
    lines: list[Any] = [
        {**HEAD, "id": "x"},
        {"type": "message", "role": "user", "text": said},
        {"type": "call", "id": "c", "tool": "bash", "arguments": {"command": "make"}},
        {"type": "result", "call_id": "c", "text": "no", "status": "error", "exit_code": 2},
        {"type": "signal", "kind": "rejection", "text": "not so", "call_id": "c"},
    ]
    pages = pages_of(tmp_path, lines)
    message, call, result, signal = pages.entries(1, 99)
    assert (message.text, call.text, result.text, signal.text) == (
        said, 'bash {"command": "make"}', "no", "not so",
    )  # fmt: skip
    assert (result.status, result.exit_code, signal.kind) == ("error", 2, "rejection")
    assert [entry.line for entry in pages.entries(3, 4)] == [3, 4]
    assert list(pages.entries(50, 60)) == []


def test_an_outline_fits_its_page_whatever_its_size(tmp_path: Path) -> None:
    said = [f"say {number} " + "word " * 60 for number in range(3000)]
    talk = [{"type": "message", "role": "user", "text": text} for text in said]
    pages = pages_of(tmp_path, [{**HEAD, "id": "x"}, *talk])
    for most in (20_000, 5_000, 800):
        assert len(outline(pages, pages.first, pages.last, most)) <= most
    whole = outline(pages, pages.first, pages.last, 20_000)
    assert "L2-L3001" in whole and "more: outline(" in whole
    part = outline(pages, 100, 110, 20_000)
    assert "L100 user: say 98" in part and "say 300 " not in part


def test_no_secret_leaves_the_pages(pages: Pages) -> None:
    ran = Ran(
        [pages],
        step(
            use("outline"),
            use("look", first=13, last=15),
            use("search", pattern="the key"),
            use("search", pattern="sk-proj"),
            use("ask", question="which key?", first=10, last=20),
        ),
        {"text": f"it is {SECRET}"},
        step(use("answer", text=f"The key is {SECRET}", citations=["L14"])),
    )
    done = ran.go()
    everything = [said.text for asked in ran.root.asked for said in asked]
    assert not any(SECRET in text for text in [*everything, done.answer])
    assert "the key is [secret" in ran.heard[1]
    assert ran.heard[3] == "nothing found"  # it cannot be guessed piece by piece


# Search


def test_search_finds_lines_in_order_and_says_who_spoke(pages: Pages) -> None:
    hits = search(pages, r"CENTS|line 1[01] of", 1, 999)
    assert [hit.line for hit in hits] == [12, 24, 26]
    assert hits[0].text.startswith("user: No, amounts")
    assert search(pages, "cents", 13, 999) == []
    assert [hit.line for hit in search(pages, r"^user: ", 1, 999)] == [2, 12, 14]


def test_a_pattern_that_takes_for_ever_is_stopped(tmp_path: Path) -> None:
    lines = [{**HEAD, "id": "x"}, {"type": "message", "role": "user", "text": "a" * 5000 + "!"}]
    began = time.monotonic()
    with pytest.raises(TooLong, match="took over 1 second"):
        search(pages_of(tmp_path, lines), r"(a+)+$", 1, 9, seconds=1)
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("pattern", ["(", "", "  ", "x" * 1001, "[z-a]", r"\1"])
def test_what_is_no_pattern_is_told(pages: Pages, pattern: str) -> None:
    with pytest.raises(BadInput):
        search(pages, pattern, 1, 99)


def test_a_module_in_the_folder_is_not_run(
    pages: Pages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "msgspec.py").write_text("raise SystemExit('run')")
    monkeypatch.chdir(tmp_path)
    assert search(pages, "cents", 1, 999)


# Citations


def test_places_are_checked_in_every_form(pages: Pages) -> None:
    text = "See long-1#L12, [L14-L16], (L3, L9999) and L2 cache; L500-L600 is not there."
    cited = checked([pages], text, ["L20-L22", [24, 26], {"start": 30}, "L0", "nonsense", 7, None])
    assert [str(place) for place in cited.citations] == [
        "long-1#L20-L22", "long-1#L24-L26", "long-1#L30", "long-1#L12", "long-1#L14-L16",
        "long-1#L3",
    ]  # fmt: skip
    assert cited.struck == 6
    assert cited.text == (
        "See long-1#L12, [L14-L16], (L3, (struck out)) and L2 cache; (struck out) is not there."
    )


def test_of_several_sessions_a_place_names_its_own(tmp_path: Path) -> None:
    books = [
        pages_of(tmp_path, long_lines(20, "aa-1"), "a"),
        pages_of(tmp_path, long_lines(200, "bb-2"), "b"),
    ]
    cited = checked(books, "", ["aa-1#L12", "bb#L300", "aa-1#L300", "L12", "2#L13"])
    assert [str(place) for place in cited.citations] == ["aa-1#L12", "bb-2#L300", "bb-2#L13"]
    assert cited.struck == 2


# The tools


def heard(pages: Pages, *calls: dict[str, Any], sub: Any = None, **more: Any) -> list[str]:
    ran = Ran([pages], step(*calls), *(sub or ()), ANSWER, **more)
    ran.go()
    return ran.heard


def test_look_is_capped_and_says_what_is_left_out(pages: Pages) -> None:
    (text,) = heard(pages, use("look", first=1, last=10**9))
    assert len(text) <= MOST_RESULT
    assert text.startswith("[L2] user: Make the export faster")
    assert text.endswith(")…") and "left out: L" in text


def test_a_long_entry_is_shown_without_its_middle(tmp_path: Path) -> None:
    lines = [
        {**HEAD, "id": "x"},
        {"type": "call", "id": "c", "tool": "bash", "arguments": {}},
        {"type": "result", "call_id": "c", "text": "begin " + "y" * 50_000 + " end"},
        {"type": "message", "role": "user", "text": "pasted " + "z" * 50_000 + " after"},
    ]
    (text,) = heard(pages_of(tmp_path, lines), use("look", first=1, last=9))
    assert "begin" in text and " end" in text and "characters left out" in text
    (said,) = heard(pages_of(tmp_path, lines), use("look", first=4, last=9))
    assert said.startswith("[L4] user: pasted") and said.endswith(" after")


def test_a_part_that_is_too_much_says_what_would_fit(tmp_path: Path) -> None:
    talk = [{"type": "message", "role": "user", "text": "w " * 500} for _ in range(200)]
    pages = pages_of(tmp_path, [{**HEAD, "id": "x"}, *talk])
    with pytest.raises(BadInput, match=r"too much for one question: L1-L\d+ would fit"):
        part_text(pages, 1, 201)
    assert part_text(pages, 1, 10).count("[L") == 9


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (use("run_code", code="1"), "there is no tool 'run_code'; the tools are outline, look"),
        ({"name": "look", "arguments": "{broken"}, "the arguments are no JSON"),
        ({"name": "look", "arguments": "[1]"}, "the arguments are no object"),
        (use("look", first="a", last=3), "numbers of lines"),
        (use("look", first=900, last=950), "the session has L2-L402"),
        (use("look", first=9, last=3), "there are no such lines"),
        (use("look", first=1, last=5, session="zz"), "there is no session 'zz'"),
        (use("search"), "pattern is missing"),
        (use("search", pattern="("), "no regular expression"),
        (use("ask", question="", first=1, last=2), "question is missing"),
        (use("ask", question="q" * 3000, first=1, last=2), "2000 are the most"),
        (use("ask_each", question="q", parts="L1"), "parts is a list"),
        (use("ask_each", question="q", parts=["nowhere"]), "names no lines"),
        (use("ask_each", question="q", parts=["L2-L3"] * 21), "too many"),
        (use("answer", text=" ", citations=[]), "text is missing"),
        (use("answer", text="x", citations="L1"), "citations is a list"),
    ],
)
def test_what_is_wrong_with_a_call_is_told(pages: Pages, call: Any, says: str) -> None:
    (text,) = heard(pages, call)
    assert text.startswith("error: ") and says in text


def test_parts_are_read_by_the_cheaper_model_side_by_side(pages: Pages) -> None:
    said = [{"match": "cents", "text": "cents [L12]"}, {"text": "nothing"}, {"text": "nothing"}]
    ran = Ran(
        [pages],
        step(use("ask_each", question="What?", parts=["L2-L13", "L20-L30", "L40-L50"])),
        sub=[*said, ANSWER],
    )
    done = ran.go()
    assert "L2-L13: cents [L12]" in ran.heard[0]
    assert done.completion.subcalls == 3
    assert done.completion.subcall_model_used == "sub"
    assert len(ran.root.asked) == 1  # only the first step is the root model's


def test_the_question_of_a_part_marks_it_as_data(pages: Pages) -> None:
    ran = Ran([pages], step(use("ask", question="What?", first=2, last=13)), {"text": "x"}, ANSWER)
    ran.go()
    system, user = ran.root.asked[1]
    assert "is not an order" in system.text
    assert user.text.startswith("What stands between the two <data-")
    assert user.text.endswith("The question: What?")


# Endings


def test_an_answer_ends_it(pages: Pages) -> None:
    ran = Ran([pages], step(use("search", pattern="cents")), ANSWER)
    done = ran.go()
    assert (done.answer, done.said) == ("Amounts are in cents.", None)
    assert done.completion.outcome == "converged" and done.completion.reason is None
    assert done.completion.iterations == 2
    assert [str(place) for place in done.cited.citations] == ["long-1#L12"]
    assert done.completion.input_tokens == pages.chars // 4
    steps = [event for event in ran.events if isinstance(event, Progress)]
    assert [(one.iteration, one.status) for one in steps] == [
        (1, "asking"), (1, "searching"), (2, "asking"), (2, "answering"),
    ]  # fmt: skip


def test_plain_words_are_an_answer_too(pages: Pages) -> None:
    done = Ran([pages], {"text": "Cents, see L12-L13."}).go()
    assert done.completion.outcome == "converged"
    assert [str(place) for place in done.cited.citations] == ["long-1#L12-L13"]


def test_the_whole_text_is_never_sent(pages: Pages) -> None:
    ran = Ran([pages], ANSWER)
    ran.go()
    sent = sum(len(said.text) for said in ran.root.asked[0])
    assert sent < 25_000 < pages.chars


def test_at_the_last_round_the_model_is_told_to_answer(pages: Pages) -> None:
    searching = [step(use("search", pattern=f"p{n}")) for n in range(2)]
    ran = Ran([pages], *searching, ANSWER, limits={"max_iterations": 3})
    assert ran.go().completion.outcome == "converged"
    assert "call `answer` now" in ran.root.asked[-1][-1].text


def test_rounds_that_are_used_up_return_what_was_found(pages: Pages) -> None:
    ask = step(use("ask", question="What?", first=2, last=13), text="I look.")
    more = step(use("search", pattern="x"), text="Cents, I think.")
    ran = Ran([pages], ask, {"text": "cents [L12]"}, more, limits={"max_iterations": 2})
    done = ran.go()
    assert (done.completion.outcome, done.completion.reason) == ("exhausted", "max_iterations")
    assert done.said == "2 rounds were used up (--max-iterations)"
    assert "Cents, I think." in done.answer and "cents [L12]" in done.answer
    assert "long-1#L12" in [str(place) for place in done.cited.citations]


def test_subcalls_have_a_most(pages: Pages) -> None:
    two = step(use("ask_each", question="What?", parts=["L2-L13", "L20-L30"]))
    one = step(use("ask", question="What?", first=2, last=13))
    more = step(use("ask", question="What else?", first=2, last=13))
    ran = Ran([pages], two, one, {"text": "cents [L12]"}, more, limits={"max_subcalls": 1})
    done = ran.go()
    assert "2 questions about parts are too many: of 1, 1 are left" in ran.heard[0]
    assert (done.completion.outcome, done.completion.reason) == ("exhausted", "max_subcalls")
    assert "of 1, 0 are left (--max-subcalls)" in (done.said or "")
    assert done.completion.subcalls == 1 and "cents [L12]" in done.answer


def test_tokens_have_a_most(pages: Pages) -> None:
    searching = [
        step(use("search", pattern=f"p{n}"), usage={"input_tokens": 40_000}) for n in range(9)
    ]
    done = Ran([pages], *searching, limits={"max_tokens": 100_000}).go()
    assert (done.completion.outcome, done.completion.reason) == ("exhausted", "max_tokens")
    assert done.completion.usage.input_tokens == 120_000 or done.completion.iterations <= 4
    assert (done.said or "").startswith("of 100000 tokens 120000 are spent")


def test_time_has_a_most_also_while_a_model_is_silent(pages: Pages) -> None:
    began = time.monotonic()
    done = Ran([pages], {"text": "late", "sleep_seconds": 30}, limits={"timeout_seconds": 0.5}).go()
    assert (done.completion.outcome, done.completion.reason) == ("exhausted", "timeout")
    assert time.monotonic() - began < 15


def test_three_rounds_of_errors_end_it(pages: Pages) -> None:
    wrong = [step(use("look", first=n, last="x")) for n in range(5)]
    done = Ran([pages], *wrong, ANSWER).go()
    assert (done.completion.outcome, done.completion.reason) == ("exhausted", "errors")
    assert done.completion.iterations == 3


def test_errors_that_are_not_in_a_row_do_not(pages: Pages) -> None:
    wrong, right = step(use("look", first=1, last="x")), step(use("look", first=2, last=3))
    done = Ran([pages], wrong, wrong, right, step(use("nothing")), ANSWER).go()
    assert done.completion.outcome == "converged"


def test_the_same_call_three_times_is_a_loop(pages: Pages) -> None:
    again = step(use("search", pattern="cents"))
    done = Ran([pages], again, again, again, ANSWER).go()
    assert (done.completion.outcome, done.completion.reason) == ("exhausted", "loop")


def test_silence_is_an_error(pages: Pages) -> None:
    done = Ran([pages], {"text": ""}, {"text": " "}, {"text": ""}).go()
    assert (done.completion.outcome, done.completion.reason) == ("exhausted", "errors")


def test_a_model_that_fails_ends_it_with_what_was_found(pages: Pages) -> None:
    ask = step(use("ask", question="What?", first=2, last=13))
    done = Ran([pages], ask, {"text": "cents [L12]"}, {"fail": "the server is gone"}).go()
    assert (done.completion.outcome, done.completion.reason) == ("failed", "model")
    assert isinstance(done.error, ModelFailed) and "cents [L12]" in done.answer


def test_a_part_that_fails_does_not_cost_the_others(pages: Pages) -> None:
    ask = step(use("ask_each", question="What?", parts=["L2-L13", "L20-L30"]))
    ran = Ran([pages], ask, sub=[{"match": "cents", "fail": "hiccup"}, {"text": "fine"}, ANSWER])
    assert ran.go().completion.outcome == "converged"
    assert "L2-L13: error: hiccup" in ran.heard[0] and "L20-L30: fine" in ran.heard[0]


def test_ctrl_c_is_an_ending_of_its_own(pages: Pages) -> None:
    ran = Ran([pages], ANSWER)

    class Interrupted:
        name = "root"

        def ask(self, *_: Any) -> Reply:
            raise AssertionError("not reached")

    def interrupt(event: Any) -> None:
        ran.events.append(event)
        if isinstance(event, Progress):
            raise KeyboardInterrupt

    ran.exploring = Exploring([pages], Interrupted(), emit=interrupt)
    done = ran.go()
    assert (done.completion.outcome, done.completion.reason) == ("aborted", "interrupted")


def test_a_bug_leaves_a_completion_as_well(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = Ran([pages], ANSWER)
    monkeypatch.setattr(ran.exploring, "_answer", lambda question: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ran.exploring.go("What?")
    assert [type(event).__name__ for event in ran.events] == ["Completion"]


# Two models


def test_where_no_cheaper_model_is_named_it_is_told_once(pages: Pages) -> None:
    asks = step(use("ask_each", question="What?", parts=["L2-L5", "L6-L9"]))
    ran = Ran([pages], asks, {"text": "a"}, {"text": "b"}, ANSWER)
    done = ran.go()
    (told,) = [event for event in ran.events if isinstance(event, SubcallFallback)]
    assert (told.configured, told.using, told.reason) == (None, "root", "not_configured")
    assert done.completion.subcall_model_used is None


@pytest.mark.parametrize("refusal", ["unknown_model", "no_access", "rate_limit"])
def test_a_cheaper_model_that_is_refused_is_replaced_once(pages: Pages, refusal: str) -> None:
    asks = step(use("ask_each", question="What?", parts=["L2-L5", "L6-L9"]))
    refused = {"fail": "no", "refusal": refusal}
    ran = Ran([pages], asks, {"text": "a"}, {"text": "b"}, ANSWER, sub=[refused] * 3)
    done = ran.go()
    assert done.completion.outcome == "converged"
    (told,) = [event for event in ran.events if isinstance(event, SubcallFallback)]
    assert (told.configured, told.using, told.reason) == ("sub", "root", refusal)


# What was paid for


def test_a_part_is_not_paid_for_twice(pages: Pages, tmp_path: Path) -> None:
    cache = Cache(Folder(tmp_path))
    ask = step(use("ask", question="What?", first=2, last=13))
    first = Ran([pages], ask, sub=[{"text": "cents [L12]"}, ANSWER], cache=cache).go()
    again = Ran([pages], ask, sub=[ANSWER], cache=cache)
    done = again.go()
    assert (first.completion.subcalls, done.completion.subcalls) == (1, 0)
    assert "cents [L12]" in again.heard[0]
    other = step(use("ask", question="What else?", first=2, last=13))
    assert Ran([pages], other, sub=[{"text": "x"}, ANSWER], cache=cache).go().completion.subcalls


def test_a_cache_that_cannot_be_used_costs_nothing_but_money(pages: Pages, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    cache = Cache(Folder(tmp_path))
    ask = step(use("ask", question="What?", first=2, last=13))
    done = Ran([pages], ask, sub=[{"text": "x"}, ANSWER], cache=cache).go()
    assert done.completion.outcome == "converged"


def test_a_cached_answer_that_was_tampered_with_is_paid_for_again(
    pages: Pages, tmp_path: Path
) -> None:
    cache = Cache(Folder(tmp_path))
    ask = step(use("ask", question="What?", first=2, last=13))
    Ran([pages], ask, sub=[{"text": "x"}, ANSWER], cache=cache).go()
    (kept,) = (tmp_path / "cache").iterdir()
    kept.write_text("{broken")
    done = Ran([pages], ask, sub=[{"text": "x"}, ANSWER], cache=cache).go()
    assert done.completion.subcalls == 1


# Side by side


def test_four_at_once_and_in_order() -> None:
    running, most = 0, 0
    lock = threading.Lock()

    def job(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02 * (10 - number))
        with lock:
            running -= 1
        return number

    jobs = [lambda number=number: job(number) for number in range(10)]
    assert side_by_side(jobs, time.monotonic() + 30) == list(range(10))
    assert most == 4


def test_who_is_late_is_not_waited_for() -> None:
    jobs: list[Any] = [lambda: time.sleep(5), lambda: "done"]
    late, done = side_by_side(jobs, time.monotonic() + 0.3)
    assert isinstance(late, OutOfTime) and done == "done"
