"""OpenAI chat messages in every shape they are kept in."""

from __future__ import annotations

import json

import pytest

from agentlearn.sessions.openai_chat import read_document, read_lines
from agentlearn.sessions.source import Source
from tests.files import SAMPLES, bent, brief, document_file, lines_file, read_all, read_one, sample


def call(id, name, arguments, **more):
    return {
        "id": id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
        **more,
    }


WEATHER = [
    {"role": "system", "content": "Use tools."},
    {"role": "user", "content": "weather in Oslo and Rome?"},
    {
        "role": "assistant",
        "content": "Asking both.",
        "tool_calls": [
            call("c1", "weather", '{"city":"Oslo"}'),
            call("c2", "weather", '{"city":"Rome"}'),
        ],
    },
    {"role": "tool", "tool_call_id": "c2", "content": "18 C"},
    {"role": "tool", "tool_call_id": "c1", "content": "Error: no station"},
    {"role": "assistant", "content": "Rome has 18 C; Oslo is unknown."},
]
WEATHER_ENTRIES = [
    ("system", "Use tools.", 1),
    ("user", "weather in Oslo and Rome?", 2),
    ("assistant", "Asking both.", 3),
    ("call", "c1", "weather", '{"city":"Oslo"}', 3),
    ("call", "c2", "weather", '{"city":"Rome"}', 3),
    ("result", "c2", "18 C", "ok", None, 4),
    ("result", "c1", "Error: no station", "error", None, 5),
    ("assistant", "Rome has 18 C; Oslo is unknown.", 6),
]


def test_one_message_a_line_is_one_session(tmp_path):
    session = read_one(lines_file(tmp_path / "chat.jsonl", WEATHER))
    with Source(tmp_path / "chat.jsonl") as source:
        assert session.id == source.id_from_bytes()
    assert (session.dialect, session.unit) == ("openai-chat", "line")
    assert brief(session) == WEATHER_ENTRIES
    assert session.goal == "weather in Oslo and Rome?"
    assert session.raws == []
    turns = session.turns()
    assert [(turn.lines, turn.observation) for turn in turns] == [
        ((3, 5), "Error: no station"),
        ((3, 4), "18 C"),
        ((6, 6), ""),
    ]
    assert turns[0].action == 'Asking both.\nweather {"city":"Oslo"}'
    assert turns[1].action == 'weather {"city":"Rome"}'
    assert session.outcome == "unknown"


def test_a_list_of_messages_is_one_session(tmp_path):
    session = read_one(document_file(tmp_path / "chat.json", WEATHER))
    assert session.unit == "entry"
    assert brief(session) == WEATHER_ENTRIES
    assert [json.loads(raw) for raw in map(bytes, session.raws)] == WEATHER
    assert "-" not in session.id


def test_an_object_with_messages_is_one_session(tmp_path):
    value = {"messages": WEATHER, "tools": "[]", "model": "m-1", "id": "conv-9"}
    session = read_one(document_file(tmp_path / "chat.json", value))
    assert (session.id, session.model) == ("conv-9", "m-1")
    assert brief(session) == WEATHER_ENTRIES
    assert [json.loads(raw) for raw in map(bytes, session.raws)] == WEATHER


def test_pitfall_15_one_file_holds_many_sessions_openai_chat(tmp_path):
    rows = [
        {"messages": WEATHER[1:2]},
        {"messages": WEATHER, "id": "own"},
        {"header": True},
        {"messages": WEATHER[:2], "id": "own"},
        {"messages": []},
    ]
    path = lines_file(tmp_path / "many.jsonl", rows)
    sessions = read_all(path)
    with Source(path) as source:
        file_id = source.id_from_bytes()
    assert [s.id for s in sessions] == [f"{file_id}-1", "own", "own-3", f"{file_id}-4"]
    assert [len(s.entries) for s in sessions] == [1, 8, 2, 0]
    assert {entry.line for entry in sessions[1].entries} == {2}
    assert {entry.line for entry in sessions[2].entries} == {4}
    assert [(w.line, w.reason, w.lost) for w in sessions[2].warnings] == [
        (3, "unknown line without messages", False)
    ]


