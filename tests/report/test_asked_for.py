"""What the options name and is not there is told, with what is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engram_hydra.errors import ConfigError
from engram_hydra.report.asked_for import check_hashes, check_method
from engram_hydra.report.cells import Run

A, B = "a" * 64, "b" * 64


def test_a_hash_of_no_run_is_refused(make_run: Callable[..., Run]) -> None:
    runs = {"one": [make_run()], "two": [make_run(data_sha256=B)], "three": []}
    check_hashes([], {})
    check_hashes([A, B], runs)
    with pytest.raises(
        ConfigError, match=f"=dead is .* one has {A}; two has {B}; three has no run"
    ):
        check_hashes([A, "dead"], runs)
    with pytest.raises(ConfigError, match="there are no runs"):
        check_hashes([A], {})


def test_a_method_that_is_none_is_refused(make_run: Callable[..., Run]) -> None:
    runs = {"one": [make_run("mine")], "two": []}
    check_method("mine", ["coral"], runs)
    check_method("coral", ["coral"], runs)
    with pytest.raises(ConfigError, match=r"attribution\.method=nope: .* among coral, mine\."):
        check_method("nope", ["coral"], runs)
