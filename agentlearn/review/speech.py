"""How people speak to agents: what a sentence of theirs is, and how it reads as a note."""

from __future__ import annotations

import re

LONGEST = 1500
SENTENCE = re.compile(
    r"(?<=[\w)'\"`]{3}[.!?])\s+|(?<=\w{2})\.{3}\s*(?=\w{2})|(?<=\w[.!?])\s+(?=[A-Z]\w)|\n+"
)
FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+(?=\S)")
PASTED = re.compile(
    r"^\s*(?:#{1,6} |>|\||diff --git|@@ |\+\+\+|---|Traceback|at \S+\(|\$ |<\w|[{\[]|/\w+"
    r"|https?://\S+$)|\b\d{2}:\d{2}:\d{2}\b|[─│┌└├⎿●⏺]|\w\(\)|[;{}]\s*$|^\s*\S+:\d+(?::\d+)?\b"
    r"|\(lines? \d|^\s*Consider (?:\w+ing|whether)\b"
)
NOT_TYPED = re.compile(
    r"\s*(?:Base directory for this skill|Implement the following (?:plan|spec)|Stop hook feedback|"
    r"Operation stopped by hook|This session is being continued|Caveat: The messages below|"
    r"You are (?:an? |the |working in )|<[\w-]+>)"
)
"""How texts begin that an agent's own tools put into a person's mouth."""
SPEAKS = re.compile(
    r"\b(?:i|i'm|we|we're|you|your|our|my|me|us|let'?s|please|no|don'?t)\b", re.IGNORECASE
)
TYPED_CHARS = 300
"""Longer than this, a text in which nobody is spoken to was pasted from somewhere."""
MOST_LINES = 12
CITES_CODE = re.compile(r"\b[\w./-]+\.[a-z]{1,4}:\d+|\]\([^)]*:\d+\)|\(lines? \d")
"""Somebody who reviews code names its lines; a person at a prompt hardly does."""
NO = (
    r"no(?=\W*$|[,.!;:-]| (?:i|we|you|it|it'?s|that|that'?s|this|the|they|there|don'?t|do|use"
    r"|remove|please|just|not|never|always|let'?s|but|wait|keep|put|make|stop|why|what|how|can"
    r"|could|my|in|confirm|actually|sorry)\b)"
)
"""An answer, not a part of the wish: "no subagents" is none without its first word."""
POLITE = re.compile(
    rf"^(?:(?:{NO}|nope|ok(?:ay)?|yes|yeah?|well|hm+|so|and|but|also|then|please|actually|sorry|oh"
    r"|ah|hey|lol|haha|omg|ugh|wtf|fuck me|wait(?! (?:for|until|till|on)\b)|hang on|hold on"
    r"|basically|honestly"
    r"|i think(?: that)?|i mean|i'?d (?:say|rather|prefer)(?: that| to)?)\b[,.!:;\s-]*)+",
    re.IGNORECASE,
)
MIDWAY = re.compile(r"[,;]? (?:can|could|should) (?:we|you)(?: please)? ", re.IGNORECASE)
WISH = re.compile(
    r"^(?:can|could|would|will) (?:we|you)(?: please)? |^are we able to |^let'?s "
    r"|^(?:please )?remember(?: to| that|[:,])? "
    r"|^(?:once )?(?:again|more)[:,] |^(?:as|like) i (?:already )?said(?: before)?[:,]? "
    r"|^i (?:already |just )?(?:told|asked) you(?: (?:already|before|twice|again))?"
    r"(?:,| to| that|:) (?=\w+ )"
    r"|^you (?:should|need to|have to|must) (?!have\b)|^from now on,? "
    r"|^in (?:the )?future,? |^next time,? |^(?:going|moving) forward,? "
    r"|^keep in mind(?: that|[:,])? |^make a note(?: that|[:,])? |^don'?t forget to "
    r"|^i (?:also )?want you to |^how about |^why not ",
    re.IGNORECASE,
)


WHY = re.compile(r"why\b.*\?", re.IGNORECASE | re.DOTALL)
"""A reproach stays a question: without its mark it would read as a statement."""


def sentences(text: str) -> list[str]:
    """The sentences that the person put in their own words; pasted text and code have none."""
    if NOT_TYPED.match(text) or (len(text) > TYPED_CHARS and CITES_CODE.search(text[:LONGEST])):
        return []
    lines = FENCED.sub("\n", text[: LONGEST * 4].replace("’", "'")).strip().splitlines()
    own: list[str] = []
    for line in lines:
        if line.strip() and not PASTED.search(line):
            own.append(BULLET.sub("", line))
        if line.rstrip().endswith(":"):
            break  # a list, a quotation or an output follows
    said = "\n".join(own)
    pasted = len([line for line in lines if line.strip()]) - len(own)
    if pasted > len(own) or len(own) > MOST_LINES or len(said) > LONGEST or "**" in said:
        return []
    if len(said) > TYPED_CHARS and not SPEAKS.search(said):
        return []
    parts = (" ".join(part.split()) for part in SENTENCE.split(said))
    return [part for part in parts if part]


def bare(sentence: str) -> str:
    """The sentence without the politeness before it."""
    return POLITE.sub("", sentence)


def in_own_words(sentence: str) -> str:
    """The wish as a note: the same words, without the politeness around them."""
    text = re.sub(r"^why not using (?=\w)", "use ", bare(sentence), flags=re.IGNORECASE)
    text = re.sub(r"^i (?:already |just )?told you not to ", "do not ", text, flags=re.IGNORECASE)
    wished = WISH.sub("", WISH.sub("", text))
    if wished != text:  # "can we not push"; whoever says "not true" forbids nothing
        wished = re.sub(r"^not (?!(?:needed|necessary|sure|yet|a|the)\b)(?=\w)", "do not ", wished)
    text = MIDWAY.sub("; ", wished)
    end = "?" if WHY.match(text) else "."
    text = text.strip().rstrip("?!. ").strip()
    first = text.split(" ")[0]
    # A path, a name in code or a command stays as it was typed.
    if re.fullmatch(r"[a-z]+[',]?[a-z]*", first):
        text = text[:1].upper() + text[1:]
    return text + end
