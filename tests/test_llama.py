"""The client against a real model server: llama.cpp, with a model too small to be wise.

What is tested is the protocol: that requests are understood, calls and usage come back, and what
the model did wrong can be sent back to it. `make llama` installs what it needs.
"""

import json
import subprocess
import sys

import pytest

from agentlearn.models.model import ModelFailed, Said, Tool, ToolCall
from agentlearn.models.openai_client import OpenAIModel
from tests.llama import llama_server

pytestmark = pytest.mark.llama

TOOLS = [
    Tool("skill_list", "Lists the skills.", {"type": "object", "properties": {}}),
    Tool(
        "skill_view",
        "Shows a skill.",
        {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    ),
]
CONVERSATION = [Said("system", "You keep skills."), Said("user", "Which skills are there?")]


@pytest.fixture(scope="module")
def server():
    with llama_server() as url:
        yield url


@pytest.fixture
def model(server, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return OpenAIModel("smollm2", base_url=server)


def test_a_model_calls_a_tool_and_answers_its_result(model):
    asked = model.ask(CONVERSATION, TOOLS, 64)
    assert asked.usage.input_tokens > 100 and asked.usage.output_tokens > 0
    assert asked.finish == "tool_calls"
    (call,) = asked.calls
    assert (call.name, json.loads(call.arguments)) == ("skill_list", {})

    result = Said("tool", "There are no skills.", call_id=call.id)
    answered = model.ask(
        [*CONVERSATION, Said("assistant", asked.text, asked.calls), result], TOOLS, 32
    )
    assert answered.text or answered.calls
    assert answered.usage.input_tokens > asked.usage.input_tokens


def test_a_model_without_tools_answers_in_words(model):
    reply = model.ask([Said("user", "What is the capital of France?")], [], 24)
    assert "Paris" in reply.text
    assert reply.calls == ()


def test_a_reply_is_cut_where_it_was_told_to(model):
    reply = model.ask([Said("user", "Tell me a long story.")], [], 5)
    assert (reply.finish, reply.usage.output_tokens) == ("length", 5)


def test_what_the_model_did_wrong_can_be_sent_back(model):
    wrong = (ToolCall("c1", "../../x", "{broken"), ToolCall("c2", "skill_view", '{"name": 7}'))
    conversation = [
        *CONVERSATION,
        Said("assistant", "", wrong),
        Said("tool", "error: there is no tool '../../x'", call_id="c1"),
        Said("tool", "error: name is no text", call_id="c2"),
    ]
    assert model.ask(conversation, TOOLS, 16).usage.output_tokens > 0


def test_a_prompt_that_is_too_long_is_refused_with_the_numbers(model):
    with pytest.raises(ModelFailed, match=r"refused the request \(400\): .*8192"):
        model.ask([Said("user", "word " * 10_000)], [], 8)


def test_the_server_ends_with_the_test_that_started_it():
    """Killed in the middle, the tests leave no server behind."""
    code = (
        "import os, sys; from tests.llama import llama_server\n"
        "with llama_server() as url: print(url, flush=True); os._exit(9)"
    )
    started = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert started.returncode == 9
    with pytest.raises(ModelFailed, match="cannot be reached"):
        OpenAIModel("smollm2", base_url=started.stdout.strip(), backoff_seconds=1).ask(CONVERSATION)
