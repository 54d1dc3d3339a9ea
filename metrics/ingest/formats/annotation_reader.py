"""A reader of what annotation tools write: it only says how the images and objects are gathered."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import orjson
import pyarrow as pa

from metrics.core.array_types import Ints
from metrics.core.receipt import FileQuestion
from metrics.core.suite import ASSUMED_SIDE, Outputs, Suite, sizes_assumed
from metrics.ingest.arrays import is_null, only
from metrics.ingest.media.archive import UNREADABLE, Entry
from metrics.ingest.media.bundle import Bundle, case_ids, image_names, need_unique, pair
from metrics.ingest.media.class_names import classes_by_number
from metrics.ingest.media.drawn_objects import DrawnObjects, Picture
from metrics.ingest.media.splits import splits_of, suite_of_split, with_splits
from metrics.ingest.media.suite_images import IMAGE_NAME, SuiteImages, annotations_of, metadata_of, without_spoiled
from metrics.ingest.media.xml_files import parse
from metrics.ingest.output_parts import Part, objects_part, outputs_of
from metrics.ingest.reader import FIRST_ROWS, Preview, Reader, Request, Upload, need_images
from metrics.ingest.source import Loaded, Problems
from metrics.ingest.tables.columns import Role
from metrics.ingest.tables.object_tables import check_labels, find_cases, sizes_of

HEAD = 1 << 16
LOOKED_AT = 5  # files, to recognise a folder or zip
MOST_BYTES = 200 << 20  # of one file
UNSCORED = "a score for each object"
SHARES = (1, 1)  # the size of an image whose boxes are shares of a size that its file does not say
UNNAMED = ""  # the case of an image that its file does not name
IN_ORDER = FileQuestion("images", "The file does not say which images its records are of.", ("in_order",))
Purpose = Literal["suite", "outputs", "preview"]
Gather = Callable[[DrawnObjects, Upload, Purpose], None]


class Document(NamedTuple):
    """A file of an upload: its name in messages, its bytes; of a folder or zip its place and a case id."""

    name: str
    data: bytes
    entry: Entry | None = None
    case: str | None = None

    @property
    def stem(self) -> str:
        """The name without folders and ending."""
        return self.name.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def annotation_reader(
    name: str, recognises: Callable[[Upload], bool], gather: Gather, contents: str, scores: str
) -> Reader:
    """Return the reader of a format. `gather` adds the upload's images and objects; `scores` says where scores are."""

    def gathered(upload: Upload, problems: Problems, purpose: Purpose, both: bool = False) -> DrawnObjects:
        found = DrawnObjects(upload.bundle.name if upload.bundle else upload.name, problems, both=both)
        gather(found, upload, purpose)
        return found

    def preview(upload: Upload, request: Request) -> Preview:
        chosen = upload if request.role == "outputs" else suite_of_split(upload, request.problems)
        found = gathered(chosen, request.problems, "outputs" if request.role == "outputs" else "preview")
        scores = [thing.score for thing in found.things if thing is not None]
        scored = bool(scores) and None not in scores
        sheet = found.sheet()
        table = sheet.with_files() if len(sheet) else sheet.table
        if not scored:
            table = table.drop_columns(["score"])
        note = f"{len(found.pictures):,} images, {len(found):,} objects"
        models = tuple(sorted({thing.model for thing in found.things if thing is not None and thing.model}))
        role: Role = "outputs" if scored else "suite"
        if found.answered_by and request.role != "outputs":
            models, role = found.answered_by, "combined"
            note += f", predictions of {', '.join(models)}"
        seen = Preview.of_objects(upload, name, role, "detection", table, note, *found.notes, models=models)
        return with_splits(seen, splits_of(upload), splits_of(chosen))

    def suite(upload: Upload, request: Request, pictures: SuiteImages) -> Loaded[Suite]:
        found = gathered(suite_of_split(upload, request.problems), request.problems, "suite")
        named = request.suite_name or upload.stem
        return _suite(found, named, request, pictures)

    def outputs(upload: Upload, request: Request, suite: Suite) -> Part:
        need_images(upload, suite)
        found = gathered(upload, request.problems, "outputs")
        return _outputs(found, request.model, upload.model, suite, scores)

    def combined(upload: Upload, request: Request) -> Loaded[tuple[Suite, Outputs]]:
        problems, bundle = request.problems, upload.bundle
        pictures = SuiteImages(None, None, None, problems)
        if bundle is not None and bundle.images:
            pictures = SuiteImages(bundle.path, request.media, bundle.name, problems)
        found = gathered(suite_of_split(upload, problems), problems, "suite", both=True)
        if not found.answered_by:
            raise upload.error("ground truth without predictions", f"predictions beside it, with {scores}")
        known = _suite(found, request.suite_name or upload.stem, request, pictures)
        answers = gathered(upload, problems, "outputs", both=True)
        part = _outputs(answers, request.model, upload.model, known.value, scores)
        answered = outputs_of([part], known.value, problems)
        both, notes = (known.value, answered.value), (*known.notes, *answered.notes)
        return Loaded(both, answered.problems, notes, answered.missing)

    return Reader(name, recognises, preview, suite, outputs, combined, contents=contents)


