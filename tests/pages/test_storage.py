"""A workspace that cannot be used: the studio says why in one message, without a traceback."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

TEXT = "there is a file where a folder is needed; choose another folder, then do it again: what is done is kept"


def test_a_workspace_that_is_a_file(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("kept")
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path / "file" / "w"))
    app = AppTest.from_file(str(project / "app.py"), default_timeout=120).run()
    assert not app.exception
    assert [error.value for error in app.error] == ["The workspace cannot be used."]
    (text,) = app.text
    assert text.value.startswith(f"{tmp_path}/file/")
    assert text.value.endswith(f": {TEXT}")
