"""python -m metrics perturb."""

import pytest

from metrics.cli.main import main
from metrics.ingest import read_suite
from metrics.perturbations import KINDS, perturb

SUITE = "id,prompt,expected_answer\n1,Is the lazy reader late?,yes\n2,6 × 7?,42\n"


@pytest.fixture
def file(tmp_path, workspace):
    path = tmp_path / "suite.csv"
    path.write_text(SUITE)
    return path


def test_it_writes_the_suite_and_reports_what_was_made(file, capsys):
    out = file.with_name("made.jsonl")
    arguments = ["perturb", str(file), "--kinds", "copy,yz", "--intensity", "high", "--seed", "4", "-o", str(out)]
    assert main(arguments) == 0
    told = capsys.readouterr()
    assert told.out == f"5 cases in {out}\n"
    assert told.err.splitlines() == [
        "copy: 2 variants", "yz: 1 variant", "  1 without: nothing in its text can be changed this way",
    ]  # fmt: skip
    made = read_suite(out)
    assert made.fingerprint == perturb(read_suite(file), ["copy", "yz"], "high", 4).suite.fingerprint
    assert made.cases["question"].to_pylist()[-1] == "Is the layz reader late?"
    assert (main([*arguments, "--quiet"]), capsys.readouterr().err) == (0, "")


def test_a_judge_is_asked_for_its_kinds_alone(file, judge_server):
    out = file.with_name("made.csv")
    assert main(["perturb", str(file), "-o", str(out), "--quiet"]) == 0
    kinds = set(read_suite(out).cases["perturbation"].to_pylist()) - {None}
    assert kinds == {name for name, kind in KINDS.items() if not kind.is_judged}
    judge_server.say("perturbation.paraphrase.medium", {"text": "In other words."})
    out = file.with_name("made.parquet")
    judge = ["--judge", "scripted", "--judge-base-url", judge_server.url]
    assert main(["perturb", str(file), "--kinds", "paraphrase", "-o", str(out), "--quiet", *judge]) == 0
    assert read_suite(out).cases["question"].to_pylist()[2:] == ["In other words."] * 2


@pytest.mark.parametrize(("arguments", "told"), [
    (["--kinds", "typo"], "kinds: found 'typo'; expected one of copy, "),
    (["--fields", "answer"], "fields: found 'answer'; expected one of question, contexts, source"),
    (["--kinds", "paraphrase"], "no judge is chosen: name a model"),
    (["-o", "made.txt"], "made.txt: found the ending 'txt'; expected one of jsonl, csv, parquet"),
], ids=["kind", "field", "no judge", "format"])  # fmt: skip
def test_bad_input_is_reported(file, capsys, arguments, told):
    assert main(["perturb", str(file), "-o", str(file.with_name("made.csv")), *arguments]) == 2
    assert told in capsys.readouterr().err
    assert not file.with_name("made.csv").exists()
