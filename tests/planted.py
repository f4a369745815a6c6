"""Secrets to plant in texts: made when a test runs, so that no file of the project holds one.

Each shape gives a text as it would stand in a transcript, and the part of it that must not be left
anywhere.
"""

from __future__ import annotations

import base64
import string
from collections.abc import Callable
from random import Random

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = LOWER + UPPER + DIGITS
URL_SAFE = ALNUM + "_-"
BASE64 = ALNUM + "+/"
HEX = DIGITS + "abcdef"
Shape = Callable[[Random], tuple[str, list[str]]]
"""A text, and what in it is secret."""


def some(random: Random, count: int, letters: str = ALNUM) -> str:
    """Random letters, as a machine makes them: digits among them, no end that is cut off a word."""
    while True:
        made = "".join(random.choices(letters, k=count))
        has_digits = count < 8 or sum(map(str.isdigit, made)) >= max(1, count // 12)
        if made[0].isalnum() and made[-1].isalnum() and has_digits:
            return made


def uuid(random: Random) -> str:
    return "-".join(some(random, count, HEX) for count in (8, 4, 4, 4, 12))


def token(*parts: str | tuple[int, str] | int) -> Shape:
    """A token of fixed parts and random ones: `token("ghp_", 36)`, `token("dapi", (32, HEX))`."""

    def make(random: Random) -> tuple[str, list[str]]:
        made = ""
        for part in parts:
            if isinstance(part, str):
                made += part
            else:
                made += some(random, *((part, ALNUM) if isinstance(part, int) else part))
        return made, [made]

    return make


def named(before: str, *parts: str | tuple[int, str] | int, after: str = "") -> Shape:
    """A token that only what stands before it gives away."""

    def make(random: Random) -> tuple[str, list[str]]:
        made, _ = token(*parts)(random)
        return f"{before}{made}{after}", [made]

    return make


def key_lines(random: Random, count: int = 12) -> list[str]:
    return [*(some(random, 64, BASE64) for _ in range(count)), some(random, 40, BASE64) + "=="]


def pem(label: str, join: str = "\n", first: bool = True, last: bool = True) -> Shape:
    """A private key, whole or with its first or last line cut off."""

    def make(random: Random) -> tuple[str, list[str]]:
        lines = key_lines(random)
        name = f"{label} PRIVATE ".lstrip() + "KEY"
        name += " BLOCK" if label == "PGP" else ""
        block = [f"-----BEGIN {name}-----"] * first + lines + [f"-----END {name}-----"] * last
        return join.join(block), lines

    return make


def login(random: Random) -> tuple[str, list[str]]:
    made = base64.b64encode(f"user:{some(random, 16)}".encode()).decode()
    return f"Authorization: Basic {made}", [made]


def docker(random: Random) -> tuple[str, list[str]]:
    made = base64.b64encode(f"user:{some(random, 12)}".encode()).decode()
    return f'{{"auths": {{"ghcr.io": {{"auth": "{made}"}}}}}}', [made]


def kube_key(random: Random) -> tuple[str, list[str]]:
    made = base64.b64encode(pem("RSA")(random)[0].encode()).decode()
    return f"client-key-data: {made}", [made[:200], made[-200:]]


def numbered(random: Random) -> tuple[str, list[str]]:
    text, lines = pem("RSA")(random)
    return "\n".join(f"{n:6}→{line}" for n, line in enumerate(text.split("\n"), 1)), lines


def jwt(random: Random) -> tuple[str, list[str]]:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    made = f"{head}.eyJ{some(random, 60, URL_SAFE)}.{some(random, 43, URL_SAFE)}"
    return made, [made]


SHAPES: dict[str, Shape] = {
    "aws-key-id": token("AKIA", (16, UPPER + DIGITS)),
    "aws-temporary-id": token("ASIA", (16, UPPER + DIGITS)),
    "aws-secret": named("aws_secret_access_key = ", (40, BASE64)),
    "aws-secret-json": named('"SecretAccessKey": "', (40, BASE64), after='"'),
    "aws-session": named("export AWS_SESSION_TOKEN=", "IQoJb3JpZ2lu", (200, BASE64)),
    "github-classic": token("ghp_", 36),
    "github-oauth": token("gho_", 36),
    "github-user": token("ghu_", 36),
    "github-server": token("ghs_", 36),
    "github-refresh": token("ghr_", 36),
    "github-fine": token("github_pat_", 22, "_", 59),
    "gitlab": token("glpat-", (20, URL_SAFE)),
    "gitlab-runner": token("glrt-", (20, URL_SAFE)),
    "slack-bot": token("xoxb-", (12, DIGITS), "-", (12, DIGITS), "-", 24),
    "slack-user": token("xoxp-", (12, DIGITS), "-", (12, DIGITS), "-", 32),
    "slack-app": token("xapp-1-", (11, UPPER + DIGITS), "-", (13, DIGITS), "-", (64, HEX)),
    "slack-webhook": named(
        "https://hooks.slack.com/services/", (9, UPPER + DIGITS), "/", (9, UPPER + DIGITS), "/", 24
    ),
    "stripe": token("sk_live_", 24),
    "stripe-restricted": token("rk_live_", 24),
    "stripe-webhook": token("whsec_", 32),
    "openai-old": token("sk-", 48),
    "openai-project": token("sk-proj-", (80, URL_SAFE)),
    "openai-service": token("sk-svcacct-", (80, URL_SAFE)),
    "anthropic": token("sk-ant-api03-", (93, URL_SAFE), "AA"),
    "google-key": token("AIza", (35, URL_SAFE)),
    "google-access": token("ya29.", (120, URL_SAFE)),
    "google-client": token("GOCSPX-", (28, URL_SAFE)),
    "google-refresh": named("1//0", (60, URL_SAFE)),
    "azure-storage": named("AccountName=x;AccountKey=", (86, BASE64), "==", after=";Suffix=core"),
    "azure-sas": named("https://x.blob.core.windows.net/c?sv=2024-01-01&sig=", (43, ALNUM), "%3D"),
    "azure-client": token((3, ALNUM), "8Q~", (34, ALNUM)),
    "twilio": token("SK", (32, HEX)),
    "twilio-auth": named("TWILIO_AUTH_TOKEN=", (32, HEX)),
    "sendgrid": token("SG.", (22, URL_SAFE), ".", (43, URL_SAFE)),
    "mailgun": token("key-", (32, HEX)),
    "mailchimp": token((32, HEX), "-us14"),
    "npm": token("npm_", 36),
    "npmrc": named("//registry.npmjs.org/:_authToken=", 36),
    "pypi": token("pypi-AgEIcHlwaS5vcmc", (120, URL_SAFE)),
    "docker-hub": token("dckr_pat_", (27, URL_SAFE)),
    "docker-config": docker,
    "huggingface": token("hf_", 34),
    "replicate": token("r8_", 37),
    "digitalocean": token("dop_v1_", (64, HEX)),
    "heroku": lambda random: (f"HEROKU_API_KEY={(made := uuid(random))}", [made]),
    "shopify": token("shpat_", (32, HEX)),
    "square": token("sq0atp-", (22, URL_SAFE)),
    "telegram": lambda random: (
        f"{some(random, 9, DIGITS)}:AA{(made := some(random, 33, URL_SAFE))}",
        [made],
    ),
    "discord": token("M", (25, ALNUM), ".", (6, ALNUM), ".", (38, URL_SAFE)),
    "discord-webhook": named(
        "https://discord.com/api/webhooks/", (18, DIGITS), "/", (68, URL_SAFE)
    ),
    "jwt": jwt,
    "databricks": token("dapi", (32, HEX)),
    "linear": token("lin_api_", 40),
    "notion": token("ntn_", (11, DIGITS), 35),
    "vault": token("hvs.", (90, URL_SAFE)),
    "doppler": token("dp.pt.", 43),
    "grafana": token("glsa_", 32, "_", (8, HEX)),
    "sentry": token("sntryu_", (64, HEX)),
    "newrelic": token("NRAK-", (27, UPPER + DIGITS)),
    "terraform": token(14, ".atlasv1.", (67, URL_SAFE)),
    "fly": token("fo1_", (43, URL_SAFE)),
    "supabase": token("sbp_", (40, HEX)),
    "planetscale": token("pscale_tkn_", (43, URL_SAFE)),
    "groq": token("gsk_", 52),
    "xai": token("xai-", 80),
    "perplexity": token("pplx-", 48),
    "cloudflare": named("CLOUDFLARE_API_TOKEN=", (40, URL_SAFE)),
    "datadog": named("DD_API_KEY: ", (32, HEX)),
    "atlassian": token("ATATT3", (186, URL_SAFE)),
    "age": token("AGE-SECRET-KEY-1", (58, UPPER + DIGITS)),
    "rsa": pem("RSA"),
    "pkcs8": pem(""),
    "openssh": pem("OPENSSH"),
    "ec": pem("EC"),
    "pgp": pem("PGP"),
    "pem-in-json": lambda random: (
        f'{{"private_key": "{(made := pem("", chr(92) + "n")(random))[0]}"}}',
        made[1],
    ),
    "pem-numbered": numbered,
    "pem-without-end": pem("RSA", last=False),
    "pem-without-start": pem("RSA", first=False),
    "pem-in-one-line": pem("EC", " "),
    "kubeconfig-key": kube_key,
    "kubeconfig-token": named("    token: ", 40),
    "url-postgres": named("postgres://app:", 14, after="@db.internal:5432/main"),
    "url-redis": named("redis://:", 20, after="@cache:6379/0"),
    "url-git": named("https://oauth2:", 20, after="@git.internal/x.git"),
    "url-token": named("https://", (32, HEX), after="@o1.ingest.internal/2"),
    "bearer": named("Authorization: Bearer ", (40, URL_SAFE)),
    "basic": login,
    "cookie": named("Cookie: theme=dark; sessionid=", 32),
    "set-cookie": named("Set-Cookie: connect.sid=s%3A", 32, after="; Path=/; HttpOnly"),
    "password-env": named("DB_PASSWORD=", 10),
    "password-json": named('"password": "', 9, after='"'),
    "password-yaml": named("password: ", (12, ALNUM)),
    "password-flag": named("psql --password ", 10),
    "password-mysql": named("mysql -u root -p", 10, after=" shop"),
    "password-url-form": named("user=a&password=", 12, after="&next=/"),
    "password-said": named("the password is ", 10),
    "told-use": named("always use the password ", 16, after=" for the staging database"),
    "told-of": named("the password for the staging admin is ", 16),
    "told-short": named("deploy with pw=", 16),
    "told-login": named("log in to staging as bob / ", 16),
    "told-pair": named("credentials: bob/", 16),
    "told-token": named("from now on use token ", 24, after=" for the deploy script"),
    "told-hex": named("use token ", (32, HEX), after=" for it"),
    "told-passphrase": named("the passphrase of the signing key is ", 16),
    "told-arrow": named("API key -> ", 24),
    "told-table": named("| password | ", 16),
    "told-bare": named("PASSWD ", 16),
    "told-unseal": named("vault unseal key: ", 24),
    "told-webhook": named("the secret for the webhook is ", 16),
    "told-terraform": named('variable "db_password" { default = "', 16, after='" }'),
    "told-terraform-lines": named(
        'variable "db_password" {\n  type = string\n  default = "', 16, after='"\n}'
    ),
    "told-german": named("das Passwort lautet ", 16),
    "told-spanish": named("el token es ", 16),
    "told-french": named("le mot de passe du serveur est ", 16),
    "told-next-line": named("here is the token:\n\n", 24),
    "told-after": named("use ", 16, after=" as the password"),
    "password-sql": named("ALTER USER app WITH PASSWORD '", 12, after="';"),
    "password-xml": named("<password>", 12, after="</password>"),
    "password-curl": named("curl -u admin:", 12, after=" https://x.internal"),
    "api-key-json": named('"api_key": "', 32, after='"'),
    "api-key-code": named("const apiKey = '", 28, after="';"),
    "api-key-header": named("X-Api-Key: ", 32),
    "api-key-typed": named('api_key: str = "', 32, after='"'),
    "api-key-query": named("https://x.internal/v1?api_key=", 24, after="&page=2"),
    "token-export": named("export TOKEN=", 20),
    "token-flag": named("tool login --token ", 24),
    "token-environ": named('os.environ["DEPLOY_TOKEN"] = "', 24, after='"'),
    "secret-toml": named('client_secret = "', 32, after='"'),
    "secret-two-lines": named("- name: APP_SECRET\n  value: ", 24),
    "netrc": named("machine x.internal\n  login me\n  password ", 16),
    "pgpass": named("db.internal:5432:main:app:", 14),
    "kubernetes-secret": named("kind: Secret\nmetadata:\n  name: x\ndata:\n  pin: ", (24, ALNUM)),
    "jwk": named('{"kty":"EC","d":"', (43, URL_SAFE), after='"}'),
    "bcrypt": named("", "$2b$12$", 53),
}
