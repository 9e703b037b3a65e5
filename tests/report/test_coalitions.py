"""Effects of parts: worked out by hand, by brute force, and by the properties that define them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from engram_hydra.report.coalitions import Coalitions


def test_one_part_earns_all() -> None:
    effects = Coalitions(np.array([[0.0, 1.0], [1.0, 0.5]]))
    for of_part in (effects.cost(0), effects.alone(0), effects.main_effect(0), effects.shares()[0]):
        assert of_part == pytest.approx([1.0, -0.5])
    assert effects.interactions() == {}


def test_two_parts_by_hand() -> None:
    """One question: null 0.1, a alone 0.4, b alone 0.6, both 0.7."""
    effects = Coalitions(np.array([[0.1], [0.4], [0.6], [0.7]]))
    assert effects.gain() == pytest.approx([0.6])  # 0.7 - 0.1
    assert effects.cost(0) == pytest.approx([0.1])  # 0.7 - 0.6: without a
    assert effects.cost(1) == pytest.approx([0.3])  # 0.7 - 0.4: without b
    assert effects.alone(0) == pytest.approx([0.3])  # 0.4 - 0.1
    assert effects.alone(1) == pytest.approx([0.5])  # 0.6 - 0.1
    assert effects.main_effect(0) == pytest.approx([0.2])  # (0.3 + 0.1) / 2
    assert effects.main_effect(1) == pytest.approx([0.4])  # (0.5 + 0.3) / 2
    assert effects.shares() == pytest.approx(np.array([[0.2], [0.4]]))  # they sum to 0.6
    assert effects.interactions() == {(0, 1): pytest.approx([-0.2])}  # 0.7 - 0.4 - 0.6 + 0.1


def test_three_parts_by_hand() -> None:
    """Rows: null, a, b, ab, c, ac, bc, abc. What a adds: to null 4, to b 2, to c 6, to bc 1."""
    effects = Coalitions(np.array([[0.0], [4.0], [3.0], [5.0], [1.0], [7.0], [8.0], [9.0]]))
    assert effects.cost(0) == [1]
    assert effects.alone(0) == [4]
    assert effects.main_effect(0) == [13 / 4]  # (4 + 2 + 6 + 1) / 4
    # Weights 2/6, 1/6, 1/6, 2/6 of sizes 0, 1, 1, 2. Of a: (2·4 + 2 + 6 + 2·1) / 6 = 3.
    # b adds to null 3, to a 1, to c 7, to ac 2: (6 + 1 + 7 + 4) / 6 = 3.
    # c adds to null 1, to a 3, to b 5, to ab 4: (2 + 3 + 5 + 8) / 6 = 3; all sum to 9.
    assert effects.shares() == pytest.approx(np.array([[3.0], [3.0], [3.0]]))
    # ab: without c 5 - 4 - 3 + 0 = -2, with c 9 - 7 - 8 + 1 = -5.
    # ac: without b 7 - 4 - 1 + 0 = 2, with b 9 - 5 - 8 + 3 = -1.
    # bc: without a 8 - 3 - 1 + 0 = 4, with a 9 - 5 - 7 + 4 = 1.
    assert effects.interactions() == {(0, 1): [-3.5], (0, 2): [0.5], (1, 2): [2.5]}


def values(parts: int, questions: int = 2) -> st.SearchStrategy[np.ndarray]:
    return arrays.arrays(np.float64, (2**parts, questions), elements=st.floats(0, 1, width=32))


some_parts = st.integers(1, 5)


@given(some_parts.flatmap(values))
def test_shares_sum_to_the_gain(v: np.ndarray) -> None:
    assert Coalitions(v).shares().sum(axis=0) == pytest.approx(v[-1] - v[0], abs=1e-12)


@given(some_parts.flatmap(values))
def test_shares_are_the_mean_over_all_orders(v: np.ndarray) -> None:
    """Brute force: let the parts join one by one, in every order."""
    parts = len(v).bit_length() - 1
    orders = list(permutations(range(parts)))
    expected = np.zeros((parts, v.shape[1]))
    for order in orders:
        present = 0
        for part in order:
            expected[part] += (v[present | 1 << part] - v[present]) / len(orders)
            present |= 1 << part
    assert Coalitions(v).shares() == pytest.approx(expected, abs=1e-12)


def from_function(parts: int, value: Callable[[frozenset[int]], float]) -> Coalitions:
    rows = [frozenset(i for i in range(parts) if m >> i & 1) for m in range(2**parts)]
    return Coalitions(np.array([[value(row)] for row in rows]))


@given(values(4, 1))
def test_interchangeable_parts_get_equal_shares(v: np.ndarray) -> None:
    """The value asks how many of parts 0 and 2 are on, not which."""

    def value(on: frozenset[int]) -> float:
        return float(v[len(on & {0, 2}) + 4 * (1 in on) + 8 * (3 in on), 0])

    shares = from_function(4, value).shares()
    assert shares[0] == pytest.approx(shares[2], abs=1e-12)


@given(values(3, 1), st.floats(-1, 1))
def test_a_part_that_does_nothing_gets_nothing(v: np.ndarray, worth: float) -> None:
    def value(on: frozenset[int]) -> float:
        return float(v[sum(1 << i for i in on - {1}), 0])

    assert from_function(3, value).shares()[1] == pytest.approx([0], abs=1e-12)

    # And one that always adds the same gets just that.
    always = from_function(3, lambda on: value(on) + worth * (1 in on))
    for effect in (always.shares()[1], always.cost(1), always.alone(1), always.main_effect(1)):
        assert effect == pytest.approx([worth], abs=1e-12)


@given(values(3), values(3), st.floats(-2, 2))
def test_effects_are_linear(v: np.ndarray, w: np.ndarray, factor: float) -> None:
    sums, a, b = Coalitions(v + factor * w), Coalitions(v), Coalitions(w)
    assert sums.shares() == pytest.approx(a.shares() + factor * b.shares(), abs=1e-9)
    for pair, effect in sums.interactions().items():
        expected = a.interactions()[pair] + factor * b.interactions()[pair]
        assert effect == pytest.approx(expected, abs=1e-9)


def test_eight_parts() -> None:
    """Part i adds i + 1, and the pair 0, 7 one more, which they share."""
    effects = from_function(8, lambda on: sum(i + 1 for i in on) + ({0, 7} <= on))
    assert effects.shares()[:, 0] == pytest.approx([1.5, 2, 3, 4, 5, 6, 7, 8.5])
    assert {pair: x[0] for pair, x in effects.interactions().items() if abs(x[0]) > 1e-9} == {
        (0, 7): pytest.approx(1)
    }


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e12])
def test_shares_that_miss_the_gain_are_refused(value: float) -> None:
    v = np.array([0.1, 0.3, 0.7, value, 0.2, 0.9, 1.1 * value, 1 / 3])[:, None]
    with np.errstate(invalid="ignore"), pytest.raises(ArithmeticError, match="shares miss"):
        Coalitions(v).shares()


def test_missing_combinations_are_refused() -> None:
    with pytest.raises(ValueError, match="3 combinations"):
        Coalitions(np.zeros((3, 1)))
