"""The files for compose, dev containers, pre-commit, citations and versions: well formed, and true to the project."""

import json
import re
from datetime import date
from typing import Any

import yaml

from metrics import __version__
from tests.conftest import PROJECT

MAKEFILE = (PROJECT / "Makefile").read_text(encoding="utf-8")


def of_yaml(name: str) -> Any:
    return yaml.safe_load((PROJECT / name).read_text(encoding="utf-8"))


def test_the_last_release_of_the_changelog_is_this_version_with_its_date() -> None:
    headings = re.findall(r"^## (.*)$", (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    released = headings[headings[0] == "Unreleased" :]
    versions, dates = zip(*(heading.split(" — ") for heading in released), strict=True)
    assert versions[0] == __version__
    assert [*dates] == sorted(map(str, map(date.fromisoformat, dates)), reverse=True)


def test_compose_keeps_the_studio_on_this_machine_and_its_workspace() -> None:
    found = of_yaml("compose.yaml")
    studio = found["services"]["studio"]
    assert studio["ports"] == ["127.0.0.1:${PORT:-8501}:8501"]
    (mount,) = studio["volumes"]
    name, _, place = mount.partition(":")
    assert name in found["volumes"]
    assert f"\nVOLUME {place}\n" in (PROJECT / "Dockerfile").read_text(encoding="utf-8")


def test_the_dev_container_sets_up_by_targets_of_the_makefile() -> None:
    found = json.loads((PROJECT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    make, *targets = found["postCreateCommand"].split()
    assert make == "make"
    assert [target for target in targets if not re.search(rf"^{target}:", MAKEFILE, re.MULTILINE)] == []


def test_the_hooks_before_a_commit_are_local_and_those_of_make_lint() -> None:
    repositories = of_yaml(".pre-commit-config.yaml")["repos"]
    assert [repository["repo"] for repository in repositories] == ["local"]
    commands = [hook["entry"] for hook in repositories[0]["hooks"]]
    assert {command.split()[0] for command in commands} == {".venv/bin/ruff", ".venv/bin/lint-imports"}
    lint = MAKEFILE.partition("\nlint:")[2].partition("\n\n")[0]
    assert all(command.split()[0].replace(".venv/bin", "$(BIN)") in lint for command in commands)


def test_the_citation_is_of_this_version() -> None:
    found = of_yaml("CITATION.cff")
    assert (found["version"], found["license"]) == (__version__, "Apache-2.0")
    assert {"cff-version", "message", "title", "authors", "type"} <= set(found)
