"""Inspect logs: JSON, and the zip with a member for each sample."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard

from agentlearn.errors import BadInput
from agentlearn.sessions.inspect_log import MOST_BYTES, read_document, read_zip
from agentlearn.sessions.read import NotATranscript, read_sessions
from agentlearn.sessions.source import Source
from tests.commands import call
from tests.files import SAMPLES, bent, brief, document_file, read_all, read_one, sample

EVAL = {
    "eval_id": "ev",
    "run_id": "run",
    "task": "demo",
    "task_id": "tk",
    "model": "m",
    "created": "2026-11-01T09:00:00+00:00",
    "packages": {"inspect_ai": "0.3.145"},
}
HEADER = {"version": 2, "status": "success", "eval": EVAL, "plan": {"name": "plan", "steps": []}}


def file_id_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def asked(text: Any = "2+2?", **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, "source": "input"} | more


def called(id: str, words: Any = "", **more: Any) -> dict[str, Any]:
    call = {"id": id, "function": "python", "arguments": {"code": "2+2"}, "type": "function"}
    return {"id": f"m-{id}", "role": "assistant", "content": words, "tool_calls": [call]} | more


def tool(id: str, text: str, **error: Any) -> dict[str, Any]:
    message = {"role": "tool", "content": text, "tool_call_id": id, "function": "python"}
    return message | ({"error": error} if error else {})


def one(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": 1, "epoch": 1, "input": "2+2?", "target": "4", "messages": list(messages)} | more


def log(*samples: Any, **more: Any) -> dict[str, Any]:
    return HEADER | {"results": None, "samples": list(samples)} | more


def read_sample(tmp_path: Path, *messages: dict[str, Any], **more: Any) -> list[tuple[Any, ...]]:
    return brief(read_one(document_file(tmp_path / "log.json", log(one(*messages, **more)))))


def test_json_log(tmp_path):
    path = document_file(
        tmp_path / "log.json",
        log(one(asked(), called("c1", "I compute."), tool("c1", "4"),
                {"role": "assistant", "content": "4"},
                scores={"match": {"value": "C", "answer": "4"}})),
    )  # fmt: skip
    session = read_one(path)
    assert (session.id, session.dialect, session.unit) == ("ev_1_epoch_1", "inspect", "entry")
    assert (session.agent, session.model, session.version) == ("inspect", "m", "0.3.145")
    assert (session.metadata, session.goal) == ({"task": "demo/1"}, "2+2?")
    assert session.started_at == "2026-11-01T09:00:00+00:00"
    assert brief(session) == [
        ("user", "2+2?", 1),
        ("assistant", "I compute.", 2),
        ("call", "c1", "python", '{"code":"2+2"}', 2),
        ("result", "c1", "4", "ok", None, 3),
        ("assistant", "4", 4),
        ("verdict", "match C", 5),
    ]
    assert (session.outcome, session.entries[-1].value, len(session.raws)) == ("success", 1.0, 5)
    assert session.entries[1].step == session.entries[2].step == "m-c1"


def test_each_sample_is_a_session(tmp_path):
    samples = [one(asked()), one(asked(), epoch=2), one(asked(), id="x", uuid="u9")]
    sessions = read_all(document_file(tmp_path / "log.json", log(*samples)))
    assert [session.id for session in sessions] == ["ev_1_epoch_1", "ev_1_epoch_2", "u9"]


def test_a_log_without_ids_has_those_of_its_bytes(tmp_path):
    path = document_file(tmp_path / "log.json", log(one(asked()), eval={}))
    assert read_one(path).id == f"{file_id_of(path)}_1_epoch_1"


@pytest.mark.parametrize(
    ("value", "score", "outcome"),
    [
        ("C", 1.0, "success"), ("P", 0.5, "failure"), ("I", 0.0, "failure"), ("N", 0.0, "failure"),
        (1, 1.0, "success"), (0.3, 0.3, "failure"), (True, 1.0, "success"), (False, 0.0, "failure"),
        ({"a": 1, "b": 0}, 0.5, "failure"), ({"a": "C"}, 1.0, "success"),
        (7, None, "unknown"), (-1, None, "unknown"), ("fine", None, "unknown"),
        (None, None, "unknown"), ([1], None, "unknown"),
    ],
)  # fmt: skip
def test_values_of_scores(tmp_path, value, score, outcome):
    path = document_file(tmp_path / "x", log(one(asked(), scores={"s": {"value": value}})))
    session = read_one(path)
    assert (session.entries[-1].value, session.outcome) == (score, outcome)


def test_the_first_scorer_leads_and_all_are_told(tmp_path):
    scores = {"right": {"value": "I"}, "style": {"value": 1}}
    session = read_one(document_file(tmp_path / "x", log(one(asked(), scores=scores))))
    assert brief(session)[-1] == ("verdict", "right I, style 1", 2)
    assert session.outcome == "failure"


def test_a_score_that_is_no_number_does_not_cost_the_log(tmp_path):
    path = document_file(tmp_path / "x", log(one(asked(), scores={"s": {"value": float("nan")}})))
    assert "NaN" in path.read_text()
    session = read_one(path)
    assert (brief(session)[-1], session.outcome) == (("verdict", "s null", 2), "unknown")


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("timeout", "error"),
        ("parsing", "error"),
        ("approval", "rejected"),
        ("cancelled", "interrupted"),
    ],
)
def test_errors_of_tools(tmp_path, kind, status):
    entries = read_sample(tmp_path, asked(), called("c1"), tool("c1", "", type=kind, message="no"))
    assert entries[-1] == ("result", "c1", "no", status, None, 3)


def test_whose_words_they_are(tmp_path):
    entries = read_sample(
        tmp_path,
        {"role": "system", "content": "Be brief."},
        asked(source=None),
        {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "hm"},
                                          {"type": "text", "text": "5"}]},
        asked("Please proceed to the next step using your best judgement.", source=None),
        asked("no, try again", source=None),
        asked("Your submission was incorrect. Please proceed.", source=None),
        asked("stop now", source="operator"),
    )  # fmt: skip
    assert [entry[0] for entry in entries] == [
        "system", "user", "assistant", "system", "user", "system", "user",
    ]  # fmt: skip
    assert entries[2] == ("assistant", "5", 3)


def test_tools_of_the_provider(tmp_path):
    use = {
        "type": "tool_use",
        "id": "s1",
        "name": "web_search",
        "arguments": '{"q": 1}',
        "result": "r",
    }
    content = [{"type": "text", "text": "I look."}, use, {"type": "text", "text": "Found."}]
    entries = read_sample(tmp_path, asked(), {"role": "assistant", "content": content})
    assert entries[1:] == [
        ("assistant", "I look.", 2),
        ("call", "s1", "web_search", '{"q": 1}', 2),
        ("result", "s1", "r", "ok", None, 2),
        ("assistant", "Found.", 2),
    ]


def test_attachments_are_put_in_place(tmp_path):
    picture = "data:image/png;base64," + "A" * 400
    message = called("c1", "see attachment://aa11")
    message["tool_calls"][0]["arguments"] = {
        "code": "attachment://bb22",
        "n": ["attachment://gone"],
    }
    entries = read_sample(
        tmp_path,
        asked([{"type": "text", "text": "attachment://bb22"}, {"type": "image", "image": "attachment://cc33"}]),
        message,
        tool("c1", "attachment://aa11"),
        attachments={"aa11": "long words", "bb22": "print(1)", "cc33": picture, "dd": 5},
    )  # fmt: skip
    assert entries == [
        ("user", "print(1)\n<image image/png 300 bytes>", 1),
        ("assistant", "see long words", 2),
        ("call", "c1", "python", '{"code":"print(1)","n":["attachment://gone"]}', 2),
        ("result", "c1", "long words", "ok", None, 3),
    ]


def test_pitfall_13_images_become_a_tag_inspect(tmp_path):
    picture = "data:image/png;base64," + "A" * 40_000
    entries = read_sample(tmp_path, asked([{"type": "image", "image": picture}]))
    assert entries == [("user", "<image image/png 30000 bytes>", 1)]


@pytest.mark.parametrize(
    ("more", "entries", "reason"),
    [
        ({"limit": {"type": "token", "limit": 5}}, [("note", "token limit 5", 2)], "token limit"),
        ({"limit": {"type": "operator", "limit": 1}}, [("interruption", "", 2)], "operator limit"),
        ({"error": {"message": "boom\nmore"}}, [("note", "error: boom", 0)], "boom"),
    ],
)  # fmt: skip
def test_what_stopped_a_sample(tmp_path, more, entries, reason):
    path = document_file(tmp_path / "x", log(one(asked(), **more), status="error"))
    session = read_one(path)
    assert brief(session)[1:] == entries
    assert (session.outcome, session.reason, session.metadata["status"]) == (
        "aborted",
        reason,
        "error",
    )
    scored = document_file(tmp_path / "x", log(one(asked(), scores={"s": {"value": 1}}, **more)))
    assert read_one(scored).outcome == "success"


def test_a_sample_without_messages_still_has_its_input(tmp_path):
    assert read_sample(tmp_path) == [("user", "2+2?", 0)]


def test_unknown_roles_are_said_once(tmp_path):
    odd = {"role": "critic", "content": "x"}
    session = read_one(document_file(tmp_path / "x", log(one(asked(), odd, odd))))
    assert [(w.line, w.reason, w.lost) for w in session.warnings] == [
        (2, "unknown role 'critic'", False)
    ]


def packed(path: Path, members: dict[str, Any], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, value in members.items():
            archive.writestr(name, value if isinstance(value, (str, bytes)) else json.dumps(value))
    return path


SAMPLE = one(asked(), called("c1"), tool("c1", "4"), scores={"match": {"value": "C"}})


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_zip(tmp_path, method):
    members = {
        "_journal/start.json": {"version": 2, "eval": EVAL, "plan": {}},
        "samples/1_epoch_1.json": SAMPLE,
        "samples/1_epoch_2.json": SAMPLE | {"epoch": 2, "uuid": "u2"},
        "summaries.json": [],
        "header.json": HEADER,
    }
    sessions = read_all(packed(tmp_path / "log.eval", members, method))
    assert [(s.id, s.outcome, s.counts().results) for s in sessions] == [
        ("ev_1_epoch_1", "success", 1), ("u2", "success", 1),
    ]  # fmt: skip


def test_zip_from_a_pipe(tmp_path):
    path = packed(tmp_path / "x", {"header.json": HEADER, "samples/1.json": SAMPLE})
    with Source(None, io.BytesIO(path.read_bytes())) as source:
        assert [session.id for session in read_sessions(source)] == ["ev_1_epoch_1"]


def test_a_log_that_is_not_finished(tmp_path):
    start = {"version": 2, "eval": EVAL, "plan": {}}
    path = packed(tmp_path / "x", {"_journal/start.json": start, "samples/1.json": SAMPLE})
    assert [session.id for session in read_all(path)] == ["ev_1_epoch_1"]


def zstd_zip(path: Path, members: dict[str, bytes], cut: int = 0, claims: int = 0) -> Path:
    """A zip whose members are packed with method 93, which zipfile cannot write."""
    data, central = b"", b""
    for name, content in members.items():
        body = zstandard.compress(content)
        body = body[: len(body) - cut] if name.startswith("samples/") else body
        size = claims if claims and name == "samples/a.json" else len(content)
        sizes = (zlib.crc32(content), len(body), size, len(name))
        common = struct.pack("<HHHHHIIIH", 63, 0, 93, 0, 0, *sizes)
        central += b"PK\x01\x02" + struct.pack("<H", 63) + common
        central += struct.pack("<HHHHII", 0, 0, 0, 0, 0, len(data)) + name.encode()
        extra = b"\x99\x99\x02\x00ab"
        data += (
            b"PK\x03\x04" + common + struct.pack("<H", len(extra)) + name.encode() + extra + body
        )
    end = (0, 0, len(members), len(members), len(central), len(data), 0)
    path.write_bytes(data + central + b"PK\x05\x06" + struct.pack("<HHHHIIH", *end))
    return path


def test_pitfall_13_members_packed_with_zstd_inspect(tmp_path):
    members = {
        "header.json": json.dumps(HEADER).encode(),
        "samples/1_epoch_1.json": json.dumps(SAMPLE).encode(),
    }
    session = read_one(zstd_zip(tmp_path / "x.eval", members))
    assert (session.id, session.outcome, session.counts().results) == ("ev_1_epoch_1", "success", 1)
    broken = read_one(zstd_zip(tmp_path / "y.eval", members, cut=20))
    assert (broken.entries, len(broken.warnings), broken.warnings[0].lost) == ([], 1, True)


def test_members_that_cannot_be_read_are_told(tmp_path):
    members = {
        "header.json": HEADER,
        "samples/1_epoch_1.json": SAMPLE,
        "samples/2_epoch_1.json": '{"id": 2, "messages": [',
        "samples/3_epoch_1.json": "[]",
    }
    path = packed(tmp_path / "x", members, zipfile.ZIP_STORED)
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"content": "4"', b'"content": "5"', 1))
    first, second, third = read_all(path)
    assert (first.id, first.entries) == ("ev_1_epoch_1", [])
    assert first.warnings[0].reason.startswith("samples/1_epoch_1.json cannot be unpacked: Bad CRC")
    assert [warning.lost for warning in second.warnings] == [True]
    assert [warning.reason for warning in third.warnings] == ["not a JSON object"]


def test_a_member_that_unpacks_to_too_much(tmp_path):
    members = {"header.json": json.dumps(HEADER).encode(), "samples/a.json": b"{}"}
    path = zstd_zip(tmp_path / "x", members, claims=MOST_BYTES + 1)
    bomb = read_one(path)
    assert (bomb.id, bomb.entries) == ("ev_a", [])
    assert bomb.warnings[0].reason == "samples/a.json unpacks to more than 1 GB"


@pytest.mark.slow
def test_a_member_that_lies_about_its_size(tmp_path):
    members = {
        "header.json": json.dumps(HEADER).encode(),
        "samples/a.json": b" " * (MOST_BYTES + 10),
        "samples/b.json": json.dumps(SAMPLE).encode(),
    }
    bomb, good = read_all(zstd_zip(tmp_path / "x", members, claims=5))
    assert bomb.warnings[0].reason == "samples/a.json unpacks to more than 1 GB"
    assert good.outcome == "success"


@pytest.mark.parametrize("empty", ["", "  ", "null"])
def test_an_empty_member_is_told(tmp_path, empty):
    session = read_one(packed(tmp_path / "x", {"header.json": HEADER, "samples/a.json": empty}))
    assert (session.entries, len(session.warnings)) == ([], 1)


@pytest.mark.parametrize(
    "members",
    [{"a.txt": "x"}, {"header.json": []}, {"header.json": "{"}, {"header.json": {"version": 1}},
     {"word/document.xml": "<x/>", "_journal/start.json": "x"}],
)  # fmt: skip
def test_other_zips_are_refused(tmp_path, members):
    path = packed(tmp_path / "x.zip", members)
    with pytest.raises(NotATranscript, match="no Inspect log"):
        read_all(path)


def cut(path: Path, to: int) -> Path:
    path.write_bytes(path.read_bytes()[:to])
    return path


@pytest.mark.parametrize(
    ("name", "to"), [("x.zip", -40), ("x.zip", 60), ("x.eval", -40), ("x.eval", 35), ("x.eval", 9)]
)
def test_a_cut_log_is_damaged_not_something_else(tmp_path, name, to):
    path = packed(tmp_path / name, {"header.json": HEADER, "samples/1.json": SAMPLE})
    with pytest.raises(BadInput, match="the Inspect log is cut or damaged") as caught:
        read_all(cut(path, to))
    assert not isinstance(caught.value, NotATranscript)


def test_a_log_with_a_damaged_head_is_damaged(tmp_path):
    path = packed(tmp_path / "x", {"header.json": HEADER, "s": "x"}, zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b'"eval"', b'"evil"', 1))
    with pytest.raises(BadInput, match=r"damaged: header.json cannot be unpacked: Bad CRC-32"):
        read_all(path)


def test_a_cut_zip_of_something_else_is_no_transcript(tmp_path):
    path = cut(packed(tmp_path / "x.zip", {"word/document.xml": "<x/>" * 99}), -40)
    with pytest.raises(NotATranscript, match="a zip archive that is broken"):
        read_all(path)


def test_damaged_logs_in_a_folder_are_named_and_other_zips_passed_over(tmp_path):
    members = {"header.json": HEADER, "samples/1.json": SAMPLE}
    packed(tmp_path / "a.eval", members)
    damaged = cut(packed(tmp_path / "b.eval", members), -40)
    packed(tmp_path / "c.zip", {"a.txt": "x"})
    cut(packed(tmp_path / "d.zip", {"a.txt": "x"}), -10)
    result = call("sessions", tmp_path, "--json", code=5)
    assert len(json.loads(result.stdout)) == 1
    assert result.stderr.startswith(f"error: {damaged} cannot be read: the Inspect log is cut or ")
    assert result.stderr.endswith("note: passed over 2 files without a session\n")
    call("sessions", damaged, code=2)


def test_hostile_shapes(tmp_path):
    path = tmp_path / "x"
    whole = one(
        asked([{"type": "image", "image": "attachment://a"}]),
        called("c1", [{"type": "tool_use", "id": "t", "name": "n", "result": "r"}]),
        tool("c1", "x", type="timeout", message="m"),
        scores={"s": {"value": {"a": 1}}},
        attachments={"a": "b"},
        limit={"type": "token", "limit": 1},
        error={"message": "m"},
        uuid="u",
    )
    for odd in bent(log(whole)):
        document_file(path, odd)
        with Source(path) as source:
            assert len(list(read_document(source))) <= 1
    for number, odd in enumerate(bent(whole)):
        if number % 9 in (1, 4, 8):
            packed(path, {"header.json": HEADER, "samples/1.json": odd}, zipfile.ZIP_STORED)
            with Source(path) as source:
                assert len(list(read_zip(source))) == 1


@pytest.mark.skipif(not SAMPLES, reason="AGENTLEARN_SAMPLES is not set")
@pytest.mark.parametrize(
    ("start", "outcome", "counts"),
    [
        ("UKGovernmentBEIS__inspect_ai__log_images_tc", "failure", (3, 0, 0)),
        ("UKGovernmentBEIS__inspect_ai__log_message_deduplication", "failure", (7, 5, 5)),
        ("meridianlabs-ai__inspect_scout__2025", "success", (2, 0, 0)),
    ],
)
def test_samples(start, outcome, counts):
    (path,) = sample("inspect").glob(start + "*")
    session = read_one(path)
    seen = session.counts()
    assert (session.outcome, (seen.messages, seen.calls, seen.results)) == (outcome, counts)
    assert session.warnings == []
