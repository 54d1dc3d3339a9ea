"""What is sealed is compared when it is read: a changed bit is an error with the table's name, never another number."""

import hashlib
import json
import os
import random
import shutil
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from metrics.analysis.objects.object_index import object_index
from metrics.cli.failures import BAD_INPUT
from metrics.cli.main import main
from metrics.core.errors import InputError, RemoteError, RunCorrupt
from metrics.reports import render
from metrics.reports.archives.read import read_archive
from metrics.reports.archives.write import write_file
from metrics.store import Run, Workspace
from metrics.store.own_files import INPUTS
from metrics.store.remote.listing import listing_from
from metrics.store.run_check import check, damaged, verify
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.pages.page_scenes import judged_run, objects_run
from tests.store.conftest import copy_of

FLIPS = 400


def flip(path: Path, place: float = 0.5, bit: int = 2) -> None:
    """Change one bit of a file, `place` of the way through it."""
    content = bytearray(path.read_bytes())
    content[int(place * (len(content) - 1))] ^= 1 << bit
    path.write_bytes(content)


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    """A run with a judge and one with objects: between them they have every kind of table."""
    judged, objects = (tmp_path_factory.mktemp(name) for name in ("judged", "objects"))
    return {"judged": judged_run(judged), "objects": objects_run(objects)}


@pytest.fixture
def copied(sealed, tmp_path):
    """Gives a copy of one of these runs in a workspace of its own."""

    def copy(name: str) -> Run:
        return copy_of(sealed[name], tmp_path / name)

    return copy


@pytest.mark.attack(
    "workspace writer", "one bit of a sealed table is changed", "its sha256 is compared when it is read"
)
def test_of_400_flips_none_reads_back(run):
    path, draw = run.folder / "tables/scores.parquet", random.Random(7)
    whole, whole_scores = path.read_bytes(), run.scores
    for _ in range(FLIPS):
        path.write_bytes(whole)
        flip(path, draw.random(), draw.randrange(8))
        with pytest.raises(RunCorrupt, match="table scores differs from its seal"):
            _ = run.scores
    path.write_bytes(whole)
    assert run.scores.equals(whole_scores)


def library(run: Run, name: str) -> object:
    return run.stored_table(name).to_pylist()


def sql(run: Run, name: str) -> object:
    return run.query(f'SELECT * FROM "{name.replace("/", "_")}"').to_json()


def exported(run: Run, name: str) -> object:
    out = run.home.parents[1] / "exported.json"
    code = main(
        ["export", run.id, "--what", name.partition("/")[0], "-o", str(out), "--workspace", str(run.workspace.path)]
    )
    if code == BAD_INPUT:
        raise RunCorrupt("told by the command")
    return out.read_bytes()


def report(run: Run, _: str) -> object:
    return render(run, "json")


def written_archive(run: Run, _: str) -> object:
    write_file(run, run.home.parents[1] / "archive.zip")
    return None


READERS = [library, sql, exported, report, written_archive]
TABLES = {
    "judged": ("scores", "aggregates", "judgements"),
    "objects": ("curves/detection_pr_curve", "matches/detection_pr_curve", "replicates"),
}


@pytest.mark.attack(
    "workspace writer", "a bit of a table is changed before it is exported", "every reader passes one check"
)
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in TABLES.items() for name in names])
def test_every_reader_of_every_table_says_which_is_damaged(copied, kind, name, capsys):
    run = copied(kind)
    said = {read: read(run, name) for read in READERS if (read, name) != (exported, "replicates")}
    assert run.manifest is not None
    flip(run.folder / run.manifest["tables"][name]["file"])
    refused = []
    for read, before in said.items():
        try:
            assert read(run, name) == before, "another number"
            assert read is report, "who does not read the table"
        except RunCorrupt as failure:
            text = capsys.readouterr().err if read is exported else str(failure)
            assert f"table {name} differs from its seal" in text
            refused.append(read)
    assert {library, sql, written_archive} <= {*refused}


def test_every_kind_of_table_is_among_them(sealed):
    kinds = {name.partition("/")[0] for run in sealed.values() for name in (run.manifest or {})["tables"]}
    assert kinds == {name.partition("/")[0] for names in TABLES.values() for name in names}


