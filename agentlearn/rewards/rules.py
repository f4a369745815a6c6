"""The rules by which rewards are drawn, as values.

The defaults stand twice: in `defaults.yaml`, for people to read, copy and change, and here, so
that a command need not load a YAML parser and a validator to start. A test holds them equal.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from agentlearn.errors import BadInput

DEFAULTS_FILE = Path(__file__).with_name("defaults.yaml")


class VerdictRules(Struct, frozen=True):
    pass_at: float = 1.0
    success: float = 1.0
    failure: float = 0.0


class PersonRules(Struct, frozen=True):
    rejection: float = -1.0
    declined: float = -0.2
    interruption: float = -0.5
    rollback: float = -1.0
    edited: float = -0.2
    correction: float = -0.5
    thanks: float = 0.5


class ShapedRules(Struct, frozen=True):
    tests_passed: float = 0.2
    tests_failed: float = -0.2
    failed_call: float = -0.1
    malformed_call: float = -0.2


class WordRules(Struct, frozen=True):
    max_chars: int = 400
    correction: tuple[str, ...] = (
        r"^(?:no|nope|nah)\b(?!\s+(?:problem|worries|need|rush|idea))",
        r"^(?:stop|wrong|undo|revert|wait)\b",
        r"^(?:please\s+)?(?:don't|do not|never)\b",
        r"^(?:that|this|it)(?:'s| is| was)?\s+(?:still\s+)?(?:not|wrong|broken|incorrect)\b",
        r"^(?:that|this|it)\s+(?:doesn't|didn't|does not|did not)\b",
        r"^(?:still|again)\b.*\b(?:fail|fails|failing|broken|not|error|wrong)\b",
        r"\byou\s+(?:broke|forgot|missed|removed|deleted|ignored|misunderstood"
        r"|should(?:n't| not) have)\b",
        r"^(?:why (?:did|would|are) you)\b",
        r"^i\s+(?:said|asked|told|meant|wanted)\b",
        r"\binstead of\b",
        r"\b(?:remove|revert|undo|change)\b.*\b(?:again|back)\b",
    )
    thanks: tuple[str, ...] = (
        r"^(?:thanks|thank you|thx|ty|cheers)\b",
        r"^(?:perfect|great|excellent|awesome|amazing|brilliant|wonderful|nice|lovely)\b"
        r"(?!.*\bbut\b)",
        r"^(?:lgtm|looks (?:good|great)|that works|works (?:now|great|well|fine)|well done"
        r"|good job)\b",
        r"^(?:ok|okay|yes|yep|cool)[, ]+(?:great|perfect|thanks|nice|works|looks good)\b",
    )


class CommandRules(Struct, frozen=True):
    questions: str = (
        r"(?i)^(?:ExitPlanMode|exit_plan_mode|AskUserQuestion|ask_user\w*|ask_followup_question"
        r"|plan_mode_respond)$"
    )
    shell_tools: str = r"(?i)bash|shell|exec|terminal|command|\brun\b|^sh$"
    tests: tuple[str, ...] = (
        r"(?:pytest|py\.test|tox|nox|nosetests|jest|vitest|mocha|rspec|phpunit|ctest|bats"
        r"|gotestsum)\b",
        r"unittest\b",
        r"manage\.py\s+test\b",
        r"(?:runtests|run_tests|run-tests|runtest)(?:\.\w+)?\b",
        r"go\s+test\b",
        r"cargo\s+(?:\+\S+\s+)?(?:test|nextest)\b",
        r"(?:npm|pnpm|yarn|bun|deno)\s+(?:run\s+)?test\S*",
        r"(?:make|just|task|mage|rake|mise\s+run)\s+(?:test|check)\S*",
        r"(?:mvn|mvnw|gradle|gradlew|sbt|dotnet|mix|swift|zig|bazel|stack|cabal)\s+"
        r"(?:\S+\s+)?test\b",
    )
    tests_failed: tuple[str, ...] = (
        r"\b[1-9]\d* (?:failed|failing|failures?|errors?)\b",
        r"(?m)^(?:\[[^\]\n]{1,40}\] *)?(?:FAILED|FAIL|ERROR|--- FAIL)\b",
        r"test result: FAILED",
    )
    tests_passed: tuple[str, ...] = (
        r"\b[1-9]\d* (?:passed|passing|tests? passed)\b",
        r"(?m)^(?:\[[^\]\n]{1,40}\] *)?(?:ok|OK|PASS)\b",
        r"test result: ok",
    )
    searches: tuple[str, ...] = (
        r"(?:grep|egrep|fgrep|rg|ag|ack|diff|cmp|test|which|pgrep|git\s+(?:grep|diff))\b",
    )
    malformed: tuple[str, ...] = (
        r"InputValidationError",
        r"failed to parse function arguments",
        r"unsupported call",
        r"Invalid tool parameters",
        r"(?i)\bunknown tool\b",
        r"(?i)no such tool available",
    )


class Rules(Struct, frozen=True):
    verdict: VerdictRules = field(default_factory=VerdictRules)
    person: PersonRules = field(default_factory=PersonRules)
    shaped: ShapedRules = field(default_factory=ShapedRules)
    words: WordRules = field(default_factory=WordRules)
    commands: CommandRules = field(default_factory=CommandRules)
    stated_only: bool = False
    """`--rewards native`: nothing but what the file itself states."""


NATIVE = Rules(stated_only=True)


def load_rules(name: str | None) -> Rules:
    """The default rules, `native`, or those of a YAML file."""
    if name is None:
        return Rules()
    if name == "native":
        return NATIVE
    return _from_file(Path(name))


def _from_file(path: Path) -> Rules:
    import yaml
    from pydantic import ValidationError

    try:
        data = _plain_yaml(path.read_text(encoding="utf-8"))
    except OSError as error:
        hint = f"copy the defaults to start from: cp {DEFAULTS_FILE} my-rewards.yaml"
        raise BadInput(f"cannot read {path}: {error.strerror or error}", hint) from None
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise BadInput(f"{path} is not YAML: {' '.join(str(error).split())[:200]}") from None
    if data is not None and not isinstance(data, dict):
        hint = f"copy the defaults to start from: cp {DEFAULTS_FILE} my-rewards.yaml"
        raise BadInput(f"{path} holds no rules: it is no mapping of names", hint)
    if isinstance(data, dict) and "stated_only" in data:
        raise BadInput(f"{path}: stated_only is not a rule; pass --rewards native instead")
    try:
        checked = _model(Rules).model_validate(data or {})
    except ValidationError as error:
        raise BadInput(f"{path}: {_first_error(error.errors())}", _hint(error.errors())) from None
    from agentlearn.rewards.patterns import check_patterns

    rules = msgspec.convert(checked.model_dump(), Rules)
    check_patterns(rules)
    compiled_rules(rules)
    return rules


def _plain_yaml(text: str) -> Any:
    """A YAML text without aliases: a few lines of them can stand for billions."""
    import yaml

    class PlainLoader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("aliases (*name) are not read here")
            return super().compose_node(parent, index)

    return yaml.load(text, PlainLoader)


def _model(kind: type[Struct]) -> Any:
    """The same fields as a pydantic model: it checks what people write, and says it well."""
    from pydantic import ConfigDict, create_model

    fields: dict[str, Any] = {}
    for item in msgspec.structs.fields(kind):
        if isinstance(item.type, type) and issubclass(item.type, Struct):
            inner = _model(item.type)
            fields[item.name] = (inner, inner())
        else:
            fields[item.name] = (item.type, item.default)
    config = ConfigDict(extra="forbid", allow_inf_nan=False)
    return create_model(kind.__name__, __config__=config, **fields)


def _first_error(errors: list[Any]) -> str:
    first = errors[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        return f"unknown key {where}"
    return f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}"


def _hint(errors: list[Any]) -> str | None:
    import difflib

    *parents, name = (str(part) for part in errors[0]["loc"])
    holder: Any = Rules()
    for parent in parents:
        holder = getattr(holder, parent, None)
    if not isinstance(holder, Struct):
        return None
    known = [name for name in holder.__struct_fields__ if name != "stated_only"]
    near = difflib.get_close_matches(name, known, 1)
    return f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"


@cache
def compiled_rules(rules: Rules) -> Any:
    """The patterns of the rules, ready to search with; a broken one is bad input."""
    from agentlearn.rewards.patterns import Patterns

    return Patterns(rules)
