"""Notes that sound alike: what says the same, what says it anew, and what is something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentlearn.review.restating import restates
from tests.commands import HEAD
from tests.files import lines_file
from tests.reviews import Project, review
from tests.stories import Story, story, texts


@pytest.mark.parametrize(
    ("new", "old", "answer"),
    [
        ("We use tabs here.", "we use tabs here", "same"),
        ("Run the linter.", "Run the linter before every commit.", "same"),
        ("Run the linter before every commit.", "Run the linter.", "anew"),
        ("We use pnpm here.", "We use npm here.", "anew"),
        ("The staging server now listens on port 9000.",
         "The staging server listens on port 8081.", "anew"),
        ("Never push to main.", "Always push to main.", "anew"),
        ("The production server listens on port 8082.",
         "The staging server listens on port 8081.", "other"),
        ("The billing module is owned by team red.",
         "The shipping module is owned by team blue.", "other"),
        ("services/api2 is owned by the core team.",
         "services/api1 is owned by the core team.", "other"),
        ("Ids are strings.", "Use tabs.", "other"),
        ("Never commit to develop.", "Never commit to main.", "other"),
        ("Never log customer addresses.", "Never log customer emails.", "other"),
        ("Ask me before deleting branches.", "Ask me before deleting files.", "other"),
        ("The key must include the locale.", "The key must include the tenant.", "other"),
        ("Do not use type hints in python test code.", "Always use type hints in python code.",
         "other"),
        ("The admin frontend uses Vue.", "The frontend uses React, not Vue.", "other"),
        ("Integration tests need redis.", "Tests do not need redis.", "other"),
        ("Generated files are committed now.", "Never commit generated files.", "anew"),
        ("We use postgres in staging.", "We use postgres in production.", "other"),
        ("I prefer answers in bullets.", "I prefer answers in English.", "other"),
        ("Run make test before commit.", "Run make lint before commit.", "other"),
        ("The timeout for job 2 is 30 seconds.", "The timeout for job 1 is 30 seconds.", "other"),
        ("The timeout for job 1 is 60 seconds.", "The timeout for job 1 is 30 seconds.", "anew"),
        ("Never push to main.", "Never push to main without asking.", "anew"),
        ("Use mocks in tests.", "Do not use mocks in integration tests.", "other"),
    ],
)  # fmt: skip
def test_what_a_note_is_to_another(new: str, old: str, answer: str) -> None:
    assert restates(new, old) == answer


def said_in(project: Project, number: int, text: str) -> Path:
    lines = [{**HEAD, "id": f"n{number}"}, {"type": "message", "role": "user", "text": text}]
    return lines_file(project.folder / f"n{number}.jsonl", lines)


def notes_after(project: Project, *said: str) -> list[str]:
    for number, text in enumerate(said):
        review(said_in(project, number, text))
    return [line[2:] for line in project.memory().splitlines() if line.startswith("- ")]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path / "project")
    monkeypatch.chdir(made.folder)
    return made


def test_two_facts_that_sound_alike_are_both_kept(project: Project) -> None:
    one, other = (f"the {name} server listens on port {port}."
                  for name, port in (("staging", 8081), ("production", 8082)))  # fmt: skip
    assert len(notes_after(project, f"Remember: {one}", f"Remember: {other}")) == 2


def test_a_new_word_on_the_same_thing_takes_the_place_of_the_old(project: Project) -> None:
    notes = notes_after(project, "Remember: we use npm here.", "Remember: we use pnpm here.")
    assert notes == ["We use pnpm here."]


def test_in_one_session_too() -> None:
    told = Story().says("remember that the billing service runs on port 8081")
    told.says("ok", "assistant").says("remember that the shipping service runs on port 8082")
    assert len(texts(told)) == 2


@pytest.mark.parametrize(
    ("first", "then", "notes"),
    [
        ("Remember: use tabs for indentation.",
         "Actually no, use four spaces for indentation from now on.",
         ["Use four spaces for indentation from now on."]),
        ("Remember: commit messages are in English.",
         "Actually scratch that, no need to remember it.", []),
        ("Always run the tests with pytest.",
         "Forget that, always run the tests with make test.",
         ["Always run the tests with make test."]),
        ("Remember: commit messages are in English.", "never mind that", []),
        ("Remember: commit messages are in English.", "forget it, I'll do it myself",
         ["Commit messages are in English."]),
        ("Remember: the host is db1.", "forget that, the host is db2.", ["The host is db2."]),
        ("Remember: use tabs for indentation.", "forget what I said about tabs", []),
        ("Remember: use tabs for indentation.", "I take that back, spaces are fine",
         ["Spaces are fine."]),
        ("from now on never push to main", "actually never push tags either",
         ["Never push to main.", "Never push tags either."]),
        ("from now on, keep answers short", "actually, from now on keep the changelog short",
         ["Keep answers short.", "Keep the changelog short."]),
        ("ok", "from now on use 4 spaces. Scratch that, use 2 spaces from now on",
         ["Use 2 spaces from now on."]),
    ],
)  # fmt: skip
def test_later_words_overrule_earlier_ones(first: str, then: str, notes: list[str]) -> None:
    assert texts(story().runs("ls").says(first).runs("ls").says(then)) == notes


def test_only_what_is_meant_is_taken_back() -> None:
    told = story().runs("ls").says("Remember: ids are strings here.").runs("ls")
    told.says("Remember: commit messages are in English.").runs("ls")
    assert texts(told.says("forget that, commit messages are in German")) == [
        "Ids are strings here.",
        "Commit messages are in German.",
    ]
    assert texts(story().runs("ls").says("Remember: use tabs.").says("forget this file")) != []


def test_praise_is_no_order() -> None:
    assert texts(story().runs("ls").says("Impressive as always.")) == []


def test_a_misspelt_program_is_no_lesson() -> None:
    told = story().runs("mkae test", "bash: mkae: command not found", 127)
    assert texts(told.runs("make test", "3 passed")) == []


@pytest.mark.parametrize(
    ("first", "again", "note"),
    [
        ("no, use single quotes", "no, again: use single quotes, not double",
         "Use single quotes, not double."),
        ("please run tests with make test", "I told you to run tests with make test",
         "Run tests with make test."),
        ("the banner goes below", "as i said, the banner goes below the list",
         "The banner goes below the list."),
    ],
)  # fmt: skip
def test_a_correction_that_comes_back_and_says_so(first: str, again: str, note: str) -> None:
    assert texts(story().runs("ls").says(again)) in ([], [note])
    assert texts(story().runs("ls").says(first).runs("ls").says(again)) == [note]


def test_that_something_was_said_is_not_that_it_was_this() -> None:
    told = story().runs("ls").says("I asked you about the export").runs("ls")
    assert texts(told.says("again, look at the import")) == []


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("the login button is broken", "I told you the login button is broken"),
        ("how does the parser work?", "I asked you how the parser works"),
        ("add a retry to the client", "again, add a retry to the client"),
        ("rename foo to bar", "I asked you to rename foo to bar, not baz"),
        ("I told my manager we would ship tomorrow", "I told my manager we would ship on friday"),
        ("run the server on 8081 for this test",
         "I told you, run the server on 8081 for this test"),
    ],
)  # fmt: skip
def test_a_request_that_is_made_again_is_still_one(first: str, again: str) -> None:
    assert texts(story().runs("ls").says(first).says("ok", "assistant").says(again)) == []


def test_what_was_told_before_is_told_without_that() -> None:
    told = story().runs("ls").says("don't add comments to the code").runs("ls")
    told.says("I told you not to add comments to the code")
    assert texts(told) == ["Do not add comments to the code."]
    told = story().runs("ls").says("as I said before, we never use mocks in this repo")
    assert texts(told) == ["We never use mocks in this repo."]
