"""The README says what the code says."""

import re
from pathlib import Path

from metrics.reports.catalogue import TABLE, markdown_table


def test_the_table_of_evaluators_is_the_registrys(project: Path) -> None:
    text = (project / "README.md").read_text(encoding="utf-8")
    found = TABLE.search(text)
    assert found is not None
    assert found[2] == markdown_table(), "stale: `make readme` writes it anew"


def test_every_file_it_names_exists(project: Path) -> None:
    text = (project / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("http") or (project / target).exists(), target
