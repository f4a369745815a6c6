"""How much speaks for a sentence being a lesson.

Two questions are asked of a sentence. Does it last: does it say how the agent should work, how
things are done here, or what is not wanted? And is it only about the task at hand: a question, a
thought, a report, a step, or how a screen should look? What the person decides on ("it should also
…", "we need to …") lasts only if it was a correction, so the words of a decision alone never
suffice.

Drawn from some five thousand things that more than a hundred people typed to agents.
"""

from __future__ import annotations

import re

from agentlearn.review.lasting import (
    ALWAYS,
    DECIDES,
    LASTING,
    LENDING,
    OTHER_WAY,
    REPROACH,
    WORK_SIGNS,
    WRITTEN_DOWN,
)
from agentlearn.review.passing import (
    AGAINST,
    ASKS,
    FOR_THIS_TASK,
    GOES_ON,
    MAKES_SOMETHING,
    OWN_DOING,
    THINKS,
)

NEGATION = (
    r"(?:not|no longer|cannot"
    r"|(?:do|does|did|is|are|was|were|has|have|had|ca|could|wo|would|should|must)n'?t)"
)
CORRECTS = re.compile(
    rf"\b(?:{NEGATION}|never|instead|rather|only|without|stop|no need)\b|^(?:no|nope)\b",
    re.IGNORECASE,
)
"""Typed into a rejection, what is not wanted is a correction; what more is wanted is the task."""
WISHFUL = re.compile(
    r"\b(?:can|could|should|are|ca)(?:n'?t)? ?(?:we|you|the|it)\b.{0,60}?\b(?:instead|rather)\b"
    r"|\b(?:can|could) we (?:please )?(?:not|avoid|stop|stick to|stick with|keep to)\b"
    rf"|\bable to not\b|{REPROACH}",
    re.IGNORECASE,
)
"""A question that has its answer in it: "can we … instead?", "can we not …?"."""
PURPOSE = re.compile(r"\bso (?:that )?(?:we|it|i|you|they|there)\b.*", re.IGNORECASE)
"""What something is good for is no wish of its own."""
QUOTED = re.compile(r"\"[^\"]+\"|“[^”]+”|`[^`]+`")
"""Not the person's words, or none that wish."""
UNDOES = re.compile(
    r"\b(?:remove|revert|undo|drop|delete|take out|throw away)\b.{0,80}?"
    r"\b(?:again|back|useful|useless)\b",
    re.IGNORECASE,
)
TAKES_BACK = re.compile(
    UNDOES.pattern + r".*(?:\b(?:because|since|otherwise|as|so that|risk)\b"
    r"|, (?:the|it|this|that|we|i)\b)",
    re.IGNORECASE,
)
"""Something is taken out again, and the person says why."""
FAULT = re.compile(
    r"^(?:those|these|this|that|it|they|the \w+|your \w+)\b.{0,60}?"
    rf"\b(?:just|only|useless|pointless|nothing|{NEGATION})\b",
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
    rf"(?:^|\b(?:please|should|must|let'?s|you|to|and|but) |, ){ALWAYS} "
    r"(?!mind\b|been\b|got\b|saw\b|had\b|\w+ed\b)\w|(?<!\bas )\balways(?: please)?\W*$",
    re.IGNORECASE,
)
"""An order for every time."""
OF_A_THING = re.compile(
    rf"(?!(?:{ALWAYS}|commits?|prs?|you|we|i|u|let'?s|please|if you|when you)\b)"
    r"(?!(?:this (?:should|must|is how)|that(?:'s| is) how)\b)(?:when |if |as |once )?"
    r"(?:(?:the|an?|it|this|that|they|there|our|its|each|every|users?|people|someone|all) "
    r"(?:[\w'-]+ ){0,5}?|[\w'-]+s )"
    r"(?:should|shows?|must|can(?:not|'?t)?|will|fires?|submits?|gets?|asks?|returns?|needs?"
    r"|has|have|is|are|was|were|goes|go|works?|says?|runs?|logs?|exists?|sends?)\b",
    re.IGNORECASE,
)
"""The page, the user or the script does it, not the agent: "the wizard shows one at a time"."""
MOST_FOR_WORDS = 6
"""A long sentence has many words: they never weigh more than this, whatever their number."""
CORRECTION, CLEAR = 1, 8


def weigh(sentence: str, *, rejects: bool = False) -> int:
    """The points of a sentence by its words alone; none if nothing in it lasts.

    `rejects`: it was typed into a rejection, where an order is a correction.
    """
    sentence = QUOTED.sub("…", sentence)
    if TAKES_BACK.search(sentence) or is_standing(sentence, rejects=rejects):
        return CLEAR
    about_work = is_about_work(sentence)
    wished = PURPOSE.sub("", sentence)
    signs = [
        sign
        for sign in LASTING
        if (about_work or sign not in WORK_SIGNS or sign is WRITTEN_DOWN)
        and sign.words.search(wished)
    ]
    lasts = sum(sign.points for sign in signs)
    if rejects and not lasts and OTHER_WAY.words.search(wished):
        lasts = OTHER_WAY.points
    if not lasts and rejects and CORRECTS.search(sentence):
        lasts = CORRECTION
    if not lasts:
        return 0
    excused = set()
    wishful = WISHFUL.search(sentence) is not None
    if wishful:
        excused.add(ASKS)
    if wishful or rejects:
        excused |= {FOR_THIS_TASK, MAKES_SOMETHING}
    if about_work:
        excused |= {FOR_THIS_TASK, OWN_DOING, GOES_ON}
    if WRITTEN_DOWN in signs:
        excused.add(MAKES_SOMETHING)
    against = [sign for sign in AGAINST if sign not in excused and sign.words.search(sentence)]
    points = min(lasts + _lent(sentence), MOST_FOR_WORDS)
    return points + sum(sign.points for sign in against)


def is_standing(sentence: str, *, rejects: bool = False) -> bool:
    """An order for every time; neither a question or a thought about one, nor what a thing does."""
    if STANDING.search(sentence) is None:
        return False
    doubts = ASKS.words.search(sentence) or THINKS.words.search(sentence)
    return not doubts and (rejects or OF_A_THING.match(sentence) is None)


def is_about_work(sentence: str) -> bool:
    """Whether it says how the agent should work, which outlives the task it works on."""
    said = any(sign.words.search(sentence) for sign in WORK_SIGNS)
    return said and OF_A_THING.match(sentence) is None


def decides(sentence: str) -> int:
    """The points of a decision, which lasts only if more than its words speak for it."""
    if not DECIDES.words.search(sentence):
        return 0  # a reason, or a complaint, is for nothing by itself
    if any(sign.words.search(sentence) for sign in AGAINST):
        return 0
    return _lent(sentence)


def _lent(sentence: str) -> int:
    return sum(sign.points for sign in LENDING if sign.words.search(sentence))
