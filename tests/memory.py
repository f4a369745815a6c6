"""How much memory a process took at its peak."""

from __future__ import annotations

import subprocess
import sys
from typing import IO

MB = 1_000_000
PROGRAM = "from agentlearn.__main__ import main; main()"
TELL = """
finally:
    from pathlib import Path
    sys.stderr.write("\\n" + Path("/proc/self/status").read_text())
"""


def peak_mb_of(code: str, *words: str, stdin: IO[bytes] | None = None) -> float:
    """The largest memory of a run of some Python code, in MB, as the system counted it.

    The process is asked itself: what its parent is told counts the parent's memory, too.
    """
    indented = "".join(f"    {line}\n" for line in code.splitlines())
    result = subprocess.run(
        [sys.executable, "-c", f"import sys\ntry:\n{indented}{TELL}", *words],
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    (peak,) = [line for line in result.stderr.splitlines() if line.startswith("VmHWM:")]
    return int(peak.split()[1]) * 1024 / MB
