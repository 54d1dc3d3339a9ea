"""The code blocks of the documentation."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import PROJECT

FILES = sorted([*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(?P<language>\w*)[ \t]*(?P<info>[^\n]*)\n(?P<text>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
SHOWN = ("text", "json", "yaml")  # languages of blocks that show something and are not executed


@dataclass(frozen=True)
class Block:
    """A fenced block: the words after its language, and the line of the file that its text begins in.

    `not-run: REASON` says that it is not executed, `until: TEXT` that its command runs until it prints that,
    `file: PATH` that it is a file of the project, `input: NAME` one that later commands read.
    """

    language: str
    info: str
    text: str
    line: int

    def option(self, name: str) -> str | None:
        """Return what follows `NAME:` after the language; None where it does not stand there."""
        return self.info.removeprefix(f"{name}:").strip() if self.info.startswith(f"{name}:") else None

    def commands(self) -> list[str]:
        """Return the commands of a bash block: a command a line, or more where lines end in a backslash."""
        whole = re.sub(r"\\\n\s*", "", self.text)
        return [line.strip() for line in whole.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def blocks(file: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a Markdown file, in order."""
    text = file.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start("text")) + 1
        yield Block(found["language"], found["info"].strip(), found["text"], line)
