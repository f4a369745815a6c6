"""What in a sentence belongs to the task at hand: a question, a thought, a report, a step."""

from __future__ import annotations

from agentlearn.review.signs import sign

ASKS = sign(
    "asks",
    -5,
    r"\?\s*$|\bdo you think\b|\bright\s*$|^you think\b|\bam i right\b|\bwhat about\b",
    r"\b(?:should|shall) (?:we|i)\b",
    r"^(?:so )?(?:what|why|how|where|who|which|when (?:is|are|do|does|did|will|can|should)|is"
    r"|are|was|were|did|does|has|have|had|am)\b",
    r"^(?:so )?(?:would|will|should|shouldn'?t|can'?t|isn'?t|aren'?t|do (?:you|we|i))\b",
    r"\b(?:tell|show|explain|check|see|find|(?:i|you|to) know|sure|wonder\w*|question is)\b.{0,40}"
    r"\b(?:where|what|which|how|whether|why|if)\b",
)
MAKES_SOMETHING = sign(
    "makes something",
    -3,
    r"^(?:please |then |and )*(?:add|fix(?! the (?:code|cause|root))|create|update|remove|delete"
    r"|rename|move|build|implement|write|change|put|(?:show|give)(?! me)|replace|allow|bump|revert"
    r"|spawn|refactor|clean|deploy|copy|draft|define|process|send|log|upload|download|sort|filter"
    r"|display|render|load|return|list|investigate|generate|validate|parse|handle|modify|set"
    r"|enable|disable)\b",
)
"""What the work is about. How one works on it may follow, but mostly does not."""
FOR_THIS_TASK = sign(
    "for this task",
    -2,
    r"^(?:please )?(?:run|check|commit|push|open|merge|test|review|make|look|read|pull|finish|start"
    r"|install|find|do(?! not|n'?t))\b",
    r"^(?:can|could|would|will) (?:you|we)\b|\bcan you\b|^let'?s (?!not|keep|stick|use|always)",
    r"\b(?:should|can|could|need to|want to) also\b|\bas well\b",
)
THINKS = sign(
    "thinks aloud",
    -3,
    r"\b(?:maybe|perhaps|not sure|idk|might|could be|probably|i'?m not)\b",
    r"\bi (?:guess|wonder|suspect|assume|believe|thought|would have thought)\b",
    r"\b(?:i(?:'?m| am) thinking|let'?s (?:think|see|say|worry)|what if|feel like)\b",
    r"\bseems? (?:like|fine|good)\b|\bthink (?:about|through)\b",
)
OWN_DOING = sign(
    "own doing",
    -3,
    r"^i (?:did|was|merged|committed|can|am going)\b",
    r"\bi(?:'ll|'ve|'m going to| will| have| just)\b",
)
GOES_ON = sign(
    "goes on",
    -2,
    r"\b(?:first|next|anyway|go ahead|continue|proceed|try|again|begin|carry on|skip)\b",
    r"\b(?:step|phase|option|slice|issue|pr|milestone|line|task|number|wave) ?#?\d",
    r"\b(?:on|at|lines?) \d{2,}\b",
    r"^(?:so|then|once|if) (?:we|you|it|i|that|this)\b|\b(?:this|the) (?:pr|branch|session)\b",
)
AGAINST = (
    ASKS,
    MAKES_SOMETHING,
    FOR_THIS_TASK,
    sign(
        "looks",
        -4,
        r"\b(?:buttons?|screens?|colou?rs?|columns?|headers?|footers?|modals?|fonts?"
        r"|cent(?:er|re)\w*|layouts?|icons?|css|dropdowns?|margins?|padding|images?|svgs?|menus?"
        r"|cards?|logos?|backgrounds?|animations?|checkmarks?|check marks?|pixels?|keys? for)\b",
    ),
    THINKS,
    sign(
        "reports",
        -3,
        r"^(?:still|same|again|getting)\b",
        r"\b(?:whenever|every time|each time) (?:i|we|it|someone|the \w+) \w",
        r"\bstill (?:\w+ )?(?:not|cannot|can'?t|fail\w*|happening|there|see|have)\b",
        r"\b(?:errors?|crash\w*|fail(?:s|ed)|broken|bug|exception|blank|laggy|stuck|hang\w*)\b",
        r"\b(?:doesn'?t|isn'?t|not) (?:work\w*|load\w*|visible|show\w*|connect\w*|applied)\b",
        r"\bi (?:(?:can|still|now|never|also) )?(?:see|saw|get|got|noticed|tried|found)\b",
        r"\b(?:never (?:answered|saw|got)|it worked)\b",
    ),
    OWN_DOING,
    sign(
        "only now",
        -4,
        r"\b(?:for now|later|today|this time|yet|until we'?re|(?:for|at) the moment)\b",
        r"^now\b|\bnow\W*$|\bnow,",
    ),
    GOES_ON,
)
