"""Which pictures a chapter has, and that each shows the numbers of its own section."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

from engram_hydra.report.ablation_table import ablation_tables, row_labels
from engram_hydra.report.attribution import attribution_section
from engram_hydra.report.cells import Run
from engram_hydra.report.comparisons import comparisons
from engram_hydra.report.document import Picture
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.pictures import across_pictures, chapter_pictures
from engram_hydra.report.section import Section

M = "answer_in_top_1"
Make = Callable[..., Run]
Estimate_ = Callable[..., Estimator]


def drawn(estimator: Estimator) -> dict[str, Picture]:
    labels, tables = row_labels(estimator), ablation_tables(estimator)
    metrics = [table.metric for table in tables]
    compared = comparisons(estimator, "fc_sh_6k", labels, metrics)
    found: dict[str, Section | str] = {"Immune response": "not run"}
    parts = {"heirs": "no_heirs", "calcification": "no_calc"}
    found["Attribution"] = attribution_section(estimator, metrics, "coral", parts) or "not run"
    pictures = chapter_pictures(estimator, "fc_sh_6k", labels, tables, compared, found, 10)
    return {picture.name: picture for picture in pictures}


def rows(picture: Picture) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(picture.csv)))


def test_pictures_of_what_was_run(make_run: Make, estimate: Estimate_) -> None:
    times = {"write_seconds": 2.0, "read_ms_per_query": 0.5}
    runs = [
        make_run("coral", ablation, seed, columns={M: values}, also=times)
        for ablation, values in {
            "none": [1, 1, 0, 1],
            "no_heirs": [1, 0, 0, 1],
            "no_calc": [1, 1, 0, 0],
            "no_heirs+no_calc": [1, 0, 0, 0],
        }.items()
        for seed in (0, 1)
    ]
    runs += [make_run("dense", columns={M: [1, 0, 0, 0]}, also=times)]
    runs += [make_run("bm25", columns={M: [0, 0, 0, 0]}, also=times)]
    found = drawn(estimate(runs))
    stem = f"fc_sh_6k_{M}"
    assert list(found) == [
        f"{stem}_forest",
        f"{stem}_seeds",
        f"{stem}_attribution",
        "fc_sh_6k_costs",
    ]
    whole = next(
        row
        for row in rows(found[f"{stem}_forest"])
        if (row["row"], row["against"]) == ("Coral (as shipped)", "Dense")
    )
    assert float(whole["value"]) == 50  # points
    assert {row["against"] for row in rows(found[f"{stem}_forest"])} == {"Dense", "BM25"}
    seeds = [row for row in rows(found[f"{stem}_seeds"]) if row["row"] == "no heirs"]
    assert [(row["seed"], row["value"]) for row in seeds] == [("0", "0.5"), ("1", "0.5")]
    parts = {row["part"]: float(row["effect"]) for row in rows(found[f"{stem}_attribution"])}
    assert (parts["heirs, cost"], parts["heirs, alone"]) == (25, 25)
    assert rows(found["fc_sh_6k_costs"])[0]["read_ms"] == "0.5"


def test_nothing_run_is_no_picture(estimate: Estimate_) -> None:
    assert drawn(estimate([])) == {}
    assert across_pictures("not run") == []
