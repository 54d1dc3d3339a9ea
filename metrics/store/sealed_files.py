"""The files that a sealed run consists of, with its suite and outputs: what archives and remote workspaces hold."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from metrics.core.files import is_half_made
from metrics.store.own_files import ARTIFACTS, MEDIA, OUTPUTS_FILES, RUN_FILES, SUITE_FILES
from metrics.store.run import Run


def sealed_files(run: Run, media: bool = True) -> dict[str, Path]:
    """Return the files of a sealed run by name: `run/…`, `suite/…`, `outputs/…`.

    media: with the images of the suite and the files of the agents.
    """
    return dict(_list_files(run, media))


def _list_files(run: Run, media: bool) -> Iterator[tuple[str, Path]]:
    tables: Mapping[str, Mapping[str, str]] = (run.manifest or {"tables": {}})["tables"]
    yield from _there("run/", run.folder, RUN_FILES)
    yield from ((f"run/{facts['file']}", run.folder / facts["file"]) for facts in tables.values())
    yield from _there("suite/", run.suite_folder, SUITE_FILES)
    yield from _there("outputs/", run.outputs_folder, OUTPUTS_FILES)
    if media:
        for prefix, folder in ((MEDIA, run.suite_folder), (ARTIFACTS, run.outputs_folder)):
            own = folder / prefix.rstrip("/").rpartition("/")[2]
            files = (path for path in sorted(own.glob("*")) if path.is_file() and not is_half_made(path.name))
            yield from ((prefix + path.name, path) for path in files)


def _there(prefix: str, folder: Path, names: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    yield from ((prefix + name, folder / name) for name in names if (folder / name).exists())
