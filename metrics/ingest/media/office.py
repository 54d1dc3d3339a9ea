"""Office documents, which are zips of XML: distinguished by their entries, without unpacking them."""

import zipfile

import pyarrow as pa

WORKBOOK = "an Excel workbook"
CONTENT_TYPES = "[Content_Types].xml"  # in every document of Microsoft Office
OPEN_DOCUMENT = {"mimetype", "content.xml"}  # in every document of OpenOffice and LibreOffice
KINDS = {  # an entry, and what the document then is
    "xl/workbook.xml": WORKBOOK,
    "xl/workbook.bin": "a binary Excel workbook (.xlsb; save it as .xlsx)",
    "word/document.xml": "a Word document",
    "ppt/presentation.xml": "a PowerPoint presentation",
}


def is_office(names: set[str]) -> bool:
    """Return whether a zip with these entries is an Office document, not a folder of files."""
    return CONTENT_TYPES in names or names >= OPEN_DOCUMENT


def office_kind(data: pa.Buffer) -> str:
    """Return what a zip is, as a noun: the kind of Office document, or an archive."""
    try:
        with zipfile.ZipFile(pa.BufferReader(data)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return "a damaged zip archive or Office document"
    if names >= OPEN_DOCUMENT:
        return "an OpenDocument file (save a spreadsheet as .xlsx or CSV)"
    return next((kind for entry, kind in KINDS.items() if entry in names), "a zip archive")
