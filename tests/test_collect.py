"""Which runs a report is made of, from their tags alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from omegaconf import OmegaConf

from engram_hydra.collect import check_known, collect
from engram_hydra.errors import ConfigError, DataError


class FakeStore:
    """A store of runs that carry nothing but their data set."""

    def __init__(self, *datasets: str, rows: str = "") -> None:
        self.datasets, self.text = datasets, rows

    def runs(self) -> Any:
        for n, name in enumerate(self.datasets):
            tags = {"engram.dataset": name} if name else {"engram.aggregate_of": "all"}
            data = SimpleNamespace(tags=tags, metrics={})
            yield SimpleNamespace(info=SimpleNamespace(run_id=f"r{n}", start_time=n), data=data)

    def read_artifact(self, info: Any, name: str) -> str:
        return self.text


def found(wanted: Any, *datasets: str) -> dict[str, list[str]]:
    of_set = collect(FakeStore(*datasets), wanted)  # type: ignore[arg-type]
    return {name: [run.run_id for run in runs] for name, runs in of_set.items()}


def test_all_that_have_runs_stand_by_size() -> None:
    names = ("fc_sh_262k", "synthetic", "", "fc_sh_6k", "fc_sh_32k", "fc_sh_6k")
    assert list(found(None, *names)) == ["fc_sh_6k", "fc_sh_32k", "fc_sh_262k", "synthetic"]
    assert found(None, *names)["fc_sh_6k"] == ["r3", "r5"]
    assert found(None) == {}


def test_those_named_stand_in_their_order_even_without_runs() -> None:
    wanted = OmegaConf.create(["b", "a", "b", "none"])
    assert found(wanted, "a", "b", "c", "") == {"b": ["r1"], "a": ["r0"], "none": []}
    assert found("a", "a", "b") == {"a": ["r0"]}


def test_a_name_without_runs_must_be_a_data_set(compose: Any) -> None:
    for name in ("fc_sh_6k", "synthetic"):
        check_known(collect(FakeStore(), name))  # type: ignore[arg-type]
    check_known(collect(FakeStore("mine"), "mine"))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"fc_sh_6kk: .* did you mean .*fc_sh_6k"):
        check_known(collect(FakeStore("synthetic"), "fc_sh_6kk"))  # type: ignore[arg-type]


@pytest.mark.parametrize("wanted", [3, [["a"]], {"a": 1}, [None]])
def test_what_is_no_name_is_refused(wanted: Any) -> None:
    with pytest.raises(ConfigError, match="names no data set"):
        found(OmegaConf.create(wanted) if isinstance(wanted, (list, dict)) else wanted)


@pytest.mark.parametrize("name", ["../../up", "/etc", "a b", "${oc.env:HOME}", "a,k=1"])
def test_a_name_that_would_lead_elsewhere_is_no_data_set(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert found(None, name, "a", name) == {"a": ["r1"]}
    assert f"2 runs are left out: no data set is called {name!r}" in caplog.text
    with pytest.raises(ConfigError, match="which is no data set"):
        found([name], "a")


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[1]",
        '{"question_id": "q"}',
        '{"question_id": [], "kind": "", "metrics": {}}',
        '{"question_id": "q", "kind": "", "metrics": "x"}',
    ],
)
def test_a_damaged_file_of_questions_is_told_when_it_is_needed(text: str) -> None:
    [run] = collect(FakeStore("a", rows=text), "a")["a"]  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"per_question\.jsonl of run r0 is damaged"):
        run.per_question()


def test_a_question_that_stands_twice_is_named() -> None:
    rows = '{"question_id": "q1", "kind": "", "metrics": {}}\n' * 2
    [run] = collect(FakeStore("a", rows=rows), "a")["a"]  # type: ignore[arg-type]
    with pytest.raises(
        DataError, match=r"damaged \(question q1 stands in it 2 times\): do the run"
    ):
        run.per_question()
