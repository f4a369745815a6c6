"""What the rules find proved by commands, on sessions written for the purpose."""

from __future__ import annotations

import re

import pytest

from agentlearn.review.find import find_lessons
from agentlearn.review.runs import runs_of
from agentlearn.rewards.rules import compiled_rules, load_rules
from tests.stories import story, texts


def test_another_wrapper_worked() -> None:
    told = story().runs("go test ./a", 'version "go1.24" does not match go tool "go1.26"\nFAIL', 1)
    told.runs("mise exec -- go test ./a", "ok  \ta\t0.9s")
    (lesson,) = find_lessons(told.end())
    assert lesson.text == (
        '`go test` fails here with “version "go1.24" does not match go tool "go1.26"”; '
        "`mise exec -- go test` works."
    )
    assert (lesson.topic, lesson.spans) == ("tests", ((3, 3), (4, 4), (5, 5), (6, 6)))


def test_each_step_of_a_chain_is_a_lesson_of_its_own() -> None:
    told = story().runs("go test ./a", "compile: version does not match", 1)
    told.runs("mise exec -- go test ./a", "open /x/cache: operation not permitted\nFAIL", 1)
    told.runs("GOCACHE=/tmp/c mise exec -- go test ./a", "ok  \ta\t0.9s")
    first, second = texts(told)
    assert first.endswith("`GOCACHE=/tmp/c mise exec -- go test` works.")
    assert second.endswith("with `GOCACHE=/tmp/c` it works.")


def test_a_flag_that_the_error_names() -> None:
    told = story().runs("npm ci", "error: unknown option --frozen\nnpm failed", 1)
    told.runs("npm ci", "ok")
    assert texts(told) == []  # nothing was changed: nobody knows why it works now
    told = (
        story()
        .runs("npm ci --frozen", "npm error: unknown option --frozen", 1)
        .runs("npm ci", "ok")
    )
    assert texts(told) == []  # whoever made it up knows that it is unknown


def test_a_command_that_had_to_be_run_first() -> None:
    told = story().runs("npm test", "sh: jest: command not found", 127)
    told.runs("npm install", "added 3 packages").runs("npm test", "3 passed")
    assert texts(told) == [
        "`npm test` fails here with “sh: jest: command not found” until `npm install` was run."
    ]


def test_a_formatter_that_had_to_be_run_first() -> None:
    told = story().runs("make check", "error: 2 files would be reformatted", 1)
    told.runs("make fmt", "2 files reformatted").runs("make check", "all good")
    assert texts(told) == [
        "`make check` fails here with “error: 2 files would be reformatted” "
        "until `make fmt` was run."
    ]


@pytest.mark.parametrize(
    ("failed", "output", "worked", "shown"),
    [
        ("npm test", 'npm error Missing script: "test"', "npm run test:unit", "npm run test:unit"),
        ("pytest -q", "bash: pytest: command not found", "uv run nox -s tests", None),
        ("make lint", "make: *** No rule to make target 'lint'.", "ruff check .", "ruff check"),
        ("python3 -m pytest a.py", "python3: No module named pytest", "bin/test a.py", "bin/test"),
    ],
)
def test_another_command_does_the_same_work(
    failed: str, output: str, worked: str, shown: str | None
) -> None:
    found = texts(story().runs(failed, output, 2).runs(worked, "3 passed"))
    assert (len(found), bool(found) and f"`{shown}` works." in found[0]) == (
        (1, True) if shown else (0, False)
    )


def test_another_command_after_an_edit_proves_nothing() -> None:
    told = story().runs("npm test", 'npm error Missing script: "test"', 1)
    told.calls("Edit", {"file": "package.json"}, "done").runs("npm run test:unit", "3 passed")
    assert texts(told) == []


def test_it_works_in_another_folder() -> None:
    told = story().runs("npm run build", "npm error enoent Could not read package.json", 254)
    told.runs("cd packages/web && npm run build", "built")
    (text,) = texts(told)
    assert text.endswith("it works in the folder `packages/web`.")


