"""Secrets of every shape are gone after redaction, and what is none stays."""

import hashlib
import json
import subprocess
import sys
import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlearn.guard.secrets import find_secrets, has_secret, redact
from tests.files import SAMPLES, read_all, sample
from tests.planted import SHAPES, named, pem, some, token

AROUND = [
    ("", ""),
    ("It says: ", " and goes on."),
    ('"', '"'),
    ("'", "'"),
    ("`", "`"),
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("<", ">"),
    ("x = ", ";"),
    ("a,", ",b"),
    ("\n", "\n"),
    ("first line\n  ", "\n  last line"),
    ("| ", " |"),
]


def escaped(text: str, times: int) -> str:
    """The text as it stands inside of JSON that is itself inside of JSON."""
    for _ in range(times):
        text = json.dumps({"content": text})
    return text


def left_of(secrets: list[str], text: str) -> list[str]:
    """The secrets, or long pieces of them, that are still there."""
    return [part for part in secrets if part in text or part[3:-3] in text]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_secret_is_gone_wherever_it_stands(shape):
    random = Random(shape)
    for before, after in AROUND:
        for times in (0, 1, 2):
            text, secrets = SHAPES[shape](random)
            given = escaped(before + text + after, times)
            redacted = redact(given)
            assert left_of(secrets, redacted) == [], given
            assert has_secret(given)
            assert not has_secret(redacted)
            assert redacted.count("\n") == given.count("\n")


def test_there_are_enough_shapes():
    assert len(SHAPES) >= 100


@given(
    st.text(max_size=60),
    st.sampled_from(sorted(SHAPES)),
    st.sampled_from(AROUND[1:]),
    st.text(max_size=60),
    st.integers(0, 2),
    st.integers(0, 10_000),
)
@settings(max_examples=400, deadline=None)
def test_a_secret_is_gone_in_any_text(before, shape, around, after, times, seed):
    text, secrets = SHAPES[shape](Random(seed))
    given = escaped(f"{before} {around[0]}{text}{around[1]} {after}", times)
    redacted = redact(given)
    assert left_of(secrets, redacted) == []
    assert redact(redacted) == redacted
    assert redacted.count("\n") == given.count("\n")


@given(st.text(alphabet='abkeyotnprsw=:"\\ \n-_[]{}0123456789ABC/@.', max_size=300))
@settings(max_examples=300, deadline=None)
def test_redacting_again_changes_nothing(text):
    once = redact(text)
    assert redact(once) == once
    assert once.count("\n") == text.count("\n")


def test_the_text_around_a_secret_stays_and_its_kind_is_named():
    secret = "ghp_" + some(Random(1), 36)
    assert (
        redact(f"Pushed with {secret}, it worked.")
        == "Pushed with [secret: github-token], it worked."
    )
    (found,) = find_secrets(f"Pushed with {secret}, it worked.")
    assert (found.kind, found.start, found.end) == ("github-token", 12, 52)


def test_a_name_stays_and_its_value_goes():
    value = some(Random(2), 12)
    assert redact(f'{{"user": "me", "password": "{value}"}}') == (
        '{"user": "me", "password": "[secret: password]"}'
    )
    assert redact(f"postgres://app:{value}@db:5432/x") == (
        "postgres://app:[secret: url-password]@db:5432/x"
    )


def test_a_key_of_many_lines_leaves_its_line_ends():
    text, lines = pem("RSA")(Random(3))
    redacted = redact(f"before\n{text}\nafter")
    assert redacted == "before\n[secret: private-key]" + "\n" * (len(lines) + 1) + "\nafter"


def test_a_key_that_was_cut_is_taken_up_to_the_next_words():
    text, lines = pem("RSA", last=False)(Random(4))
    redacted = redact(f"Here it is:\n{text}\nThen the build went on.")
    assert left_of(lines, redacted) == []
    assert redacted.endswith("\nThen the build went on.")
    text, lines = pem("RSA", first=False)(Random(5))
    redacted = redact(f"The output was long …(900 characters left out)…\n{text}\nand so on")
    assert left_of(lines, redacted) == []
    assert redacted.startswith("The output was long …(900 characters left out)…\n[secret:")


def test_secrets_that_touch_are_all_gone():
    random = Random(6)
    first, second = (token("ghp_", 36)(random)[0] for _ in range(2))
    for join in ("", ",", ":", "=", " "):
        assert left_of([first, second], redact(first + join + second)) == []


