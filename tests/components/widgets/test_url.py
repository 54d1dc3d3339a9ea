"""The address of a view."""

import pytest

from components.widgets import url


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param({}, "/cases", id="bare"),
        pytest.param({"run": "r1", "tag": None, "minor": False, "search": ""}, "/cases?run=r1", id="empty-is-absent"),
        pytest.param({"model": "a&b=c d"}, "/cases?model=a%26b%3Dc+d", id="escaped"),
        pytest.param({"evaluator": ["a", "b"]}, "/cases?evaluator=a&evaluator=b", id="repeated"),
        pytest.param({"minor": True, "iou": 0.5, "page": 2}, "/cases?minor=1&iou=0.5&page=2", id="typed"),
    ],
)
def test_href(values: dict, expected: str) -> None:
    assert url.href("cases", **values) == expected


def test_the_start_page_is_the_root() -> None:
    assert url.href("leaderboard", run="r1") == "/leaderboard?run=r1"


@pytest.mark.parametrize("name", url.PAGES)
def test_every_page_has_a_file(name: str) -> None:
    assert (url.ROOT / "pages" / f"{name}.py").is_file()


def test_every_file_is_a_page() -> None:
    files = {path.stem for path in (url.ROOT / "pages").glob("*.py")} - {"__init__"}
    assert files == set(url.PAGES)
