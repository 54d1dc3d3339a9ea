"""What every export of a whole run says beside its numbers."""

import io
import zipfile

import pytest

from metrics import analysis
from metrics.presentation.format import moment
from metrics.reports.exchange.contents import parameters
from metrics.reports.exchange.exporters import export
from metrics.store import Run


def files(run: Run, name: str) -> list[str]:
    content = export(run, name, benchmark="own/set:all" if name == "eval_results" else None)
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return [content.decode()]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [archive.read(one).decode() for one in archive.namelist() if not one.endswith("_samples.jsonl")]


@pytest.mark.parametrize("name", ["model_card", "eval_results", "every_eval_ever", "inspect"])
def test_a_number_says_which_run_and_judge_it_is_from_and_when(judged: Run, name: str) -> None:
    who = analysis.judged_by(judged)["no_answer"]
    assert who.startswith("scripted at ")
    for text in files(judged, name):
        flat = " ".join(text.split())
        assert judged.id in flat
        assert who in flat
        assert judged.sealed in flat
    assert moment(judged.sealed) in files(judged, "model_card")[0].split("## Evaluation results")[1]


def test_parameters_and_events_name_the_judge(judged: Run) -> None:
    who = analysis.judged_by(judged)["no_answer"]
    assert parameters(judged, "plain")["no_answer.judge"] == who
    (line,) = export(judged, "opentelemetry").decode().splitlines()
    assert line.count('"assay.judge"') == len(judged.scores)