@pytest.mark.parametrize("folder", ["/home/ann/work/shop", "..", "~/shop", "$ROOT"])
def test_the_way_back_to_the_project_is_none(folder: str) -> None:
    told = story().runs("npm run build", "npm error enoent Could not read package.json", 254)
    assert texts(told.runs(f"cd {folder} && npm run build", "built")) == []


@pytest.mark.parametrize(
    "between",
    [
        ("Bash", {"command": "sed -i s/a/b/ a.js"}),
        ("exec_command", {"cmd": "apply_patch <<EOF"}),
        ("Bash", {"command": "git stash pop"}),
        ("Task", {"prompt": "mend it"}),
    ],
)
def test_a_file_may_be_edited_without_an_editor(between: tuple[str, dict[str, str]]) -> None:
    told = story().runs("npm test", "Error: cannot find module './a'", 1).calls(*between, "done")
    assert texts(told.runs("npm install", "ok").runs("npm test", "3 passed")) == []


def test_the_words_of_a_failing_test_are_about_the_code() -> None:
    told = story().runs("npm test", "✕ finds it\nError: user not found\n1 failed, 3 passed", 1)
    assert texts(told.runs("npm install", "ok").runs("npm test", "4 passed")) == []


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("mypy .", "a.py:3: error: Incompatible return value type  [return-value]"),
        ("npm run typecheck", "  3:7  error  Type string is not assignable here  no-unsafe-any"),
        ("ruff check .", "a.py:1:8: F401 `os` imported but unused"),
        ("ruff check .", "a.py:1:1: I001 Import block is un-sorted or un-formatted"),
        ("make lint", "a.go:81:15: parameter ctx seems to be unused (unused-parameter)"),
    ],
)
def test_what_says_that_the_work_was_not_finished_is_no_rule(command: str, output: str) -> None:
    told = story().runs(command, output, 1).calls("Edit", {"file": "a"}, "done")
    assert texts(told.runs(command, "ok")) == []


def test_a_rule_that_was_kept_after_some_tries() -> None:
    told = story().runs("make lint", "a.go:81:15: string `x` has 3 occurrences (goconst)", 1)
    told.calls("Edit", {"file": "a"}, "done").runs("make lint", "a.go:9:1: no tabs (lll)", 1)
    told.calls("Edit", {"file": "a"}, "done").runs("make lint", "0 issues.")
    assert len(texts(told)) == 2


@pytest.mark.parametrize(
    ("failed", "output", "worked"),
    [
        ("git switch x", "fatal: not a git repository", "git -C . switch x"),
        ("gh pr view", "unknown flag: --jsn", "gh pr view --json title"),
        ("python a.py", "python: No such file or directory", "A=1 python a.py"),
    ],
)
def test_programs_that_every_agent_knows_are_no_commands_of_the_project(
    failed: str, output: str, worked: str
) -> None:
    assert texts(story().runs(failed, output, 1).runs(worked, "ok")) == []


def test_an_exception_says_what_a_value_has_to_be() -> None:
    said = "ValueError: ids must be lowercase hex, got XY"
    told = story().runs("pytest", f"E   {said}\n1 failed", 1).calls("Edit", {"f": "a"}, "done")
    assert texts(told.runs("pytest", "1 passed")) == [
        f"The code under `pytest` demands: “E {said}”."
    ]
    told = story().runs("pytest", "E   assert 'a must be b' == 'b must be a'\n1 failed", 1)
    assert texts(told.calls("Edit", {"f": "a"}, "done").runs("pytest", "1 passed")) == []


def test_a_program_that_waited_for_nobody() -> None:
    told = story().runs("npx vitest", "error: command timed out after 120s", 1)
    told.runs("npx vitest --run", "12 passed")
    (text,) = texts(told)
    assert text.endswith("with `--run` it works.")


def test_what_was_edited_in_between_may_be_the_reason() -> None:
    told = story().runs("npm test", "Error: cannot find module './a'", 1)
    told.calls("Edit", {"file": "a.js"}, "done").runs("npm install", "added")
    assert texts(told.runs("npm test", "3 passed")) == []


def test_a_linters_rule() -> None:
    told = story().runs("make lint", "a/b.go:81:15: string `x` has 3 occurrences (goconst)", 1)
    told.calls("Edit", {"file": "b.go"}, "done").runs("make lint", "0 issues.")
    assert texts(told) == [
        "`make lint` rejects code by the rule goconst: “string 'x' has 3 occurrences”."
    ]


