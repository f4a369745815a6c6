"""The client against a server on this machine that misbehaves on purpose."""

import gzip
import json
import sys
import time
from email.utils import formatdate
from itertools import pairwise
from typing import Any

import pytest

from agentlearn.errors import BadInput
from agentlearn.models.choose import choose_model
from agentlearn.models.model import ModelFailed, Reply, Said, Tool, ToolCall, Usage
from agentlearn.models.openai_client import OpenAIModel
from tests.model_server import (
    Behaviour,
    ModelServer,
    answer,
    called,
    drip,
    flood,
    half_a_body,
    half_without_length,
    hang,
    hang_up,
    model_server,
    sent,
    status,
)

KEY = "sk-proj-Zq7Lw2Xv9Rt4Yb6Nm1Kc8Jd3Hf5Gs0"
HELLO = [Said("system", "Be kind."), Said("user", "hello")]
TOOL = Tool("skill_view", "Shows a skill.", {"type": "object", "properties": {"name": {}}})
FINE = answer("hi")
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def own_key(monkeypatch):
    for name in (*PROXIES, *map(str.upper, PROXIES), "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def model_at(server: ModelServer, name: str = "small", **options: Any) -> OpenAIModel:
    return OpenAIModel(name, base_url=server.url, **{"backoff_seconds": 0.001, **options})


def asked(*behaviours: Behaviour, **options: Any) -> Reply:
    """The reply of a server that behaves like this."""
    with model_server(*behaviours) as server:
        return model_at(server, **options).ask(HELLO, [TOOL])


def failure(*behaviours: Behaviour, models: Behaviour | None = None, **options: Any) -> ModelFailed:
    """How it fails, and that nothing of the key is in it."""
    with model_server(*behaviours, models=models) as server:
        with pytest.raises(ModelFailed) as failed:
            model_at(server, **options).ask(HELLO, [TOOL])
        error = failed.value
        text = f"{error.message} {error.hint}"
        assert not [start for start in range(len(KEY) - 5) if KEY[start : start + 6] in text], text
        assert "\n" not in text and text.isprintable()
        assert error.exit_code == 4
        error.asked = len(server.chats)  # type: ignore[attr-defined]
        error.host = f"127.0.0.1:{server.server_port}"  # type: ignore[attr-defined]
    return error


def test_messages_and_tools_go_out_and_a_reply_comes_in():
    calls = (ToolCall("c1", "skill_view", '{"name": "x"}'),)
    conversation = [
        *HELLO,
        Said("assistant", "", calls),
        Said("tool", "no such skill", call_id="c1"),
        Said("assistant", "Then not."),
    ]
    with model_server(answer("Done.")) as server:
        reply = model_at(server).ask(conversation, [TOOL], 50)
    assert reply == Reply("Done.", (), Usage(11, 5), "stop")
    assert server.asked[0].path == "/v1/chat/completions"
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.chats == [
        {
            "model": "small",
            "max_tokens": 50,
            "messages": [
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": "hello"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "skill_view", "arguments": '{"name": "x"}'},
                        }
                    ],
                },
                {"role": "tool", "tool_call_id": "c1", "content": "no such skill"},
                {"role": "assistant", "content": "Then not."},
            ],
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "skill_view",
                        "description": "Shows a skill.",
                        "parameters": {"type": "object", "properties": {"name": {}}},
                    },
                }
            ],
        }
    ]


def test_without_tools_and_limits_nothing_is_said_of_them():
    with model_server(FINE) as server:
        model_at(server).ask(HELLO)
    assert set(server.chats[0]) == {"model", "messages"}


def test_the_environment_tells_which_server(monkeypatch):
    with model_server(FINE) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        model = choose_model("some/model", 5)
        assert (model.name, model.ask(HELLO, []).text) == ("some/model", "hi")


# Replies of all shapes


def test_tool_calls():
    calls = [called("skill_view", '{"name": "x"}'), called("skill_list", "{}", "c2")]
    reply = asked(answer(None, calls, "tool_calls"))
    assert reply == Reply(
        "",
        (ToolCall("c1", "skill_view", '{"name": "x"}'), ToolCall("c2", "skill_list", "{}")),
        Usage(11, 5),
        "tool_calls",
    )


