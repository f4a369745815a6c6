"""How much a person's words may tell the next session: a weight from 0 to 8, by their shape alone.

It ranks, it does not decide: what weighs little is left out only where there is no room. Words that
refuse, replace one thing by another, take back what was decided, or say how things are done here
weigh most; questions, thanks, reports, plain requests, what holds for once and pasted text least.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

LONGEST = 1500
BASE, MOST = 2.5, 8.0
NAME = re.compile(r"[^\W_][\w.+-]{2,}[^\W_]|\d+\.\d+|[\u4e00-\u9fff]{2}")


class Sign(NamedTuple):
    points: float
    words: re.Pattern[str]
    unless: re.Pattern[str] | None = None
    """What makes it mean nothing."""

    def weighs(self, text: str) -> float:
        if self.unless is not None and self.unless.search(text):
            return 0.0
        return self.points if self.words.search(text) else 0.0


def _sign(points: float, *words: str, unless: re.Pattern[str] | None = None) -> Sign:
    return Sign(points, re.compile("|".join(words), re.IGNORECASE), unless)


ALL_THE_SAME = re.compile(
    r"\b(?:but|though|however|for the future|from now on|aber|pero|mais|mas|allerdings)\b|但|けど"
    r"|[.!] .*\b(?:always|never|from)\b",
    re.IGNORECASE,
)
"""After thanks or a yes: here comes the correction."""
IN_QUESTIONS = re.compile(
    r"\b(?:can|could) we (?:please )?(?:not|do this with|use|keep|stick|have|drop|go)\b"
    r"|\b(?:can|could|would) you (?:please )?(?:keep|leave|stick|stop|mind|avoid|undo|revert)\b"
    r"|\breally (?:need|necessary|have to)|\bwhy (?:did|are|would) you\b|\bwho (?:asked|told) you\b"
    r"|\bdid you (?:see|read|look)\b|\bfrom now on\b|\bpermanent"
    r"|\b(?:don'?t|isn'?t|aren'?t) (?:we|that|those)\b"
    r"|\brid of\b",
    re.IGNORECASE,
)
"""An order that is put as a question."""
FOR = (
    _sign(  # refuses
        1.0,
        r"\b(?:no|not|never|none|nope|nothing|without|cannot|dont|isnt|wont|doesnt|\w+n't)\b",
        r"\b(?:kein\w*|nicht|nie|niemals|ohne|nunca|jamás|sin|nada|pas|jamais|rien|não|sem)\b",
        r"[不别没勿]|ません|ないで|しない",
    ),
    _sign(  # one thing instead of another
        1.0,
        r"\b(?:instead|rather|only|but|actually|stick|prefer|better|already|though|replaces?)\b",
        r"\b(?:statt\w*|sondern|lieber|nur|aber|sino|pero|mejor|solo|sólo|plutôt|mais|seulement)\b",
        r"[只而但]|だけ|代わり",
    ),
    _sign(  # for all of it
        1.0,
        r"\b(?:always|every\w*|all|each|anywhere|in general|whenever|must|has to|have to)\b",
        r"\b(?:immer|überall|alle[sn]?|jede\w*|muss"
        r"|siempre|tod[oa]s?|toujours|tou[ts]\w*|sempre)\b",
        r"[都要]|必ず|いつも|すべて",
    ),
    _sign(  # how it is here
        1.0,
        r"\b(?:we|we've|we're|we'll|our|ours|us|here"
        r"|this repo|in this (?:repo|project|codebase))\b",
        r"\b(?:wir|unser\w*|uns|hier|nosotros|nuestr\w*|aquí|nous|notre|nos|ici|nosso\w*|aqui)\b",
        r"我们|这个仓库|咱|うち|ここ",
    ),
    _sign(  # says why
        0.5,
        r"\b(?:because|since|so that|otherwise|weil|sonst|damit|porque|car|parce)\b|因为|から",
        r"\bso (?:we|it|they|that|the|people|nobody)\b",
    ),
    _sign(  # from now on
        2.0,
        r"\b(?:from (?:now|today|here) on|from (?:now|today)\b|for the future|in future|going for)",
        r"\b(?:permanent\w*|is (?:history|dead|gone|out)|are (?:history|gone|out)|any ?more)\b",
        r"\b(?:no longer|as a rule|by convention|ab (?:jetzt|sofort|heute)|künftig|a partir de)\b",
        r"\b(?:désormais|dorénavant)\b|以后|今后|今後|これから",
    ),
    _sign(  # takes back what was decided
        2.0,
        r"\b(?:after all|changed? (?:my|our) minds?|second thoughts?|scratch (?:that|the))\b",
        r"\bforget (?:about )?(?:the |that )?\w+[,.:]|\b(?:was|were) a (?:mistake|bad idea)\b",
        r"\b(?:undo|revert|remove|drop|ditch|kill|move"
        r"|put|take) .{0,60}\b(?:again|back|after all)\b",
        r"\b(?:undo|drop|ditch|lose) the\b|\b(?:switch"
        r"|change|go|move|migrate)\w* .{0,40}\b(?:over )?to\b",
        r"\bdespite what\b|\bI know I (?:wanted|said|asked)\b|\bturn(?:s|ed) out\b|\bgive up on\b",
        r"\b(?:it is|it's|is|are|goes|becomes?|means"
        r"|make it) (?:\w+ )?now\b|\brid of\b|\bwe're going\b",
        r"\b(?:jetzt|nun) doch\b|\bdoch (?:nicht|lieber|kein\w*)\b|\b(?:kann|können) weg\b",
        r"\bal final\b|\bcambi[éo] de\b|\bfinalement\b"
        r"|\bno fim\b|不用了|改成|还是|算了|やっぱり|やめ",
        r"\blet'?s (?:have|go (?:with|back|-)|make it|switch|drop|take|stay)\b",
    ),
    _sign(  # finds fault with what was just done
        1.5,
        r"^(?:no|nope|nah|wait|hold on|hang on|hm+|ugh"
        r"|er+m?)\b(?! (?:idea|problem|worries|rush|need))",
        r"^(?:nein|halt|así no|non|não)\b|\byou (?:did"
        r"|forgot|missed|broke|keep|should|put|added)\b",
        r"\bI (?:said|told|asked)\b|\bhands off\b|\bhas no business\b|\bwrong (?:place|way|one)\b",
        r"\b(?:who|did) (?:asked|told|said) (?:you|to)\b"
        r"|\bdid you (?:see|read|look)\b|\bwhy (?:did|are) you\b",
        r"\b(?:is|are) generated\b|\bbelongs? (?:in|to)\b|\btoo (?:much|clever|long|many)\b",
        r"\b(?:that|this)(?:'s| is) (?:not|n't|what|how|overkill)\b",
    ),
    _sign(  # names a rule
        0.5,
        r"^[\w./` -]{3,40}: \w|\b(?:starts?|ends?|goes?"
        r"|comes?|lives?|gets?|takes?) (?:in|with|at|out|"
        r"into|a|the|its)\b|\bkeep (?:to|it|them)\b|\bsee (?:the )?[\w./]+\b",
    ),
)
AGAINST = (
    _sign(-3.0, r"\?\s*$|？\s*$|か。?\s*$", unless=IN_QUESTIONS),
    _sign(
        -1.5,
        r"^(?:so |and |but |actually,? )?(?:what|why|how"
        r"|where|when|who|which|is|are|was|did|does|do|"
        r"should|any|warum|wie|was|wo|wann|por qué|qué"
        r"|cómo|pourquoi|comment|est-ce|will|would it)\b",
        r"\?",
        unless=IN_QUESTIONS,
    ),
    _sign(  # is content, or goes on
        -3.0,
        r"^(?:ok(?:ay)?|yes|yep|yeah|sure|great|perfect"
        r"|nice|cool|good|thanks?|thx|lgtm|fine|right|wow)\b",
        r"^(?:no (?:problem|worries|rush|hurry|idea|need"
        r"|objections?|changes?)|never ?mind|you(?:'re| were))\b",
        r"^(?:don'?t (?:worry|bother)|go (?:on|ahead)|looks? (?:good|right|fine)|works)\b",
        r"^(?:gut|danke|super|prima|passt|vale|gracias"
        r"|bien|merci|obrigad|não tem|好的?|谢|没问题|ありがと|了解)",
        r"\bgo (?:on|ahead)\b|\bmerge when\b|\bworks (?:fine"
        r"|now|well)\b|\bnothing else\b|\bthat'?s all\b",
        r"\bmy mistake\b|\byou were right\b|:\)|;\)|haha|☕|🎉|👍|\ba pleasure\b|\bFeierabend\b",
        unless=ALL_THE_SAME,
    ),
    _sign(  # a step of the task at hand
        -1.5,
        r"^(?:next|then|after that|now)\b[:,]? |\b(?:asks?|asked|asking) for\b|\bstart with\b",
        r"^(?:please |now |then |next,? |and |also "
        r"|ok,? )*(?:add|fix|create|update|rename|run|check|"
        r"show|commit|push|open|build|test|implement|review"
        r"|write|look|read|list|find|explain|continue|"
        r"give|try|set|compare|refactor|start|stop|skip"
        r"|install|deploy|go|make|take|build|tell|wrap|"
        r"generate|delete|merge|rebase|print|log|have a look"
        r"|let me|let'?s (?:look|see|start|continue|"
        r"move on|try))\b",
        r"\b(?:can|could|would) you (?:please )?(?!undo"
        r"|not|stop|revert|keep|leave|stick|mind|avoid)\w+",
        r"\bwhere (?:were|are) we\b|\bplease (?:read|look"
        r"|check|find|write)\b|\btake a look\b|\bamend it\b",
        r"^(?:füge?|schau|mach|zeig|añade|busca|haz|ajoute"
        r"|fais|montre|adiciona|faz|mostra)\w*\b|^帮我",
        r"\b(?:find out|look into|dig into|figure out)\b|\bI need an? \w+ (?:that|which|for)\b",
    ),
    _sign(  # holds for once
        -2.0,
        r"\b(?:for (?:this|the) (?:run|demo|load|one|call"
        r"|report|test|moment|screenshot)|this (?:time|once))\b",
        r"\b(?:for now|for a (?:second|moment|minute|bit)|in this (?:pr|run|commit)|this one)\b",
        r"\b(?:today|tonight|tomorrow|yesterday|later|yet"
        r"|first one|second (?:one|option)|meanwhile)\b",
        r"\b(?:demain|mañana|morgen|heute|amanhã|hoje|明天"
        r"|今天)\b|\bin \d+ min\b|\bone day\b|\bone sec\b",
        r"\bwrong (?:window|chat|branch|tab)\b|\bignore that\b"
        r"|\bjust (?:curious|asking|so you know)\b",
        r"\bonly asking\b|\bnothing decided\b|\bfor context\b"
        r"|\bin the meeting\b|\bI'?ll \w+ (?:it )?(?:when|after)",
    ),
    _sign(  # reports what happened
        -2.0,
        r"\b(?:errors?|crash\w*|exception|traceback|undefined"
        r"|ECONN\w+|5\d\d(?:er)?|denied|fails?|failed)\b",
        r"\b(?:does|did|do)n'?t (?:do|work|show|load|start|appear|change)\b|\bdoes nothing\b",
        r"\b(?:it|that) worked\b|\bI deployed\b|\bstill (?:not"
        r"|broken|red|there)\b|\bnow (?:it's|the|it)\b",
        r"\b(?:slower|faster|upside|typo)\b|\bon my machine\b"
        r"|\bne marche\b|\bno funciona\b|\bgeht nicht\b",
        r"\b(?:had a|was on a) (?:long )?(?:call|meeting)\b|\bhere'?s (?:the|one|my|a)\b",
    ),
)
PASTED = re.compile(
    r"^\s*(?:>|\||#{1,6} |```|\d+[.)] |[-*] |\$ |at \S+\(|Traceback|FAILED |npm |WARN|ERROR)"
    r"|\b\d{2}:\d{2}:\d{2}\b|\b(?:WARN|ERROR|INFO)\b|: \"[A-Z]",
    re.MULTILINE,
)


def how_telling(text: str, after_action: bool) -> float:
    """The weight of what a person said; `after_action`: the agent had done something before."""
    text = text[:LONGEST].replace("’", "'").strip()
    weight = BASE + (0.5 if after_action else 0.0)
    weight += sum(sign.weighs(text) for sign in (*FOR, *AGAINST))
    pasted = len(PASTED.findall(text))
    if pasted:
        weight -= 2.5 if pasted == 1 and text.count("\n") < 6 else 4.0
    return max(0.0, min(MOST, weight))


class Recurring:
    """What a person has spoken of before: who comes back to it may have changed his mind."""

    def __init__(self) -> None:
        self.times: Counter[str] = Counter()

    def comes_back(self, text: str) -> float:
        """A little if a text has a word that was said once or twice before, which few words are."""
        words = {word.lower() for word in NAME.findall(text[:LONGEST])}
        again = any(1 <= self.times[word] <= 2 for word in words)
        self.times.update(words)
        return 0.5 if again else 0.0
