"""Secrets that are told by the name before them: `password=…`, `"api_key": "…"`, `--token …`.

A name alone proves nothing: code is full of `token = next_token()` and `password: str`. So the
name says where to look and the value decides, more strictly the less it is set off from code.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Literal, NamedTuple

from agentlearn.guard.secret_values import (
    is_dense,
    is_identifier,
    is_login,
    is_path,
    is_placeholder,
    is_random,
    mixes,
)

Style = Literal["quoted", "listed", "assigned", "flag", "loose"]
"""In quotes; `"name", "value"`; `NAME=value`; `--name value`; anything else, as in YAML."""

QUOTES = ("'", '"', "`")
QUOTE = r"\\*[\"'`]"
GOES_ON = rf"""
(?P<rest>[\w.-]{{0,40}}+)
(?P<after>
  (?:{QUOTE})? [\])]? [\ \t]* (?P<assign> [:=?!|+]{{0,2}} [:=] >? | => ) [\ \t]*
    (?: [|>][+-]? \n [\ \t]+ )?                        # a YAML block: the value is on the next line
| (?P<comma> {QUOTE} [\ \t]* , [\ \t]* ) (?={QUOTE})    # ("password", "…")
| (?<![.]encode) \( [\ \t]* (?={QUOTE})                # set_password("…")
| (?:{QUOTE})? ,? (?:\s|\\+n){{1,40}} (?:{QUOTE})? value (?:{QUOTE})? [\ \t]* [:=] [\ \t]*
| (?P<is> [\ \t]+ (?: is | was | are ) [\ \t]* :? [\ \t]+ (?: now [\ \t]+ )? )
| (?P<space> (?: [\ \t] | \\+n )+ )                      # --password …, ENV TOKEN …, PASSWORD '…'
| (?P<tag> > )                                         # <password>…</password>
)
"""
NAMES = {
    "password": r"pass(?:words?|wd|phrase|code|wort|e)?",
    "pwd": "pwd",
    "token": "tokens?",
    "secret": "secrets?",
    "credential": "cred(?:ential)?s?",
    "key": "key",
    "auth": "auth(?:orization)?",
}
KINDS = {"pwd": "password", "auth": "credential"}
SCHEME = re.compile(
    r"(?:\\*[\"'`])?(?:bearer|basic|token|api-?key|key|negotiate|splunk|geniekey)[ \t]+", re.ASCII
)
KEY_OF_WHAT = re.compile(
    r"(?:api|apis|access|account|admin|app|application|auth|client|consumer|crypt|cryption|data"
    r"|deploy|developer|encrypt|encryption|encoding|hmac|host|integration|jwt|license|licence"
    r"|master|priv|private|preshared|psk|rest|root|secret|service|shared|sign|signing"
    r"|ssh|storage|subscription|user|webhook|write)[_.\s-]?\Z"
)
NOT_THE_SECRET = (
    r"s?[_.-]?(?:ids?|counts?|limits?|ur[li]s?|types?|names?|files?|paths?|len|length|size|izer"
    r"|ized?|izing|fields?|labels?|expir\w*|ttl|endpoint|prompt|hint|policy|rules?|regex|pattern"
    r"|budget|usage|used|manager|provider|store|env|vars?|headers?|prefix|suffix|refs?|arn"
    r"|version|index|scopes?|class|format|source|location|status|address|symbol|board|words?"
    r"|algorithm|alg|stdin|fd|parameters?|params?|args?|info|stats|per\w*|max|min|total)(?![a-z0-9])"
)
"""How a name goes on that is about a secret: `token_count`, `secretName`, `--password-stdin`."""
NUMBER = r"(?!\d{1,15}[\s,;}\])])"
PATTERNS = {
    name: re.compile(
        f"{word}(?!{NOT_THE_SECRET}){GOES_ON}{'' if name == 'password' else NUMBER}",
        re.ASCII | re.VERBOSE,
    )
    for name, word in NAMES.items()
}
NAME_CHARS = string.ascii_lowercase + string.digits + "_.-"
MAKERS = re.compile(
    r"(aws|azure|heroku|datadog|cloudflare|twilio|openai|anthropic|github|gitlab|stripe|slack"
    r"|mailgun|newrelic|sentry|vault|telegram|discord|npm|pypi|docker|kube|snyk|fastly|okta)"
)
TYPED = re.compile(r"[\w.\[\]|<>?]{1,40}(?:[ \t]+=|=(?=[ \t\"']))(?!=)[ \t]*", re.ASCII)
"""A type between the name and the value: `password: str = "…"`."""
LOGIN = re.compile(r"login(?:\s|\\+n)+[^\s\\]{1,80}(?:\s|\\+n)+\Z")
OPENING = re.compile(r"(?:[rbfu]{1,2}|@|L)?(\\*)([\"'`])", re.ASCII)
IN_QUOTES = {sign: re.compile(rf"(?:[^\\\n{sign}]|\\.)*") for sign in "\"'`"}
BARE = re.compile(r"[^\s\"'`\\<>]+")
NEXT_PAIR = re.compile(r"[&,;|][\w.-]*[=:]|&&|\|\||;\Z|&\Z")
FOREIGN = ("ароль", "密码", "密碼", "パスワード", "비밀번호", "ontraseña")
FOREIGN_GOES_ON = r"\s?(?:[:：=]|是|は|es|это)\s?[\"'“「]?(?P<secret>[!-~]{6,})"


class Value(NamedTuple):
    start: int
    end: int
    is_quoted: bool


def named_secrets(folded: str, lowered: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each value that stands after a name and is a secret."""
    for name, pattern in PATTERNS.items():
        for match in pattern.finditer(lowered):
            found = _judge(name, match, folded, lowered)
            if found:
                yield found


