"""Which server is asked, and with which key; the key is told to nobody else."""

from __future__ import annotations

import ipaddress
import os
from urllib.parse import urlsplit

from msgspec import Struct

from agentlearn.models.model import ModelFailed

OPENAI = "https://api.openai.com/v1"
NO_KEY = "no-key"
"""What a server on this machine is sent where there is no key: the library wants one."""


class Server(Struct, frozen=True):
    base_url: str
    host: str
    """Host and port as shown in messages: no path, no password."""
    key: str

    def without_key(self, text: str) -> str:
        """Servers echo keys, whole or in part: a word that shares six characters with it goes."""
        if self.key == NO_KEY:
            return text
        if len(self.key) < 8:  # a word that stands where nobody looks at keys
            pieces = set()
        else:
            pieces = {self.key[start : start + 6] for start in range(len(self.key) - 5)}
        pieces = {piece for piece in pieces if piece not in self.host}

        def hidden(word: str) -> bool:
            return word.strip("\"'.,:;()") == self.key or any(piece in word for piece in pieces)

        return " ".join("[key]" if hidden(word) else word for word in text.split(" "))


def find_server(base_url: str | None = None, key: str | None = None) -> Server:
    """The server that the environment tells of; ModelFailed if there is no key for it."""
    base_url = base_url or os.environ.get("OPENAI_BASE_URL", "").strip() or OPENAI
    key = key or os.environ.get("OPENAI_API_KEY", "").strip()
    try:
        parts = urlsplit(base_url)
        name, port = parts.hostname or "", parts.port
    except ValueError:
        name, port, parts = "", None, urlsplit("")
    if parts.scheme not in ("http", "https") or not name or not base_url.isprintable():
        hint = "export OPENAI_BASE_URL=http://localhost:8080/v1"
        raise ModelFailed("OPENAI_BASE_URL is no address of a server", hint, is_final=True)
    host = f"[{name}]" if ":" in name else name
    host = f"{host}:{port}" if port else host
    if not key and not _is_this_machine(name):
        hint = "export OPENAI_API_KEY=…, or OPENAI_BASE_URL=… for a server on this machine"
        raise ModelFailed(f"there is no key for {host}: OPENAI_API_KEY is not set", hint, True)
    if not key.isascii() or not key.isprintable() or " " in key:
        # The library would name such a key in its own message.
        sentence = "OPENAI_API_KEY is no key: it has characters that no key has"
        raise ModelFailed(sentence, "was it copied whole, and nothing else?", is_final=True)
    return Server(base_url, host, key or NO_KEY)


def _is_this_machine(name: str) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
