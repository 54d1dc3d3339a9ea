"""Files that an agent made: as a trace or a column lists them, and checks by kind that execute nothing."""

import ast
import base64
import binascii
import csv
import io
import json
import logging
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from metrics.core.jpeg_scans import MAX_SCANS, count_scans
from metrics.text.json_text import JsonError, read_json, violations
from metrics.text.patterns import MARKUP

MOST_PAGES = 500
MOST_DRAWN = 20_000_000  # bytes of drawing operators, all pages together
STRING = re.compile(rb"\(((?:[^()\\]|\\.)*+)\)", re.DOTALL)
HEXADECIMAL = re.compile(rb"<([0-9A-Fa-f\s]*+)>")
SHOWS = re.compile(rb"(?<![\w/])(?:Tj|TJ|'|\")(?!\w)")  # text
PAINTS = re.compile(rb"(?<![\w/*])(?:Do|EI|sh|[fBb]\*?|F|S|s)(?![\w*])")  # images, shadings, paths
logging.getLogger("pypdf").addHandler(logging.NullHandler())  # oddities of a file do not belong on standard error


class PdfError(ValueError):
    """A PDF that cannot be read; the text says why."""


@dataclass(frozen=True, slots=True)
class Pages:
    """The number of pages, and the numbers (from 1) of those on which nothing is drawn.

    `locked`: the pages need a password; `seen`: how many were checked.
    """

    count: int
    blank: tuple[int, ...] = ()
    seen: int = 0
    locked: bool = False


def pages(content: bytes) -> Pages:
    """Return the pages of a PDF, of which at most MOST_PAGES and MOST_DRAWN bytes are checked; PdfError if it is none.

    A page is blank if it has no annotation and its drawing operators show only blank text and paint no path, shading or
    image. The content of a form or an image is not checked: placing one counts as drawing.
    """
    import pypdf  # on use: only PDFs need it

    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            return Pages(0, locked=True)
        count = len(reader.pages)
        blank, drawn = [], 0
        for place in range(min(count, MOST_PAGES)):
            page = reader.pages[place]
            contents = page.get_contents()
            operators = b"" if contents is None else bytes(contents.get_data())
            drawn += len(operators)
            if not _draws(operators) and not page.get("/Annots"):
                blank.append(place + 1)
            if drawn > MOST_DRAWN:
                return Pages(count, tuple(blank), place + 1)
    except Exception as failure:  # in a damaged file the parser can fail anywhere
        message = str(failure).strip().partition("\n")[0]
        raise PdfError((message or type(failure).__name__)[:200]) from None
    return Pages(count, tuple(blank), min(count, MOST_PAGES))


def _draws(operators: bytes) -> bool:
    """Return whether drawing operators leave a mark; text inside strings cannot pass for an operator."""
    has_text = any(match[1].strip() for match in (*STRING.finditer(operators), *HEXADECIMAL.finditer(operators)))
    bare = HEXADECIMAL.sub(b" ", STRING.sub(b" ", operators))
    return bool(PAINTS.search(bare)) or (has_text and bool(SHOWS.search(bare)))


