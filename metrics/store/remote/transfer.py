"""Pull: sealed runs from a URL into a workspace, each file verified; and what push shares with it."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from threading import RLock

from metrics.core.errors import RemoteError, RunCorrupt, RunNotFound
from metrics.core.files import sha256_of, write_text, written_whole
from metrics.store.input_seals import checked_input, is_sealed
from metrics.store.remote.listing import FOLDER, SEAL, SPEC, TEXT, File, Listing, listing_from
from metrics.store.remote.objects import Objects, opened

AT_ONCE = 8  # requests
Listen = Callable[[int, int], None]  # bytes done, bytes of all
_WRITING = [RLock() for _ in range(64)]  # by path: two threads of a studio may want the same file


def pull(workspace: Path, url: str, run_ids: Sequence[str] = (), listen: Listen | None = None) -> list[str]:
    """Fetch runs, or all, from a URL into a workspace; return the ids of those that were not there before.

    Every file is compared with its sha256 before it is kept; what is there already is not fetched again. RunNotFound
    for an id that is not there; RemoteError where a file differs or is lost, another run of that id is in the
    workspace, or the place cannot be used: then the run is not in the workspace.
    """
    with opened(url) as place:
        listings = [_listed(place, run_id) for run_id in run_ids or listed_ids(place)]
        added = []
        for listing in listings:
            check_local(listing, workspace)
            if not listing.path(workspace, SEAL).exists():
                added.append(listing.run)
            fetch(place, listing, workspace, _missing(listing, workspace), listen)
            write_texts(listing, workspace)
        return added


def find_listing(place: Objects, run_id: str) -> Listing | None:
    """Return the listing of a run; None where there is none. RemoteError for a damaged one."""
    stored = place.read(f"{FOLDER}/{run_id}.json")
    return None if stored is None else listing_from(stored, place.place, run_id)


def listed_ids(place: Objects) -> list[str]:
    """Return the ids of the runs at a place, the oldest first."""
    return sorted(Path(name).stem for name in place.names(FOLDER) if name.endswith(TEXT))


def fetch(place: Objects, listing: Listing, workspace: Path, names: list[str], listen: Listen | None = None) -> None:
    """Fetch these files of a run into a workspace, each verified. RemoteError for one that differs or is lost."""
    chosen = [(listing.files[name], listing.path(workspace, name), name) for name in names]
    each([partial(_fetch, place, *one) for one in chosen], [file.bytes for file, *_ in chosen], listen)


def write_texts(listing: Listing, workspace: Path) -> None:
    """Write the small files of a run that are not there; its seal last: with it the run is there."""
    for name in sorted(listing.texts, key=lambda name: (name in (SPEC, SEAL), name == SEAL)):
        path = listing.path(workspace, name)
        if not path.exists():
            with _lock(path):
                write_text(path, listing.texts[name])


def _missing(listing: Listing, workspace: Path) -> list[str]:
    """Return the files that a workspace lacks.

    Where a suite or outputs are already stored, their tables may be of other bytes with the same content; one that
    differs from its own seal is fetched again. Those without a seal give way to those that the run was sealed with.
    """
    facts = {kind: listing.path(workspace, f"{kind}/{kind}.json") for kind in ("suite", "outputs")}
    seals = "inputs" in json.loads(listing.texts[SEAL])
    whole = {kind for kind, path in facts.items() if path.exists() and (is_sealed(path.parent) or not seals)}

    def lacks(name: str, file: File) -> bool:
        path = listing.path(workspace, name)
        if not path.exists():
            return True
        if name.partition("/")[0] in whole:
            return path.suffix == ".parquet" and _is_damaged(path)
        return (path.stat().st_size, sha256_of(path)) != (file.bytes, file.sha256)

    return [name for name, file in listing.files.items() if lacks(name, file)]


def _is_damaged(path: Path) -> bool:
    try:
        checked_input(path.parent, path.name)
    except RunCorrupt:
        return True
    return False


def check_local(listing: Listing, workspace: Path) -> None:
    """Raise RemoteError where the workspace has another run of that id."""
    for name in (SPEC, SEAL):
        path = listing.path(workspace, name)
        if path.exists() and path.read_text(encoding="utf-8") != listing.texts[name]:
            raise RemoteError(f"another run {listing.run} is in {workspace}; pull into another workspace")


def _listed(place: Objects, run_id: str) -> Listing:
    found = find_listing(place, run_id)
    if found is None:
        raise RunNotFound(f"there is no run {run_id!r} at {place.place}; `runs --workspace {place.place}` lists them")
    return found


def _fetch(place: Objects, file: File, path: Path, name: str) -> None:
    where = f"{place.place}/{file.object}, the {name} of the run,"
    with _lock(path), written_whole(path) as beside:
        with beside.open("wb") as target:
            if not place.copy_to(file.object, target, file.bytes):
                raise RemoteError(f"{where} is lost; restore it, or push the run again from where it is whole")
        if not (beside.stat().st_size == file.bytes and sha256_of(beside) == file.sha256):
            raise RemoteError(f"{where} was changed: its sha256 differs; remove it there and push the run again")


def _lock(path: Path) -> RLock:
    return _WRITING[hash(path) % len(_WRITING)]


def each(jobs: Sequence[Callable[[], None]], sizes: Sequence[int], listen: Listen | None) -> None:
    """Do jobs a few at a time and tell how many bytes are done; the first failure stops those not yet begun."""
    total, done = sum(sizes), 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        futures = {pool.submit(job): size for job, size in zip(jobs, sizes, strict=True)}
        try:
            for future in as_completed(futures):
                future.result()
                done += futures[future]
                if listen is not None:
                    listen(done, total)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
