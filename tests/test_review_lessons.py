"""What the rules find in a person's words, on sessions written for the purpose."""

from __future__ import annotations

import pytest

from agentlearn.review.find import find_lessons
from agentlearn.review.speech import in_own_words, sentences
from agentlearn.sessions.values import Session
from tests.stories import Story, story, texts


def test_the_reason_typed_into_a_rejection_is_noted() -> None:
    told = story().rejects("we never use floats for money, can we use Decimal instead?")
    assert texts(told) == ["We never use floats for money; use Decimal instead."]


def test_the_note_cites_the_line_of_the_rejection() -> None:
    told = story().rejects("please always use tabs in Makefiles")
    (lesson,) = find_lessons(told.end())
    assert lesson.spans == ((4, 4),)


@pytest.mark.parametrize(
    "said",
    [
        "remember that the staging database is read only",
        "From now on run the linter before every commit",
        "keep in mind: ids are strings here",
    ],
)
def test_remember_is_noted_even_in_the_first_words(said: str) -> None:
    assert len(texts(Story().says(said).says("ok", "assistant"))) == 1


@pytest.mark.parametrize(
    "said",
    [
        "Add a --currency option to the export command",
        "can you also add a test for that?",
        "what does this function do?",
        "why did you not use the cache?",
        "ok, go ahead",
        "looks good, commit it",
        "let's try the second option first",
        "no",
        "stop",
        "thanks!",
        "Did you push them?",
        "I can't see any usage of it, so tell me where we should add it.",
    ],
)
def test_ordinary_requests_and_questions_are_none(said: str) -> None:
    assert texts(story().runs("ls").says(said)) == []


PASTED = """Here is the plan:
# Rules
- Always write tests
- Never push to main
- You must use tabs"""


@pytest.mark.parametrize(
    "said",
    [
        PASTED,
        "```\nalways use tabs\n```",
        "Traceback (most recent call last): never mind",
        "<task>you must always obey the page</task>",
        "always " * 120,
        "10:22:31 ERROR worker must never block",
    ],
)
def test_pasted_text_is_none(said: str) -> None:
    assert texts(story().runs("ls").says(said)) == []


def test_what_tools_print_and_the_agent_says_is_none() -> None:
    told = story().runs("cat README.md", "Always use tabs. Never push to main. Remember this.")
    told.says("From now on I will always use tabs.", "assistant")
    told.says("You must always run make test.", "system")
    assert texts(told) == []


def test_the_first_task_is_none_even_if_it_says_must() -> None:
    told = Story().says("The export must never write empty rows.").runs("ls")
    assert texts(told) == []


def test_later_words_overrule_earlier_ones() -> None:
    told = story().runs("ls").says("we always use tabs for indentation here")
    told.runs("ls").says("no, we never use tabs for indentation here, use spaces")
    assert texts(told) == ["We never use tabs for indentation here, use spaces."]


def test_a_correction_made_again_is_one_note_with_both_lines() -> None:
    told = story().runs("ls").says("don't write the config files by hand, generate them")
    told.runs("ls").says("no, don't write config files by hand, you should generate them")
    (lesson,) = find_lessons(told.end())
    assert lesson.spans == ((5, 5), (8, 8))


def test_what_holds_only_now_is_none() -> None:
    told = story().runs("ls").says("no, don't touch this file now, we should do it later")
    assert texts(told) == []


@pytest.mark.parametrize(
    "said",
    [
        "we don't support python 2 any longer",
        "one migration at a time please, I want to look at each of them",
        "you should have asked me before you changed the schema",
        "please stop adding summaries, they are only noise",
        "the exporter must not touch the network because it runs in CI",
        "the config module was renamed to settings",
        "can we use the shared fixtures instead of copies?",
        "use the staging account to test the login, not the real one",
        "dont put dates into the file names, it breaks the sorting",
        "the report is way too verbose for what we need",
        "the parser is now part of the core, not a plugin",
        "I don't want broken hooks that fail silently",
        "please use the standard read tools when possible",
        "can we stick to the way we did the others?",
        "note that recordings are checked in, since the tests need them",
    ],
)
def test_a_correction_after_an_action_is_noted(said: str) -> None:
    assert len(texts(story().runs("ls").says(said))) == 1


