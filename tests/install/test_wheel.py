"""The wheel's content: one package, with everything of the studio and no file of the project forgotten."""

import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path, PurePosixPath

import pytest

from metrics import __version__
from tests.install.conftest import PROJECT

STUDIO = PurePosixPath("metrics/studio")
PLACES = {"metrics": PurePosixPath("."), "pages": STUDIO, "components": STUDIO}


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    return {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> dict[str, list[str]]:
    """The wheel's METADATA: every value of each field."""
    content = zipfile.ZipFile(wheel).read(f"assay-{__version__}.dist-info/METADATA").decode()
    message = Parser().parsestr(content)
    return {name: message.get_all(name, []) for name in message}


def test_it_takes_one_name_in_site_packages(names: set[str]) -> None:
    assert {name.partition("/")[0] for name in names} == {"metrics", f"assay-{__version__}.dist-info"}


@pytest.mark.parametrize("top", PLACES)
def test_every_file_of_a_package_is_in_it(names: set[str], top: str) -> None:
    mine = {
        str(PLACES[top] / path.relative_to(PROJECT).as_posix())
        for path in (PROJECT / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert len(mine) >= 20
    assert mine <= names
    assert "metrics/py.typed" in names


def test_the_script_theme_and_samples_are_in_it(names: set[str]) -> None:
    samples = PROJECT / "data" / "samples"
    kept = {str(STUDIO / path.relative_to(PROJECT)) for path in samples.glob("*/**/*") if path.is_file()}
    kept = {name for name in kept if "__pycache__" not in name}
    assert {PurePosixPath(name).name for name in kept} >= {"sample.json", "suite.csv", "instances.json"}
    assert {name for name in names if name.startswith(f"{STUDIO}/data/")} == kept, "scripts that wrote them stay out"
    assert {f"{STUDIO}/app.py", f"{STUDIO}/.streamlit/config.toml"} <= names


def test_metadata(metadata: dict[str, list[str]], names: set[str]) -> None:
    assert metadata["Name"] == ["assay"]
    assert metadata["Version"] == [__version__]
    assert metadata["License-Expression"] == ["Apache-2.0"]
    assert f"assay-{__version__}.dist-info/licenses/LICENSE" in names


def test_the_extras(metadata: dict[str, list[str]]) -> None:
    each = {"studio", "pdf", "judge", "models", "local-judge", "cluster", "remote", "auth"}
    assert set(metadata["Provides-Extra"]) == {*each, "all"}
    declared = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (whole,) = declared["optional-dependencies"]["all"]
    assert set(whole.removeprefix("assay[").removesuffix("]").split(",")) == each
