"""Tables of records."""

from streamlit.testing.v1 import AppTest


def test_a_missing_number_is_a_dash() -> None:
    def page() -> None:
        import pandas as pd

        from components.widgets.tables import records

        records(pd.DataFrame({"n": [1, None]}), {"n": "n"}, "table")

    (table,) = AppTest.from_function(page).run().dataframe
    assert table.proto.placeholder == "–"
