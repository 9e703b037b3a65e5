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
from engram_hydra.report.lengths import length_section
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
    found["Attribution"] = attribution_section(estimator, metrics, "coral", parts, {}) or "not run"
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
    assert {row["against"] for row in rows(found[f"{stem}_forest"])} == {
        "Dense",
        "BM25, ties oldest",
    }
    seeds = [row for row in rows(found[f"{stem}_seeds"]) if row["row"] == "no heirs"]
    assert [(row["seed"], row["value"]) for row in seeds] == [("0", "0.5"), ("1", "0.5")]
    parts = {row["part"]: float(row["effect"]) for row in rows(found[f"{stem}_attribution"])}
    assert (parts["heirs, cost"], parts["heirs, alone"]) == (25, 25)
    assert rows(found["fc_sh_6k_costs"])[0]["read_ms"] == "0.5"


def test_lines_stand_in_panels_of_methods_and_of_ablations(
    make_run: Make, estimate: Estimate_
) -> None:
    cells: list[tuple[str, str, dict[str, str]]] = [
        ("coral", "none", {}),
        ("coral", "no_heirs", {}),
        ("coral", "no_heirs+no_calc", {}),
        ("coral", "none", {"variant": "index_hnsw"}),
        ("dense", "none", {}),
        ("random", "none", {}),
        ("bm25", "none", {}),
        ("bm25", "none", {"variant": "bm25_ties_newest"}),
    ]
    estimators = {
        name: estimate(
            [make_run(m, a, 0, dataset=name, **tags) for m, a, tags in cells], dataset=name
        )
        for name in ("fc_sh_6k", "fc_sh_32k")
    }
    [picture] = across_pictures(length_section(estimators))
    assert picture.name == f"fc_sh_{M}_lengths"
    lines = dict.fromkeys((row["panel"], row["row"]) for row in rows(picture))
    assert list(lines) == [
        ("methods", "Coral (as shipped)"),
        ("methods", "Dense"),
        ("methods", "BM25, ties oldest"),
        ("methods", "BM25, ties newest"),
        ("Coral, one part off", "Coral (as shipped)"),
        ("Coral, one part off", "no heirs"),
    ]
    assert [row["length"] for row in rows(picture)] == ["6k", "32k"] * 6


def test_both_tie_rules_have_a_panel_and_ties_a_mark(make_run: Make, estimate: Estimate_) -> None:
    def run(method: str, right: int, **tags: str) -> Run:
        return make_run(method, columns={M: [1.0] * right + [0.0] * (20 - right)}, **tags)

    runs = [run("dense", 10), run("bm25", 1), run("bm25", 20, variant="bm25_ties_newest")]
    picture = drawn(estimate([*runs, run("tide", 10)]))[f"fc_sh_6k_{M}_forest"]
    assert {(row["row"], row["against"]): row["outcome"] for row in rows(picture)} == {
        ("Tide", "Dense"): "identical",
        ("Tide", "BM25, ties oldest"): "undecided (ties)",
        ("Tide", "BM25, ties newest"): "undecided (ties)",
        ("Dense", "BM25, ties oldest"): "undecided (ties)",
        ("Dense", "BM25, ties newest"): "undecided (ties)",
    }
    assert "depends on how BM25's ties are broken" in picture.svg.replace("&#x27;", "'")


def test_nothing_run_is_no_picture(estimate: Estimate_) -> None:
    assert drawn(estimate([])) == {}
    assert across_pictures("not run") == []