MOST_ARTIFACTS = 1_000
MOST_BYTES = 50_000_000  # of an artifact that is checked
MOST_PYTHON = 200_000  # characters; the parser's memory grows with them
MOST_PIXELS = 50_000_000
PDF_HEAD = 1_024  # bytes within which the header and the end of a PDF must be
STORED = re.compile(r"[0-9a-f]{32}")  # our own name of a file that came with the upload
ARTIFACT_KINDS = {
    ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".html": "html",
    ".htm": "html", ".py": "python", ".pdf": "pdf", ".png": "image", ".jpg": "image", ".jpeg": "image", ".gif": "image",
    ".webp": "image", ".txt": "text", ".md": "text",
}  # fmt: skip
ALIASES = {"markdown": "text"} | {ending.removeprefix("."): kind for ending, kind in ARTIFACT_KINDS.items()}
VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
PICTURES = frozenset("img svg canvas table video iframe object".split())
CLOSED_BY_OTHERS = frozenset("p li dt dd tr td th thead tbody tfoot option body html head colgroup".split())


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file by its name, its kind (of ARTIFACT_KINDS, or "other"), and its content; None if the trace does not have
    it.

    `stored` is our own name of a file that came with the upload; `missing` means that it was named but not uploaded.
    """

    name: str
    kind: str
    content: bytes | None = None
    stored: str | None = None
    missing: bool = False

    @property
    def has_facts(self) -> bool:
        """Whether more than the name is known."""
        return self.content is not None or self.stored is not None or self.missing


class ArtifactError(ValueError):
    """A trace or an artifact that cannot be read as one; the text says what was found."""


def artifacts_of(column: Sequence[str], trace: str | None) -> list[Artifact]:
    """Return the artifacts of the `artifacts` column and of a trace (JSON); for each name the last one with content.

    An entry of the column is a path, of which only the name is known, or a JSON object with `name` (or `path`), `kind`
    if the file extension does not give it, and `content` (text, or a JSON value), `content_base64`, or `stored` (or
    `missing`), which reading a folder or zip of artifacts adds. A trace has such objects or paths under `artifacts`, of
    its own and of each of its `steps`. ArtifactError for anything else.
    """
    entries: list[Any] = [_written(text) for text in column]
    if trace is not None:
        try:
            document = read_json(trace).value
        except JsonError as failure:
            raise ArtifactError(f"the trace is not JSON: {failure}") from None
        steps = document.get("steps") if isinstance(document, dict) else document
        holders = [document, *(steps if isinstance(steps, list) else [])]
        for holder in holders:
            own = holder.get("artifacts") if isinstance(holder, dict) else None
            entries += own if isinstance(own, list) else []
    if len(entries) > MOST_ARTIFACTS:
        raise ArtifactError(f"{len(entries):,} artifacts, more than {MOST_ARTIFACTS:,}")
    made: dict[str, Artifact] = {}
    for artifact in map(_artifact, entries):
        if artifact.has_facts or artifact.name not in made:
            made[artifact.name] = artifact
    return list(made.values())


def complaints(
    artifact: Artifact, schema: str | None = None, required_fields: Sequence[str] = ()
) -> tuple[list[str], list[str]]:
    """Return the defects of an artifact whose content is known, and remarks on what was not checked.

    All kinds: the name stays inside its archive, unless the file is stored; the content is not blank. By kind:
    *json*, *jsonl* parse, and are valid by `schema`; *csv*, *tsv*: a header and rows of its width; both have the
    `required_fields`; *html*: elements that are closed and visible text; *python*: the syntax, by ast.parse alone;
    *image*: the whole file is readable; *pdf*: header and end of file, pages, and something drawn on each. JsonError
    if the schema cannot be used.
    """
    found, remarks = _content(artifact, schema, required_fields)
    if artifact.stored or _stays_inside(artifact.name):  # a stored file has the path it had on the agent's machine
        return found, remarks
    return ["the name points outside the archive", *found], remarks


def _content(artifact: Artifact, schema: str | None, required_fields: Sequence[str]) -> tuple[list[str], list[str]]:
    content, kind = artifact.content or b"", artifact.kind
    if artifact.missing:
        return ["it is not among the files"], []
    if not content.strip():
        return ["it is empty"], []
    if len(content) > MOST_BYTES:
        return [f"{len(content):,} bytes, more than the {MOST_BYTES:,} that are checked"], []
    if kind == "image":
        return _image(content), []
    if kind == "pdf":
        return _pdf(content)
    if kind == "other":
        return [], ["nothing but emptiness is checked of this kind"]
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        return [f"not UTF-8 at byte {failure.start + 1}"], []
    if kind in ("json", "jsonl"):
        return _json(text, kind == "jsonl", schema, required_fields), []
    if kind in ("csv", "tsv"):
        return _table(text, "\t" if kind == "tsv" else ",", required_fields), []
    if kind == "html":
        return _html(text), []
    return _python(text) if kind == "python" else [], []


def _written(text: str) -> Any:
    if not text.lstrip().startswith("{"):
        return text
    try:
        return read_json(text).value
    except JsonError as failure:
        raise ArtifactError(f"an artifact is not a path and not JSON: {failure}") from None


def _artifact(entry: Any) -> Artifact:
    if isinstance(entry, str):
        return Artifact(entry, _kind(entry, None))
    name = (entry.get("name") or entry.get("path")) if isinstance(entry, dict) else None
    if not isinstance(name, str):
        raise ArtifactError(f"an artifact has no name: {str(entry)[:80]}")
    kind = _kind(name, entry.get("kind"))
    encoded, content, stored = entry.get("content_base64"), entry.get("content"), entry.get("stored")
    if isinstance(stored, str) and STORED.fullmatch(stored):
        return Artifact(name, kind, stored=stored)
    if entry.get("missing") is True:
        return Artifact(name, kind, missing=True)
    if isinstance(encoded, str):
        try:
            return Artifact(name, kind, base64.b64decode(encoded, validate=True))
        except binascii.Error:
            raise ArtifactError(f"the content_base64 of {name!r} is not base64") from None
    if content is None:
        return Artifact(name, kind)
    text = content if isinstance(content, str) else json.dumps(content)
    return Artifact(name, kind, text.encode("utf-8", "surrogatepass"))


def _kind(name: str, given: Any) -> str:
    if isinstance(given, str) and given:
        folded = ALIASES.get(given.lower(), given.lower())
        return folded if folded in ARTIFACT_KINDS.values() else "other"
    return ARTIFACT_KINDS.get(PurePosixPath(name.lower()).suffix, "other")


def _stays_inside(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return bool(name.strip()) and not path.is_absolute() and ".." not in path.parts and name[1:2] != ":"


def _json(text: str, lines: bool, schema: str | None, required: Sequence[str]) -> list[str]:
    try:
        pieces = [line for line in text.splitlines() if line.strip()] if lines else [text]
        values = [read_json(piece).value for piece in pieces]
    except JsonError as failure:
        return [f"not JSON: {failure}"]
    wrong: list[str] = ["it holds no data"] if all(value in ({}, [], None, "") for value in values) else []
    for value in values:
        missing = [field for field in required if not isinstance(value, dict) or field not in value]
        if missing:
            wrong.append(f"fields are missing: {', '.join(missing)}")
            break
    if schema is not None and not lines:
        wrong += [f"{found.path}: {found.message[:200]}" for found in violations(values[0], schema, 5)]
    return wrong


def _table(text: str, delimiter: str, required: Sequence[str]) -> list[str]:
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]
    except csv.Error as failure:
        return [f"not CSV: {failure}"]
    if len(rows) < 2:
        return ["a header without rows"]
    wrong = []
    odd = next((place for place, row in enumerate(rows, 1) if len(row) != len(rows[0])), None)
    if odd is not None:
        wrong.append(f"row {odd} has {len(rows[odd - 1])} cells, the header has {len(rows[0])}")
    missing = [field for field in required if field not in rows[0]]
    return wrong + ([f"columns are missing: {', '.join(missing)}"] if missing else [])


def _html(text: str) -> list[str]:
    left: list[str] = []
    elements, place, stray, visible = 0, 0, None, False
    for match in MARKUP.finditer(text):
        visible = visible or (bool(text[place : match.start()].strip()) and left[-1:] != ["title"])
        place = match.end()
        tag = (match["tag"] or match["raw"] or "").lower()
        elements += bool(tag)
        visible = visible or tag in PICTURES
        if not match["tag"] or tag in VOID or match["rest"].endswith("/"):
            continue
        if not match["end"]:
            left.append(tag)
            continue
        while left and left[-1] != tag and left[-1] in CLOSED_BY_OTHERS:
            left.pop()
        if left[-1:] == [tag]:
            left.pop()
        elif tag not in CLOSED_BY_OTHERS:
            stray = stray or tag
    visible = visible or bool(text[place:].strip())
    left = [tag for tag in left if tag not in CLOSED_BY_OTHERS]
    checks = (
        None if elements else "no element",
        f"</{stray}> closes nothing" if stray else None,
        f"<{left[-1]}> is not closed" if left else None,
        None if visible else "nothing visible on the page",
    )
    return [found for found in checks if found]


def _python(text: str) -> list[str]:
    if len(text) > MOST_PYTHON:
        return [f"{len(text):,} characters of Python, more than the {MOST_PYTHON:,} that are parsed"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about odd escapes in the code
            ast.parse(text)
    except SyntaxError as failure:
        return [f"not Python: {failure.msg} at line {failure.lineno}"]
    except (ValueError, RecursionError, MemoryError):  # null bytes; nested too deep for the parser
        return ["not Python that can be parsed"]
    return []


def _image(content: bytes) -> list[str]:
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the library, about images that it can read
            with Image.open(io.BytesIO(content), formats=("PNG", "JPEG", "GIF", "WEBP")) as image:
                if image.width * image.height > MOST_PIXELS:
                    return [f"{image.width} × {image.height} pixels, more than the {MOST_PIXELS:,} that are decoded"]
                if (scans := count_scans(io.BytesIO(content))) > MAX_SCANS:
                    return [f"a JPEG of {scans:,} scans, more than the {MAX_SCANS} that are decoded"]
                image.load()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as failure:
        return [f"not a readable image: {failure}"]
    return []


def _pdf(content: bytes) -> tuple[list[str], list[str]]:
    if b"%PDF-" not in content[:PDF_HEAD]:
        return ["no PDF header"], []
    if b"%%EOF" not in content[-PDF_HEAD:]:
        return ["the PDF is cut short"], []
    try:
        found = pages(content)
    except PdfError as failure:
        return [f"not a readable PDF: {failure}"], []
    if found.locked:
        return [], ["its pages are behind a password"]
    if not found.count:
        return ["no page"], []
    blank = ", ".join(map(str, found.blank[:10])) + (", …" if len(found.blank) > 10 else "")
    wrong = [f"nothing is drawn on page {blank} of {found.count}"] if blank else []
    return wrong, [f"the first {found.seen} of {found.count} pages were checked"] if found.seen < found.count else []
