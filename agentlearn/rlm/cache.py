"""Answers about parts of a session that were paid for, by what was asked of what.

A file an answer, in a folder beside the events; whoever deletes it loses nothing but money.
"""

from __future__ import annotations

import hashlib
import secrets

import msgspec
from msgspec import Struct

from agentlearn.errors import AgentlearnError
from agentlearn.store import files
from agentlearn.store.files import Folder

VERSION = 1
MOST_BYTES = 1024 * 1024
MOST_FILES, PRUNED_EVERY = 5000, 100


class Kept(Struct, frozen=True):
    answer: str


class Cache:
    def __init__(self, folder: Folder, name: str = "cache") -> None:
        """`folder` is the store's own; the cache is a folder in it."""
        self.folder = folder
        self.name = name

    def key(self, model: str, question: str, part: str) -> str:
        """The same words about the same text, asked of the same model."""
        asked = msgspec.json.encode([VERSION, model, question, part])
        return hashlib.sha256(asked).hexdigest()

    def get(self, key: str) -> str | None:
        try:
            text = files.read_text(self.folder, f"{self.name}/{key}.json")
            return None if text is None else msgspec.json.decode(text, type=Kept).answer
        except (AgentlearnError, msgspec.MsgspecError, UnicodeError):
            return None  # what cannot be read is paid for again

    def put(self, key: str, answer: str) -> None:
        """Keep an answer; a disk that is full must not cost the run."""
        text = msgspec.json.encode(Kept(answer)).decode()
        if len(text) > MOST_BYTES:
            return
        try:
            files.write_text(self.folder, f"{self.name}/{key}.json", text, secrets.token_hex(4))
            if secrets.randbelow(PRUNED_EVERY) == 0:
                self._prune()
        except (AgentlearnError, OSError):
            return

    def _prune(self) -> None:
        """Without the oldest, where there are too many."""
        folder = self.folder.path / self.name
        kept = sorted(folder.glob("*.json"), key=lambda path: path.lstat().st_mtime)
        for path in kept[:-MOST_FILES]:
            files.remove_file(self.folder, f"{self.name}/{path.name}")
