"""Every way Hydra and OmegaConf can refuse a command line, in one sentence each."""

from __future__ import annotations

import os
import sys

import pytest
from hydra.errors import MissingConfigException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from engram_hydra.cli import explain, register_resolvers
from engram_hydra.errors import ConfigError, DataError

REFUSED = {
    # a group or an option that does not exist
    ("method=quoral",): ("method=quoral does not exist: choose one of bm25, coral,",),
    ("+experiment=nope",): ("experiment=nope does not exist: choose one of ", "anchors"),
    ("hydra/launcher=nope",): ("hydra/launcher=nope does not exist: choose one of basic",),
    ("methd=coral",): ("methd is no option: a run takes method, dataset,",),
    ("nope/x=y",): ("nope/x",),
    # an option chosen by something that is no name
    ("method=null",): ("chosen by its name", "method=bm25"),
    ("dataset=0",): ("chosen by its name",),
    ("ablation=false",): ("chosen by its name",),
    # an override that does not parse, or asks for a sweep
    ("k 3",): ("'k 3' is no override", "key=value"),
    ("k=[1",): ("'k=[1' is no override",),
    ("k=1,2",): ("k=1,2", "--multirun"),
    # a key that does not exist
    ("foo=1",): ("foo is no option: a run takes method,",),
    ("method.hiers=false",): ("method.hiers is no option: method takes _target_,", "heirs"),
    ("~nope",): ("'nope'", "does not exist"),
    ("~method.heirs",): ("method.heirs", "deletion"),
    # a wrong type
    ("k=abc",): ("k has a wrong value: ", "'abc'", "Integer"),
    ("k=1.5",): ("k has a wrong value: ", "'1.5'"),
    ("k=null",): ("k has a wrong value: ", "not Optional"),
    ("k=[1]",): ("k has a wrong value: ", "[1]"),
    ("method.heirs=maybe",): ("method.heirs has a wrong value: ", "bool"),
    # options that do not go together
    ("method=bm25", "ablation=no_heirs"): (
        "ablation=no_heirs does not go with the rest of this configuration: ",
        "method.heirs is no option: method takes _target_, name, ties, k1,",
    ),
    ("method=[coral,bm25]",): ("schema/method=bm25 does not go with", "BM25 is not a subclass"),
    # an interpolation that leads nowhere
    ("k=${nope}",): ("k has a wrong value: ", "'nope'"),
    ("paths.root=${nope:1}",): ("wrong value: ", "interpolation type nope"),
    ("tracking.uri=${oc.env:NO_SUCH_VARIABLE}",): ("tracking.uri", "NO_SUCH_VARIABLE"),
}


@pytest.mark.parametrize("overrides", REFUSED, ids=" ".join)
def test_explained_in_one_sentence(compose, overrides):
    with pytest.raises(Exception) as refused:  # whatever Hydra raises
        OmegaConf.to_container(compose(*overrides), resolve=True)
    sentence = explain(refused.value)
    for part in REFUSED[overrides]:
        assert part in sentence
    assert "\n" not in sentence
    assert "full_key" not in sentence
    assert "object_type" not in sentence


def test_the_extra_that_a_launcher_needs_is_named():
    missing = MissingConfigException("", "hydra/launcher/joblib", ["basic"])
    assert explain(missing) == (
        'hydra/launcher=joblib needs an extra: `pip install "engram-hydra[joblib]"`.'
    )


def raising(error):
    def task(cfg):
        raise error

    return task


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dataset=0"], "chosen by its name"),
        (["-m", "dataset=synthetic,0"], "chosen by its name"),
        (["method=quoral"], "method=quoral does not exist: choose one of"),
        (["-m", "method=bm25,quoral"], "method=quoral does not exist: choose one of"),
        (["paths.outputs=/dev/null"], "/dev/null"),  # no folder can be made there
        (["k=abc"], "k has a wrong value"),
        (["-m", "k=1,abc"], "k has a wrong value"),
    ],
)
def test_a_wrong_configuration_exits_with_2_and_a_sentence(command, arguments, words):
    code, said = command(raising(AssertionError("never run")), *arguments)
    assert code == 2
    (line,) = said.splitlines()
    assert words in line


