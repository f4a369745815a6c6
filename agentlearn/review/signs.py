"""What speaks for and against a sentence being a lesson: signs, each with its points.

Two questions are asked of a sentence. Does it last: does it say how things are done here, what is
not wanted, or what was wrong with how the agent works? And is it only about the task at hand: a
question, a thought, a report, a step? What the person decides on ("it should also …", "we need to
…") lasts only if it was a correction, so the words of a decision alone never suffice.

Drawn from what some fifty people typed to agents. People write fast: "dont" and "to much" are
words here.
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
ORDERS = r"(?:^|[,;:.(] ?|- |\b(?:please|so|but|just|then|you) )"
"""Where an order begins: "the icons don't line up" is none."""
NOT_YET = (
    r"(?!(?:\w+ )?(?:have|know|see|think|need|care|mind|remember|recall|agree|you|understand)\b)"
)
"""After "don't": what tells of the person, not of a wish."""
LASTING = (
    _sign(
        "always",
        3,
        r"(?<!\bcan )(?<!\bcould )\b(?:always|alway|whenever|(?:every|each) time|from now on)\b",
        r"\b(?:moving|going) forward\b",
        r"\b(?:in (?:the )?future|as a rule|in general|anymore|when(?:ever)? possible)\b",
        r"\bnever (?!answered|saw|got|mind)|\b(?:one[- ]at[- ]a[- ]time|one \w+ at a time)\b",
    ),
    _sign(
        "refuses",
        3,
        rf"{ORDERS}(?:don'?t|do not|avoid|ignore) {NOT_YET}\w",
        r"\bstop \w+ing\b|\bno need (?:to|for)\b|\bmust(?:n'?t| not| never)\b",
        r"\b(?:we|you|i) (?:\w+ )?should(?:n'?t| not| never)\b",
        r"\bnot? (?:needed|necessary|allowed|wanted)\b|\b(?:can|could) we (?:please )?not\b",
        r"\bable to not\b",
    ),
    _sign("does not want", 6, r"\b(?:i|we) (?:really )?(?:don'?t|do not) want\b"),
    _sign(
        "how it is here",
        3,
        rf"\bwe (?:\w+ )?(?:never|(?:do|ca)n'?t|do not|cannot|no longer) {NOT_YET}\w",
        r"(?<!\bif )(?<!\bcan )(?<!\bcould )(?<!\bhow )(?<!\bwhen )(?<!\bonce )"
        r"\bwe (?:\w+ )?(?:always|only|use|support|prefer|share|keep(?! \w+ing)|rely on)\b",
        r"\b(?:our|the) (?:pattern|convention|rule|policy|standard|(?:\w+ )?directive)\b",
        r"\b(?:is|are) (?:now (?:called|named|part of|in|under)|no longer)\b",
        r"^(?:just to |please )?note(?: that|,|:)",
    ),
    _sign(
        "names the way",
        3,
        r"^(?:just )?(?:use|keep|follow|reuse|stick (?:to|with)) (?!this|that|it\b|\w+ing\b)\S.*"
        r"(?:\binstead\b|\bnot\b|\brather than\b|\bto (?:test|check|run|build|verify|do|read)\b)",
        r"(?:\b(?:use|want|let'?s|should|must|can(?:'?t)?|we|i)\b|^(?:put|move|write|call|make)\b).*"
        r"\b(?:instead of\b|rather than\b|instead\W*$)",
        r"\b(?:i|we)(?:'?d)? (?:\w+ )?prefer\b|^prefer\b|\bstick (?:to|with) the\b",
        r"\buse \S+ (?:\S+ )?instead\b",
    ),
    _sign(
        "finds fault",
        3,
        r"\byou(?:'re| are| were)? (?:\w+ )?(?:should(?:n'?t| not)? have|forgot|missed|ignored)\b",
        r"\byou (?:\w+ )?(?:keep|kept) \w+ing\b",
        r"\bi (?:told|(?:did not|didn'?t) (?:ask|tell)) you\b",
        r"\btoo? (?:complex|complicated|verbose|noisy|clever)\b",
        r"\bmore concise\b|\b(?:useless|pointless|overkill|wasteful)\b",
    ),
)
LENDING = (
    _sign(
        "decides",
        1,
        r"\b(?:should|must|(?<!n't )(?<!nt )needs? to|has to|have to|ought to|supposed to)\b",
        r"\b(?:make sure|ensure)\b",
        r"\b(?:let'?s (?:not|keep|stick|use|always)|better (?:to|if|not))\b",
    ),
    _sign("finds too much", 1, r"\btoo? (?:much|big|long|many|slow)\b"),
    _sign("says why", 1, r"\b(?:because|becuase|since|so that|otherwise|so (?:we|it|i))\b"),
)
CORRECTS = re.compile(
    rf"\b(?:{NOT}|never|instead|rather|only|without|stop|no need)\b|^(?:no|nope)\b", re.IGNORECASE
)
"""Typed into a rejection, what is not wanted is a correction; what more is wanted is the task."""
ASKS = _sign(
    "asks",
    -5,
    r"\?\s*$|\bdo you think\b|\bright\s*$|^you think\b|\bam i right\b|\bwhat about\b",
    r"\b(?:should|shall) (?:we|i)\b",
    r"^(?:so )?(?:what|why|how|where|when|who|which|is|are|was|were|did|does|has|have|had|am)\b",
    r"^(?:so )?(?:would|will|should|shouldn'?t|can'?t|isn'?t|aren'?t|do (?:you|we|i))\b",
    r"\b(?:tell|show|explain|check|see|find|know|sure|wonder\w*|question is)\b.{0,40}"
    r"\b(?:where|what|which|how|whether|why|if)\b",
)
FOR_THIS_TASK = _sign(
    "for this task",
    -2,
    r"^(?:please )?(?:add|fix|create|update|remove|delete|rename|move|run|check|commit|push)\b",
    r"^(?:please )?(?:open|merge|build|test|implement|review|write|make|change|put|show)\b",
    r"^(?:please )?(?:give|look|read|replace|allow|do(?! not|n'?t)|pull|bump|revert|spawn)\b",
    r"^(?:please )?(?:refactor|clean|finish|start|install|deploy|find|copy|draft|define)\b",
    r"^(?:can|could|would|will) (?:you|we)\b|\bcan you\b|^let'?s (?!not|keep|stick|use|always)",
    r"\b(?:should|can|could|need to|want to) also\b|\bas well\b",
)
AGAINST = (
    ASKS,
    FOR_THIS_TASK,
    _sign(
        "thinks aloud",
        -3,
        r"\b(?:maybe|perhaps|not sure|idk|might|could be|probably|i'?m not)\b",
        r"\bi (?:guess|wonder|suspect|assume|believe|thought|would have thought)\b",
        r"\b(?:i'?m thinking|let'?s (?:think|see|say|worry)|what if|i feel like)\b",
        r"\bseems? (?:like|fine|good)\b|\bthink (?:about|through)\b",
    ),
    _sign(
        "reports",
        -3,
        r"^(?:still|same|again|getting)\b",
        r"\b(?:whenever|every time|each time) (?:i|you|we|it|someone|the \w+) \w",
        r"\bstill (?:\w+ )?(?:not|cannot|can'?t|fail\w*|happening|there|see|have)\b",
        r"\b(?:errors?|crash\w*|fail(?:s|ed)|broken|bug|exception|blank|laggy|stuck|hang\w*)\b",
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
        r"\b(?:first|next|anyway|go ahead|continue|proceed|try|again|begin|carry on|skip)\b",
        r"\b(?:step|phase|option|slice|issue|pr|milestone|line|task|number|wave) ?#?\d",
        r"\b(?:on|at|lines?) \d{2,}\b",
        r"^(?:so|then|once|if) (?:we|you|it|i|that|this)\b|\b(?:this|the) (?:pr|branch|session)\b",
    ),
)
WISHFUL = re.compile(
    r"\b(?:can|could|should|are|ca)(?:n'?t)? ?(?:we|you|the|it)\b.{0,60}?\b(?:instead|rather)\b"
    r"|\b(?:can|could) we (?:please )?(?:not|stick to|stick with|keep to)\b|\bable to not\b",
    re.IGNORECASE,
)
"""A question that has its answer in it: "can we … instead?", "can we not …?"."""
PURPOSE = re.compile(r"\bso (?:that )?(?:we|it|i|you|they|there)\b.*", re.IGNORECASE)
"""What something is good for is no wish of its own."""
QUOTED = re.compile(r"\"[^\"]+\"|“[^”]+”|`[^`]+`")
"""Not the person's words, or none that wish."""
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
    r"^\W*(?:you'?re (?:\w+ )?(?:right|correct)|that'?s (?:\w+ )?(?:right|correct)"
    r"|(?:good|great|fair|valid|excellent) (?:point|catch)|i (?:apologi[sz]e|misunderstood)"
    r"|(?:my )?apologies|sorry|my mistake|noted|totally right|ah,? (?:i see|right))\b",
    re.IGNORECASE,
)
"""How an agent takes a correction, not how it takes an idea ("good call", "agreed"): its words are
no evidence, but tell what it answers to."""