def test_calls_are_handed_on_as_the_model_wrote_them():
    names = ["no_such_tool", "../../x", "", "x" * 500, "a\nb"]
    calls = [called(name, "{broken", f"c{number}") for number, name in enumerate(names)]
    reply = asked(answer(None, calls))
    assert [call.name for call in reply.calls] == names
    assert {call.arguments for call in reply.calls} == {"{broken"}


def test_twenty_calls_at_once():
    calls = [called("skill_view", f'{{"name": "{n}"}}', f"c{n}") for n in range(20)]
    assert [call.id for call in asked(answer(None, calls)).calls] == [f"c{n}" for n in range(20)]


def test_arguments_that_are_no_text():
    odd = [{"name": "größe"}, None, "", [1], 7]
    calls = [called("t", value, f"c{number}") for number, value in enumerate(odd)]
    found = [call.arguments for call in asked(answer(None, calls)).calls]
    assert found == ['{"name": "größe"}', "{}", "{}", "[1]", "7"]


def test_calls_without_ids_get_stable_ones():
    nameless = [called("a", "{}", None), called("b", "{}", ""), called("c", "{}", 7)]
    twice = [called("a", "{}", "same"), called("b", "{}", "same")]
    with model_server(answer(None, [*nameless, *twice])) as server:
        model = model_at(server)
        first = model.ask(HELLO)
        assert first.calls == model.ask(HELLO).calls
        conversation = [*HELLO, Said("assistant", "", first.calls)]
        second = model.ask(conversation)
    ids = [call.id for reply in (first, second) for call in reply.calls]
    assert "same" in ids and len(set(ids)) == len(ids) == 10


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": None}, ""),
        ({"content": ""}, ""),
        ({}, ""),
        ({"content": [{"text": "in "}, {"image": 1}, {"text": "parts"}, 7]}, "in parts"),
        ({"content": None, "refusal": "I will not."}, "I will not."),
        ({"content": 7, "tool_calls": "none"}, ""),
        ({"content": "half \ud83d of a pair"}, "half ? of a pair"),
        ({"content": "x", "tool_calls": None}, "x"),
    ],
)
def test_odd_content(message, text):
    reply = asked(sent({"choices": [{"message": message}]}))
    assert reply == Reply(text, (), Usage(), None)


def test_odd_calls_are_kept_so_that_the_model_hears_of_them():
    reply = asked(answer(None, [None, {}, {"function": {"name": 7}}]))
    assert [(call.name, call.arguments) for call in reply.calls] == [("", "{}")] * 3


@pytest.mark.parametrize("usage", [None, {}, [], {"prompt_tokens": None}, {"prompt_tokens": -3}])
def test_missing_usage(usage):
    assert asked(answer("x", usage=usage)).usage == Usage(0, 0)


def test_a_reply_that_was_cut_says_so():
    reply = asked(answer("half", [called("t", '{"a": "cu')], "length"))
    assert (reply.finish, reply.calls[0].arguments) == ("length", '{"a": "cu')


def test_a_big_and_a_packed_answer():
    text = "x" * 5_000_000
    assert asked(answer(text)).text == text
    packed = gzip.compress(json.dumps({"choices": [{"message": {"content": "hi"}}]}).encode())
    assert asked(sent(packed, headers={"content-encoding": "gzip"})).text == "hi"


@pytest.mark.parametrize("code", [200, 400])
def test_an_answer_without_end_is_not_read_to_its_end(code):
    error = failure(flood(code))
    assert error.message == f"the answer of {error.host} is too big"


# What passes is tried again


@pytest.mark.parametrize(
    "passing",
    [
        status(429),
        status(500),
        status(503),
        status(408),
        sent(b"<h1>502 Bad Gateway</h1>", 502),
        half_a_body,
        half_without_length,
        hang_up,
        sent({"choices": []}),
        sent({"error": {"message": "busy", "code": 503}}),
    ],
    ids=[
        *("429", "500", "503", "408", "a page", "half a body", "half without its length"),
        *("hung up", "no choices", "an error in a 200"),
    ],
)
def test_what_passes_is_tried_again(passing):
    with model_server(passing, passing, FINE) as server:
        assert model_at(server).ask(HELLO, [TOOL]).text == "hi"
    assert len(server.chats) == 3


