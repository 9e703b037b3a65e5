"""What Hydra, MLflow and this project add to a run, and how soon the command line answers.

``python benchmarks/overhead.py`` prints one line per measurement: ours, what it is held against, the
target. Times are wall-clock seconds of whole processes; the vectors are cached and the store exists
before any is taken.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median

from table import head, line

from engram_hydra.conf_dir import conf_dir

TIMES = 5
SWEEPS = 3
RUNS = 20
SWEEP_OF_20 = ("existing=rerun", "ablation=none,no_heirs,no_calc,no_immune", "seed=0,1,2,3,4")
SWEEP_OF_ONE = ("existing=rerun", "ablation=none", "seed=0")

OURS = (sys.executable, "-m", "engram_hydra")
BARE_APP = f"""
import hydra
from engram_hydra.cli import register_resolvers
from engram_hydra.config import register

register()
register_resolvers()
main = hydra.main(version_base="1.3", config_path={conf_dir()!r}, config_name="config")
main(lambda cfg: None)()
"""
# The same run as plain calls of this package's functions, 20 times: no Hydra job, no MLflow.
BARE_RUNS = """
import json, time
from pathlib import Path
from hydra import compose, initialize_config_dir
from engram_hydra.cli import register_resolvers
from engram_hydra.conf_dir import conf_dir
from engram_hydra.config import register
from engram_hydra.datasets.load import load_dataset
from engram_hydra.readers.build import build_reader
from engram_hydra.runner import _answers
from engram_hydra.scoring import score
from engram_hydra.trials import run_trials

def run(cfg, folder):
    data = load_dataset(cfg.dataset, cfg.paths.data)
    trials = run_trials(cfg, data)
    rankings = [ranking for trial in trials for ranking in trial.rankings]
    answers = _answers(build_reader(cfg), data, rankings, [cfg.seed])
    scored = score(data, rankings, answers, k=cfg.k, tag="bare", more={})
    folder.mkdir()
    for name, content in scored.files.items():
        (folder / name).write_text(content)
    (folder / "metrics.json").write_text(json.dumps(scored.metrics))

register()
register_resolvers()
with initialize_config_dir(conf_dir(), version_base="1.3"):
    cells = [
        compose("config", [f"ablation={ablation}", f"seed={seed}", "paths.root=."])
        for ablation in ("none", "no_heirs", "no_calc", "no_immune")
        for seed in range(5)
    ]
run(cells[0], Path("bare_warm"))
start = time.perf_counter()
for number, cfg in enumerate(cells):
    run(cfg, Path(f"bare_{time.monotonic_ns()}_{number}"))
print((time.perf_counter() - start) / len(cells))
"""


def seconds(command: Sequence[str], folder: Path) -> float:
    """Wall-clock time of one process that must succeed."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    elapsed = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return elapsed


def medians(times: int, folder: Path, *commands: Sequence[str]) -> list[float]:
    """Each command's median; they take turns, so that a busy spell of the machine hits all alike."""
    rounds = [[seconds(command, folder) for command in commands] for _ in range(times)]
    return [median(column) for column in zip(*rounds, strict=True)]


def bare_seconds(folder: Path) -> float:
    """Seconds of a run without Hydra's jobs and without MLflow, the mean of 20 in one process."""
    command = [sys.executable, "-c", BARE_RUNS]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return float(done.stdout)


def own_seconds(folder: Path) -> float:
    """What the methods themselves took, in the mean over all runs: writing, and reading all questions."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{folder / 'mlruns' / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("engram_hydra")
    assert experiment is not None
    return fmean(
        run.data.metrics["write_seconds"]
        + run.data.metrics["read_ms_per_query"] / 1000 * int(run.data.tags["engram.n_questions"])
        for run in client.search_runs([experiment.experiment_id], max_results=1000)
    )


def main() -> None:
    head()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bare.py").write_text(BARE_APP)

        show, importing = medians(
            TIMES, folder, (*OURS, "--cfg", "job"), (sys.executable, "-c", "import hydra")
        )
        line(
            "`--cfg job`",
            f"{show:.2f} s",
            f"`import hydra` {importing:.2f} s",
            f"at most 3 times: {show / importing:.2f}",
            show <= 3 * importing,
        )

        help_, bare = medians(
            TIMES, folder, (*OURS, "--help"), (sys.executable, "bare.py", "--help")
        )
        line(
            "`--help`",
            f"{help_:.2f} s",
            f"a bare Hydra app on the same conf/ {bare:.2f} s",
            f"at most 1.3 times: {help_ / bare:.2f}",
            help_ <= 1.3 * bare,
        )

        seconds((*OURS, "-m", *SWEEP_OF_ONE), folder)  # makes the store, embeds the texts
        twenty, one = medians(
            SWEEPS, folder, (*OURS, "-m", *SWEEP_OF_20), (*OURS, "-m", *SWEEP_OF_ONE)
        )
        each, own = (twenty - one) / (RUNS - 1), own_seconds(folder)
        bare_run = median(bare_seconds(folder) for _ in range(SWEEPS))
        line(
            f"one run more in a sweep: ({twenty:.1f} s of {RUNS} - {one:.1f} s of 1) / {RUNS - 1}",
            f"{each:.2f} s",
            f"its writing and reading {own:.2f} s",
            f"at most 1.0 s more: {each - own:+.2f} s",
            each - own <= 1.0,
        )
        line(
            "the same run, and what of it is ours",
            f"{each:.2f} s",
            f"the same computation as a bare function {bare_run:.2f} s",
            f"at most 1.0 s more: {each - bare_run:+.2f} s, {1 - bare_run / each:.0%} of the run",
            each - bare_run <= 1.0,
        )
        processes = sum(
            seconds((*OURS, "existing=rerun", f"ablation={ablation}", f"seed={seed}"), folder)
            for ablation in ("none", "no_heirs", "no_calc", "no_immune")
            for seed in range(5)
        )
        line(
            f"a sweep of {RUNS} runs",
            f"{twenty:.1f} s",
            f"{RUNS} processes of one run {processes:.1f} s",
            f"at least 4 times faster: {processes / twenty:.1f}",
            processes >= 4 * twenty,
        )
    print(f"\nMedians of {TIMES}, of {SWEEPS} for the sweeps; {os.cpu_count()} cores.")


if __name__ == "__main__":
    main()
