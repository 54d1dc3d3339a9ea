"""PDF files with given drawing operators."""

import io

from pypdf import PdfWriter
from pypdf.annotations import FreeText
from pypdf.generic import DecodedStreamObject, NameObject


def pdf(*drawn: bytes | None, password: str | None = None, note: bool = False) -> bytes:
    """Return a PDF with a page for each of the drawing operators; None for a page without any."""
    writer = PdfWriter()
    for operators in drawn:
        page = writer.add_blank_page(200, 200)
        if operators is not None:
            stream = DecodedStreamObject()
            stream.set_data(operators)
            page[NameObject("/Contents")] = writer._add_object(stream.flate_encode())
        if note:
            writer.add_annotation(page.page_number, FreeText(text="noted", rect=(0, 0, 50, 50)))
    if password is not None:
        writer.encrypt(password)
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()
