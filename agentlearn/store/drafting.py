"""From what a reviewer wants to a change that may be made: the checks before the disk is touched.

Every function here takes the shelf as it is now and gives the change, or refuses with a sentence
that says what to do instead. Whether the evidence speaks for it was looked at before.
"""

from __future__ import annotations

import re

from msgspec import structs

from agentlearn.store.changes import Maker, draft_change, named
from agentlearn.store.clean import (
    ONE_OFF,
    body_problems,
    check_body,
    check_clean,
    check_description,
    refuse,
    text_problems,
)
from agentlearn.store.files import Escapes, parts_of
from agentlearn.store.noting import add_note, no_secret_in, remove_note, replace_note
from agentlearn.store.shelf import Shelf, text_of
from agentlearn.store.similar import NEAR, nearest, roots
from agentlearn.store.skill import (
    MOST_BODY,
    format_skill,
    frame_of,
    like,
    name_problem,
    parse_skill,
    rewritten,
    with_changes,
    with_pin,
    without_changes,
)
from agentlearn.store.store import Refused
from agentlearn.store.values import Change, Edit, Skill

__all__ = [
    "Maker", "add_note", "added", "check_clean", "create_skill", "delete_skill", "edit_skill",
    "name_problem", "patch_skill", "path_in", "pin_skill", "remove_note", "remove_skill_file",
    "replace_note", "replace_text", "write_skill_file",
]  # fmt: skip
HOLDS = 0.5
"""The share of its words that another skill must have to stand for it."""
FOLDERS = ("references", "templates", "scripts", "assets")
FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def create_skill(shelf: Shelf, maker: Maker, name: str, description: str, body: str) -> Change:
    description = " ".join(description.split())
    if (wrong := name_problem(name)) is not None:
        raise Refused(wrong)
    if ONE_OFF.search(name):
        raise Refused(
            f"{name} is named after one occasion: name the class of work, as in run-tests"
        )
    check_description(description)
    check_body(body)
    _is_free(shelf, name)
    near = nearest(name, description, shelf.skills())
    if near is not None and near[0] >= NEAR:
        raise Refused(f"{name} is nearly the skill {near[1].folder}: view that one, then patch it")
    text = f"{description}\n\n{body.strip()}"
    change = draft_change(shelf, maker, "skill", "create", name, text, ())
    path = f"skills/{name}/SKILL.md"
    return _with_skill(shelf, change, path, None, format_skill(name, description, body, ()))


def _is_free(shelf: Shelf, name: str) -> None:
    if shelf.skill(name) is not None or shelf.files_of(name):
        raise Refused(f"the skill {name} exists: view it, then patch it")
    for folder in shelf.store.folders():
        if folder != name and folder.casefold() == name:
            raise Refused(f"on many disks {name} and {folder} are one folder: take another name")


def patch_skill(
    shelf: Shelf, maker: Maker, name: str, old: str, new: str, file: str = "SKILL.md"
) -> Change:
    """Replace a text that occurs exactly once."""
    _ours(shelf, name)
    path = path_in(name, file)
    before = shelf.read(path)
    if before is None:
        raise Refused(f"{name} has no file {file}: it has {_listed(shelf, name)}")
    if not old:
        raise Refused("the old text is empty: give the text to replace, as it stands in the file")
    old, new = like(before, old), like(before, new)
    count = before.count(old)
    if count == 0:
        raise Refused(f"the old text does not occur in {name}/{file}: view it and copy it exactly")
    if count > 1:
        raise Refused(f"the old text occurs {count} times in {name}/{file}: give more of it")
    if old == new:
        raise Refused("the new text is the old one")
    check_clean(new)
    after = before.replace(old, new)
    text = added(old, new) or f"without: {old}"
    change = draft_change(shelf, maker, "skill", "patch", name, text, ())
    return _with_file(shelf, change, file, path, before, after)


def added(old: str, new: str) -> str:
    """The lines that come; what only stands there to say where is not part of what is said."""
    stood = old.splitlines()
    return "\n".join(line for line in new.splitlines() if line not in stood).strip()