def test_what_a_secret_hid_is_a_secret_too():
    token_of_github = token("ghp_", 36)(Random(16))[0]
    redacted = redact(f'password: "hunter2{token_of_github} it is"')
    assert "hunter2" not in redacted
    assert redact(redacted) == redacted


def test_secrets_behind_characters_of_other_scripts_are_found_in_their_place():
    text, (secret,) = named("密码：", 12)(Random(7))
    given = f"日本語 → 😀 {text} конец"
    assert secret not in redact(f"пароль от базы {secret}")
    assert secret not in redact(f"la contraseña de producción es {secret}")
    (found,) = find_secrets(given)
    assert given[found.start : found.end] == secret


TYPED = [
    "ghp_" + "a" * 36,
    "AKIA" + "IOSFODNN7" + "EXAMPLE",
    "sk-ant-api03-" + "abcdefgh12345678" * 5,
    'password = "correct-horse-battery-' + 'staple"',
    "PASSWORD=" + "letmein",
    "DB_PASS: " + "s3cr3t!",
    "user/pass: admin/" + "hunter2",
    "my password is " + "Tr0ub4dor&3.",
    "sshpass -p " + "hunter2 ssh host",
    "docker login -u me -p " + "hunter2",
    "redis-cli -a " + "foobared9 ping",
    "echo " + "hunter2 | sudo -S apt update",
    'SECRET_KEY = "' + '#x9$k2!mq-insecure"',
]


@pytest.mark.parametrize("text", TYPED)
def test_secrets_that_people_make_up_count_too(text):
    redacted = redact(text)
    assert "[secret: " in redacted
    assert not any(word in redacted for word in ("hunter2", "s3cr3t", "&3", "foobared", "staple"))


HARMLESS = [
    f"commit {hashlib.sha1(b'x').hexdigest()}",
    f"sha256:{hashlib.sha256(b'x').hexdigest()}",
    '"integrity": "sha512-' + some(Random(8), 86) + '=="',
    "session 0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f",
    '"session_id": "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f"',
    '"tool_use_id": "toolu_01' + some(Random(9), 22) + '"',
    '"call_id": "call_' + some(Random(10), 24) + '"',
    "claude-sonnet-4-5-20250929, gpt-4o-mini-2024-07-18",
    "data:image/png;base64," + some(Random(11), 400),
    '"signature": "' + some(Random(12), 200) + '"',
    "password: str",
    "password: str = None",
    "def login(user: str, password: str) -> Token:",
    "token = get_token()",
    "token = await self.next_token(stream)",
    'api_key = os.environ["API_KEY"]',
    "const apiKey = process.env.API_KEY;",
    "token: ${TOKEN}",
    "TOKEN=$TOKEN",
    'TOKEN="$(cat token.txt)"',
    "password: {{ vault_password }}",
    'password: "$DB_PASSWORD_2"',
    "DB_PASSWORD=${DB_PASSWORD_2}",
    'password: "op://vault/item9/field2"',
    "password = <secret42>",
    '"cache_key": "' + hashlib.sha1(b"key").hexdigest() + '"',
    "sort_key=" + hashlib.md5(b"key").hexdigest(),
    "${{ secrets.GITHUB_TOKEN }}",
    "API_KEY=<your-key>",
    "api_key: YOUR_API_KEY_HERE",
    "OPENAI_API_KEY=sk-...",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "password=********",
    "password: changeme",
    "password = 'password'",
    "the secret is to write small functions",
    "The password is wrong.",
    "Keep the token budget under 4000 tokens.",
    '"max_tokens": 4096, "input_tokens": 1234567890123',
    "token_count = 12345678",
    "tokenizer = AutoTokenizer.from_pretrained(name)",
    "if token != expected_token:",
    "--- PASS: TestParse8Base64Literal (0.00s)",
    "PASS: 12, FAIL: 3",
    "PWD=/home/me/project",
    "--password-stdin",
    "--password string   The password to use",
    "secretName: my-app-tls",
    "keyboard = Keyboard(layout='de')",
    "primary_key=True, foreign_key='user.id'",
    "public_key = ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + some(Random(13), 43),
    "https://example.com/path@2.0/x",
    "http://localhost:3000/a?b=c@d",
    "git@github.com:owner/repo.git",
    "postgres://user:password@localhost/db",
    "docker run -u 1000:1000 -p 8080:80 image",
    "mysql -u root -p shop",
    "curl -u $USER:$PASS https://x.internal",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "basic authentication and bearer tokens",
    "Set the cookie header: see below",
    "-----BEGIN CERTIFICATE-----",
    'if "-----BEGIN RSA PRIV' + 'ATE KEY-----" in text:',
    "AWS::IAM::AccessKey",
    "/usr/lib/python3.11/site-packages/token.py",
    "src/secrets/manager.go:42",
    "go.sum h1:" + some(Random(14), 43) + "=",
    "[secret: github-token]",
    "password=[secret: password]",
    "risk-management-and-desk-research-for-the-task-at-hand",
    "author: me, authority: you",
    "key: value, name: thing",
    '{"type": "password", "label": "Password", "placeholder": "Passwort"}',
    "setPassword(event.target.value)",
    "2024-01-01T00:00:00Z token refreshed",
    "the password field is required, and so is field2",
    "use the token bucket algorithm with 10 tokens per second",
    "the key insight is that parseV2Header reads base64Chunks first",
    f"the token was dropped in commit {hashlib.sha1(b'z').hexdigest()}",
    "the secret was found in 0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f.jsonl",
    "log in to staging-eu1 as user42, then run make deploy2",
    "the password check is in AuthService2Test.checkLogin3Times",
    "the primary key of table2 is user_id_v2",
    "public key fingerprint SHA256:" + some(Random(17), 43),
    "the token parser, TestReviewTrail8BashBase64Literal, passes",
    "cache key: " + hashlib.md5(b"key").hexdigest(),
    "the secret to its speed is utf8mb4_unicode_ci",
    "use the key a1b2c3d4e5f6 of the map",
]


