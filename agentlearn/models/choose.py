"""Which model a name means."""

from __future__ import annotations

from agentlearn.models.model import Model

SCRIPTED = "scripted:"


def choose_model(name: str, timeout_seconds: float = 120) -> Model:
    """`scripted:FILE`, else the model of that name on the server that the environment tells of."""
    if name.startswith(SCRIPTED):
        from agentlearn.models.scripted import read_script

        return read_script(name.removeprefix(SCRIPTED))
    from agentlearn.models.openai_client import OpenAIModel

    return OpenAIModel(name, timeout_seconds=timeout_seconds)
