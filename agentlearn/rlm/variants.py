"""Whether one command is another way to do the same: how much of its words the other has."""

from __future__ import annotations

import re

NAMES = re.compile(r"[/:]")
SEPARATORS = frozenset(("&&", "||", ";", "|", "&", ">", "<", "2>&1", "--", "\\"))
CHANGE_FOLDER = re.compile(r"^\s*(?:cd|pushd)\s+\S+\s*(?:&&|;)\s*")
ENOUGH, NEARLY_ENOUGH = 0.75, 0.6
LONGEST, MOST_WORDS = 2000, 40
SHORTEST_STEM = 4
TASK_RUNNERS = frozenset(("npm", "pnpm", "yarn", "bun", "make", "just", "task", "rake", "mise"))


class Command:
    """A command, its words ready to be compared."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = [_name(word) for word in words_of(text)]
        self.names = frozenset(self.words)
        self.stems = frozenset(stem for name in self.names for stem in _stems(name))

    def has(self, word: str) -> bool:
        """Whether it has a word, or nearly that: `heads` is nearly `head`."""
        return (
            word in self.names
            or (len(word) >= SHORTEST_STEM and word in self.stems)
            or any(stem in self.names for stem in _stems(word))
        )


def likeness(command: Command, other: Command) -> float:
    """From 0 to 1; 0 if the other does something else.

    `npm run lint` has two of three words of `npm run build`, and not the one that matters.
    """
    words = command.words
    if not words:
        return 0.0
    shared = sum(map(other.has, words)) / len(words)
    if shared < NEARLY_ENOUGH:
        return 0.0
    if shared < ENOUGH and not (_begin_alike(words, other) or other.has(_last(words))):
        return 0.0
    return shared


def words_of(command: str) -> list[str]:
    """The words of a command, without where it is run and what joins it to others."""
    command = CHANGE_FOLDER.sub("", command[:LONGEST])
    words = (word.strip("\"'();") for word in command.split())
    kept = dict.fromkeys(word for word in words if word and word not in SEPARATORS)
    return list(kept)[:MOST_WORDS]


def _name(word: str) -> str:
    """`bin/rails` is `rails`."""
    return NAMES.split(word)[-1] or word


def _stems(name: str) -> tuple[str, ...]:
    return tuple(name[:-cut] for cut in (1, 2) if len(name) - cut >= SHORTEST_STEM)


def _begin_alike(words: list[str], other: Command) -> bool:
    """The same program does the same to something else; of a runner of tasks that is another."""
    return len(words) > 2 and words[0] not in TASK_RUNNERS and all(map(other.has, words[:2]))


def _last(words: list[str]) -> str:
    """What it is done to: the last word that is no option."""
    return next((word for word in reversed(words) if not word.startswith("-")), words[-1])
