"""The review by a model: it reads the rendered transcript and may use the tools, no more.

The transcript is marked as data, by a border that nothing in it can know. The loop ends when the
model has nothing more to do (converged), when its rounds or tokens are spent (exhausted), when it
fails, or when the person stops it (aborted); what was written until then stays.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from msgspec import Struct

from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.events import Emit, Progress
from agentlearn.guard.data import as_data
from agentlearn.guard.secrets import redact
from agentlearn.models.model import Model, ModelFailed, Said, Usage, tokens_of
from agentlearn.review.gate import MARK
from agentlearn.review.tools import Tools
from agentlearn.sessions.values import Session
from agentlearn.store.memory import TARGETS
from agentlearn.store.shelf import Shelf

MOST_CALLS = 32
"""Of one reply; who wants more is asked to come again."""
MOST_OUTPUT_TOKENS = 4096


class Ended(Struct, frozen=True):
    """How a review ended."""

    outcome: str
    """converged, exhausted, failed or aborted."""
    iterations: int
    usage: Usage
    reason: str | None = None
    error: AgentlearnError | None = None


class NotDone(AgentlearnError):
    """A review that could not happen; the next session may fare better."""

    is_final = False


class Limits(Struct, frozen=True):
    max_iterations: int
    max_tokens: int


def load_prompt(path: str | None) -> str:
    """What the reviewer is told: a person's file, or the one in the package, after our mark."""
    if path is None:
        text = (resources.files("agentlearn.review") / "prompt.md").read_text(encoding="utf-8")
    else:
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise BadInput(f"cannot read the prompt {path}: {reason}") from None
        if not text.strip():
            raise BadInput(f"the prompt {path} is empty")
    return f"{MARK}: a review of an agent's session\n\n{text.strip()}\n"


def first_messages(prompt: str, transcript: str, session: Session, shelf: Shelf) -> list[Said]:
    """What the model is told. People write secrets into skills and notes by hand, too."""
    skills = "\n".join(f"- {each.folder}: {each.description}" for each in shelf.skills()) or "none"
    parts = [
        f"Outcome of the session as far as anyone judged it: {session.outcome}.",
        f"The skills there are:\n{skills}",
    ]
    for target in TARGETS:
        notes = "\n".join(f"- {note.text}" for note in shelf.notes(target)) or "empty"
        parts.append(f"{target}:\n{notes}")
    parts.append(as_data(transcript, "the transcript"))
    return [Said("system", prompt), Said("user", redact("\n\n".join(parts)))]


def review_by_model(
    model: Model, messages: list[Said], tools: Tools, limits: Limits, emit: Emit, trace_id: str
) -> Ended:
    usage, rounds, spent = Usage(), 0, 0
    schemas = tools.schemas()
    try:
        while rounds < limits.max_iterations:
            asking = sum(map(tokens_of, messages))
            room = limits.max_tokens - spent - asking
            if room < 1:
                never = None if rounds else _too_small(limits.max_tokens, asking)
                return Ended("exhausted", rounds, usage, "max_tokens", never)
            rounds += 1
            emit(Progress(trace_id, rounds, limits.max_iterations, "asking", usage.total))
            reply = model.ask(messages, schemas, min(room, MOST_OUTPUT_TOKENS))
            usage += reply.usage
            said = Said("assistant", reply.text, reply.calls)
            counted = reply.usage.input_tokens + reply.usage.output_tokens
            spent += counted or asking + tokens_of(said)  # some servers do not count
            if not reply.calls and reply.finish == "length":
                return Ended("exhausted", rounds, usage, "no_answer")
            if not reply.calls:
                return Ended("converged", rounds, usage)
            messages.append(said)
            for number, call in enumerate(reply.calls):
                if number < MOST_CALLS:
                    answer = tools.call(call.name, call.arguments)
                else:
                    answer = f"error: not done, these are over {MOST_CALLS} calls: come again"
                messages.append(Said("tool", answer, call_id=call.id))
        return Ended("exhausted", rounds, usage, "max_iterations")
    except ModelFailed as error:
        return Ended("failed", rounds, usage, "model", error)
    except KeyboardInterrupt:
        return Ended("aborted", rounds, usage, "interrupted")


def _too_small(max_tokens: int, asking: int) -> NotDone:
    return NotDone(
        f"the model was not asked: the first question takes about {asking} tokens, "
        f"and it may use {max_tokens}",
        f"--max-tokens {max(4 * asking, 10_000)}, or a smaller --max-chars",
    )
