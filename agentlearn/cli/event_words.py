"""An event in words: what its fields say, on one plain line."""

from __future__ import annotations

from agentlearn.events import (
    ChangeMade,
    Completion,
    EpisodeJudged,
    EpisodeStarted,
    Event,
    Progress,
    ReflectionGenerated,
    ReviewStarted,
    SessionSkipped,
    SubcallFallback,
)


def in_words(event: Event) -> str:
    match event:
        case Progress():
            return how_far(event)
        case Completion():
            return _ending(event)
        case SubcallFallback():
            if event.configured is None:
                return f"no cheaper model is named (--subcall-model): {event.using} does it all"
            return f"{event.using} instead of {event.configured}: {_spaced(event.reason)}"
        case ReviewStarted():
            who = f"the model {event.model}" if event.reviewer == "model" else "the rules"
            return f"session {event.session}, by {who}"
        case SessionSkipped():
            return f"session {event.session} passed over: {_spaced(event.reason)}"
        case ChangeMade():
            change = f" {event.change}" if event.change else ""
            return f"{event.kind} {_spaced(event.action)}, {event.status}{change}"
        case EpisodeStarted():
            return f"run {event.run}, attempt {event.episode + 1} of {event.max_episodes}"
        case EpisodeJudged():
            return f"run {event.run}, attempt {event.episode + 1} {_verdict(event)}"
        case ReflectionGenerated():
            return f"run {event.run}, attempt {event.episode + 1}, {event.file}"


def how_far(event: Progress) -> str:
    of = f" of {event.max_iterations}" if event.max_iterations else ""
    so_far = f", {event.tokens:,} tokens so far" if event.tokens else ""
    return f"{event.status}, {event.iteration}{of}{so_far}"


def _ending(event: Completion) -> str:
    """`review exhausted (max iterations): 6 rounds, …`"""
    what = f"{event.command} {event.outcome}" if event.command else event.outcome
    why = f" ({_spaced(event.reason)})" if event.reason else ""
    parts = [_counted(event.iterations, "round")]
    if event.subcalls:
        parts.append(_counted(event.subcalls, "sub-call"))
    if event.input_tokens:
        parts.append(f"{event.input_tokens:,} tokens of session, {event.output_tokens:,} of result")
    parts += _paid(event)
    parts.append(f"{event.elapsed_ms / 1000:.1f} s")
    return f"{what}{why}: {', '.join(parts)}"


def _paid(event: Completion) -> list[str]:
    if event.root_model is None:
        return []
    models = " and ".join(filter(None, (event.root_model, event.subcall_model_used)))
    usage = event.usage
    return [f"{usage.input_tokens:,} tokens to {models}, {usage.output_tokens:,} back"]


def _verdict(event: EpisodeJudged) -> str:
    parts = ["passed" if event.passed else "not passed"]
    if event.score is not None:
        parts.append(f"score {event.score:g}")
    if event.tampered:
        parts.append("changed protected files")
    if event.tokens:
        parts.append(_counted(event.tokens, "token"))
    return ", ".join([*parts, f"{event.elapsed_ms / 1000:.1f} s"])


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _spaced(word: str) -> str:
    return word.replace("_", " ")
