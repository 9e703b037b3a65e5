"""Which sections stand in a report, from the aggregate's own options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from omegaconf import DictConfig

from engram_hydra.errors import ConfigError
from engram_hydra.report.ablation_table import ablation_tables
from engram_hydra.report.cells import Run
from engram_hydra.report.document import to_text
from engram_hydra.report.estimates import Estimate
from engram_hydra.report.estimator import Estimator
from engram_hydra.report.section import Section
from engram_hydra.report.sections import sections
from engram_hydra.report.variants import Change

M = "answer_in_top_1"
W = Change("tide_w_0.40", "tide", "w", 0.4, 0.2)

Make = Callable[..., Run]
Estimate_ = Callable[..., Estimator]
Compose = Callable[..., DictConfig]


def options(compose: Compose, *overrides: str) -> DictConfig:
    return compose(*overrides, config="aggregate")


def test_what_was_not_run_says_how_to_get_it(
    compose: Compose, make_run: Make, estimate: Estimate_
) -> None:
    found = sections(options(compose), "fc_sh_6k", estimate([make_run("dense")]), [], {})
    command = "python -m engram_hydra +experiment={} dataset=fc_sh_6k"
    assert found == {
        "Cost": command.format("anchors"),
        "Immune response": command.format("ablations"),
        "Attribution": command.format("factorial"),
        "Sensitivity": command.format("sensitivity") + ", beside its anchors: +experiment=anchors",
        "Audit": command.format("audit"),
    }


def everything(make_run: Make) -> list[Run]:
    both = {M: [1.0, 0.0], "answer_in_top_10": [1.0, 1.0]}
    shown = {"memory_displacements": 1.0, "write_seconds": 2.0}
    runs = [
        make_run("coral", ablation, seed, columns=both, also=shown)
        for ablation in ("none", "no_heirs", "no_calc")
        for seed in (0, 1)
    ]
    runs += [make_run(method, columns=both) for method in ("dense", "tide")]
    runs += [make_run("tide", variant=W.variant, columns=both)]
    rules = ("plain", "own_score", "newest_first")
    return runs + [make_run("dense", columns=both, audit="true", audit_rule=rule) for rule in rules]


def test_every_section_and_no_file_read_twice(
    compose: Compose, make_run: Make, estimate: Estimate_
) -> None:
    read: Counter[str] = Counter()

    def counted(run: Run) -> Run:
        def rows() -> list[dict[str, Any]]:
            read[run.run_id] += 1
            return run.per_question()

        return replace(run, per_question=rows)

    estimator = estimate(map(counted, everything(make_run)))
    ablation_tables(estimator)
    found = sections(options(compose), "fc_sh_6k", estimator, [W], {})
    assert [type(section) for section in found.values()] == [Section] * 5
    assert read == dict.fromkeys((run.run_id for run in everything(make_run)), 1)
    figures = [
        figure
        for section in found.values()
        if isinstance(section, Section)
        for figure in section.figures()
    ]
    assert len(dict(figures)) == len(figures)
    for section in found.values():
        assert isinstance(section, Section)
        columns = section.to_csv({"dataset": "d"}).split("\n")[0].split(",")
        assert len(set(columns)) == len(columns)


def test_parts_of_ones_own_method(compose: Compose, make_run: Make, estimate: Estimate_) -> None:
    runs = [make_run("mine", columns={M: [1]}), make_run("mine", "no_pointer", columns={M: [0]})]
    cfg = options(compose, "attribution.method=mine", "attribution.parts=[pointer]")
    found = sections(cfg, "fc_sh_6k", estimate(runs), [], {})["Attribution of mine"]
    assert isinstance(found, Section)
    assert found.name == "attribution_mine"
    assert found.entries[0].value == Estimate(1, 1, 1, 1)
    assert (
        sections(cfg, "fc_sh_6k", estimate(runs[:1]), [], {})["Attribution of mine"]
        == "mine with and without no_pointer"
    )


def test_every_method_has_its_attribution_beside_corals(
    compose: Compose, make_run: Make, estimate: Estimate_
) -> None:
    """Unasked where all combinations of its parts were run, and only there."""
    runs = [make_run(name, ablation) for name in ("a", "b") for ablation in ("none", "no_x")]
    runs += [make_run("b", "no_y"), make_run("coral"), make_run("coral", "no_heirs")]
    for cfg in (
        options(compose),
        options(compose, "attribution.method=a", "attribution.parts=[x]"),
    ):
        found = sections(cfg, "fc_sh_6k", estimate(runs), [], {})
        assert [title for title in found if "Attribution" in title] == [
            "Attribution",
            "Attribution of a",
        ]
        assert {s.name for s in found.values() if isinstance(s, Section)} >= {
            "attribution",
            "attribution_a",
        }
    both = sections(
        options(compose), "fc_sh_6k", estimate([*runs, make_run("b", "no_x+no_y")]), [], {}
    )
    assert isinstance(both["Attribution of b"], Section)


def test_the_parts_of_coral_go_by_the_names_of_its_switches(
    compose: Compose, make_run: Make, estimate: Estimate_
) -> None:
    """``reef_threshold`` is switched off by an ablation of another name."""
    cfg = options(compose, "attribution.parts=[reef_threshold]")
    found = sections(
        cfg, "fc_sh_6k", estimate([make_run(), make_run("coral", "fixed_threshold")]), [], {}
    )
    assert isinstance(found["Attribution"], Section)
    cfg = options(compose, "attribution.parts=[pointer]")
    with pytest.raises(ConfigError, match=r"pointer is no part of coral: choose among heirs,"):
        sections(cfg, "fc_sh_6k", estimate([make_run()]), [], {})


def test_the_metric_of_the_sensitivity_check(
    compose: Compose, make_run: Make, estimate: Estimate_
) -> None:
    def heading(metric: str, *logged: str) -> str:
        columns = {name: [1.0, 0.0] for name in logged}
        runs = [make_run("coral", columns=columns), make_run("tide", columns=columns)]
        runs.append(make_run("tide", variant=W.variant, columns=columns))
        cfg = options(compose, f"sensitivity.metric={metric}")
        found = sections(cfg, "fc_sh_6k", estimate(runs), [W], {})["Sensitivity"]
        assert isinstance(found, Section)
        return to_text(found.blocks[:1])

    assert "changed, subem, n = 2" in heading("subem", M, "subem")
    assert "changed, recall_any_at_5, n = 2" in heading(M, "ndcg_any_at_10", "recall_any_at_5")
    with pytest.raises(ConfigError, match=r"sensitivity.metric=top_1 .*choose among current"):
        heading("top_1", M)
