"""Writing the archive of a sealed run."""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from metrics.core.errors import RunError
from metrics.core.files import written_whole
from metrics.core.registry import evaluators
from metrics.ingest.media.archive import MAX_FILE_BYTES
from metrics.judge.cache import HEAD, Cache, Stored
from metrics.judge.keys import redact
from metrics.judge.open_judges import FOLDER
from metrics.reports.archives import layout
from metrics.reports.renderers.export_tables import filled_tables
from metrics.reports.zip_files import EPOCH
from metrics.store import Run
from metrics.store.run_check import verify
from metrics.store.sealed_files import sealed_files
from metrics.store.table_files import write

PLAIN = 0o600 << 16  # permissions of an entry
PACKED = (".parquet", ".png", ".jpg", ".jpeg", ".webp", ".gif")  # compressed already
CHUNK = 1 << 20

Content = bytes | Path


def archive(run: Run, media: bool = True, replies: bool = True) -> bytes:
    """Return the archive of a finished run as bytes; see `write_archive`."""
    buffer = io.BytesIO()
    write_archive(run, buffer, media, replies)
    return buffer.getvalue()


def write_file(run: Run, file: Path, media: bool = True, replies: bool = True) -> None:
    """Write the archive of a finished run to a file, whole or not at all; see `write_archive`."""
    with written_whole(file.absolute(), private=False) as beside, beside.open("wb") as target:
        write_archive(run, target, media, replies)


def write_archive(run: Run, target: IO[bytes], media: bool = True, replies: bool = True) -> None:
    """Write a zip with all that a finished run rests on; equal runs give equal bytes.

    media: with the images of the suite and the files of the agents; replies: with the judge's replies that the run
    used. RunError for an unfinished run or a file above MAX_FILE_BYTES, RunCorrupt for a
    table that differs from its seal.
    """
    run.table_path("scores")  # raises RunError for an unfinished run
    verify(run)
    listed: dict[str, dict[str, Any]] = {}
    with zipfile.ZipFile(target, "w") as file:
        for name, content in sorted(_entries(run, media, replies), key=lambda entry: entry[0]):
            listed[name] = _add(file, name, content)
        manifest = {
            "format": layout.FORMAT, "version": layout.VERSION, "run": run.id,
            "suite": run.spec.suite.fingerprint, "outputs": run.spec.outputs.fingerprint, "files": listed,
        }  # fmt: skip
        _add(file, layout.MANIFEST, (json.dumps(manifest, ensure_ascii=False, indent=1) + "\n").encode())


def _entries(run: Run, media: bool, replies: bool) -> Iterator[tuple[str, Content]]:
    yield from sealed_files(run, media).items()
    log = run.folder / "log.txt"
    if log.exists():
        yield layout.LOG, redact(log.read_text(encoding="utf-8", errors="replace")).encode()
    columns: dict[str, list[str]] = {}
    for what, frame in filled_tables(run):
        columns[what] = list(map(str, frame.columns))
        yield f"tables/{what}.csv", write(frame, "csv")
        yield f"tables/{what}.parquet", write(frame, "parquet")
    yield layout.README, _readme(run, media, columns)
    if evidence := b"".join(_evidence(run)):
        yield layout.EVIDENCE, evidence
    yield from _prompts(run)
    if replies and (found := _replies(run)):
        yield layout.REPLIES, found


def _add(file: zipfile.ZipFile, name: str, content: Content) -> dict[str, Any]:
    """Write an entry and return its size and sha256."""
    size = content.stat().st_size if isinstance(content, Path) else len(content)
    if size > MAX_FILE_BYTES:
        raise RunError(f"{name} has {size:,} bytes; an archive holds files of at most {MAX_FILE_BYTES:,}")
    info = zipfile.ZipInfo(name, EPOCH)
    info.create_system, info.external_attr, info.file_size = 3, PLAIN, size
    info.compress_type = zipfile.ZIP_STORED if name.endswith(PACKED) else zipfile.ZIP_DEFLATED
    digest = hashlib.sha256()
    source = content.open("rb") if isinstance(content, Path) else io.BytesIO(content)
    with source, file.open(info, "w") as entry:
        while chunk := source.read(CHUNK):
            digest.update(chunk)
            entry.write(chunk)
    return {"bytes": size, "sha256": digest.hexdigest()}


def _readme(run: Run, media: bool, columns: dict[str, list[str]]) -> bytes:
    text = layout.ABOUT.format(
        id=run.id, name=" ".join(run.name.split()), media=", with images" if media else ", without images",
        artifacts=" and the files of agents" if media else ", without the files of agents",
    )  # fmt: skip
    for what, names in columns.items():
        text += f"### {what}\n\n| column | meaning |\n|---|---|\n"
        text += "".join(f"| {name} | {layout.COLUMNS.get(name, 'of the evaluator')} |\n" for name in names) + "\n"
    return text.encode()


def _evidence(run: Run) -> Iterator[bytes]:
    for batch in run.stored_table("scores", ["case_id", "model", "run", "evaluator", "evidence"]).to_batches():
        for row in batch.to_pylist():
            if row["evidence"] is not None:
                yield json.dumps(row | {"evidence": json.loads(row["evidence"])}, ensure_ascii=False).encode() + b"\n"


def _prompts(run: Run) -> Iterator[tuple[str, Content]]:
    """Yield the prompts of the evaluators that are still of the version that was run."""
    texts = {
        prompt.id: prompt.text
        for entry in run.spec.evaluators
        if (known := evaluators().get(entry.id)) is not None and known.version == entry.version
        for prompt in known.prompts
    }
    for name, text in texts.items():
        yield f"prompts/{name}.txt", (text + "\n").encode()


def _replies(run: Run) -> bytes:
    """Return the replies that the run used as an exported cache; empty without any.

    What the workspace's cache no longer has, or never had because it was replayed, comes from the sealed judgements.
    """
    used = {row["key"]: row for row in run.stored_table("judgements").to_pylist() if row["reply"] is not None}
    folder = run.workspace.path / "cache" / FOLDER
    lines = [json.dumps(HEAD)]
    with closing(Cache(folder, counting=False)) as cache:
        for key, row in sorted(used.items()):
            stored = cache.get(key) if folder.exists() else None
            facts = {name: row[name] for name in ("judge", "step", "reply", "prompt_tokens", "completion_tokens")}
            stored = stored or Stored(**facts, cost_usd=row["cost_usd"], seconds=row["seconds"] or 0.0)
            lines.append(json.dumps({"key": key} | asdict(stored), ensure_ascii=False))
    return "\n".join([*lines, ""]).encode() if used else b""
