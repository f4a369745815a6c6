"""What stands before a command and only says where or with what it is run.

`uv run --extra test pytest` is pytest in an environment, `docker compose exec -T web pytest` is
pytest in a container.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

PLAIN_VALUE = re.compile(r"[a-z0-9][a-z0-9.,_-]{0,23}")
"""It is shown: anything else may be secret."""


class Wrapper(NamedTuple):
    words: tuple[str, ...]
    alone: frozenset[str] = frozenset()
    """Options that stand for themselves."""
    with_value: frozenset[str] = frozenset()
    """Options that the next word belongs to."""
    places: int = 0
    """Words after the options: the container that it is run in."""


def _options(text: str) -> frozenset[str]:
    return frozenset(text.split())


UV_RUN = (
    _options(
        "-q --quiet -v --verbose --frozen --locked --no-sync --isolated --all-extras --all-groups"
        " --offline --active --no-project --exact --no-dev --dev --all-packages"
    ),
    _options("--with --extra --group --only-group --no-group --python -p --package"),
)
CHOICES = _options("--all-extras --all-groups --dev --workspace --recursive -g --global -D")
CHOICES_OF = _options("--extra --group --features")
CONTAINER = (_options("-T -t -i -it -ti --rm --no-deps --build"), _options(""))
NPX = (_options("-y --yes --no --no-install -q --quiet"), _options("-p --package"))
WRAPPERS = (
    Wrapper(("uv", "run"), *UV_RUN),
    Wrapper(("uv", "tool", "run"), *UV_RUN),
    Wrapper(("uvx",), *UV_RUN),
    Wrapper(("pipx", "run")),
    *(Wrapper((tool, "run")) for tool in ("poetry", "pdm", "hatch", "pipenv", "rye", "devbox")),
    Wrapper(("npx",), *NPX),
    Wrapper(("bunx",), *NPX),
    Wrapper(("pnpm", "exec")),
    Wrapper(("pnpm", "dlx")),
    Wrapper(("yarn", "exec")),
    Wrapper(("bundle", "exec")),
    Wrapper(("asdf", "exec")),
    Wrapper(("direnv", "exec", ".")),
    Wrapper(("nix", "develop", "-c")),
    Wrapper(("nix", "develop", "--command")),
    Wrapper(("nix-shell", "--run")),
    Wrapper(("docker", "compose", "exec"), *CONTAINER, 1),
    Wrapper(("docker", "compose", "run"), *CONTAINER, 1),
    Wrapper(("docker", "exec"), *CONTAINER, 1),
    Wrapper(("xvfb-run",), _options("-a --auto-servernum")),
    Wrapper(("dotenv",)),
)
TOOL = re.compile(r"[\w./-]{1,40}@(?:[v^~]?\d[\w.-]{0,19}|latest|lts)")
MISE = (("mise", "exec"), ("mise", "x"))


def wrapper_length(words: list[str]) -> int:
    """How many words only say where or with what the command is run."""
    if tuple(words[:2]) in MISE:
        return _mise(words)
    for wrapper in WRAPPERS:
        length = len(wrapper.words)
        if tuple(words[:length]) == wrapper.words:
            return _with_options(words, length, wrapper)
    return 0


def environment_options(words: tuple[str, ...]) -> list[str]:
    """`--extra test` of `uv sync --extra test`: what of an environment is meant."""
    found: list[str] = []
    for word, after in pairwise((*words, "")):
        if word in CHOICES:
            found.append(word)
        elif word in CHOICES_OF and PLAIN_VALUE.fullmatch(after):
            found += [word, after]
    return found


def _with_options(words: list[str], end: int, wrapper: Wrapper) -> int:
    """0 where it wraps nothing, or has an option that is not known: what follows may be any."""
    while end < len(words) and words[end].startswith("-") and words[end] != "--":
        name, is_joined, value = words[end].partition("=")
        if name in wrapper.with_value:
            value = value or "".join(words[end + 1 : end + 2])
            if not PLAIN_VALUE.fullmatch(value):
                return 0
            end += 1 if is_joined else 2
        elif name in wrapper.alone:
            end += 1
        else:
            return 0
    if not all(map(PLAIN_VALUE.fullmatch, words[end : end + wrapper.places])):
        return 0
    end += wrapper.places
    if end < len(words) and words[end] == "--":
        end += 1
    return end if end < len(words) else 0


def _mise(words: list[str]) -> int:
    """`mise exec go@1.26 -- go test`; without tools the `--` may be left out."""
    end = 2
    while end < len(words) and TOOL.fullmatch(words[end]):
        end += 1
    if end < len(words) and words[end] == "--":
        end += 1
    elif end > 2:
        return 0
    return end if end < len(words) else 0
