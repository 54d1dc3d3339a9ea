"""The local copy of a remote workspace: a folder of the user's cache that fetches a file when it is first used.

It is a workspace like any other: runs are made in it, and labels and reviews kept. `remote.json` names the URL,
`listings/` the runs that are there.
"""

import hashlib
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from metrics.core.errors import AssayError, RemoteError
from metrics.core.files import PRIVATE, make_folder, read_json, write_json, written_whole
from metrics.core.installation import cache_folder
from metrics.store.own_files import ARTIFACTS, MEDIA, REMOTE
from metrics.store.remote.listing import Listing, listing_from
from metrics.store.remote.objects import Objects, checked_url, opened
from metrics.store.remote.transfer import AT_ONCE, check_local, fetch, find_listing, listed_ids, write_texts

LISTINGS = "listings"
FRESH = 10.0  # seconds for which a list of the remote runs is not asked for again
MOST_BYTES = 20 << 30  # of what was fetched; ASSAY_REMOTE_CACHE_BYTES is another number
_WHOLE: set[tuple[Path, str]] = set()  # the suites whose images are there
_ASKED: dict[Path, tuple[float, dict[str, str]]] = {}  # when the runs were listed, and what went wrong then


def local_path(place: str) -> Path:
    """Return the folder of the local copy of the workspace at a URL. InputError for a wrong URL."""
    url = checked_url(place)
    folder = cache_folder() / "remote" / hashlib.sha256(url.encode()).hexdigest()[:16]
    if not (folder / REMOTE).exists():
        make_folder(folder).chmod(PRIVATE)
        write_json(folder / REMOTE, {"url": url})
    return folder


def remote_url(workspace: Path) -> str | None:
    """Return the URL that a workspace is a local copy of; None for any other."""
    if not (workspace / REMOTE).exists():
        return None
    return str(read_json(workspace / REMOTE)["url"])


def list_runs(workspace: Path, refresh: bool = False) -> dict[str, str]:
    """Update the local copy's list of remote runs; return the errors by run, or by the URL.

    A list of a few seconds ago will do, unless `refresh`. A run in the bin stays there.
    """
    url = remote_url(workspace)
    if url is None:
        return {}
    at, wrong = _ASKED.get(workspace, (-FRESH, {}))
    if refresh or time.monotonic() - at >= FRESH:
        if workspace not in _ASKED:
            trim(workspace)
        wrong = _listed(workspace, url)
        _ASKED[workspace] = (time.monotonic(), wrong)
    return wrong


def complete_run(workspace: Path, path: Path) -> None:
    """Fetch a table of a run, where the workspace is a local copy that lacks it. RemoteError where it cannot be."""
    listing = _listing(workspace / LISTINGS / f"{path.relative_to(workspace / 'runs').parts[0]}.json")
    if listing is not None:
        _complete(workspace, listing, "run/", [path])


def complete_inputs(workspace: Path, kind: str, fingerprint: str, media: bool) -> None:
    """Fetch what a local copy lacks of a suite or outputs; `media`: with the images. RemoteError where it cannot be."""
    if remote_url(workspace) is None:
        return
    known = (workspace, fingerprint) in _WHOLE
    for listing in _listings(workspace):
        if fingerprint == (listing.suite if kind == "suites" else listing.outputs):
            prefix = "suite/" if kind == "suites" else "outputs/"
            _complete(workspace, listing, prefix, None, (media or kind != "suites") and not known)
            if media:
                _WHOLE.add((workspace, fingerprint))
            return


def listed_digests(workspace: Path, kind: str, fingerprint: str, name: str) -> set[str]:
    """Return the sha256 that a file of a suite or outputs has in the runs that are listed: versions differ in bytes."""
    file = f"{'suite' if kind == 'suites' else kind}/{name}"
    same = (one for one in _listings(workspace) if fingerprint == (one.suite if kind == "suites" else one.outputs))
    return {one.files[file].sha256 for one in same if file in one.files}


def trim(workspace: Path) -> None:
    """Remove the fetched files that were used the longest ago, until what is left is at most MOST_BYTES."""
    paths = {listing.path(workspace, name) for listing in _listings(workspace) for name in listing.files}
    files = [(max(found.st_atime, found.st_mtime), found.st_size, path) for path in paths for found in _stat(path)]
    left = sum(size for _, size, _ in files)
    most = int(os.environ.get("ASSAY_REMOTE_CACHE_BYTES") or MOST_BYTES)
    for _, size, path in sorted(files):
        if left <= most:
            break
        path.unlink(missing_ok=True)
        left -= size


def _stat(path: Path) -> Iterator[os.stat_result]:
    if path.exists():
        yield path.stat()


def _listed(workspace: Path, url: str) -> dict[str, str]:
    """Store the listings that are new; return what went wrong."""
    wrong: dict[str, str] = {}
    try:
        with opened(url) as place:
            kept = make_folder(workspace / LISTINGS)
            listed = (run_id for run_id in listed_ids(place) if not (kept / f"{run_id}.json").exists())
            new = [run_id for run_id in listed if not (workspace / "bin" / run_id).exists()]
            with ThreadPoolExecutor(AT_ONCE) as pool:
                failures = pool.map(lambda run_id: _take(place, workspace, run_id), new)
                wrong = {run_id: why for run_id, why in zip(new, failures, strict=True) if why}
    except AssayError as failure:
        wrong[url] = f"The list of runs is not up to date. {failure}"
    return wrong


def _take(place: Objects, workspace: Path, run_id: str) -> str | None:
    """Store the listing of a run with its small files; return what is wrong with it."""
    try:
        listing = find_listing(place, run_id)
        if listing is not None:
            check_local(listing, workspace)
            write_texts(listing, workspace)
            with written_whole(workspace / LISTINGS / f"{run_id}.json") as beside:
                beside.write_bytes(listing.to_bytes())
    except RemoteError as failure:
        return str(failure)
    return None


def _complete(workspace: Path, listing: Listing, prefix: str, only: list[Path] | None, media: bool = True) -> None:
    names = [
        name
        for name in listing.files
        if name.startswith(prefix)
        and (media or not name.startswith((MEDIA, ARTIFACTS)))
        and (only is None or listing.path(workspace, name) in only)
        and not listing.path(workspace, name).exists()
    ]
    url = remote_url(workspace)
    if names and url is not None:
        with opened(url) as place:
            fetch(place, listing, workspace, names)


def _listings(workspace: Path) -> Iterator[Listing]:
    for path in sorted((workspace / LISTINGS).glob("[0-9]*.json"), reverse=True):
        if (listing := _listing(path)) is not None:
            yield listing


def _listing(path: Path) -> Listing | None:
    return _read_listing(path) if path.exists() else None


@cache
def _read_listing(path: Path) -> Listing:
    return listing_from(path.read_bytes(), str(path.parent.parent), path.stem)
