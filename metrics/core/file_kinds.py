"""What a file is by its first bytes, whatever its name says, and the endings of the files that can be uploaded."""

import re

SHEET = ", sheet "  # between the names of a workbook and of its sheet, where it has several
HEAD = 1 << 12  # bytes to look at

# The first bytes of files that are no text. Zip archives, Parquet and Arrow files are known by those who read them.
MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"%PDF-", "a PDF"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or protected Office document (.xls, .doc)"),
    (b"{\\rtf", "an RTF document"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x80\x02", "a Python pickle (never read: it can run code)"),
    (b"\x80\x03", "a Python pickle (never read: it can run code)"),
    (b"\x80\x04", "a Python pickle (never read: it can run code)"),
    (b"\x80\x05", "a Python pickle (never read: it can run code)"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF\r\n", "an HDF5 file"),
    (b"Obj\x01", "an Avro file"),
    (b"GGUF\x03\0", "a GGUF model"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
)
HTML = re.compile(rb"(?i)\s*(<!--.{0,2000}?-->\s*)*<(!doctype html|html|head|body)[\s>]", re.DOTALL)
XML = re.compile(rb"(?i)\s*<(\?xml|svg)[\s>]")
ANNOTATION_ENDINGS = ("xml",)  # of files of objects in images that are no tables
RANKING_ENDINGS = ("qrels", "run", "trec", "txt")  # of the files of TREC: judgements and runs
LOG_ENDINGS = ("eval",)  # of zips that a tool names otherwise: the logs of Inspect
PACKED_ENDING = "gz"  # of a text file that is compressed
YAML_ENDINGS = ("yaml", "yml")
TABLE_ENDINGS = (
    "csv", "tsv", "jsonl", "ndjson", "json", "parquet", "xlsx", "arrow", "feather", *YAML_ENDINGS, PACKED_ENDING,
)  # fmt: skip

ANSWER_FILE = re.compile(r"(out(puts?)?|answers|results|pred(s|ictions)?|detections|y_pred)[-_ .]+", re.IGNORECASE)


def model_of(stem: str) -> str:
    """Return the model that a file of outputs is named for: its name without ending, and without `outputs_` and so."""
    found = ANSWER_FILE.match(stem)
    return (stem[found.end() :] if found else "") or stem


def foreign_kind(head: bytes, name: str = "") -> str | None:
    """Return what the file is that begins with these bytes, as a noun; None for text and for tables.

    By its `name` XML may be annotations, which are not foreign.
    """
    for magic, kind in MAGIC:
        if head.startswith(magic):
            return kind
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "a WebP image"
    if head[:2] == b"BM" and head[6:10] == b"\0\0\0\0":
        return "a BMP image"
    if head[:3] == b"BZh" and head[4:10] == b"1AY&SY":
        return "a bzip2 archive"
    if head[:3] == b"\0\0\0" and head[4:8] == b"ftyp":
        return "a video or HEIC image"
    if head[257:262] == b"ustar":
        return "a tar archive"
    text = head[:HEAD].removeprefix(b"\xef\xbb\xbf")
    if HTML.match(text):
        return "a web page (HTML)"
    return "an XML document" if XML.match(text) and not name.lower().endswith(ANNOTATION_ENDINGS) else None


def upload_of(file: str) -> str:
    """Return the upload that a named part is of: a member of an archive, a sheet of a workbook."""
    return re.split(rf"/|{SHEET}", file, maxsplit=1)[0]