@pytest.mark.parametrize("text", HARMLESS)
@pytest.mark.parametrize("times", [0, 1, 2])
def test_what_is_no_secret_stays(text, times):
    given = escaped(text, times)
    assert find_secrets(given) == []
    assert redact(given) == given


PIECES = ["a", "=", '"', "\n", "\\", ":", "-", " ", "token", 'token="', "password: ", "key=\\"]
PIECES += [
    "-----BEGIN RSA PRIV" + "ATE KEY-----",
    "://a:b",
    "kind: secret\n",
    "cookie: ",
    "bearer ",
]
PIECES += [" -p", "eyJ", "sk-", "secret\n", "pass ", "auth", "$2b$12$", "a ", "login a ", "é"]
PIECES += ["token ", "secret\\n", "key_of_", "[secret: ", "mnemonic: " + "word " * 11]


@pytest.mark.parametrize("piece", PIECES)
def test_no_text_takes_long(piece):
    size = 1_000_000 if len(piece) == 1 else 200_000
    text = piece * (size // len(piece))
    start = time.process_time()
    find_secrets(text)
    assert time.process_time() - start < 60  # it does not hang


def test_a_megabyte_of_base64_takes_no_longer():
    text = "".join(Random(15).choices("abcdefghijklmnopqrstuvwxyzABCDEF0123456789+/", k=1_000_000))
    start = time.process_time()
    find_secrets(text)
    assert time.process_time() - start < 60  # it does not hang


@pytest.mark.skipif(not SAMPLES, reason="needs AGENTLEARN_SAMPLES")
def test_real_transcripts_hold_no_false_alarms():
    """In the samples all keys were masked; what is left is the passwords that a tool made up."""
    from agentlearn.errors import AgentlearnError
    from agentlearn.render import render_session

    found = set()
    for path in sorted(sample("").rglob("*.json*")):
        try:
            sessions = read_all(path)
        except AgentlearnError:
            continue
        for session in sessions:
            text = render_session(session, 10**9)
            found |= {
                (secret.kind, text[secret.start : secret.end]) for secret in find_secrets(text)
            }
    assert {kind for kind, _ in found} == {"password"}
    assert len(found) <= 6


def test_what_every_command_needs_loads_none_of_this():
    code = "import sys, agentlearn.guard; print(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = {name for name in run.stdout.split() if name.startswith("agentlearn.guard")}
    assert loaded == {"agentlearn.guard", "agentlearn.guard.text"}
