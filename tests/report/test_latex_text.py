"""Any text as LaTeX."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engram_hydra.report.latex_text import escaped

# All that may stand in an escaped text: plain signs, and these commands. Nothing is left of it then.
ALLOWED = re.compile(
    r"[A-Za-z0-9 .,:;!?\"()/=+@'`\-]"
    r"|\\[{}$&#%_]"
    r"|\\(textbackslash|textasciicircum|textasciitilde|textless|textgreater|textbar|textendash"
    r"|textemdash|textquotedblleft|textquotedblright|dots|copyright|allowbreak"
    r"|ss|ae|AE|oe|OE|o|O|l|L|i|S)\{\}"
    r"|\\[`'^~=u.\"rHvc]\{\\?[A-Za-z]\}"
    r"|\$(-|\\[a-zA-Z]+)\$"
    r"|\{[][*]\}"
    r"|\{\}"
)


@given(st.text())
@example("\\{}$&#%_^~<>|[]*--''``")
@example("\ud800\x00\u4e2d")
def test_nothing_is_left_that_tex_would_act_on(text: str) -> None:
    shown = escaped(text)
    assert ALLOWED.sub("", shown) == ""
    assert not re.search("--|''|``|[?!]`", shown)


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126)))
def test_every_sign_can_be_read_back(text: str) -> None:
    signs = {escaped(chr(code)): chr(code) for code in range(33, 127)}
    assert len(signs) == 94  # no two alike
    longest_first = sorted(map(re.escape, signs), key=len, reverse=True)
    shown = escaped(text).replace(r"\allowbreak{}", "")
    assert re.sub("|".join(longest_first), lambda found: signs[found[0]], shown) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("fc_sh_6k: 100% & $5", r"fc\_sh\_6k: 100\% \& \$5"),
        ("<script>", r"\textless{}script\textgreater{}"),
        ("Zoë, naïve, Åse, ñ, ç", r"Zo\"{e}, na\"{\i}ve, \r{A}se, \~{n}, \c{c}"),
        ("e\u0301", r"\'{e}"),
        ("漢", "{[}U+6F22{]}"),
        ("a\tb\n\nc\u2028d", "a b c d"),
        ("a\x00b", "a{[}U+0000{]}b"),
        ("−1 × … ∅", r"$-$1 $\times$ \dots{} $\emptyset$"),
        ("-- ''", "-{}-{} '{}'{}"),
        ("", ""),
    ],
)
def test_examples(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_a_long_word_may_be_broken_and_keeps_its_characters() -> None:
    shown = escaped("0123456789abcdef0123456789abcdef")
    assert shown.replace(r"\allowbreak{}", "") == "0123456789abcdef0123456789abcdef"
    assert shown.count(r"\allowbreak{}") == 3
    assert "allowbreak" not in escaped("0123456789abcdef0123")
