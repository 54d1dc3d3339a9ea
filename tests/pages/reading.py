"""What tests read on a page, and press there."""

from collections.abc import Iterable
from typing import Any

from streamlit.testing.v1 import AppTest


def words(page: AppTest) -> str:
    """Return the texts of a page, a line each."""
    assert not page.exception
    return "\n".join(text.value for text in page.text)


def labelled(widgets: Iterable[Any], label: str) -> Any:
    """Return the first widget of a label."""
    return next(widget for widget in widgets if widget.label == label)


def press(page: AppTest, label: str) -> AppTest:
    """Press the first button of a label; return the page after it."""
    labelled(page.button, label).click().run()
    assert not page.exception
    return page


def give(page: AppTest, index: int, name: str, content: str | bytes) -> AppTest:
    """Upload one file to the uploader at `index`; return the page after it."""
    uploader = page.file_uploader[index]
    file = (name, content.encode() if isinstance(content, str) else content, "application/octet-stream")
    uploader.set_value([file] if uploader.accept_multiple_files else file).run()
    assert not page.exception
    return page
