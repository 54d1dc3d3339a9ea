"""Checking a sealed run: which of its files are as they were sealed, which differ, which are lost."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from metrics.core.errors import RunCorrupt, RunError
from metrics.store.input_seals import MEDIA, has_fingerprint, input_facts
from metrics.store.manifest import has_manifest, listing_facts
from metrics.store.own_files import INPUTS, REMOTE
from metrics.store.run_files import RunFiles

Verdict = Literal["whole", "differs", "lost", "not sealed", "not here"]
NEEDED = ("cases.parquet", "outputs.parquet")  # of every suite and of all outputs
BAD = ("differs", "lost")
SEAL, SPECIFICATION, TABLE = "seal", "specification", "table "
ASKED = ("suite", "outputs", "seed", "evaluators")  # of the specification, which every manifest repeats


class Checked(NamedTuple):
    """One part of a run: `seal`, `specification`, `table NAME`, `suite/cases.parquet`, `suite/media` …

    verdict: `not sealed` was stored by an earlier version without a checksum; `not here` are images that an archive or
    a workspace at a URL left out. why: in words, for the last four.
    """

    name: str
    verdict: Verdict
    why: str = ""

    @property
    def table(self) -> str | None:
        """The name of the table that it is."""
        return self.name.removeprefix(TABLE) if self.name.startswith(TABLE) else None


def check(run: RunFiles) -> list[Checked]:
    """Return every part of a finished run with its verdict. Raises RunError for an unfinished one."""
    try:
        manifest = run.manifest
    except RunCorrupt as failure:
        name = SPECIFICATION if has_manifest(run.folder) else SEAL
        return [Checked(name, _verdict(failure), str(failure))]
    if manifest is None:
        raise RunError(f"run {run.id} is {run.state}: only a finished run is sealed")
    return [Checked(SEAL, "whole"), _specification(run), *_tables(run), *_inputs(run), *_media(run)]


def can_be_made_again(found: list[Checked]) -> bool:
    """Return whether what is damaged can be computed from what is whole: tables can, and the seal of a new run."""
    return all(one.table is not None or one.name == SEAL for one in damaged(found))


def damaged(found: list[Checked]) -> list[Checked]:
    """Return the parts that differ or are lost."""
    return [one for one in found if one.verdict in BAD]


def _verdict(failure: RunCorrupt) -> Verdict:
    return "lost" if failure.lost else "differs"


def _specification(run: RunFiles) -> Checked:
    try:
        spec, manifest = run.spec, run.manifest or {}
    except RunError as failure:
        return Checked(SPECIFICATION, "differs", str(failure))
    said = {**spec.stored, "suite": spec.suite.fingerprint, "outputs": spec.outputs.fingerprint}
    other = [name for name in ASKED if name in manifest and manifest[name] != said[name]]
    if other:
        return Checked(SPECIFICATION, "differs", f"the seal says other {', '.join(other)}")
    return Checked(SPECIFICATION, "whole")


def _tables(run: RunFiles) -> Iterator[Checked]:
    for name in (run.manifest or {"tables": {}})["tables"]:
        try:
            run.table_path(name)
        except RunCorrupt as failure:
            yield Checked(TABLE + name, _verdict(failure), str(failure))
        else:
            yield Checked(TABLE + name, "whole")


def _inputs(run: RunFiles) -> Iterator[Checked]:
    for name in INPUTS:
        kind, _, file = name.partition("/")
        folder = run.suite_folder if kind == "suite" else run.outputs_folder
        if not folder.exists():
            if file in NEEDED:
                yield Checked(name, "lost", f"run {run.id} is damaged: there is no {folder}; restore it from a backup")
            continue
        try:
            path = run.stored_input(name)
            sealed = file in input_facts(folder).get("files", {}) or name in (run.manifest or {}).get("inputs", {})
        except RunCorrupt as failure:
            yield Checked(name, _verdict(failure), str(failure))
            continue
        if path is None:
            continue
        if sealed or has_fingerprint(folder):
            yield Checked(name, "whole")
        elif kind == "suite":
            yield Checked(
                name, "differs", "the suite's content has another fingerprint than the one that it is named by"
            )
        else:
            yield Checked(name, "not sealed", "stored by an earlier version, which kept no checksum")


def _media(run: RunFiles) -> Iterator[Checked]:
    for kind, folder in (("suites", run.suite_folder), ("outputs", run.outputs_folder)):
        name = f"{'suite' if kind == 'suites' else kind}/{MEDIA[kind]}"
        try:
            said = input_facts(folder).get("media") if folder.exists() else None
        except RunCorrupt:  # told with its tables
            continue
        if said is not None and (run.workspace.path / REMOTE).exists():
            yield Checked(name, "not here", "a workspace at a URL has them, and gives them when they are shown")
        elif said is not None:
            yield _listed(name, folder / MEDIA[kind], said)


def _listed(name: str, folder: Path, said: dict[str, object]) -> Checked:
    if not folder.exists():
        return Checked(name, "not here", f"{said['files']:,} files, which an archive can leave out")
    found = listing_facts(folder)
    if found == said:
        return Checked(name, "whole")
    why = f"{found['files']:,} files of {found['bytes']:,} bytes; sealed were {said['files']:,} of {said['bytes']:,}"
    return Checked(name, "lost" if found["files"] < said["files"] else "differs", why)
