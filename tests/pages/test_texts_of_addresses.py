"""Texts of an address that a page repeats stay text: an image in them would call home."""

import pytest

from metrics.store import Run
from tests.pages.conftest import Open

IMAGE = "![](http://127.0.0.1:9/x.png)"


@pytest.mark.parametrize(
    ("name", "params"),
    [
        pytest.param("leaderboard", {"run": IMAGE}, id="run"),
        pytest.param("cases", {"slice": IMAGE}, id="slice"),
        pytest.param("evaluators", {"evaluator": IMAGE}, id="evaluator"),
        pytest.param("suites", {"suite": IMAGE}, id="suite"),
    ],
)
def test_an_image_in_an_address_stays_text(run: Run, open_page: Open, name: str, params: dict[str, str]) -> None:
    page = open_page(name, **params)
    assert not any(IMAGE in error.value for error in page.error)
