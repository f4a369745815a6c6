"""Whether a text tells its reader what to do, or only how things are."""

from __future__ import annotations

import re

CLAUSE = re.compile(
    r"([.!?;:])(?:\s+|\Z)|\n+|\s[-–—]\s|(?<=[)\]\"'`]),\s|,?\s(?:and then|then|but|so)\s"
)
AFTER_CONDITION = re.compile(
    r"^(?:if|when|whenever|before|after|once|unless|until|while|to|for|in|on|at|with|otherwise"
    r"|first|next|finally|instead)\b[^,]*,\s*(?P<rest>.+)"
)
BULLET = re.compile(r"^(?:[-*+>•]|\d+[.)]|#+|\[[ x]\]|\(seen\))\s*|^[\"'`*_(]+")
TELLS = re.compile(
    r"\b(?:must|should|shall|always|never|ought to|need(?:s|ed)? to|ha(?:ve|s) to|make sure|be sure"
    r"|ensure|remember to|do remember|please|let's|let us|required to|recommended|prefer(?:ably)?"
    r"|(?:is|are) (?:important|necessary|best|better|advised|mandatory) to|had better|don't forget"
    r"|be careful|take care|mind that|you (?:can|may|will|want to|are to))\b"
    r"|\b(?:muss|müssen|soll(?:te)?|immer|niemals|bitte|toujours|jamais|doit|il faut|siempre|nunca"
    r"|debe[sn]?|hay que|всегда|никогда|должен|должны|нужно|следует)\b"
    r"|必须|必須|总是|總是|不要|应该|應該|请(?!求)|請(?!求)|ください|必ず|べき|すること|하세요|반드시"
)
DO_NOT = re.compile(
    r"^(?:please |and |also |just )*(?:do not|don't|dont|not to|no need to|never)\b"
)
ADVERBS = re.compile(
    r"^(?:(?:please|also|just|now|simply|then|first|next|instead|only|again|and|or)\s+)+"
)
COMMANDS = frozenset(
    """add adjust adopt allow append apply ask assign assume attach avoid be begin bring browse bump
    call cd choose clean clear click clone close combine compare compile compose configure confirm
    connect consider consult continue convert create declare define delete disable discard do
    download drop edit enable enter erase evaluate execute expand explain extend extract fetch fill
    find follow forget generate get give go grab grep handle hide ignore implement include increase
    inform insert inspect install invoke keep kill learn leave look make move navigate never obey
    omit open overwrite pass paste pick post prefer prepare press pretend prevent provide pull put
    read rebase recreate reduce refer refresh regenerate reinstall reload remember remove rename
    repeat replace reply request require rerun resolve respect respond restart restore retry reveal
    revert rewrite save see select send share skip specify stop submit supply take tell treat trust
    try tell turn type undo uninstall unset upload use verify visit wipe wrap""".split()  # noqa: SIM905 (a list of words reads best as one)
)
AMBIGUOUS = frozenset(
    """answer back build cache change check code commit copy debug deploy document dump export fix
    force format guard import limit link list load lock log map mark merge mock note pin place point
    print process profile prompt publish push query reboot rebuild record release report reset
    return review run scan schedule search set show sort split stage start store switch sync tag
    target test touch trace track update upgrade view wait watch work write""".split()  # noqa: SIM905
)
"""These begin a command or name a thing: `Build the docs`, `Build output goes to dist/`."""
OBJECT = re.compile(
    r"^(?:the|a|an|this|that|these|those|all|any|both|each|every|your|it|its|them|only|up|out|off|on"
    r"|in|into|to|from|with|without|for|by|as|down|over|again|before|after)\b|^[\"'$/.~-]"
)
STATES = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|lives?|goes|go|takes?|contains?|comes?|fails?"
    r"|passes|needs?|uses?|returns?|runs?|prints?|writes?|reads?|requires?|expects?|lies|lie|stands?"
    r"|resides?|takes|covers?|depends?|exists?|holds?|works?|belongs?|started|finished|failed|passed)\b"
)


CODE = re.compile(r"`[^`\n]*`")


def is_imperative(text: str) -> bool:
    """Whether some sentence says what to do."""
    # Code is a thing that is talked about: `make test` runs the tests.
    pieces = CLAUSE.split(CODE.sub("this", text.lower().replace("’", "'")))
    ends = [None, *pieces[1::2]]
    return any(_tells(clause, end == ":") for clause, end in zip(pieces[::2], ends, strict=True))


def _tells(clause: str, is_after_colon: bool) -> bool:
    clause = BULLET.sub("", clause.strip())
    while (shorter := BULLET.sub("", clause)) != clause:
        clause = shorter
    if TELLS.search(clause):
        return True
    condition = AFTER_CONDITION.match(clause)
    rest = condition["rest"].strip() if condition else ""
    return _commands(clause, is_after_colon) or _commands(rest, False)


def _commands(clause: str, is_strict: bool) -> bool:
    """Whether it begins with a verb that commands; strictly: only with an object to it."""
    clause = ADVERBS.sub("", clause)
    if DO_NOT.match(clause):
        return True
    verb, _, rest = clause.partition(" ")
    verb, rest = verb.strip("*_\"',"), rest.strip()
    if verb not in COMMANDS and verb not in AMBIGUOUS:
        return False
    if rest.startswith(("of ", "is ", "are ", "case")):
        return False
    if verb in COMMANDS and not is_strict:
        return True
    return bool(rest) and (OBJECT.match(rest) is not None or not (is_strict or STATES.search(rest)))
