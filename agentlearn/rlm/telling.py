"""How much a person's words may tell the next session: a weight from 0 to 8, by their shape alone.

It ranks, it does not decide: what weighs little is left out only where there is no room. Words that
refuse, replace one thing by another, take back what was decided, or say how things are done here
weigh most; questions, thanks, orders to go on, plain requests and pasted text weigh least.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

LONGEST = 1500
BASE, MOST = 2.0, 8.0
NAME = re.compile(r"[^\W_][\w.+-]{2,}[^\W_]|\d+\.\d+|[\u4e00-\u9fff]{2}")


class Sign(NamedTuple):
    points: float
    words: re.Pattern[str]


def _sign(points: float, *words: str) -> Sign:
    return Sign(points, re.compile("|".join(words), re.IGNORECASE))


SIGNS = (
    _sign(  # refuses
        1.5,
        r"\b(?:no|not|never|none|nope|without|cannot|dont|isnt|wont|doesnt|\w+n't)\b",
        r"\b(?:kein\w*|nicht|nie|niemals|ohne|nunca|jamás|sin|pas|jamais|ne)\b|[不别没勿]",
    ),
    _sign(  # one thing instead of another
        1.5,
        r"\b(?:instead|rather|only|just|but|actually|back|stick|prefer|better|already)\b",
        r"\b(?:statt\w*|sondern|lieber|nur|doch|sino|mejor|solo|plutôt|seulement)\b|[只而但]",
    ),
    _sign(  # for all of it
        1.0,
        r"\b(?:always|every\w*|all|each|anywhere|in general|whenever|must|has to|have to)\b",
        r"\b(?:immer|überall|alle[sn]?|jede\w*|muss|siempre|tod[oa]s?|toujours|tou[ts]\w*)\b|[都要]",
    ),
    _sign(  # how it is here
        1.0,
        r"\b(?:we|we've|we're|our|ours|here|this repo|in this|everyone)\b",
        r"\b(?:wir|unser\w*|hier|nosotros|nuestr\w*|aquí|nous|notre|ici)\b|我们|这个|咱",
    ),
    _sign(  # says why
        0.5,
        r"\b(?:because|since|so that|otherwise|makes?|because of|weil|sonst|porque|car)\b|因为",
    ),
    _sign(  # takes back what was decided
        2.0,
        r"\b(?:after all|changed? my mind|second thoughts?|scratch (?:that|the)|forget \w+,)",
        r"\b(?:was|were) a mistake|\bany ?more\b|\bno longer\b|\b(?:is|are|goes|gone|go) out\b",
        r"\b(?:undo|revert|remove|drop|ditch|kill|move|put) .{0,60}\b(?:again|back|after all)\b",
        r"\b(?:undo|drop|ditch) the\b|\b(?:switch|change|go|move) .{0,40}\bover to\b",
        r"\bdespite what\b|\bI know I (?:wanted|said|asked)\b|\bturned out\b",
        r"\b(?:it is|it's) now\b|\b(?:is|are|goes) \w+ now\b",
        r"\b(?:jetzt|nun) doch\b|\bdoch (?:nicht|lieber)\b|\bkann weg\b",
        r"\bal final\b|\bcambié de\b|\bfinalement\b|不用|改成|还是|算了",
    ),
    _sign(  # finds fault with what was just done
        1.5,
        r"^(?:no|nope|nah|wait|stop|hold on|hang on|hm+|wrong|why)\b(?! (?:idea|problem|worries))",
        r"^(?:nein|halt|moment|así no|non)\b|\byou (?:did|forgot|missed|broke|keep|should)\b",
        r"\bI (?:said|told|asked|wanted)\b|\bhands off\b|\bhas no business\b|\bby hand\b",
    ),
    _sign(  # asks
        -2.5,
        r"\?\s*$|？\s*$",
        r"^(?:what|why|how|where|when|who|which|is|are|was|did|does|do|should|so what)\b",
    ),
    _sign(  # is content, or goes on
        -2.5,
        r"^(?:ok(?:ay)?|yes|yep|yeah|sure|great|perfect|nice|cool|good|thanks?|thx|lgtm|fine|right)\b",
        r"^(?:no (?:problem|worries|rush|hurry|idea)|never ?mind|don'?t worry|go (?:on|ahead))\b",
        r"^(?:gut|danke|super|prima|passt|vale|gracias|bien|merci|好的?|谢)",
        r"\bgo (?:on|ahead)\b|\bmerge when\b|\bworks (?:fine|now|well)\b|\bnothing else\b",
    ),
    _sign(  # a step of the task at hand
        -1.5,
        r"^(?:please |now |then |next,? |and |also )*"
        r"(?:add|fix|create|update|rename|run|check|show|"
        r"commit|push|open|build|test|implement|review|write|look|read|list|find|explain|continue|"
        r"have a look|let'?s (?:look|see|go|start|continue|move on|use))\b",
        r"\b(?:can|could|would) you (?:please )?(?!undo|not|stop|revert)\w+",
        r"\bfor now\b|\bwhere (?:were|are) we\b|\bplease (?:read|look|check)\b|\btake a look\b",
    ),
    _sign(  # tells what happened, or for the record
        -1.0,
        r"\bjust so you know\b|\bfor context\b|\bmeanwhile\b|\bwrong window\b|\bignore that\b",
        r"\btomorrow\b|\btoday\b|\blater\b|\bin the meeting\b",
    ),
)
PASTED = re.compile(
    r"^\s*(?:>|\||#{1,6} |```|\d+[.)] |[-*] |\$ |at \S+\(|Traceback|FAILED )", re.MULTILINE
)
IN_QUESTIONS = re.compile(
    r"\b(?:can|could) we (?:please )?(?:not|do this with|use|keep|stick)\b"
    r"|\breally (?:need|necessary)"
    r"|\binstead\b|\bundo\b|\brevert\b|\bwhy (?:did|are|would) you\b",
    re.IGNORECASE,
)
"""An order that is put as a question."""


def how_telling(text: str, after_action: bool) -> float:
    """The weight of what a person said; `after_action`: the agent had done something before."""
    text = text[:LONGEST].replace("’", "'").strip()
    weight = BASE + (0.5 if after_action else 0.0)
    is_order = IN_QUESTIONS.search(text) is not None
    for sign in SIGNS:
        if sign.words.search(text) and not (is_order and sign.points == -2.5):
            weight += sign.points
    if is_order:
        weight += 1.0
    pasted = len(PASTED.findall(text))
    if pasted:
        weight -= 2.5 if pasted == 1 and text.count("\n") < 6 else 4.0
    if len(text) < 4:
        weight -= 1.0
    return max(0.0, min(MOST, weight))


class Recurring:
    """What a person has spoken of before: who comes back to it may have changed his mind."""

    def __init__(self) -> None:
        self.times: Counter[str] = Counter()

    def comes_back(self, text: str) -> float:
        """1 if a text has a word that was said once or twice before, which few words are."""
        words = {word.lower() for word in NAME.findall(text[:LONGEST])}
        again = any(1 <= self.times[word] <= 2 for word in words)
        self.times.update(words)
        return 1.0 if again else 0.0
