"""Writing the small files that the ingest tests read, and what they are refused for."""

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from metrics.core.errors import InputError


def list_problems(read: Callable[..., object], *given: object, **named: object) -> list[str]:
    """Return the problems, in the words of the message, for which something is refused when it is read."""
    with pytest.raises(InputError) as refused:
        read(*given, **named)
    return [str(problem) for problem in refused.value.problems]


def read_refusal(read: Callable[..., object], *given: object, **named: object) -> str:
    """Return the message with which something is refused when it is read."""
    with pytest.raises(InputError) as refused:
        read(*given, **named)
    return str(refused.value)


def write(folder: Path, name: str, content: Any) -> Path:
    """A file of that name: text or bytes as they are, records as JSONL, JSON or Parquet by the extension."""
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        path.write_bytes(content.encode())
    elif name.endswith(".jsonl"):
        path.write_text("\n".join(json.dumps(record) for record in content))
    elif name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(content), path)
    else:
        path.write_text(json.dumps(content))
    return path


def picture(width: int = 8, height: int = 6, kind: str = "PNG", colour: int = 7) -> bytes:
    """An image of one colour, as a file's bytes."""
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), (colour, 30, 200)).save(buffer, kind)
    return buffer.getvalue()


def packed(path: Path, entries: Mapping[str, Any]) -> Path:
    """A zip of those files: bytes, text, or documents as JSON."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content if isinstance(content, bytes | str) else json.dumps(content))
    return path


def unpacked(path: Path, entries: Mapping[str, Any]) -> Path:
    """A folder of those files."""
    for name, content in entries.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        write(path, name, content)
    return path
