"""Options on the real command line: what is refused, in which words, and before anything starts."""

from __future__ import annotations

import pytest

from workspace import SMALL

REFUSED = {
    ("k=0",): ("k=0", "at least 1"),
    ("k=abc",): ("k ", "'abc'", "Integer"),
    ("seed=-1",): ("seed=-1", "at least 0"),
    ("+foo=1",): ("foo", "no option", "seed"),
    ("method.hiers=false",): ("method.hiers", "no option", "heirs"),
    ("+method.hiers=false",): ("method.hiers", "no option", "heirs"),
    ("method=quoral",): ("method=quoral", "coral", "bm25"),
    ("dataset=fc_sh_7k",): ("dataset=fc_sh_7k", "fc_sh_6k"),
    ("method.founding_affinity=0",): ("method.founding_affinity=0", "above 0", "at most 1"),
    ("method.founding_affinity=nan",): ("method.founding_affinity=nan",),
    ("method.ties=random",): ("method.ties=random", "oldest or newest"),
    ("method=bm25", "ablation=no_heirs"): ("ablation=no_heirs", "method.heirs", "k1"),
    ("dataset.seed=10000",): ("dataset.seed=10000", "at most 999"),
    ("method.name=bm25",): ("method.name=bm25", "method=coral"),
    ("method=custom",): ("method._target_",),
    ("method=custom", "method._target_=no.such.Thing"): ("no.such.Thing", "imported"),
    ("method=custom", "method._target_=pathlib.Path"): ("pathlib.Path", "no memory"),
    ("method=bm25", "index=hnsw"): ("index=hnsw", "method=bm25", "searches exactly", "index=exact"),
    ("index=hnsw", "index.links=1"): ("index.links=1", "at least 2"),
    ("audit=newest_first", "k=40"): ("audit.pool=30", "k=40"),
    ("audit=newest",): ("audit=newest", "newest_first"),
    ("variant=tide_w_0.3",): ("variant=tide_w_0.3", "tide_w_0.40"),
    ("variant=tide_w_0.10", "method=bm25"): ("variant=tide_w_0.10", "method.w", "k1"),
    ("variant=serial_strip",): ("variant=serial_strip", "dataset.serial"),
    ("method=oracle_immune", "dataset.conflict_rate=0"): ("method=oracle_immune", "none", "choose"),
    (
        "method=custom",
        "method._target_=engram_hydra.memories.dense.Dense",
        "+method.params.a=1",
        "+method.switches.a=true",
    ): ("method.switches.a", "method.params.a"),
    ("tracking.uri=file:mlruns",): ("tracking.uri=file:mlruns", "sqlite:///"),
    ("k 3",): ("k 3", "key=value"),
}


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_refused_in_one_sentence(workspace, arguments):
    done = workspace.run(*arguments)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    (sentence,) = done.stderr.strip().splitlines()
    for part in REFUSED[arguments]:
        assert part in sentence
    assert workspace.runs() == []


@pytest.mark.parametrize(
    "sweep",
    [
        ("k=5,0",),
        ("seed=0,x",),
        ("method=coral,bm25", "ablation=none,no_heirs"),
        ("k=5,10", "+foo=1"),
        ("method=coral,tide", "index=exact,hnsw"),
        ("audit=none,own_score", "k=10,40"),
        ("variant=coral_outlier_z_half,tide_w_0.10", "ablation=no_heirs"),
    ],
    ids=" ".join,
)
def test_one_bad_job_stops_a_sweep_before_the_first(workspace, sweep):
    done = workspace.run("-m", *SMALL, *sweep)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert workspace.runs() == []
    assert not list(workspace.folder.glob("outputs/**/engram_hydra.log"))


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("engram_hydra", ("--help",)),
        ("engram_hydra", ("--cfg", "job", "--resolve")),
        ("engram_hydra.aggregate", ("--help",)),
    ],
)
def test_looking_loads_nothing_heavy(workspace, module, arguments):
    code = (
        "import runpy, sys\n"
        f"sys.argv[1:] = {list(arguments)!r}\n"
        "try:\n"
        f"    runpy.run_module({module!r}, run_name='__main__')\n"
        "finally:\n"
        "    print('LOADED', *sorted({'torch', 'mlflow', 'faiss', 'pandas', 'scipy'} & set(sys.modules)))\n"
    )
    (workspace.folder / "look.py").write_text(code)
    out = workspace.ok(module="look")
    assert out.splitlines()[-1].split() == ["LOADED"]


def test_every_value_shows_and_can_be_overridden(workspace):
    import yaml

    shown = yaml.safe_load(workspace.ok("--cfg", "job"))

    def keys(tree, prefix=""):
        for key, value in tree.items():
            if isinstance(value, dict) and value:
                yield from keys(value, f"{prefix}{key}.")
            elif isinstance(value, (int, float)) and not isinstance(value, bool):
                yield f"{prefix}{key}", value

    numbers = dict(keys(shown))
    assert {"seed", "k", "method.outlier_z", "dataset.conflict_rate"} <= set(numbers)
    changed = workspace.ok(
        "--cfg", "job", *(f"{key}={value + 1}" for key, value in numbers.items())
    )
    assert dict(keys(yaml.safe_load(changed))) == {key: value + 1 for key, value in numbers.items()}
