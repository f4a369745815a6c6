"""Imports point downward only; rooms on one line do not import each other."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "agentlearn"
FLOORS = [
    {"__main__"},
    {"cli"},
    {"review", "reflexion"},
    {"rlm"},
    {"store", "knowledge", "export"},
    {"rewards", "render"},
    {"models"},
    {"sessions"},
    {"events", "config", "guard", "errors", "__init__"},
]
# One leaf may use another that is simpler than itself: everything raises errors.
ALLOWED = {("config", "errors"), ("guard", "errors"), ("events", "errors")}


def floor_of(room: str) -> int:
    return next(index for index, rooms in enumerate(FLOORS) if room in rooms)


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name the whole path"
            names = [node.module or ""]
            if node.module == "agentlearn":
                names = [f"agentlearn.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("agentlearn.")}
    return found - {"__version__"}


def test_imports_point_downward():
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        room = room_of(path)
        for other in imports_of(path):
            below = floor_of(other) > floor_of(room)
            if other != room and not below and (room, other) not in ALLOWED:
                wrong.append(f"{path.relative_to(PACKAGE)} imports {other}")
    assert wrong == []


def test_rewards_print_nothing_and_run_nothing():
    wrong = []
    for path in (PACKAGE / "rewards").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.Name):
                names = [node.id]
            wrong += [f"{path.name}: {n}" for n in names if n in ("print", "subprocess", "sys")]
    assert wrong == []


def test_starting_the_program_loads_nothing_heavy():
    import subprocess
    import sys

    code = "import sys, agentlearn.cli.app; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    heavy = {"openai", "pydantic", "rich", "yaml", "zstandard", "pyarrow", "msgspec"}
    assert heavy & set(loaded.stdout.split()) == set()
