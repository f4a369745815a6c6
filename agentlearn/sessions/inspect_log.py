"""Inspect logs: one JSON object, or an `.eval` zip with a member for each sample.

Each sample is a session, read in `inspect_sample`.

A zip is read one sample at a time, and no more than a gigabyte of any member: a small file can
unpack to anything. New logs pack with zstd (method 93), which `zipfile` cannot read before
Python 3.14, so those members are unpacked here.

A log that is damaged is told, which a zip of something else is not: that is just no transcript.
"""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

from msgspec import Raw

from agentlearn.errors import BadInput
from agentlearn.sessions import document
from agentlearn.sessions.detect import Detected
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.inspect_sample import Sample, SampleReading
from agentlearn.sessions.source import ZIP, Source
from agentlearn.sessions.values import Session

DIALECT = "inspect"
MOST_BYTES = 1 << 30
METHOD_ZSTD = 93
LOCAL_HEADER = 30
MEMBERS = ("header.json", "_journal/", "samples/", "summaries.json", "reductions.json")
"""The names in a log, or what they begin with."""
BROKEN = (
    OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError,
)  # fmt: skip


def read_document(source: Source) -> Iterator[Session]:
    log = document.as_object(document.load(source))
    head = _Head(log, source)
    for number, raw in enumerate(document.items(log.get("samples")), start=1):
        yield head.session(raw, number)


def read_zip(source: Source) -> Iterator[Session]:
    with _opened(source) as file:
        try:
            archive = zipfile.ZipFile(file)
        except BROKEN as error:
            if _begins_like_a_log(source, file):
                raise _damaged(source, error) from None
            raise _no_log(source, f"it looks like a zip archive that is broken: {error}") from None
        with archive:
            names = dict.fromkeys(archive.namelist())
            first = next((n for n in ("header.json", "_journal/start.json") if n in names), None)
            try:
                log = document.fields(_member(archive, file, first)) if first else {}
            except _Unreadable as error:
                raise _damaged(source, error) from None
            if "eval" not in log:
                raise _no_log(source, "it looks like a zip archive that is no Inspect log")
            head = _Head(log, source)
            samples = [n for n in names if n.startswith("samples/") and n.endswith(".json")]
            for number, name in enumerate(samples, start=1):
                try:
                    yield head.session(_member(archive, file, name), number)
                except _Unreadable as error:
                    yield head.lost(name, str(error))


def _no_log(source: Source, why: str) -> Exception:
    from agentlearn.sessions.read import NotATranscript

    return NotATranscript(source.name, Detected("zip", None, why))


def _damaged(source: Source, error: Exception) -> BadInput:
    return BadInput(f"{source.name} cannot be read: the Inspect log is cut or damaged: {error}")


def _begins_like_a_log(source: Source, file: IO[bytes]) -> bool:
    """Whether the first member is one of a log's. Where even its name is lost, the file's tells."""
    file.seek(0)
    header = file.read(LOCAL_HEADER)
    name = file.read(int.from_bytes(header[26:28], "little")).decode("utf-8", "replace")
    is_named_so = source.path is not None and source.path.suffix == ".eval"
    return name.startswith(MEMBERS) or is_named_so


def _opened(source: Source) -> IO[bytes]:
    """A file that can be sought in: the transcript's own, else all of its bytes."""
    if source.path is not None:
        file = source.path.open("rb")
        if file.read(len(ZIP)) == ZIP:
            file.seek(0)
            return file
        file.close()
    return io.BytesIO(source.stream.read())


class _Unreadable(Exception):
    """A member that cannot be had."""


def _member(archive: zipfile.ZipFile, file: IO[bytes], name: str) -> Raw:
    info = archive.getinfo(name)
    too_much = f"{name} unpacks to more than {MOST_BYTES >> 30} GB"
    if info.file_size > MOST_BYTES:
        raise _Unreadable(too_much)
    try:
        if info.compress_type == METHOD_ZSTD:
            data = _unpacked_zstd(info, file)
        else:
            with archive.open(info) as member:
                data = member.read(MOST_BYTES + 1)
    except BROKEN as error:
        raise _Unreadable(f"{name} cannot be unpacked: {error}") from None
    if len(data) > MOST_BYTES:
        raise _Unreadable(too_much)
    return Raw(document.strict(data))


def _unpacked_zstd(info: zipfile.ZipInfo, file: IO[bytes]) -> bytes:
    import zstandard

    file.seek(info.header_offset)
    header = file.read(LOCAL_HEADER)
    if len(header) < LOCAL_HEADER or not header.startswith(ZIP):
        raise EOFError("its header is cut")
    name_length = int.from_bytes(header[26:28], "little")
    extra_length = int.from_bytes(header[28:30], "little")
    file.seek(name_length + extra_length, io.SEEK_CUR)
    packed = file.read(min(info.compress_size, MOST_BYTES))
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as reader:
            data = reader.read(MOST_BYTES + 1)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None
    if len(data) <= MOST_BYTES and zlib.crc32(data) != info.CRC:
        raise ValueError("it is cut, or not what was packed")
    return data


class _Head:
    """What all samples of a log share."""

    def __init__(self, log: document.Fields, source: Source) -> None:
        text_of = document.text_of
        self.source = source
        spec = document.fields(log.get("eval"))
        ids = (text_of(spec.get(name)) for name in ("eval_id", "run_id", "task_id"))
        self.id = next(filter(None, ids), None) or source.id_from_bytes()
        self.task = text_of(spec.get("task"))
        self.model = text_of(spec.get("model"))
        self.created = text_of(spec.get("created"))
        self.status = text_of(log.get("status"))
        self.version = text_of(document.fields(spec.get("packages")).get("inspect_ai"))

    def draft(self) -> Draft:
        draft = Draft(DIALECT, self.source.name, "entry")
        draft.agent, draft.model, draft.version = "inspect", self.model, self.version
        if self.status and self.status != "success":
            draft.metadata["status"] = self.status
        return draft

    def lost(self, name: str, reason: str) -> Session:
        draft = self.draft()
        draft.warn(0, reason)
        return draft.finish(f"{self.id}_{name.removeprefix('samples/').removesuffix('.json')}")

    def session(self, raw: Raw, number: int) -> Session:
        draft = self.draft()
        holder = Draft(DIALECT, None)
        sample = next((found for _, found in document.numbered([raw], Sample, holder)), None)
        draft.warnings += holder.warnings
        if sample is None:
            if not draft.warnings:
                draft.warn(0, "the sample is empty")
            sample = Sample()
        sample_id = document.value_of(sample.id)
        named = sample_id if isinstance(sample_id, (str, int)) else number
        if self.task:
            draft.metadata["task"] = f"{self.task}/{named}"
        draft.started_at = sample.started_at or self.created
        draft.ended_at = sample.completed_at
        SampleReading(draft, sample).read()
        return draft.finish(sample.uuid or f"{self.id}_{named}_epoch_{sample.epoch or 1}")
