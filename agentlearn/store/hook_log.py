"""What hooks say of themselves: .agentlearn/hook.log, since an agent shows nobody what they print.

Small, the person's alone, and written through no link; secrets are replaced. It begins anew when
it is full: who looks into it wants to know what happened last.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime

from agentlearn.errors import AgentlearnError
from agentlearn.guard import plain
from agentlearn.store import files
from agentlearn.store.places import IGNORED, Places

NAME = "hook.log"
MOST_BYTES = 256 * 1024
MOST_SAID = 16 * 1024
"""Of what one hook says, the end."""


def note(places: Places, what: str, said: str) -> None:
    """Add what a hook said; where there is no store yet, or no place for it, nothing is done."""
    from agentlearn.guard.secrets import redact

    own = places.folder(places.own)
    if not places.own.is_dir():
        return
    at = datetime.now(UTC).isoformat(timespec="seconds")
    # Redacted before it is cut: half a secret is not known for one.
    end = redact(plain(said[-16 * MOST_SAID :])).rstrip()[-MOST_SAID:]
    text = f"{at} {redact(plain(what))}\n{end}".rstrip()
    data = text.encode("utf-8", "backslashreplace") + b"\n"
    try:
        if not files.exists(own, ".gitignore"):
            files.write_text(own, ".gitignore", IGNORED, "hook")
        with files.open_file(own, NAME, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as handle:
            if os.fstat(handle).st_size + len(data) > MOST_BYTES:
                os.ftruncate(handle, 0)
            os.write(handle, data)
    except (OSError, AgentlearnError):
        return  # a log that nobody asked for must not fail anybody