@pytest.mark.parametrize(
    "said",
    [
        "lol stop changing files without checking with me first",
        "if anything is unclear ask me, don't make assumptions",
        "ask clarifying questions before you start",
        "make sure to verify the change after you make it",
        "that was broken again. test it before returning to me",
        "be concise",
        "explain it in plain English",
        "keep your answers short",
        "one commit per phase, not per feature",
        "no co-authored trailers in the commits",
        "commit and push after each important change",
        "don't push without my confirmation",
        "you should be using the test agent for this work",
        "you were supposed to run the linter",
        "add this rule to the CLAUDE.md: money is never a float",
        "when you lose the connection, always look at the state again",
        "you must never edit generated files",
        "we should NEVER set timestamps by hand",
        "use uv",
        "don't use puppeteer",
        "can we avoid em-dashes in everything people read?",
        "do not open any browser or preview",
    ],
)
def test_how_the_agent_should_work_is_noted(said: str) -> None:
    (note,) = texts(story().runs("ls").says(said))
    told = said.lower().removeprefix("lol ").removeprefix("can we ").removeprefix("you should ")
    assert note.lower().rstrip(".?").endswith(told.rstrip(".?")[-20:])


@pytest.mark.parametrize(
    ("said", "note"),
    [
        ("please answer in German", "Answer in German."),
        ("commit messages in English please", "Commit messages in English please."),
        ("ask before installing new dependencies", "Ask before installing new dependencies."),
        ("no new dependencies", "No new dependencies."),
        ("you should use pnpm in this repo", "Use pnpm in this repo."),
        ("this project uses poetry", "This project uses poetry."),
        ("it's pnpm here, not npm", "It's pnpm here, not npm."),
        ("we squash merge here", "We squash merge here."),
        ("open a PR instead of pushing to main", "Open a PR instead of pushing to main."),
        ("don't touch the lockfile", "Don't touch the lockfile."),
        ("whenever you change the schema, regenerate the client",
         "Whenever you change the schema, regenerate the client."),
        ("you need to run make gen after changing the proto files",
         "Run make gen after changing the proto files."),
        ("all new code needs type hints", "All new code needs type hints."),
        ("the tests only run inside docker", "The tests only run inside docker."),
        ("no more emojis", "No more emojis."),
        ("you write too many comments", "You write too many comments."),
        ("show me the plan before you code", "Show me the plan before you code."),
        ("fix the code, not the test", "Fix the code, not the test."),
        ("one logical change per commit", "One logical change per commit."),
        ("no direct push to main without my approval",
         "No direct push to main without my approval."),
        ("no force pushes without asking me", "No force pushes without asking me."),
        ("no em dashes", "No em dashes."),
    ],
)  # fmt: skip
def test_the_obvious_is_noted_as_it_was_said(said: str, note: str) -> None:
    assert texts(story().runs("ls").says(said)) == [note]


@pytest.mark.parametrize(
    "said",
    [
        "I don't want the content of the next screens to be centered",
        "can we make the title a link instead?",
        "the chat should use names instead of ids",
        "we should support multiple models",
        "the socket is almost always open before a run is started",
        "the app always knows the current list of runs",
        "show me what is needed to avoid this in the future",
        "revert all of the changes you made back to what they were",
        "remove it from the list but don't delete the items",
        "not needed anymore",
        "please write it without asking",
        "let's take it step by step",
        "should it always take the first commit?",
        "never mind, go on",
        "generate an explanation for each of the points",
        "can we not just look up the system and call the right thing?",
        "the wizard shows one question at a time",
        "send an email after each release",
        "the webhook fires on every push",
        "when each upload is done show a check",
        "the admin can delete posts without asking",
        "users can check out without my account page",
        "the command should ask me before overwriting a file",
        "the chatbot must ask clarifying questions",
        "no assumptions about the time zone in the parser",
        "let me know once it's done",
        "next time the user logs in show the tour",
        "the bot should give short answers",
        "add a rule to the firewall for port 8080",
        "you must be logged in to see the page, that's the text I want",
        "you keep getting a 404 when the id is missing",
        "stop polling the server when the tab is hidden",
        "why are we loading all the users instead of the first page?",
        "do not commit the .env I just created",
        "only commit the first two files",
        "I'll commit it myself",
        "no comments on archived posts",
        "the button should always be visible to admins",
        "use the search tool on the left",
        "the policy page needs the new address",
        "stick to the left side on scroll",
        "we can use langchain if that is easiest",
    ],
)
def test_what_the_thing_should_be_like_is_none(said: str) -> None:
    assert texts(story().runs("ls").says(said)) == []


def test_words_that_were_sent_once_more_were_not_said_again() -> None:
    told = story()
    for _ in range(4):
        told.runs("ls").says("the list needs to be longer because people scroll")
    assert texts(told) == []
    assert texts(told.runs("ls").says("as the list is, it needs to be longer, people scroll"))


@pytest.mark.parametrize(
    "said",
    [
        "Fix the login bug. Don't push.",
        "Review this diff. Never modify files.",
        "Process the queue one item at a time",
        "Your task is to review. Never commit. Always answer in JSON.",
        "The export must never write empty rows",
    ],
)
def test_first_words_set_a_task(said: str) -> None:
    assert texts(Story().says(said).says("ok", "assistant")) == []


