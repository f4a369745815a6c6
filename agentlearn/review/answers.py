"""What a person typed in answer to the agent's questions."""

from __future__ import annotations

import msgspec

from agentlearn.sessions.values import Call, Result


def typed_answers(call: Call, result: Result) -> list[str]:
    """What a person typed in answer to the agent's questions; a choice among its own words is none.

    The answer is part of a tool's result, but nobody else's words. Each is looked for after the
    very question that was asked: what an agent writes into a question must not pass for an answer.
    """
    asked = _asked(call)
    answers = []
    rest = result.text
    for place, (question, _) in enumerate(asked):
        _, found, rest = rest.partition(f'"{question}"="')
        if not found:
            return []
        following = f'", "{asked[place + 1][0]}"="' if place + 1 < len(asked) else '". You can now'
        answer, found, _ = rest.partition(following)
        answers.append(answer if found else rest.rstrip().removesuffix('"'))
    own_words = " ".join(" ".join(text.split()) for _, texts in asked for text in texts)
    folded = [(answer, " ".join(answer.split())) for answer in answers]
    return [answer for answer, words in folded if words and words not in own_words]


def _asked(call: Call) -> list[tuple[str, list[str]]]:
    """Each question with all of the agent's words around it: labels, descriptions."""
    try:
        questions = msgspec.json.decode(call.arguments).get("questions")
    except (msgspec.MsgspecError, AttributeError, RecursionError):
        return []
    found = []
    for item in questions if isinstance(questions, list) else []:
        if isinstance(item, dict) and isinstance(item.get("question"), str):
            options = item.get("options")
            own = [str(text) for option in options or () if isinstance(option, dict)
                   for text in option.values()]  # fmt: skip
            found.append((item["question"], [item["question"], *own]))
    return found
