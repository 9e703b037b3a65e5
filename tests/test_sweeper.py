"""The sweeper: which jobs its grids make, and that all of them are checked before the first starts."""

from __future__ import annotations

import pytest
from hydra.core.hydra_config import HydraConfig

from engram_hydra.errors import DataError
from engram_hydra.job_marks import mark_stood
from engram_hydra.options import ablation_of
from hydra_plugins.engram_hydra import log


@pytest.fixture
def sweep(command, tmp_path):
    """Sweeps a named experiment of these lines: the jobs done, the exit code, and what was said."""
    (tmp_path / "experiment").mkdir()

    def run(sweeper, *arguments, fails=(), stand=(), stops=None):
        head = "# @package _global_\nhydra:\n  mode: MULTIRUN\n  sweeper: "
        (tmp_path / "experiment" / "mine.yaml").write_text(head + sweeper + "\n")
        done = []

        def task(cfg):
            job = HydraConfig.get().job
            done.append((int(job.num), cfg.method.name, ablation_of(cfg.method), cfg.seed))
            if job.num in stand:
                mark_stood()
            if job.num == stops:
                raise KeyboardInterrupt
            if job.num in fails:
                raise DataError(f"job {job.num} is no good.")

        found = f"hydra.searchpath=[file://{tmp_path}]"
        return (done, *command(task, found, "+experiment=mine", *arguments))

    return run


PARTS = '{params: {seed: "0,1"}, grids: [{ablation: "none,no_heirs"}, {method: random}]}'


def test_each_grid_is_swept_with_what_they_share_in_one_sweep(sweep, tmp_path):
    done, code, said = sweep(PARTS)
    assert (code, said) == (0, "")
    assert done == [
        (0, "coral", "none", 0),
        (1, "coral", "no_heirs", 0),
        (2, "coral", "none", 1),
        (3, "coral", "no_heirs", 1),
        (4, "random", "none", 0),
        (5, "random", "none", 1),
    ]
    (folder,) = (tmp_path / "outputs" / "sweeps").glob("*/*")
    assert {path.name for path in folder.iterdir()} == {*"012345", "multirun.yaml"}


def test_a_grid_goes_before_what_is_shared_and_the_command_line_before_both(sweep):
    sweeper = '{params: {seed: 0, method: random}, grids: [{}, {seed: "1,2"}]}'
    assert [job[1:] for job in sweep(sweeper)[0]] == [("random", "none", s) for s in (0, 1, 2)]
    assert [job[1:] for job in sweep(sweeper, "seed=3,4")[0]] == [
        ("random", "none", 3),
        ("random", "none", 4),
    ]
    assert [job[1:] for job in sweep(PARTS, "ablation=none", "method=tide")[0]] == [
        ("tide", "none", 0)
    ]


def test_what_is_the_same_in_two_grids_is_run_once(sweep):
    sweeper = (
        "{grids: [{method: random}, {method: random, seed: '0,1'}, {method: tide}, {seed: 0}]}"
    )
    done, code, _ = sweep(sweeper)
    assert code == 0
    assert [job[1:] for job in done] == [
        ("random", "none", 0),
        ("random", "none", 1),
        ("tide", "none", 0),
        ("coral", "none", 0),
    ]


@pytest.fixture
def told(monkeypatch):
    """What the sweeper logs; Hydra takes away all handlers."""
    said = []
    monkeypatch.setattr(log, "info", lambda text, *values: said.append(text % values))
    return said


@pytest.mark.parametrize(
    ("fails", "stand", "total"),
    [
        ((), (), "6 jobs: 6 new"),
        ((), (0, 2), "6 jobs: 4 new, 2 stood already"),
        ((1, 5), (0,), "6 jobs: 3 new, 1 stood already, 2 failed"),
    ],
)
def test_a_sweep_ends_with_a_total(sweep, told, fails, stand, total):
    sweep(PARTS, fails=fails, stand=stand)
    assert total in told


def test_a_stopped_sweep_says_how_far_it_came(sweep, told):
    _, code, said = sweep(PARTS, stops=3)
    assert (code, said) == (130, "stopped.\n")
    assert "3 of 6 jobs were done; the same command goes on from there" in told
    sweep(PARTS, "existing=rerun", stops=3)
    assert "3 of 6 jobs were done; the same command with existing=skip goes on from there" in told


def test_failures_of_all_grids_are_named_at_the_end(sweep):
    done, code, said = sweep(PARTS, fails=(1, 5))
    assert len(done) == 6
    assert code == 1
    head, *lines = said.splitlines()
    assert head == "2 jobs of the sweep failed, all others are done:"
    assert [line.rpartition(": ")[2] for line in lines] == [
        "job 1 is no good.",
        "job 5 is no good.",
    ]


def test_batches_number_on_and_are_all_checked_before_the_first(sweep):
    batches = "hydra.sweeper.max_batch_size=4"
    done, code, _ = sweep(PARTS, batches)
    assert code == 0
    assert [num for num, *_ in done] == [0, 1, 2, 3, 4, 5]
    done, code, said = sweep(PARTS.replace("random", "random, k: 0"), batches)
    assert (done, code) == ([], 2)
    assert said == "k=0 is out of range: it must be a whole number at least 1.\n"


@pytest.mark.parametrize(
    ("sweeper", "words"),
    {
        "{grids: [3]}": "hydra.sweeper.grids holds 3, which is no grid: ",
        "{grids: 3}": "hydra.sweeper.grids has a wrong value: ",
        "{grids: [{seed: [0, 1]}]}": "hydra.sweeper.grids holds {'seed': [0, 1]}, which is no grid: ",
        "{grids: [{variant: null}]}": "hydra.sweeper.grids holds {'variant': None}, which is no grid: ",
        "{grids: []}": "the sweep has no job: hydra.sweeper.grids is an empty list",
        "{grids: [{variant: glob(no_such_*)}]}": "the sweep has no job: ",
        "{gridz: []}": "hydra.sweeper.gridz is no option: hydra.sweeper takes ",
        "{max_batch_size: 0}": "hydra.sweeper.max_batch_size=0 is out of range: ",
        "{grids: [{seed: 0}, {sede: 1}]}": "sede is no option: a run takes method, ",
        "{grids: [{seed: 0}, {method: bm26}]}": "method=bm26 does not exist: ",
        "{grids: [{seed: 0}, {method: 'bm25,'}]}": "no override Hydra can read",
        "{grids: [{seed: 0}, {method: bm25, ablation: no_calc}]}": "ablation=no_calc does not go with",
    }.items(),
)
def test_a_sweep_that_makes_no_sense_is_refused_before_its_first_job(sweep, sweeper, words):
    done, code, said = sweep(sweeper)
    assert (done, code) == ([], 2)
    (sentence,) = said.splitlines()
    assert words in sentence
    assert sentence.endswith(".")