def test_responses_on_one_line_keep_their_own_words(tmp_path):
    """All messages share the line; the words of one response must not join the next one's call."""
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "First."},
        {"role": "assistant", "content": None, "tool_calls": [call("a", "ls", "{}")]},
        {"role": "tool", "tool_call_id": "a", "content": "x.py"},
    ]
    rows = [{"messages": messages}, {"messages": messages}]
    first, _ = read_all(lines_file(tmp_path / "many.jsonl", rows))
    assert [turn.action for turn in first.turns()] == ["First.", "ls {}"]


def test_a_list_of_conversations(tmp_path):
    value = [{"messages": WEATHER}, {"messages": WEATHER[:2]}]
    first, second = read_all(document_file(tmp_path / "many.json", value))
    assert brief(first) == WEATHER_ENTRIES
    assert brief(second) == WEATHER_ENTRIES[:2]
    assert first.id.endswith("-1") and second.id.endswith("-2")
    assert [len(s.raws) for s in (first, second)] == [6, 2]


def test_tau_bench_episodes_have_a_reward_and_reuse_ids(tmp_path):
    def episode(task, reward):
        return {
            "task_id": task,
            "reward": reward,
            "trial": 1,
            "info": {"task": {"instruction": "secret"}},
            "traj": [
                {"role": "user", "content": "book", "tool_calls": None},
                {"role": "assistant", "content": None, "tool_calls": [call("0", "find", {"n": 1})]},
                {"role": "tool", "tool_call_id": "0", "name": "find", "content": "none"},
                {"role": "assistant", "content": "", "tool_calls": [call("0", "find", {"n": 2})]},
                {"role": "tool", "tool_call_id": "0", "name": "find", "content": "two"},
            ],
        }

    won, lost = read_all(document_file(tmp_path / "t.json", [episode(7, 1.0), episode(8, 0.0)]))
    assert brief(won) == [
        ("user", "book", 1),
        ("call", "0", "find", '{"n":1}', 2),
        ("result", "0", "none", "ok", None, 3),
        ("call", "call-3", "find", '{"n":2}', 4),
        ("result", "call-3", "two", "ok", None, 5),
        ("verdict", "reward: 1.0", 6),
    ]
    assert (won.outcome, won.metadata) == ("success", {"task": "7", "trial": "1"})
    assert (lost.outcome, lost.metadata) == ("failure", {"task": "8", "trial": "1"})
    assert lost.entries[-1].value == 0.0
    (alone,) = read_all(document_file(tmp_path / "one.json", episode(0, 0.5)))
    assert (alone.outcome, alone.metadata["task"]) == ("failure", "0")


@pytest.mark.parametrize(
    ("beside", "signal", "outcome"),
    [
        ({"metadata": {"reward": 1}}, ("verdict", "reward: 1"), "success"),
        ({"resolved": True}, ("verdict", "resolved: true"), "success"),
        ({"passed": False, "success": True}, ("verdict", "passed: false"), "failure"),
        ({"metadata": {"score": 0.4}}, ("verdict", "score: 0.4"), "failure"),
        ({"reward": -1, "passed": True}, ("verdict", "reward: -1"), "failure"),
        ({"reward": 10**400, "passed": True}, ("verdict", "passed: true"), "success"),
        ({"score": 87}, ("note", "score: 87, on an unknown scale"), "unknown"),
        ({"success": True}, None, "unknown"),
        ({"metadata": {"success": 1, "label": "good"}}, None, "unknown"),
        ({"reward": "1.0", "score": None, "resolved": "yes"}, None, "unknown"),
    ],
)
def test_pitfall_15_only_a_judge_gives_a_verdict_openai_chat(tmp_path, beside, signal, outcome):
    session = read_one(document_file(tmp_path / "c.json", {"messages": WEATHER[1:2], **beside}))
    signals = brief(session)[1:]
    assert signals == ([(*signal, 2)] if signal else [])
    assert session.outcome == outcome


