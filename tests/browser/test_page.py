"""The report's page in a real browser, opened from a file."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engram_hydra.report.page import to_html

from made_up_report import HARMFUL, METHODS, QUESTIONS, made_up_blocks


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """``opened(width, **context)``: the page; when the test ends, nothing was fetched or complained."""
    file = tmp_path / "report.html"
    file.write_text(to_html(made_up_blocks(), title="A <report>"), encoding="utf-8")
    said: list[str] = []
    fetched: list[str] = []
    contexts = []

    def open_page(width: int = 1400, **context: Any) -> Any:
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **context))
        page = contexts[-1].new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: fetched.append(request.url))
        page.goto(file.as_uri())
        return page

    yield open_page
    harmed = [context.pages[0].evaluate("window.harmed") for context in contexts]
    for context in contexts:
        context.close()
    assert said == []
    assert set(fetched) == {file.as_uri()}
    assert not any(harmed)


def _first_column(page: Any, table: str) -> list[str]:
    cells = page.locator(f"{table} tbody tr:not(.detail) > :first-child")
    return [str(text).strip() for text in cells.all_inner_texts()]


def test_harmful_text_is_shown_wherever_it_stands(opened: Callable[..., Any]) -> None:
    page = opened()
    assert page.title() == "A <report>"
    assert page.locator("h1").inner_text() == "A made-up report"
    places = (
        "main > p",
        ".statement",
        ".grid tbody th",
        "main > ul:not(.verdicts) > li",
        ".expand",
    )
    for place in places:
        assert page.locator(place).filter(has_text=HARMFUL).count() == 1, place


def test_a_table_is_sorted_by_numbers_and_words_come_last(opened: Callable[..., Any]) -> None:
    page = opened()
    head = page.locator(".grid thead th").nth(1)
    button = head.get_by_role("button")
    button.focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert _first_column(page, ".grid") == [*reversed(METHODS), HARMFUL]
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert _first_column(page, ".grid") == [*METHODS, HARMFUL]
    page.locator(".grid thead th").first.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "none"
    assert _first_column(page, ".grid") == sorted([*METHODS, HARMFUL], key=str.lower)


@pytest.mark.parametrize(
    ("control", "choice", "left"),
    [
        ("Outcome", "right (1) for all shown", [2]),
        ("Outcome", "wrong (0) for all shown", [1]),
        ("Outcome", "mixed or in between", [0]),
        ("Lost by which ablation", METHODS[3], [0]),
        ("Lost by which ablation", "no ablation", [1, 2]),
    ],
)
def test_questions_are_filtered(
    opened: Callable[..., Any], control: str, choice: str, left: list[int]
) -> None:
    page = opened()
    page.get_by_label(control).select_option(label=choice)
    assert _first_column(page, ".questions") == [QUESTIONS[n] for n in left]
    assert page.get_by_role("status").inner_text().startswith(f"{len(left)} of 3 questions")


def test_questions_are_filtered_by_text_and_by_a_methods_outcome(
    opened: Callable[..., Any],
) -> None:
    page = opened()
    page.get_by_label("Method").select_option(label=METHODS[3])
    page.get_by_label("Outcome").select_option(label="wrong (0) for all shown")
    assert _first_column(page, ".questions") == list(QUESTIONS[:2])
    page.get_by_label("Text or id").fill("<SCRIPT>")
    assert _first_column(page, ".questions") == [HARMFUL]


def test_questions_are_sorted(opened: Callable[..., Any]) -> None:
    page = opened()
    value = page.locator(".questions").get_by_role("button", name="Value")
    value.click()
    assert _first_column(page, ".questions") == [QUESTIONS[n] for n in (2, 0, 1)]
    value.click()
    assert _first_column(page, ".questions") == [QUESTIONS[n] for n in (1, 0, 2)]
    value.click()
    assert _first_column(page, ".questions") == list(QUESTIONS)


def test_a_question_opens_and_closes(opened: Callable[..., Any], screenshots: Path) -> None:
    page = opened()
    button = page.get_by_role("button", name=QUESTIONS[0])
    button.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    detail = page.locator(f"#{button.get_attribute('aria-controls')}")
    assert "Emerald City" in detail.inner_text()
    assert re.search(rf"Lost by\s+{METHODS[3]}", detail.inner_text())
    assert detail.locator("summary").all_inner_texts() == [
        f"{method}hit {hit} · gold at 1 · stale at 2"
        for method, hit in zip(METHODS, (1, 1, 1, 0), strict=True)
    ]
    detail.locator("summary").first.click()
    items = detail.locator("details").first.locator("li")
    assert items.all_inner_texts() == [
        "goldOz is ruled by <script>nobody</script>. f1",
        "staleOz was a fairy tale. f2",
    ]
    page.screenshot(path=screenshots / "page.png", full_page=True)
    button.press("Enter")
    assert button.get_attribute("aria-expanded") == "false"
    assert not detail.is_visible()


def test_data_of_a_plot_can_be_copied(opened: Callable[..., Any]) -> None:
    page = opened()
    page.get_by_text("Data as CSV (forest.csv)").click()
    assert page.locator(".data pre").inner_text().startswith("row,against,value,low,high,outcome")
    assert page.get_by_role("img", name="Forest plot").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 590, 1400])
def test_nothing_sticks_out(
    opened: Callable[..., Any], screenshots: Path, width: int, scheme: str
) -> None:
    page = opened(width, color_scheme=scheme)
    for button in page.locator(".expand").all():
        button.click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.screenshot(path=screenshots / f"page-{width}-{scheme}.png", full_page=True)


CONTRAST = """([front, back]) => {
  const light = (css) => {
    const parts = css.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
    const linear = parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const [a, b] = [front, back].map(light).sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(opened: Callable[..., Any], scheme: str) -> None:
    """At least 4.5 to 1, as level AA of WCAG 2 asks for."""
    page = opened(color_scheme=scheme)
    page.get_by_role("button", name=QUESTIONS[0]).click()
    page.mouse.move(0, 0)
    body = page.evaluate("getComputedStyle(document.body).backgroundColor")
    raised = page.locator(".verdict").first.evaluate("e => getComputedStyle(e).backgroundColor")
    assert (page.evaluate(CONTRAST, [body, "rgb(0, 0, 0)"]) > 10) == (scheme == "light")
    for words in (".outcome", ".verdict .id", "main p", "main a", "figcaption", ".lost", ".tag",
                  ".figures", ".item", ".count", "nav a", ".plot text"):  # fmt: skip
        for node in page.locator(words).all():
            front = node.evaluate(
                "e => getComputedStyle(e)[e instanceof SVGElement ? 'fill' : 'color']"
            )
            for back in (body, raised):
                assert page.evaluate(CONTRAST, [front, back]) >= 4.5, (words, front, back)


def test_in_print_there_are_no_controls_and_paper_is_white(
    opened: Callable[..., Any], screenshots: Path
) -> None:
    page = opened(700, color_scheme="dark")
    page.get_by_role("button", name=QUESTIONS[0]).click()
    page.emulate_media(media="print")
    for control in (".controls", "nav", ".data"):
        assert not page.locator(control).first.is_visible(), control
    assert page.locator(".detail").first.is_visible()
    shown = page.locator(".questions .expand:visible").all_inner_texts()
    assert shown == [QUESTIONS[0]]  # of the questions those that were opened
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.pdf(path=screenshots / "page.pdf")


def test_the_keyboard_reaches_the_report_first(opened: Callable[..., Any]) -> None:
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_it_works_in_a_sandboxed_frame(opened: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    inner = html.escape(file.read_text("utf-8"))
    file.write_text(f'<iframe sandbox="allow-scripts" width="590" height="600" srcdoc="{inner}">')
    frame = opened().frame_locator("iframe")
    frame.get_by_role("button", name=QUESTIONS[0]).click()
    assert frame.locator(".detail").first.is_visible()
    frame.get_by_text("Contents").click()
    frame.get_by_role("link", name="The plot").click()
    assert frame.locator(":focus").inner_text() == "The plot"