def edit_skill(
    shelf: Shelf, maker: Maker, name: str, description: str | None, body: str | None, seen: str
) -> Change:
    """Put another description or body in place of what was `seen`."""
    skill = _ours(shelf, name)
    if without_changes(skill.text) != without_changes(seen):
        raise Refused(f"{name} was changed since you viewed it: view it again")
    if description is None and body is None:
        raise Refused("give a new description, a new body, or both")
    if description is not None:
        description = " ".join(description.split())
        check_description(description)
    if body is not None:
        check_body(body)
    said = "\n\n".join(filter(None, (description, body)))
    change = draft_change(shelf, maker, "skill", "edit", name, said, ())
    after = rewritten(skill, description, body)
    if after is None:
        raise Refused(f"the front matter of {name} was written by hand: use patch")
    if after == skill.text:
        raise Refused(f"{name} says that already")
    return _with_skill(shelf, change, f"skills/{name}/SKILL.md", skill.text, after)


def write_skill_file(shelf: Shelf, maker: Maker, name: str, file: str, content: str) -> Change:
    _ours(shelf, name)
    path = path_in(name, file)
    if file == "SKILL.md":
        raise Refused("SKILL.md is changed with patch or edit")
    if len(content) > MOST_BODY:
        raise Refused(f"the file has {len(content)} characters, over {MOST_BODY}")
    check_clean(content)
    before = shelf.read(path)
    if before == content:
        raise Refused(f"{name}/{file} says that already")
    for known in shelf.files_of(name):
        if known != file and known.casefold() == file.casefold():
            raise Refused(f"on many disks {file} and {known} are one file: take another name")
    change = draft_change(shelf, maker, "skill", "write_file", name, content, ())
    return _with_file(shelf, change, file, path, before, content)


def remove_skill_file(shelf: Shelf, maker: Maker, name: str, file: str) -> Change:
    _ours(shelf, name)
    path = path_in(name, file)
    before = shelf.read(path)
    if file == "SKILL.md" or before is None:
        raise Refused(f"{name} has no such file to remove: it has {_listed(shelf, name)}")
    change = draft_change(shelf, maker, "skill", "remove_file", name, f"without {file}", ())
    return _with_file(shelf, change, file, path, before, None)


def replace_text(
    shelf: Shelf, maker: Maker, name: str, file: str, said: str, before: str, after: str
) -> Change:
    """Put a file of a skill right, as `agentlearn check` does; what stood there is not judged."""
    _ours(shelf, name)
    path = f"skills/{name}/{file}"
    change = draft_change(shelf, maker, "skill", "fix", name, said, ())
    return _with_file(shelf, change, file, path, before, after)


def delete_skill(shelf: Shelf, maker: Maker, name: str, absorbed_by: str) -> Change:
    """Archive a skill whose lesson another one holds now."""
    skill = _ours(shelf, name)
    heir = None if name_problem(absorbed_by) else shelf.skill(absorbed_by)
    if absorbed_by == name or heir is None:
        raise Refused(f"absorbed_by must name the skill that holds what {name} taught")
    taught = roots(skill.body)
    if len(taught & roots(heir.text)) < HOLDS * len(taught):
        raise Refused(f"{absorbed_by} does not hold what {name} teaches: write it there first")
    edits = []
    for path in [f"skills/{name}/{file}" for file in shelf.files_of(name)]:
        if (text := text_of(shelf, path)) is not None:
            no_secret_in(path, text)
            edits.append(Edit(path, text, None))
    change = draft_change(
        shelf, maker, "skill", "delete", name, f"absorbed by {absorbed_by}", tuple(edits)
    )
    return structs.replace(
        change,
        absorbed_by=absorbed_by,
        moved=(f"skills/{name}", f"archive/{name}-{change.id}"),
    )