def test_the_preferred_output_is_read(tmp_path):
    row = {
        "input": {"messages": [{"role": "user", "content": "greet"}], "tools": []},
        "preferred_output": [{"role": "assistant", "content": "Good day."}],
        "non_preferred_output": [{"role": "assistant", "content": "Yo."}],
    }
    one = read_one(document_file(tmp_path / "p.json", row))
    assert brief(one) == [("user", "greet", 1), ("assistant", "Good day.", 2)]
    first, second = read_all(lines_file(tmp_path / "p.jsonl", [row, row]))
    assert brief(first) == [("user", "greet", 1), ("assistant", "Good day.", 1)]
    assert brief(second) == [("user", "greet", 2), ("assistant", "Good day.", 2)]
    chosen = {
        "messages": [{"role": "user", "content": "greet"}],
        "chosen": {"role": "assistant", "content": "Hello."},
        "rejected": {"role": "assistant", "content": "Yo."},
    }
    pair = read_one(document_file(tmp_path / "c.json", chosen))
    assert brief(pair) == [("user", "greet", 1), ("assistant", "Hello.", 2)]


def test_a_logged_response_is_the_last_message(tmp_path):
    answer = {"role": "assistant", "content": "Done.", "tool_calls": [call("f", "finish", "{}")]}
    value = {
        "messages": WEATHER[1:2],
        "response": {
            "id": "chatcmpl-1",
            "created": 1793000000,
            "model": "proxy/m-2",
            "choices": [{"message": answer}],
        },
        "timestamp": 1793000001.5,
    }
    session = read_one(document_file(tmp_path / "log.json", value))
    assert brief(session)[1:] == [("assistant", "Done.", 2), ("call", "f", "finish", "{}", 2)]
    assert session.model == "proxy/m-2"
    assert session.ended_at == "2026-10-26T07:33:21.500Z"
    assert json.loads(bytes(session.raws[1])) == answer
    assert len(session.turns()) == 1


def test_results_without_ids_go_to_the_open_calls_of_the_last_response(tmp_path):
    messages = [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "lost", "arguments": "{}"},
        },
        {"role": "user", "content": "again"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [call(None, "a", "{}"), call(None, "b", "{}"), call(None, "b", "{}")],
        },
        {"role": "function", "name": "b", "content": "first b"},
        {"role": "tool", "content": "a, by place"},
        {"role": "tool", "content": "second b"},
        {"role": "tool", "tool_call_id": "ghost", "content": "nobody asked"},
    ]
    session = read_one(document_file(tmp_path / "c.json", messages))
    turns = [(turn.call.tool, turn.observation) for turn in session.turns() if turn.call]
    assert turns == [
        ("lost", "nobody asked"),
        ("a", "a, by place"),
        ("b", "first b"),
        ("b", "second b"),
    ]


def test_parallel_calls_that_share_an_id(tmp_path):
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "tool_calls": [call("x", "a", "{}"), call("x", "b", "{}")]},
        {"role": "tool", "tool_call_id": "x", "content": "of a"},
        {"role": "tool", "tool_call_id": "x", "content": "of b"},
    ]
    session = read_one(document_file(tmp_path / "c.json", messages))
    assert [(t.call.tool, t.observation) for t in session.turns()] == [("a", "of a"), ("b", "of b")]


