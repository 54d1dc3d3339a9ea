"""Images that state what they do not have, or hide what nobody asked for: each is read as one picture, or refused."""

import io
import os
import re
import struct
import zlib
from pathlib import Path

import pytest
from PIL import EpsImagePlugin, Image

from metrics.ingest.media.archive import open_entries
from metrics.ingest.media.images import read_images, shown_image
from tests.ingest.files import picture

BOMB = zlib.compress(bytes(1 << 27), 9)  # 130 kB


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(*before: bytes, side: int = 8, pixels: bytes | None = None) -> bytes:
    rows = zlib.compress(bytes(9 * 8)) if pixels is None else pixels
    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    parts = (chunk(b"IHDR", header), *before, chunk(b"IDAT", rows), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def saved(kind: str) -> bytes:
    stream = io.BytesIO()
    Image.new("L", (8, 8)).save(stream, kind)
    return stream.getvalue()


def gif(frames: int) -> bytes:
    plain = saved("GIF")
    frame = plain[plain.index(b"\x2c") : -1]
    return plain[:-1] + frame * frames + b";"


def tiff(frames: int | None) -> bytes:
    """So many frames, one after the other; None: one that says it is followed by itself."""
    plain = saved("TIFF")
    (start,) = struct.unpack_from("<I", plain, 4)
    end = start + 2 + 12 * struct.unpack_from("<H", plain, start)[0]
    if frames is None:
        return plain[:end] + struct.pack("<I", start) + plain[end + 4 :]
    size = end - start + 4
    others = (plain[start:end] + struct.pack("<I", len(plain) + size * number) for number in range(1, frames))
    return (
        plain[:end] + struct.pack("<I", len(plain)) + plain[end + 4 :] + b"".join(others) + plain[start:end] + bytes(4)
    )


def jpeg(exif: bytes) -> bytes:
    plain, data = saved("JPEG"), b"Exif\0\0II*\0\x08\0\0\0" + exif
    return plain[:2] + b"\xff\xe1" + struct.pack(">H", len(data) + 2) + data + plain[2:]


ONE_PICTURE = {
    "a GIF of 100,001 frames": gif(100_000), "a TIFF of 100,001 frames": tiff(100_000),
    "a TIFF that follows itself": tiff(None),
    "a PNG of 2 billion frames": png(chunk(b"acTL", struct.pack(">II", 2**31 - 1, 0))),
    "a PNG with more pixels than it states": png(pixels=BOMB),
    "an orientation of 65,535": jpeg(b"\x01\0\x12\x01\x03\0\x01\0\0\0\xff\xff\0\0\0\0\0\0"),
    "an orientation of 2 billion values": jpeg(b"\x01\0\x12\x01\x03\0\xff\xff\xff\x7f\x08\0\0\0\0\0\0\0"),
    "EXIF in EXIF without end": jpeg(b"\x01\0\x69\x87\x04\0\x01\0\0\0\x08\0\0\0\0\0\0\0"),
    "EXIF of 65,535 random fields": jpeg(b"\xff\xff" + bytes(range(256)) * 2),
}  # fmt: skip
REFUSED = {
    "no image": b"hello", "an empty file": b"", "a PNG cut short": picture(64, 64)[:-30],
    "a JPEG cut short": picture(400, 400, "JPEG")[:-900],
    "a compressed text of 128 MB": png(chunk(b"zTXt", b"k\0\0" + BOMB)),
    "a compressed international text of 128 MB": png(chunk(b"iTXt", b"k\0\1\0\0\0" + BOMB)),
    "a colour profile of 128 MB": png(chunk(b"iCCP", b"k\0\0" + BOMB)),
    "65,500 x 65,500 pixels": png(side=65_500), "2 billion x 2 billion pixels": png(side=2**31 - 1),
    "no pixels": png(side=0),
    "a GIF of 65,535 x 65,535": saved("GIF")[:6] + b"\xff\xff\xff\xff" + saved("GIF")[10:],
    "an SVG": b"<svg xmlns='http://www.w3.org/2000/svg'><image href='http://127.0.0.1/'/></svg>",
    "a HEIC": b"\0\0\0\x18ftypheic" + bytes(100),
    "a PostScript program": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(/etc/passwd) run\n",
}  # fmt: skip


@pytest.mark.attack("suite author", "an image states a hundred thousand frames, turned EXIF or frames without end", "its first frame is the picture, and nothing else is decoded")  # fmt: skip  # noqa: E501
@pytest.mark.parametrize("data", ONE_PICTURE.values(), ids=ONE_PICTURE)
def test_one_picture(data, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.png").write_bytes(data)
    found = read_images(tmp_path / "in", ["x.png"], tmp_path / "media")
    assert (found.sizes, found.sideways) == ({"x.png": (8, 8)}, frozenset())
    assert shown_image(tmp_path / "media" / found.files["x.png"])[0].size == (8, 8)


@pytest.mark.attack("suite author", "kilobytes of an image unpack to gigabytes of text, profile or pixels, or it is another format under a false name", "limits of Pillow and of our own, before anything is decoded; six formats, whatever the name")  # fmt: skip  # noqa: E501
@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_refused(data, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.png").write_bytes(data)
    found = read_images(tmp_path / "in", ["x.png"], tmp_path / "media")
    assert found.files == {}
    assert [problem.found[:7] for problem in found.unusable] == ["x.png: "]
    with pytest.raises(ValueError):  # noqa: PT011 - Pillow's own words
        shown_image(tmp_path / "in" / "x.png")


def scans(count: int) -> bytes:
    """A progressive JPEG whose last scan is there so many times."""
    stream = io.BytesIO()
    Image.new("L", (64, 64)).save(stream, "JPEG", progressive=True)
    plain = stream.getvalue()
    last = plain[plain.rindex(b"\xff\xda") : -2]
    return plain[:-2] + last * count + b"\xff\xd9"


@pytest.mark.attack("suite author", "a JPEG of a kilobyte has thousands of scans, each of which goes over all its pixels", "scans are counted by their markers before anything is decoded")  # fmt: skip  # noqa: E501
def test_a_jpeg_of_many_scans_is_refused(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.jpg").write_bytes(scans(1_500))
    (tmp_path / "in" / "y.jpg").write_bytes(scans(20))
    found = read_images(tmp_path / "in", ["x.jpg", "y.jpg"], tmp_path / "media")
    assert list(found.files) == ["y.jpg"]
    said = r"a JPEG of 1,5\d\d scans of 64 × 64 pixels, more than is decoded"
    assert re.search(said, found.unusable[0].found)
    with pytest.raises(ValueError, match=said):
        shown_image(tmp_path / "in" / "x.jpg")
    assert shown_image(tmp_path / "in" / "y.jpg")[0].size == (64, 64)


@pytest.mark.attack("workspace writer", "a PostScript program in the place of a stored image is run to show it", "stored images are opened as one of the six formats alone")  # fmt: skip  # noqa: E501
def test_no_program_is_started_to_show_an_image(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *given: started.append(given))
    (tmp_path / "x.png").write_bytes(REFUSED["a PostScript program"] + b"%%EOF\n")
    with pytest.raises(ValueError, match="the image cannot be read: UnidentifiedImageError"):
        shown_image(tmp_path / "x.png")
    assert started == []


def pipe(place: Path) -> None:
    os.mkfifo(place)


def unreadable(place: Path) -> None:
    place.write_bytes(png())
    place.chmod(0)


@pytest.mark.attack("workspace writer", "a pipe, a folder or a link in the place of a stored image", "only a regular file is opened, without following")  # fmt: skip  # noqa: E501
@pytest.mark.parametrize("make", [pipe, Path.mkdir, lambda place: place.symlink_to(place.with_name("a.png"))])
def test_only_files_are_shown(make, tmp_path):
    (tmp_path / "a.png").write_bytes(png())
    make(tmp_path / "x.png")
    with pytest.raises(ValueError, match="the image cannot be read: "):
        shown_image(tmp_path / "x.png")


@pytest.mark.attack("suite author", "a folder of images has pipes, folders with names of images, or files nobody may read", "they are missing or unusable, and the others are read")  # fmt: skip  # noqa: E501
@pytest.mark.parametrize("make", [pipe, Path.mkdir, unreadable])
def test_others_of_the_folder_are_read(make, tmp_path, monkeypatch):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.png").write_bytes(png())
    make(folder / "x.png")
    if make is unreadable and os.geteuid() == 0:  # who reads any file
        own = os.open
        monkeypatch.setattr(os, "open", lambda path, *more: _denied(path) if "x.png" in str(path) else own(path, *more))
    found = read_images(folder, ["a.png", "x.png"], tmp_path / "media")
    assert (list(found.files), len(found.unusable)) == (["a.png"], 1)
    assert "x.png" in found.unusable[0].found


def _denied(path: object) -> None:
    raise PermissionError(13, "Permission denied", str(path))


@pytest.mark.attack("suite author", "a file becomes a link or a pipe between its check and its reading", "what was opened is checked, and no link is followed")  # fmt: skip  # noqa: E501
@pytest.mark.parametrize("make", [pipe, lambda place: place.symlink_to("/etc/passwd")], ids=["pipe", "link"])
def test_a_file_that_is_swapped(make, tmp_path):
    (tmp_path / "x.png").write_bytes(png())
    with open_entries(tmp_path, "in", []) as (entry,):
        (tmp_path / "x.png").unlink()
        make(tmp_path / "x.png")
        with pytest.raises(OSError, match=r"pipe|link"):
            entry.read()
