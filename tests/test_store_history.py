"""Taking changes back, and what waits: whole or not at all, and nobody's lines are lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentlearn.errors import BadInput
from agentlearn.store import drafting
from agentlearn.store.differences import Conflict, find_change, show_change
from agentlearn.store.drafting import Maker
from agentlearn.store.history import adopt, discard, revert
from agentlearn.store.shelf import Desk
from agentlearn.store.store import Refused, Store
from tests.stores import assert_whole, make, make_note, make_skill, new_store, tree

SKILL = "skills/run-tests/SKILL.md"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return new_store(tmp_path)


def patch(store: Store, old: str, new: str, **more):
    return make(store, drafting.patch_skill, "run-tests", old, new, **more)


def notes(store: Store, target: str = "MEMORY") -> list[str]:
    return [note.text for note in Desk(store).look().notes(target)]


def body(store: Store) -> str:
    skill = Desk(store).look().skill("run-tests")
    return skill.body if skill else ""


def test_the_middle_one_of_three(store: Store):
    made = [make_note(store, text) for text in ("one", "two", "three")]
    revert(store, [made[1].id])
    assert notes(store) == ["one", "three"]
    revert(store, [made[0].id[:5]])
    assert notes(store) == ["three"]
    assert_whole(store)


def test_the_first_note_goes_with_the_file_only_when_it_is_the_last(store: Store):
    first, second = make_note(store, "one"), make_note(store, "two")
    revert(store, [first.id])
    assert notes(store) == ["two"]
    revert(store, [second.id])
    assert store.read("memory/MEMORY.md") in (None, "# Memory: this project\n\n")


def test_after_later_changes_elsewhere(store: Store):
    make_skill(store)
    first = patch(store, "Run `make test`.", "Run `make check`.")
    patch(store, "Mend it.", "Mend it, then begin again.")
    revert(store, [first.id])
    assert body(store) == (
        "1. Run `make test`.\n2. Read the first failure.\n3. Mend it, then begin again."
    )
    assert_whole(store)


def test_lines_that_were_changed_since(store: Store):
    make_skill(store)
    first = patch(store, "make test", "make check")
    later = patch(store, "make check", "make all")
    before = tree(store.places.home)
    with pytest.raises(Conflict) as caught:
        revert(store, [first.id])
    assert caught.value.hint == f"take back {later.id} first: agentlearn revert {later.id}"
    assert (
        "-1. Run `make check`." in caught.value.diff and "+1. Run `make all`." in caught.value.diff
    )
    assert tree(store.places.home) == before
    revert(store, [first.id, later.id])
    assert "make test" in body(store)
    assert_whole(store)


def test_lines_that_a_person_changed_since(store: Store):
    make_skill(store)
    change = patch(store, "make test", "make check")
    path = store.places.skills / "run-tests/SKILL.md"
    path.write_text(path.read_text().replace("make check", "tox"))
    with pytest.raises(Conflict) as caught:
        revert(store, [change.id])
    assert caught.value.hint and caught.value.hint.startswith("edit ")
    assert "tox" in path.read_text()


def test_a_revert_is_reverted(store: Store):
    make_skill(store)
    change = patch(store, "make test", "make check")
    (back,) = revert(store, [change.id])
    state = store.state()
    assert state.status(change.id) == "taken back" and state.taken_back[change.id] == back.id
    (again,) = revert(store, [back.id])
    assert "make check" in body(store)
    state = store.state()
    assert state.status(change.id) == "applied" and state.status(back.id) == "taken back"
    (third,) = revert(store, [change.id])
    assert "make test" in body(store)
    assert store.state().taken_back[change.id] == third.id
    assert store.state().status(again.id) == "applied"
    assert_whole(store)


def test_a_creation_is_taken_back_with_its_folder(store: Store):
    change = make_skill(store)
    (back,) = revert(store, [change.id])
    assert not (store.places.skills / "run-tests").exists()
    assert store.places.skills.is_dir()
    revert(store, [back.id])
    assert body(store).startswith("1. Run")
    skill = Desk(store).look().skill("run-tests")
    assert skill and skill.changes[0] == change.id
    assert_whole(store)


def test_a_creation_is_not_taken_back_from_under_a_patch(store: Store):
    change = make_skill(store)
    later = patch(store, "make test", "make check")
    with pytest.raises(Conflict) as caught:
        revert(store, [change.id])
    assert caught.value.hint and later.id in caught.value.hint
    assert "make check" in caught.value.diff and change.id not in caught.value.diff


def test_a_creation_is_not_taken_back_from_under_its_files(store: Store):
    change = make_skill(store)
    file = make(store, drafting.write_skill_file, "run-tests", "references/a.md", "text\n")
    with pytest.raises(Refused, match=r"other files: references/a\.md") as caught:
        revert(store, [change.id])
    assert caught.value.hint and file.id in caught.value.hint
    revert(store, [change.id, file.id])
    assert tree(store.places.skills) == {}
    make_skill(store, "other-work", description="Another thing. Use when other.", body="a b c")
    (store.places.skills / "other-work/mine.txt").write_text("mine")
    with pytest.raises(Refused, match=r"mine\.txt") as caught:
        revert(store, [list(store.state().changes)[-1]])
    assert caught.value.hint == "move them away first"


def test_a_skill_comes_back_from_the_archive_with_all_it_had(store: Store):
    make_skill(store)
    make_skill(store, "other-work", description="Another thing. Use when other.")
    make(store, drafting.write_skill_file, "run-tests", "references/a.md", "text\n")
    image = store.places.skills / "run-tests/assets/image.png"
    image.parent.mkdir()
    image.write_bytes(b"\x89PNG\xff\x00")
    before = tree(store.places.skills / "run-tests")
    change = make(store, drafting.delete_skill, "run-tests", "other-work")
    assert not (store.places.skills / "run-tests").exists()
    assert change.absorbed_by == "other-work"
    (back,) = revert(store, [change.id])
    after = tree(store.places.skills / "run-tests")
    assert after.keys() == before.keys() and image.read_bytes() == b"\x89PNG\xff\x00"
    assert body(store).startswith("1. Run")
    (again,) = revert(store, [back.id])
    assert not (store.places.skills / "run-tests").exists()
    revert(store, [again.id])
    assert tree(store.places.skills / "run-tests").keys() == before.keys()


def test_a_skill_that_was_changed_since_it_came_back_stays(store: Store):
    make_skill(store)
    make_skill(store, "other-work", description="Another thing. Use when other.")
    change = make(store, drafting.delete_skill, "run-tests", "other-work")
    (back,) = revert(store, [change.id])
    later = make(store, drafting.write_skill_file, "run-tests", "references/a.md", "new\n")
    with pytest.raises(Refused, match="was changed since") as caught:
        revert(store, [back.id])
    assert caught.value.hint and later.id in caught.value.hint
    revert(store, [later.id])
    path = store.places.skills / "run-tests/SKILL.md"
    path.write_text(path.read_text() + "mine\n")
    with pytest.raises(Conflict) as conflict:
        revert(store, [back.id])
    assert "+mine" in conflict.value.diff


def test_a_place_that_is_taken_again(store: Store):
    make_skill(store)
    make_skill(store, "other-work", description="Another thing. Use when other.")
    change = make(store, drafting.delete_skill, "run-tests", "other-work")
    make_skill(store, maker=Maker())
    with pytest.raises(Refused, match="exists again"):
        revert(store, [change.id])
    assert_whole(store)


def test_what_was_taken_back_is_not_proposed_again(store: Store):
    change = make_note(store, "Use tabs")
    revert(store, [change.id])
    with pytest.raises(Refused, match=f"took this back before .change {change.id}."):
        make_note(store, "use  tabs.")
    make_note(store, "Use tabs", maker=Maker())
    other = make_note(store, "Use spaces", mode="stage")
    discard(store, [other.id])
    with pytest.raises(Refused, match=other.id):
        make_note(store, "Use spaces")
    (back,) = revert(store, [list(store.state().changes)[-1]])
    revert(store, [back.id])
    assert notes(store) == ["Use tabs"]


PITFALL = "`make test` fails here with “no database” until `make up` was run."


def test_what_was_taken_back_does_not_come_back_in_another_shape(store: Store):
    made = make_skill(store)
    change = patch(store, "3. Mend it.", f"3. Mend it.\n\n## Pitfalls\n\n- {PITFALL}")
    revert(store, [change.id, made.id])
    again = f"took this back before .change {change.id}."
    with pytest.raises(Refused, match=again):
        make_skill(store, body=f"# Tests\n\n## Pitfalls\n\n- {PITFALL}\n")
    for text in (PITFALL, PITFALL.replace("`", "").replace("until", "until after")):
        with pytest.raises(Refused, match=again):
            make_note(store, text)
    # The frame of a skill is no lesson, and neither is the contrary of what was taken back.
    make_skill(store, body="## Pitfalls\n\n- `pytest` fails here with “no module”; use uv.\n")
    make_note(store, "`make test` never fails here with “no database”, `make up` was run.")


def test_a_note_that_was_discarded_does_not_come_back_in_a_skill(store: Store):
    note = make_note(store, PITFALL, mode="stage")
    discard(store, [note.id])
    with pytest.raises(Refused, match=f"took this back before .change {note.id}."):
        make_skill(store, body=f"# Tests\n\n- {PITFALL}\n")


def test_ids_that_name_no_change(store: Store):
    change, waits = make_note(store, "one"), make_note(store, "two", mode="stage")
    revert(store, [change.id])
    with pytest.raises(BadInput, match="taken back already") as caught:
        revert(store, [change.id])
    assert caught.value.hint == f"agentlearn revert {store.state().taken_back[change.id]}"
    with pytest.raises(BadInput, match="only waits") as caught:
        revert(store, [waits.id])
    assert caught.value.hint == f"agentlearn discard {waits.id}"
    for prefix in ("", "zzz", "../x"):
        with pytest.raises(BadInput, match="there is no change"):
            revert(store, [prefix])
    many = dict.fromkeys(("abc1", "abc2"), change)
    with pytest.raises(BadInput, match="fits 2 changes: "):
        find_change(many, "abc")


def test_several_are_taken_back_as_a_whole_or_not_at_all(store: Store):
    make_skill(store)
    first = patch(store, "make test", "make check")
    patch(store, "make check", "make all")
    note = make_note(store, "one")
    before = tree(store.places.home)
    with pytest.raises(Conflict):
        revert(store, [note.id, first.id])
    assert tree(store.places.home) == before


@pytest.mark.parametrize("ends", ["\r\n", "\n"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_the_files_of_people_keep_their_shape(store: Store, ends: str, last: str):
    """Line ends, a last line without one, words outside of the notes: all stay."""
    path = store.places.memory / "MEMORY.md"
    path.parent.mkdir(parents=True)
    text = "# Ours\n\nWords.\n\n- one\n  goes on\n* two".replace("\n", ends) + last.replace(
        "\n", ends
    )
    path.write_text(text, newline="")
    change = make_note(store, "three")
    found = path.read_bytes().decode()
    assert found == text.removesuffix(ends) + f"{ends}- three{ends}"
    assert notes(store) == ["one goes on", "two", "three"]
    revert(store, [change.id])
    assert path.read_bytes().decode().removesuffix(ends) == text.removesuffix(ends)


def test_a_skill_with_other_line_ends_is_patched_and_keeps_them(store: Store):
    make_skill(store)
    path = store.places.skills / "run-tests/SKILL.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    change = patch(store, "1. Run `make test`.\n2. Read", "1. Run `make check`.\n2. Look at")
    data = path.read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n") and b"2. Look at the first" in data
    make(store, drafting.edit_skill, "run-tests", "Other words. Use when so.", None, data.decode())
    data = path.read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n") and b"Other words" in data
    revert(store, [change.id])
    data = path.read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n") and b"make test" in data
    assert data.count(b"agentlearn:") == 1


# What waits


def test_what_waits_is_made_in_order(store: Store):
    made = make_skill(store, mode="stage")
    later = patch(store, "make test", "make check", mode="stage")
    note = make_note(store, "one", mode="stage")
    assert tree(store.places.skills) == {} and notes(store) == []
    assert [change.id for change in adopt(store, [])] == [made.id, later.id, note.id]
    assert "make check" in body(store) and notes(store) == ["one"]
    state = store.state()
    assert not state.staged and list(state.changes) == [made.id, later.id, note.id]
    assert_whole(store)
    assert adopt(store, []) == []


def test_what_builds_on_another_is_not_adopted_alone(store: Store):
    made = make_skill(store, mode="stage")
    later = patch(store, "make test", "make check", mode="stage")
    with pytest.raises(Conflict, match=f"{later.id} builds on {made.id}") as caught:
        adopt(store, [later.id])
    assert caught.value.hint == f"adopt them together: agentlearn adopt {made.id} {later.id}"
    assert set(store.state().staged) == {made.id, later.id}
    with pytest.raises(Refused, match=f"{later.id} builds on {made.id}") as refused:
        discard(store, [made.id])
    assert refused.value.hint == f"discard them together: agentlearn discard {made.id} {later.id}"
    adopt(store, [made.id])
    adopt(store, [later.id])
    assert "make check" in body(store)
    assert_whole(store)


def test_what_stands_for_itself_is_adopted_alone(store: Store):
    first, second = (make_note(store, text, mode="stage") for text in ("one", "two"))
    adopt(store, [second.id])
    assert notes(store) == ["two"]
    discard(store, [first.id])
    assert not store.state().staged
    make_skill(store)
    one = patch(store, "make test", "make check", mode="stage")
    two = patch(store, "Mend it.", "Mend it well.", mode="stage")
    discard(store, [one.id])
    adopt(store, [two.id])
    assert "make test" in body(store) and "well" in body(store)
    assert_whole(store)


def test_what_waits_is_fitted_to_files_that_changed(store: Store):
    make_skill(store)
    waits = patch(store, "Mend it.", "Mend it well.", mode="stage")
    note = make_note(store, "waits", mode="stage")
    patch(store, "make test", "make check")
    make_note(store, "came first")
    adopt(store, [])
    assert "make check" in body(store) and "well" in body(store)
    assert notes(store) == ["came first", "waits"]
    assert store.state().status(note.id) == "applied"
    revert(store, [waits.id])
    assert "make check" in body(store) and "well" not in body(store)
    assert_whole(store)


def test_a_note_that_came_another_way_is_not_there_twice(store: Store):
    make_note(store, "same", mode="stage")
    make_note(store, "same", maker=Maker())
    make_note(store, "more", maker=Maker())
    adopt(store, [])
    assert notes(store) == ["same", "more"]


def test_if_one_does_not_fit_none_is_made(store: Store):
    make_skill(store)
    note = make_note(store, "one", mode="stage")
    clash = patch(store, "make test", "make check", mode="stage")
    patch(store, "make test", "make all")
    with pytest.raises(Conflict, match=f"{clash.id} cannot be adopted") as caught:
        adopt(store, [])
    assert caught.value.hint == f"agentlearn discard {clash.id}"
    assert notes(store) == [] and set(store.state().staged) == {note.id, clash.id}


def test_the_budget_holds_when_others_came_in_between(store: Store):
    waits = make_note(store, "x" * 300, mode="stage")
    make_note(store, "y" * 300)
    with pytest.raises(Refused, match=r"MEMORY\.md would have .* of 400 characters"):
        adopt(store, [], {"MEMORY": 400, "USER": 400})
    adopt(store, [], {"MEMORY": 800, "USER": 400})
    assert store.state().status(waits.id) == "applied"


def test_a_skill_that_was_pinned_meanwhile(store: Store):
    make_skill(store)
    waits = patch(store, "make test", "make check", mode="stage")
    make(store, drafting.pin_skill, "run-tests", True, maker=Maker())
    with pytest.raises(Refused, match="is pinned") as caught:
        adopt(store, [])
    assert caught.value.hint == "agentlearn skills unpin run-tests"
    with pytest.raises(Refused, match="is pinned"):
        patch(store, "make test", "make all")
    make(store, drafting.pin_skill, "run-tests", False, maker=Maker())
    adopt(store, [waits.id])
    assert "make check" in body(store)
    assert_whole(store)


def test_an_adopter_that_was_killed_before_saying_so(store: Store):
    """The change is in the journal as done; that it no longer waits is not."""
    waits = make_note(store, "one", mode="stage")
    with store.writing() as pen:
        pen.commit(waits)
    assert not store.state().staged and adopt(store, []) == []


def test_a_change_is_shown_as_a_diff(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(store.places.home)
    make_skill(store)
    change = make_note(store, "one")
    assert show_change(store, change) == (
        "--- /dev/null\n+++ b/.agentlearn/memory/MEMORY.md\n@@ -0,0 +1,3 @@\n"
        "+# Memory: this project\n+\n+- one"
    )


def test_the_same_input_gives_the_same_bytes(tmp_path: Path):
    stores = [new_store(tmp_path / name) for name in ("one", "two")]
    made = []
    for store in stores:
        make_skill(store)
        patch(store, "make test", "make check")
        change = make_note(store, "one")
        revert(store, [change.id])
        make_note(store, "two", mode="stage")
        made.append([change.id for change in store.state().seen.values()])
    assert made[0] == made[1]
    first, second = (tree(store.places.skills) | tree(store.places.memory) for store in stores)
    assert first == second


def test_what_became_of_a_change_that_waits_no_more(store: Store) -> None:
    make_note(store, "Use tabs", mode="stage")
    make_note(store, "Use Decimal for money", mode="stage")
    adopted, discarded = store.state().staged
    adopt(store, [adopted])
    discard(store, [discarded])
    with pytest.raises(BadInput, match="was made already"):
        adopt(store, [adopted])
    with pytest.raises(BadInput, match="was discarded"):
        discard(store, [discarded])
    with pytest.raises(BadInput, match="was discarded"):
        revert(store, [discarded])
