"""Text as it may be shown, kept and sent: without secrets, also where colours stood inside them."""

from __future__ import annotations

from agentlearn.guard.secrets import redact
from agentlearn.guard.text import plain


def harmless(text: str) -> str:
    """Without secrets and without what would act on a terminal.

    Looked through again once the colours are gone: a word that is highlighted in the middle of a
    key hides it.
    """
    clean = redact(text)
    seen = plain(clean)
    return clean if seen == clean else redact(seen)