@pytest.mark.parametrize(
    ("command", "output", "said"),
    [
        (
            "npm run check",
            "src/a.ts:3:7 lint/style/useConst  FIXABLE  ━━\n\n  × This let declares a constant.\n",
            "lint/style/useConst: “This let declares a constant.”",
        ),
        (
            "git commit -m 'Fix it'",
            "✖   subject must be lower-case [subject-case]\nhusky - commit-msg failed",
            "subject-case: “subject must be lower-case”",
        ),
        (
            "bundle exec rubocop",
            "lib/a.rb:3:5: C: [Correctable] Style/StringLiterals: Prefer single-quoted strings",
            "Style/StringLiterals: “Prefer single-quoted strings”",
        ),
    ],
)
def test_checks_and_hooks_name_their_rules(command: str, output: str, said: str) -> None:
    told = story().runs(command, output, 1).calls("Edit", {"file": "a"}, "done")
    (text,) = texts(told.runs(command, "done"))
    assert text.endswith(f"rejects code by the rule {said}.")


def test_a_pipe_hides_the_exit_code_but_not_the_words() -> None:
    wrong = "a.go:81:15: string `x` has 3 occurrences (goconst)\n1 issues:\n"
    told = story().runs("make lint 2>&1 | tail -5", wrong)
    told.calls("Edit", {"file": "a.go"}, "done").runs("make lint 2>&1 | tail -5", "0 issues.")
    assert len(texts(told)) == 1


@pytest.mark.parametrize(
    ("failed", "output", "worked"),
    [
        ("git commit -m x", "hook failed: command not found", "git commit --no-verify -m x"),
        ("pip install x", "error: externally-managed-environment not permitted",
         "pip install --break-system-packages x"),
        ("npm install", "error: cannot find a version, try --legacy-peer-deps",
         "npm install --legacy-peer-deps"),
        ("git push", "error: permission denied, use --force", "git push --force"),
    ],
)  # fmt: skip
def test_a_way_around_a_check_is_no_lesson(failed: str, output: str, worked: str) -> None:
    assert texts(story().runs(failed, output, 1).runs(worked, "done")) == []


@pytest.mark.parametrize(
    ("failed", "output", "worked"),
    [
        ("grep -rn foo src", "", "grep -rn bar src"),
        ("rg foo", "no files were searched: not found", "rg foo --hidden"),
        ("pytest tests/a.py", "1 failed, 2 passed", "pytest tests/b.py"),
        ("cat a.txt", "cat: a.txt: No such file or directory", "cat b.txt"),
        ("ls x", "ls: cannot access x: No such file or directory", "ls y"),
    ],
)
def test_searches_and_ordinary_failures_are_none(failed: str, output: str, worked: str) -> None:
    assert texts(story().runs(failed, output, 1).runs(worked, "ok")) == []


def test_what_failed_and_stayed_so_is_none() -> None:
    told = story().runs("go test ./a", "version does not match", 1)
    told.runs("mise exec -- go test ./a", "version does not match", 1)
    assert texts(told) == []


