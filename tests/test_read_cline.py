"""Cline: the SDK's document, and the old list with results as text."""

from __future__ import annotations

import json

import pytest

from agentlearn.sessions.cline import read_document
from agentlearn.sessions.source import Source
from tests.files import SAMPLES, bent, brief, document_file, read_one, sample


def text(words):
    return {"type": "text", "text": words}


def use(id, name, **input):
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def back(id, content):
    return {"type": "tool_result", "tool_use_id": id, "content": content}


OK = {"query": "ls", "result": "a.py", "success": True}
BAD = {"query": "make", "result": "", "error": "Command exited with code 2", "success": False}
SDK = {
    "version": 1,
    "updated_at": "2026-11-01T09:00:00Z",
    "agent": "lead",
    "sessionId": "c-1",
    "system_prompt": "You are Cline.",
    "messages": [
        {
            "id": "m1",
            "role": "user",
            "content": [text("test it"), {"type": "file", "path": "/w/a.py", "content": "code"}],
            "ts": 1793000000000,
        },
        {
            "id": "m2",
            "role": "assistant",
            "content": [text("Testing."), use("t1", "run_commands", commands=["ls"])],
            "modelInfo": {"id": "m-1"},
        },
        {"id": "m3", "role": "user", "content": [back("t1", [OK])]},
        {
            "id": "m4",
            "role": "assistant",
            "content": [use("t2", "run_commands"), use("t3", "edit")],
        },
        {"id": "m5", "role": "user", "content": [back("t2", [BAD]), back("t3", json.dumps(OK))]},
    ],
}


def test_the_sdk_document(tmp_path):
    session = read_one(document_file(tmp_path / "s.messages.json", SDK))
    assert (session.id, session.dialect, session.agent) == ("c-1", "cline", "cline")
    assert (session.model, session.goal) == ("m-1", "test it")
    assert session.started_at == "2026-10-26T07:33:20.000Z"
    assert brief(session) == [
        ("system", "You are Cline.", 1),
        ("user", "test it", 1),
        ("assistant", "Testing.", 2),
        ("call", "t1", "run_commands", '{"commands":["ls"]}', 2),
        ("result", "t1", "a.py", "ok", None, 3),
        ("call", "t2", "run_commands", "{}", 4),
        ("call", "t3", "edit", "{}", 4),
        ("result", "t2", "Command exited with code 2", "error", 2, 5),
        ("result", "t3", "a.py", "ok", None, 5),
    ]
    assert len(session.raws) == 5


def test_the_old_list(tmp_path):
    state = text("<environment_details>\n# Open Tabs\n</environment_details>")
    messages = [
        {"role": "user", "content": [text("<task>\nrun the tests\n</task>"), state], "ts": 1},
        {"role": "assistant", "content": [use("t1", "execute_command", command="pytest")]},
        {
            "role": "user",
            "content": [
                text("[execute_command for 'pytest'] Result:"),
                text("Command executed.\nExit code: 1\nOutput:\n1 failed"),
                state,
            ],
        },
        {"role": "assistant", "content": [use("t2", "write_to_file", path="a.py")]},
        {
            "role": "user",
            "content": [
                text(
                    "[write_to_file for 'a.py'] Result:\nThe user denied this operation and "
                    "provided the following feedback:\n<feedback>\nnot that file\n</feedback>"
                )
            ],
        },
        {"role": "assistant", "content": [use("t3", "attempt_completion", result="Done.")]},
        {
            "role": "user",
            "content": [text("[attempt_completion] Result: <feedback>fix it too</feedback>")],
        },
        {"role": "assistant", "content": [use("t4", "attempt_completion", result="Done.")]},
        {
            "role": "user",
            "content": [
                text("[attempt_completion] Result:"),
                text("<user_message>\nthanks\n</user_message>"),
            ],
        },
        {"role": "user", "content": [text("[ERROR] You did not use a tool")]},
    ]
    session = read_one(document_file(tmp_path / "api_conversation_history.json", messages))
    denied = (
        "The user denied this operation and provided the following feedback:\n"
        "<feedback>\nnot that file\n</feedback>"
    )
    failed = "Command executed.\nExit code: 1\nOutput:\n1 failed"
    assert [e for e in brief(session) if e[0] != "call"] == [
        ("user", "run the tests", 1),
        ("result", "t1", failed, "ok", 1, 3),
        ("result", "t2", denied, "rejected", None, 5),
        ("rejection", "not that file", 5),
        ("result", "t3", "<feedback>fix it too</feedback>", "ok", None, 7),
        ("user", "fix it too", 7),
        ("result", "t4", "", "ok", None, 9),
        ("user", "thanks", 9),
        ("system", "[ERROR] You did not use a tool", 10),
    ]
    counts = session.counts()
    assert (counts.calls, counts.results, counts.errors, counts.rejections) == (4, 4, 1, 1)
    assert session.outcome == "unknown"


def test_calls_written_as_xml(tmp_path):
    words = "<thinking>hm</thinking>\nI look.\n<read_file>\n<path>a.py</path>\n</read_file>"
    messages = [
        {"role": "user", "content": "<task>look</task>", "ts": 1},
        {"role": "assistant", "content": [text(words)], "ts": 2},
        {"role": "user", "content": [text("[read_file for 'a.py'] Result:\nprint(1)")], "ts": 3},
    ]
    session = read_one(document_file(tmp_path / "list.json", messages))
    assert brief(session) == [
        ("user", "look", 1),
        ("assistant", "I look.", 2),
        ("call", "call-2", "read_file", '{"path":"a.py"}', 2),
        ("result", "call-2", "print(1)", "ok", None, 3),
    ]
    (turn,) = session.turns()
    assert turn.action == 'I look.\nread_file {"path":"a.py"}'


def test_nothing_in_a_file_stops_the_reader(tmp_path):
    path = tmp_path / "c.json"
    for value in (*bent(SDK), *bent(SDK["messages"][:3]), {"messages": {}}):
        document_file(path, value)
        with Source(path) as source:
            assert list(read_document(source))


@pytest.mark.skipif(not SAMPLES, reason="needs AGENTLEARN_SAMPLES")
def test_sample():
    session = read_one(sample("cline/cline__cline__session.messages.json"))
    counts = session.counts()
    assert (counts.messages, counts.calls, counts.results, counts.errors) == (20, 11, 11, 0)
    assert session.id == "1784094124598_rruoq"
