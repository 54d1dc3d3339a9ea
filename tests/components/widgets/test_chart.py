"""Charts as pictures: the name of the file, and the one button."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from components.widgets.chart import file_name
from metrics.presentation.palette import MUTED

NAMES = {
    "words": ("Box plots of Faithfulness over the cases", "box-plots-of-faithfulness-over-the-cases"),
    "marks": ("AP ↑, of a/b: ../../etc (95 %)", "ap-of-a-b-etc-95"),
    "other scripts": ("Genauigkeit für 模型 одна", "genauigkeit-für-模型-одна"),
    "nothing to say": ("↑ …", "chart"),
    "long": ("word " * 40, "-".join(["word"] * 16)),
}


@pytest.mark.parametrize(("alt", "name"), NAMES.values(), ids=NAMES.keys())
def test_file_name(alt: str, name: str) -> None:
    assert file_name(alt) == name


def test_a_chart_has_one_button_in_room_of_its_own() -> None:
    def page() -> None:
        import plotly.graph_objects as go

        from components.widgets.chart import chart

        chart(go.Figure(go.Bar(x=[1], y=[2])).update_layout(height=200, margin_t=8), "bars", "One bar")
        room = go.Figure(go.Bar(x=[1], y=[2])).update_layout(margin_t=60)
        chart(room.update_xaxes(title="x", tickfont_color="red"), "room", "One bar")

    bars, room = (element.proto for element in AppTest.from_function(page).run().get("plotly_chart"))
    config = json.loads(bars.config)
    assert config["modeBarButtons"] == [["toImage"]]
    assert config["toImageButtonOptions"] == {"format": "png", "scale": 2, "filename": "one-bar"}
    assert (config["displayModeBar"], config["displaylogo"]) == (True, False)
    layouts = [json.loads(proto.spec)["layout"] for proto in (bars, room)]
    assert [layout["margin"]["t"] for layout in layouts] == [30, 60]
    assert layouts[0]["height"] == 200  # the page keeps its layout
    across = layouts[1]["xaxis"]
    assert (across["tickfont"]["color"], across["title"]["font"]["color"]) == ("red", MUTED[False])
