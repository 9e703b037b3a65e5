"""What a table expected, found, took and ignored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.report.accounting import Accounting, account, accounting_blocks
from engram_hydra.report.cells import BAD_SEED, DETERMINISTIC, Run, select
from engram_hydra.report.document import to_markdown
from engram_hydra.report.estimates import Cell

EXPECTED = {Cell("coral"): tuple("01234"), Cell("dense"): (DETERMINISTIC,)}


def told(runs: list[Run], **changes: Any) -> Accounting:
    wanted = {"dataset": "fc_sh_6k", "data_sha256": None, "k": 10, "reader": "newest"}
    selection = select(runs, **{**wanted, "embedder": "minilm", **changes})
    return account("fc_sh_6k", selection, EXPECTED, {"shown"})


def lines(accounting: Accounting) -> list[str]:
    heading, *items = to_markdown(accounting_blocks(accounting)).strip().split("\n")
    assert heading == "## Runs: expected, found, taken, ignored"
    return [item.removeprefix("- ") for item in items if item]


def test_all_that_was_expected_is_there(make_run: Callable[..., Run]) -> None:
    accounting = told([make_run("dense"), *(make_run(seed=seed) for seed in range(5))])
    assert accounting.problems == []
    assert lines(accounting) == [
        "Expected: 6 runs for the standing rows, of which 6 are there and 0 missing.",
        "Found: 6 runs on this data set; taken 6, ignored 0.",
    ]


def test_what_is_missing_is_named_by_row_and_seed(make_run: Callable[..., Run]) -> None:
    accounting = told([make_run(seed=0), make_run(seed=3), make_run("bm25")])
    assert accounting.missing == {"Coral (as shipped)": ["1", "2", "4"], "Dense": [DETERMINISTIC]}
    assert lines(accounting)[0] == (
        "Expected: 6 runs for the standing rows, of which 2 are there and 4 missing "
        "(Coral (as shipped): 1-2,4; Dense: det.)."
    )
    assert accounting.problems == [
        "fc_sh_6k: Coral (as shipped), seed 1-2,4, not run",
        "fc_sh_6k: Dense, seed det., not run",
    ]


def test_nothing_was_run() -> None:
    accounting = told([])
    assert (accounting.found, accounting.taken, len(accounting.problems)) == (0, 0, 2)


def test_a_fault_is_a_problem_until_another_run_fills_its_cell(
    make_run: Callable[..., Run],
) -> None:
    whole = [make_run("dense"), *(make_run(seed=seed) for seed in range(5))]
    killed = make_run("tide", complete="", run_id="killed", started=1)
    assert told([*whole, killed]).problems == ["fc_sh_6k: incomplete: killed"]
    assert told([*whole, killed, make_run("tide", started=2)]).problems == []
    dirty = make_run("tide", git_dirty="true", run_id="changed")
    assert told([*whole, dirty]).problems == ["fc_sh_6k: dirty tree: changed"]
    for wanted in ({"exploratory": "true"}, {"k": "5"}, {"reader": "none"}, {"embedder": "other"}):
        assert told([*whole, make_run("tide", **wanted)]).problems == []


def test_a_dirty_tree_is_told_whether_taken_or_not(make_run: Callable[..., Run]) -> None:
    runs = [make_run("dense", git_dirty="true", run_id="changed-code")]
    assert lines(told(runs))[2:] == [
        "Ignored, dirty tree: 1 (changed-)",
        "No commit holds the code of a dirty tree: commit and run again, or set dirty=take.",
    ]
    assert lines(told(runs, take_dirty=True))[2:] == [
        "Taken from a dirty tree, whose code no commit holds: 1 (changed-)"
    ]


def test_two_results_of_one_run_are_a_problem(make_run: Callable[..., Run]) -> None:
    whole = [make_run("dense"), *(make_run(seed=seed) for seed in range(5))]
    other = {"answer_in_top_1": [0.0, 0.0]}
    runs = [
        *whole,
        make_run("tide", run_id="old", started=1, run_key="same", columns=other),
        make_run("tide", run_id="new", started=2, run_key="same"),
    ]
    accounting = told(runs)
    remark = "new differs from old that it supersedes: answer_in_top_1 0.5, was 0"
    assert accounting.problems == [f"fc_sh_6k: {remark}"]
    assert f"Run {accounting.remarks[0]}" in lines(accounting)


def test_results_that_changed_with_the_code_are_told_and_no_problem(
    make_run: Callable[..., Run],
) -> None:
    whole = [make_run("dense"), *(make_run(seed=seed) for seed in range(5))]
    runs = [
        *whole,
        make_run("tide", run_id="old", run_key="a", columns={"answer_in_top_1": [0.0, 0.0]}),
        make_run("tide", run_id="new", started=2, run_key="b", code_sha256="other"),
    ]
    accounting = told(runs)
    assert accounting.problems == []
    assert (
        "Other results for a cell than the run taken, where code changed: 1"
        " (new in place of old: answer_in_top_1 0.5, was 0)"
    ) in lines(accounting)


def test_a_seed_that_is_none_is_a_problem_with_the_run_named(make_run: Callable[..., Run]) -> None:
    whole = [make_run("dense"), *(make_run(seed=seed) for seed in range(5))]
    accounting = told([*whole, make_run(seed="one", run_id="odd")])
    assert accounting.problems == [f"fc_sh_6k: {BAD_SEED}: odd"]
    assert f"Ignored, {BAD_SEED}: 1 (odd)" in lines(accounting)


def test_variants_that_stand_in_no_row_are_listed(make_run: Callable[..., Run]) -> None:
    runs = [make_run("dense", variant="shown"), make_run("dense", variant="odd", run_id="odd-run")]
    assert lines(told(runs))[2:] == ["Taken, variant odd, in no row here: 1 (odd-run)"]


FATES = {
    "fine": {},
    "killed": {"complete": ""},
    "dirty": {"git_dirty": "true"},
    "exploratory": {"exploratory": "true"},
    "other k": {"k": "5"},
    "older": {"method_sha256": "older"},
}


@given(st.lists(st.tuples(st.sampled_from(sorted(FATES)), st.integers(0, 6)), max_size=12))
def test_every_run_is_taken_or_ignored_and_no_seed_counts_twice(
    make_run: Callable[..., Run], fates: list[tuple[str, int]]
) -> None:
    runs = [
        make_run(seed=seed, run_id=f"r{n}", started=n, **FATES[fate])
        for n, (fate, seed) in enumerate(fates)
    ]
    accounting = told(runs)
    assert accounting.found == len(runs)
    assert accounting.taken + sum(map(len, accounting.ignored.values())) == len(runs)
    lacking = accounting.missing.get("Coral (as shipped)", [])
    there = {seed for fate, seed in fates if fate in ("fine", "older")} & set(range(5))
    assert set(lacking) >= {str(seed) for seed in set(range(5)) - there}
    assert accounting.expected == 6