def foreign_secrets(text: str) -> Iterator[tuple[str, int, int]]:
    """Passwords after the word for it in other scripts; the text is not folded."""
    for word in FOREIGN:
        if word in text:
            for match in re.finditer(word + FOREIGN_GOES_ON, text):
                if mixes(match["secret"]) and not is_placeholder(match["secret"]):
                    yield "password", *match.span("secret")


def value_at(text: str, start: int) -> Value:
    """The value that begins there: in quotes, escaped ones too, or up to white space."""
    opening = OPENING.match(text, start)
    if opening and not opening[1]:
        inside = IN_QUOTES[opening[2]].match(text, opening.end())
        return Value(opening.end(), inside.end() if inside else opening.end(), True)
    if opening:
        mark = opening[1] + opening[2]
        line_end = text.find("\n", opening.end())
        line_end = len(text) if line_end < 0 else line_end
        close = text.find(mark, opening.end(), line_end)
        return Value(opening.end(), line_end if close < 0 else close, True)
    bare = BARE.match(text, start)
    if not bare:
        return Value(start, start, False)
    value = NEXT_PAIR.split(bare[0], maxsplit=1)[0].rstrip(".,;:)]}|")
    return Value(start, start + len(value), False)


def _judge(
    name: str, match: re.Match[str], folded: str, lowered: str
) -> tuple[str, int, int] | None:
    before = _before(lowered, match.start())
    if not _is_name(name, before, match, folded):
        return None
    start = match.end()
    if match["assign"] == ":":
        typed = TYPED.match(folded, start)
        start = typed.end() if typed else start
    value = value_at(folded, start)
    style = _style(match, before, value, lowered)
    text = folded[value.start : value.end]
    if name == "auth" and (scheme := SCHEME.match(lowered, start)):
        value = value_at(folded, scheme.end())
        text = folded[value.start : value.end]
        is_secret = len(text) >= 16 and not value.is_quoted and not is_placeholder(text)
    elif style is None:
        return None
    else:
        is_secret = _is_secret(name, text, style, folded[match.start()].isupper())
    return (_kind(name, before), value.start, value.end) if is_secret else None


