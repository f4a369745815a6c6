"""The values of a session: what was asked, said, done and seen, in order.

A `Session` holds facts only, as entries that each know their line (or, for files that are one
JSON value, the number of the object they came from). Turns, counts and rewards are derived.

Text is kept packed: a Python string with one emoji in it takes four bytes a character, and
sessions of 200 MB exist. `pack` keeps ASCII as it is and everything else as UTF-8; `.text`
gives the string back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field

if TYPE_CHECKING:
    from agentlearn.sessions.spool import Spool
    from agentlearn.sessions.turns import Turn

FIELD_CAP = 64 * 1024
"""A longer text is cut to this many characters, with a marker that says how long it was."""

Role = Literal["user", "assistant", "system"]
Status = Literal["ok", "error", "rejected", "interrupted"]
SignalKind = Literal[
    "interruption", "rejection", "rollback", "compaction", "verdict", "edited", "api_error", "note"
]
OUTCOMES = ("in_progress", "success", "failure", "aborted", "unknown")
RewardKind = Literal["positive", "negative", "neutral", "terminal"]
Packed = str | bytes


def cut(text: str) -> str:
    """Cut a text over the cap in its middle: commands stand at the start, verdicts at the end."""
    if len(text) <= FIELD_CAP:
        return text
    marker = f"\n…({len(text)} characters, the middle is left out)…\n"
    tail = 16 * 1024
    return text[: FIELD_CAP - tail - len(marker)] + marker + text[-tail:]


def pack(text: str) -> Packed:
    """The text as it is kept: cut to the cap, and UTF-8 unless it is plain ASCII."""
    if len(text) > FIELD_CAP:
        text = cut(text)
    if text.isascii():
        return text
    try:
        return text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, from a writer that cut an emoji in two
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def unpack(packed: Packed) -> str:
    return packed if isinstance(packed, str) else packed.decode()


class Reward(Struct, frozen=True, gc=False):
    """A reward as a native file states it."""

    kind: RewardKind
    value: float = 0.0

    @property
    def signed(self) -> float:
        return (-self.value if self.kind == "negative" else self.value) or 0.0  # never -0.0


class Place(Struct, frozen=True, gc=False):
    """Where something stands in a file that is not the transcript."""

    path: str
    lines: tuple[int, int] | None = None
    """The first and the last; None where they are still to be found, by `within`."""
    within: tuple[str | int, ...] = ()
    """The keys and numbers that lead to it in a JSON file; none of them is all of the file."""


class Message(Struct, frozen=True, gc=False):
    """Words. Role `user` is a person's; what a harness puts in their mouth is `system`."""

    role: Role
    packed: Packed
    line: int
    at: str | None = None
    step: str | None = None
    """The response these words are part of: words and calls of one response share it."""
    source_line: int = 0
    """In a converted file: the line of the original that this came from."""

    @property
    def text(self) -> str:
        return unpack(self.packed)


class Call(Struct, frozen=True, gc=False):
    """A tool call. A native `turn` is a call without a tool name: its action is the arguments."""

    id: str
    tool: str
    packed: Packed
    line: int
    at: str | None = None
    step: str | None = None
    reward: Reward | None = None
    source_line: int = 0
    continues: str | None = None
    """The earlier call whose command was still running, and goes on in this one."""

    @property
    def arguments(self) -> str:
        """JSON text of an object, or whatever else the model wrote."""
        return unpack(self.packed)

    @property
    def text(self) -> str:
        return f"{self.tool} {self.arguments}".strip() if self.tool else self.arguments


class Result(Struct, frozen=True, gc=False):
    """What came back from a call."""

    call_id: str
    packed: Packed
    line: int
    at: str | None = None
    status: Status = "ok"
    """`rejected` is the person's no; `interrupted` was cut short, by whomever (a signal tells)."""
    exit_code: int | None = None
    child: str | None = None
    """The id of the sub-agent's session that did the work."""
    source_line: int = 0

    @property
    def text(self) -> str:
        return unpack(self.packed)

    @property
    def failed(self) -> bool:
        """Failed by flag or by exit code: several agents flag a failing command as fine."""
        return self.status == "error" or (self.status == "ok" and bool(self.exit_code))


class Signal(Struct, frozen=True, gc=False):
    """Something that happened to the session. Its text is a person's words, where there are any."""

    kind: SignalKind
    packed: Packed
    line: int
    at: str | None = None
    value: float | None = None
    """The score of a verdict."""
    undoes: int = 0
    """For a rollback: how many entries right before this one were undone."""
    call_id: str | None = None
    """For a rejection or an edit: the call it answers."""
    source_line: int = 0
    place: Place | None = None
    """For a verdict from a file beside the transcript, which has no line in it."""

    @property
    def text(self) -> str:
        return unpack(self.packed)


Entry = Message | Call | Result | Signal


class Warning_(Struct, frozen=True, gc=False):
    """Something that could not be read, or was not understood."""

    line: int
    reason: str
    lost: bool = True
    """False where nothing was skipped: an unknown line type, a total that disagrees."""
    count: int = 1
    """How many this stands for, where there are too many to list."""


class Counts(Struct, frozen=True, gc=False):
    messages: int
    calls: int
    results: int
    errors: int
    rejections: int
    interruptions: int


class Session(Struct, frozen=True, kw_only=True):
    """One run of an agent."""

    id: str
    dialect: str
    entries: list[Entry]
    unit: Literal["line", "entry"] = "line"
    path: str | None = None
    agent: str | None = None
    model: str | None = None
    version: str | None = None
    cwd: str | None = None
    goal: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    parent: str | None = None
    outcome: str = "unknown"
    reason: str | None = None
    """Why the session was aborted."""
    metadata: dict[str, Any] = field(default_factory=dict)
    warnings: list[Warning_] = field(default_factory=list)
    raws: list[bytes] = field(default_factory=list)
    """For files that are one JSON value: the bytes of each numbered object."""
    kept: Spool | None = None
    """For a pipe whose lines will be hashed: its bytes."""

    def turns(self) -> list[Turn]:
        from agentlearn.sessions.turns import turns_of

        return turns_of(self.entries)

    def counts(self) -> Counts:
        from agentlearn.sessions.turns import counts_of

        return counts_of(self.entries)
