"""What a model is to the rest: messages and tools in, a reply with calls and usage out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from agentlearn.errors import AgentlearnError
from agentlearn.events import Usage

__all__ = ["Model", "ModelFailed", "Reply", "Said", "Tool", "ToolCall", "Usage", "tokens_of"]
CHARS_PER_TOKEN = 4
Refusal = Literal["unknown_model", "no_access", "rate_limit"]


class ToolCall(Struct, frozen=True):
    """A tool that the model wants used. Nothing in it is checked: it says what the model said."""

    id: str
    name: str
    arguments: str
    """As the model wrote them: mostly a JSON object, at times broken."""


class Reply(Struct, frozen=True):
    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    finish: str | None = None
    """Why the reply ended as the server tells it: `stop`, `tool_calls`, `length`, …"""


class Said(Struct, frozen=True):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    """Which call a tool's message answers."""


class Tool(Struct, frozen=True):
    """A tool as the model is told of it."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON schema of the arguments."""


class Model(Protocol):
    name: str

    def ask(
        self,
        messages: Sequence[Said],
        tools: Sequence[Tool],
        max_output_tokens: int | None = None,
    ) -> Reply:
        """The reply, or `ModelFailed`."""
        ...


class ModelFailed(AgentlearnError):
    """The model, its server or its key: nothing that is wrong with the session."""

    exit_code = 4

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        is_final: bool = False,
        refusal: Refusal | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.is_final = is_final
        """To ask again, or about anything else, would fail as well: the key was refused."""
        self.refusal = refusal
        """Why this model is not to be had, where another one may be."""


def tokens_of(said: Said) -> int:
    """About how many tokens a message takes; servers count exactly, but only afterwards."""
    calls = sum(len(call.arguments) + len(call.name) for call in said.calls)
    return (len(said.text) + calls) // CHARS_PER_TOKEN + 4