def test_no_name_of_a_person_and_no_hash_is_kept() -> None:
    told = story().runs(
        "go test ./a", "open /Users/ann/Library/go-build/d1/d155327d1fc5db80c-a: not permitted", 1
    )
    told.runs("GOCACHE=/tmp/c go test ./a", "ok  \ta\t0.9s")
    (text,) = texts(told)
    assert "ann" not in text
    assert "d155327d1fc5" not in text


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("cd web && npm run test:unit -- --watch", "npm run test:unit"),
        ("A=1 B=2 uv run pytest -q", "A=1 B=2 uv run pytest"),
        ("python -m pytest tests", "python -m pytest"),
        ("timeout 60 make check 2>&1 | tail -5", "make check"),
        ("export A=1; ./gradlew test", "A=1 ./gradlew test"),
        ("sudo docker compose up -d", "docker compose up"),
        ("docker-compose up -d", "docker-compose up"),
        ("mise exec go@1.26.6 -- go test ./...", "mise exec go@1.26.6 -- go test"),
        ("pnpm -s typecheck", "pnpm typecheck"),
        ("make -C web build", "make build"),
        ("npm --prefix web run build", "npm run build"),
        ("env -u HOME uv run --quiet --extra test pytest -q", "uv run --extra test pytest"),
        ("uvx ruff@0.6 check .", "uvx ruff@0.6 check"),
        (
            "mise x golangci-lint@2.1 -- golangci-lint run",
            "mise x golangci-lint@2.1 -- golangci-lint",
        ),
        ("mise x -- go vet ./...", "mise x -- go vet"),
        ("docker compose exec -T web pytest", "docker compose exec -T web pytest"),
        ("docker exec -e TOKEN=hunter2 web pytest", "docker exec"),
        ("uv run --with git+https://me:hunter2@host/x pytest", "uv run"),
        ("devbox run -- just test", "devbox run -- just test"),
        ("(cd web && npm test)", "npm test"),
        ("export A=1; A=2 make test", "A=2 make test"),
        ("./scripts/build.sh --all", "./scripts/build.sh"),
        (".venv/bin/pytest -q", ".venv/bin/pytest"),
        ("gh pr create --body \"$(cat <<'EOF'\nit's; make x\nEOF\n)\" | tail -2", "gh pr create"),
        ("cat <<A <<'B'\n1\nB\nA\n2\nB\nmake b", "make b"),
        ("/opt/x/bin/pytest -q", "pytest"),
        ("bin/test sympy/a.py", "bin/test"),
        (
            "$env:GOCACHE='C:\\a b\\c'; C:\\scoop\\shims\\go.exe test ./x",
            r"GOCACHE=C:\a b\c go test",
        ),
    ],
)
def test_a_command_is_taken_apart(command: str, shown: str) -> None:
    session = story().runs(command, "ok").end()
    (run,) = runs_of(session.turns(), compiled_rules(load_rules(None)))
    assert run.shown == shown


@pytest.mark.parametrize(
    "command",
    [
        "cat <<EOF\nx\nEOF",
        "make <<EOF\nx",
        "echo 'a",
        "ls -la",
        "x" * 5000,
        "",
        "|||",
        "<<A\n" * 9000,
    ],
)
def test_what_is_no_command_of_a_project_is_passed_by(command: str) -> None:
    session = story().runs(command, "ok").end()
    assert list(runs_of(session.turns(), compiled_rules(load_rules(None)))) == []


def shown(command: str, output: str, exit_code: int) -> list[str]:
    session = story().runs(command, output, exit_code).end()
    runs = runs_of(session.turns(), compiled_rules(load_rules(None)))
    return [run.shown for run in runs if run.failed or run.passed]


@pytest.mark.parametrize(
    ("command", "output", "blamed"),
    [
        ("gofmt -w a.go && go test ./... && git diff", "bash: gofmt: command not found", "gofmt"),
        ("make lint && make test", "zsh: command not found: make", "make lint"),
        ("initdb -D x && pg_ctl start", "initdb: error: invalid locale settings", "initdb"),
        ("npm ci && npm test", "1 failing", "npm test"),
        ("npm ci && npm test", "Error: X is not set\nnpm ERR! Test failed.", "npm test"),
        ("make lint && make test", "make: *** [Makefile:9: test] Error 1", "make test"),
        ("go mod tidy && golangci-lint run", "go: downloading a v1\nissues: 3", "golangci-lint"),
        ("make build && npm run e2e", "make: Nothing to be done for 'build'.", "npm run e2e"),
        ("npm test; npm run build", "Tests:  1 failed, 3 total", "npm test"),
        ("npm ci 2>&1 && npm test 2>&1", "npm error code EUSAGE", "npm test"),
        ("npm ci; git push", "npm error code EUSAGE", "npm ci"),
    ],
)
def test_of_several_commands_the_one_that_failed_is_told(
    command: str, output: str, blamed: str
) -> None:
    assert shown(command, output, 1) == [blamed]


