"""The splits of a data set in a folder or zip, such as train, val and test: which one is read, and why."""

import re
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from pathlib import PurePosixPath

from metrics.core.receipt import FileQuestion
from metrics.ingest.media.archive import Entry
from metrics.ingest.media.bundle import Bundle, pair
from metrics.ingest.media.images import SUFFIXES
from metrics.ingest.reader import Preview, Upload
from metrics.ingest.source import Problems

FOLDER = re.compile(r"(?:obj_)?(train|training|val|valid|validation|dev|test|testing)(?:[-_]?\d{2,4})?(?:_data)?")
KINDS = {"testing": "test", "valid": "val", "validation": "val", "dev": "val", "training": "train"}
PREFERRED = ("test", "val", "train")
ALL = "all"
LABELS = (".json", ".xml", ".txt")  # endings of files that may be labels
REST = "rest"  # what is in none of the folders of splits


def split_of(entry: Entry) -> str:
    """Return the folder that says to which split a file belongs, REST without one."""
    folders = entry.name.split("/")[:-1]
    return next((part for part in folders if FOLDER.fullmatch(part.lower())), REST)


def bundle_of_split(
    upload: Upload, labels: Sequence[Entry], problems: Problems, belongs: Callable[[Entry], bool] | None = None
) -> Bundle:
    """Return the folder or zip without the label files and images of the splits that are not read.

    The split is the one asked for (as a sheet of a workbook is), else the answer to a question, else test, else val,
    else train. Of outputs, where `belongs` says which label files are of images of the suite, it is every split that
    has some.
    """
    bundle = upload.folder
    place = _place_of(bundle, labels, problems)
    splits: dict[str, list[Entry]] = {}
    for entry in labels:
        splits.setdefault(place(entry), []).append(entry)
    if len(splits) < 2 and (upload.sheet is None or set(splits) == {REST}):
        return _narrow(bundle, splits, set(splits), place, problems)
    chosen = _choose(upload, splits, problems, belongs)
    for split, entries in splits.items():
        use = split in chosen
        problems.note(
            bundle.name, f"split {split}", "used" if use else "unused",
            "label files" if use else "another split was read; it can be chosen", len(entries), entries[0].name,
        )  # fmt: skip
    return _narrow(bundle, splits, chosen, place, problems)


def suite_of_split(upload: Upload, problems: Problems) -> Upload:
    """Return an upload of ground truth with the files of one split, where its label files lie in folders of several."""
    if upload.bundle is None or len(splits_of(upload)) < 2:
        return upload
    labels = _find_labels(upload.bundle, problems)[0]
    chosen = copy(upload)
    chosen.bundle = bundle_of_split(upload, labels, problems)
    return chosen


def splits_of(upload: Upload) -> tuple[str, ...]:
    """Return the splits in whose folders or lists files of labels are."""
    labels, place = ([], split_of) if upload.bundle is None else _find_labels(upload.bundle, Problems())
    return tuple(dict.fromkeys(split for entry in labels if (split := place(entry)) != REST))


def with_splits(seen: Preview, splits: tuple[str, ...], read: tuple[str, ...]) -> Preview:
    """Return the preview of a data set with the splits that may be chosen, of several, and the one that is read."""
    if len(splits) < 2:
        return seen
    return replace(seen, sheets=(*splits, ALL), sheet=read[0] if len(read) == 1 else ALL)


def _choose(
    upload: Upload, splits: dict[str, list[Entry]], problems: Problems, belongs: Callable[[Entry], bool] | None
) -> set[str]:
    if upload.sheet is not None:
        wanted = {split for split in splits if upload.sheet in (split, ALL) or _kind(split) == _kind(upload.sheet)}
        if not wanted:
            raise upload.error(f"no split {upload.sheet!r}", "one of " + ", ".join((*splits, ALL)))
        return wanted
    if belongs is not None:
        of_suite = {split for split, entries in splits.items() if any(map(belongs, entries))}
        return of_suite or set(splits)
    ranked = sorted(splits, key=lambda split: PREFERRED.index(_kind(split)) if split != REST else len(PREFERRED))
    counts = ", ".join(f"{split} ({len(entries):,} label files)" for split, entries in splits.items())
    question = FileQuestion("split", "Which split of the data set is evaluated?", (*ranked, ALL))
    answer = problems.ask(upload.name, question, f"the splits {counts}", default=ranked[0], place="splits")
    return set(splits) if answer == ALL else {answer or ranked[0]}


def _kind(split: str) -> str:
    match = FOLDER.fullmatch(split.lower())
    return split if match is None else KINDS.get(match[1], match[1])


def _find_labels(bundle: Bundle, problems: Problems) -> tuple[list[Entry], Callable[[Entry], str]]:
    """Return the files of labels in folders of splits; else, where lists name some, all that end alike; and whose."""
    labels = bundle.ending(*LABELS)
    within = [entry for entry in labels if split_of(entry) != REST]
    if within:
        return within, split_of
    place = _place_of(bundle, [], problems)
    endings = {entry.suffix for entry in labels if place(entry) != REST}
    return [entry for entry in labels if entry.suffix in endings], place


def _place_of(bundle: Bundle, labels: Sequence[Entry], problems: Problems) -> Callable[[Entry], str]:
    """Return what says the split of a file: its folder or, where that is one for all, lists of several splits."""
    listed = _read_lists(bundle, problems) if len(set(map(split_of, labels))) < 2 else {}
    return (lambda entry: listed.get(entry.stem, REST)) if len(set(listed.values())) > 1 else split_of


def _read_lists(bundle: Bundle, problems: Problems) -> dict[str, str]:
    """Return the split of each image, by the stem of its name, in lists such as train.txt and val.txt."""
    # They have names of files; those of VOC's ImageSets have stems, of which the folder Main is of objects.
    found: dict[str, str] = {}
    lists = [entry for entry in bundle.ending(".txt") if FOLDER.fullmatch(entry.stem.lower())]
    for entry in [entry for entry in lists if "/main/" in entry.name.lower()] or lists:
        stems = "imagesets/" in entry.name.lower()
        for line in (bundle.text(entry, problems) or "").splitlines():
            path = PurePosixPath(line.strip().replace("\\", "/"))
            if path.suffix.lower() in SUFFIXES or (stems and line.strip()):
                found.setdefault(path.stem if path.suffix.lower() in SUFFIXES else path.name.split()[0], entry.stem)
    return found


def _narrow(
    bundle: Bundle, splits: dict[str, list[Entry]], chosen: set[str], place: Callable[[Entry], str], problems: Problems
) -> Bundle:
    """Return the bundle without label files and images of other splits; images of a split without labels are said."""
    others = [entry for split, entries in splits.items() if split not in chosen for entry in entries]
    dropped = {entry.name for entry in (*others, *pair(others, bundle.images)) if entry is not None}
    for entry in bundle.entries:
        if entry.name in dropped or (entry in bundle.images and place(entry) not in (REST, *chosen)):
            entry.account()
    unlabelled: dict[str, list[str]] = {}
    for image in bundle.images:
        split = place(image)
        if split not in (REST, *chosen):
            dropped.add(image.name)
            if split not in splits:
                unlabelled.setdefault(split, []).append(image.name)
    for split, names in unlabelled.items():
        why = "images of a split without label files"
        problems.note(bundle.name, f"split {split}", "unused", why, len(names), names[0])
    return replace(bundle, entries=[entry for entry in bundle.entries if entry.name not in dropped])
