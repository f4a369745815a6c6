"""The commands that an agent ran, taken apart: what was run, how, and whether it worked.

`GOCACHE=/tmp/c mise exec -- go test ./x` is the core `go test` with the wrapper `mise exec --`,
a variable, and arguments. Two runs with one core are variants of each other.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct, structs

from agentlearn.rewards.patterns import Patterns
from agentlearn.sessions.turns import Turn
from agentlearn.sessions.values import Call, pack

SEPARATORS = {"&&", "||", ";", "|", "&", "\n"}
VARIABLE = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
WINDOWS_VARIABLE = re.compile(r"\$env:(\w+)\s*=\s*", re.IGNORECASE)
WINDOWS_PATH = re.compile(r"(?<!['\"])\b[A-Za-z]:\\[^\s\"';|&]*")
WRAPPERS = (
    ("mise", "exec", "--"), ("mise", "x", "--"), ("mise", "exec"), ("uv", "run"),
    ("poetry", "run"), ("pdm", "run"), ("hatch", "run"), ("pipenv", "run"), ("rye", "run"),
    ("npx",), ("bunx",), ("pnpm", "exec"), ("pnpm", "dlx"), ("yarn", "exec"), ("bundle", "exec"),
    ("direnv", "exec", "."),
    ("nix", "develop", "-c"), ("nix-shell", "--run"), ("devbox", "run"), ("asdf", "exec"),
    ("docker", "compose", "exec"), ("docker", "compose", "run"), ("xvfb-run",), ("dotenv", "--"),
)  # fmt: skip
SILENT = ("sudo", "time", "nice", "command", "exec")
NO_COMMANDS = {
    "cd", "echo", "export", "set", "source", ".", "true", "false", "sleep", "printf", "pwd", "ls",
    "cat", "head", "tail", "wc", "mkdir", "touch", "cp", "mv", "rm", "sed", "awk", "tee", "sort",
    "uniq", "xargs", "find", "grep", "rg", "ag", "which", "test", "[", "date", "env", "ps", "kill",
    "curl", "wget", "jq", "tr", "cut", "diff", "tree", "stat", "file", "du", "df", "chmod", "then",
    "if", "for", "while", "do", "done", "fi", "else", "wait", "read", "type", "pgrep", "pkill",
}  # fmt: skip
WITH_SUBCOMMAND = {
    "go", "cargo", "npm", "pnpm", "yarn", "bun", "deno", "git", "gh", "make", "just", "task",
    "mage", "rake", "mise", "docker", "uv", "poetry", "pip", "pip3", "dotnet", "mix", "swift",
    "zig", "bazel", "terraform", "kubectl", "helm", "pre-commit", "composer", "bundle", "gradle",
    "gradlew", "mvn", "mvnw", "sbt", "ruff", "turbo", "nx", "lerna", "rails", "artisan", "flutter",
    "dart", "prisma", "alembic", "xcodebuild", "firebase", "supabase", "aws", "gcloud", "az",
}  # fmt: skip
ALONE = {
    "python", "node", "bash", "sh", "zsh", "ruby", "perl", "pytest", "mypy", "pyright", "eslint",
    "prettier", "tsc", "jest", "vitest", "mocha", "rspec", "tox", "nox", "flake8", "pylint",
    "black", "isort", "golangci-lint", "gofmt", "rustc", "gcc", "clang", "cmake", "ninja", "psql",
    "sqlite3", "java", "javac", "php", "phpunit", "bats", "ctest", "rubocop", "biome", "open",
}  # fmt: skip
"""Programs whose first argument is no subcommand. Of one that is unknown, a plain word is."""
WITH_VALUE = {"-C", "-f", "-F", "--prefix", "--filter", "--dir", "--cwd", "--directory", "--file"}
"""Options before a subcommand that take the next word."""
ONLY_ASKS = {"--help", "--version", "help", "version"}
ASKS_AT_THE_END = {"-h", "-V"}
"""With something after it, -h names a host."""
RUNS_A_TASK = {("npm", "run"), ("pnpm", "run"), ("yarn", "run"), ("bun", "run"), ("mise", "run"),
               ("deno", "task"), ("docker", "compose"), ("bundle", "exec"), ("uv", "pip"),
               ("gh", "pr"), ("gh", "issue"), ("turbo", "run")}  # fmt: skip
SAME = {"python3": "python", "pip3": "pip", "py.test": "pytest", "gradlew": "gradle",
        "mvnw": "mvn"}  # fmt: skip
CHECKS = re.compile(
    r"\b(?:lint\w*|golangci-lint|eslint|ruff|flake8|pylint|mypy|pyright|tsc|fmt|format|prettier|"
    r"clippy|rubocop|stylelint|vet|pre-commit|biome|checkstyle|ktlint|swiftlint|typecheck)\b"
)
BUILDS = re.compile(r"\b(?:build|compile|install|bundle|package|release|generate|codegen|sync)\b")
SEEN_TO_FAIL = re.compile(f"{CHECKS.pattern}|{BUILDS.pattern}|\\b(?:check|commit|push)\\b")
SAYS_FAILED = re.compile(
    r"\bnpm (?:ERR!|error)|ELIFECYCLE|(?:exited with code|exit status|exit code:?) [1-9]"
    r"|\bfound [1-9]\d* errors?\b|✖ [1-9]\d* problems?|^[1-9]\d* (?:errors?|issues?)\b"
    r"|: error TS\d+|^make: \*\*\*|^error(?:\[E\d+\])?: |^error: script ",
    re.IGNORECASE | re.MULTILINE,
)
"""What a check or a build says at its end: in a pipe its exit code is lost."""
TAIL_CHARS = 3000
OUTSIDE_SANDBOX = re.compile(
    r"\brequire_escalated\b|\b(?:with_escalated_permissions|dangerouslyDisableSandbox)\W{0,4}true\b"
)
Topic = Literal["tests", "checks", "build", "commands"]
LONGEST = 4000
JSON_OUTPUT = re.compile(r'"output"\s*:\s*"((?:\\.|[^"\\])*)"')


class Run(Struct, frozen=True):
    core: tuple[str, ...]
    wrapper: tuple[str, ...]
    variables: tuple[str, ...]
    arguments: tuple[str, ...]
    program: str
    """As it was typed."""
    folder: str | None
    """Where a `cd` before it in the same command led."""
    failed: bool
    passed: bool
    output: str
    call_line: int
    result_line: int
    turn: int
    outside: bool = False
    """The agent asked for it to be run outside its sandbox."""

    @property
    def topic(self) -> Topic:
        said = " ".join((*self.core, *self.arguments[:2]))
        if self.is_test and not ("test" not in self.plain and CHECKS.search(self.plain)):
            return "tests"  # `ruff check` is none
        if CHECKS.search(said):
            return "checks"
        return "build" if BUILDS.search(" ".join(self.core)) else "commands"

    @property
    def is_test(self) -> bool:
        return any(
            "test" in word or word in ("check", "rspec", "jest", "tox") for word in self.core
        )

    @property
    def plain(self) -> str:
        return " ".join(self.core)

    @property
    def shown(self) -> str:
        """How it was run, without the arguments that change from time to time."""
        return " ".join((*self.variables, *self.wrapper, *self.core))


def runs_of(turns: list[Turn], patterns: Patterns) -> Iterator[Run]:
    """The commands in order. Of several in one call that failed, the one to blame; of several in
    one that worked, those that must have worked as well."""
    began: dict[str, Call] = {}
    goes_on = {turn.call.continues for turn in turns if turn.call is not None}
    for number, turn in enumerate(turns):
        call, result = turn.call, turn.result
        if call is None or result is None or turn.undone:
            continue
        first = began.get(call.continues or "", call)
        began[call.id] = first
        if call.id in goes_on or result.status in ("rejected", "interrupted"):
            continue
        command = patterns.command_of(first)
        parts = _parse(command) if command else []
        if not command or not parts:
            continue
        output = printed(result.text)
        seen = structs.replace(result, packed=pack(output))
        verdict = patterns.judge_tests(command, seen) if patterns.runs_tests(command) else None
        failed = result.failed or verdict == "tests_failed"
        if not failed and verdict is None and "|" in command and parts[-1].is_seen_to_fail:
            failed = SAYS_FAILED.search(output[-TAIL_CHARS:]) is not None
        passed = not failed and (verdict == "tests_passed" or result.status == "ok")
        for part in [_to_blame(parts, output)] if failed else parts:
            if part.asks or not (failed or part.counts):
                continue
            yield Run(
                core=part.core,
                wrapper=part.wrapper,
                variables=part.variables,
                arguments=part.arguments,
                program=part.program,
                folder=part.folder,
                failed=failed,
                passed=passed,
                output=output,
                call_line=first.line,
                result_line=result.line,
                turn=number,
                outside=OUTSIDE_SANDBOX.search(first.arguments[:LONGEST]) is not None,
            )


COMPLAINTS = {
    name: re.compile(words, re.MULTILINE)
    for name, words in {
        "tsc": r"\berror TS\d+: ",
        "npm": r"^npm (?:ERR!|error) ",
        "pnpm": r"^\s*ERR_PNPM_",
        "pytest": r"^(?:FAILED|ERROR) \S+\.py|^=+ .*\b[1-9]\d* failed",
        "eslint": r"✖ [1-9]\d* problems?",
        "cargo": r"^error(?:\[E\d+\])?: .*\n +--> ",
        "make": r"^make(?:\[\d+\])?: \*\*\*",
        "docker": r"^ERROR: failed to (?:solve|build)",
    }.items()
}
"""How programs speak that do not begin with their name."""


class Part(Struct, frozen=True):
    """One simple command of a line."""

    core: tuple[str, ...]
    wrapper: tuple[str, ...]
    variables: tuple[str, ...]
    arguments: tuple[str, ...]
    program: str
    folder: str | None = None
    counts: bool = True
    """If the line worked, this did."""

    @property
    def asks(self) -> bool:
        words = (*self.core, *self.arguments)
        return not ONLY_ASKS.isdisjoint(words) or words[-1] in ASKS_AT_THE_END

    @property
    def is_seen_to_fail(self) -> bool:
        return SEEN_TO_FAIL.search(" ".join(self.core)) is not None


def _to_blame(parts: list[Part], output: str) -> Part:
    """The one that the output names as failing; else the last, whose result the line's is."""
    named = (part for part in parts if _is_named(part.core[0], output))
    return next(named, parts[-1])


