"""What runs things that an agent wrote finds no secret in its environment."""

from __future__ import annotations

import subprocess

import pytest

from agentlearn.reflexion.environment import environment, looks_secret

BLOCK = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    "name",
    [
        *("OPENAI_API_KEY", "OPENAIKEY", "MYKEY", "MyKey", "API_KEY2", "S3KEY", "AWSACCESSKEYID"),
        *("DBPASS", "DB_PASS", "PGPASSWORD", "MYSQL_PWD", "GH_PAT", "GITHUB_TOKEN", "NPMTOKEN"),
        *("CLIENTSECRET", "OAUTH2", "SENTRY_DSN", "COMPASS_KEY", "GITCREDS", "GIT_ASKPASS"),
        *("KEY", "PASS", "HTTP_COOKIE", "MYJWT", "SSH_AUTH_SOCK", "TOKENIZERS_TOKEN"),
    ],
)
def test_by_its_name(name: str):
    assert looks_secret(name, "x")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SIGNING_PEM", BLOCK),
        ("SIGNING_PEM", BLOCK.replace("\n", "\\n")),
        ("SIGNING_PEM", "-----BEGIN PGP PRIVATE KEY BLOCK-----\nx"),
        ("SIGNER", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo="),
        ("MONKEY", "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
        ("DATABASE_URL", "postgres://anna:hunter2hunter2@db.example.com/app"),
    ],
)
def test_by_what_stands_in_it(name: str, value: str):
    assert looks_secret(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MONKEY", "banana"),
        ("KEYBOARD_LAYOUT", "us"),
        ("COMPASS", "north"),
        ("BYPASS_CACHE", "1"),
        ("TOKENIZERS_PARALLELISM", "false"),
        ("SIGNING_PEM", "/etc/ssl/signing.pem"),
        ("PATH", "/usr/bin:/bin"),
        ("PWD", "/home/anna"),
        ("OLDPWD", "/home"),
        ("AUTHOR", "Anna"),
        ("COMPAT", "1"),
        ("PASSENGER_PORT", "80"),
    ],
)
def test_what_only_looks_like_it_stays(name: str, value: str):
    assert not looks_secret(name, value)


def test_no_variable_of_git_that_belongs_to_one_repository(monkeypatch: pytest.MonkeyPatch):
    asked = subprocess.run(
        ["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True
    )
    names = {*asked.stdout.split(), "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"}
    names |= {f"GIT_CONFIG_{part}_{number}" for part in ("KEY", "VALUE") for number in (0, 12)}
    for name in names:
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/home/anna/.gitconfig")
    found = environment({})
    assert not names & set(found)
    assert found["GIT_CONFIG_GLOBAL"] == "/home/anna/.gitconfig"


def test_what_the_task_names_is_let_through(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MYKEY", "x")
    assert "MYKEY" not in environment({}, without_secrets=True)
    assert environment({}, without_secrets=True, named=["MYKEY"])["MYKEY"] == "x"
    assert environment({})["MYKEY"] == "x"
