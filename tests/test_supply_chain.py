"""What is installed beside the product: locked, under permissive licences, its known advisories read."""

import re
from datetime import date
from importlib import metadata
from pathlib import Path

import pytest

FREE = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0",
    "CNRI-Python", "ISC", "MIT", "MIT-0", "MIT-CMU", "PSF-2.0", "Zlib",
}  # fmt: skip
# What packages that name no SPDX licence write in place of it.
SPELLED = {
    "3-Clause BSD License": "BSD-3-Clause", "Apache": "Apache-2.0", "Apache 2.0": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0", "Apache License 2.0": "Apache-2.0", "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0", "BSD": "BSD-3-Clause", "BSD License": "BSD-3-Clause",
    "ISC License": "ISC", "ISC License (ISCL)": "ISC", "MIT License": "MIT", "PSFL": "PSF-2.0",
    "Python Software Foundation License": "PSF-2.0", "The MIT License (MIT)": "MIT",
}  # fmt: skip
# Used as published, unchanged, and installed as packages of their own.
READ = {
    "asyncssh": "EPL-2.0 OR GPL-2.0-or-later: the EPL asks for the source of changes to its own files",
    "certifi": "MPL-2.0: the same; a list of certificates",
    "manimgx-fonts": "OFL-1.1: a font, free to embed in documents",
    "noto-cjk-sans-otc": "OFL-1.1: the same",
    "orjson": "MPL-2.0 AND (Apache-2.0 OR MIT): the MPL asks for the source of changes to its own files",
    "shtab": "MPL-2.0: the same",
    "tqdm": "MPL-2.0 AND MIT: the same",
}
LOCKED = re.compile(r"^([a-z0-9.-]+)==([^\s;]+)", re.MULTILINE)
PROJECT = Path(__file__).parents[1]


def locked(*names: str) -> dict[str, str]:
    return {name: version for file in names for name, version in LOCKED.findall((PROJECT / file).read_text("utf-8"))}


def licences(package: str) -> set[str]:
    """Return the licences that a package states, one of which holds or all of which do; empty where it states none."""
    about = metadata.metadata(package)
    given = about.get("License-Expression") or (about.get("License") or "").strip().split("\n")[0]
    if given in ("", "Dual License") or given.startswith("Copyright"):  # its text stands where its name belongs
        kinds = [one.split(" :: ") for one in about.get_all("Classifier") or ()]
        given = " AND ".join(one[-1] for one in kinds if one[0] == "License" and one[-1] != "OSI Approved")
    parts = [given] if given in SPELLED else re.split(r" AND | OR ", re.sub(r"[()]", "", given))
    return {SPELLED.get(part, part) for part in parts if part}


def installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:  # for another machine, such as the time zones of Windows
        return False
    return True


PACKAGES = sorted(filter(installed, locked(".ci/requirements.lock", "requirements.txt")))


@pytest.mark.attack("package", "a package under a licence that the product cannot keep", "only licences that were read")
@pytest.mark.parametrize("package", PACKAGES)
def test_licence(package: str) -> None:
    found = licences(package)
    assert package in READ or (found and found <= FREE), f"{package} is under {found}"


def test_licences_that_were_read_are_of_packages_that_are_used() -> None:
    assert len(PACKAGES) > 0.95 * len(locked(".ci/requirements.lock"))
    assert set(READ) <= set(PACKAGES)
    for package, reason in READ.items():
        assert licences(package) == set(re.split(r" AND | OR ", re.sub(r"[()]", "", reason.split(":")[0])))


def test_advisories_that_are_passed_over_have_a_package_and_a_reason() -> None:
    """`make audit` stops at every other one."""
    known = locked("requirements.txt", *(f".ci/{file.name}" for file in PROJECT.glob(".ci/requirements*")))
    lines = (PROJECT / ".ci" / "advisories.txt").read_text(encoding="utf-8").splitlines()
    entries = [line.split(maxsplit=3) for line in lines if not line.startswith("#")]
    assert entries
    for id, package, reviewed, reason in entries:
        assert re.fullmatch(r"(CVE-\d{4}-\d+|GHSA(-[0-9a-z]{4}){3}|PYSEC-\d{4}-\d+)", id)
        assert package in known
        assert date.fromisoformat(f"{reviewed}-01")
        assert len(reason) > 20


@pytest.mark.attack(
    "package", "the compromised litellm 1.82.7 and 1.82.8 come back", "the lock and its bounds leave them out"
)
def test_compromised_versions_are_not_locked() -> None:
    version = tuple(map(int, locked(".ci/requirements.lock")["litellm"].split(".")[:2]))
    assert version >= (1, 85)
    assert "litellm>=1.85" in (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