def test_a_server_is_given_up_after_five_tries():
    error = failure(status(500, "out of memory"))
    assert error.asked == 5
    assert error.message == f"{error.host} failed (500): out of memory (tried 5 times)"
    assert not error.is_final
    error = failure(hang_up)
    assert error.asked == 5
    assert error.message.startswith(f"the connection to {error.host} broke: ")
    assert failure(half_a_body).asked == failure(sent({"choices": []})).asked == 5


def test_pauses_grow():
    with model_server(status(500), status(500), status(500), FINE) as server:
        model_at(server, backoff_seconds=0.2).ask(HELLO)
    pauses = [after.at - before.at for before, after in pairwise(server.asked)]
    assert all(
        pause >= 0.75 * wanted for pause, wanted in zip(pauses, (0.2, 0.4, 0.8), strict=True)
    )


@pytest.mark.parametrize("headers", [{"retry-after": "0.4"}, {"retry-after-ms": "400"}])
def test_the_server_tells_how_long_to_wait(headers):
    with model_server(status(429, headers=headers), FINE) as server:
        began = time.monotonic()
        assert model_at(server).ask(HELLO).text == "hi"
        assert 0.4 <= time.monotonic() - began < 60


def test_a_date_to_wait_for():
    soon = formatdate(time.time() + 2, usegmt=True)
    with model_server(status(429, headers={"retry-after": soon}), FINE) as server:
        began = time.monotonic()
        assert model_at(server).ask(HELLO).text == "hi"
        assert 0.5 < time.monotonic() - began < 60


@pytest.mark.parametrize("value", ["", "soon", "nan", "inf", "-5", "Mon, 99 Foo"])
def test_an_odd_time_to_wait_is_no_reason_to_fail(value):
    with model_server(status(429, headers={"retry-after": value}), FINE) as server:
        assert model_at(server).ask(HELLO).text == "hi"


def test_a_server_that_wants_an_hour_is_not_waited_for():
    error = failure(status(429, "slow down", {"retry-after": "3600"}))
    assert error.asked == 1
    assert error.message == (
        f"{error.host} gets too many requests (429): slow down; it asks to wait 3600 seconds"
    )
    date = formatdate(time.time() + 3600, usegmt=True)
    assert "it asks to wait 3" in failure(status(503, "x", {"retry-after": date})).message


def test_nobody_waits_for_money():
    body = {"error": {"message": "You exceeded your quota.", "code": "insufficient_quota"}}
    error = failure(sent(body, 429))
    assert error.asked == 1 and error.is_final
    assert error.message == f"{error.host} wants to be paid first: You exceeded your quota"


def test_a_server_that_is_not_there():
    with model_server(FINE) as server:
        model = model_at(server)
    began = time.monotonic()
    with pytest.raises(ModelFailed, match=r"cannot be reached: .*refused \(tried 3 times\)"):
        model.ask(HELLO)
    assert time.monotonic() - began < 60


# What hangs


@pytest.mark.parametrize(
    "behaviour", [hang, drip(200), drip(500)], ids=["hang", "drip", "drip 500"]
)
def test_a_server_that_hangs(behaviour):
    began = time.monotonic()
    error = failure(behaviour, timeout_seconds=0.5)
    assert time.monotonic() - began < 60
    assert error.asked == 1
    assert error.message == f"{error.host} did not answer within 0.5 seconds"
    assert "AGENTLEARN_MODEL_TIMEOUT_SECONDS" in (error.hint or "")


# What is refused


@pytest.mark.parametrize("code", [401, 403])
@pytest.mark.parametrize(
    "words",
    [
        f"Incorrect API key provided: {KEY}.",
        f"Incorrect key: {KEY[:10]}*****{KEY[-6:]}, sorry",
        f"no\nsuch 'key={KEY}' \x1b[31mhere",
    ],
)
def test_a_wrong_key_fails_at_once_and_is_not_shown(code, words):
    error = failure(status(code, words))
    assert error.asked == 1 and error.is_final
    assert error.message.startswith(f"{error.host} refused the key ({code})")
    assert error.hint is not None and "OPENAI_API_KEY" in error.hint


