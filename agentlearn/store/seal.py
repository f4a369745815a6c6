"""A seal on every line of a journal: it was written here, by this person.

A repository may bring a `.agentlearn/journal.jsonl` of its own. What stands in it may be read and
shown, but it must never be carried out: no half-made change is finished, nothing that waits is
adopted, and nothing is taken back (what "stood before" would be written), unless the line bears
the seal of a key that never leaves the person's data folder.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from functools import lru_cache
from pathlib import Path

from agentlearn.store import files
from agentlearn.store.places import user_places

MARK = b',"seal":"'
DIGITS = 32


def sealed(line: bytes) -> bytes:
    """A JSON object with its seal as the last field."""
    return line[:-1] + MARK + _seal(line).encode() + b'"}'


def is_sealed(line: bytes) -> bool:
    body, mark, rest = line.rpartition(MARK)
    if not mark or len(rest) != DIGITS + 2 or not rest.endswith(b'"}'):
        return False
    return hmac.compare_digest(rest[:DIGITS], _seal(body + b"}").encode())


def _seal(line: bytes) -> str:
    return hmac.new(_key(str(user_places().own)), line, hashlib.sha256).hexdigest()[:DIGITS]


@lru_cache
def _key(folder: str) -> bytes:
    """The person's key, made when it is first needed; nobody else can read it."""
    path = Path(folder) / "journal.key"
    try:
        if not path.exists():
            _make_key(path)
        return path.read_bytes()
    except OSError:  # no home to keep it in: then what tells this machine and user must do
        return _of_this_machine()


def _make_key(path: Path) -> None:
    """On the disk before anything is sealed with it: without it every change is a stranger's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f"{path.name}.{os.getpid()}")
    handle = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(os.urandom(32))
        file.flush()
        os.fsync(handle)
    try:
        os.link(half, path)  # who comes second takes the key of the first
    except FileExistsError:
        pass
    finally:
        half.unlink()
    files.flush_folder(files.Folder(path.parent))


def _of_this_machine() -> bytes:
    known = [str(os.getuid() if hasattr(os, "getuid") else "")]
    for name in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        try:
            known.append(Path(name).read_text())
        except OSError:
            continue
    return hashlib.sha256("\n".join(known).encode()).digest()
