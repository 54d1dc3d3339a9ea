"""Uploaded files, which may be hostile: stored in one folder under our own names, bounded in size.

The user's file name is only ever shown.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, get_args

from components.data.visitors import action
from components.data.workspace_runs import workspace_path
from metrics.core.file_kinds import (
    ANNOTATION_ENDINGS,
    LOG_ENDINGS,
    PACKED_ENDING,
    RANKING_ENDINGS,
    TABLE_ENDINGS,
    foreign_kind,
    model_of,
)
from metrics.core.files import make_file, make_folder
from metrics.core.suite import Task
from metrics.store.table_files import write

if TYPE_CHECKING:
    import pandas as pd

    from metrics.core.errors import InputProblem
    from metrics.ingest import Reading

ARCHIVES = ("zip",)
TABLES = (*TABLE_ENDINGS, *ANNOTATION_ENDINGS, *LOG_ENDINGS, *RANKING_ENDINGS, *ARCHIVES)
EXPECTED = {  # by ending
    "csv": "a CSV table", "tsv": "a TSV table", "jsonl": "JSON lines", "ndjson": "JSON lines", "json": "JSON",
    "parquet": "a Parquet table", "xlsx": "an Excel workbook", "zip": "a zip archive",
    "xml": "an XML file of annotations", "yaml": "YAML", "yml": "YAML", "arrow": "an Arrow file",
    "feather": "an Arrow file", "eval": "a log of Inspect",
}  # fmt: skip
MOST_BYTES = 2 << 30  # of one file, as server.maxUploadSize in .streamlit/config.toml
TOKEN = re.compile(r"[0-9a-f]{32}\.[a-z]{2,7}")
OF_FILE = re.compile(rf"({TOKEN.pattern})\.(.*)", re.DOTALL)  # TOKEN.NAME=VALUE: what is said of one upload
CHUNK = 1 << 20


def suffix(filename: str, allowed: Iterable[str]) -> str:
    """Return the ending of a file's name; ValueError with the allowed ones if it is none of those."""
    kinds = tuple(allowed)
    found = filename.rpartition(".")[2].lower() if "." in filename else ""
    if found not in kinds:
        raise ValueError(
            f"{shown_name(filename)} ends in {found[:12] or 'nothing'!r}; a file ends in one of {', '.join(kinds)}"
        )
    return found


def keep(stream: BinaryIO, filename: str, folder: Path, allowed: Iterable[str] = TABLES, most: int = MOST_BYTES) -> str:
    """Store an upload under a name made from its content and return that name; equal files are stored once.

    ValueError if the ending is not allowed, if the file is another kind of file than its name says (a PNG called CSV),
    and if it is empty or larger than `most` bytes.
    """
    kind = suffix(filename, allowed)
    make_folder(folder)
    digest, size = hashlib.sha256(), 0
    part = folder / f".part-{os.getpid()}-{os.urandom(6).hex()}"
    try:
        with make_file(part).open("wb") as target:
            while chunk := stream.read(CHUNK):
                if not size and kind in EXPECTED and (foreign := foreign_kind(chunk, filename)):
                    raise ValueError(f"{shown_name(filename)} is {foreign}, not {EXPECTED[kind]}")
                size += len(chunk)
                if size > most:
                    raise ValueError(f"{shown_name(filename)} is larger than {most / (1 << 20):,.0f} MiB")
                digest.update(chunk)
                target.write(chunk)
        if not size:
            raise ValueError(f"{shown_name(filename)} is empty")
        digest.update(shown_name(filename).encode())  # two names of one content are two uploads: the name is the model
        token = f"{digest.hexdigest()[:32]}.{kind}"
        make_file(folder / f"{token}.name").write_text(json.dumps(shown_name(filename)), encoding="utf-8")
        part.replace(folder / token)
    finally:
        part.unlink(missing_ok=True)
    return token


def path_of(token: str, folder: Path) -> Path | None:
    """Return the stored file of a name that `keep` returned; None for any other name or a missing file."""
    if not TOKEN.fullmatch(token):
        return None
    path = folder / token
    return path if path.is_file() else None


