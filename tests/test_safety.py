"""The source calls nothing that runs code hidden in data: no pickle, no unsafe YAML, no remote code."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCES = sorted((Path(__file__).resolve().parents[1] / "src").rglob("*.py"))
NEVER_IMPORTED = {
    "pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "shelve",
    "marshal",
    "torch",
}
NEVER_CALLED = {
    *("eval", "exec", "compile", "__import__", "os.system", "os.popen"),
    *("yaml.load", "yaml.full_load", "yaml.unsafe_load"),
    *("np.load", "np.fromfile", "numpy.load", "pd.read_pickle", "torch.load"),
    *("tarfile.open", "zipfile.ZipFile", "shutil.unpack_archive"),  # none is unpacked here
}
MUST_BE_FALSE = {"trust_remote_code", "allow_pickle", "shell"}


def problems(source: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if _top(alias.name) in NEVER_IMPORTED]
        elif isinstance(node, ast.ImportFrom) and _top(node.module or "") in NEVER_IMPORTED:
            found.append(str(node.module))
        elif isinstance(node, ast.Call):
            if (called := ast.unparse(node.func)) in NEVER_CALLED:
                found.append(called)
            found += [
                f"{keyword.arg}={ast.unparse(keyword.value)}"
                for keyword in node.keywords
                if keyword.arg in MUST_BE_FALSE and ast.unparse(keyword.value) != "False"
            ]
    return found


def _top(module: str) -> str:
    return module.partition(".")[0]


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: "/".join(file.parts[-2:]))
def test_nothing_that_runs_code_hidden_in_data_is_called(file: Path) -> None:
    assert problems(file.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "def f():\n    from joblib import load",
        "torch.load(file)",
        "yaml.load(text)",
        "np.load(file)",
        "f(trust_remote_code=True)",
        "np.lib.format.read_array(file, allow_pickle=options.pickled)",
        "subprocess.run('ls', shell=True)",
    ],
)
def test_the_search_finds_what_it_is_for(source: str) -> None:
    assert len(problems(source)) == 1


def test_yaml_of_the_options_is_loaded_safely(tmp_path: Path) -> None:
    from omegaconf import OmegaConf
    from yaml import YAMLError  # type: ignore[import-untyped]

    file = tmp_path / "x.yaml"
    file.write_text(f"a: !!python/object/apply:pathlib.Path.touch [{tmp_path / 'ran'}]")
    with pytest.raises(YAMLError):
        OmegaConf.load(file)
    assert not (tmp_path / "ran").exists()