def _is_named(name: str, output: str) -> bool:
    own = COMPLAINTS.get(name)
    if own is not None and own.search(output):
        return True
    name = re.escape(name)
    complaint = rf"^(?:\S*/)?{name}: |: {name}: (?:command )?not found|command not found: {name}\b"
    return re.search(complaint, output, re.MULTILINE) is not None


def printed(text: str) -> str:
    """What a command printed, also where it stands as JSON inside the result."""
    found = JSON_OUTPUT.findall(text)
    if not found:
        return text
    said = "\n".join(found)
    return said.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')


def _parse(command: str) -> list[Part]:
    """The commands of a line that are a project's, not the shell's."""
    if len(command) > LONGEST or "<<" in command:
        return []
    command = WINDOWS_VARIABLE.sub(r"export \1=", command)
    command = WINDOWS_PATH.sub(lambda found: found[0].replace("\\", "/"), command)
    try:
        lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=";&|")
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return []
    folder: str | None = None
    exported: list[str] = []
    found: list[Part] = []
    for part, then in _parts(words):
        if part[0] == "cd" and len(part) > 1:
            folder = part[1]
        elif part[0] == "export":
            exported += [word for word in part[1:] if VARIABLE.fullmatch(word)]
        elif (simple := _simple(part, tuple(exported))) is not None:
            found.append(structs.replace(simple, folder=folder))
        if then not in ("&&", "") and found:  # whether it worked is not known after this
            found = [structs.replace(each, counts=False) for each in found]
    if found:
        found[-1] = structs.replace(found[-1], counts=True)
    return found


