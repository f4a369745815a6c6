"""A process that changes a store without a pause, to be killed or interrupted by the tests.

`python -m tests.store_worker PROJECT SEED COUNT` makes COUNT changes (0: for ever) and says the
id of each on stdout when it is done.
"""

from __future__ import annotations

import random
import sys
import threading
from pathlib import Path

from agentlearn.errors import BadInput
from agentlearn.store import drafting, history
from agentlearn.store.shelf import Desk
from agentlearn.store.store import Refused, Store
from tests.stores import RULES, new_store

WORDS = [
    "alpha",
    "bravo",
    "charlie",
    "delta",
    "echo",
    "foxtrot",
    "golf",
    "hotel",
    "india",
    "juliet",
    "kilo",
    "lima",
]


def one_change(store: Store, pick: random.Random) -> list[str]:
    """Some change that a review or a person could make; none if it is refused."""
    done = []
    try:
        if pick.random() < 0.15:
            state = store.state()
            standing = [key for key in state.changes if state.stands(key)]
            if standing:
                done += [change.id for change in history.revert(store, [pick.choice(standing)])]
            return done
        with Desk(store).at_work() as (shelf, put):
            change = _draft(shelf, pick)
            if change is not None:
                put(change)
                done.append(change.id)
    except (Refused, BadInput):  # another was faster, and took the same change back
        pass
    return done


def _draft(shelf, pick: random.Random):
    ours = [skill.folder for skill in shelf.skills() if skill.is_ours]
    action = pick.choice(["note", "note", "unnote", "create", "patch", "file", "delete"])
    number = pick.randrange(10**6)
    if action == "note":
        return drafting.add_note(shelf, RULES, "MEMORY", f"Fact {number}", 1500)
    if action == "unnote" and (notes := shelf.notes("MEMORY")):
        return drafting.remove_note(shelf, RULES, "MEMORY", pick.choice(notes).text)
    if action == "delete" and len(ours) > 1:
        old, new = pick.sample(ours, 2)
        return drafting.delete_skill(shelf, RULES, old, new)
    if ours and action == "patch":
        name = pick.choice(ours)
        skill = shelf.skill(name)
        step = pick.choice(skill.body.splitlines())
        return drafting.patch_skill(shelf, RULES, name, step, f"{step}, then {number}")
    if ours and action == "file":
        content = f"{number}\n" * pick.randrange(1, 4000)
        file = f"references/{pick.choice('abc')}.md"
        return drafting.write_skill_file(shelf, RULES, pick.choice(ours), file, content)
    name = "-".join(pick.sample(WORDS, 3))
    body = "".join(f"{line}. Another long step of work on {name}\n" for line in range(1, 6))
    description = f"{' '.join(pick.sample(WORDS, 6))}. Use when {name}."
    return drafting.create_skill(shelf, RULES, name, description, body)


def main() -> None:
    project, seed, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    # Signals go to any thread: with a second one, none is held back by blocking it in the first.
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    store = new_store(project)
    pick = random.Random(seed)
    print("ready", flush=True)
    made = 0
    while not count or made < count:
        for change_id in one_change(store, pick):
            made += 1
            print(change_id, flush=True)


if __name__ == "__main__":
    main()