@pytest.mark.parametrize(
    ("text", "status", "exit_code"),
    [
        ("[The command completed with exit code 2.]\n[Current directory: /w]", "ok", 2),
        ("out\n[Command finished with exit code 0]", "ok", 0),
        ("still there\n[The command completed with exit code -1.]", "ok", None),
        ("<returncode>1</returncode>\n<output>x</output>", "ok", 1),
        ('{"output": "boom", "exit_code": 3, "error": null}', "ok", 3),
        ('{"error": "no such file"}', "error", None),
        ('{"error": "", "n": 1}', "ok", None),
        ("Error executing tool ls: denied", "error", None),
        ("Errors are listed below: none", "ok", None),
        ("Error handling in this module is fine", "ok", None),
        ("the log says: Exit code 4", "ok", None),
    ],
)
def test_what_a_result_says_of_itself(tmp_path, text, status, exit_code):
    messages = [
        {"role": "assistant", "content": "", "tool_calls": [call("x", "sh", "{}")]},
        {"role": "tool", "tool_call_id": "x", "content": text},
    ]
    session = read_one(document_file(tmp_path / "c.json", messages))
    assert brief(session)[1] == ("result", "x", text, status, exit_code, 2)


def test_pitfall_07_a_refusal_in_a_proxy_log_keeps_the_persons_words_openai_chat(tmp_path):
    text = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected. "
        "To tell you how to proceed, the user said:\nuse the other branch"
    )
    messages = [
        {"role": "assistant", "tool_calls": [call("x", "Bash", "{}")]},
        {"role": "tool", "tool_call_id": "x", "content": text},
        {"role": "user", "content": "[Request interrupted by user]"},
    ]
    session = read_one(document_file(tmp_path / "c.json", messages))
    assert brief(session)[1:] == [
        ("result", "x", text, "rejected", None, 2),
        ("rejection", "use the other branch", 2),
        ("interruption", "", 3),
    ]
    assert (session.counts().errors, session.counts().rejections) == (0, 1)


def test_pitfall_06_harness_text_in_the_users_place_openai_chat(tmp_path):
    messages = [
        {"role": "user", "content": "<system-reminder>be brief</system-reminder>\nfix it"},
        {"role": "user", "content": "<local-command-stdout>ok</local-command-stdout>"},
        {"role": "developer", "content": "rules"},
        {"role": "critic", "content": "hm"},
        {"role": "critic", "content": "hm"},
    ]
    session = read_one(document_file(tmp_path / "c.json", messages))
    assert brief(session) == [
        ("user", "fix it", 1),
        ("system", "<local-command-stdout>ok</local-command-stdout>", 2),
        ("system", "rules", 3),
    ]
    assert [(w.line, w.reason, w.lost) for w in session.warnings] == [
        (4, "unknown role 'critic'", False)
    ]


def test_anthropic_blocks_inside_chat_messages(tmp_path):
    messages = [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": "Exit code 1",
                    "is_error": True,
                },
                {"type": "text", "text": "and hurry"},
            ],
        },
    ]
    session = read_one(document_file(tmp_path / "c.json", {"messages": messages}))
    assert brief(session) == [
        ("user", "go", 1),
        ("assistant", "Looking.", 2),
        ("call", "t1", "Bash", '{"command":"ls"}', 2),
        ("result", "t1", "Exit code 1", "error", 1, 3),
        ("user", "and hurry", 3),
    ]
    assert [turn.action for turn in session.turns()] == ['Looking.\nBash {"command":"ls"}']


def test_pitfall_13_images_become_a_tag_openai_chat(tmp_path):
    url = "data:image/png;base64," + "A" * 400
    parts = [{"type": "text", "text": "what?"}, {"type": "image_url", "image_url": {"url": url}}]
    session = read_one(document_file(tmp_path / "c.json", [{"role": "user", "content": parts}]))
    assert brief(session) == [("user", "what?\n<image image/png 300 bytes>", 1)]


