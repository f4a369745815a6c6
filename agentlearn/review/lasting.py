"""What in a sentence outlives the task: how the agent should work, and how things are done here.

People write fast: "dont", "alwys" and "to much" are words here.
"""

from __future__ import annotations

import re

from agentlearn.review.signs import sign

ORDERS = r"(?:^|[,;:.(] ?|- |\b(?:please|so|but|just|then|you|and) )"
"""Where an order begins: "the icons don't line up" is none."""
FORBIDS = r"(?:don'?t|do not|never)"
OF_THE_PERSON = (
    r"(?!(?:\w+ )?(?:have|know|see|think|need|care|mind|remember|recall|agree|you|understand|worry"
    r"|stop|get|let)\b)"
)
"""After "don't": what tells of the person is no wish for next time."""
OF_A_MOMENT = r"(?!(?:limit|delete|submit)\b)"
"""What one is told not to do with one thing at hand."""
ALWAYS = r"(?:always|alway|alwys|never)"
USUALLY = r"(?:(?:currently|already|also|mostly|only|actually|just|usually|now|all|typically) )?"
AT_HAND = r"(?:this|that|it|them|these|those|yet|the (?:first|last|two|three|\.\w+|\w+ i)\b)"
LANGUAGE = (
    r"(?:english|german|french|spanish|italian|portuguese|dutch|polish|russian|turkish|chinese"
    r"|japanese|korean|hindi|arabic)"
)
STEP = (
    r"(?:changes?|commits?|steps?|phases?|tasks?|edits?|sessions?|push|prs?|features?|prompts?"
    r"|messages?|merge|release|commands?|updates?)"
)
AGENT_DOES = (
    r"(?:mak|chang|add|edit|commit|push|creat|ask|us|guess|assum|apologi[sz]|explain|writ|runn"
    r"|delet|ignor|do|say|try|be|wast|putt|rewrit|touch)ing"
)
REPROACH = (
    r"\bwhy (?:(?:are|do) (?:we|you|u) (?:writ|us|commit|creat|runn|mak|keep|do|install|putt)\w*\b"
    r".*\binstead of\b|not using\b|(?:can'?t|don'?t|didn'?t|aren'?t) (?:you|u) us(?:e|ing)\b)"
)
NAMED = re.compile(
    r"^(?:just |please )*(?:use|don'?t use|do not use) (?:the (?:type )?|our )?"
    r"(?!this|that|it\b|both|option|your|all|my)`?(?:…|[a-z][\w.@/-]+)\W*$",
    re.IGNORECASE,
)
"""A tool or a library and nothing else."""
WRITTEN_DOWN = sign(
    "wants it written down",
    4,
    r"\b(?:add|put|note|record|instruct\w*|rule)\b.{0,80}\b(?:claude|agents|gemini)[ .]?md\b",
    r"\b(?:claude|agents|gemini)[ .]?md\b.{0,60}\b(?:instruct\w*|rule|always|never|must)\b",
    r"\bneeds? to (?:be|go) (?:in|into) (?:your |the )?memory\b",
)
WORK_SIGNS = (
    sign(
        "every time",
        4,
        r"(?<!\bbefore )\b(?:from now on|(?:going|moving) forward|as a rule"
        r"|when(?:ever)? possible)\b",
        r"\bnext time(?:\W*$|,| (?:please|you|ask|use|run|test|check|do|don'?t))",
        rf"\b(?:after|before|with) (?:every|each) (?:\w+ )?{STEP}\b",
        r"\b(?:whenever|every time|each time) you (?:change|add|edit|touch|modify|update|create"
        r"|commit|finish|make|write|rename|remove)\b",
        r"\b(?:commits?|prs?|branch(?:es)?|changesets?) (?:per|for each|for every) "
        r"(?:phase|feature|change|task|step|ticket|issue|fix)\b",
        r"\bone (?:\w+ )?change per commit\b|\bas you go(?: along)?\b",
        r"\b(?:as|once|after|when) each (?:task|step|phase|feature|device|part) (?:is|was) "
        r"(?:complete|done|finished|added|ready)",
        r"\bone[- ](?:(?:step|thing|question|item|change|explanation|commit|task|issue|file"
        r"|migration)[- ])?at[- ]a[- ]time\b",
    ),
    sign(
        "how far it may go",
        4,
        r"^(?!.*\b(?:please|just|go ahead)\b.*without).*\bwithout (?:\w+ )?(?:asking|checking with"
        r"|telling|letting|permission|approval|my \w+ ?(?:approval|ok|confirm))",
        rf"\b(?:{FORBIDS}|stop|no) (?:make |any |making )*assum(?:e|ing|ptions?)"
        r"(?: anything| things)?\W*(?:$|[,;]|ask)",
        r"\bask (?:me|us)(?: \w+)? (?:if|when|before|first|for help|to help)\b",
        r"\bask (?:me |us )?before \w+ing\b|\bask clarifying questions\b",
        r"\b(?:if|when) (?:\w+ ){1,4}?(?:ask|check with) (?:me|us)\b|\b(?:check|confirm) with me\b",
        r"\blet me (?:know|review|approve|see)\b.*\bbefore\b",
        r"\b(?:show|tell|ask|plan|explain|discuss|brainstorm)\b.*\bbefore you (?:code|start"
        r"|implement|change|write|edit|commit|push|do|begin)\b",
        rf"\b(?:{FORBIDS}|no need to|stop) (?:\w+ )?(?:ask|wait)(?:ing)?(?: me)? for "
        r"(?:my )?(?:approval|permission|confirmation)\b|\byou(?:'re| are) authori[sz]ed to\b",
        r"\bwait for my (?:\w+ )?(?:approval|ok|go|review|confirmation)\b",
    ),
    sign(
        "wants it checked",
        4,
        rf"\b(?:{FORBIDS}|stop) (?:\w+ )?(?:claim|guess|pretend|hallucinat|invent)\w*",
        r"\b(?:make sure|be sure|remember|need|please|have) (?:\w+ ){0,2}(?:to )?(?:test|verify)\b"
        r".*\b(?:after|before|works?|changes?|it)\b",
        r"\b(?:test|verify|run \S+(?: \S+)?) (?:\w+ ){0,4}"
        r"before (?:you|return|commit|push|say|hand|tell|claim|finish|report)\w*",
        r"\brun \S+(?: \S+){0,3} (?:after|before) (?:chang|add|edit|commit|push|modify|updat)ing\b",
        r"\b(?:test|verify|confirm)\b.{0,30}\b(?:with|using|via|through) (?:the )?(?:\w+ )?"
        r"(?:playwright|mcp|browser|chrome|agent-browser)\b",
        r"\bfix the (?:code|cause|root cause), not the \w+",
    ),
    WRITTEN_DOWN,
    sign(
        "how to talk",
        4,
        r"\b(?:be|more) (?:\w+ and )?(?:concise|brief|succinct)\b",
        r"\bplain (?:english|words|language)\b",
        rf"\b(?:answer|reply|respond|speak|talk|commit messages?"
        rf"|comments?)\b.{{0,30}}\bin {LANGUAGE}\b",
        r"\b(?:keep|make|give|want)\b.{0,30}\b(?:answers?|explanations?|responses?|repl(?:y|ies)"
        r"|summar\w+|descriptions?|messages?)\b.{0,20}\b(?:short\w*|brief|simple\w*|concise)\b",
        r"\bkeep (?:it|them|your \w+) (?:short|brief|concise)\b|\bstraight to the point\b",
        r"\b(?:short|brief|simple|concise|simpler|shorter) (?:explanations?|answers?|terms|words"
        r"|responses?|summaries)\b",
        r"\bexplain\w* (?:\w+ ){0,4}(?:step by step|simply|in simple)\b",
        r"\b(?:no more|no|stop with the|without|avoid) (?:emojis?|em[- ]?dash(?:es)?)\b",
    ),
    sign(
        "faults the agent",
        4,
        r"\b(?:you|u) should(?:n'?t| not)? (?:be \w+ing|need to|have (?:\w+ )?(?:asked|used|run"
        r"|tested|checked|told|done|known|read|changed|kept|waited))\b",
        r"\b(?:you|u) (?:are|were) (?:\w+ )?supposed to\b",
        r"\b(?:you|u) (?:\w+ )?(?:keep|kept) (?!getting|seeing)\w+ing\b",
        r"\b(?:you|u) (?:\w+ )?(?:write|add|make|use|put|give|explain|say|ask) (?:\w+ )?too? "
        r"(?:many|much)\b",
        rf"{ORDERS}stop {AGENT_DOES} \w",
        r"\bi (?:already |specifically )?told you (?:not|already|before|again|twice|that)\b",
        r"\bi (?:did not|didn'?t|never) (?:ask(?:ed)?|tell|told) you\b",
        r"\b(?:you|u) must (?:never|always|not|use|ask|run|test|check|read|follow|commit)\b",
        REPROACH,
    ),
    sign(
        "commits",
        4,
        rf"\b(?:no|{FORBIDS}|without|remove)\b.{{0,30}}\b(?:co-?author\w*|trailers?|attribution)\b",
        rf"\b{FORBIDS} (?:\w+ )?(?:commit|push|merge|amend|rebase|force)\b(?! {AT_HAND})",
        r"\bi(?:'ll| will) (?:\w+ )?(?:commit|merge|squash|push|review)\b.*\bmy end\b",
        r"\b(?:small|atomic|meaning\w*|conventional|logical) commits?\b",
        rf"\bonly (?:commit|push|stage) (?!{AT_HAND})\w|\bcommit (?:early|often|as you)\b",
        r"\binstead of (?:committing|pushing)\b|\bvia (?:a )?worktrees?\b|\bstacked prs?\b",
    ),
)
"""Of these it does not matter which task is at hand."""
LASTING = (
    *WORK_SIGNS,
    sign(
        "refuses a means",
        4,
        rf"{ORDERS}(?:{FORBIDS}|avoid|stop) (?:ever )?(?:us(?:e|ing)|hardcod\w+|mock\w*|touch\w*"
        r"|edit\w*|overcomplicat\w+|open|launch) (?!this|that|it\b)(?!.*\b(?:when|if)\b)\S",
        r"\b(?:i|we) (?:really )?(?:don'?t|do not) want to use\b",
        r"\b(?:should(?:n'?t| not)|must(?:n'?t| not)) be (?:\w+ )?(?:hacky|hard-?coded|\w+ing)\b",
        r"\b(?:can|could) we (?:please )?(?:avoid|stop)\b",
        r"^no (?:new dependenc\w+|sub-?agents?\W*$|mocks?\W*$|comments?\W*$)",
    ),
    sign(
        "refuses",
        3,
        rf"(?:^|[;:.] ?|- |\b(?:please|you) )(?:don'?t|do not|avoid) "
        rf"{OF_THE_PERSON}{OF_A_MOMENT}\w",
        r"\b(?:we|i) (?:really |even )?don'?t (?:really |even )?need (?!to (?:change|call|give)"
        r"|it\b)",
        r"\bno need (?:to|for)\b|\bmust(?:n'?t| not| never)\b",
        r"\b(?:we|you|i) (?:\w+ )?should(?:n'?t| not| never)\b",
        r"\b(?:can|could) we (?:please )?not (?!just\b)\w+|\bable to not\b",
    ),
    # What people do not want to do themselves is no word on how to work.
    sign("does not want", 6, r"\b(?:i|we) (?:really )?(?:don'?t|do not) want (?!to\b|it\b)"),
    sign("in future", 3, r"\bin (?:the )?future\b"),
    sign(
        "how it is here",
        3,
        rf"\bwe (?:\w+ )?(?:never|(?:do|ca)n'?t|do not|cannot|no longer) {OF_THE_PERSON}\w",
        r"(?<!\bcan )(?<!\bcould )\bwe (?:always|only) (?!need|have|return|get|see)\w",
        r"(?<!\bif )(?<!\bcan )(?<!\bcould )(?<!\bhow )(?<!\bwhen )(?<!\bonce )(?<!\bdo )"
        rf"(?<!\bshould )\bwe {USUALLY}"
        r"(?:use|support|prefer|share|keep(?! \w+ing)|rely on|follow|store|deploy)\b",
        r"\b(?:this|our) (?:project|repo|repository|code ?base|team) (?:uses?|follows?|needs?"
        r"|runs?)\b",
        r"\bin this (?:project|repo|repository|code ?base)\b|\bwe (?:\w+ ){1,2}here\b"
        r"|\bhere, not\b",
        r"\b(?:our|the|that'?s(?: the)?) (?:\w+ )?(?:convention|directive)\b|\bour policy\b",
        r"\bour (?:pattern|rule|standards?|approach|team'?s)\b",
        r"\ball (?:new )?(?:code|files|functions|tests|commits|prs|endpoints) "
        r"(?:needs?|must|should|ha(?:s|ve) to)\b",
        r"\btests? only (?:run|work|pass)\w* (?:in|inside|with|on|under)\b",
        r"\b(?:is|are|as) the (?:\w+ )?source of truth\b",
        r"\b(?:is|are) (?:now (?:called|named|part of|in|under)|no longer|git-?ignored)\b",
        r"\b(?:on purpose|intentionally|by design)\b|^(?:just to |please )?note that\b",
        r"\bi(?:'m| am) (?:on|using|running) (?:an? |the )?"
        r"(?:ubuntu|windows|mac\w*|linux|wsl\d?|arch|fedora|debian|nixos|max plan)\b",
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
        r"(?:^|[,;.] |\b(?:please|you|we|i|(?:you|we|i) should|let'?s|and|but|just|to|not) )"
        r"(?:use|prefer|follow|reuse|stick (?:to|with)|go with) (?!this|that|it\b)"
        r".*(?:\binstead\b|\brather than\b|, not\b)",
        r"\buse (?:the |our |a )?(?:\S+ ){0,3}?(?:sub-?agents?|agents?|skills?|mcp|cli"
        r"|tools?)\b(?!,|.*@| on the)",
        NAMED.pattern,
        r"\b(?:i|we)(?:'?d)? (?:\w+ )?prefer (?!that|it|if"
        r"|the (?:\w+ )?(?:one|option|first|second|earlier|later|other)\b)\w|^prefer\b",
        r"\bstick (?:to|with) the (?!left|right|top|bottom)",
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
DECIDES = sign(
    "decides",
    1,
    r"\b(?:should|must|(?<!n't )(?<!nt )needs? to|has to|have to|ought to|supposed to)\b",
    r"\b(?:make sure|ensure)\b",
    r"\b(?:let'?s (?:not|keep|stick|use|always)|better (?:to|if|not))\b",
)
LENDING = (
    DECIDES,
    sign("finds too much", 1, r"\btoo? (?:much|big|long|many|slow)\b"),
    sign("says why", 1, r"\b(?:because|becuase|since|so that|otherwise|so (?:we|it|i))\b"),
)
