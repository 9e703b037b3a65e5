"""Where long texts are cut: everything stands in a window, and words stay whole."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from engram_hydra.embedders.windows import windows


@st.composite
def long_texts(draw: st.DrawFn) -> tuple[list[int | None], int]:
    """The words that the pieces of a text belong to, and a window that holds fewer."""
    lengths = draw(st.lists(st.integers(1, draw(st.sampled_from([1, 4, 40]))), min_size=2))
    words = [word for word, length in enumerate(lengths) for _ in range(length)]
    return [*words], draw(st.integers(1, len(words) - 1))


@settings(max_examples=400, deadline=None)
@given(long_texts())
def test_windows_cover_the_text_overlap_and_fit(text: tuple[list[int | None], int]) -> None:
    words, room = text
    spans = windows(words, room)
    assert spans[0][0] == 0
    assert spans[-1][1] == len(words)
    for begin, end in spans:
        assert 0 < end - begin <= room
    for (begin, end), (next_begin, next_end) in pairwise(spans):
        assert begin < next_begin <= end < next_end


@settings(max_examples=400, deadline=None)
@given(long_texts())
def test_what_is_shorter_than_half_a_window_stands_whole_in_one(
    text: tuple[list[int | None], int],
) -> None:
    words, room = text
    spans = windows(words, room)
    shorter = room // 2 - max(words.count(word) for word in set(words)) + 2  # by the longest word
    for begin in range(len(words) - shorter + 1 if shorter > 0 else 0):
        assert any(a <= begin and begin + shorter <= b for a, b in spans)


@settings(max_examples=400, deadline=None)
@given(long_texts())
def test_only_words_longer_than_half_a_window_are_cut(
    text: tuple[list[int | None], int],
) -> None:
    words, room = text
    longest = max(words.count(word) for word in set(words))
    for cut in {cut for span in windows(words, room) for cut in span} - {0, len(words)}:
        if longest <= room // 2:
            assert words[cut - 1] != words[cut]


def test_windows_of_single_pieces_are_full_and_half_a_window_apart() -> None:
    assert windows(range(10), 4) == [(0, 4), (2, 6), (4, 8), (6, 10)]
    assert windows(range(11), 4) == [(0, 4), (2, 6), (4, 8), (6, 10), (7, 11)]
    assert windows(range(9), 5) == [(0, 5), (3, 8), (4, 9)]
    assert windows(range(3), 1) == [(0, 1), (1, 2), (2, 3)]


def test_a_cut_moves_back_to_the_beginning_of_a_word() -> None:
    # Of eight pieces, 3 and 4 are one word, and so are 5 and 6.
    assert windows([0, 1, 2, 3, 3, 4, 4, 5], 4) == [(0, 3), (2, 5), (3, 7), (5, 8)]
