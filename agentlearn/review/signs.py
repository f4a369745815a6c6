"""What speaks for and against a sentence being a lesson: small signs, each with its points.

No sign decides alone. Drawn from what some thirty people typed to agents: a decision, a refusal,
a contrast, "we do it so here" and a reason each weigh a little; a question, a report of what is
broken, what the person did, and a request for the task at hand weigh against it. People write
fast: "dont" and "to much" are words here.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Sign(NamedTuple):
    name: str
    points: int
    words: re.Pattern[str]


def _sign(name: str, points: int, *words: str) -> Sign:
    return Sign(name, points, re.compile("|".join(words), re.IGNORECASE))


NOT = (
    r"(?:not|no longer|cannot"
    r"|(?:do|does|did|is|are|was|were|has|have|had|ca|could|wo|would|should|must)n'?t)"
)
FOR = (
    _sign(
        "decides",
        2,
        r"\b(?:should|must)(?:n'?t)?\b|\b(?:needs?|has|have|ought|supposed|meant|intended) to\b",
        r"\b(?:intended for|prefer\w*|i'?d rather|(?:we|i) (?:\w+ )?want|expect)\b",
        r"\b(?:make sure|be sure|ensure|let'?s (?:not|keep|go|have|stick|use|always))\b",
        r"\b(?:better|enough|important) (?:to|if|that)\b",
    ),
    _sign(
        "refuses",
        3,
        r"^(?:no|nope|stop|wait|hang on|hold on)\b(?! need| problem)|^never\b",
        r"\b(?:don'?t|do not|stop|avoid|ignore) (?!have|know|see|think|need|you\b)\w",
        r"\b(?:no need|not? (?:needed|necessary|relevant|allowed|wanted|useful))\b",
        r"\b(?:too? much|useless|pointless)\b",
    ),
    _sign(
        "sets apart",
        1,
        r"\b(?:instead|rather than|only|except|without|unless|just)\b",
        rf"\b{NOT}\b",
    ),
    _sign(
        "how it is here",
        2,
        rf"\bwe (?:\w+ )?(?:never|{NOT}) \w",
        r"\bwe (?:always|only|already|currently|use|have|support|prefer|share|keep|deprecated)\b",
        r"\b(?:our|the) (?:pattern|convention|rule|policy|standard|point|plan|idea|goal)\b",
        r"\b(?:is|are|was|were) (?:now|actually|already|no longer|only|just|all|the)\b",
    ),
    _sign(
        "always",
        3,
        r"\b(?:always|(?:every|each) time|whenever|from now on|(?:moving|going) forward)\b",
        r"\bnever (?!answered|saw|got|mind)",
        r"\b(?:in (?:the )?future|future reference|as a rule|in general|by default|anymore)\b",
        r"\b(?:one[- ]at[- ]a[- ]time|one \w+ at a time|at all|as you go|until)\b|\bperiod[.!]",
        r"\b(?:at the (?:beginning|end)|(?:as|after|before|for|on) (?:every|each))\b",
        r"\bagain on your own\b",
    ),
    _sign(
        "names the way",
        3,
        r"^(?:just )?(?:use|keep|follow|reuse|stick (?:to|with)) (?!this|that|it\b|\w+ing\b)\S",
        r"\buse \S+ (?:\S+ )?(?:instead|to (?:test|check|run|build|verify|do))\b",
    ),
    _sign(
        "says why",
        2,
        r"\b(?:because|becuase|since|so that|otherwise|that'?s why|the (?:reason|risk|point))\b",
        r"\b(?:risky|noise|waste|overkill|confusing|wasteful|violates|as that'?s|so (?:we|it|i))\b",
    ),
    _sign(
        "finds fault",
        3,
        r"\byou(?:'re| are| were)? (?:\w+ )?(?:should(?:n'?t| not)? have|forgot|missed|ignored)\b",
        r"\byou(?:'re| are| were)? (?:\w+ )?(?:broke|went|duplicated|keep|kept|can'?t|cannot)\b",
        r"\byou (?:\w+ )?(?:don'?t|didn'?t|did not|aren'?t|are not|never)\b",
        r"\bi (?:told|asked|said|meant|did not ask|didn'?t ask)\b|\bmore concise\b",
        r"\btoo? (?:much|big|long|complex|complicated|verbose|many|noisy|slow|clever)\b",
    ),
)
ASKS = _sign(
    "asks",
    -5,
    r"\?\s*$|\bdo you think\b|\bright\s*$",
    r"^(?:what|why|how|where|when|who|which|is|are|was|were|did|does|has|have|had|am)\b",
    r"^(?:would|will|do (?:you|we|i))\b",
    r"\b(?:tell|show|explain|check|see|find|know|sure|wonder\w*|question is)\b.{0,40}"
    r"\b(?:where|what|which|how|whether|why|if)\b",
)
AGAINST = (
    ASKS,
    _sign(
        "thinks aloud",
        -3,
        r"\b(?:maybe|perhaps|not sure|idk|might|could be)\b",
        r"\bi (?:guess|wonder|suspect|assume|believe)\b",
        r"\b(?:i'?m thinking|let'?s (?:think|see|say|worry)|what if|i feel like)\b",
        r"\bseems? (?:like|fine|good)\b|\bthink (?:about|through)\b",
    ),
    _sign(
        "reports",
        -3,
        r"^(?:still|same|again|getting)\b",
        r"\bstill (?:\w+ )?(?:not|cannot|can'?t|fail\w*|happening|there|see|have)\b",
        r"\b(?:errors?|crash\w*|fail(?:s|ed|ing)?|broken|bug|exception|blank|laggy|stuck|hang\w*)\b",
        r"\b(?:doesn'?t|isn'?t|not) (?:work\w*|load\w*|visible|show\w*|connect\w*|applied)\b",
        r"\bi (?:(?:can|still|now|never|also) )?(?:see|saw|get|got|noticed|tried|found)\b",
        r"\b(?:never (?:answered|saw|got)|it worked)\b",
    ),
    _sign(
        "own doing",
        -3,
        r"^i (?:did|was|merged|committed|can|am going)\b",
        r"\bi(?:'ll|'ve|'m going to| will| have| just)\b",
    ),
    _sign(
        "only now",
        -4,
        r"\b(?:for now|later|today|this time|yet|until we'?re|(?:for|at) the moment)\b",
        r"^now\b|\bnow\W*$|\bnow,",
    ),
    _sign(
        "goes on",
        -2,
        r"\b(?:first|next|anyway|go ahead|continue|proceed|try|again|begin|carry on)\b",
        r"\b(?:step|phase|option|slice|issue|pr|milestone|line|task|number|wave) ?#?\d",
        r"\bkeep (?:going|reviewing)\b",
    ),
    _sign(
        "for this task",
        -1,
        r"^(?:please )?(?:add|fix|create|update|remove|delete|rename|move|run|check|commit|push)\b",
        r"^(?:please )?(?:open|merge|build|test|implement|review|write|make|change|put|show)\b",
        r"^(?:please )?(?:give|look|read|replace|allow|do(?! not|n'?t)|pull|bump|revert)\b",
        r"^(?:please )?(?:refactor|clean|finish|start|install|deploy|find|copy|draft)\b",
        r"^(?:can|could|would|will) (?:you|we)\b|^let'?s\b|\bcan you\b",
        r"\b(?:should|can|could|need to|want to) also\b",
    ),
)
WISHFUL = re.compile(
    r"\b(?:can|could|should|are) ?(?:we|you|the|it)\b(?! not\b).{0,60}?"
    rf"\b(?:{NOT}|never|instead|rather)\b|^(?:ca|could|should|would|is|are|do)n'?t\b",
    re.IGNORECASE,
)
"""A question that has its answer in it: "can we … instead?", "can't the tests be … ?"."""
TAKES_BACK = re.compile(
    r"\b(?:remove|revert|undo|drop|delete|take out|throw away)\b.{0,80}?"
    r"\b(?:again|back|useful|useless)\b",
    re.IGNORECASE,
)
FAULT = re.compile(
    r"^(?:those|these|this|that|it|they|the \w+|your \w+)\b.{0,60}?"
    rf"\b(?:just|only|useless|pointless|nothing|{NOT})\b",
    re.IGNORECASE,
)
RENAMED = re.compile(
    r"\b(?:has been|have been|was|were|is now|are now|got) (?:now )?(?:renamed|moved|replaced|"
    r"deprecated|dropped|merged into)\b",
    re.IGNORECASE,
)
AGREES = re.compile(
    r"^\W*(?:you'?re (?:\w+ )?(?:right|correct)|that'?s (?:\w+ )?(?:right|correct|a (?:good|fair))"
    r"|(?:good|great|fair|valid|excellent) (?:point|catch|call)|i (?:apologi[sz]e|misunderstood)"
    r"|(?:my )?apologies|sorry|my mistake|understood|noted|makes sense|agreed|totally right"
    r"|ah,? (?:i see|right))\b",
    re.IGNORECASE,
)
"""How an agent takes a correction: its words are no evidence, but tell what it answers to."""


REMEMBER = re.compile(
    r"(?:^|[.!?\n,;:] *|\b(?:please|and|so|but|also) )"
    r"(?:remember(?: to| that|:|,)|(?:please )?keep in mind(?: that|:|,)|make a note|"
    r"don'?t forget (?:to|that)|note (?:to self|for (?:the future|next time)))"
    r"|\bfrom now on\b|\bfor future reference\b"
    r"|^(?:in (?:the )?future|next time|going forward),? (?:please |you |always |never |do |don'?t "
    r"|use |run |ask |make |let'?s )",
    re.IGNORECASE,
)
"""An explicit wish that something be kept."""
MOST_FOR_WORDS = 8
"""A long sentence has many words: they never weigh more than this, whatever their number."""


def weigh(sentence: str) -> int:
    """The points of a sentence by its words alone."""
    speaks_for = sum(sign.points for sign in FOR if sign.words.search(sentence))
    points = min(speaks_for, MOST_FOR_WORDS)
    points += sum(sign.points for sign in AGAINST if sign.words.search(sentence))
    if WISHFUL.search(sentence) and ASKS.words.search(sentence):
        points += 3 - ASKS.points
    if TAKES_BACK.search(sentence):
        points += 5  # outweighs "again", and that it begins like a request
    return points + 6 * bool(RENAMED.search(sentence))