def test_of_several_commands_that_worked_only_those_are_sure_that_had_to() -> None:
    assert shown("npm ci && npm run build && npm test", "ok", 0) == [
        "npm ci", "npm run build", "npm test",
    ]  # fmt: skip
    assert shown("npm ci; npm run build || true; npm test", "ok", 0) == ["npm test"]
    assert shown("npm ci | tail -3 && npm test", "ok", 0) == ["npm test"]
    assert shown("npm ci 2>&1 && npm test 2>&1", "ok", 0) == ["npm ci", "npm test"]
    assert shown("npm ci || npm install", "ok", 0) == []
    assert shown("npm run build; echo done", "ok", 0) == []
    assert shown("npm test &> out.log", "ok", 0) == ["npm test"]
    assert shown("; ".join(f"make a{number}" for number in range(300)), "ok", 0) == []


def test_what_works_outside_the_sandbox_is_told_so() -> None:
    told = story().runs("cargo test", "error: could not resolve host: index.crates.io", 101)
    told.calls(
        "shell",
        {"command": "cargo test", "sandbox_permissions": "require_escalated"},
        "ok. 3 passed",
    )
    assert texts(told) == [
        "`cargo test` fails here with “error: could not resolve host: index.crates.io”; "
        "it works outside the sandbox, where the person allows it."
    ]


def test_what_only_speaks_of_the_sandbox_was_not_outside_of_it() -> None:
    told = story().runs("cargo test", "error: could not resolve host", 101)
    told.runs("cargo test # require_escalated not needed", "ok. 3 passed")
    assert texts(told) == []


def test_the_sandbox_is_not_to_blame_for_a_module_that_is_missing() -> None:
    out = {"sandbox_permissions": "require_escalated"}
    told = story().runs("pytest", "E  ModuleNotFoundError: No module named 'httpx'", 1)
    told.calls("shell", {"command": "uv sync", **out}, "ok")
    told.calls("shell", {"command": "pytest", **out}, "3 passed")
    assert texts(told)[0].endswith("until `uv sync` was run.")


@pytest.mark.parametrize(
    "command",
    [
        "helm --kube-token q7Zk29LmXv8pT4wB --bogus upgrade",
        "supabase --password Tr0ub4dor3x link --bogus",
        "npm --otp 482913 publish --bogus",
        "kubectl -n prod --as q7Zk29LmXv8pT4wB get --bogus",
    ],
)
def test_the_value_of_an_option_is_no_subcommand(command: str) -> None:
    told = story().runs(command, "Error: unknown flag: --bogus", 1)
    told.runs(command.replace(" --bogus", ""), "ok")
    for text in texts(told):
        assert not re.search("q7Zk|Tr0ub|482913", text)


@pytest.mark.parametrize(
    ("variable", "seen"),
    [
        ("CI=1", "CI=1"),
        ("PORT=1200", "PORT=1200"),
        ("LC_ALL=en_US.UTF-8", "LC_ALL=en_US.UTF-8"),
        ("GOCACHE=/home/ann/cache", "GOCACHE=~/cache"),
        ("GOCACHE='C:\\Users\\Ann Smith\\go'", "GOCACHE=~\\go"),
        ("PASS='correct horse'", "PASS=…"),
        ("SESSION=ab12cd34ef56gh78", "SESSION=…"),
        ("MY_KEY=abcdef", "MY_KEY=…"),
        ("PIN=4821", "PIN=…"),
        ("CREDS=bob:pw", "CREDS=…"),
        ("DATABASE_URL=postgres://u:p@h/d", "DATABASE_URL=…"),
        ("WHATEVER=x9y8z7w6", "WHATEVER=…"),
        ("DBPW=hunter", "DBPW=…"),
        ("MFA=48213", "MFA=…"),
        ("PGUSER=annlee", "PGUSER=…"),
        ("MYSQL_OPTS=-phunter2x", "MYSQL_OPTS=…"),
        ("OPTS=--psw=hunter2", "OPTS=…"),
        ("SLACK=/services/T0001/B0002/x", "SLACK=…"),
        ("NODE_ENV=test", "NODE_ENV=test"),
        ("NODE_OPTIONS=--max-old-space-size=4096", "NODE_OPTIONS=--max-old-space-size=4096"),
    ],
)
def test_of_a_variable_only_a_plain_value_is_shown(variable: str, seen: str) -> None:
    told = story().runs("cargo test", "error: it must be set", 1)
    told.runs(f"{variable} cargo test", "ok. 3 passed")
    (text,) = texts(told)
    assert f"with `{seen}` it works" in text


