"""Where a text is cut that is longer than the model's window."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

Span = tuple[int, int]  # from the first, to before the second


def windows(words: Sequence[int | None], room: int) -> list[Span]:
    """Overlapping windows of at most ``room`` word pieces, of which there are more, in their order.

    ``words`` tells which word each piece belongs to. Windows begin and end between words, so that
    their pieces stay the same when they stand alone; only a word longer than half a window is cut.
    Each is as long as that allows, and begins half a window or less after the one before it: whatever
    is no longer than about half a window stands whole in one of them. The last ends with the text.
    """
    n, half = len(words), (room + 1) // 2
    begins = [i for i in range(n) if i == 0 or words[i] != words[i - 1]]

    def between_words(piece: int, after: int) -> int:
        """The nearest place before ``piece``, or there."""
        place = begins[bisect_right(begins, piece) - 1]
        return place if place > after else piece

    spans: list[Span] = []
    start = 0
    while n - start > room:
        end = between_words(start + room, start + half - 1)
        if not spans or end > spans[-1][1]:  # else it lies within the one before
            spans.append((start, end))
        start = between_words(start + half, start)
    next_word = bisect_left(begins, n - room)
    first = begins[next_word] if next_word < len(begins) else n
    return [*spans, (min(first, start), n)]
