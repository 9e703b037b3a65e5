"""What each part's test says, beside the row of the ablation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engram_hydra.report.ablation_table import Row, ablation_tables, row_labels
from engram_hydra.report.ablation_tests import ablation_tests, with_tests
from engram_hydra.report.comparisons import comparisons
from engram_hydra.report.estimator import Estimator
from made_up_cells import BASE, FC, TOP_1, Make, made, right


def rows(
    make_run: Make, estimate: Callable[..., Estimator], **changes: Sequence[float]
) -> dict[str, Row]:
    estimator = estimate(made(make_run, {**BASE, **changes}))
    tests = ablation_tests(comparisons(estimator, FC, row_labels(estimator), [TOP_1]))
    (table,) = with_tests(ablation_tables(estimator), tests)
    return {row.label: row for row in table.rows}


def test_every_tested_row_has_its_outcome(
    make_run: Make, estimate: Callable[..., Estimator]
) -> None:
    """Without calcification five questions are won: the smallest p of a test on five is 1/16."""
    found = rows(make_run, estimate, no_calc=right(count=75))
    assert {label: row.outcome for label, row in found.items() if row.outcome} == {
        "no heirs": "shown",
        "no calcification": "not shown",
        "no immune response": "shown",
    }
    assert found["no heirs"].p_holm is not None
    assert found["no feeding"].p_holm is None


def test_no_heirs_harm_that_holm_does_not_show(
    make_run: Make, estimate: Callable[..., Estimator]
) -> None:
    """Five questions won and none lost: the interval excludes 0, an exact p of 1/16 does not."""
    found = rows(make_run, estimate, no_heirs=right(count=75))
    row = found["no heirs"]
    assert not isinstance(row.contrast, str)
    assert row.contrast.high < 0
    assert row.outcome == "not shown"
    assert any(note.startswith("may be harmful (alone") for note in found["heirs alone"].notes)


def test_parts_that_are_not_missed_are_redundant(
    make_run: Make, estimate: Callable[..., Estimator]
) -> None:
    found = rows(make_run, estimate, no_heirs=right(count=70))
    assert found["no heirs"].outcome == "identical"
    for label in ("heirs alone", "calcification alone"):
        assert (
            found[label]
            .notes[-1]
            .startswith("redundant (alone +30.0 (21.0 to 39.0), without it +0.0")
        )
