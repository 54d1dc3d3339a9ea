"""Push: a sealed run from a workspace to a URL, each object once, its listing last."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from metrics.core.errors import RemoteError, RunCorrupt
from metrics.store.manifest import file_facts
from metrics.store.remote.listing import FOLDER, TEXT, File, Listing
from metrics.store.remote.objects import Objects, opened
from metrics.store.remote.transfer import Listen, each, find_listing
from metrics.store.run import Run
from metrics.store.run_check import verify
from metrics.store.sealed_files import sealed_files


def push(run: Run, url: str, listen: Listen | None = None) -> bool:
    """Send a sealed run with its suite, outputs and media to a URL; return whether it was not there before.

    What is there already is not sent again, so a push that broke off is continued by the next one. Until its last
    step nobody sees the run. RemoteError where another run of that id is there, or the place cannot be used; RunError
    for an unfinished run, RunCorrupt for a table that differs from its seal.
    """
    listing, paths = listing_of(run)
    with opened(url) as place:
        before = find_listing(place, run.id)
        _check_same(place, before, listing)
        there = listing if before is None else before  # stored by another version, a suite may be of other bytes
        sent = {one.object: (one, paths[name]) for name, one in listing.files.items() if there.files.get(name) == one}
        each([partial(_send, place, *one) for one in sent.values()], [file.bytes for file, _ in sent.values()], listen)
        if before is not None:
            return False
        made = place.create(f"{FOLDER}/{run.id}.json", listing.to_bytes())
        _check_same(place, find_listing(place, run.id), listing)  # a server may not know conditional puts
        return made


def listing_of(run: Run) -> tuple[Listing, Mapping[str, Path]]:
    """Return the listing of a sealed run, and its files by name. RunError, RunCorrupt as of `verify`."""
    run.table_path("scores")  # raises RunError for an unfinished run
    verify(run)
    paths = sealed_files(run)
    texts = {name: path.read_text(encoding="utf-8") for name, path in paths.items() if name.endswith(TEXT)}
    files = {name: File(**file_facts(path)) for name, path in paths.items() if name not in texts}
    suite, outputs = run.spec.suite.fingerprint, run.spec.outputs.fingerprint
    return Listing(run=run.id, suite=suite, outputs=outputs, texts=texts, files=files), paths


def _check_same(place: Objects, there: Listing | None, listing: Listing) -> None:
    """Raise RemoteError where another run than this one is listed under its id."""
    if there is not None and there.seal != listing.seal:
        raise RemoteError(
            f"{place.place} has another run {listing.run}, which was pushed first and stays as it is; nothing of this "
            "one is listed there"
        )


def _send(place: Objects, file: File, path: Path) -> None:
    if place.size(file.object) == file.bytes:
        return
    place.send(file.object, path)
    stored = place.size(file.object)
    if stored != file.bytes:
        raise RemoteError(f"{place.place}/{file.object} has {stored} bytes after sending {file.bytes:,}; push again")
    if path.stat().st_size != file.bytes:
        raise RunCorrupt(f"{path} was changed while it was sent")
