"""Types of fields that make harmless what is put into them. There is none for free text.

    id          letters, digits and `_.:-`; anything else, and what looks like a key, becomes a
                digest, which still tells one from another
    model       as servers name them (`org/name:tag`); a file, a path or a key becomes `unnamed`
    word        one of a list, else `other`
    count       a whole number, 0 or more
    score       a number, if it is a finite one
    flag        yes or no
    run file    the path of a file in the folder of a run, such as `episodes/0/reflection.md`

A value that does not fit is replaced, never refused: an event must not end the run it tells of.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

LARGEST = 2**53 - 1
"""Beyond this a reader that knows only floats would see another number."""
ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_PART = r"[A-Za-z0-9_+-][A-Za-z0-9_.+-]*"
# A part begins with no dot and is never empty: so there is no `/…`, `~`, `..`, `C:/…` or `x:/…`.
MODEL = re.compile(rf"(?=.{{1,100}}\Z){_PART}(?:[/:@]{_PART})*")
RUN_FILE = re.compile(r"(?:episodes/\d{1,6}/)?[a-z]{1,20}\.[a-z]{1,8}")
KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:[spr]k[-_]|gh[a-z]_|github_pat|glpat-|xox[a-z]-|xapp-|hf_|npm_|pypi-"
    r"|AKIA|ASIA|AIza|ya29|eyJ|gsk_|xai-|tvly-|dop_v|shp[a-z]{2}_|whsec_)"
)


def safe_id(value: Any) -> str:
    """Ids come from transcripts, where anything may stand in their place."""
    text = value if isinstance(value, str) else ""
    if not text:
        return "unknown"
    if ID.fullmatch(text) and not KEY.search(text):
        return text
    return "x-" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def safe_model(value: Any) -> str:
    text = value if isinstance(value, str) else ""
    if text.startswith("scripted:"):
        return "scripted"  # what follows is a file of this machine
    if MODEL.fullmatch(text) and not KEY.search(text):
        return text
    return "unnamed"


def safe_count(value: Any) -> int:
    if not isinstance(value, (int, float)) or not value >= 0:  # NaN is neither
        return 0
    return int(min(value, LARGEST))


def safe_score(value: Any) -> float:
    if not isinstance(value, (int, float)) or not -LARGEST <= value <= LARGEST:  # NaN is neither
        return 0.0
    return float(value)


def safe_flag(value: Any) -> bool:
    return value is True


def safe_run_file(value: Any) -> str:
    return value if isinstance(value, str) and RUN_FILE.fullmatch(value) else "unknown"


def one_of(*words: str, otherwise: str = "other") -> Callable[[Any], str]:
    known = {*words, otherwise}

    def safe_word(value: Any) -> str:
        return value if isinstance(value, str) and value in known else otherwise

    return safe_word


Id = Annotated[str, safe_id]
ModelName = Annotated[str, safe_model]
Count = Annotated[int, safe_count]
Score = Annotated[float, safe_score]
Flag = Annotated[bool, safe_flag]
RunFile = Annotated[str, safe_run_file]


class Safe(Struct, frozen=True):
    """A value whose every field passes through the function that its type names."""

    def __post_init__(self) -> None:
        for name, clean in cleaners(type(self)).items():
            msgspec.structs.force_setattr(self, name, clean(getattr(self, name)))


@cache
def cleaners(kind: type[Safe]) -> dict[str, Callable[[Any], Any]]:
    """What makes each field safe; a field whose type names nothing is a mistake in this file."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: _cleaner(hints[name]) for name in kind.__struct_fields__}


def _cleaner(hint: Any) -> Callable[[Any], Any]:
    if get_origin(hint) in (Union, UnionType):
        (inner,) = (part for part in get_args(hint) if part is not type(None))
        clean = _cleaner(inner)
        return lambda value: None if value is None else clean(value)
    if get_origin(hint) is Annotated:
        return hint.__metadata__[0]  # type: ignore[no-any-return]
    if isinstance(hint, type) and issubclass(hint, Safe):
        return lambda value: value if type(value) is hint else hint()
    raise TypeError(f"an event has no field of the type {hint}: it could hold any text")