def test_a_403_says_what_is_not_allowed():
    error = failure(status(403, "The model needs a contract."))
    assert error.message == f"{error.host} refused the key (403): The model needs a contract"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": f"too long\nby {KEY} half."}}, "too long by [key] half"),
        ({"error": "as a text"}, "as a text"),
        ({"message": "beside it"}, "beside it"),
        ({"detail": "another way"}, "another way"),
        ({"detail": [{"loc": ["body"], "msg": "bad"}]}, '[{"loc": ["body"], "msg": "bad"}]'),
        (b"plain\r\nwords", "plain words"),
        (b"<html><style>b {}</style><h1>Bad</h1></html>", "Bad"),
        ({"error": {"message": "x" * 9999}}, "x" * 299 + "…"),
        (b"<" * 1_000_000, "<" * 299 + "…"),
        (b"", ""),
        ([], ""),
        ({"error": {"message": "\x1b]0;title\x07\u202eodd"}}, "\\u202eodd"),
    ],
)
def test_a_refusal_in_the_words_of_the_server(body, words):
    error = failure(sent(body, 400))
    assert error.asked == 1 and not error.is_final
    assert error.message == f"{error.host} refused the request (400)" + (words and f": {words}")


MODELS = sent({"data": [{"id": "smollm2-135m"}, {"id": "smollm2-360m"}, {"id": "qwen"}, 7, {}]})


def test_a_model_that_is_not_there():
    error = failure(status(404), models=MODELS, name="smolm2")
    assert error.is_final
    assert error.message == f"{error.host} has no model smolm2"
    assert error.hint == "did you mean smollm2-360m, smollm2-135m?"
    error = failure(status(404), models=MODELS, name="zzz")
    assert error.hint == "it has smollm2-135m, smollm2-360m, qwen"
    unknown = sent({"error": {"message": "?", "code": "model_not_found"}}, 400)
    assert failure(unknown, models=MODELS, name="zzz").message.endswith(" has no model zzz")


@pytest.mark.parametrize("models", [status(404), sent(b"no JSON"), hang_up, drip(), MODELS])
def test_a_path_that_is_not_there(models):
    began = time.monotonic()
    error = failure(status(404, "no route"), models=models, name="qwen", timeout_seconds=0.5)
    assert time.monotonic() - began < 60
    assert error.message == f"{error.host} found nothing for the model qwen (404): no route"
    assert error.hint is not None and "/v1" in error.hint


@pytest.mark.parametrize("body", [b"<h1>Welcome</h1>", b"", b"[" * 100_000])
def test_what_is_no_json(body):
    error = failure(sent(body))
    assert error.asked == 1 and error.is_final
    assert error.message.startswith(f"{error.host} did not answer in JSON: ")


def test_an_error_behind_a_good_status():
    error = failure(sent({"error": {"message": "no credit", "code": 402}}))
    assert error.message == f"{error.host} refused the request (402): no credit"
    assert failure(sent({"error": "why not"})).message.endswith("(400): why not")


@pytest.mark.parametrize("code", [301, 302, 307, 308])
def test_nobody_is_followed_with_the_key(code):
    with model_server(FINE) as other:
        error = failure(status(code, headers={"location": other.url + "/chat/completions"}))
        assert error.message == f"{error.host} sends on to 127.0.0.1 ({code})"
        assert other.asked == []
    assert failure(status(302, headers={"location": "http://[bad"})).is_final


