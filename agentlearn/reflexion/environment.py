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
    r"GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR"
    r"|PREFIX|NAMESPACE|CEILING_DIRECTORIES|QUARANTINE_PATH)"
)
SECRET_PARTS = {
    *("key", "keys", "apikey", "token", "tokens", "secret", "secrets", "password", "passwd"),
    *("passphrase", "pass", "pwd", "credential", "credentials", "creds", "auth", "pat", "cookie"),
    *("dsn", "jwt", "bearer"),
}
INSIDE = re.compile(r"apikey|password|passwd|secret|token|credential|privatekey")
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
    if SECRET_PARTS & set(re.split(r"[_\W]+", lowered)) or INSIDE.search(lowered):
        return True
    return has_secret(value) or has_secret(f"{name}={value}")
