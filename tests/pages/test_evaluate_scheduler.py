"""Where a run is computed, as the page Evaluate offers it."""

import pytest
from streamlit.testing.v1 import AppTest


def chooser() -> None:
    import streamlit as st

    from components.views.setup.run_start import _draw_schedulers

    st.text(f"chosen: {_draw_schedulers()}")


def test_only_schedulers_that_the_owner_allows_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_SCHEDULERS", raising=False)
    assert not AppTest.from_function(chooser).run().selectbox
    monkeypatch.setenv("ASSAY_SCHEDULERS", "tcp://one:8786 tls://two:8786")
    page = AppTest.from_function(chooser).run()
    assert page.text[0].value == "chosen: None"
    assert page.selectbox[0].options == ["this machine", "tcp://one:8786", "tls://two:8786"]
    page.selectbox[0].select("tls://two:8786").run()
    assert page.text[0].value == "chosen: tls://two:8786"