@pytest.mark.attack(
    "workspace writer", "a bit of a cached index of objects is changed", "it has a checksum, and is rebuilt"
)
def test_a_changed_index_of_objects_is_made_again(copied):
    run = copied("objects")
    whole = object_index(run, "detection_pr_curve", "keen").score.tolist()
    (path,) = (run.workspace.path / "cache").rglob("*.arrow")
    content = path.read_bytes()
    for _ in range(2):
        with path.open("r+b") as file:  # in place, under what is mapped
            file.write(content[: len(content) // 2] + bytes(len(content) - len(content) // 2))
        assert object_index(run, "detection_pr_curve", "keen").score.tolist() == whole
    assert path.read_bytes() == content


@pytest.mark.attack("workspace writer", "a bit of a suite or of outputs is changed", "their sha256 stands in two seals")
@pytest.mark.parametrize("name", INPUTS)
def test_inputs_are_compared_as_well(copied, name):
    run = copied("objects")
    kind, _, file = name.partition("/")
    folder = run.suite_folder if kind == "suite" else run.outputs_folder
    whole = (folder / file).read_bytes()
    flip(folder / file)
    reads = (lambda: run.suite if kind == "suite" else run.outputs, lambda: run.input_path(name), lambda: verify(run))
    for read in reads:
        with pytest.raises(RunCorrupt, match=f"{file} differs from its seal"):
            read()
    assert [one.name for one in damaged(check(run))] == [name]
    (folder / file).unlink()
    assert [(one.name, one.verdict) for one in damaged(check(run))] == [(name, "lost")]
    (folder / file).write_bytes(whole)
    verify(run)


@pytest.mark.attack("workspace writer", "the labels of a stored suite are edited", "its facts have a checksum")
def test_the_facts_of_a_suite_are_compared_but_for_its_name(copied):
    run = copied("objects")
    run.workspace.rename_suite(run.spec.suite.fingerprint, "photographs")
    assert Run(run.folder).suite.name == "photographs"
    path = run.suite_folder / "suite.json"
    path.write_text(path.read_text().replace('"cat"', '"cow"'))
    with pytest.raises(RunCorrupt, match=r"suite\.json cannot be read .it was changed"):
        _ = Run(run.folder).suite


def of_an_earlier_version(run: Run) -> None:
    """Make the stored inputs of a run those of a version without seals, which wrote the same content in other bytes."""
    for folder, name in ((run.suite_folder, "suite.json"), (run.outputs_folder, "outputs.json")):
        facts = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps({key: facts[key] for key in facts if key not in ("files", "sha256")}))
        for path in folder.glob("*.parquet"):
            pq.write_table(pq.read_table(path), path, compression="snappy")


@pytest.mark.parametrize("way", ["import", "pull"])
def test_a_run_comes_to_inputs_that_another_version_wrote_in_other_bytes(workspace, tmp_path, way):
    here, there = Workspace(), Workspace(tmp_path / "there")
    for store in (here, there):
        finished(store, text_suite(), text_outputs(), "bleu")
    run, before = here.run("latest"), there.run("latest")
    of_an_earlier_version(before)
    (before.folder / "manifest.json").write_text(
        json.dumps({"tables": (before.manifest or {})["tables"], "sealed": "2026"})
    )
    if way == "import":
        write_file(run, tmp_path / "run.zip")
        read_archive(tmp_path / "run.zip", there)
    else:
        here.push(run, f"file://{tmp_path}/remote")
        there.pull(f"file://{tmp_path}/remote")
    for one in there.runs():
        verify(one)
        assert len(one.suite) == 6
    assert len(there.runs()) == 2


def test_a_url_has_inputs_in_the_bytes_of_two_versions(workspace, tmp_path):
    url, runs = f"file://{tmp_path}/remote", []
    for name in ("old", "new"):
        store = Workspace(tmp_path / name)
        run = finished(store, text_suite(), text_outputs(), "bleu")
        if name == "old":
            of_an_earlier_version(run)
            facts = {key: value for key, value in (run.manifest or {}).items() if key not in ("inputs", "sha256")}
            (run.folder / "manifest.json").write_text(json.dumps(facts))
        store.push(run, url)
        runs.append(run.id)
    for run_id in runs:
        verify(Workspace(url).run(run_id))


def test_of_an_earlier_version_the_suite_is_compared_with_its_fingerprint(project, tmp_path):
    golden = Path(shutil.copytree(project / "tests/golden/v1", tmp_path / "golden"))
    for run in Workspace(golden).runs():
        assert not damaged(check(run))
        flip(run.suite_folder / "cases.parquet", 0.2)
        assert [one.name for one in damaged(check(run)) if one.name != "suite/annotations.parquet"] == [
            "suite/cases.parquet"
        ]


@pytest.mark.attack("workspace writer", "the seal or the specification is edited", "the seal has a checksum of its own")
@pytest.mark.parametrize(("file", "old", "new", "why"), [
    pytest.param("manifest.json", '"rows": ', '"rows": 1', "manifest.json cannot be read .it was changed", id="rows"),
    pytest.param("manifest.json", "scores.parquet", "other.parquet", "its own sha256 differs", id="file"),
    pytest.param("spec.json", '"seed": 0', '"seed": 1', "spec.json differs from its seal", id="seed"),
    pytest.param("spec.json", "turns", "terns", "spec.json differs from its seal", id="name"),
])  # fmt: skip
def test_seal_and_specification_are_compared(run, file, old, new, why):
    text = (run.folder / file).read_text()
    assert old in text
    (run.folder / file).write_text(text.replace(old, new, 1))
    with pytest.raises(RunCorrupt, match=why):
        _ = Run(run.folder).scores
    assert Run(run.folder).state == "damaged"


@pytest.mark.attack("workspace writer", "a seal names a table outside of its run", "such a seal is none")
@pytest.mark.parametrize("file", ["../../secret.parquet", "/etc/passwd"])
def test_a_seal_names_only_files_of_its_run(run, file):
    facts = json.loads((run.folder / "manifest.json").read_text())
    del facts["sha256"]
    facts["tables"]["scores"]["file"] = file
    (run.folder / "manifest.json").write_text(json.dumps(facts))
    with pytest.raises(RunCorrupt, match="for the table scores"):
        _ = run.scores


def test_a_file_is_read_once_for_its_sha256(run, monkeypatch):
    path, read = run.folder / "tables/scores.parquet", []
    monkeypatch.setattr("metrics.store.manifest.SETTLED", -(10**18))  # as if it had been written long ago
    monkeypatch.setattr("metrics.store.manifest.sha256_of", lambda path: read.append(path) or "")
    from metrics.store import manifest

    for _ in range(3):
        manifest.digest_of(path)
    assert read == [path]
    os.utime(path, ns=(1, 1))
    manifest.digest_of(path)
    assert read == [path] * 2, "its times are others"


SEEDS = ('"seed": 0', '"seed": 1')  # of a specification, before and after it is changed by hand


@pytest.mark.attack("workspace writer", "a changed run is packed by hand", "an archive is compared before it is opened")
def test_an_archive_of_a_changed_run_is_refused(run, tmp_path):
    write_file(run, tmp_path / "whole.zip")
    with zipfile.ZipFile(tmp_path / "whole.zip") as whole, zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
        entries = {name: whole.read(name) for name in whole.namelist()}
        entries["run/spec.json"] = entries["run/spec.json"].decode().replace(*SEEDS).encode()
        listed = json.loads(entries["manifest.json"])
        listed["files"]["run/spec.json"]["sha256"] = hashlib.sha256(entries["run/spec.json"]).hexdigest()
        entries["manifest.json"] = json.dumps(listed).encode()
        for name, content in entries.items():
            other.writestr(name, content)
    with pytest.raises(InputError, match=r"spec\.json differs from its seal"):
        read_archive(tmp_path / "other.zip", Workspace(tmp_path / "there"))
    assert not Workspace(tmp_path / "there").runs()
    assert read_archive(tmp_path / "whole.zip", Workspace(tmp_path / "there")).run.id == run.id


@pytest.mark.attack(
    "network", "a run at a URL is changed with the sha256 of its list", "a pull compares it with its seal"
)
def test_a_changed_run_is_not_pulled(run, tmp_path):
    url = f"file://{tmp_path}/remote"
    Workspace().push(run, url)
    path = tmp_path / "remote" / "runs" / f"{run.id}.json"
    listing = listing_from(path.read_bytes(), url, run.id)
    texts = listing.texts | {"run/spec.json": listing.texts["run/spec.json"].replace(*SEEDS)}
    path.write_bytes(listing.model_copy(update={"texts": texts}).to_bytes())
    with pytest.raises(RemoteError, match=r"run/spec\.json is not the specification that was sealed"):
        Workspace(tmp_path / "there").pull(url)
    assert not (tmp_path / "there" / "runs").exists()


@pytest.mark.parametrize("name", ["suite/cases.parquet", "outputs/outputs.parquet", "run/tables/scores.parquet"])
def test_a_pull_fetches_what_is_damaged_again(run, tmp_path, name):
    url = f"file://{tmp_path}/remote"
    Workspace().push(run, url)
    kind, _, file = name.partition("/")
    folder = {"run": run.folder, "suite": run.suite_folder, "outputs": run.outputs_folder}[kind]
    flip(folder / file)
    assert damaged(check(run))
    Workspace().pull(url)
    assert not damaged(check(run))
