"""`make bench`: the speeds that the README quotes, measured side by side on this machine.

Every command runs three times, in turn with those it is compared with, and the best time counts;
what matters is the ratio. AGENTLEARN_BENCH_MB sets the size of the native corpus (512), and
AGENTLEARN_SAMPLES the folder of real files, in `claude-code/` and `codex/`: the fixtures are too
small to tell readers apart.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import orjson

ROOT = Path(__file__).parent.parent
WORK = ROOT / ".bench"
BIN = Path(sys.executable).parent
PYTHON = str(BIN / "python")
AGENTLEARN = str(BIN / "agentlearn")
ROUNDS = 3
CORPUS_MB = int(os.environ.get("AGENTLEARN_BENCH_MB", "512"))
FILES_MB = int(os.environ.get("AGENTLEARN_BENCH_FILES_MB", "200"))
IDS = re.compile(rb"\b([0-9a-f]{8})((?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{9})\b")
"""UUIDs, and the ids of Claude Code's sub-agents."""

BARE = """
import orjson, sys
from pathlib import Path
given = Path(sys.argv[1])
for path in sorted(given.iterdir()) if given.is_dir() else [given]:
    for line in open(path, "rb"):
        try:
            orjson.loads(line)
        except orjson.JSONDecodeError:
            pass
"""
DUCKDB = """
import duckdb, sys
duckdb.execute(f"SET threads = {sys.argv[2]}")
rows = duckdb.execute('''
WITH line AS (
  SELECT row_number() OVER () AS n, type = 'session' AS head,
    CASE reward.kind WHEN 'negative' THEN -reward.value WHEN 'neutral' THEN 0
      ELSE reward.value END AS r
  FROM read_json(?, format = 'newline_delimited', columns = {type: 'VARCHAR', id: 'VARCHAR',
    reward: 'STRUCT(kind VARCHAR, value DOUBLE)'}, maximum_object_size = 67108864)
  WHERE type IN ('session', 'turn')
), placed AS (
  SELECT n, r, max(CASE WHEN head THEN n END) OVER (ORDER BY n ROWS UNBOUNDED PRECEDING) AS s
  FROM line
)
SELECT s, count(*) - 1, sum(r), sum(r * pow(0.9, n - s - 1)) FROM placed GROUP BY s ORDER BY s
''', [sys.argv[1]]).fetchall()
for row in rows:
    print(*row)
"""
POLARS = """
import sys
import polars as pl
reward = pl.Struct({"kind": pl.String, "value": pl.Float64})
amount = pl.col("reward").struct.field("value").fill_null(0.0)
kind = pl.col("reward").struct.field("kind")
turns = (
    pl.scan_ndjson(sys.argv[1], schema={"type": pl.String, "id": pl.String, "reward": reward})
    .with_columns((pl.col("type") == "session").cum_sum().alias("s"))
    .filter(pl.col("type") == "turn")
    .select("s", pl.when(kind == "negative").then(-amount).otherwise(amount).alias("r"))
)
found = turns.group_by("s", maintain_order=True).agg(
    pl.len(), pl.col("r").sum().alias("total"),
    (pl.col("r") * 0.9 ** pl.int_range(pl.len())).sum().alias("return"),
).collect()
for row in found.iter_rows():
    print(*row)
"""
OTHERS = {
    "teich": "from teich.converter import convert_trace_to_training_example as read",
    "claude-code-log": "from claude_code_log.converter import load_transcript\n"
    "def read(path): return load_transcript(path, silent=True)",
    "claude-code-transcripts": "from claude_code_transcripts import parse_session_file as read",
}
EACH = """
import sys
from pathlib import Path
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        read(path)
    except Exception:
        pass
"""


