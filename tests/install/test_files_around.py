"""The files for Docker, dev containers, pre-commit and citations: well formed, and true to the project."""

import json
import re
import shlex
from datetime import date
from typing import Any

import pytest
import yaml

from metrics import __version__
from metrics.cli.main import parser
from tests.install.conftest import PROJECT

DOCKERFILE = (PROJECT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
STEPS = [tuple(line.split(maxsplit=1)) for line in DOCKERFILE.splitlines() if re.match(r"[A-Z]+ ", line)]
MAKEFILE = (PROJECT / "Makefile").read_text(encoding="utf-8")


def test_the_changelog_begins_with_this_version_and_its_date() -> None:
    headings = re.findall(r"^## (.*)$", (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    versions, dates = zip(*(heading.split(" — ") for heading in headings), strict=True)
    assert versions[0] == __version__
    assert [*dates] == sorted(map(str, map(date.fromisoformat, dates)), reverse=True)


def of_yaml(name: str) -> Any:
    return yaml.safe_load((PROJECT / name).read_text(encoding="utf-8"))


def copied() -> list[str]:
    """What the Dockerfile copies from the project."""
    sources = [rest.split()[:-1] for step, rest in STEPS if step == "COPY" and "--from" not in rest]
    return [name for names in sources for name in names]


@pytest.mark.parametrize("name", copied())
def test_what_the_image_copies_exists_and_is_sent(name: str) -> None:
    assert (PROJECT / name).exists()
    assert f"!{name}" in (PROJECT / ".dockerignore").read_text(encoding="utf-8").splitlines()


def test_what_the_wheel_takes_is_in_the_image() -> None:
    packaged = (
        (PROJECT / "pyproject.toml").read_text(encoding="utf-8").partition("force-include]\n")[2].split("\n\n")[0]
    )
    tops = {line.split('"')[1] for line in packaged.splitlines()}
    assert tops
    assert [top for top in tops if not any(top == name or top.startswith(f"{name}/") for name in copied())] == []


def test_the_image_runs_a_command_that_assay_knows_as_an_ordinary_user() -> None:
    *_, user = (rest for step, rest in STEPS if step == "USER")
    assert user not in ("root", "0")
    (command,) = (json.loads(rest) for step, rest in STEPS if step == "CMD")
    assert command[0] == "assay"
    options = parser().parse_args(command[1:])
    assert (options.address, options.port) == ("0.0.0.0", 8501)
    (health,) = (rest for step, rest in STEPS if step == "HEALTHCHECK")
    assert f"127.0.0.1:{options.port}/_stcore/health" in health
    (volume,) = (rest for step, rest in STEPS if step == "VOLUME")
    (variables,) = (rest for step, rest in STEPS if step == "ENV")
    assert f"ASSAY_WORKSPACE={volume}" in shlex.split(variables)


def test_the_extras_of_the_image_exist() -> None:
    (chosen,) = (rest.partition("=")[2] for step, rest in STEPS if step == "ARG")
    declared = re.findall(r"^([a-z-]+) = \[", (PROJECT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(chosen.split(",")) <= set(declared)
    assert of_yaml("compose.yaml")["services"]["studio"]["build"]["args"]["EXTRAS"] == f"${{EXTRAS:-{chosen}}}"


def test_compose_keeps_the_studio_on_this_machine_and_its_workspace() -> None:
    found = of_yaml("compose.yaml")
    studio = found["services"]["studio"]
    assert studio["ports"] == ["127.0.0.1:${PORT:-8501}:8501"]
    (mount,) = studio["volumes"]
    name, _, place = mount.partition(":")
    assert name in found["volumes"]
    assert ("VOLUME", place) in STEPS


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
