"""The images of a stored suite: what they hold, which look alike, and their ground truth as tiles."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from components.data.suite_drafts import drafted_suite
from components.data.visitors import kept_here
from components.data.workspace_runs import workspace, workspace_path
from metrics.analysis import GalleryObject, Outline, Tile, Window
from metrics.analysis.objects.object_rings import object_rings
from metrics.analysis.objects.thumbnails import suite_thumbnails
from metrics.core.suite import METADATA, Suite
from metrics.suites.image_contents import ImageContents, NearDuplicate, image_contents, near_duplicate_images

SECONDS = 1.5  # of a script run that new thumbnails may take
IMAGE_NAME = METADATA + "image_name"


class Wall(NamedTuple):
    """Some images of a suite as tiles, the name and the classes of each, and how many images there are in all."""

    tiles: tuple[Tile, ...]
    names: tuple[str, ...]
    classes: tuple[str, ...]
    total: int


@kept_here
def contents(fingerprint: str, draft: str) -> ImageContents:
    """Return the counts of a suite of objects in images after the edits of a draft."""
    return image_contents(drafted_suite(fingerprint, draft))


def _near_duplicates(fingerprint: str, draft: str) -> Sequence[NearDuplicate]:
    return near_duplicate_images(drafted_suite(fingerprint, draft))


near_duplicates = kept_here(_near_duplicates, "Comparing the images")  # of many images it takes a minute


def wall(fingerprint: str, draft: str, label: str | None, only: Sequence[str] | None, limit: int, offset: int) -> Wall:
    """Return images with their ground truth: those with a class, or only those cases; None: all."""
    suite = drafted_suite(fingerprint, draft)
    ids, objects = suite.cases["case_id"], suite.annotations
    if only is not None:
        kept = pc.is_in(ids, pa.array(only, pa.string()))
    elif label is None:
        kept = pc.is_valid(ids)
    elif objects is None:
        kept = pc.fill_null(pc.equal(suite.cases["label"], label), False)
    else:
        kept = pc.is_in(ids, objects.filter(pc.equal(objects["label"], label))["case_id"].combine_chunks())
    cases = suite.cases.filter(kept)
    shown = cases.slice(offset, limit)
    tiles = tuple(_tile(suite, row, label) for row in shown.to_pylist())
    names = shown[IMAGE_NAME if IMAGE_NAME in shown.column_names else "case_id"].to_pylist()
    said = [label or _counts(tile.objects) for tile, label in zip(tiles, shown["label"].to_pylist(), strict=True)]
    return Wall(tiles, tuple(map(str, names)), tuple(said), len(cases))


def has_images(fingerprint: str) -> bool:
    """Return whether a suite has the file of some image."""
    suite = workspace().suite(fingerprint)
    return suite.media is not None and suite.cases["image"].null_count < len(suite)


def pictures_of(fingerprint: str, wanted: Sequence[tuple[str, Window | None]]) -> list[bytes | str | None]:
    """Return the small pictures of these images of a suite, see metrics.analysis.thumbnails."""
    return suite_thumbnails(workspace_path(), workspace().suite(fingerprint), fingerprint, wanted, SECONDS)


def _tile(suite: Suite, case: dict[str, Any], label: str | None) -> Tile:
    found: list[GalleryObject] = []
    if suite.annotations is not None:
        own = suite.annotations.filter(pc.equal(suite.annotations["case_id"], case["case_id"]))
        own = own if label is None else own.filter(pc.equal(own["label"], label))
        height = case["image_height"] if isinstance(case["image_height"], int) else None
        for row, rings in zip(own.select(["label", "area"]).to_pylist(), object_rings(own, height), strict=True):
            outline = Outline(None, None, None, None, rings or None)
            name = row["label"] or "(none)"
            found.append(GalleryObject("annotation", name, name, None, None, row["area"], outline, None))
    facts = {name: case[name] for name in ("case_id", "image", "image_width", "image_height")}
    return Tile(**facts, n=len(found), objects=tuple(found))


def _counts(objects: Sequence[GalleryObject]) -> str:
    """Return how many objects of each class there are in an image: `2 cow, 1 dog`."""
    return ", ".join(f"{n} {label}" for label, n in Counter(one.label for one in objects).most_common()) or "no object"
