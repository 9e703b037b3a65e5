"""Names that the database takes, each for one figure."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.report.figure_names import LONGEST, figure_names, short

KEYS = st.lists(st.tuples(st.text("aB -_(", max_size=4), st.text("x.=", max_size=3)), unique=True)


def test_words_in_small_letters() -> None:
    assert figure_names([("m", "A x B"), ("m", ""), ("m", "a")]) == ["m.a_x_b", "m", "m.a"]


def test_what_would_read_the_same_has_a_digest_of_its_own() -> None:
    one, other, apart = figure_names([("a-b",), ("a_b",), ("a",)])
    assert one != other and one.startswith("a_b_") and other.startswith("a_b_") and apart == "a"
    assert figure_names([("a_b",), ("a-b",)]) == [other, one]


@given(KEYS)
def test_no_two_keys_share_a_name(keys: list[tuple[str, str]]) -> None:
    assert len(set(figure_names(keys))) == len(keys)


def test_long_names_are_shortened_and_stay_apart() -> None:
    longest = "x" * LONGEST
    assert short(longest) == longest
    names = [f"{longest}{more}{end}" for more in "ab" for end in ("", "_ci_low", "_ci_high")]
    found = [short(name) for name in names]
    assert len(set(found)) == len(names) and max(map(len, found)) <= LONGEST
    for name, ending in zip(found, ("", "_ci_low", "_ci_high") * 2, strict=True):
        start = found[0] if names[found.index(name)][LONGEST] == "a" else found[3]
        assert name == start + ending
