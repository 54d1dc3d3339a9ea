"""The files that a sealed run consists of, with its suite and outputs: what archives and remote workspaces hold."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from metrics.store.file_names import ARTIFACTS, MEDIA, OUTPUTS_FILES, RUN_FILES, SUITE_FILES
from metrics.store.input_seals import checked_facts
from metrics.store.manifest import FILE, checked
from metrics.store.run import Run


def sealed_files(run: Run, media: bool = True) -> dict[str, Path]:
    """Return the files of a sealed run by name: `run/…`, `suite/…`, `outputs/…`.

    media: with the images of the suite and the files of the agents.
    """
    return dict(_found(run, media))


def contradictions(texts: Mapping[str, str], digests: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield file and fault where what came from elsewhere is not what was sealed; its tables are compared by who reads.

    texts: the JSON files of a run by name; digests: the sha256 of the others. ValueError where one is none.
    """
    seal = checked(texts[f"run/{FILE}"])
    if seal.get("spec") not in (None, hashlib.sha256(texts["run/spec.json"].encode()).hexdigest()):
        yield "run/spec.json", "is not the specification that was sealed"
    for kind in ("suite", "outputs"):
        for file, own in checked_facts(texts[f"{kind}/{kind}.json"]).get("files", {}).items():
            name = f"{kind}/{file}"
            others = seal.get("inputs", {}).get(name, {})  # of a run from another machine: see input_seals
            if digests.get(name) not in (own["sha256"], others.get("sha256")):
                yield name, "is not the table that was stored"


def _found(run: Run, media: bool) -> Iterator[tuple[str, Path]]:
    tables: Mapping[str, Mapping[str, str]] = (run.manifest or {"tables": {}})["tables"]
    yield from _there("run/", run.folder, RUN_FILES)
    yield from ((f"run/{facts['file']}", run.folder / facts["file"]) for facts in tables.values())
    yield from _there("suite/", run.suite_folder, SUITE_FILES)
    yield from _there("outputs/", run.outputs_folder, OUTPUTS_FILES)
    if media:
        for prefix, folder in ((MEDIA, run.suite_folder), (ARTIFACTS, run.outputs_folder)):
            own = folder / prefix.rstrip("/").rpartition("/")[2]
            yield from ((prefix + path.name, path) for path in sorted(own.glob("*")) if path.is_file())


def _there(prefix: str, folder: Path, names: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    yield from ((prefix + name, folder / name) for name in names if (folder / name).exists())