def heads(upload: Upload, *suffixes: str) -> Iterator[bytes]:
    """Yield how the first files of these endings begin; those that cannot be read are left to the reader."""
    if upload.bundle is None:
        yield upload.source.data[:HEAD].to_pybytes().lstrip()
        return
    for entry in upload.bundle.ending(*suffixes)[:LOOKED_AT]:
        try:
            with entry.open() as stream:
                yield stream.read(HEAD).removeprefix(b"\xef\xbb\xbf").lstrip()
        except UNREADABLE:
            continue


def mostly(fits: Iterable[bool]) -> bool:
    """Return whether more than half of the lines looked at fit a format: a wrong one is a problem, no other format."""
    found = list(fits)
    return 2 * sum(found) > len(found)


def files_of(bundle: Bundle, *endings: str, named: str = "") -> list[Entry]:
    """Return the files with these endings; where some are `named` so (FiftyOne's samples.json), only those."""
    entries = bundle.ending(*endings)
    return [entry for entry in entries if entry.base == named] or entries


def documents(upload: Upload, problems: Problems, *endings: str, named: str = "") -> Iterator[Document]:
    """Yield the file that was uploaded by itself, or the `files_of` the folder or zip; unreadable ones are problems."""
    if upload.bundle is None:
        yield Document(upload.name, upload.source.data.to_pybytes())
        return
    entries = files_of(upload.bundle, *endings, named=named)
    for entry, case in zip(entries, case_ids(entries), strict=True):
        data = upload.bundle.data(entry, problems, MOST_BYTES)
        if data is not None:
            yield Document(upload.bundle.file(entry), data, entry, case)


def json_arrays(found: DrawnObjects, upload: Upload, expected: str) -> Iterator[tuple[Document, list[Any]]]:
    """Yield the JSON files with the array that each holds; of others they are problems."""
    for document in documents(upload, found.problems, ".json"):
        value = json_of(document, found.problems)
        if value is not None:
            found.add_file(document.name)
        if isinstance(value, list):
            yield document, value
        elif value is not None:
            found.problems.add(document.name, "no array", f"an array of {expected}", fatal=True)


def xml_annotations(found: DrawnObjects, upload: Upload, expected: str) -> Iterator[tuple[Document, Any]]:
    """Yield the XML files with their root <annotation>; other files are problems."""
    for document in documents(upload, found.problems, ".xml"):
        root = parse(document.name, document.data, expected, found.problems)
        if root is not None and root.tag == "annotation":
            yield document, root
            continue
        if root is not None:
            found.problems.add(document.name, f"a root element <{root.tag[:60]}>", expected)
        found.lost += 1