def test_pitfall_03_reasoning_is_left_out_openai_chat(tmp_path):
    messages = [
        {"role": "assistant", "content": "<think>secret</think>\nHello", "reasoning": "secret"},
        {"role": "assistant", "content": [{"type": "reasoning", "text": "secret"}, {"text": "Hi"}]},
        {"role": "assistant", "content": "<think>secret, and cut off"},
        {"role": "assistant", "content": "Write <think> like this", "refusal": None},
        {"role": "assistant", "content": None, "refusal": "I will not."},
    ]
    session = read_one(document_file(tmp_path / "c.json", messages))
    assert [entry.text for entry in session.entries] == [
        "Hello",
        "Hi",
        "Write <think> like this",
        "I will not.",
    ]


def test_calls_tagged_in_the_text(tmp_path):
    text = 'Looking.\n<tool_call>\n{"name": "ls", "arguments": {"path": "."}}\n</tool_call>'
    messages = [
        {"role": "assistant", "content": text},
        {"role": "tool", "content": "<tool_response>\na.py\n</tool_response>"},
    ]
    session = read_one(document_file(tmp_path / "c.json", messages))
    assert brief(session) == [
        ("assistant", "Looking.", 1),
        ("call", "call-1", "ls", '{"path":"."}', 1),
        ("result", "call-1", "a.py", "ok", None, 2),
    ]


def test_pitfall_12_broken_lines_cost_only_themselves_openai_chat(tmp_path):
    path = tmp_path / "c.jsonl"
    good = json.dumps({"messages": WEATHER})
    path.write_text(f"{good}\n{good}{good}\nnoise\n{good[:50]}\n")
    sessions = read_all(path)
    assert [len(s.entries) for s in sessions] == [8, 8, 8]
    assert [sorted({e.line for e in s.entries}) for s in sessions] == [[1], [2], [2]]
    assert [w.line for w in sessions[-1].warnings] == [3, 4]


@pytest.mark.parametrize("layout", ["lines", "document"])
def test_nothing_in_a_file_stops_the_reader(tmp_path, layout):
    row = {
        "messages": [*WEATHER, {"role": "assistant", "function_call": {"name": "f"}}],
        "response": {"model": "m", "created": 1, "choices": [{"message": WEATHER[1]}]},
        "input": {"messages": []},
        "preferred_output": [WEATHER[5]],
        "metadata": {"reward": 1.0},
        "id": "x",
        "task_id": 3,
    }
    path = tmp_path / "c.json"
    read = read_lines if layout == "lines" else read_document
    for value in (*bent(row), [row, 7, None, []], *bent([*WEATHER[1:3]])):
        path.write_text(json.dumps(value) + "\n")
        with Source(path) as source:
            assert list(read(source))
    deep = '{"role":"user","content":' + "[" * 3000 + "]" * 3000 + "}"
    path.write_text(f"{deep}\n{deep}\n")
    with Source(path) as source:
        assert [w.reason for w in next(read_lines(source)).warnings] == ["nested too deeply"] * 2


@pytest.mark.skipif(not SAMPLES, reason="needs AGENTLEARN_SAMPLES")
def test_samples():
    episode = read_one(sample("openai-chat/TransluceAI__docent__tb_airline.json"))
    counts = episode.counts()
    assert (counts.messages, counts.calls, counts.results, counts.errors) == (30, 12, 12, 1)
    assert (episode.outcome, episode.metadata["task"]) == ("failure", "0")
    drones = read_all(sample("openai-chat/openai__openai-cookbook__drone_training.jsonl"))
    assert [(len(s.entries), s.counts().calls) for s in drones] == [(3, 1)] * 103
    assert len({s.id for s in drones}) == 103
    name = "OpenHands__software-agent-sdk__litellm_proxy__anthropic__claude-sonnet-4-20250514"
    log = read_one(sample(f"openai-chat/{name}-1757015046.707.json"))
    assert (log.counts().calls, log.counts().results) == (6, 5)
    codes = [e.exit_code for e in log.entries if type(e).__name__ == "Result"]
    assert codes == [None, 0, None, None, 0]