def _parts(words: list[str]) -> Iterator[tuple[list[str], str]]:
    """Each simple command, and what joins it to the next; what it is piped into is none."""
    part: list[str] = []
    waiting: list[str] = []
    piped = False
    for word in [*words, ""]:
        if word and not (word in SEPARATORS or set(word) <= set(";&|")):
            part.append(word)
            continue
        if part and not piped:
            waiting = part
        part, piped = [], word == "|"
        if not piped and waiting:
            yield waiting, word
            waiting = []


def _simple(words: list[str], exported: tuple[str, ...]) -> Part | None:
    variables, wrapper = list(exported), []
    words = [word for word in words if not re.fullmatch(r"\d?[<>]+&?\d?.*", word)]
    while words:
        if VARIABLE.fullmatch(words[0]):
            variables.append(words.pop(0))
        elif words[0] == "env" or words[0] in SILENT:
            words.pop(0)
        elif words[0] == "timeout" and len(words) > 2:
            words = words[2:]
        elif (length := _wrapper(words)) > 0:
            wrapper += words[:length]
            words = words[length:]
        else:
            break
    if not words:
        return None
    program = words.pop(0)
    name = program.rpartition("/")[2].removesuffix(".exe")
    if name in NO_COMMANDS or not re.fullmatch(r"[\w.+-]{2,40}", name):
        return None
    name = SAME.get(name, name)
    if name == "docker-compose":
        name, words = "docker", ["compose", *words]
    core = [name]
    if name == "python" and words[:1] == ["-m"] and len(words) > 1:
        core = [words[1]]
        wrapper += [program, "-m"]
        words = words[2:]
    elif name in WITH_SUBCOMMAND or (
        name not in ALONE and words and re.fullmatch(r"[a-z][a-z-]{1,20}", words[0])
    ):
        before = _leading_options(words)
        words = words[len(before) :]
        if words:
            core.append(words.pop(0))
        words += before
        if tuple(core) in RUNS_A_TASK and words and not words[0].startswith("-"):
            core.append(words.pop(0))
    return Part(tuple(core), tuple(wrapper), tuple(variables), tuple(words), program)


def _leading_options(words: list[str]) -> list[str]:
    """`-s` of `pnpm -s test`, `-C web` of `make -C web build`."""
    count = 0
    while count < len(words) and words[count].startswith("-"):
        count += 2 if words[count] in WITH_VALUE else 1
    return words[:count]


def _wrapper(words: list[str]) -> int:
    """How many words only say where or with what the command is run."""
    for start in WRAPPERS:
        length = len(start)
        if tuple(words[:length]) == start and len(words) > length:
            if start[-1] == "exec" and start[0] in ("mise", "asdf") and "--" in words[length:-1]:
                return words.index("--") + 1  # `mise exec go@1.26 -- go test`
            return length
    return 0
