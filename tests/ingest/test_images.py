"""Images from folders and zips: found by name, stored under ours, and everything hostile refused."""

import hashlib
import zipfile

import pytest

from metrics.ingest import load_suite, read_images, read_suite
from tests.ingest.files import list_problems, packed, picture, unpacked, write


@pytest.mark.parametrize(
    ("kind", "extension"),
    [("PNG", ".png"), ("JPEG", ".jpg"), ("WEBP", ".webp"), ("BMP", ".bmp"), ("GIF", ".gif"), ("TIFF", ".tif")],
)
@pytest.mark.parametrize("make", [unpacked, packed], ids=["folder", "zip"])
def test_formats(tmp_path, kind, extension, make):
    data = picture(kind=kind)
    source = make(tmp_path / "images", {"deep/one.jpg": data, "readme.txt": b"hello"})
    images = read_images(source, ["one.jpg"], tmp_path / "media")
    stored = hashlib.sha256(data).hexdigest()[:32] + extension
    assert images.problems == ()
    assert (images.files, images.sizes) == ({"one.jpg": stored}, {"one.jpg": (8, 6)})
    assert [path.name for path in (tmp_path / "media").iterdir()] == [stored]


def test_names_are_looked_up_whole_then_by_their_end(tmp_path):
    entries = {"a/1.png": picture(1, 1), "b/1.png": picture(2, 2), "a/2.png": picture(3, 3), "__MACOSX/a/2.png": b"x"}
    source = packed(tmp_path / "i.zip", entries)
    images = read_images(source, ["b/1.png", "2.png", "1.png", "9.png", "../a/2.png"], tmp_path / "media")
    assert images.sizes == {"b/1.png": (2, 2), "2.png": (3, 3), "../a/2.png": (3, 3)}
    assert images.problems == ()
    assert [str(problem) for problem in images.unusable] == [
        "i.zip, column image: found 2 images for '1.png': a/1.png, b/1.png; expected one image of that name",
        "i.zip, column image: found no image '9.png'; expected one image of that name",
    ]


def link() -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("link.png")
    info.external_attr = 0o120777 << 16
    return info


LEAVES = ["/etc/x.png", "../x.png", "a/../../x.png", "C:/x.png", "..\\x.png"]
HOSTILE = [(name, "a path that leaves the archive") for name in LEAVES]
HOSTILE += [(link(), "a symbolic link"), ("inner.zip", "an archive in the archive")]


@pytest.mark.attack(
    "suite author",
    "a zip of images with links, archives, or names that leave it",
    "the list of a zip is checked whole; images are stored under names of their content",
)
@pytest.mark.parametrize(("entry", "why"), HOSTILE)
def test_hostile_zips_are_refused(tmp_path, entry, why):
    with zipfile.ZipFile(tmp_path / "i.zip", "w") as file:
        file.writestr("x.png", picture())
        file.writestr(entry, picture())
    images = read_images(tmp_path / "i.zip", ["x.png"], tmp_path / "media")
    assert images.files == {}
    assert [problem.found.rpartition(": ")[2] for problem in images.problems] == [why]
    assert not (tmp_path / "media").exists()


def test_ratio(tmp_path):
    images = read_images(packed(tmp_path / "i.zip", {"x.png": bytes(30 << 20)}), ["x.png"], tmp_path / "media")
    assert [problem.found for problem in images.problems] == ["entry 'x.png': compressed more than 200 : 1"]


@pytest.mark.parametrize("data", [b"", b"hello", b"PK\x03\x04" + bytes(40)], ids=["empty", "text", "cut"])
def test_no_zip(tmp_path, data):
    images = read_images(write(tmp_path, "i.zip", data), ["x.png"], tmp_path / "media")
    assert (len(images.problems), images.problems[0].expected) == (1, "a folder or a zip of images")


def test_links_in_folders_are_passed_over(tmp_path):
    secret = write(tmp_path, "secret.png", picture())
    (tmp_path / "i").mkdir()
    (tmp_path / "i" / "x.png").symlink_to(secret)
    assert read_images(tmp_path / "i", ["x.png"], tmp_path / "media").files == {}


def truth(width: int = 8) -> dict:
    images = [{"id": number, "file_name": f"{number}.png", "width": width, "height": 6} for number in (1, 2)]
    return {"images": images, "annotations": [], "categories": [{"id": 1, "name": "cat"}]}


def test_sizes_that_differ_are_problems_and_such_cases_stay_without_image(tmp_path):
    source = packed(tmp_path / "up.zip", {"1.png": picture(9), "2.png": picture()})
    path = write(tmp_path, "t.json", truth())
    assert list_problems(
        read_suite, path, images=source, workspace_media=tmp_path / "media", images_filename="mine.zip"
    ) == ["mine.zip, column image_width: found 1.png with image_width 9; expected 8, as the suite says"]
    loaded = load_suite(path, images=source, workspace_media=tmp_path / "media", keep_good_rows=True)
    assert [image is None for image in loaded.value.cases["image"].to_pylist()] == [True, False]
    assert len(loaded.problems) == 1