def name_of(token: str, folder: Path) -> str:
    """Return the name under which the user uploaded a file; ours if that is not known."""
    path = folder / f"{token}.name"
    if not TOKEN.fullmatch(token) or not path.is_file():
        return token
    return str(json.loads(path.read_text(encoding="utf-8")))


def shown_name(filename: str) -> str:
    """Return a file name fit for display: no folders or control characters, at most about 120 characters."""
    base = filename.replace("\\", "/").rpartition("/")[2]
    clean = "".join(character for character in base if character.isprintable()).strip() or "upload"
    if len(clean) <= 120:
        return clean
    stem, _, kind = clean.rpartition(".")
    return f"{stem[:100]}….{kind[:12]}"


def model_name(filename: str) -> str:
    """Return the model that a file of outputs is named for: without ending, `outputs_` and the like."""
    plain = shown_name(filename).removesuffix("." + PACKED_ENDING)
    return model_of(plain.rpartition(".")[0] or plain)


def upload_folder() -> Path:
    """Return the workspace's folder of uploaded files."""
    return workspace_path() / "uploads"


@action("editor", "upload a file", "filename")
def receive(stream: BinaryIO, filename: str, allowed: Iterable[str]) -> str:
    """Store an upload in the workspace, see `keep`."""
    return keep(stream, filename, upload_folder(), allowed)


def tokens_of(tokens: Sequence[str]) -> dict[str, str]:
    """Return the tokens of uploads by the names of the files, of several with one name by their labels."""
    from metrics.ingest.joined_sheets import joined_name
    from metrics.ingest.source import labels_of

    names = {token: name_of(token, upload_folder()) for token in tokens if token}
    called = {label or names[token]: token for token, label in labels_of(names, names).items()}
    return called | ({joined_name(list(called)): next(iter(called.values()))} if called else {})


def column_pairs(pairs: Sequence[str]) -> dict[str, str]:
    """Return texts `canonical=column` as a mapping; a text without `=` is skipped."""
    return {canonical: column for canonical, sign, column in (pair.partition("=") for pair in pairs) if sign}


def pairs_of(token: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return what texts `TOKEN.NAME=VALUE` say of an upload, as `NAME=VALUE`.

    A text that names no upload is about every one of which nothing else is said.
    """
    split = [(OF_FILE.fullmatch(text), text) for text in texts]
    own = tuple(match[2] for match, _ in split if match and match[1] == token)
    return own or tuple(text for match, text in split if match is None)


def with_pairs(token: str, texts: Sequence[str], pairs: Sequence[str]) -> list[str]:
    """Return the texts with `pairs` in place of what they say of an upload."""
    return [text for text in texts if not text.startswith(f"{token}.")] + [f"{token}.{pair}" for pair in pairs]


def choices_of(token: str, texts: Sequence[str]) -> dict[str, str]:
    """Return what was chosen for an upload, such as columns in place of those found: {canonical: column}."""
    return column_pairs(pairs_of(token, texts))


def task_of(name: str) -> Task | None:
    """Return the task of that name; None for "" or an unknown one."""
    return next((task for task in get_args(Task) if task == name), None)


def reading_of(token: str, readings: Sequence[str]) -> Reading:
    """Return how the user says that an upload is to be read: texts `TOKEN.encoding=NAME`, `TOKEN.sheet=NAME`, answers.

    Any other `TOKEN.NAME=CHOICE` is the answer to a question about it.
    """
    from metrics.ingest import Reading

    chosen = choices_of(token, readings)
    return Reading(chosen.pop("encoding", None), chosen.pop("sheet", None), chosen)


def problem_table(problems: Iterable[InputProblem]) -> pd.DataFrame:
    """Return problems of files as a table: file, row, column, found, expected."""
    import pandas as pd

    columns = ["file", "row", "column", "found", "expected"]
    return pd.DataFrame([problem.as_row() for problem in problems], columns=columns).astype({"row": "Int64"})


def problems_csv(problems: Sequence[InputProblem]) -> bytes:
    """Return every problem as a row of a CSV in which no cell is a formula."""
    return bytes(write(problem_table(problems), "csv"))
