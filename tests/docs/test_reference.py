"""The documentation says what the code says: generated parts, links, the size of the README."""

import re
import runpy
from pathlib import Path

import pytest

from tests.attacks import WHO, attacks
from tests.conftest import PROJECT
from tests.docs.blocks import FENCE, FILES

REFERENCE = runpy.run_path(str(PROJECT / "docs" / "make_reference.py"))
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@pytest.mark.parametrize("name", REFERENCE["GENERATED"])
def test_generated_parts_are_current(name):
    text = (PROJECT / "docs" / REFERENCE["GENERATED"][name][0]).read_text(encoding="utf-8")
    assert REFERENCE["renewed"](name, text) == text, "stale: `make docs` writes it"


def test_the_schema_of_the_project_file_is_current():
    text = (PROJECT / "docs" / "assay.schema.json").read_text(encoding="utf-8")
    assert REFERENCE["project_schema"]() == text, "stale: `make docs` writes it"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_links_lead_somewhere(file):
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", file.read_text(encoding="utf-8"))):
        if target.startswith(("http://", "https://")):
            continue
        path, _, heading = target.partition("#")
        found = (file.parent / path).resolve() if path else file
        assert found.exists(), f"{file.name}: {target}"
        if heading:
            assert heading in headings(found), f"{file.name}: {target}"


def headings(file: Path) -> set[str]:
    """Return the anchors of a file's headings, as GitHub makes them."""
    titles = HEADING.findall(file.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_page_is_reached_from_the_readme():
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    missing = [file.name for file in FILES if str(file.relative_to(PROJECT)) not in text]
    assert missing == ["README.md"]


def test_the_readme_fits_on_a_few_screens():
    assert len((PROJECT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_pictures_are_small_and_used():
    text = "".join(file.read_text(encoding="utf-8") for file in FILES)
    for picture in (PROJECT / "docs" / "images").iterdir():
        assert picture.stat().st_size <= 200_000, picture.name
        assert f"images/{picture.name})" in text, f"{picture.name} is shown nowhere"


def test_every_boundary_has_an_attack():
    assert {one.who for one in attacks()} == set(WHO)