def _before(lowered: str, start: int) -> str:
    """The part of the name that stands before the word it was found by."""
    line = lowered[max(0, start - 40) : start]
    return line[len(line.rstrip(NAME_CHARS)) :]


def _is_name(name: str, before: str, match: re.Match[str], folded: str) -> bool:
    """Whether the word is a name of its own or the last part of one, not a part of a word."""
    if folded.endswith("::", 0, match.start() - len(before)):
        return False  # the name of a type: AWS::ApiGateway::ApiKey
    if name == "key":
        return KEY_OF_WHAT.search(before) is not None
    word = match[0][: match.start("rest") - match.start()]
    if word in ("pass", "passe", "cred", "creds", "auth", "pwd"):
        whole = not before or not before[-1].isalnum() or folded[match.start()].isupper()
        # `PASS: test_name` is what test programs print.
        is_result = word == "pass" and not before and folded.startswith("PASS:", match.start())
        return whole and not is_result and not re.search("[a-z]", match["rest"])
    return True


def _style(match: re.Match[str], before: str, value: Value, lowered: str) -> Style | None:
    start = match.start() - len(before)
    if match["tag"]:
        return "assigned" if lowered.startswith("</", value.end) else None
    if match["space"]:
        if before.startswith("-"):
            return "flag"
        if lowered[max(0, start - 4) : start] == "env " or LOGIN.search(
            lowered, max(0, start - 100), start
        ):
            return "assigned"
        is_sql = lowered.startswith("password", match.start()) and not match["rest"]
        return "quoted" if is_sql and lowered[value.start - 1 : value.start] == "'" else None
    if match["comma"]:
        is_whole = lowered[max(0, start - 1) : start] in QUOTES and not re.search(
            "[a-z.]", match["rest"]
        )
        return "listed" if is_whole else None
    if value.is_quoted:
        return "quoted"
    is_tight = match["assign"] == "=" and not set(match["after"]) & set(" \t")
    return "assigned" if is_tight else "loose"


def _is_secret(name: str, value: str, style: Style, is_upper: bool) -> bool:
    if not 4 <= len(value) <= 20_000 or is_placeholder(value) or is_path(value):
        return False
    if any(map(str.isspace, value)) or (style != "quoted" and set("(){}") & set(value)):
        return False
    if KINDS.get(name, name) == "password":
        return _is_password(value, style, is_upper)
    if name == "auth":
        return is_login(value) or (len(value) >= 16 and is_random(value, 12))
    if style == "loose":
        return (len(value) >= 12 and is_random(value, 10)) or is_dense(value)
    if name == "secret" and style == "quoted" and len(value) >= 6 and mixes(value):
        return True
    return (len(value) >= 8 and is_random(value)) or is_dense(value) or _is_long(value)


def _is_long(value: str) -> bool:
    return len(value) >= 16 and mixes(value) and sum(map(str.isdigit, value)) >= 4


def _is_password(value: str, style: Style, is_upper: bool) -> bool:
    """People choose passwords, so they look like words: how one is set off from code decides."""
    if style == "listed" and not mixes(value):
        return False
    if is_random(value):
        return True
    if value.isalpha():
        is_told = style == "quoted" or (style == "assigned" and is_upper)
        return len(value) >= 6 and is_told and not value.istitle()
    if style == "loose":
        return len(value) >= 5 and mixes(value) and not set("[]") & set(value)
    if style == "assigned" and is_identifier(value) and ("." in value or not mixes(value)):
        return False
    return len(value) >= 5 and not re.fullmatch(r"[\W_]+|\d{1,5}", value)


def _kind(name: str, before: str) -> str:
    kind = KINDS.get(name, name)
    maker = MAKERS.search(before)
    if kind == "key":
        of_what = KEY_OF_WHAT.search(before)
        kind = "private-key" if of_what and of_what[0].startswith("priv") else "api-key"
    return f"{maker[1]}-{kind}" if maker else kind
