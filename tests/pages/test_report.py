"""Report: what do I tell the others?"""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from components import data
from metrics.store import Run


def test_what_the_report_holds(run: Run, open_page: Callable[..., AppTest]) -> None:
    page = open_page("report", run=run.id)
    assert not page.exception
    sections = dict(page.dataframe[0].value.itertuples(index=False))
    assert sections["Leaderboard"].startswith("3 models × ")
    assert sections["Methods"].startswith("1 evaluator")
    assert "sharp" in page.dataframe[1].value["best"].tolist()


@pytest.mark.parametrize(
    ("form", "start"), [("html", b"<!"), ("json", b"{"), ("csv", b"PK"), ("parquet", b"PK"), ("pdf", b"%PDF")]
)
def test_every_format_downloads(run: Run, form: str, start: bytes) -> None:
    assert data.render_report(run.id, form)[: len(start)] == start
