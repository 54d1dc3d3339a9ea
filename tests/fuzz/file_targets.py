"""Targets for the other files that Assay opens: settings, teams, targets, rubrics, labels, documents, run archives."""
# ruff: noqa: PT017 - what is refused is looked at, too

import json
import shutil
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from metrics.cli.run_command import evaluation_in, read_evaluations
from metrics.core.errors import InputError
from metrics.core.project_file import project_file, project_plugins
from metrics.core.suite import Suite
from metrics.ingest.documents import read_documents
from metrics.ingest.label_files import read_labels
from metrics.ingest.media.archive import UNREADABLE
from metrics.judge.cache import HEAD, Replay, Stored
from metrics.judge.rubrics import USUAL_RUBRIC, read_rubric, rubric_text
from metrics.reports.archives import layout
from metrics.reports.archives.read import read_archive
from metrics.reports.archives.write import archive
from metrics.store import Workspace
from metrics.store.run_check import verify
from metrics.store.team_file import read_team
from metrics.targets.spec import targets_of
from tests.corpora.pdf_files import pdf
from tests.fuzz.mutation import mutated, zip_entries, zip_of
from tests.fuzz.target import Input, Target, text_of
from tests.golden.make import FOLDER as GOLDEN
from tests.ingest.test_label_files import LONG, RATERS, WIDE

PROJECT = b"""plugins = ["evals.py:brevity"]
[defaults]
evaluators = ["rouge", "bleu"]
seed = 3
[evaluate.nightly]
suite = "suite.csv"
outputs = ["a.csv", "b.csv"]
fail_under = { "rouge.rougeL" = 0.4 }
param = { rouge = { stem = true } }
"""
TEAM = b"""[auth]
redirect_uri = "https://studio.example/oauth2callback"
cookie_secret = "c2f1a07be95d4836f0b7d21e6a3c984d"
client_id = "assay"
client_secret = "x"
server_metadata_url = "https://id.example/.well-known/openid-configuration"
[team]
role_claim = "groups"
roles = { staff = "editor", heads = "admin" }
everyone = "viewer"
groups = ["a", "b"]
hours = 8
"""
SPECS: tuple[tuple[str, Any], ...] = (
    ("t.json", {"kind": "model", "model": "gpt-4o-mini", "prompt": "{question}", "temperature": 0.5, "seed": 1}),
    ("t.json", {"models": ["a", "b"], "prompts": {"short": "{question}", "long": "Explain {question}"}}),
    ("t.json", [{"url": "https://bot.example/ask", "headers": {"Authorization": "Bearer {BOT_KEY}"}, "answer": "a[0].b",
                 "body": {"q": "{question}"}}, {"argv": ["cat", "-"]}, {"function": "no_such:thing"}]),
    ("t.yaml", {"kind": "http", "url": "http://localhost/{case_id}", "method": "GET", "name": "bot"}),
)  # fmt: skip
OWN = b"[tool.assay.evaluate.a]\nsuite = 's'\n"
PAGE = (
    b"<html><head><title>Mills</title></head><body><h1>Wind</h1><p>It turns &amp; grinds.</p><ul><li>a</li></ul></html>"
)
NOTE = b"# Wind\n\nIt turns, and it grinds the corn of the vil-\nlage.\n\n- one\n- two\n"
DRAWN = b"BT /F1 12 Tf 20 100 Td (The mill turns in the wind all day.) Tj ET"


def check_project(given: Input, folder: Path) -> None:
    """What a project file says is an evaluation."""
    (folder / given.name).write_bytes(given.data)
    file = project_file(folder)
    if file is None:
        return
    project_plugins(file)
    for values in read_evaluations(file).values():
        try:
            evaluation_in(values)
        except SystemExit as failure:
            raise InputError("argparse refuses it") from failure


def check_team(given: Input, folder: Path) -> None:
    """A team gives somebody a role, for a while."""
    file = folder / "team.toml"
    file.touch(mode=0o600)
    file.write_bytes(given.data)
    team = read_team(file)
    assert team.roles or team.everyone
    assert 0 < team.hours <= 720


def check_spec(given: Input, folder: Path) -> None:
    """A target is the same when its description is written and read."""
    file = folder / given.name
    file.write_bytes(given.data)
    found = targets_of(file)
    for target in found:
        text = json.dumps(target.model_dump(mode="json"), allow_nan=False)
        (folder / "again.json").write_text(text)
        assert targets_of(folder / "again.json") == (target,)


def check_rubric(given: Input, _: Path) -> None:
    """A rubric is the same when it is written and read, as JSON and as YAML."""
    rubric = read_rubric(text_of(given.data), given.name)
    for ending in (".json", ".yaml"):
        again = read_rubric(rubric_text(rubric, ending), Path(given.name).stem + ending)
        assert again == rubric, ending


