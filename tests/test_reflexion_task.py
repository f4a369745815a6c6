"""Task files: what is wrong is told with its line and a near match, before anything runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agentlearn.errors import BadInput
from agentlearn.reflexion.shell import fill, unsafe_field
from agentlearn.reflexion.task import FIELDS
from agentlearn.reflexion.task_file import load_task, new_task
from tests.commands import call, names_in


@pytest.fixture
def task(tmp_path: Path) -> Path:
    path = tmp_path / "task.yaml"
    path.write_text(new_task(path))
    return path


def test_the_new_task_is_a_task(task: Path):
    made = load_task(task)
    assert made.max_episodes == 3 and made.feedback == "names"
    assert made.evaluator.protect == ("tests/",) and made.evaluator.score == "exit_code"


@pytest.mark.parametrize(
    ("old", "new", "says", "hint"),
    [
        ("feedback: names", "feedbak: names", ":22: unknown key feedbak", "did you mean feedback?"),
        ("  command: my", "  comand: my", ":9: unknown key agent.comand", "did you mean command?"),
        ("prompt: Make", "promt: Make", ":4: unknown key promt", "did you mean prompt?"),
        ("prompt: Make the failing tests pass.", "", ": prompt is missing", None),
        ("workspace: . ", "workspace: gone ", ":5: workspace: there is no folder", None),
        ("score: exit_code", 'score: {regex: "(("}', ":15: evaluator.score.regex: it is no", None),
        ("score: exit_code", "score: exitcode", ":15: evaluator.score: ", "did you mean exit_code"),
        ("score: exit_code", "score: {file: ../x}", ":15: evaluator.score.file: '../x' is", None),
        ("max_episodes: 3", "max_episodes: 0", ":19: max_episodes: ", None),
        ("max_episodes: 3", "max_episodes: '3'", ":19: max_episodes: ", None),
        ("max_episodes: 3", "max_episodes: [3", "cannot be read", None),
        ("reflector: auto", "reflector: modle", ":20: reflector: ", "did you mean model?"),
        ("threshold: 1.0", "threshold: .nan", ":17: evaluator.threshold: ", None),
        ("protect: [tests/]", "protect: [/etc]", ":18: evaluator.protect: '/etc' is no", None),
        ("{prompt_file}\n", '"{prompt_file}"\n', "stands in double quotes", None),
        ("--prompt-file {prompt_file}\n", "--fast\n", "cannot be told the reflections", None),
        ("name: ", "name: a/b #", ":3: name: ", None),
        ("feedback: names", "feedback: names\nfeedback: raw", "stands there twice", None),
        ("workspace: . ", "workspace: {{dir}}", ":5: it cannot be read: a key is a name", None),
        ("feedback: names", "? [a, b]\n: c", ":22: it cannot be read: a key is a name", None),
        ("feedback: names", "feedback: names\n1: x", ":23: it cannot be read: a key is a", None),
        ("feedback: names", "feedback: names\nstr: x", ":23: unknown key str", None),
        ("max_episodes: 3", 'max_episodes: !!int ""', ":19: it cannot be read: tags", None),
        ("max_episodes: 3", "max_episodes: !!bool no way", ":19: it cannot be read: tags", None),
        ("max_episodes: 3", "max_episodes: !!set {a}", ":19: it cannot be read: tags", None),
        ("workspace: . ", "workspace: ~nouser/x", ":5: workspace: there is no home folder", None),
        ("workspace: . ", 'workspace: "a\\0b"', ":5: it cannot be read: NUL", None),
        ("workspace: . ", 'workspace: ""', ":5: workspace: it is empty", None),
        ("workspace: . ", f"workspace: {'x' * 300}", ":5: workspace: there is no folder", None),
        ('  # transcript: "*', '  transcript: "~nouser/*', ":11: agent.transcript: there is", None),
        ("protect: [tests/]", "protect: [a**b]", ":18: evaluator.protect: 'a**b' is no pat", None),
        ("protect: [tests/]", "protect: [./.]", ":18: evaluator.protect: './.' is no path", None),
        ("protect: [tests/]", "protect: ['']", ":18: evaluator.protect: '' is no path", None),
        ("protect: [tests/]", "protect: ['**']", ":18: evaluator.protect: '**' is no", None),
        ("protect: [tests/]", 'protect: ["a\\0b"]', ":18: it cannot be read: NUL", None),
        ("score: exit_code", 'score: {file: "a\\0"}', ":15: it cannot be read: NUL", None),
        ("command: python -m pytest -q", 'command: "a\\0b"', ":13: it cannot be read: NUL", None),
        ("prompt: Make the failing tests pass.", 'prompt: "a\\0"', ":4: it cannot be", None),
        ("prompt: Make the failing tests pass.", 'prompt: "a\\ud800b"', ":4: it cannot be", None),
        ("reflector: auto", 'reflector: {command: ""}', ":20: reflector.command: it is em", None),
        ("reflector: auto", "reflector: {comand: x}", ":20: unknown key reflector.comand",
         "did you mean command?"),
        ("score: exit_code", "score: {regexp: x}", ":15: unknown key evaluator.score.regexp",
         "did you mean regex?"),
        ("score: exit_code", "score: {regex: a, key: b}", ":15: evaluator.score.key does not",
         "key goes with file"),
        ("score: exit_code", "score: {fil: a}", ":15: unknown key evaluator.score.fil",
         "did you mean file?"),
        ("score: exit_code", "score: {}", ":15: evaluator.score.file is missing", None),
        ("score: exit_code", "score: 5", ":15: evaluator.score: ", None),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told(task: Path, old: str, new: str, says: str, hint: str | None):
    text = task.read_text()
    assert old in text
    task.write_text(text.replace(old, new))
    with pytest.raises(BadInput) as told:
        load_task(task)
    assert says in told.value.message, told.value.message
    assert (hint or "") in (told.value.hint or "")
    before = names_in(task.parent)
    result = call("reflexion", "--task", task, code=2)
    assert result.stdout == "" and result.stderr.startswith("error: ")
    assert names_in(task.parent) == before


@pytest.mark.parametrize("text", ["", "- a\n", "a", "x: &a [1]\ny: *a\n", "\x00", "a: b: c"])
def test_what_is_no_task_is_told(task: Path, text: str):
    task.write_text(text)
    assert call("reflexion", "--task", task, code=2).stderr.startswith("error: ")


def test_new_writes_a_task_and_replaces_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert call("reflexion", "new", "t.yaml").stdout == "t.yaml\n"
    load_task(tmp_path / "t.yaml")
    (tmp_path / "t.yaml").write_text("mine")
    call("reflexion", "new", "t.yaml", code=2)
    assert (tmp_path / "t.yaml").read_text() == "mine"
    call("reflexion", "new", "t.yaml", "--force")
    load_task(tmp_path / "t.yaml")


def test_neither_task_nor_run_is_told():
    assert "--task FILE" in call("reflexion", code=2).stderr
    assert "--task x.yaml" in call("reflexion", "x.yaml", code=2).stderr


HOSTILE = [
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    '"; touch pwned; "',
    "a\ntouch pwned\n",
    "\\$(touch pwned)",
    "{prompt} $HOME ${HOME}",
    "-n --help",
    "é “quotes” \t tabs",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize(
    "command",
    [
        *(f"printf %s {{{name}}}" for name in FIELDS),
        "printf %s x={prompt}",
        "printf %s $(printf %s {prompt})",
    ],
)
def test_nothing_in_a_field_is_run(tmp_path: Path, text: str, command: str):
    assert unsafe_field(command, FIELDS) is None
    filled = fill(command, dict.fromkeys(FIELDS, text))
    done = subprocess.run(["sh", "-c", filled], cwd=tmp_path, capture_output=True, check=True)
    assert names_in(tmp_path) == []
    if command.startswith("printf %s {"):
        assert done.stdout.decode() == text


@pytest.mark.parametrize(
    "command",
    [
        'x "{prompt}"',
        "x '{prompt}'",
        'x "a {prompt} b"',
        "x `echo {prompt}`",
        "cat <<EOF\n{prompt}\nEOF",
        "sh -c {prompt}",
        "bash -lc {prompt}",
        "eval {prompt}",
        'x "it\\"s {prompt}"',
        "x \\{prompt}",
        "x # {prompt}",
        'R="$(echo "{prompt}")"; echo "$R"',
        '"$( (true) echo "{prompt}")"',
        "# don't stop\necho '{prompt}'",
        "eval echo --prompt {prompt}",
        "echo $(( {prompt} ))",
        "echo ${X:-{prompt}}",
        "bash -o pipefail -c {prompt}",
        "sudo env bash -c 'x' {prompt}",
        "ssh host agent {prompt}",
        "python3 -c {prompt}",
        "perl -e {prompt}",
        'ssh "${HOST}" agent {prompt}',
        "eval $(true) {prompt}",
        'ssh host "$(date)" {prompt}',
    ],
)
def test_a_field_where_quoting_does_not_help_is_refused(command: str):
    assert unsafe_field(command, FIELDS) is not None


@pytest.mark.parametrize(
    "command",
    [
        "x {prompt}",
        "x 'a' {prompt} \"b\"",
        "awk '{print}' {prompt_file}",
        "x --p={prompt}",
        "x\\'{prompt}",
        "# don't\nx {prompt_file}",
        'echo "$(cat {prompt_file})"',
        "cd sub && x {prompt_file}",
        "(cd sub; x {prompt_file})",
        "codex -c model=x exec {prompt}",
        "claude -p {prompt}",
        "if true; then x {prompt_file}; fi",
        "sh agent.sh {prompt_file}",
    ],
)
def test_a_bare_field_is_fine(command: str):
    assert unsafe_field(command, FIELDS) is None


def test_a_workspace_that_links_to_itself_is_told(task: Path):
    (task.parent / "loop").symlink_to("loop")
    task.write_text(task.read_text().replace("workspace: . ", "workspace: loop "))
    assert "there is no folder" in call("reflexion", "--task", task, code=2).stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("protect: [tests/]", 'protect: ["tests/**/*.py", "[ab]?.txt", ./conftest.py]'),
        ("score: exit_code", "score: {file: out/s.json, key: a.b}"),
        ("score: exit_code", 'score: {regex: "(\\\\d+) passed"}'),
        ("reflector: auto", "reflector: {command: cat, timeout_seconds: 5}"),
        ("workspace: . ", "workspace: ~ # home\n".replace("~", '"~"')),
        ('  # transcript: "*', '  transcript: "~/*'),
    ],
)
def test_what_is_right_is_taken(task: Path, old: str, new: str):
    assert old in task.read_text()
    task.write_text(task.read_text().replace(old, new))
    load_task(task)
