"""Archives of runs: nothing is lost on the way, nothing damaged or foreign gets in."""

import io
import json
import shutil
import stat
import zipfile
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metrics.analysis import leaderboard
from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.library.run import Workspace as LibraryWorkspace
from metrics.reports.archives import layout
from metrics.reports.archives.read import read_archive
from metrics.reports.archives.write import archive
from metrics.store import Run, Workspace
from metrics.store.own_files import ARTIFACTS, MEDIA
from metrics.store.run_check import verify
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.golden.make import FOLDER, WRITERS
from tests.judge.judge_scenes import judged_run, rag
from tests.judge.server import JudgeServer
from tests.reports.sealed_again import entries, seal_again


@pytest.fixture
def made(workspace: Path) -> Run:
    return finished(Workspace(), text_suite(), text_outputs(), "rouge", name="river")


@pytest.fixture(scope="module")
def packed(module_workspace: Path) -> bytes:
    return archive(finished(Workspace(), text_suite(), text_outputs(), "rouge", name="river"))


def opened(packed: bytes, place: Path, name: str = "run.zip", **how: bool) -> Run:
    place.mkdir(exist_ok=True)
    (place / name).write_bytes(packed)
    return read_archive(place / name, Workspace(place / "workspace"), **how).run


def packed_again(contents: dict[str, bytes], listed: bool = True) -> bytes:
    """An archive of these entries; `listed`: with a manifest that fits them."""
    if listed:
        manifest = json.loads(contents[layout.MANIFEST])
        manifest["files"] = {
            name: {"bytes": len(content), "sha256": sha256(content).hexdigest()}
            for name, content in contents.items()
            if name != layout.MANIFEST
        }
        contents = contents | {layout.MANIFEST: json.dumps(manifest).encode()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in contents.items():
            file.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize("writer", WRITERS)
def test_runs_of_every_version_come_back_as_they_were(writer: str, tmp_path: Path) -> None:
    for run in Workspace(shutil.copytree(FOLDER / writer, tmp_path / "golden")).runs():
        packed = archive(run)
        back = opened(packed, tmp_path / run.id)
        assert (back.id, back.spec, back.manifest) == (run.id, run.spec, run.manifest)
        verify(back)
        assert back.suite.fingerprint == run.suite.fingerprint
        assert back.outputs.outputs.equals(run.outputs.outputs)
        assert (leaderboard(back).cells, archive(back)) == (leaderboard(run).cells, packed)
        parts = entries(packed)[layout.README].decode().partition("## Columns")[2].split("\n### ")[1:]
        assert {part.partition("\n")[0] for part in parts} >= {"aggregates", "compliance"}
        own = {part.partition("\n")[0] for part in parts if "| of the evaluator |" in part}
        assert own <= {"aggregates", "curves", "matches"}, "every other column is described"


def test_images_and_files_are_carried_or_left_out(workspace: Path, tmp_path: Path, made: Run) -> None:
    (made.suite_folder / "media").mkdir()
    (made.suite_folder / "media" / "a.png").write_bytes(b"not decoded here")
    (made.outputs_folder / "artifacts").mkdir()
    (made.outputs_folder / "artifacts" / ("0" * 32)).write_bytes(b"x")
    small, whole = archive(made, media=False), archive(made)
    assert entries(whole).keys() - entries(small).keys() == {MEDIA + "a.png", ARTIFACTS + "0" * 32}
    back = opened(small, tmp_path / "other")
    assert back.suite.media is None
    back = opened(whole, tmp_path / "other")  # the images come later
    assert (back.suite_folder / "media" / "a.png").read_bytes() == b"not decoded here"
    assert (back.outputs_folder / "artifacts" / ("0" * 32)).exists()


def test_it_is_opened_once_and_another_run_of_that_id_is_kept(packed: bytes, tmp_path: Path) -> None:
    opened(packed, tmp_path / "other")
    found = read_archive(tmp_path / "other" / "run.zip", Workspace(tmp_path / "other" / "workspace"))
    assert not found.added
    manifest = found.run.folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"seconds": ', '"seconds": 1'))
    with pytest.raises(InputError, match=f"another run {found.run.id} in this workspace"):
        opened(packed, tmp_path / "other")


@pytest.mark.attack("workspace writer", "a key in the log of an archived run", "it is redacted")
def test_keys_are_taken_out_of_the_log(made: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "open-sesame-123")
    (made.folder / "log.txt").write_text("asked with open-sesame-123 and sk-abcdefgh12345678")
    assert entries(archive(made))[layout.LOG] == b"asked with [key] and [key]"


def _changed(name: str, change: Callable[[bytes], bytes]) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    return lambda contents: contents | {name: change(contents[name])}


def _spec(**changes: object) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    return _changed("run/spec.json", lambda text: json.dumps(json.loads(text) | changes).encode())


def _escaping(contents: dict[str, bytes]) -> dict[str, bytes]:
    seal = json.loads(contents["run/manifest.json"])
    seal["tables"]["scores"]["file"] = "../../../../etc/passwd"
    return contents | {"run/manifest.json": json.dumps(seal).encode()}


def _images_in_lists(table: bytes) -> bytes:
    cases = pq.read_table(io.BytesIO(table))
    lists = pa.array([["a.png"]] * len(cases), pa.list_(pa.string()))
    changed, buffer = cases.set_column(cases.column_names.index("image"), "image", lists), io.BytesIO()
    pq.write_table(changed, buffer)
    return buffer.getvalue()


BAD = {  # what was done to an archive whose list was then made to fit, and what is said
    "another run's id": (_spec(id="20200101-000000-abcdef"), "the seal says other run: '20200101"),
    "an id that leads elsewhere": (_spec(id="../../x"), "the seal says other run: '../../x'"),
    "a later schema": (_spec(schema=99), "has schema 99; this Assay reads up to"),
    "no specification": (
        _changed("run/spec.json", lambda _: b"[]"),
        "run/spec.json: found spec.json cannot be read (it holds a list)",
    ),
    "a table elsewhere": (
        _escaping,
        "run/manifest.json: found manifest.json cannot be read (it has the file '../../../../etc/passwd'",
    ),
    "other scores": (
        lambda contents: contents | {"run/tables/scores.parquet": contents["run/tables/aggregates.parquet"]},
        "run/tables/scores.parquet: found table scores ",
    ),
    "a table that is none": (
        _changed("suite/cases.parquet", lambda _: b"PAR1 nothing PAR1"), "suite/cases.parquet is unreadable"
    ),
    "other cases": (
        _changed("suite/suite.json", lambda text: text.replace(b'"labels": []', b'"labels": ["a"]')),
        "other cases than those of the fingerprint",
    ),
    "a part is missing": (
        lambda contents: {name: content for name, content in contents.items() if name != "outputs/outputs.json"},
        "found no outputs/outputs.json",
    ),
    "text that is not UTF-8": (
        _changed("suite/suite.json", lambda text: text.replace(b'"name"', b'"n\xffme"')),
        "found suite.json cannot be read",
    ),
    "text that is nested too deeply": (
        _changed("suite/suite.json", lambda _: b"[" * 10_000),
        "found suite.json cannot be read"  # why depends on how deep the stack may be: hypothesis allows more
    ),
    "images that are no names": (
        _changed("suite/cases.parquet", _images_in_lists), "cases.parquet is unreadable: Unsupported cast from list"
    ),
    "outputs without their facts": (
        _changed("outputs/outputs.json", lambda text: text.replace(b'"left_out"', b'"left"')),
        "found outputs.json cannot be read (it has no left_out)"
    ),
    "outputs of other models": (
        _changed("outputs/outputs.json", lambda text: text.replace(b'"good"', b'"best"')),
        "outputs/outputs.json: found it states other models"
    ),
    "models that were asked without a description": (
        lambda contents: contents | {"outputs/targets.json": b'["a"]'}, "descriptions that are none"
    ),
    "a foreign file": (lambda contents: contents | {"run/evil.py": b"x"}, "run/evil.py: found a name that no archive"),
    "a path that leaves": (lambda contents: contents | {"../evil": b"x"}, "a path that leaves the archive"),
    "an absolute path": (lambda contents: contents | {"/etc/evil": b"x"}, "a path that leaves the archive"),
    "an archive in it": (lambda contents: contents | {"suite/media/a.zip": b"x"}, "an archive in the archive"),
    "a bomb": (lambda contents: contents | {"tables/scores.csv": b"0" * (30 << 20)}, "compressed more than 200 : 1"),
}  # fmt: skip


@pytest.mark.attack(
    "workspace writer", "an archive leaves its folder, bursts or is of another run", "all is checked first"
)
@pytest.mark.parametrize(("change", "said"), BAD.values(), ids=BAD)
def test_what_is_no_sealed_run_is_refused(change, said, packed, tmp_path) -> None:
    contents = change(entries(packed))
    with suppress(ValueError, KeyError, TypeError, RecursionError):  # what is no JSON cannot be sealed
        contents = seal_again(contents)
    with pytest.raises(InputError) as refused:
        opened(packed_again(contents), tmp_path / "other")
    assert said in str(refused.value)
    assert not [path for path in (tmp_path / "other" / "workspace").rglob("*") if path.is_file()]


@pytest.mark.attack("workspace writer", "an archive whose tables differ from their seal", "nothing of it is opened")
def test_all_damage_is_listed(packed: bytes, tmp_path: Path) -> None:
    contents = entries(packed)
    contents["run/spec.json"] = contents["run/spec.json"].replace(b"river", b"rover")
    contents["suite/suite.json"] += b" "
    del contents["README.md"]
    contents["extra.txt"] = b"x"
    with pytest.raises(InputError) as refused:
        opened(packed_again(contents, listed=False), tmp_path / "other")
    said = [str(problem) for problem in refused.value.problems]
    assert [line.partition(";")[0].split(": found ")[0] for line in said] == [
        "run.zip: README.md", "run.zip: extra.txt", "run.zip: run/spec.json", "run.zip: suite/suite.json",
    ]  # fmt: skip
    assert "expected the file that manifest.json lists" in said[0]
    assert "the file was changed" in said[2]


@pytest.mark.attack("workspace writer", "an archive with links, devices or paths that leave it", "they are refused")
def test_links_and_other_files_are_refused(packed: bytes, tmp_path: Path) -> None:
    buffer = io.BytesIO(packed)
    with zipfile.ZipFile(buffer, "a") as file:
        link = zipfile.ZipInfo("suite/media/link.png")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc/passwd")
    with pytest.raises(InputError, match="a symbolic link"):
        opened(buffer.getvalue(), tmp_path / "other")
    for content, said in (
        (b"text", "expected a run archive"),
        (packed_again({"a": b"b"}, listed=False), "no manifest"),
    ):
        with pytest.raises(InputError, match=said):
            opened(content, tmp_path / "other")


def test_replies_travel_and_replay(workspace: Path, tmp_path: Path) -> None:
    with JudgeServer() as server:
        run = judged_run(workspace, server.url, "faithfulness")
    packed = archive(run)
    assert layout.REPLIES not in entries(archive(run, replies=False))
    assert entries(packed).keys() >= {"prompts/claims.txt", "prompts/entailment.txt", layout.EVIDENCE}
    recorded = tmp_path / "replies.jsonl"
    recorded.write_bytes(entries(packed)[layout.REPLIES])
    suite, outputs = rag()
    resources = {"judge": run.spec.judge | {"replay": str(recorded)}}
    again = finished(Workspace(tmp_path / "replayed"), suite, outputs, "faithfulness", resources=resources)
    assert again.aggregates.equals(run.aggregates)
    other = Workspace(tmp_path / "other" / "workspace")
    opened(packed, tmp_path / "other")
    assert not (other.path / "cache").exists(), "replies are trusted only if asked for"
    assert read_archive(tmp_path / "other" / "run.zip", other, replies=True).replies == len(
        run.judgements["key"].unique()
    )


def test_command_and_library(made: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, other = str(tmp_path / "run.zip"), str(tmp_path / "other")
    assert main(["archive", made.id, "-o", file, "--without-media", "--without-replies"]) == 0
    assert main(["import", file, "--workspace", other]) == 0
    assert f"river: imported\n{made.id}\n" in capsys.readouterr().out
    assert LibraryWorkspace(other).import_archive(file).id == made.id
    LibraryWorkspace().run(made.id).archive(tmp_path / "again.zip", media=False, replies=False)
    assert (tmp_path / "again.zip").read_bytes() == Path(file).read_bytes()
    assert main(["import", str(tmp_path / "none.zip"), "--workspace", other]) == 2
    assert "no such file" in capsys.readouterr().err