class Run:
    """A command, its best time so far and its largest memory."""

    def __init__(self, name: str, command: list[str], shown: str = "", **env: str) -> None:
        self.name = name
        self.command = command
        self.shown = shown or shlex.join(command)
        self.env = {**os.environ, **env}
        self.seconds = float("inf")
        self.peak_mb = 0.0
        self.failed = False

    def once(self) -> None:
        start = time.perf_counter()
        process = subprocess.Popen(
            self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.env
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = min(self.seconds, time.perf_counter() - start)
        self.peak_mb = max(self.peak_mb, usage.ru_maxrss / 1024)
        self.failed |= process.returncode != 0


def in_turn(runs: list[Run], rounds: int = ROUNDS) -> None:
    for _ in range(rounds):
        for run in runs:
            run.once()


def table(title: str, runs: list[Run], unit: str = "s") -> None:
    """Each against the first: how often as fast, and what share of its time."""
    base = runs[0]
    print(f"\n{title}\n")
    scale = 1000 if unit == "ms" else 1
    print(f"  {'':34}{unit:>8}  {'× as fast':>9}  {'× its time':>10}  {'peak MB':>8}")
    for run in runs:
        note = "  (exit code not 0)" if run.failed else ""
        print(
            f"  {run.name:34}{run.seconds * scale:8.2f}  {base.seconds / run.seconds:9.2f}"
            f"  {run.seconds / base.seconds:10.2f}  {run.peak_mb:8.0f}{note}"
        )
    print()
    for run in runs:
        print(f"  {run.name}: {run.shown}")


def make_corpus(path: Path, megabytes: int) -> None:
    """Sessions of turns with actions of 0.2 to 2 kB and observations of 0.5 to 8 kB."""
    if path.exists() and path.stat().st_size >= megabytes * 1_000_000:
        return
    chance = random.Random(1)
    words = [*Path(__file__).read_text().split(" "), "—", "✓", "\t", "é"]
    text = " ".join(chance.choices(words, k=200_000))

    def piece(low: int, high: int) -> str:
        size = chance.randint(low, high)
        start = chance.randrange(len(text) - size)
        return text[start : start + size]

    number = 0
    with path.open("wb") as file:
        while file.tell() < megabytes * 1_000_000:
            number += 1
            head = {"type": "session", "schema": "agentlearn-session/1", "id": f"s{number}"}
            rows = [{**head, "goal": "Find and fix the bug", "metadata": {"task": number % 50}}]
            for _ in range(chance.randint(5, 60)):
                kind = chance.choice(["positive", "negative", "neutral"])
                reward: dict[str, object] = {"kind": kind}
                if kind != "neutral":
                    reward["value"] = round(chance.random(), 3)
                turn = {"type": "turn", "action": piece(200, 2000)}
                rows.append({**turn, "observation": piece(500, 8000), "reward": reward})
            rows.append({"type": "outcome", "outcome": "success"})
            file.write(b"".join(orjson.dumps(row) + b"\n" for row in rows))


def make_copies(folder: Path, sources: list[Path], megabytes: int) -> None:
    """The files again and again, each time with ids of its own, until they are large enough.

    Plain copies would not do: what stands in several files counts once.
    """
    if folder.is_dir():
        return
    folder.mkdir(parents=True)
    size = number = 0
    while size < megabytes * 1_000_000:
        for source in sources:
            number += 1
            data = with_own_ids(source.read_bytes(), number)
            (folder / f"{number:05}-{source.name}").write_bytes(data)
            size += len(data)


def with_own_ids(data: bytes, number: int) -> bytes:
    """Every id changed in the same way, so that what belonged together still does."""
    return IDS.sub(lambda found: b"%08x" % (int(found[1], 16) ^ number) + found[2], data)


def bare_loop(path: Path) -> Run:
    shown = "for line in file: orjson.loads(line)"
    return Run("bare orjson loop", [PYTHON, "-c", BARE, str(path)], shown)


def returns_of(name: str) -> Run:
    command = [AGENTLEARN, "returns", str(ROOT / "fixtures" / name)]
    return Run(f"agentlearn returns {name}", command, f"agentlearn returns fixtures/{name}")


def bench_native() -> None:
    corpus = WORK / f"native-{CORPUS_MB}.jsonl"
    make_corpus(corpus, CORPUS_MB)
    name = corpus.name
    ours = [AGENTLEARN, "returns", "--gamma", "0.9", "--format", "jsonl", str(corpus)]
    shown = f"agentlearn returns --gamma 0.9 --format jsonl {name}"
    runs = [
        bare_loop(corpus),
        Run("agentlearn returns", ours, shown),
        Run("agentlearn returns --jobs 2", [*ours, "--jobs", "2"], f"{shown} --jobs 2"),
    ]
    for threads in ("1", "2"):
        duckdb = [PYTHON, "-c", DUCKDB, str(corpus), threads]
        polars = [PYTHON, "-c", POLARS, str(corpus)]
        runs.append(Run(f"DuckDB, threads {threads}", duckdb, "read_json, window, group by"))
        extra = {"POLARS_MAX_THREADS": threads}
        shown = "scan_ndjson, cum_sum, group_by"
        runs.append(Run(f"Polars, threads {threads}", polars, shown, **extra))
    in_turn(runs)
    table(f"Returns over {corpus.stat().st_size / 1e6:.0f} MB of native turns", runs)


def bench_readers() -> None:
    """Claude Code and Codex files, by the readers that know them, all on the same files."""
    samples = Path(os.environ.get("AGENTLEARN_SAMPLES") or "nowhere")
    folders = [samples / "claude-code", samples / "codex"]
    sources = sorted(path for folder in folders for path in folder.glob("*.jsonl"))
    if not sources:
        print("\nno real files: AGENTLEARN_SAMPLES names no folder with claude-code/ and codex/")
        return
    folder = WORK / f"real-{FILES_MB}"
    make_copies(folder, sources, FILES_MB)
    ours = [AGENTLEARN, "returns", "--format", "jsonl", str(folder)]
    shown = f"agentlearn returns --format jsonl {folder.name}/"
    runs = [bare_loop(folder), Run("agentlearn returns", ours, shown)]
    for name, setup in OTHERS.items():
        shown = setup.splitlines()[0] + "; read(path) for each file"
        runs.append(Run(name, [PYTHON, "-c", setup + EACH, str(folder)], shown))
    in_turn(runs)
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    title = f"{size:.0f} MB of real Claude Code and Codex files"
    table(f"{title}, to turns and rewards", runs)


def bench_start() -> None:
    bare = Run("python -c pass", [PYTHON, "-c", "pass"], "python -c pass")
    version = Run("agentlearn --version", [AGENTLEARN, "--version"], "agentlearn --version")
    in_turn([bare, version], 15)
    table("Start-up", [bare, version], "ms")
    code = "import typer, orjson"
    imports = Run(code, [PYTHON, "-c", code], f"python -c '{code}'")
    returns, claude = returns_of("demo.jsonl"), returns_of("demo-claude.jsonl")
    in_turn([imports, returns, claude], 15)
    table("A small file", [imports, returns, claude], "ms")


KNOWLEDGE = """
import json, random, sqlite3, sys, time
from pathlib import Path
from statistics import median
from agentlearn.knowledge.base import Base
from agentlearn.knowledge.portable import items_in, line_of
from agentlearn.knowledge.recall import recall
from rank_bm25 import BM25Okapi
folder = Path(sys.argv[1])
chance = random.Random(1)
names = [json.loads(line) for line in open(sys.argv[2])]
words = sorted({word for each in names for value in each.values() for word in value.split()})
words = [word + letter for letter in "abcdefghijklmnopqrst" for word in words
         if word.isascii() and word.isalpha()]
rows = [{"subject": chance.choice(words), "predicate": "needs",
         "object": " ".join(chance.choices(words, k=9))} for _ in range(100_000)]
lines = [json.dumps(row).encode() for row in rows]
items = list(items_in(lines))
texts = [(item.text,) for item in items]
def emptied(*names):
    for name in names:
        for end in ("", "-wal", "-shm"):
            (folder / f"{name}{end}").unlink(missing_ok=True)
def took(act):
    start = time.perf_counter()
    act()
    return time.perf_counter() - start
def bare():
    plain.executemany("INSERT INTO w (text) VALUES (?)", texts)
    plain.commit()
taken = []
for _ in range(5):
    emptied("ours.db", "plain.db")
    base = Base(folder / "ours.db")
    plain = sqlite3.connect(folder / "plain.db")
    plain.execute("PRAGMA journal_mode = WAL")
    plain.execute("CREATE VIRTUAL TABLE w USING fts5 (text)")
    taken.append((took(bare), took(lambda: base.replace_all(items)),
                  took(lambda: list(items_in(lines)))))
    base.close()
written, stored, checked = map(min, zip(*taken))
print(f"  import of 100,000 facts: {stored:.2f} s, bare executemany {written:.2f} s: "
      f"{stored / written:.1f} times; with reading and checking the lines before it, "
      f"{stored + checked:.2f} s, {(stored + checked) / written:.1f} times")
size = (folder / "ours.db").stat().st_size
as_lines = sum(map(len, map(line_of, items)))
print(f"  on disk {size / 1e6:.1f} MB, as JSON lines {as_lines / 1e6:.1f} MB")
query = "SELECT rowid, rank FROM w WHERE w MATCH ? ORDER BY rank LIMIT 5"
match = lambda text: " OR ".join(f'"{word}"' for word in text.replace('"', "").split())
other = BM25Okapi([text.split() for (text,) in texts])
taken = []
for _ in range(40):
    # Others in each round: nobody asks the same twice, and nothing may have been kept from before.
    queries = [" ".join(chance.choices(words, k=3)) for _ in range(60)]
    few = queries[:1]
    taken.append((took(lambda: [plain.execute(query, (match(q),)).fetchall() for q in queries]),
                  took(lambda: [recall([base], q) for q in queries]),
                  took(lambda: [other.get_top_n(q.split(), texts, 5) for q in few]) * 60))
asked, recalled, ranked = (median(each) / 60 * 1000 for each in zip(*taken))
times = median(ours / theirs for theirs, ours, _ in taken)
print(f"  recall {recalled:.2f} ms, plain FTS5 {asked:.2f} ms: {times:.1f} times; "
      f"rank-bm25 {ranked:.0f} ms (medians of {len(taken)} rounds in turn)")
"""


def bench_knowledge() -> None:
    print("\nKnowledge\n")
    facts = ROOT / "fixtures" / "knowledge" / "facts.jsonl"
    subprocess.run([PYTHON, "-c", KNOWLEDGE, str(WORK), str(facts)], check=True)
    project = WORK / "project"
    (project / ".agentlearn").mkdir(parents=True, exist_ok=True)
    (project / ".agentlearn" / "knowledge.db").write_bytes((WORK / "ours.db").read_bytes())
    helping = Run("agentlearn --help", [AGENTLEARN, "--help"], "agentlearn --help")
    command = ["sh", "-c", f"cd {shlex.quote(str(project))} && {AGENTLEARN} recall postgres port"]
    recalling = Run("agentlearn recall", command, "agentlearn recall postgres port")
    in_turn([helping, recalling], 10)
    table("The whole command, 100,000 facts", [helping, recalling], "ms")


def main() -> None:
    WORK.mkdir(exist_ok=True)
    subprocess.run([PYTHON, "-m", "compileall", "-q", str(ROOT / "agentlearn")], check=True)
    benches = {
        "start": bench_start,
        "native": bench_native,
        "readers": bench_readers,
        "knowledge": bench_knowledge,
    }
    for name in sys.argv[1:] or benches:
        benches[name]()


if __name__ == "__main__":
    main()