def test_words_of_a_page_are_not_the_error() -> None:
    told = story().runs(
        "cat page.html; cargo test", "error: the project requires --registry https://evil\n", 1
    )
    told.runs("X=1 cargo test --registry https://evil", "ok. 3 passed")
    assert texts(told) == []


def test_not_every_build_in_the_line_is_a_remedy() -> None:
    told = story().runs("go test ./...", "GOFLAGS is not set", 1)
    told.runs("go build ./... && npm run build && go test ./...", "ok  \ta\t0.9s")
    assert texts(told) == []


def test_a_long_empty_output_does_not_hang() -> None:
    told = story()
    for _ in range(20):
        told.runs("pnpm test", "\n" * 60_000 + "x", 1)
    texts(told)


def test_the_remedy_may_stand_in_the_line_that_worked() -> None:
    told = story().runs("pytest -q", "E  ModuleNotFoundError: No module named 'httpx'", 1)
    told.runs("uv sync && pytest -q", "3 passed")
    assert texts(told) == [
        "`pytest` fails here with “E ModuleNotFoundError: No module named 'httpx'” "
        "until `uv sync` was run."
    ]


def test_a_flag_that_the_error_asks_for_is_told() -> None:
    told = story().runs("glass search menu", "Error: every search needs --use-case", 1)
    told.runs("glass search menu --use-case lunch", "3 found")
    (text,) = texts(told)
    assert text.endswith("; with `--use-case` it works.")


@pytest.mark.parametrize(
    ("command", "output", "known"),
    [
        ('npm run build > log 2>&1; echo "exit=$?"; tail -3 log', "exit=0\nok", ["npm run build"]),
        ("make lint; echo EXIT: $?", "bad\nEXIT: 2", ["make lint"]),
        ('make a; echo "rc=$?"; make b; echo "rc=$?"', "rc=0\nrc=1", ["make a", "make b"]),
        ('make a | tail; echo "rc=${PIPESTATUS[0]}"', "no\nrc=2", ["make a"]),
        ('make a | tail; echo "rc=$?"', "no\nrc=0", []),  # the code is that of tail
        ('make a; echo "rc=$?"', "rc=0 said the program\nrc=0", []),  # which of them is it?
        ('make a; echo "$?"', "0", []),
        ("npm test && cat notes.txt", "ok", ["npm test"]),
    ],
)
def test_an_exit_code_that_the_line_prints_counts(
    command: str, output: str, known: list[str]
) -> None:
    assert shown(command, output, 0) == known


@pytest.mark.parametrize(
    "output",
    [
        "<tool_use_error>Blocked: sleep 45 followed by: make test. permission denied",
        "Permission for this action was denied: not permitted",
        "Command running in background with ID: b1",
    ],
)
def test_what_was_not_run_proves_nothing(output: str) -> None:
    assert shown("make test", output, 1) == []


def test_a_pipe_does_not_hide_that_there_is_no_such_program() -> None:
    told = story().runs("just lint 2>&1 | tail -40", "(eval):1: command not found: just")
    told.calls("Edit", {"file": "a.py"}, "done").runs("uvx ruff check .", "All checks passed!")
    assert texts(told) == [
        "`just lint` fails here with “(eval):1: command not found: just”; `uvx ruff check` works."
    ]
    told.runs("cargo install just", "Installed").runs("just lint", "All checks passed!")
    assert "until `cargo install just` was run" in " ".join(texts(told))


def runs_well(command: str, output: str) -> bool:
    session = story().runs(command, output, 0).end()
    (run,) = runs_of(session.turns(), compiled_rules(load_rules(None)))
    return run.passed


def test_what_a_program_only_mentions_is_not_missing() -> None:
    output = "just: not found in the list of tools, passing it by\nAll checks passed!"
    assert runs_well("just lint | tail", output)
    assert not runs_well("just lint | tail", "bash: line 1: just: command not found")


