"""What a command finds in its environment.

An agent of the person's own has the person's environment: it needs its key. What runs things that
an agent wrote (the judge, and the shell of the built-in agent) gets no variable that looks like a
key, a token or a password, unless the task names it. Nobody gets those that would lead git to the
original, which is what they do when this program is called from a git hook.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from agentlearn.guard.secrets import has_secret

GIT = re.compile(
    r"GIT_(?:DIR|WORK_TREE|IMPLICIT_WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|COMMON_DIR|PREFIX"
    r"|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|CEILING_DIRECTORIES|QUARANTINE_PATH|GRAFT_FILE"
    r"|SHALLOW_FILE|REPLACE_REF_BASE|NO_REPLACE_OBJECTS|INTERNAL_SUPER_PREFIX"
    r"|CONFIG(?:_COUNT|_PARAMETERS|_KEY_\d+|_VALUE_\d+)?)"
)
"""What `git rev-parse --local-env-vars` names, and what a `git -c` hands on to its hooks."""
SECRET_PART = re.compile(
    r".*(?:keys?|pass|pwd|creds?|auth|cookies?|jwt|dsn)|pat|bearer|authorization"
)
"""A part of a name, as in `MY_PART`: `MYKEY` and `DBPASS` are written without the line."""
WORDS = {
    *("monkey", "monkeys", "donkey", "donkeys", "turkey", "turkeys", "whiskey", "hockey", "jockey"),
    *("compass", "bypass", "overpass", "underpass", "surpass", "encompass", "trespass"),
}
"""They end like one, and are none."""
INSIDE = re.compile(
    r"api_?key|access_?key|private_?key|passw|passphrase|secret(?!ar)|token(?!i[sz])|credential"
)
PRIVATE_KEY = re.compile(r"PRIVATE KEY(?: BLOCK)?-----|LS0tLS1CRUdJTi")
"""The second is how `-----BEGIN` begins in base64."""
FOLDERS = ("PWD", "OLDPWD")


def environment(
    added: Mapping[str, str], without_secrets: bool = False, named: Iterable[str] = ()
) -> dict[str, str]:
    """The environment of this process with `added`; `named` variables are let through."""
    kept = {name: value for name, value in os.environ.items() if not GIT.fullmatch(name)}
    if without_secrets:
        wanted = set(named)
        kept = {
            name: value
            for name, value in kept.items()
            if name in wanted or not looks_secret(name, value)
        }
    return {**kept, **added}


def looks_secret(name: str, value: str) -> bool:
    """By its name, or by what stands in it."""
    if name in FOLDERS:
        return False
    lowered = name.lower()
    parts = set(re.split(r"[\d_\W]+", lowered)) - WORDS
    if INSIDE.search(lowered) or any(SECRET_PART.fullmatch(part) for part in parts):
        return True
    return bool(PRIVATE_KEY.search(value)) or has_secret(value) or has_secret(f"{name}={value}")
