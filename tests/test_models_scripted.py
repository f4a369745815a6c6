"""The scripted model: what tests, demos and CI ask instead of a server."""

import json
import time

import pytest

from agentlearn.errors import BadInput
from agentlearn.models.choose import choose_model
from agentlearn.models.model import ModelFailed, Reply, Said, ToolCall, Usage
from agentlearn.models.scripted import ScriptedModel, ScriptedReply, read_script
from tests.files import lines_file

HELLO = [Said("user", "hello")]


def test_replies_come_in_order_and_what_was_asked_is_kept(tmp_path):
    path = lines_file(
        tmp_path / "replies.jsonl",
        [
            {
                "text": "Looking.",
                "calls": [
                    {"name": "skill_view", "arguments": {"name": "größe"}},
                    {"name": "skill_view", "arguments": "{broken"},
                    {"name": "skill_list"},
                ],
                "usage": {"input_tokens": 7, "output_tokens": 3},
            },
            {"text": "Done.", "finish": "length"},
        ],
    )
    model = choose_model(f"scripted:{path}")
    assert model.name == "scripted:replies.jsonl"
    assert model.ask(HELLO) == Reply(
        "Looking.",
        (
            ToolCall("call_1", "skill_view", '{"name": "größe"}'),
            ToolCall("call_2", "skill_view", "{broken"),
            ToolCall("call_3", "skill_list", "{}"),
        ),
        Usage(7, 3),
        "tool_calls",
    )
    more = [*HELLO, Said("tool", "an answer", call_id="call_1")]
    assert model.ask(more) == Reply("Done.", (), Usage(), "length")
    assert isinstance(model, ScriptedModel)
    assert model.asked == [HELLO, more]


def test_what_was_asked_is_kept_as_it_was():
    model = ScriptedModel([{}, {}])
    messages = list(HELLO)
    model.ask(messages)
    messages.append(Said("user", "more"))
    model.ask(messages)
    assert [len(asked) for asked in model.asked] == [1, 2]


def test_ids_of_calls_are_never_the_same():
    model = ScriptedModel([{"calls": [{"name": "a"}]}, {"calls": [{"name": "a"}]}])
    assert model.ask(HELLO).calls[0].id != model.ask(HELLO).calls[0].id


def test_a_script_that_runs_dry_says_so():
    model = ScriptedModel([{"text": "only"}])
    model.ask(HELLO)
    with pytest.raises(ModelFailed) as failed:
        model.ask(HELLO)
    assert failed.value.message == "the script has no reply left, it was asked 2 times"
    assert failed.value.exit_code == 4


def test_a_reply_may_be_a_failure_or_come_late():
    model = ScriptedModel([{"fail": "the server is gone"}, {"text": "late", "sleep_seconds": 0.2}])
    with pytest.raises(ModelFailed, match="the server is gone"):
        model.ask(HELLO)
    began = time.monotonic()
    assert model.ask(HELLO).text == "late"
    assert time.monotonic() - began >= 0.2


def test_a_reply_with_a_pattern_waits_for_what_it_answers():
    model = ScriptedModel(
        [
            {"match": "^error: .*duplicate", "text": "I leave it."},
            {"text": "first"},
            {"text": "second"},
        ]
    )
    assert model.ask(HELLO).text == "first"
    assert model.ask([*HELLO, Said("tool", "error: a near-duplicate")]).text == "I leave it."
    assert model.ask([*HELLO, Said("tool", "error: a near-duplicate")]).text == "second"
    model = ScriptedModel([{"match": "never", "text": "x"}])
    with pytest.raises(ModelFailed, match="no reply that fits, it was asked once"):
        model.ask(HELLO)


def test_replies_in_yaml(tmp_path):
    path = tmp_path / "replies.yaml"
    path.write_text(
        "# a comment\n"
        "- text: |\n    two\n    lines\n"
        "- calls:\n  - name: memory\n    arguments: {action: add, target: USER}\n"
    )
    model = read_script(path)
    assert model.ask(HELLO).text == "two\nlines\n"
    assert json.loads(model.ask(HELLO).calls[0].arguments) == {"action": "add", "target": "USER"}


def test_replies_in_one_json_document(tmp_path):
    path = tmp_path / "replies.json"
    path.write_text(json.dumps([{"text": "a"}, {"text": "b"}], indent=1))
    assert [reply.text for reply in read_script(path).left] == ["a", "b"]


def test_a_script_is_found_in_the_home_folder(own_home):
    lines_file(own_home / "replies.jsonl", [{"text": "a"}])
    assert choose_model("scripted:~/replies.jsonl").ask(HELLO).text == "a"


@pytest.mark.parametrize(
    ("name", "text", "line", "why"),
    [
        ("a.jsonl", '{"text": "fine"}\n\n{"text": \n', 3, "no JSON"),
        ("a.jsonl", '{"text": "fine"}\n{"txet": "x"}\n', 2, "unknown field `txet`"),
        ("a.jsonl", '["text"]\n', 1, "Expected `object`"),
        ("a.jsonl", '{"calls": [{"arguments": {}}]}\n', 1, "missing required field `name`"),
        ("a.jsonl", '{"match": "(" }\n', 1, "match is no pattern"),
        ("a.jsonl", '{"sleep_seconds": -1}\n', 1, "sleep_seconds is from 0"),
        ("a.jsonl", "[" * 100_000, 1, "no JSON"),
        ("a.yaml", "- text: fine\n- text: [\n", 3, "no YAML"),
        ("a.yaml", "- text: fine\n\n- txet: x\n", 3, "unknown field `txet`"),
        ("a.yaml", "text: fine\n", 1, "no list of replies"),
        ("a.yaml", "- !!python/object/apply:os.getcwd []\n", 1, "no YAML"),
    ],
)
def test_a_bad_script_is_told_with_its_line(tmp_path, name, text, line, why):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadInput) as bad:
        read_script(path)
    assert f"line {line}:" in bad.value.message and why in bad.value.message
    assert "\n" not in bad.value.message
    assert bad.value.exit_code == 2


def test_a_script_that_cannot_be_read_is_told(tmp_path):
    with pytest.raises(BadInput, match="No such file"):
        read_script(tmp_path / "missing.jsonl")
    (tmp_path / "odd.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="not UTF-8"):
        read_script(tmp_path / "odd.jsonl")


def test_an_empty_script_has_no_reply_from_the_start(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(ModelFailed, match="asked once"):
        read_script(tmp_path / "empty.jsonl").ask(HELLO)


def test_replies_can_be_values():
    assert ScriptedModel([ScriptedReply(text="a value")]).ask(HELLO).text == "a value"