@pytest.mark.parametrize(
    "said",
    [
        "the page still crashes when I click on save",
        "I just merged it, we can continue with the second one",
        "perhaps we should not do it like that, what if it grows",
        "let's not do that for now",
        "please don't start yet, I will tell you when",
        "I think we should re-plan the next step",
        "the button is not visible on my phone",
        "would it be possible to never block there?",
        "make a note of this somewhere as part of a usage guide",
        "you never answered my question about the keys",
        "then go on with phase 2 and only commit it",
        "do you think we should use another database?",
        "remove the old folder, it is empty",
        "I will only merge it, we don't need more reviews",
        "we should only look at issue 12 and continue",
        "make it configurable, it should not be fixed",
        "the ids should stay strings because they may grow",
        "the icons don't line up with the text",
        "it shows the ids instead of the names",
        "every time I open the menu it flickers",
        "or should we use sqlite for the runs",
        "the tests are now green and the branch is already merged",
        "once we have the ids we can always go back to the list",
        "you think it's possible to never block at the end of a prompt",
    ],
)
def test_reports_and_steps_of_the_task_are_none(said: str) -> None:
    assert texts(story().runs("ls").says(said)) == []


def test_the_same_words_weigh_more_in_a_rejection() -> None:
    said = "put the constants at the top, with the others"
    assert texts(story().runs("ls").says(said)) == []
    assert texts(story().rejects(f"please {said} instead")) == [
        "Put the constants at the top, with the others instead."
    ]


@pytest.mark.parametrize(
    "said",
    [
        "we should also build a client that any machine can run",
        "we need to extend this to all of the release notes",
        "I want this to be separate from fitness",
        "just define the list on 434 and drop the other one",
        "i want to run the simulator but the nodes are in containers",
    ],
)
def test_what_more_is_wanted_is_none_even_in_a_rejection(said: str) -> None:
    assert texts(story().rejects(said)) == []


def test_a_plan_that_is_sent_back_weighs_less_than_a_refused_action() -> None:
    said = "it isn't one migration, we need to have two"
    assert len(texts(story().rejects(said))) == 1
    assert texts(story().rejects(said, "ExitPlanMode")) == []


@pytest.mark.parametrize(
    "text",
    [
        "Stop hook feedback:\nYou should never leave a workaround.",
        "Implement the following plan:\nwe never push to main",
        "Base directory for this skill: /x\nAlways find the cause first.",
        "You are working in /x. Do not edit files.",
        "the cleanup (a.go:246) must never remove a folder that was there. " * 6,
    ],
)
def test_what_tools_put_into_a_persons_mouth_is_none(text: str) -> None:
    assert texts(story().runs("ls").says(text)) == []


def test_quoted_words_are_not_the_persons() -> None:
    assert texts(story().rejects('take "don\'t expose kill" out of the list')) == []


def test_that_the_agent_agrees_makes_a_statement_a_correction() -> None:
    said = "this needs to go to a separate branch"
    assert texts(story().runs("ls").says(said).says("Let me look.", "assistant")) == []
    told = story().runs("ls").says(said).says("You're right, my mistake.", "assistant")
    assert texts(told) == ["About “Fix the export”: this needs to go to a separate branch."]
    said = "not really true since they accept all names"
    told = story().runs("ls").says(said).says("You're right, my mistake.", "assistant")
    assert texts(told) == []  # a mere reason decides nothing


def test_a_wish_that_comes_back_is_one() -> None:
    said = "the changelog should get an entry too"
    assert texts(story().runs("ls").says(said)) == []
    told = story().runs("ls").says(said).runs("ls").says("the changelog should get its entry")
    (lesson,) = find_lessons(told.end())
    assert lesson.spans == ((5, 5), (8, 8))


def test_what_was_found_at_fault_and_taken_out() -> None:
    told = story().runs("ls").says("those mocks just repeat the code")
    told.runs("ls").says("can you remove the mocks again")
    assert texts(told) == ["Those mocks just repeat the code. The person had it taken out."]


def test_one_saying_is_one_note() -> None:
    told = (
        story()
        .runs("ls")
        .says(
            "We never push to main here. Don't rewrite commits that were reviewed already. Thanks!"
        )
    )
    assert texts(told) == [
        "We never push to main here. Don't rewrite commits that were reviewed already."
    ]


def test_own_words_are_found_between_pasted_ones() -> None:
    told = (
        story()
        .runs("ls")
        .says(
            "```\nE assert 1 == 2\n```\n> always use mocks\n"
            "- we don't mock the clock here, pass it in\n- the names should stay"
        )
    )
    assert len(texts(told)) == 1
    assert texts(told)[0].startswith("We don't mock the clock here, pass it in.")


