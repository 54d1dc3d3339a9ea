"""What every page offers: to copy a link to this very view, and the report of the run."""

import json

from components.viewers.browser_component import browser_component
from components.widgets import url


def toolbar(run: str = "") -> None:
    """Draw *Copy link*, and *Report* where there is a run."""
    report = url.href("report", run=run).lstrip("/") if run else None
    packed = json.dumps({"report": report}).encode()
    browser_component("toolbar", "", ("page_parts",))(key="toolbar", data=packed, width="content")