REMEMBER = re.compile(
    r"(?:^|[.!?\n,;:] *|\b(?:please|and|so|but|also) |\byou (?:have|need) to )"
    r"(?:remember(?: to| that|:|,)|(?:please )?(?:keep|have) in mind(?: that|:|,)|"
    r"make a note(?: that|:|,)|don'?t forget (?:to|that)|"
    r"note (?:to self|for (?:the future|next time)))"
    r"|\bfrom now on\b|\bfor future reference\b"
    r"|^(?:in (?:the )?future|next time|going forward),? (?:please |you |always |never |do |don'?t "
    r"|use |run |ask |make |let'?s )",
    re.IGNORECASE,
)
"""An explicit wish that something be kept."""
STANDING = re.compile(
    r"^(?:please )?(?:always|never) (?!mind\b|been\b|got\b|saw\b|had\b|\w+ed\b)\w", re.IGNORECASE
)
"""An order for every time."""
MOST_FOR_WORDS = 6
"""A long sentence has many words: they never weigh more than this, whatever their number."""
CORRECTION, CLEAR = 1, 8


def weigh(sentence: str, *, rejects: bool = False) -> int:
    """The points of a sentence by its words alone; none if nothing in it lasts.

    `rejects`: it was typed into a rejection, where an order is a correction.
    """
    sentence = QUOTED.sub("…", sentence)
    if any(each.search(sentence) for each in (TAKES_BACK, RENAMED, STANDING)):
        return CLEAR
    wished = PURPOSE.sub("", sentence)
    lasts = sum(sign.points for sign in LASTING if sign.words.search(wished))
    if not lasts and rejects and CORRECTS.search(sentence):
        lasts = CORRECTION
    if not lasts:
        return 0
    wishful = WISHFUL.search(sentence) is not None
    against = [sign for sign in AGAINST if sign.words.search(sentence)]
    excused = {ASKS.name} if wishful else set()
    if wishful or rejects:
        excused.add(FOR_THIS_TASK.name)
    points = min(lasts + _lent(sentence), MOST_FOR_WORDS)
    return points + sum(sign.points for sign in against if sign.name not in excused)


def decides(sentence: str) -> int:
    """The points of a decision, which lasts only if more than its words speak for it."""
    if any(sign.words.search(sentence) for sign in AGAINST):
        return 0
    return _lent(sentence)


def _lent(sentence: str) -> int:
    return sum(sign.points for sign in LENDING if sign.words.search(sentence))