def test_a_missing_program_is_there_though_the_tests_fail() -> None:
    told = story().runs("uv run pytest -q", "error: Failed to spawn: `pytest`", 2)
    told.runs("uv sync --extra test --quiet", "").runs(
        "uv run pytest -q", "FAILED a.py::b\n1 failed", 1
    )
    assert texts(told) == [
        "`uv run pytest` fails here with “error: Failed to spawn: 'pytest'” "
        "until `uv sync --extra test` was run."
    ]
    told = story().runs("npm test", "Error: connection refused", 1)
    told.runs("npm install", "").runs("npm test", "1 failed", 1)
    assert texts(told) == []


def test_an_error_that_says_what_to_run() -> None:
    wrong = "ValueError: geometry missing: run git lfs pull first"
    told = story().runs("./tools/build.sh | tail -5", f"{wrong}\nexit status 1")
    told.calls("Edit", {"file": "a.py"}, "done")
    told.runs("git lfs install && git lfs pull | tail -2 && git lfs ls-files", "ok")
    told.runs("./tools/build.sh", "Build complete!")
    assert texts(told) == [
        f"`./tools/build.sh` fails here with “{wrong}” until `git lfs pull` was run."
    ]


@pytest.mark.parametrize(
    ("error", "done"),
    [
        ("Error: model missing: run git lfs pull", "git lfs fsck"),  # something else was done
        ("Error: locked: run npm ci --force", "npm ci --force"),  # a way around
        ("Error: run configure", "./configure"),  # one word is too little
        ("Error: in the long run make test is slow", "make build"),
    ],
)
def test_an_error_that_was_not_followed_proves_nothing(error: str, done: str) -> None:
    told = story().runs("make app", f"{error}\nmake: *** [app] Error 1", 2)
    told.calls("Edit", {"file": "a.py"}, "done").runs(done, "ok").runs("make app", "ok")
    assert texts(told) == []


def test_it_took_longer_than_it_was_given() -> None:
    told = story().runs("make e2e", "Command timed out after 2m 0s", 143)
    told.calls("Bash", {"command": "make e2e", "timeout": 600000}, "12 passed")
    assert texts(told) == ["`make e2e` takes longer than 2m 0s here: give it more time."]
    told = story().runs("make e2e", "Command timed out after 2m 0s", 143)
    assert texts(told.runs("make e2e", "12 passed")) == []  # it hung


def test_it_works_in_a_folder_below() -> None:
    told = story().runs("cd /home/ann/shop && npm run build", "npm error enoent package.json", 254)
    (text,) = texts(told.runs("cd /home/ann/shop/web && npm run build", "built"))
    assert text.endswith("it works in the folder `web`.")


def test_the_flag_that_the_error_names_made_the_difference() -> None:
    told = story().runs("grok inspect --trust", "error: unexpected argument '--trust' found", 2)
    assert texts(told.runs("TRUST=1 grok inspect", "ok")) == []  # the variable did not


def test_a_pipe_does_not_hide_a_broken_rule_or_that_a_program_gave_up() -> None:
    wrong = "a.go:3:2: string `x` has 3 occurrences, make it a constant (goconst)"
    told = story().runs("golangci-lint run ./... | head -50", wrong)
    told.runs("golangci-lint run ./... | head -50", "0 issues.")
    (text,) = texts(told)
    assert "by the rule goconst" in text
    broken = 'cat >> a.go <<E\nx\nE\ngolangci-lint run; echo "rc=$?"'
    told = story().runs(broken, f"{wrong}\nrc=1").runs("golangci-lint run", "0 issues.")
    assert texts(told) == []  # it was broken to see what is said
    warned = (
        "  3:1  warning  Unexpected use of alert here  no-alert\n✖ 1 problem (0 errors, 1 warning)"
    )
    told = story().runs("npx eslint . | tail", warned).runs("npx eslint . | tail", "ok")
    assert texts(told) == []
    told = story().runs("./asc push --all | head", "Error: two found, please use --app-info")
    told.runs("./asc push --all --app-info 7", "done")
    assert texts(told)[0].endswith("with `--app-info` it works.")
    told = story().runs("./asc push --all | head", "3 done, 1 skipped: Error: please use --app")
    assert texts(told.runs("./asc push --all --app 7", "done")) == []