@cache
def labelled() -> Suite:
    return Suite.from_rows("s", "text", [{"case_id": name, "question": name} for name in ("c1", "c2", "007")])


def check_labels(given: Input, folder: Path) -> None:
    """Labels are of cases of the suite, and those that are left out are told."""
    file = folder / given.name
    file.write_bytes(given.data)
    try:
        whole = read_labels(file, suite=labelled(), models=("a", "b"))
    except InputError as failure:
        assert failure.problems
        found = read_labels(file, suite=labelled(), models=("a", "b"), keep_good_rows=True)
        assert found.problems
    else:
        found = read_labels(file, suite=labelled(), models=("a", "b"), keep_good_rows=True)
        assert not whole.problems
        same = [name for name in whole.table.column_names if name != "given"]
        assert whole.table.select(same).equals(found.table.select(same))
    found.table.validate(full=True)
    assert set(found.table["case_id"].to_pylist()) <= {"c1", "c2", "007"}


def check_documents(given: Input, folder: Path) -> None:
    """A document has text, or a problem says why not."""
    file = folder / given.name
    file.write_bytes(given.data)
    found = read_documents([file])
    assert found.documents or found.problems or found.others or file.suffix == ".zip"
    for document in found.documents:
        assert document.blocks
        assert all(block.text.strip() for block in document.blocks)
        "".join(block.text for block in document.blocks).encode("utf-8")


def check_replies(given: Input, folder: Path) -> None:
    """An exported cache is read whole or not at all."""
    file = folder / "replies.jsonl"
    file.write_bytes(given.data)
    Replay(file)


def check_archive(given: Input, folder: Path) -> None:
    """Of an archive that is refused nothing is kept; one that is opened is a run that verifies."""
    (folder / "run.zip").write_bytes(given.data)
    workspace = Workspace(folder / "workspace")
    try:
        run = read_archive(folder / "run.zip", workspace, replies=True).run
    except InputError:
        assert not [path for path in workspace.path.rglob("*") if path.is_file()]
        raise
    verify(run)
    assert run.suite.fingerprint
    assert run.outputs.fingerprint


@cache
def archives() -> list[Input]:
    with TemporaryDirectory() as folder:
        place = Path(shutil.copytree(GOLDEN / "v1", Path(folder) / "golden"))
        return [Input("run.zip", archive(run)) for run in Workspace(place).runs()]


def mutate_archive(given: Input, seeds: Any, rng: Random) -> Input:
    """Change entries and make the archive's list of them fit, so that what they hold is looked at."""
    try:
        entries = zip_entries(given.data) if rng.random() < 0.7 else {}
    except UNREADABLE:
        entries = {}  # changed as bytes before
    if not entries:
        return Input(given.name, mutated(given.data, rng, rng.choice(seeds).data))
    for _ in range(rng.randint(1, 2)):
        name = rng.choice(list(entries))
        entries[name] = mutated(entries[name], rng)
    try:
        manifest = json.loads(entries[layout.MANIFEST])
        manifest["files"] = {
            name: {"bytes": len(content), "sha256": sha256(content).hexdigest()}
            for name, content in entries.items()
            if name != layout.MANIFEST
        }
        entries[layout.MANIFEST] = json.dumps(manifest).encode()
    except (ValueError, TypeError, KeyError):
        pass  # the list itself was changed
    return Input(given.name, zip_of(entries))


def rubrics() -> list[Input]:
    return [Input("own" + ending, rubric_text(USUAL_RUBRIC, ending).encode()) for ending in (".json", ".yaml")]


def documents() -> list[Input]:
    files = {"a.html": PAGE, "b.md": NOTE, "c.txt": NOTE, "d.pdf": pdf(DRAWN, None)}
    return [*(Input(name, data) for name, data in files.items()), Input("e.zip", zip_of(files))]


def replies() -> list[Input]:
    stored = Stored("m", "verdict", '{"verdict": "yes"}', False, 3, 2, 0.1, 1.5, 9.0, ({"yes": 0.75},))
    row = {"key": "0" * 64, **stored.record}
    return [Input("replies.jsonl", b"\n".join(json.dumps(one).encode() for one in (HEAD, row, row)))]


TARGETS = (
    Target("project_file", lambda: [Input("assay.toml", PROJECT), Input("pyproject.toml", OWN)], check_project),
    Target("team_file", lambda: [Input("team.toml", TEAM)], check_team),
    Target("target_spec", lambda: [Input(name, json.dumps(spec).encode()) for name, spec in SPECS], check_spec),
    Target("rubric", rubrics, check_rubric),
    Target("labels", lambda: [Input("l.csv", text.encode()) for text in (LONG, WIDE, RATERS)], check_labels),
    Target("document", documents, check_documents),
    Target("judge_cache", replies, check_replies),
    Target("run_archive", archives, check_archive, mutate=mutate_archive),
)
