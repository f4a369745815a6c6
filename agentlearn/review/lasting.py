"""What in a sentence outlives the task: how the agent should work, and how things are done here.

People write fast: "dont", "alwys" and "to much" are words here.
"""

from __future__ import annotations

import re

from agentlearn.review.signs import sign

ORDERS = r"(?:^|[,;:.(] ?|- |\b(?:please|so|but|just|then|you|and) )"
"""Where an order begins: "the icons don't line up" is none."""
NOT_YET = (
    r"(?!(?:\w+ )?(?:have|know|see|think|need|care|mind|remember|recall|agree|you|understand|worry"
    r"|stop|get|let|limit|delete|submit)\b)"
)
"""After "don't": what tells of the person, not of a wish."""
ALWAYS = r"(?:always|alway|alwys|never)"
USUALLY = r"(?:(?:currently|already|also|mostly|only|actually|just|usually|now|all|typically) )?"
NAMED = re.compile(
    r"^(?:just |please )*(?:use|don'?t use|do not use) (?:the (?:type )?|our )?"
    r"(?!this|that|it\b|both|option|your|all|my)[a-z][\w.@/-]+\W*$",
    re.IGNORECASE,
)
"""A tool or a library and nothing else."""
LASTING = (
    sign(
        "every time",
        4,
        r"(?<!\bbefore )\b(?:from now on|(?:going|moving) forward|next time|as a rule"
        r"|when(?:ever)? possible)\b"
        r"(?! (?:use|reference))",
        r"\b(?:after|before|with) (?:every|each) (?:\w+ )?(?:changes?|commits?|steps?|phases?"
        r"|tasks?"
        r"|edits?|sessions?|push|prs?|features?|prompts?|messages?|merge|release|commands?"
        r"|updates?)\b",
        r"\b(?:commits?|prs?|branch(?:es)?|changesets?) (?:per|for each|for every) "
        r"(?:phase|feature|change|commit|task|step|ticket|issue|file|fix)\b",
        r"\b(?:as|once|after|when) each (?:\w+ ){1,2}(?:is|are) "
        r"(?:complete|done|finished|added|ready)|\bas you go(?: along)?\b",
        r"\b(?:one[- ]at[- ]a[- ]time|one \w+ at a time)\b",
    ),
    sign(
        "asks to be asked",
        4,
        r"^(?!.*\b(?:please|just|go ahead)\b.*without).*\bwithout (?:\w+ )?"
        r"(?:asking|checking with|telling|letting|my|permission|approval)\b",
        r"\b(?:don'?t|do not|never|stop|no) (?:\w+ )?assum(?:e|ing|ptions?)\b",
        r"\bask (?:me|us)(?: \w+)? (?:if|when|before|first|for help|to help)\b",
        r"\b(?:if|when) (?:\w+ ){1,4}?(?:ask|check with) (?:me|us)\b|\bask clarifying questions\b",
        r"\b(?:check|confirm|clear it) with me\b|\blet me (?:know|review|approve)\b.*\b(?:once"
        r"|before)\b",
        r"\b(?:don'?t|do not|no need to|stop) (?:\w+ )?(?:ask|wait)(?:ing)?(?: me)? for "
        r"(?:my )?(?:approval|permission|confirmation)\b|\byou(?:'re| are) authori[sz]ed to\b",
        r"\bwait for my (?:\w+ )?(?:approval|ok|go|review|confirmation|input)\b",
    ),
    sign(
        "wants it checked",
        4,
        r"\b(?:don'?t|do not|never|stop) (?:\w+ )?(?:claim|guess|pretend|hallucinat|invent)\w*",
        r"\b(?:make sure|be sure|remember|need|please|have) (?:\w+ ){0,2}(?:to )?(?:test|verify)\b"
        r".*\b(?:after|before|works?|changes?|it)\b",
        r"\b(?:test|verify|run \S+(?: \S+)?) (?:\w+ ){0,4}before (?:you|return|commit|push|say"
        r"|hand|tell"
        r"|claim|finish|report)\w*",
        r"\b(?:test|verify|confirm)\b.{0,30}\b(?:with|using|via|through) (?:the )?(?:\w+ )?"
        r"(?:playwright|mcp|browser|chrome|agent-browser)\b|\bdid you not (?:use|run|test"
        r"|verify)\b",
    ),
    sign(
        "wants it written down",
        4,
        r"\b(?:add|put|note|record|instruct\w*|rule)\b.{0,80}\b(?:claude|agents|gemini)[ .]?md\b",
        r"\b(?:claude|agents|gemini)[ .]?md\b.{0,60}\b(?:instruct\w*|rule|always|never|must)\b",
        r"\bneeds? to (?:be|go) (?:in|into) (?:your |the )?memory\b|\b(?:create|add|make) a rule\b",
    ),
    sign(
        "how to talk",
        4,
        r"\b(?:be|more) (?:\w+ and )?(?:concise|brief|succinct)\b|\bplain (?:english|words"
        r"|language)\b",
        r"\b(?:keep|make|give|want)\b.{0,30}\b(?:answers?|explanations?|responses?|repl(?:y|ies)"
        r"|summar\w+|descriptions?|messages?)\b.{0,20}\b(?:short\w*|brief|simple\w*|concise)\b",
        r"\bkeep (?:it|them|your \w+) (?:short|brief|concise)\b|\bstraight to the point\b",
        r"\b(?:short|brief|simple|concise|simpler|shorter) (?:explanations?|answers?|terms|words"
        r"|responses?|summaries)\b",
        r"\bexplain\w* (?:\w+ ){0,4}(?:step by step|simply|in simple)\b|\bstop (?:explain"
        r"|apolog)\w+",
    ),
    sign(
        "faults the agent",
        4,
        r"\b(?:you|u)(?:'re| are| were)? (?:\w+ )?(?:should(?:n'?t| not)? (?:have|be \w+ing|need)"
        r"|supposed to)\b",
        r"\b(?:you|u) (?:\w+ )?(?:keep|kept) \w+ing\b",
        rf"{ORDERS}stop \w+ing (?:\w+ ){{0,6}}\w",
        r"\bi (?:already |specifically )?told you (?:not|already|before|again|twice|that)\b",
        r"\bi (?:did not|didn'?t|never) (?:ask|tell)(?:ed)? you\b",
        r"\bwhy (?:not using|(?:can'?t|don'?t|didn'?t|aren'?t) (?:you|u) us(?:e|ing))\b",
        r"\b(?:you|u) must\b|\bwhy (?:are|do) (?:we|you|u) \w+.*\binstead of\b",
    ),
    sign(
        "commits",
        4,
        r"\b(?:no|don'?t|do not|never|without|remove)\b.{0,30}\b(?:co-?author\w*|trailers?"
        r"|attribution)\b",
        r"\b(?:don'?t|do not|never) (?:\w+ )?(?:commit|push|merge|amend|rebase|force)\b",
        r"\bi(?:'ll| will) (?:\w+ )?(?:commit|merge|squash|push|review)\b.*\b(?:myself|my end"
        r"|own)\b",
        r"\b(?:small|separate|atomic|meaning\w*|conventional|logical|individual) commits?\b",
        r"^no (?:attributions?|co-?author\w*|sub-?agents?|emojis?|comments?|mocks?"
        r"|em[- ]?dash\w*)\b",
        r"\bonly (?:commit|push|stage) (?!it\b|this|that)\w|\bcommit (?:early|often|as you)\b",
        r"\b(?:via|in|through|use|using) (?:a |separate )?(?:worktrees?|stacked prs?)\b",
    ),
    sign(
        "refuses a means",
        4,
        rf"{ORDERS}(?:don'?t|do not|avoid|never|stop) (?:ever )?(?:use|using|add|adding|hardcod\w+"
        r"|mock\w*|touch\w*|overcomplicat\w+|generat\w+|creat\w+|open|launch|call) \S",
        r"\b(?:i|we) (?:really )?(?:don'?t|do not) want to use\b",
        r"\b(?:should(?:n'?t| not)|must(?:n'?t| not)) be (?:\w+ )?(?:hacky|hard-?coded|\w+ing)\b",
        r"\b(?:can|could) we (?:please )?(?:avoid|stop)\b",
    ),
    sign(
        "refuses",
        3,
        rf"(?:^|[;:.] ?|- |\b(?:please|you) )(?:don'?t|do not|avoid) {NOT_YET}\w",
        r"\b(?:we|i) (?:really |even )?don'?t (?:really |even )?need (?!to (?:change|call|give)"
        r"|it\b)",
        r"\bno need (?:to|for)\b|\bmust(?:n'?t| not| never)\b",
        r"\b(?:we|you|i) (?:\w+ )?should(?:n'?t| not| never)\b",
        r"\b(?:can|could) we (?:please )?not (?!just\b)\w+|\bable to not\b",
    ),
    sign(
        "does not want",
        6,
        r"\b(?:i|we) (?:really )?(?:don'?t|do not) want (?!to\b|it\b)",
        # What people do not want to do themselves is no word on how to work.
    ),
    sign("in future", 3, r"\bin (?:the )?future\b"),
    sign(
        "how it is here",
        3,
        rf"\bwe (?:\w+ )?(?:never|(?:do|ca)n'?t|do not|cannot|no longer) {NOT_YET}\w",
        r"(?<!\bcan )(?<!\bcould )\bwe (?:always|only) (?!need|have|return|get|see)\w",
        r"(?<!\bif )(?<!\bcan )(?<!\bcould )(?<!\bhow )(?<!\bwhen )(?<!\bonce )(?<!\bdo )"
        rf"(?<!\bshould )\bwe {USUALLY}"
        r"(?:use|support|prefer|share|keep(?! \w+ing)|rely on|follow|store|deploy)\b",
        r"\b(?:our|the|that'?s) (?:\w+ )?(?:convention|policy|(?:overriding )?directive)\b",
        r"\bour (?:pattern|rule|standards?|approach|team'?s)\b",
        r"\b(?:is|are|as) the (?:\w+ )?source of truth\b",
        r"\b(?:is|are) (?:now (?:called|named|part of|in|under)|no longer|git-?ignored)\b",
        r"\b(?:on purpose|intentionally|by design)\b",
        r"^(?:just to |please )?note that\b",
        r"\bi(?:'m| am) (?:on|using|running) (?:an? |the )?(?:ubuntu|windows|mac\w*|linux|wsl\d?"
        r"|arch"
        r"|fedora|debian|nixos|\w+ plan)\b",
    ),
    sign(
        "has another name",
        4,
        r"\b(?:has been|have been|is now|are now|got|was|were) (?:now )?"
        r"(?:renamed|moved|replaced|merged|deprecated) (?:to|in|into|by|with|under|in favou?r)\b",
    ),
    sign(
        "names the way",
        3,
        r"(?:^|[,;.] |\b(?:please|you|we|i|(?:you|we|i) should|let'?s|and|but|just|to"
        r"|not) )(?:use|prefer"
        r"|follow|reuse"
        r"|stick (?:to|with)|go with) (?!this|that|it\b).*(?:\binstead\b|\brather than\b|, not\b)",
        r"\buse (?:the |our |a )?(?:\S+ ){0,3}?(?:sub-?agents?|agents?|skills?|mcp|cli|tools?)\b"
        r"(?!,|.*@)",
        NAMED.pattern,
        r"\b(?:i|we)(?:'?d)? (?:\w+ )?prefer (?!that|it|if|the (?:\w+ )?"
        r"(?:one|option|first|second|earlier|later|other)\b)\w|^prefer\b|\bstick (?:to|with) the\b",
        r"\bi (?:really )?(?:don'?t like|hate) (?!the (?:look|color|way it))\w",
    ),
    sign(
        "finds fault",
        3,
        r"\btoo? (?:complex|complicated|verbose|noisy|clever)\b|\bover-?(?:engineer|complicat)\w+",
        r"\b(?:useless|pointless|overkill|wasteful|hacky)\b",
    ),
)
OTHER_WAY = sign(
    "names another way",
    3,
    r"(?:\b(?:use|want|let'?s|should|must|can(?:'?t)?|we|i)\b|^(?:put|move|write|call|make)\b).*"
    r"\b(?:instead of\b|rather than\b|instead\W*$)",
)
"""Of the thing itself where it was rejected; elsewhere mostly of the task."""
WORK = {
    "every time",
    "asks to be asked",
    "wants it checked",
    "wants it written down",
    "how to talk",
    "faults the agent",
    "commits",
}
WORK_AT_ONCE = {"every time", "asks to be asked", "commits"}
"""Of these also the first words speak; how to check or explain is part of a first task."""
LENDING = (
    sign(
        "decides",
        1,
        r"\b(?:should|must|(?<!n't )(?<!nt )needs? to|has to|have to|ought to|supposed to)\b",
        r"\b(?:make sure|ensure)\b",
        r"\b(?:let'?s (?:not|keep|stick|use|always)|better (?:to|if|not))\b",
    ),
    sign("finds too much", 1, r"\btoo? (?:much|big|long|many|slow)\b"),
    sign("says why", 1, r"\b(?:because|becuase|since|so that|otherwise|so (?:we|it|i))\b"),
)
