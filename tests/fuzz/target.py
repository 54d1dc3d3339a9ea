"""What a fuzz target is: inputs to begin with, and a check that no input may break."""

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import NamedTuple

from metrics.core.errors import AssayError
from tests.fuzz.mutation import mutated

PROJECT = Path(__file__).resolve().parents[2]
CORPUS = Path(__file__).parent / "corpus"


class Input(NamedTuple):
    """Bytes, and the name they have: that of an upload, or of the form in which a reply is read."""

    name: str
    data: bytes

    @property
    def file_name(self) -> str:
        return f"{sha256(self.data).hexdigest()[:8]}-{self.name.replace('/', '%')}"

    @classmethod
    def kept(cls, file: Path) -> "Input":
        return cls(file.name.partition("-")[2].replace("%", "/"), file.read_bytes())


Check = Callable[[Input, Path], None]  # gets an empty folder too
Mutate = Callable[[Input, Sequence[Input], Random], Input]


def usual(given: Input, seeds: Sequence[Input], rng: Random) -> Input:
    """Return the input with other bytes, or now and then with another seed's name."""
    name = rng.choice(seeds).name if rng.random() < 0.1 else given.name
    return Input(name, mutated(given.data, rng, rng.choice(seeds).data))


@dataclass(frozen=True)
class Target:
    """`check` raises one of `allowed` where an input is refused; any other exception is a crash, a wrong answer too."""

    name: str
    seeds: Callable[[], Sequence[Input]]
    check: Check
    allowed: tuple[type[Exception], ...] = (AssayError,)
    mutate: Mutate = usual

    def holds(self, given: Input, folder: Path) -> None:
        """Raise where the target breaks on the input; `folder` is empty."""
        try:
            self.check(given, folder)
        except self.allowed:
            return


def crash_place(failure: BaseException) -> str:
    """Return what tells crashes apart: the exception, and the innermost line of the project."""
    frames = traceback.extract_tb(failure.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(str(PROJECT)) and "/.venv/" not in frame.filename]
    last = (own or frames)[-1]
    return f"{type(failure).__name__} at {last.filename.removeprefix(str(PROJECT) + '/')}:{last.lineno}"


def text_of(data: bytes) -> str:
    """Return bytes as the text that a table or a file may hold."""
    return data.decode("utf-8", "replace")


def any_text(data: bytes) -> str:
    """Return bytes as the text that a model may give: halves of emojis stay in it."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return text_of(data)
