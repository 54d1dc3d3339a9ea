"""What pages share: callbacks that come too late, tables, charts as pictures, literal texts, the server's log."""

import json
import logging
import threading
from collections.abc import Callable

import pytest
from starlette.websockets import WebSocketDisconnected
from streamlit.testing.v1 import AppTest

from components.widgets import url
from components.widgets.chart import file_name
from components.widgets.frame import scripts
from components.widgets.literal import literal
from metrics.presentation.palette import MUTED
from tests.conftest import PROJECT


def drawn() -> None:
    """A page with widgets that are gone when their callbacks run, the run that is open picked again, and charts."""
    import pandas as pd
    import plotly.graph_objects as go
    import streamlit as st

    from components.views.objects import point_controls
    from components.widgets import controls, filters, frame
    from components.widgets.chart import chart
    from components.widgets.tables import records
    from metrics.analysis import OperatingPoint

    filters._write("search", "filter-search")
    filters._write_edges("score", "filter-score", (0.0, 1.0))
    controls._write("view", "control-view", "first", ("key",))
    point_controls._choose_whose("point-score", "run", OperatingPoint(0.5, 0.5))
    frame._pick_run("run_picker-finished")
    st.session_state["picker"] = "r"
    frame._pick_run("picker")
    records(pd.DataFrame({"n": [1, None]}), {"n": "n"}, "table")
    chart(go.Figure(go.Bar(x=[1], y=[2])).update_layout(height=200, margin_t=8), "bars", "One bar")
    room = go.Figure(go.Bar(x=[1], y=[2])).update_layout(margin_t=60)
    chart(room.update_xaxes(title="x", tickfont_color="red"), "room", "One bar")


@pytest.fixture(scope="module")
def page() -> AppTest:
    page = AppTest.from_function(drawn, default_timeout=300)
    for name, value in {"run": "r", "search": "search", "page": "page", "key": "key"}.items():
        page.query_params[name] = value
    assert not page.run().exception
    return page


def test_a_callback_that_comes_too_late_and_the_run_that_is_open_leave_the_address_alone(page: AppTest) -> None:
    assert set(page.query_params) == {"run", "search", "page", "key"}


def test_a_missing_number_is_a_dash(page: AppTest) -> None:
    (table,) = page.dataframe
    assert table.proto.placeholder == "–"


def test_a_chart_has_one_button_in_room_of_its_own(page: AppTest) -> None:
    bars, room = (element.proto for element in page.get("plotly_chart"))
    config = json.loads(bars.config)
    assert config["modeBarButtons"] == [["toImage"]]
    assert config["toImageButtonOptions"] == {"format": "png", "scale": 2, "filename": "one-bar"}
    assert (config["displayModeBar"], config["displaylogo"]) == (True, False)
    layouts = [json.loads(proto.spec)["layout"] for proto in (bars, room)]
    assert [layout["margin"]["t"] for layout in layouts] == [30, 60]
    assert layouts[0]["height"] == 200  # the page keeps its layout
    across = layouts[1]["xaxis"]
    assert (across["tickfont"]["color"], across["title"]["font"]["color"]) == ("red", MUTED[False])


@pytest.mark.parametrize(("alt", "name"), [
    ("Box plots of Faithfulness over the cases", "box-plots-of-faithfulness-over-the-cases"),
    ("AP ↑, of a/b: ../../etc (95 %)", "ap-of-a-b-etc-95"), ("Genauigkeit für 模型 одна", "genauigkeit-für-模型-одна"),
    ("↑ …", "chart"), ("word " * 40, "-".join(["word"] * 16)),
], ids=["words", "marks", "other scripts", "nothing to say", "long"])  # fmt: skip
def test_file_name_of_a_chart(alt: str, name: str) -> None:
    assert file_name(alt) == name


def test_the_scripts_that_are_loaded_ahead_are_those_of_streamlit() -> None:
    names = sorted(name.partition(".")[0] for name in scripts())
    assert names == ["DataFrame", "PlotlyChart", "StreamlitSyntaxHighlighter"]


@pytest.mark.attack("model", "Markdown in a name", "every mark is escaped")
def test_every_mark_is_escaped_and_lines_are_joined() -> None:
    assert literal("a_b *c*\n# d :red[e]") == r"a\_b \*c\* \# d \:red\[e\]"


@pytest.mark.parametrize(
    ("failure", "lines"),
    [
        pytest.param(WebSocketDisconnected('Cannot call "send" once a close message has been sent.'), 0, id="gone"),
        pytest.param(RuntimeError("Unexpected ASGI message"), 1, id="a fault of the server's"),
        pytest.param(None, 1, id="a line without a traceback"),
    ],
)
def test_the_log_has_nothing_of_browsers_that_go_away(failure, lines, caplog):
    logging.getLogger("uvicorn.error").error("Exception in ASGI application\n", exc_info=failure)
    assert len(caplog.records) == lines


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
def test_address_of_a_view(values: dict, expected: str) -> None:
    assert url.href("cases", **values) == expected


def test_every_file_is_a_page() -> None:
    assert {path.stem for path in (url.ROOT / "pages").glob("*.py")} - {"__init__"} == set(url.PAGES)


def offered() -> None:
    """A page with a download that is made of what the session knows of its visitor."""
    import streamlit as st

    from components.widgets.controls import download

    st.session_state["visitor"] = "Ada"
    download("Get it", lambda: str(st.session_state["visitor"]), "visitor.txt")


def test_a_download_is_made_as_in_the_page_though_the_server_asks_for_it_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Callable[[], str]] = []
    monkeypatch.setattr("streamlit.download_button", lambda _label, data, *_, **_options: made.append(data))
    with monkeypatch.context() as patch:
        answers: list[str] = []
        patch.setattr("threading.excepthook", lambda failure: answers.append(str(failure.exc_value)))
        assert not AppTest.from_function(offered).run().exception
        asked = threading.Thread(target=lambda: answers.append(made[0]()))
        asked.start()
        asked.join()
    assert answers == ["Ada"]


def test_downloads_are_drawn_in_one_place() -> None:
    drawing = {
        path.name
        for folder in ("pages", "components")
        for path in (PROJECT / folder).rglob("*.py")
        if "download_button(" in path.read_text(encoding="utf-8")
    }
    assert drawing == {"controls.py"}
