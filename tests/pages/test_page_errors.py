"""An error of a page is a card of our own: what is left, what to do, and details without a user's data."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from components.data.error_reports import error_report
from components.widgets import page_error, url
from metrics.core.errors import AssayError, InputError, RunCorrupt, StorageError
from tests.pages import errors_page, studio_logs
from tests.pages.conftest import PROJECT, Open, serving, settle
from tests.pages.reading import labelled

PAGES = sorted(path.stem for path in (PROJECT / "pages").glob("[a-z]*.py"))


@pytest.fixture
def handled(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest hands errors to the studio's handler, as its server does."""
    handler = property(lambda _: page_error.draw_error, lambda *_: None)
    monkeypatch.setattr(LocalScriptRunner, "_on_script_error", handler, raising=False)


def opened(**state: object) -> AppTest:
    page = AppTest.from_file(str(Path(errors_page.__file__)), default_timeout=300)
    for name, value in state.items():
        page.session_state[name] = value
    return page


def fail_at_once(page: AppTest) -> None:
    page.query_params["fail"] = "1"
    page.run()


def fail_in_a_callback(page: AppTest) -> None:
    labelled(page.run().button, "Fail in a callback").click().run()


def fail_in_a_fragment(page: AppTest) -> None:
    page.session_state["fragments"] = True
    page.run()


def fail_in_a_dialog(page: AppTest) -> None:
    page.session_state["dialogs"] = True
    page.run()


@pytest.mark.usefixtures("handled")
@pytest.mark.parametrize("name", ["app", *PAGES])
def test_no_page_shows_an_error_of_its_own_kind(name: str, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever page fails, also one that is opened without app.py: a card, and no traceback."""

    def fail(*_: object, **__: object) -> str:
        raise KeyError(errors_page.SECRET)

    monkeypatch.setattr("components.widgets.frame.frame", fail)
    monkeypatch.setattr("components.widgets.frame.begin", lambda: None)
    monkeypatch.setattr("components.widgets.frame.navigation", fail)
    page = AppTest.from_file(str(PROJECT / ("app.py" if name == "app" else f"pages/{name}.py")), default_timeout=300)
    page.run()
    assert not page.exception
    assert [each.value for each in page.subheader] == [page_error.TITLE]
    assert "Try again" in [button.label for button in page.button]
    assert errors_page.SECRET not in str(page.main)


@pytest.mark.usefixtures("handled")
@pytest.mark.parametrize("fail", [fail_at_once, fail_in_a_callback, fail_in_a_fragment, fail_in_a_dialog])
def test_an_error_is_a_card_wherever_it_comes_up(fail, caplog):
    page = opened()
    with caplog.at_level(logging.ERROR):
        fail(page)
    assert not page.exception
    assert [each.value for each in page.subheader] == [page_error.TITLE]
    details = page.code[0].value
    assert details.startswith("KeyError at ")
    assert "in fail" in details
    assert errors_page.SECRET not in str(page.main), "the text of an error may quote what a user gave"
    assert sum(record.exc_info is not None for record in caplog.records) == 1, "in the log once"


def test_the_place_is_ours_and_without_folders_of_a_user() -> None:
    try:
        error_report(None)  # type: ignore[arg-type]
    except AttributeError as failure:
        report = error_report(failure, "evaluate")
    place, about = report.splitlines()
    assert place.startswith("AttributeError at components/data/error_reports.py:")
    assert place.endswith("on the page evaluate")
    assert about.startswith("Assay ")
    assert "/home" not in report
    assert str(Path.home()) not in report


@pytest.mark.usefixtures("handled")
@pytest.mark.parametrize(("failure", "said"), [
    (InputError("a.csv: found nothing; expected rows"), "found nothing"),
    (RunCorrupt("table scores differs from its seal"), "differs from its seal"),
    (StorageError("/w: the disk is full"), "the disk is full"),
    (AssayError("Ask who runs this studio."), "Ask who runs"),
], ids=lambda given: type(given).__name__)  # fmt: skip
def test_what_is_written_for_users_is_said_as_it_is(failure: Exception, said: str, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    def page(failure: Exception) -> None:
        raise failure

    shown = AppTest.from_function(page, kwargs={"failure": failure}, default_timeout=300).run()
    assert not shown.exception
    words = [*shown.error, *shown.text, *shown.code]
    assert any(said in each.value.replace("\\", "") for each in words)
    assert page_error.TITLE not in [each.value for each in shown.subheader]


@pytest.mark.browser
def test_in_a_browser(page: Page, tmp_path: Path, picture: Callable[[str], None]) -> None:
    with serving(tmp_path, script="tests/pages/errors_server.py") as address:
        for button in ("Fail in a callback", "Fail in a part", "Fail", "Ask"):
            page.goto(address)
            page.get_by_role("button", name=button, exact=True).first.click()
            if button == "Ask":
                page.get_by_role("button", name="Fail in a dialog").click()
            card = page.get_by_role("heading", name=page_error.TITLE)
            expect(card).to_be_visible()
            settle(page)
            picture(button.lower())
            expect(page.get_by_test_id("stException")).to_have_count(0)
            page.get_by_role("button", name="Try again").click()
            expect(card).to_have_count(0)
            expect(page.get_by_text("the end")).to_be_visible()
    said = studio_logs.unread()
    assert said.count("Traceback") == 4, said


@pytest.mark.parametrize("name", [name for name in PAGES if url.place_of(name)[1] and url.place_of(name)[0] != "Runs"])
def test_a_page_without_a_run_has_the_tabs_of_its_place(name: str, workspace: Path, open_page: Open) -> None:
    """Also where there is nothing to show yet: who comes here first finds the rest of the place."""
    del workspace  # empty
    labels = [link.proto.label for link in open_page(name).get("page_link")]
    assert [tab for tab in url.PLACES[url.place_of(name)[0]] if tab not in labels] == []
