"""LongMemEval at its official size: time and peak memory of whole runs.

``python benchmarks/histories.py`` needs ``ENGRAM_DATA`` for the sample's twelve questions, of which it
makes 500 with their histories in a temporary file as large as the official one. Vectors are cached: the
first run of all embeds the sample's few hundred sessions, and is not timed.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from table import head, line

QUESTIONS = 500
MOST_GIB = 1.5
RUNS = (("bm25", 1), ("bm25", 2), ("dense", 1), ("coral", 1), ("coral", 2))


def write_official_size(sample: Path, path: Path) -> None:
    """500 questions: the sample's under other ids, each with filler of another one besides its own."""
    entries: list[dict[str, Any]] = json.loads(sample.read_text("utf-8"))
    texts = []
    for number, entry in enumerate(entries):
        other = entries[number - 1]
        filler = [j for j, s in enumerate(other["haystack_session_ids"]) if "answer" not in s][:5]
        for field in ("haystack_session_ids", "haystack_dates", "haystack_sessions"):
            entry[field] += [other[field][j] for j in filler]
        texts.append(json.dumps(entry, ensure_ascii=False))
    with path.open("w", encoding="utf-8") as file:
        for number in range(QUESTIONS):
            at = number % len(entries)
            entry_id = entries[at]["question_id"]
            file.write("," if number else "[")
            file.write(texts[at].replace(entry_id, f"{number}_{entry_id}", 1))
        file.write("]")


def run(file: Path, root: Path, method: str, workers: int) -> tuple[float, float]:
    """Seconds of one whole run, and GiB of the largest of its processes at its largest."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "engram_hydra", f"method={method}", f"workers={workers}"),
            *("dataset=longmemeval_s", f"dataset.path={file}", f"paths.root={root}"),
        ],
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(
            f"method={method} workers={workers} ended with {os.waitstatus_to_exitcode(status)}"
        )
    return time.perf_counter() - start, usage.ru_maxrss / 2**20  # Linux counts in KiB


def main() -> None:
    if not os.environ.get("ENGRAM_DATA"):
        sys.exit("set ENGRAM_DATA to the folder that holds longmemeval/longmemeval_s_sample.json")
    sample = Path(os.environ["ENGRAM_DATA"]) / "longmemeval" / "longmemeval_s_sample.json"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "histories.json")
        write_official_size(sample, file)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        print(f"{file.stat().st_size:,} bytes, {QUESTIONS} questions, SHA-256 {digest[:12]}\n")
        run(file, Path(folder), "dense", 1)
        head()
        for method, workers in RUNS:
            seconds, gib = run(file, Path(folder), method, workers)
            what = f"`method={method} workers={workers}`"
            most = f"at most {MOST_GIB} GiB"
            line(what, f"{seconds:.0f} s", f"{gib:.2f} GiB", most, gib <= MOST_GIB)


if __name__ == "__main__":
    main()
