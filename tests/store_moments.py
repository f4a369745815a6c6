"""A process killed before every single call that changes the disk, one after another.

`python -m tests.store_moments FOLDER [STEP]` makes every kind of change there is in a new store,
killed before the first such call, then in another store before the second (with STEP: that many
further on), until one is not killed any more. Half of what is written is on the disk when a write
is cut. After each, the next look must find all that was said to be done and finish what was begun,
and the next writer must leave the store whole.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentlearn.store import drafting, history
from agentlearn.store.store import Store
from tests.stores import assert_whole, make, make_note, make_skill, new_store

CALLS = ("open", "mkdir", "rename", "unlink", "rmdir", "fsync", "ftruncate", "write", "link",
         "symlink", "fchmod")  # fmt: skip


def every_kind_of_change(store: Store, say: Callable[[str], None]) -> None:
    note = make_note(store, "The API lives in src/api")
    say(note.id)
    say(make_skill(store).id)
    say(make_skill(store, "ship-release", description="Ships a release. Use when it is time.").id)
    patched = make(store, drafting.patch_skill, "run-tests", "`make test`", "`make check`")
    say(patched.id)
    file = ("run-tests", "references/failures.md", "what failed\n" * 3000)
    say(make(store, drafting.write_skill_file, *file).id)
    away = make(store, drafting.delete_skill, "run-tests", "ship-release")
    say(away.id)
    say(history.revert(store, [away.id])[0].id)
    say(history.revert(store, [note.id])[0].id)
    for text in ("Use tabs", "Use spaces"):
        make_note(store, text, mode="stage")
    first, second = store.state().staged
    history.discard(store, [second])
    history.adopt(store, [first])
    say(first)


def killed_at(moment: int, store: Store, said: int) -> bool:
    """Make the changes, and be killed before the call of that number; False if there is none."""
    left = moment

    def counted(name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def call(*args: Any, **more: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                if name == "write":
                    real(args[0], args[1][: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **more)

        return call

    child = os.fork()
    if child == 0:
        say = os.write
        for name in CALLS:
            setattr(os, name, counted(name))
        try:
            every_kind_of_change(store, lambda change_id: say(said, f"{change_id}\n".encode()))
            os._exit(0)
        except BaseException as error:
            sys.stderr.write(f"{error!r}\n")
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the changes could not be made"
    return os.WIFSIGNALED(status)


def main() -> None:
    folder, step = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    moment, unfinished, wrong = 1, 0, 0
    while True:
        store = new_store(folder / f"p{moment}")
        reading, writing = os.pipe()
        was_killed = killed_at(moment, store, writing)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            said = pipe.read().split()
        unfinished += store.journal.state().unfinished is not None
        try:
            state = store.state()
            assert set(said) <= set(state.changes), "a change that was said to be done is lost"
            assert state.unfinished is None, "a look does not put right what was left"
            with store.writing():  # half a line and half a file, which nobody reads, go with it
                pass
            assert_whole(store)
        except AssertionError as error:
            wrong += 1
            print(f"moment {moment}: {error!r}", flush=True)
        if not was_killed:
            break
        moment += step
    print(f"{moment} moments, {unfinished} within a change, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
