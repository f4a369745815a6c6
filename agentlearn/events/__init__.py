"""What a running command says of itself: one closed family of typed, frozen values.

They are a firewall. Events are kept, shown and sent on, so there is no way to put a prompt, a key,
a path of this machine or a transcript's text into one: each field has a type that cannot hold it.
`emit` is passed down to what takes long; nothing here is global.
"""

from agentlearn.events.log import EventLog, ignore, new_trace_id, tee
from agentlearn.events.safe import Safe
from agentlearn.events.values import (
    ChangeMade,
    Completion,
    Emit,
    EpisodeJudged,
    EpisodeStarted,
    Event,
    Progress,
    ReflectionGenerated,
    ReviewStarted,
    SessionSkipped,
    SubcallFallback,
    Usage,
)

__all__ = [
    "ChangeMade",
    "Completion",
    "Emit",
    "EpisodeJudged",
    "EpisodeStarted",
    "Event",
    "EventLog",
    "Progress",
    "ReflectionGenerated",
    "ReviewStarted",
    "Safe",
    "SessionSkipped",
    "SubcallFallback",
    "Usage",
    "ignore",
    "new_trace_id",
    "tee",
]
