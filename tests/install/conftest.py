"""The wheel, built from the clone, and environments in which it is installed."""

import os
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
UNREACHABLE = ("error sending request", "Failed to fetch", "dns error", "tcp connect error")


@dataclass(frozen=True)
class Installed:
    """An environment with Assay's wheel; commands run in a folder whose own modules must never be taken for ours."""

    folder: Path
    elsewhere: Path

    @property
    def environment(self) -> dict[str, str]:
        """The variables of its commands: nothing leads to the clone."""
        hidden = ("PYTHONPATH", "VIRTUAL_ENV", "ASSAY_WORKSPACE")
        return {name: value for name, value in os.environ.items() if name not in hidden}

    def run(self, command: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a command of the environment to its end."""
        return subprocess.run(
            [self.folder / "bin" / command, *arguments], cwd=self.elsewhere, env=self.environment,
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the clone as it is."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=PROJECT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder with packages that have the names of ours, none of which may ever be imported."""
    folder = tmp_path_factory.mktemp("elsewhere")
    for name in ("metrics", "components", "pages"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(f"raise RuntimeError('{name} of the current folder is imported')\n")
    return folder


def uv(*arguments: str | Path) -> None:
    """Run uv; the test is skipped where no registry can be reached."""
    done = subprocess.run([sys.executable, "-m", "uv", *arguments], capture_output=True, text=True, check=False)
    if any(text in done.stderr for text in UNREACHABLE):
        pytest.skip(f"needs a package registry, which cannot be reached: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def core(wheel: Path, elsewhere: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Assay without any extra in a fresh environment, in the locked versions."""
    folder = tmp_path_factory.mktemp("core") / "venv"
    uv("venv", "--python", sys.executable, folder)
    uv("pip", "install", "--python", folder / "bin" / "python", "-c", PROJECT / "requirements.lock", wheel)
    return Installed(folder, elsewhere)


@pytest.fixture(scope="session")
def whole(wheel: Path, elsewhere: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Assay in an environment of its own that borrows the packages of all extras from the one of the tests."""
    folder = tmp_path_factory.mktemp("whole") / "venv"
    venv.create(folder, with_pip=False)
    uv("pip", "install", "--offline", "--no-deps", "--python", folder / "bin" / "python", wheel)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    borrowed = folder / "lib" / version / "site-packages" / "borrowed.pth"
    borrowed.write_text(sysconfig.get_path("purelib") + "\n")
    return Installed(folder, elsewhere)
