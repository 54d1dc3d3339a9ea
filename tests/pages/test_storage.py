"""A workspace that cannot be used: every page says why in one message, without a traceback, and none calls it empty."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import PROJECT
from tests.pages.test_damaged_runs import open_studio

TEXT = "there is a file where a folder is needed; choose another folder, then do it again: what is done is kept"
PAGES = sorted(path.stem for path in (PROJECT / "pages").glob("[a-z]*.py"))


@pytest.mark.parametrize("name", ["app", *PAGES])
def test_a_workspace_that_is_a_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("kept")
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path / "file" / "w"))
    app = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=300).run() if name == "app" else open_studio(name)
    assert not app.exception
    assert [error.value for error in app.error] == ["The workspace cannot be used."]
    told = app.text[-1].value
    assert told.startswith(f"{tmp_path}/file/")
    assert told.endswith(f": {TEXT}")
