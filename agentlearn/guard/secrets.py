"""Finds passwords, keys and tokens in a text and puts a word in their place.

`redact` is what stands between a transcript and everything that leaves or is kept: prompts,
skills, memory, the journal, logs. It would rather hide one string too many than one too few, but
a text that is full of holes is worth nothing to a reviewer: hashes, ids, paths, code and
placeholders stay. What it cannot know: a secret without a shape, a name or a place that tells it.

Lines keep their numbers: what is taken out leaves its line ends behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from agentlearn.guard.secret_blocks import private_keys
from agentlearn.guard.secret_names import foreign_secrets, named_secrets
from agentlearn.guard.secret_places import placed_secrets
from agentlearn.guard.secret_sentences import told_abroad, told_secrets
from agentlearn.guard.secret_shapes import shaped_secrets

MARKER = re.compile(r"\[secret: [a-z0-9-]+\]")


class Found(NamedTuple):
    kind: str
    """What it is, in words a person knows: `github-token`, `password`, `private-key`."""
    start: int
    end: int


def redact(text: str) -> str:
    """The text with `[secret: kind]` for every secret; redacting it again changes nothing."""
    # Once more after each change: what was part of a longer match may be a secret by itself.
    while found := find_secrets(text):
        text = "".join(_without(text, found))
    return text


def has_secret(text: str) -> bool:
    return next(_candidates(text), None) is not None


def find_secrets(text: str) -> list[Found]:
    """Every secret, in order; those that overlap are one, named after the first."""
    candidates = sorted(_candidates(text), key=lambda found: (found.start, -found.end))
    merged: list[Found] = []
    for found in candidates:
        if merged and found.start < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(merged[-1].end, found.end))
        else:
            merged.append(found)
    return merged


def _candidates(text: str) -> Iterator[Found]:
    folded = _folded(text)
    lowered = folded.lower()
    for found in chain(
        shaped_secrets(folded),
        private_keys(folded),
        placed_secrets(folded, lowered),
        named_secrets(folded, lowered),
        told_secrets(folded, lowered),
        () if text.isascii() else chain(foreign_secrets(text), told_abroad(_unmarked(text))),
    ):
        yield Found(*found)


def _folded(text: str) -> str:
    """The text with one byte a character, each in its place: searched several times as fast.

    Markers become line ends, over which no secret reaches, so that they are never found again.
    """
    return _unmarked(text.encode("ascii", "replace").decode("ascii"))


def _unmarked(text: str) -> str:
    if "[secret: " not in text:
        return text
    return MARKER.sub(lambda marker: "\n" * len(marker[0]), text)


def _without(text: str, found: list[Found]) -> Iterator[str]:
    done = 0
    for secret in found:
        yield text[done : secret.start]
        yield f"[secret: {secret.kind}]"
        yield "\n" * text.count("\n", secret.start, secret.end)
        done = secret.end
    yield text[done:]
