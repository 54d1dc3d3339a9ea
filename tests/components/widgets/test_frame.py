"""What every page begins with, as far as no browser is needed."""

from components.widgets.frame import scripts


def test_the_scripts_that_are_loaded_ahead_are_those_of_streamlit() -> None:
    assert sorted(name.partition(".")[0] for name in scripts()) == [
        "DataFrame",
        "PlotlyChart",
        "StreamlitSyntaxHighlighter",
    ]
