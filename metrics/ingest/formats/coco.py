"""COCO JSON's ground truth (images, annotations, categories); every bad value is listed with its index."""

from typing import Any, NamedTuple, TypeGuard

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Bools, Int32s, Ints
from metrics.core.suite import METADATA, STRINGS
from metrics.ingest.arrays import only
from metrics.ingest.formats.coco_keys import (
    ANNOTATION_KEYS,
    CATEGORY_KEYS,
    CROWDS,
    IMAGE_KEYS,
    UNUSED_KEYS,
    note_document,
)
from metrics.ingest.formats.coco_listing import (
    FIRST_TEXT_ID,
    Ids,
    Listing,
    checked_labels,
    image_name,
    names,
    same_class,
)
from metrics.ingest.media.suite_images import without_spoiled
from metrics.ingest.source import Problems, Source
from metrics.vision.coco_columns import (
    Fault,
    category_faults,
    codes_of,
    crowd_faults,
    id_faults,
    member_faults,
    size_faults,
)

IMAGE, OWN_IMAGE = "the id of an image in images", "the id of an image of the suite"
CATEGORY, OWN_CATEGORY = "the id of a category", "the id of a category of the suite"


class Categories(NamedTuple):
    """The names of the categories by their number, ascending; `ids` has those whose ids are texts."""

    labels: dict[int, str]
    ids: Ids

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the classes; none where a class has a text in place of one."""
        return () if self.ids else tuple(self.labels)


def is_ground_truth(document: Any) -> TypeGuard[dict[str, Any]]:
    """Return whether a JSON document is COCO ground truth."""
    found = document.keys() if isinstance(document, dict) else set()
    return "images" in found and not found.isdisjoint(("annotations", "categories"))


def refuse_panoptic(source: Source, document: dict[str, Any]) -> None:
    """Raise InputError for panoptic segments without their maps."""
    listed = document.get("annotations")
    first = listed[0] if isinstance(listed, list) and listed else None
    if isinstance(first, dict) and "segments_info" in first:
        expected = "a folder or zip of this JSON and the PNG maps that it names"
        raise source.error("COCO panoptic segments", expected)


def read_ground_truth(
    source: Source, document: dict[str, Any], problems: Problems, need_masks: bool = False
) -> tuple[pa.Table, pa.Table, Categories]:
    """Return the cases by image id, the annotations in file order, and the categories, both ascending.

    Ids that are texts follow the numbers, in the order of the file. Where masks are needed a wrong segmentation is a
    problem.
    """
    refuse_panoptic(source, document)
    images, annotations, categories = read_listings(source, document, problems)
    labels, image_ids = categories.labels, Ids()
    ids, sizes = read_images(images, image_ids)
    files, tags = [image_name(record) for record in images.records], images.values("tags")
    wrong = [own is not None and (not isinstance(own, list) or bool(are_no_texts(own).any())) for own in tags]
    images.wrong(np.array(wrong, bool), "tags", tags, 'a list of texts such as ["night", "rain"]')
    kept = [list(dict.fromkeys(own)) if own and not bad else None for own, bad in zip(tags, images.bad, strict=True)]
    called = [name if name and isinstance(name, str) else None for name in files]
    checked = checked_labels(images, labels)
    sides = np.minimum(sizes, 2**31 - 1).astype(np.int32)
    cases = pa.table(
        {
            "case_id": image_ids.texts(ids),
            "image_width": pa.array(sides[:, 1], mask=sides[:, 1] < 1),
            "image_height": pa.array(sides[:, 0], mask=sides[:, 0] < 1),
            METADATA + "image_name": pa.array(called, pa.string()),
            **({"tags": pa.array(kept, STRINGS)} if any(tags) else {}),
            **checked,
            **images.keep_others(IMAGE_KEYS, UNUSED_KEYS),
        }
    )
    order = ascending(ids, ~images.bad)
    found = _annotations(annotations, ids[order], sizes[order], categories, image_ids, need_masks)
    table = {
        "case_id": image_ids.texts(found.image_ids),
        "annotation_id": pa.array(found.ids),
        "label": same_class(annotations, label_column(labels, found.category), labels.values()),
        **found.shapes,
        "is_crowd": pa.array(found.crowd),
    }
    note_document(source, document, problems)
    if nameless := sum(not isinstance(name, str) or not name for name in files):
        why = "these images have none: only their ids name them"
        problems.note(source.name, "names of images", "unused", why, nameless)
    named = IMAGE_KEYS if any(images.values("file_name")) else IMAGE_KEYS | {"coco_url": "metadata.image_name"}
    images.note_keys(named, UNUSED_KEYS)
    annotations.note_keys(ANNOTATION_KEYS | dict.fromkeys(CROWDS, "is_crowd"), UNUSED_KEYS)
    for listing in (images, annotations):
        listing.leave_out()
    spoiled = image_ids.texts(found.image_ids).filter(pa.array(annotations.bad)).to_pylist()
    kept = only(pa.table(table), ~annotations.bad)
    return *without_spoiled(problems, source.name, cases.take(pa.array(order)), kept, spoiled), categories


class _Annotations(NamedTuple):
    """Annotations in file order: ids, image ids and their codes, codes of categories, crowds, Listing.shapes."""

    ids: Ints
    image_ids: Ints
    image: Int32s
    category: Int32s
    crowd: Bools
    shapes: dict[str, pa.Array]


def read_listings(source: Source, document: dict[str, Any], problems: Problems) -> tuple[Listing, Listing, Categories]:
    """Return the images, the annotations, and the categories by ascending id.

    Wrong categories are fatal: annotations rest on them, so none can be left out. Of categories with one name only
    those that annotations are of count, as tools write a root or a group under the name of a class.
    """
    listing = Listing(source, "categories", document.get("categories"), problems)
    images = Listing(source, "images", document.get("images"), problems)
    annotations = Listing(source, "annotations", document.get("annotations", []), problems)
    problems.stop()
    known = Ids()
    ids, texts = listing.ids("id", known, new=True), listing.values("name")
    listing.note_keys(CATEGORY_KEYS, UNUSED_KEYS)
    used = np.isin(ids, annotations.ids("category_id", known))
    named = names(texts)
    same = [np.flatnonzero(named == name) for name in set(named.tolist()) if (named == name).sum() > 1]
    aside = np.zeros(len(ids), bool)
    for places in same:
        kept = places[used[places]] if used[places].any() else places[-1:]
        aside[places] = ~np.isin(places, kept)
        for at in places[aside[places]].tolist():
            why = f"no annotation is of it, and category {listing.records[kept[0]].get('id')} has its name"
            problems.note(source.name, f"categories[{at}]", "unused", why, 1, listing.records[at])
    if aside.any():
        listing.keep(~aside)
        ids, texts, used = ids[~aside], listing.values("name"), used[~aside]
    listing.apply(category_faults(ids, names(texts)))
    if listing.bad.any():
        problems.fatal = True
        problems.stop()
    if document.get("annotations") and not used.all():
        some = ", ".join(repr(texts[at]) for at in np.flatnonzero(~used)[:5].tolist())
        problems.note(source.name, "categories without annotations", "used", f"classes, {some}", int((~used).sum()))
    return images, annotations, Categories({int(ids[at]): texts[at] for at in np.argsort(ids, kind="stable")}, known)


def read_images(listing: Listing, known: Ids) -> tuple[Ints, Ints]:
    """Return the ids of the images and their sizes [I, 2] (height, width), 0 where they are not known."""
    ids = listing.ids("id", known, new=True)
    listing.apply(id_faults(ids))
    sizes = np.column_stack([listing.integers(side, default=0) for side in ("height", "width")])
    listing.apply(Fault(fault.key, fault.wrong & (sizes[:, at] != 0), fault.expected)
                  for at, fault in enumerate(size_faults(sizes)))  # fmt: skip
    if unknown := int((sizes == 0).any(axis=1).sum()):
        why = "these images state none: it is taken from the images, where they are given"
        listing.problems.note(listing.file, "sizes of images", "unused", why, unknown)
    return ids, sizes


def _annotations(
    listing: Listing, known: Ints, sizes: Ints, categories: Categories, image_ids: Ids, need_masks: bool
) -> _Annotations:
    """Return the annotations of the images with the ids `known`, ascending, and the sizes [I, 2]."""
    image_numbers = listing.ids("image_id", image_ids)
    image = codes_of(image_numbers, known)
    listing.apply(member_faults("image_id", image, IMAGE))
    category = category_codes(listing, categories, OWN_CATEGORY)
    crowd = next((key for key in CROWDS if any(value is not None for value in listing.values(key))), "iscrowd")
    flags = listing.zero_or_one(crowd)
    listing.apply(crowd_faults(flags))
    size_of = dict(zip(known.tolist(), map(tuple, sizes.tolist()), strict=True))
    shapes = listing.shapes(image_numbers, size_of, need_masks=need_masks)
    return _Annotations(_annotation_ids(listing), image_numbers, image, category, flags == 1, shapes)


def _annotation_ids(listing: Listing) -> Ints:
    """Return the ids of annotations; where one has none, or a text, all are numbered from 1 in the file's order."""
    texts = Ids()
    ids = listing.ids("id", texts, new=True)
    absent = np.zeros(len(ids), bool)
    if None in (values := listing.values("id")):
        absent[:] = [value is None for value in values]
    ids[absent] = FIRST_TEXT_ID + len(texts) + np.arange(int(absent.sum()))
    listing.apply(id_faults(ids))
    if not (texts or absent.any()):
        return ids
    why = "annotations without an id, or with a text, are numbered from 1 in the file's order"
    listing.note_unused("id", why, len(ids), next(iter(texts), ""))
    return np.arange(1, len(ids) + 1)


def category_codes(listing: Listing, categories: Categories, expected: str) -> Int32s:
    """Return the codes of the records' categories; −1 for unknown ones, which are recorded as problems."""
    known = np.fromiter(categories.labels, np.int64, len(categories.labels))
    codes = codes_of(listing.ids("category_id", categories.ids), known)
    listing.apply(member_faults("category_id", codes, expected))
    return codes


def label_column(labels: dict[int, str], codes: Int32s) -> pa.Array:
    """Return the names of categories, null for −1; `codes` are places in `labels`."""
    return pa.array(list(labels.values()), pa.string()).take(pa.array(codes, mask=codes < 0))


def ascending(ids: Ints, kept: Bools) -> Ints:
    """Return the places that are kept, by ascending id."""
    places = np.flatnonzero(kept)
    return places[np.argsort(ids[places], kind="stable")]


def are_no_texts(values: list[Any]) -> Bools:
    """Return which values [N] are no text, or an empty one."""
    return np.fromiter((not (isinstance(value, str) and value) for value in values), bool, len(values))
