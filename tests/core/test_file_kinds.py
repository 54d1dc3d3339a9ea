"""Files that are no tables, by their first bytes."""

import pytest

from metrics.core.file_kinds import MAGIC, foreign_kind

TEXTS = [
    b"case_id,question\n1,a\n", b"{\"a\": 1}", b"[1, 2]", b"\xef\xbb\xbfid,x\n", b"PK,question\n", b"BM,colour\n",
    b"GGUF,question\n", b"ORCID,name\n", b"BZh,1\n", b"Rare,x\n", b"<tag>,x\n", b"ftyp,x\n", b"MZ,x\n",
    b"%PDF files,x\n", b"RIFF,x\n", b"II*,x\n", b"\x80,euro in Windows-1252\n", b"html,body\n", b"Obj,x\n", b"",
]  # fmt: skip
FOREIGN = {
    b"\x89PNG\r\n\x1a\n": "a PNG image", b"\xff\xd8\xff\xe0": "a JPEG image", b"%PDF-1.7": "a PDF",
    b"\x1f\x8b\x08": "a gzip archive", b"RIFF\0\0\0\0WEBPVP8 ": "a WebP image", b"BM\x46\0\0\0\0\0\0\0": "a BMP image",
    b"\0\0\0\x18ftypheic": "a video or HEIC image", b"BZh91AY&SY": "a bzip2 archive",
    b"\0" * 257 + b"ustar\0": "a tar archive",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an old or protected Office document (.xls, .doc)",
    b"\x80\x04\x95abc": "a Python pickle (never read: it can run code)",
    b"\xef\xbb\xbf<!DOCTYPE html>": "a web page (HTML)", b"\n <!-- saved -->\n<HTML lang=en>": "a web page (HTML)",
    b"<?xml version='1.0'?>": "an XML document", b"<svg xmlns=": "an XML document",
}  # fmt: skip


@pytest.mark.parametrize(("head", "kind"), FOREIGN.items(), ids=FOREIGN.values())
def test_a_foreign_file_is_named(head, kind):
    assert foreign_kind(head) == kind


def test_no_sign_hides_another():
    for place, (magic, _) in enumerate(MAGIC):
        assert not any(magic.startswith(earlier) for earlier, _ in MAGIC[:place])