@pytest.mark.parametrize(
    ("error", "code"), [(ConfigError("no such thing"), 2), (DataError("no such file"), 1)]
)
def test_a_mistake_found_by_the_task_is_said_as_it_is(command, error, code):
    assert command(raising(error), "method=bm25") == (code, f"{error}\n")


@pytest.mark.parametrize("error", [ValueError("a bug"), KeyError("a bug"), OSError("a bug")])
def test_a_bug_keeps_its_traceback(command, error):
    with pytest.raises(type(error), match="a bug"):
        command(raising(error), "method=bm25")


def test_a_task_that_ends_well_exits_well(command):
    seen = []
    assert command(lambda cfg: seen.append(cfg.k), "method=bm25", "k=3") == (0, "")
    assert seen == [3]


def test_a_method_that_exits_fails_its_job(command):
    code, said = command(lambda cfg: sys.exit(0), "method=bm25")
    assert (code, said) == (1, "the job called sys.exit(0), which no method may.\n")


def test_a_method_that_exits_ends_no_sweep(command):
    seen = []

    def task(cfg):
        seen.append(cfg.seed)
        if cfg.seed == 0:
            sys.exit(0)

    code, said = command(task, "-m", "method=random", "seed=0,1")
    assert code == 1
    assert seen == [0, 1]
    assert "sys.exit(0)" in said
    assert "Traceback" not in said


def test_a_person_may_end_it(command):
    assert command(raising(KeyboardInterrupt()), "method=bm25") == (130, "stopped.\n")


def test_modules_in_the_current_folder_are_found(command, monkeypatch, tmp_path):
    """Also by the installed command, which starts with its own folder in the path."""
    found = [path for path in sys.path if path not in ("", str(tmp_path))]
    monkeypatch.setattr(sys, "path", found)
    (tmp_path / "of_a_user_s_own.py").write_text("answer = 42\n")
    seen = []

    def task(cfg):
        import of_a_user_s_own

        seen.append(of_a_user_s_own.answer)

    assert command(task, "method=bm25") == (0, "")
    assert seen == [42]


@pytest.mark.parametrize(
    "content", [b"name: [1, 2\n", b"name: a: b\n", b"\tname: x\n", b"name: \xff\n"], ids=str
)
def test_a_file_that_is_no_yaml_is_told_in_a_sentence(command, tmp_path, content):
    (tmp_path / "method").mkdir()
    (tmp_path / "method" / "mine.yaml").write_bytes(content)
    task = raising(AssertionError("never run"))
    code, said = command(task, f"hydra.searchpath=[file://{tmp_path}]", "method=mine")
    assert code == 2
    (line,) = said.splitlines()
    assert line.startswith("an option's file is no readable YAML: ")


def test_a_current_folder_that_is_gone_is_told(command, monkeypatch, tmp_path):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir("gone")
    (tmp_path / "gone").rmdir()
    code, said = command(raising(AssertionError("never run")), "method=bm25")
    assert code == 2
    assert said.startswith("the current folder can't be made or written (No such file")
    assert said.count("\n") == 1


def test_the_resolvers(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    register_resolvers()
    (tmp_path / "of_a_job").mkdir()
    monkeypatch.chdir("of_a_job")  # paths count from where the command started
    monkeypatch.setenv("HOME", "/home/someone")
    cfg = OmegaConf.create(
        {
            "pid": "${pid:}",
            "here": "${absolute:.}",
            "below": "${absolute:a/../b}",
            "home": "${absolute:'~/x'}",
            "whole": "${absolute:/a/b}",
            "unset": "${absolute:null}",
            "cache": "${user_cache:}",
        }
    )
    assert cfg.pid == os.getpid()
    assert cfg.here == str(tmp_path)
    assert cfg.below == str(tmp_path / "b")
    assert cfg.home == "/home/someone/x"
    assert cfg.whole == "/a/b"
    assert cfg.unset is None
    assert cfg.cache.endswith("engram_hydra")


def test_a_user_without_a_home_is_told_which_path_needs_one(compose, monkeypatch):
    import pwd

    def unknown(_):
        raise KeyError("uid not found")

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for variable in ("HOME", "XDG_CACHE_HOME", "ENGRAM_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    cfg = compose()
    with pytest.raises(OmegaConfBaseException) as raised:
        _ = cfg.paths.cache
    told = explain(raised.value)
    assert told.startswith("paths.cache has a wrong value: ")
    assert told.endswith(" needs a home folder: set HOME, or another path.")
