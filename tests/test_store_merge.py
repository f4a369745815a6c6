"""Carrying a difference over to a text that has changed elsewhere."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from agentlearn.store.memory import carry_notes, notes_of
from agentlearn.store.merge import carry

LINES = st.lists(st.sampled_from("abcde"), max_size=8).map(
    lambda found: "".join(f"{c}\n" for c in found)
)
TEXTS = st.none() | LINES | st.text(max_size=30)
UNIQUE = st.lists(st.integers(0, 99), min_size=4, max_size=14, unique=True)


@given(TEXTS, TEXTS)
def test_a_text_that_did_not_change_takes_the_whole_difference(base, changed):
    assert carry(base, changed, base) == (True, changed)


@given(TEXTS, TEXTS)
def test_what_is_there_already_is_not_done_twice(base, changed):
    assert carry(base, changed, changed) == (True, changed)


@given(TEXTS, TEXTS, TEXTS)
def test_what_does_not_fit_leaves_the_text_as_it_is(base, changed, current):
    fits, result = carry(base, changed, current)
    if not fits:
        assert result == current


@given(UNIQUE, st.data())
def test_edits_in_different_places_both_stay(numbers, data):
    """Of lines that are all different, one half is edited here, the other half there."""
    lines = [f"line {number}\n" for number in numbers]
    middle = data.draw(st.integers(2, len(lines) - 2))
    wanted = st.lists(st.sampled_from(["keep", "drop", "change", "add"]), min_size=14, max_size=14)
    head, tail = data.draw(wanted), data.draw(wanted)

    def edited(part: list[str], actions: list[str], mark: str) -> list[str]:
        done = []
        for line, action in zip(part, actions, strict=False):
            if action == "change":
                done.append(f"{mark} for {line}")
            elif action != "drop":
                done.append(line)
            if action == "add":
                done.append(f"{mark} after {line}")
        return done

    # The lines beside the border stay, so that each side knows where it is.
    first, second = lines[: middle - 1], lines[middle + 1 :]
    border = lines[middle - 1 : middle + 1]
    mine, yours = edited(first, head, "mine"), edited(second, tail, "yours")
    result = carry("".join(lines), "".join(mine + border + second), "".join(first + border + yours))
    assert result == (True, "".join(mine + border + yours))


@given(UNIQUE, st.data())
def test_taking_back_what_was_done_gives_what_stood_before(numbers, data):
    before = "".join(f"{number}\n" for number in numbers)
    changed = data.draw(st.permutations(numbers).map(lambda new: "".join(f"{n}\n" for n in new)))
    fits, after = carry(before, changed, before)
    assert fits and carry(changed, before, after) == (True, before)


def test_lines_that_were_changed_do_not_fit():
    assert carry("a\nb\nc\n", "a\nB\nc\n", "a\nX\nc\n") == (False, "a\nX\nc\n")
    assert carry("a\nb\nc\n", "a\nc\n", "a\nX\nc\n") == (False, "a\nX\nc\n")


def test_a_file_comes_and_goes_only_as_a_whole():
    assert carry(None, "new\n", "other\n") == (False, "other\n")
    assert carry("old\n", None, "other\n") == (False, "other\n")
    assert carry("old\n", None, "old\n") == (True, None)
    assert carry("old\n", "new\n", None) == (False, None)


def test_line_ends_are_kept():
    assert carry("a\r\nb\r\n", "a\r\nB\r\n", "x\r\na\r\nb\r\n") == (True, "x\r\na\r\nB\r\n")
    assert carry("a\nb", "a\nb\nc\n", "a\nb") == (True, "a\nb\nc\n")


NOTES = st.lists(st.sampled_from(["one", "two", "three", "four", "five"]), unique=True, max_size=5)


def memory(notes: list[str]) -> str:
    return "# Memory: this project\n\n" + "".join(f"- {note}\n" for note in notes)


@example(["one"], ["two"], ["one", "two"])
@given(NOTES, NOTES, NOTES)
def test_notes_come_and_go_each_for_itself(base, changed, current):
    fits, result = carry_notes("MEMORY", memory(base), memory(changed), memory(current))
    going = [note for note in base if note not in changed]
    coming = [note for note in changed if note not in base]
    if not (going or coming) or not set(going) <= set(current):
        assert not fits and result == memory(current)
        return
    found = [note.text for note in notes_of(result)]
    assert fits and set(found) == (set(current) - set(going)) | set(coming)
    assert len(found) == len(set(found))