def json_of(document: Document, problems: Problems) -> Any:
    """Return the value of a JSON file; None and a problem where it cannot be read."""
    try:
        return orjson.loads(document.data.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        found = f"{error.msg} at line {error.lineno}, character {error.colno}"
        problems.add(document.name, found, "a JSON document", error.lineno)
        return None


def _add_pictures(found: DrawnObjects, upload: Upload, entries: Sequence[Entry]) -> list[int]:
    """Return the number of the image of each label file; it has the name of the file, the image's where this is there.

    InputError where two files have one name.
    """
    bundle = upload.folder
    ids = case_ids(list(entries))
    need_unique(bundle, list(entries), ids, found.problems)
    pictures = pair(list(entries), bundle.images)
    names = image_names(ids, pictures, bundle.images)
    unlabelled = len(bundle.images) - len({image.name for image in pictures if image is not None})
    if unlabelled:
        found.notes.append(f"Images without a label file: {unlabelled:,}. They are not part of the suite.")
    return [found.add_picture(Picture(name, case=case)) for name, case in zip(names, ids, strict=True)]


def label_texts(found: DrawnObjects, upload: Upload, entries: Sequence[Entry]) -> Iterator[tuple[int, str]]:
    """Yield the number of the image and the text of each label file; unreadable ones are problems."""
    for image, entry in zip(_add_pictures(found, upload, entries), entries, strict=True):
        text = upload.folder.text(entry, found.problems)
        if text is None:
            found.lost += 1
        else:
            found.add_file(upload.folder.file(entry))
            yield image, text


def _suite(found: DrawnObjects, name: str, request: Request, pictures: SuiteImages) -> Loaded[Suite]:
    problems, ids, sheet = found.problems, found.case_ids(), found.sheet()
    first: dict[str, int] = {}
    for place, case in enumerate(ids):
        if first.setdefault(case, place) != place:
            other = found.pictures[first[case]].name
            problems.add(found.file, f"the image {found.pictures[place].name!r} again, first as {other!r}",
                         "every image once", fatal=True)  # fmt: skip
    if any(picture.case == UNNAMED for picture in found.pictures):
        problems.add(found.file, "objects without the name of their image", "a name for each image", fatal=True)
    problems.stop()
    shares = [picture[1:3] == SHARES for picture in found.pictures]
    pairs = zip(found.pictures, shares, strict=True)
    known = [picture._replace(width=None, height=None) if share else picture for picture, share in pairs]
    cases = pa.table(
        {
            "case_id": pa.array(ids, pa.string()),
            IMAGE_NAME: pa.array([picture.name for picture in found.pictures], pa.string()),
            "image_width": pa.array([picture.width for picture in known], pa.int32()),
            "image_height": pa.array([picture.height for picture in known], pa.int32()),
            **metadata_of(problems, found.file, found.path, [picture.beside for picture in found.pictures]),
        }
    )
    cases = pictures.take(cases)
    if any(shares):
        cases = pictures.assume_sizes(cases)
        own = sizes_of(cases)
        for place in np.flatnonzero(shares).tolist():
            found.rescale(place, *own[ids[place]])
    columns = found.columns()
    sheet.leave_out()
    problems.left_out += found.lost
    annotations = annotations_of(cases, found.images, columns)
    crowd = [thing is not None and thing.crowd for thing in found.things]
    place = annotations.column_names.index("is_crowd")
    annotations = annotations.set_column(place, "is_crowd", pa.array(crowd, pa.bool_()))
    difficult = [thing is not None and thing.difficult for thing in found.things]
    if any(difficult):
        annotations = annotations.append_column("difficult", pa.array(difficult, pa.bool_()))
    good = np.bincount(found.images[~sheet.bad], minlength=len(cases))
    kept = (np.bincount(found.images, minlength=len(cases)) == 0) | (good > 0)
    order = np.argsort(np.array(ids, object)[kept], kind="stable")
    spoiled = {ids[place] for place in found.images[sheet.bad].tolist()}
    cases, annotations = without_spoiled(
        problems, found.file, only(cases, kept).take(pa.array(order)), only(annotations, ~sheet.bad), spoiled
    )
    labels = found.labels or tuple(sorted(set(annotations["label"].to_pylist()) - {None}))
    annotations = _of_every_class(annotations, labels)
    if scored := [score for score in found.scores() if score is not None]:
        problems.note(found.file, "scores", "unused", "ground truth has none", len(scored), scored[0])
    task = request.task or "detection"
    return pictures.suite(found.file, name, task, cases, annotations, labels, notes=tuple(found.notes))


def _cases_of(found: DrawnObjects, suite: Suite) -> pa.Array:
    """Return the row of the suite's case of each image; images without names are in its order, if a person says so."""
    problems = found.problems
    if all(picture.case != UNNAMED for picture in found.pictures):
        return find_cases(pa.array([picture.name for picture in found.pictures], pa.string()), suite.cases)
    what = f"{len(found.pictures):,} images without names"
    if problems.ask(found.file, IN_ORDER, what) and len(found.pictures) != len(suite):
        problems.add(found.file, what, f"{len(suite):,}, as the suite has", fatal=True)
    problems.stop()
    return pa.array(np.arange(len(suite), dtype=np.int32))


def _named_classes(found: DrawnObjects, labels: pa.Array, suite: Suite) -> pa.Array:
    """Return the labels, numbers as the classes that they stand for where the suite's classes have other names."""
    texts = set(labels.to_pylist()) - {None}
    if not texts or not all(text.isdecimal() for text in texts) or not texts.isdisjoint(suite.labels):
        return labels
    names = classes_by_number(found.problems, found.file, "label", map(int, texts), suite)
    found.problems.stop()
    return pa.array([None if text is None else names.get(int(text), text) for text in labels.to_pylist()], pa.string())


def _of_every_class(annotations: pa.Table, labels: tuple[str, ...]) -> pa.Table:
    """Return the annotations with those of no class repeated for each, and renumbered."""
    none = is_null(annotations["label"])
    if not none.any():
        return annotations
    parts = [only(annotations, ~none)]
    column = annotations.column_names.index("label")
    of_all, count = only(annotations, none), int(none.sum())
    parts += [of_all.set_column(column, "label", pa.repeat(label, count)) for label in labels]
    joined = pa.concat_tables([part.cast(annotations.schema) for part in parts])
    numbers = pa.array(np.arange(1, len(joined) + 1))
    return joined.set_column(joined.column_names.index("annotation_id"), "annotation_id", numbers)


def _outputs(found: DrawnObjects, model: str | None, stem: str, suite: Suite, where: str) -> Part:
    problems, sheet, scores = found.problems, found.sheet(), found.scores()
    if len(found) and not sheet.bad.all() and all(score is None for score in scores):
        raise problems.fail(found.file, "objects without scores", f"{UNSCORED}: {where}")
    index = _cases_of(found, suite)
    known = ~is_null(index)
    places: Ints = np.asarray(index.fill_null(0).to_numpy(zero_copy_only=False), np.int64)
    count = np.bincount(found.images, minlength=len(found.pictures))
    ids, sizes, assumed = suite.cases["case_id"].to_pylist(), sizes_of(suite.cases), sizes_assumed(suite.cases)
    for place, picture in enumerate(found.pictures):
        if not count[place]:
            continue
        if not known[place]:
            problems.add(found.file, f"predictions for {picture.name!r}", "an image of the suite")
            continue
        size = sizes.get(ids[places[place]])
        if picture[1:3] == SHARES and size != SHARES:
            if size is None:
                known[place] = False
                expected = "its size, which the suite does not say"
                problems.add(found.file, f"{picture.name!r} with boxes of 0–1", expected)
            else:
                found.rescale(place, *size)
            continue
        if assumed and size == (ASSUMED_SIDE, ASSUMED_SIDE):
            if picture.width is None or picture.height is None:
                known[place] = False
                expected = "the size of the image, or boxes of 0–1: the suite has none of its images' sizes"
                problems.add(found.file, f"{picture.name!r} with boxes in pixels", expected)
                continue
            found.rescale(place, size[0] / picture.width, size[1] / picture.height)
        elif size is not None and None not in picture[1:3] and size != picture[1:3]:
            known[place] = False
            what = f"{picture.name!r} of {picture.width:,} × {picture.height:,} pixels"
            problems.add(found.file, what, f"{size[0]:,} × {size[1]:,}, as the suite says")
    sheet.bad |= ~known[found.images]
    unscored = np.array([score is None for score in scores], bool) & ~sheet.bad
    sheet.report(unscored, "score", "nothing", f"{UNSCORED}: {where}")
    columns = found.columns()
    columns["label"] = _named_classes(found, columns["label"], suite)
    check_labels(sheet, "label", columns["label"], suite)
    versions = sorted({thing.model for thing in found.things if thing is not None and thing.model})
    if model is not None and len(versions) > 1:
        what = f"{len(versions)} models: {', '.join(versions[:FIRST_ROWS])}"
        problems.add(found.file, what, "one model in it, to be given another name", fatal=True)
    models = [model or (thing.model if thing is not None else None) or stem for thing in found.things]
    predictions = pa.table(
        {
            "case_id": suite.cases["case_id"].take(pa.array(places[found.images])),
            "model": pa.array(models, pa.string()),
            "score": pa.array(scores, pa.float64()),
            **columns,
        }
    )
    return objects_part(sheet, predictions, model or stem)