def pin_skill(shelf: Shelf, maker: Maker, name: str, pinned: bool) -> Change | None:
    """Keep reviews from touching a skill, or let them again; None if it is so already."""
    skill = _there(shelf, name)
    if not skill.is_ours:
        raise Refused(f"{name} was not written by agentlearn: no review touches it, pinned or not")
    if skill.pinned == pinned:
        return None
    said = "pin" if pinned else "unpin"
    after = with_pin(skill.text, pinned)
    path = f"skills/{name}/SKILL.md"
    no_secret_in(path, skill.text)
    change = draft_change(
        shelf, maker, "skill", said, name, f"{said} {name}", (Edit(path, skill.text, after),)
    )
    after = with_changes(after, (*skill.changes, change.id))
    if parse_skill(name, after).pinned != pinned:
        raise Refused(f"the front matter of {name} was written by hand: {said} it there")
    return structs.replace(change, edits=(Edit(path, skill.text, after),))


def _ours(shelf: Shelf, name: str) -> Skill:
    skill = _there(shelf, name)
    if not skill.is_ours:
        raise Refused(f"{name} was not written by agentlearn: it is not touched")
    if skill.pinned:
        raise Refused(f"{name} is pinned: it is not touched")
    return skill


def _there(shelf: Shelf, name: str) -> Skill:
    if name_problem(name) is not None:
        raise Refused(f"there is no skill {name[:80]!r}")
    skill = shelf.skill(name)
    if skill is None:
        near = nearest(name, "", shelf.skills())
        hint = f": did you mean {near[1].folder}?" if near and near[0] > 0 else ""
        raise Refused(f"there is no skill {name}{hint}")
    return skill


def path_in(name: str, file: str) -> str:
    """The logical path of a file of a skill, if it may be there."""
    try:
        parts = parts_of(file)
    except Escapes as error:
        raise Refused(error.message) from None
    allowed = file == "SKILL.md" or (
        1 < len(parts) <= 4
        and parts[0] in FOLDERS
        and all(FILE_NAME.fullmatch(part) for part in parts)
    )
    if not allowed:
        folders = ", ".join(f"{folder}/" for folder in FOLDERS)
        raise Refused(f"{file[:80]!r} is no place for a file of a skill: only under {folders}")
    return f"skills/{name}/{file}"


def _listed(shelf: Shelf, name: str) -> str:
    return ", ".join(shelf.files_of(name)[:20]) or "none"


def _with_file(
    shelf: Shelf, change: Change, file: str, path: str, before: str | None, after: str | None
) -> Change:
    """A change to one file of a skill, whose SKILL.md gets the change's id."""
    if file == "SKILL.md":
        return _with_skill(shelf, change, path, before, after or "")
    no_secret_in(path, before)
    skill = _ours(shelf, change.name)
    change = named(shelf, structs.replace(change, edits=(Edit(path, before, after),)))
    main = f"skills/{change.name}/SKILL.md"
    marked = with_changes(skill.text, (*skill.changes, change.id))
    return structs.replace(change, edits=(*change.edits, Edit(main, skill.text, marked)))


def _with_skill(shelf: Shelf, change: Change, path: str, before: str | None, after: str) -> Change:
    no_secret_in(path, before)
    known = parse_skill(change.name, before).changes if before else ()
    change = named(shelf, structs.replace(change, edits=(Edit(path, before, after),)))
    after = with_changes(after, (*known, change.id))
    skill = parse_skill(change.name, after)
    if skill.problem is not None:
        raise Refused(f"{change.name} would be no valid skill: {skill.problem}")
    if skill.changes != (*known, change.id) or skill.pinned:
        raise Refused("the metadata of a skill is not for a reviewer to change")
    if change.reviewer != "person" and frame_of(after) != frame_of(before or ""):
        raise Refused(
            "in the front matter of a skill a reviewer sets its description and nothing else"
        )
    check_description(skill.description)
    refuse("the body", body_problems(skill.body))
    stood = parse_skill(change.name, before).body if before else ""
    if not any(text_problems(stood)):  # what a person wrote there is not held against the new
        refuse("the body", text_problems(skill.body))
    return structs.replace(change, edits=(Edit(path, before, after),))
