"""SKILL.md: every reader of the format takes what is written, and nothing that is read is lost."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from skills_ref import read_properties, validate

from agentlearn.store import drafting
from agentlearn.store.clean import ONE_OFF
from agentlearn.store.drafting import Maker
from agentlearn.store.shelf import Desk
from agentlearn.store.skill import (
    format_skill,
    name_problem,
    parse_skill,
    rewritten,
    with_changes,
    with_pin,
    without_changes,
)
from agentlearn.store.store import Refused, Store
from tests.stores import BODY, DESCRIPTION, RULES, make, make_note, make_skill, new_store, tree

ODD = [
    'Says "yes": and no. Use when asked.',
    "It's a # comment? Use when: it is",
    "- leading dash. Use when so",
    "yes",
    "Use when 007",
    "true, Use when null",
    "Use when \\n is not a \\t line end",
    "Use when \U0001f600 or 日本語 or é, ü and ß",
    "[a, b] {c: d} & *e !f |g >h %i @j `k` Use when",
    "Use when\ttabs  and   spaces",
    "2026-11-16 Use when a date",
    "1e3 Use when 0x1f",
    "~ Use when",
    "Use when : colon",
    "Use when a: b #c",
    "'Use when quoted'",
    '"Use when quoted"',
    "Use when ends with colon:",
    "Use when ends with \\",
    "=Use when",
    "<<: Use when",
    "? Use when",
    "Use when a\u00a0b",
    "Use when " + "x" * 1015,
]
WORDS = st.text(st.characters(exclude_categories=["Cs", "Co", "Cn"]), min_size=1, max_size=200).map(
    lambda text: f"Use when {text}"
)


def written(store: Store, description: str, body: str = BODY) -> None:
    """Write a skill as a review would, and ask the reference validator about it."""
    make_skill(store, description=description, body=body)
    folder = store.places.skills / "run-tests"
    assert validate(folder) == []
    read = read_properties(folder)
    assert read.description == " ".join(description.split())
    skill = Desk(store).look().skill("run-tests")
    assert skill and skill.problem is None and skill.description == read.description
    assert read.metadata == {"agentlearn": " ".join(skill.changes)}


@pytest.mark.parametrize("description", [text for text in ODD if "Use when" in text])
def test_every_description_passes_the_reference(tmp_path: Path, description: str):
    written(new_store(tmp_path), description)


@settings(deadline=None, max_examples=80)
@given(WORDS, st.text(min_size=1, max_size=300))
@example("Use when \x85 or \u2028", "body --- with dashes\n---\n")
@example("Use when \x7f\x80\ufffe\uffff", "x")
@example("Use when ---", "x")
@example("Use when \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "x")
def test_what_is_written_passes_and_what_would_not_is_refused(
    tmp_path_factory: pytest.TempPathFactory, description: str, body: str
):
    store = new_store(tmp_path_factory.mktemp("project"))
    try:
        written(store, description, body)
    except Refused:
        assert tree(store.places.skills) == {}


@pytest.mark.parametrize("description", [*ODD, "", "null", "on", "x: y", "a\nb", "\u2028"])
def test_the_value_is_what_was_given(description: str):
    skill = parse_skill("x", format_skill("x", description, "body", ("ab12",)))
    assert skill.description == " ".join(description.split())
    assert skill.changes == ("ab12",) and skill.body == "body"


def test_every_action_leaves_a_skill_that_passes(tmp_path: Path):
    store = new_store(tmp_path)
    make_skill(store)
    folder = store.places.skills / "run-tests"

    def passes() -> None:
        assert validate(folder) == [], (folder / "SKILL.md").read_text()

    make(store, drafting.patch_skill, "run-tests", "Mend it.", "Mend: it # now")
    passes()
    seen = (folder / "SKILL.md").read_text()
    make(
        store, drafting.edit_skill, "run-tests", 'A "new" one: use when # so', "1. x\n\n---\n", seen
    )
    passes()
    make(store, drafting.write_skill_file, "run-tests", "scripts/run.sh", "#!/bin/sh\nmake test\n")
    passes()
    make(store, drafting.remove_skill_file, "run-tests", "scripts/run.sh")
    passes()
    make(store, drafting.pin_skill, "run-tests", True, maker=Maker())
    passes()
    assert read_properties(folder).metadata["pinned"] == "true"
    make(store, drafting.pin_skill, "run-tests", False, maker=Maker())
    passes()
    assert "pinned" not in (folder / "SKILL.md").read_text()


@settings(max_examples=300)
@given(st.text(max_size=200) | st.text("-:#\n \"'{}[]&*!|>abn", max_size=80).map("---\n{}".format))
@example("---\nmetadata: &a [*a]\n---\n")
@example("---\nname: !!python/object:os.system x\n---\n")
@example("---\n? [a]\n: b\n---\n")
@example("---\nname: 2026-13-45\ndescription: 1:2:3\n---\n")
@example("---\nmetadata:\n  agentlearn: [1, 2]\n  pinned: [x]\n---\n")
@example("---\n1: 2\nnull: x\n---\n")
def test_whatever_stands_there_is_read(text: str):
    skill = parse_skill("x", text)
    assert skill.problem is None or skill.problem
    with_changes(text, ("ab12",))
    with_pin(text, True)
    without_changes(text)


def test_a_bomb_in_the_front_matter_is_not_unfolded():
    levels = "".join(f"  l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 12))
    text = f"---\nname: x\nmetadata:\n  l0: &l0 [a]\n{levels}  agentlearn: *l11\n---\n"
    assert parse_skill("x", text).changes == ()


def test_only_the_ids_change():
    """The rest of a front matter, as a person keeps it, stays to the letter."""
    text = (
        "---\nname: x\ndescription: Use when x. # why\nlicense: MIT\n"
        'metadata:\n    author: "me"\n    agentlearn: "aa"\n    version: 1\n---\n'
        '\n  agentlearn: "not this one"\n'
    )
    after = with_changes(text, ("aa", "bb"))
    assert after == text.replace('agentlearn: "aa"', 'agentlearn: "aa bb"')
    assert parse_skill("x", after).changes == ("aa", "bb")
    assert without_changes(after) == without_changes(text)
    pinned = with_pin(after, True)
    assert parse_skill("x", pinned).pinned and with_pin(pinned, False) == after
    bare = "---\nname: x\ndescription: Use when x.\n---\nbody\n"
    assert parse_skill("x", with_changes(bare, ("aa",))).changes == ("aa",)
    by_hand = "---\nname: x\ndescription: Use when x.\nmetadata: {a: b}\n---\nbody\n"
    assert with_changes(by_hand, ("aa",)) == by_hand


def test_a_description_over_several_lines_is_left_to_a_patch():
    text = "---\nname: x\ndescription: >\n  Use when\n  x.\n---\n\nbody\n"
    skill = parse_skill("x", text)
    assert skill.problem is None and skill.description == "Use when x.\n"
    assert rewritten(skill, "Other. Use when y.", None) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("no dashes", "no front matter"),
        ("---\nname: x\n", "no front matter"),
        ("\ufeff---\nname: x\ndescription: y\n---\n", "no front matter"),
        ("---\n- a\n---\n", "no mapping"),
        ("---\na: b: c\n---\n", "not YAML"),
        ("---\ndescription: y\n---\n", "no name"),
        ("---\nname: y\ndescription: y\n---\n", "not that of its folder"),
        ("---\nname: x\n---\n", "no description"),
        ("---\nname: x\ndescription: [7]\n---\n", "no description"),
        (f"---\nname: x\ndescription: {'y' * 1025}\n---\n", "1025 characters"),
        ("---\nname: x\ndescription: y\nauthor: z\n---\n", "unknown fields: author"),
        ('---\nname: x\ndescription: "a --- b"\n---\n', "--- inside"),
    ],
)
def test_what_is_no_skill_is_told(text: str, problem: str):
    assert problem in (parse_skill("x", text).problem or "")


# Names


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Run",
        "run_tests",
        "run--tests",
        "-run",
        "run-",
        "a/b",
        "..",
        "a b",
        "é",
        "x" * 65,
        "a\n",
    ],
)
def test_names_that_are_none(tmp_path: Path, name: str):
    assert name_problem(name)
    store = new_store(tmp_path)
    with pytest.raises(Refused):
        make_skill(store, name)
    assert not list(store.places.skills.rglob("*"))


@given(st.from_regex(r"\A[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,6}\Z"))
def test_names_that_are_some(name: str):
    assert name_problem(name) is None


@pytest.mark.parametrize(
    "name",
    ["fix-bug-1234", "bug-12", "issue42", "pr-7-review", "fix-2026", "deadbeef12-fix", "wip-tests",
     "session-3", "tmp-notes", "release-20261116"],
)  # fmt: skip
def test_names_of_one_occasion(name: str):
    assert ONE_OFF.search(name)


@pytest.mark.parametrize(
    "name",
    ["run-tests", "python-3-migration", "use-utf-8", "s3-upload", "http-2", "fix-imports", "debug",
     "feedback", "decade", "mp3-files", "x86-builds", "oauth2-login", "cafe-added"],
)  # fmt: skip
def test_names_of_a_class_of_work(name: str):
    assert not ONE_OFF.search(name)


# What drafting refuses


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = new_store(tmp_path)
    make_skill(store)
    return store


@pytest.mark.parametrize(
    "file",
    ["../x.md", "/etc/passwd", "references/../../x", "x.md", "other/x.md", "references", "a\\b",
     "references/", "references//x", "references/.hidden", "references/a b.md", "references/\0",
     "references/a/b/c/d.md", "References/x.md", "references/" + "x" * 101, "skill.md", ""],
)  # fmt: skip
def test_files_have_their_places(store: Store, file: str):
    before = tree(store.places.home)
    for draft in (drafting.write_skill_file, drafting.remove_skill_file):
        args = ["text"] if draft is drafting.write_skill_file else []
        with pytest.raises(Refused):
            make(store, draft, "run-tests", file, *args)
    with pytest.raises(Refused):
        make(store, drafting.patch_skill, "run-tests", "a", "b", file)
    assert {**tree(store.places.home), ".agentlearn/lock": b""} == {
        **before,
        ".agentlearn/lock": b"",
    }


def test_a_patch_needs_a_text_that_is_there_once(store: Store):
    for old, said in (("no such", "does not occur"), (".", "times"), ("", "is empty")):
        with pytest.raises(Refused, match=said):
            make(store, drafting.patch_skill, "run-tests", old, "x")
    with pytest.raises(Refused, match="the new text is the old one"):
        make(store, drafting.patch_skill, "run-tests", "Mend it.", "Mend it.")
    with pytest.raises(Refused, match="has no file references/x"):
        make(store, drafting.patch_skill, "run-tests", "a", "b", "references/x.md")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: run-tests", "name: other", "not that of its folder"),
        ("name: run-tests", "name: run-tests\nallowed-tools: all\nextra: 1", "unknown fields"),
        ("metadata:\n", 'metadata:\n  pinned: "true"\n', "not for a reviewer"),
        ("Use when code was changed.", "Runs.", "must say when"),
        (DESCRIPTION, "x" * 1025 + " use when", "1025 characters|1034 characters"),
        ("1. Run `make test`.\n2. Read the first failure.\n3. Mend it.\n", "", "is empty"),
    ],
)
def test_a_patch_leaves_a_skill(store: Store, old: str, new: str, said: str):
    before = store.read("skills/run-tests/SKILL.md")
    with pytest.raises(Refused, match=said):
        make(store, drafting.patch_skill, "run-tests", old, new)
    assert store.read("skills/run-tests/SKILL.md") == before


def test_the_ids_are_not_for_a_reviewer(store: Store):
    skill = Desk(store).look().skill("run-tests")
    assert skill
    change = make(store, drafting.patch_skill, "run-tests", skill.changes[0], "feedbeef")
    found = Desk(store).look().skill("run-tests")
    assert found and found.changes == (*skill.changes, change.id)


def test_an_edit_of_what_was_changed_meanwhile(store: Store):
    seen = store.read("skills/run-tests/SKILL.md") or ""
    make(store, drafting.write_skill_file, "run-tests", "references/a.md", "x")
    make(store, drafting.edit_skill, "run-tests", None, "1. New", seen)
    with pytest.raises(Refused, match="changed since you viewed it"):
        make(store, drafting.edit_skill, "run-tests", None, "2. Newer", seen)
    now = store.read("skills/run-tests/SKILL.md") or ""
    with pytest.raises(Refused, match="says that already"):
        make(store, drafting.edit_skill, "run-tests", None, "1. New", now)
    with pytest.raises(Refused, match="a new body, or both"):
        make(store, drafting.edit_skill, "run-tests", None, None, now)


def test_a_skill_that_is_nearly_there(store: Store):
    with pytest.raises(Refused, match="exists: view it"):
        make_skill(store)
    for name in ("test-running", "running-tests", "run-test"):
        with pytest.raises(Refused, match="is nearly the skill run-tests"):
            make_skill(store, name, description="Something. Use when else.")
    with pytest.raises(Refused, match="is nearly the skill run-tests"):
        make_skill(store, "verify-code", description=DESCRIPTION.replace("Runs", "Running"))


def test_skills_of_others_are_not_touched(store: Store):
    theirs = store.places.skills / "theirs/SKILL.md"
    theirs.parent.mkdir()
    theirs.write_text("---\nname: theirs\ndescription: Deploys. Use when deploying.\n---\nx\n")
    broken = store.places.skills / "broken/SKILL.md"
    broken.parent.mkdir()
    broken.write_bytes(b"\xff\xfe")
    before = tree(store.places.skills)
    for name in ("theirs", "broken"):
        for draft, args in (
            (drafting.patch_skill, ["x", "y"]),
            (drafting.edit_skill, [None, "y", ""]),
            (drafting.write_skill_file, ["references/a.md", "y"]),
            (drafting.delete_skill, ["run-tests"]),
            (drafting.pin_skill, [True]),
        ):
            with pytest.raises(Refused, match="not written by agentlearn"):
                make(store, draft, name, *args)
    with pytest.raises(Refused, match="did you mean run-tests"):
        make(store, drafting.patch_skill, "run-test", "x", "y")
    assert tree(store.places.skills) == before


def test_a_deleted_skill_names_the_one_that_holds_its_lesson(store: Store):
    for name in ("run-tests", "no-such", "../x", ""):
        with pytest.raises(Refused, match="absorbed_by must name"):
            make(store, drafting.delete_skill, "run-tests", name)


# Memory


def test_a_note_is_one_line(store: Store):
    make_note(store, "- one\n  two   three ")
    assert store.read("memory/MEMORY.md") == "# Memory: this project\n\n- one two three\n"
    with pytest.raises(Refused, match="is empty"):
        make_note(store, " \n ")
    with pytest.raises(Refused, match="over 400"):
        make_note(store, "x" * 401)


def test_a_note_that_is_there_is_not_added(store: Store):
    make_note(store, "Use tabs.")
    with Desk(store).at_work() as (shelf, _):
        assert drafting.add_note(shelf, RULES, "MEMORY", "use `tabs`", 2200) is None
        assert drafting.replace_note(shelf, RULES, "MEMORY", "tabs", "Use tabs.", 2200) is None


def test_a_note_is_named_by_a_part_that_only_it_has(store: Store):
    make_note(store, "Use tabs in Go")
    make_note(store, "Use spaces in Python")
    with pytest.raises(Refused, match="2 notes"):
        make(store, drafting.remove_note, "MEMORY", "Use")
    with pytest.raises(Refused, match="no note"):
        make(store, drafting.remove_note, "MEMORY", "Rust")
    make(store, drafting.replace_note, "MEMORY", "in Go", "Use gofmt", 2200)
    make(store, drafting.remove_note, "MEMORY", "Python")
    assert store.read("memory/MEMORY.md") == "# Memory: this project\n\n- Use gofmt\n"


def test_a_memory_that_is_full_says_so_with_the_numbers(store: Store):
    make_note(store, "x" * 80)
    with pytest.raises(Refused, match="full: 107 of 120 characters, and this needs 33 more"):
        make(store, drafting.add_note, "MEMORY", "y" * 30, 120)
    with pytest.raises(Refused, match="is full"):
        make(store, drafting.replace_note, "MEMORY", "x" * 80, "y" * 200, 120)
    make(store, drafting.replace_note, "MEMORY", "x" * 80, "y" * 79, 100)


def test_what_was_only_seen_is_marked(store: Store):
    make(store, drafting.add_note, "MEMORY", "The port is 80", 2200, True)
    assert "- (seen) The port is 80\n" in (store.read("memory/MEMORY.md") or "")
    with Desk(store).at_work() as (shelf, _):
        assert drafting.add_note(shelf, RULES, "MEMORY", "the port is 80", 2200) is None


# What must never be kept

TOKEN = "ghp_" + (string.ascii_letters + string.digits)[7:43]


@pytest.mark.parametrize("bad", [TOKEN, "a\u200bb", "turn\u202ethis", "tags\U000e0041", "\ud800"])
def test_what_must_never_be_kept_is_refused_everywhere(store: Store, bad: str):
    text = f"Use when {bad} stands here"
    before = tree(store.places.skills)
    now = store.read("skills/run-tests/SKILL.md") or ""
    for draft, args in (
        (drafting.create_skill, ["deploy-it", text, "body"]),
        (drafting.create_skill, ["deploy-it", "Deploys. Use when so.", text]),
        (drafting.patch_skill, ["run-tests", "Mend it.", text]),
        (drafting.edit_skill, ["run-tests", text, None, now]),
        (drafting.edit_skill, ["run-tests", None, text, now]),
        (drafting.write_skill_file, ["run-tests", "references/a.md", text]),
        (drafting.add_note, ["MEMORY", text, 2200]),
    ):
        with pytest.raises(Refused):
            make(store, draft, *args)
    assert tree(store.places.skills) == before
    assert bad.encode("utf-8", "replace") not in store.places.journal.read_bytes()


def test_a_secret_that_a_person_keeps_there_does_not_reach_the_journal(store: Store):
    path = store.places.memory / "MEMORY.md"
    path.parent.mkdir()
    path.write_text(f"- the token is {TOKEN}\n")
    with pytest.raises(Refused, match="looks like a secret"):
        make_note(store, "one")
    file = store.places.skills / "run-tests/references/a.md"
    file.parent.mkdir()
    file.write_text(TOKEN)
    make_skill(store, "deploy-it", description="Deploys. Use when asked.")
    with pytest.raises(Refused, match="looks like a secret"):
        make(store, drafting.delete_skill, "run-tests", "deploy-it")
    assert TOKEN not in store.places.journal.read_text()


def test_a_patch_does_not_put_a_secret_together(store: Store):
    make(store, drafting.patch_skill, "run-tests", "Mend it.", f"Mend {TOKEN[:12]} it.")
    with pytest.raises(Refused, match="secret"):
        make(store, drafting.patch_skill, "run-tests", f"{TOKEN[:12]} it.", TOKEN)
    with pytest.raises(Refused, match="secret"):
        make(store, drafting.patch_skill, "run-tests", " it.", TOKEN[12:])


def test_excerpts_are_redacted_and_paths_found_from_anywhere(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from agentlearn.store.values import Cited

    monkeypatch.chdir(tmp_path)
    evidence = Cited("s1", "a.jsonl", 1, 2, "line", None, f"export GITHUB_TOKEN={TOKEN}")
    odd = Cited("s1", "caf\udce9.jsonl", 1, 2, "line", None, "half \ud800")
    change = make_note(store, "one", maker=Maker("rules", None, "s1", (evidence, odd)))
    kept = store.state().changes[change.id].evidence
    assert kept[0].path == str(tmp_path / "a.jsonl") and TOKEN not in kept[0].excerpt
    assert kept[1].path == str(tmp_path / "caf\\udce9.jsonl")