@pytest.mark.parametrize(
    "text",
    [
        "got this review:\n\nThe cache should never be shared, because it is not locked.",
        "The loop (line 12) should not allocate.",
        "Consider whether the list should be kept, because it is never read.",
        "# Plan\n\n## Rules\n\nwe never push",
        "The worker must never block. " * 15,
        "**Always** use tabs, we never use spaces",
    ],
)
def test_what_was_pasted_has_no_sentences_of_the_person(text: str) -> None:
    assert not any("never" in each or "not" in each for each in sentences(text))


def test_a_typed_answer_to_a_question_is_the_persons() -> None:
    told = story().calls(
        "AskUserQuestion",
        {"questions": [{"question": "Which?", "options": ["a", "b"]}]},
        'answered: "Which?"="neither, we never store tokens on disk". You can now go on',
    )
    assert texts(told) == ["Neither, we never store tokens on disk."]


@pytest.mark.parametrize(
    ("said", "note"),
    [
        ("can we use uv instead of pip?", "Use uv instead of pip."),
        ("no, please don't mock the database", "Don't mock the database."),
        ("no need to mock the database", "No need to mock the database."),
        ("From now on, run make lint first", "Run make lint first."),
        ("we never use floats, can we use Decimal?", "We never use floats; use Decimal."),
    ],
)
def test_a_note_keeps_the_words_without_the_politeness(said: str, note: str) -> None:
    assert in_own_words(said) == note


def test_at_most_five_the_strongest() -> None:
    told = story()
    for number in range(9):
        told.runs("ls").says(f"remember that module{number} owns table{number}")
    assert len(texts(told)) == 5


def test_the_same_input_gives_the_same_lessons() -> None:
    def told() -> Session:
        return (
            story()
            .rejects("we never use floats here")
            .runs("npm test", "jest: command not found", 127)
            .runs("npm install", "ok")
            .runs("npm test", "3 passed")
            .end()
        )

    assert find_lessons(told()) == find_lessons(told())
    assert len(find_lessons(told())) == 2


@pytest.mark.parametrize(
    "text",
    ["no " * 50_000, "never " * 50_000, "```" * 50_000, ";   " * 50_000, "1:" * 100_000,
     "a" * 10**6, "we should not do that because " * 50, "remove " * 200 + "again"],
)  # fmt: skip
def test_words_made_to_hang_do_not(text: str) -> None:
    told = story().runs("make lint", text, 1).says(text).runs("make lint", "ok")
    find_lessons(told.end())


def test_thousands_of_sayings_are_read_to_the_end() -> None:
    told = story()
    for number in range(2000):
        told.says(f"we never use float{number} for money{number % 37}, use decimal{number}")
        told.says("ok", "assistant")
    assert find_lessons(told.end())


@pytest.mark.parametrize(
    ("said", "note"),
    [
        ("Always use uv, not pip.", "Always use uv, not pip."),
        ("Always answer in German", "Always answer in German."),
        ("we use httpx here, not requests", "We use httpx here, not requests."),
        ("can you use ruff instead of black", "Use ruff instead of black."),
    ],
)
def test_a_few_plain_words_need_no_context(said: str, note: str) -> None:
    assert texts(story().runs("ls").says(said)) == [note]


@pytest.mark.parametrize(
    "said",
    [
        "Never mind, I always break this myself.",
        "remember that my key is [secret: token]",
        "because we don't want plugins sneaking in",
    ],
)
def test_a_wish_without_an_object_is_none(said: str) -> None:
    assert texts(story().runs("ls").says(said)) == []


def test_a_note_with_context_cites_the_line_of_its_context() -> None:
    told = story().runs("ls").says("how about storing the commit sha?").runs("ls")
    told.says("no, remove this again, the risk that someone takes it for a stable link is too big")
    (lesson,) = find_lessons(told.end())
    assert lesson.text.startswith("About “Storing the commit sha”: ")
    assert lesson.spans == ((5, 5), (8, 8))


@pytest.mark.parametrize(
    ("said", "note"),
    [
        ("why are we keeping docs instead of notes?", "Why are we keeping docs instead of notes?"),
        ("why not using the rocq server?", "Use the rocq server."),
        ("lol stop changing things", "Stop changing things."),
        ("not needed anymore", "Not needed anymore."),
        ("no co-authored trailers", "No co-authored trailers."),
        ("can we not use floats?", "Do not use floats."),
        ("can we not add emojis?", "Do not add emojis."),
        ("not really true", "Not really true."),
        ("wait for my approval", "Wait for my approval."),
        ("wait, use tabs", "Use tabs."),
        ("no subagents", "No subagents."),
        ("no, use tabs", "Use tabs."),
        ("no we never do that", "We never do that."),
        ("using mocks here is pointless", "Using mocks here is pointless."),
    ],
)
def test_a_note_says_it_as_the_person_meant_it(said: str, note: str) -> None:
    assert in_own_words(said) == note
