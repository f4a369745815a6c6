"""Where the agents look for skills, and for the instructions of a project.

As their documentation has it in 2026. `.agents/skills` is the folder that nearly all of them
share; Claude Code and Droid read only their own. Claude Code and Gemini CLI take in a file that
an instruction names with @, the others read it when they are told to: one sentence serves both.
"""

from __future__ import annotations

from msgspec import Struct

SHARED = ".agents/skills"


class Agent(Struct, frozen=True):
    skills: tuple[str, ...] = (SHARED,)
    """The folders of a project that it reads skills from; the first is its own."""
    instructions: tuple[str, ...] = ("AGENTS.md",)
    """The files that it reads at the start: the first that is there is meant, else the first."""
    prefers: str | None = None
    """A file that it would read in the absence of its own, and must not lose."""


AGENTS: dict[str, Agent] = {
    "amp": Agent(),
    "claude": Agent((".claude/skills",), ("CLAUDE.md", ".claude/CLAUDE.md"), "AGENTS.md"),
    "codex": Agent(),
    "copilot": Agent((SHARED, ".github/skills", ".claude/skills")),
    "cursor": Agent((SHARED, ".cursor/skills", ".claude/skills")),
    "droid": Agent((".factory/skills",)),
    "gemini": Agent((SHARED, ".gemini/skills"), ("GEMINI.md",)),
    "kimi": Agent((SHARED, ".kimi/skills", ".claude/skills")),
    "opencode": Agent((SHARED, ".opencode/skills", ".claude/skills")),
    "pi": Agent((SHARED, ".pi/skills")),
    "qwen": Agent((SHARED, ".qwen/skills")),
}
MEMORY, USER = ".agentlearn/memory/MEMORY.md", ".agentlearn/memory/USER.md"


def line_for(file: str) -> str:
    """The one line for an instruction file; what it names is looked for from its folder."""
    up = "../" * file.count("/")
    return (
        f"Before you start, read @{up}{MEMORY} and, if there is one, @{up}{USER} "
        "for what earlier sessions learned."
    )