def test_servers_that_know_only_the_new_name_of_the_limit():
    old = status(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    with model_server(old, FINE) as server:
        model = model_at(server)
        assert model.ask(HELLO, [], 50).text == "hi"
        model.ask(HELLO, [], 60)
    limits = [
        {key: value for key, value in body.items() if key.startswith("max")}
        for body in server.chats
    ]
    assert limits == [
        {"max_tokens": 50}, {"max_completion_tokens": 50}, {"max_completion_tokens": 60},
    ]  # fmt: skip


# What goes back to a server is stricter than what came from it


def test_the_mistakes_of_a_model_are_not_sent_back_as_they_were():
    calls = (
        ToolCall("c1", "../../x", "{broken"),
        ToolCall("c2", "", '{"a": NaN}'),
        ToolCall("c3", "x" * 99, '{"fine": true}'),
        ToolCall("c4", "deep", "[" * 100_000),
    )
    with model_server(FINE) as server:
        model_at(server).ask([*HELLO, Said("assistant", "", calls), Said("user", "half \ud83d")])
    message, user = server.chats[0]["messages"][2:]
    functions = [call["function"] for call in message["tool_calls"]]
    assert [function["name"] for function in functions] == ["______x", "unnamed", "x" * 64, "deep"]
    arguments = [json.loads(function["arguments"]) for function in functions]
    assert arguments[:3] == [{"not_json": "{broken"}, {"not_json": '{"a": NaN}'}, {"fine": True}]
    assert len(functions[3]["arguments"]) < 3000
    assert user["content"] == "half ?"


# Keys and addresses


def test_without_a_key_nobody_is_asked(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ModelFailed) as failed:
        OpenAIModel("gpt-5")
    assert failed.value.message == "there is no key for api.openai.com: OPENAI_API_KEY is not set"
    assert failed.value.is_final and "export OPENAI_API_KEY" in (failed.value.hint or "")
    with pytest.raises(ModelFailed, match=r"no key for 10\.0\.0\.1:8080"):
        OpenAIModel("x", base_url="http://10.0.0.1:8080/v1")


def test_a_server_on_this_machine_needs_no_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", " ")
    with model_server(FINE, status(401)) as server:
        assert model_at(server).ask(HELLO).text == "hi"
        assert server.asked[0].headers["authorization"] == "Bearer no-key"
        with pytest.raises(ModelFailed, match=r"127\.0\.0\.1:\d+ wants a key$"):
            model_at(server).ask(HELLO)
    for url in ("http://localhost:1/v1", "http://[::1]:8080/v1", "http://127.3.2.1/v1"):
        OpenAIModel("x", base_url=url)


@pytest.mark.parametrize("key", ["sk-abc\ndef", "sk-abc def", "schlüssel", "sk-\x00"])
def test_a_key_that_cannot_be_sent_is_not_shown(key):
    with pytest.raises(ModelFailed, match="OPENAI_API_KEY is no key") as failed:
        OpenAIModel("x", key=key)
    assert key not in f"{failed.value.message} {failed.value.hint}"


@pytest.mark.parametrize(
    "url", ["localhost:8080", "ftp://x/v1", "http://", "http://x:99999/v1", "http://[x/v1", "a\nb"]
)
def test_an_address_that_is_none(url):
    with pytest.raises(ModelFailed, match="OPENAI_BASE_URL is no address"):
        OpenAIModel("x", base_url=url)


def test_a_password_in_an_address_is_not_shown():
    with model_server(hang_up) as server:
        url = server.url.replace("//", "//ann:hunter22@")
        with pytest.raises(ModelFailed) as failed:
            OpenAIModel("x", base_url=url, backoff_seconds=0.001).ask(HELLO)
    assert "hunter22" not in f"{failed.value.message} {failed.value.hint}"


def test_a_host_that_cannot_be():
    model = OpenAIModel("x", base_url=f"http://{'a' * 70}.example/v1", backoff_seconds=0.001)
    with pytest.raises(ModelFailed, match=r"aaa\.example"):
        model.ask(HELLO)


def test_short_keys_hide_no_words():
    words = "x marks the max"
    with model_server(status(400, words)) as server, pytest.raises(ModelFailed) as failed:
        model_at(server, key="x").ask(HELLO)
    assert failed.value.message.endswith(": [key] marks the max")


def test_a_model_needs_a_name():
    with pytest.raises(BadInput, match="name of the model is empty"):
        OpenAIModel(" ")


def test_a_proxy_is_used_as_the_environment_says(monkeypatch):
    with model_server(answer("through the proxy")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.server_port}")
        model = OpenAIModel("x", base_url="http://models.example/v1", backoff_seconds=0.001)
        assert model.ask(HELLO).text == "through the proxy"
        assert proxy.asked[0].path == "http://models.example/v1/chat/completions"


def test_a_proxy_that_cannot_be_used(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks9://127.0.0.1:1")
    with pytest.raises(ModelFailed, match=r"no connection to 127\.0\.0\.1:9 can be made"):
        OpenAIModel("x", base_url="http://127.0.0.1:9/v1").ask(HELLO)


def test_nothing_is_printed(capfd):
    asked(status(500), half_a_body, FINE)
    failure(status(401, f"Incorrect API key provided: {KEY}."))
    assert capfd.readouterr() == ("", "")


def test_choosing_a_model_loads_no_library():
    import subprocess

    code = (
        "import sys, agentlearn.models.choose as c; c.choose_model('x');"
        "sys.exit('openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
