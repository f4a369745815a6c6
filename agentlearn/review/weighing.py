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

from agentlearn.review.lasting import ALWAYS, LASTING, LENDING, OTHER_WAY, WORK, WORK_AT_ONCE
from agentlearn.review.passing import AGAINST, ASKS, FOR_THIS_TASK, THINKS

NOT = (
    r"(?:not|no longer|cannot"
    r"|(?:do|does|did|is|are|was|were|has|have|had|ca|could|wo|would|should|must)n'?t)"
)
CORRECTS = re.compile(
    rf"\b(?:{NOT}|never|instead|rather|only|without|stop|no need)\b|^(?:no|nope)\b", re.IGNORECASE
)
"""Typed into a rejection, what is not wanted is a correction; what more is wanted is the task."""
WISHFUL = re.compile(
    r"\b(?:can|could|should|are|ca)(?:n'?t)? ?(?:we|you|the|it)\b.{0,60}?\b(?:instead|rather)\b"
    r"|\b(?:can|could) we (?:please )?(?:not|avoid|stop|stick to|stick with|keep to)\b"
    r"|\bable to not\b|\bwhy (?:are|do) (?:we|you|u)\b.*\binstead of\b"
    r"|\bwhy (?:not using|(?:can'?t|don'?t|didn'?t|aren'?t) (?:you|u) us(?:e|ing))\b",
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
    rf"{UNDOES.pattern}.*(?:\b(?:because|since|otherwise|as|so that|risk)\b|, (?:the|it|this"
    rf"|that|we|i)\b)",
    re.IGNORECASE,
)
"""Something is taken out again, and the person says why."""
FAULT = re.compile(
    r"^(?:those|these|this|that|it|they|the \w+|your \w+)\b.{0,60}?"
    rf"\b(?:just|only|useless|pointless|nothing|{NOT})\b",
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
    rf"(?:^|\b(?:please|should|must|let'?s|you|to|and|but|,) |, ){ALWAYS} (?!mind\b|been\b|got\b"
    rf"|saw\b"
    r"|had\b|be launched|\w+ed\b)\w|\balways(?: please)?\W*$",
    re.IGNORECASE,
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
    if TAKES_BACK.search(sentence) or is_standing(sentence):
        return CLEAR
    wished = PURPOSE.sub("", sentence)
    lasts = sum(sign.points for sign in LASTING if sign.words.search(wished))
    if rejects and not lasts and OTHER_WAY.words.search(wished):
        lasts = OTHER_WAY.points
    if not lasts and rejects and CORRECTS.search(sentence):
        lasts = CORRECTION
    if not lasts:
        return 0
    wishful = WISHFUL.search(sentence) is not None
    against = [sign for sign in AGAINST if sign.words.search(sentence)]
    excused = {ASKS.name} if wishful else set()
    if wishful or rejects:
        excused.add(FOR_THIS_TASK.name)
    if is_about_work(sentence):
        excused |= {FOR_THIS_TASK.name, "own doing", "goes on"}
    points = min(lasts + _lent(sentence), MOST_FOR_WORDS)
    return points + sum(sign.points for sign in against if sign.name not in excused)


def is_standing(sentence: str) -> bool:
    """An order for every time, not a question or a thought about one."""
    doubts = ASKS.words.search(sentence) or THINKS.words.search(sentence)
    return STANDING.search(sentence) is not None and not doubts


def is_about_work(sentence: str, kinds: set[str] = WORK) -> bool:
    """Whether it says how the agent should work, which outlives the task it works on."""
    return any(sign.name in kinds and sign.words.search(sentence) for sign in LASTING)


def lasts_at_once(sentence: str) -> bool:
    """Whether it lasts even among the first words, which set a task."""
    return is_about_work(sentence, WORK_AT_ONCE) or STANDING.match(sentence) is not None


def decides(sentence: str) -> int:
    """The points of a decision, which lasts only if more than its words speak for it."""
    if any(sign.words.search(sentence) for sign in AGAINST):
        return 0
    return _lent(sentence)


def _lent(sentence: str) -> int:
    return sum(sign.points for sign in LENDING if sign.words.search(sentence))
