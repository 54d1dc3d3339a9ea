"""Evaluations made as in another system: its thresholds and main metrics where the user gives none, and whose they are."""
# ruff: noqa: E501 - a table reads better with one line a metric

import json
import math
from pathlib import Path
from typing import Any, get_args

import pytest

import metrics
from metrics import analysis
from metrics.cli.gate_command import print_leaderboard
from metrics.cli.main import main
from metrics.core.conventions import BOOLEAN, CONVENTIONS, H2O, System
from metrics.core.errors import InputError
from metrics.core.registry import choose, evaluators
from metrics.library.evaluate import as_evaluation
from metrics.library.prepare import Prepared, prepare
from metrics.perturbations.answers import judged_again
from metrics.presentation.guarantee_words import footnotes
from metrics.presentation.phrases import board_notes
from metrics.presentation.question import answers
from metrics.reports.build import build
from metrics.reports.exchange.exporters import export
from metrics.store import Run, Workspace
from tests.judge.server import JudgeServer

ALONE = "answer_correctness_weighted answer_relevancy answer_relevancy_sentence answer_semantic_similarity agent_sanity fact_check faithfulness groundedness hallucination_hhem"
STATED = [  # by the page of H2O Eval Studio's evaluators: evaluator, metric, better end, threshold, whether primary
    *((id, id, "higher", 0.75, True) for id in ALONE.split()),
    ("answer_semantic_sentence_similarity", "mean_similarity", "higher", 0.75, True),
    ("answer_semantic_sentence_similarity", "min_similarity", "higher", 0.75, False),
    ("json_schema", "passes", "higher", 0.5, True),
    *(("json_schema", name, "lower", 0.5, False) for name in ("failures", "retrieval_failures", "generation_failures")),
    *((id, name, "higher" if name == "passes" else "lower", 0.5, name == "passes") for id in ("language_mismatch", "byop") for name in BOOLEAN),
    ("looping_detection", "unique_sentences", "higher", 0.75, True),
    ("looping_detection", "longest_repeated_substring", "lower", 0.75, False),
    ("looping_detection", "compression_ratio", "higher", 0.75, False),
    ("gptscore_translation", "accuracy", "lower", math.inf, True),
    ("gptscore_translation", "fluency", "lower", math.inf, False),
    ("gptscore_translation", "multidimensional_quality", "lower", math.inf, False),
]  # fmt: skip
ROWS = [
    {
        "question": "Capital of Peru?",
        "expected": "The capital is Lima.",
        "answer": "Lima is it now. Lima is it now. Lima is it now.",
    },
    {"question": "Capital of Chile?", "expected": "The capital is Santiago.", "answer": "Santiago is the capital."},
]


def prepare_here(workspace: Path, evaluators: list[str] | None = None, **asked: Any) -> Prepared:
    return prepare(as_evaluation(ROWS, None, evaluators, {"workspace": workspace, **asked}), "python")


def test_a_row_names_what_there_is() -> None:
    assert set(get_args(System)) == set(CONVENTIONS)
    for one in CONVENTIONS.values():
        for id, thresholds in one.thresholds.items():
            metrics_of = {metric.name: metric for metric in evaluators()[id].metrics}
            assert thresholds.keys() <= metrics_of.keys()
            for name, mark in thresholds.items():
                assert math.isfinite(mark) or metrics_of[name].threshold is None, "infinite: none, so Assay has none"
        given = {id: dict(values) for id, values in one.parameters.items()}
        for id, name in one.primary.items():
            given.setdefault(id, {})["primary"] = name
        assert given.keys() <= one.thresholds.keys()
        assert choose(list(given), given).keys() == given.keys()
        assert all(evaluators()[id].prompts for id in one.wordings)


def test_the_thresholds_are_those_that_the_source_states(workspace: Path) -> None:
    run = prepare_here(workspace, list(dict.fromkeys(id for id, *_ in STATED)), as_in="h2o").create()
    found = []
    for id, name, *_ in STATED:
        metric = run.metric(id, name)
        assert metric is not None
        assert not metric.minor or metric.threshold is None, "what has a threshold is shown, and can be missed"
        mark = math.inf if metric.threshold is None else metric.threshold
        found.append((id, name, metric.direction.value, mark, metric.primary))
        assert run.threshold_of(id, metric) == ("" if math.isinf(mark) else "H2O Eval Studio")
    assert found == STATED
    looping = run.metric("looping_detection", "looping")
    assert looping is not None
    assert (looping.primary, looping.minor) == (False, True), "what H2O does not have waits on the leaderboard"


@pytest.mark.parametrize(("asked", "marks", "whose"), [
    ({}, {"unique_sentences": 0.75, "compression_ratio": 0.75}, {"unique_sentences": "H2O Eval Studio", "compression_ratio": "H2O Eval Studio"}),
    ({"threshold": {"looping_detection.compression_ratio": 0.4}}, {"unique_sentences": 0.75, "compression_ratio": 0.4}, {"unique_sentences": "H2O Eval Studio", "compression_ratio": "user"}),
    ({"parameters": {"looping_detection": {"threshold": 0.6}}}, {"unique_sentences": 0.6, "compression_ratio": 0.75}, {"unique_sentences": "user", "compression_ratio": "H2O Eval Studio"}),
    ({"parameters": {"looping_detection": {"primary": "looping"}}}, {"looping": 0.5, "unique_sentences": 0.75}, {"looping": "Assay", "unique_sentences": "H2O Eval Studio"}),
])  # fmt: skip
def test_what_the_user_gives_goes_first(
    asked: dict[str, Any], marks: dict[str, float], whose: dict[str, str], workspace: Path
) -> None:
    run = prepare_here(workspace, ["looping_detection"], as_in="h2o", **asked).create()
    known = {name: metric for name in marks if (metric := run.metric("looping_detection", name)) is not None}
    assert {name: metric.threshold for name, metric in known.items()} == marks
    assert {name: run.threshold_of("looping_detection", metric) for name, metric in known.items()} == whose


def test_parameters_are_the_systems(workspace: Path) -> None:
    found = prepare_here(workspace, ["rouge", "language_mismatch", "token_f1"], as_in="h2o")
    assert found.parameters["rouge"]["use_stemmer"]
    assert found.parameters["language_mismatch"]["detector"] == "judge"
    assert "token_f1" not in found.parameters
    assert (
        "Made as in H2O Eval Studio: its thresholds, main metrics and parameters in 2 of 3 evaluators." in found.hints()
    )
    given = {"rouge": {"use_stemmer": False}}
    assert not prepare_here(workspace, ["rouge"], as_in="h2o", parameters=given).parameters["rouge"]["use_stemmer"]


@pytest.mark.parametrize("installed", [True, False])
def test_its_embedding_model_is_used_where_it_is_installed(
    installed: bool, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metrics.models.weights_of", lambda name, settings: "0" * 64 if installed else None)
    found = prepare_here(workspace, ["groundedness", "answer_relevancy_sentence"], as_in="h2o")
    assert found.resources == ({"embedder": "BAAI/bge-small-en-v1.5"} if installed else {})
    instead = "; embeddings by the model bundled with Assay, not by its BAAI/bge-small-en-v1.5"
    assert next(iter(found.hints())).endswith("every evaluator." if installed else f"every evaluator{instead}.")
    assert prepare_here(workspace, ["looping_detection"], as_in="h2o").resources == {}, "nothing embeds"
    assert prepare_here(workspace, ["groundedness"], as_in="h2o", embedder="bundled").resources == {
        "embedder": "bundled"
    }


def test_the_run_says_everywhere_how_it_was_made(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = metrics.evaluate(ROWS, evaluators=["looping_detection"], as_in="h2o", workspace=workspace)
    said = "Made as in H2O Eval Studio: its thresholds, main metrics and parameters in every evaluator."
    board = analysis.leaderboard(run)
    assert board.made_of == (said,)
    assert next(iter(board_notes(board))) == said
    column = next(column for column in board.columns if column.primary)
    assert (column.metric, column.limit) == ("unique_sentences", "≥ 0.75 (H2O Eval Studio's)")
    assert analysis.headline(board).sorted_by == column.key
    missed = analysis.problems(run).set_index("metric")
    assert missed.loc["unique_sentences", "threshold_of"] == "H2O Eval Studio"
    assert missed.loc["unique_sentences", "message"].endswith("below the threshold 0.75 (H2O Eval Studio's)")
    for tool in ("promptfoo", "opentelemetry"):
        assert "≥ 0.75 (H2O Eval Studio's)" in export(run, tool).decode(), tool
    assert next(iter(run.summarize().values()))["pass_mark_of"] == "H2O Eval Studio"
    report = build(run)
    facts = {fact.name: fact.value for group in report.facts for fact in group.facts}
    assert facts["Made as in"] == said
    print_leaderboard(run)
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("as_in", [None, *CONVENTIONS])
def test_what_a_system_sets_no_threshold_of_is_not_to_be_calibrated(as_in: str | None, workspace: Path) -> None:
    chosen = ["perplexity", "hallucination_hhem", "bertscore"]
    rows = [{**row, "retrieved_contexts": ["Lima."]} for row in ROWS]
    board = analysis.leaderboard(metrics.evaluate(rows, evaluators=chosen, as_in=as_in, workspace=workspace))
    system = CONVENTIONS.get(as_in or "")
    asked = {column.evaluator for column in board.columns if column.primary and column.by_model}
    set_none = {id for id in chosen if system and id in system.thresholds and system.threshold(id, id) is None}
    assert asked == set(chosen) - set_none
    named = " ".join(footnotes(board.columns))
    assert not any(f"{evaluators()[id].title}" in named for id in set_none)


def test_a_run_in_assays_own_way_is_as_it_was(workspace: Path) -> None:
    run = prepare_here(workspace, ["looping_detection", "rouge"]).create()
    assert "as_in" not in run.spec.stored
    assert not any("primary" in entry["parameters"] for entry in run.spec.stored["evaluators"])
    assert run.made_as == ""
    known = run.evaluator("looping_detection")
    assert known is not None
    assert known.metrics == evaluators()["looping_detection"].metrics
    assert {run.threshold_of("looping_detection", metric) for metric in known.metrics} == {"Assay", ""}


def test_it_is_kept_by_resume_and_by_a_copy_of_the_request(workspace: Path) -> None:
    run = prepare_here(workspace, ["looping_detection"], as_in="h2o").create()
    assert main(["resume", run.id, "--workspace", str(workspace), "--quiet"]) == 0
    finished = Workspace(workspace).run(run.id)
    assert (finished.state, finished.spec.as_in) == ("finished", "h2o")
    assert Workspace(workspace).create_run(finished.spec.request).made_as == finished.made_as != ""


def test_the_preset_is_the_systems_evaluators_and_never_unasked(workspace: Path) -> None:
    chosen = prepare_here(workspace, preset="h2o").evaluators
    assert set(chosen) <= set(H2O.thresholds)
    assert {"looping_detection", "rouge", "answer_relevancy", "byop"} <= set(chosen)
    assert not {"faithfulness", "groundedness", "json_schema"} & set(chosen) - {"json_schema"}, "no contexts"
    assert len(prepare_here(workspace).evaluators) < len(chosen)
    assert "step_alignment" not in chosen, "no answer has several steps"
    steps = [{**row, "expected": "1. Look it up.\n2. Say it."} for row in ROWS]
    asked = as_evaluation(steps, None, None, {"workspace": workspace, "preset": "h2o"})
    assert "step_alignment" in prepare(asked, "python").evaluators
    with pytest.raises(InputError, match="found 'h20'"):
        prepare_here(workspace, preset="h20")


GPT = "gptscore_translation.accuracy"
PUBLISHED = "Rewrite it with consistent facts: {ref_hypo} In other words, {hypo_ref}"


@pytest.mark.parametrize("place", ["workspace", "prompt"])
def test_published_wordings_come_from_the_users_files(place: str, workspace: Path, tmp_path: Path) -> None:
    folder = workspace / "prompts" / "h2o" if place == "workspace" else tmp_path / "own"
    folder.mkdir(parents=True)
    (folder / f"{GPT}.txt").write_text(PUBLISHED + "\n")
    (folder / "fact_check.txt").write_text("Find false information in {actual_answer}.")
    asked: dict[str, Any] = {"as_in": "h2o"} | ({"prompt": {"h2o": str(folder)}} if place == "prompt" else {})
    found = prepare_here(workspace, ["gptscore_translation", "fact_check"], **asked)
    assert found.parameters["gptscore_translation"]["prompts"] == {GPT: PUBLISHED}
    assert found.resources == {}, "nobody judges, so nobody is asked"
    judged = prepare_here(workspace, ["fact_check"], judge="m@http://localhost:1/v1", **asked)
    assert judged.resources["judge"]["prompts"] == {"fact_check": "Find false information in {actual_answer}."}
    assert "gptscore_translation" not in judged.parameters
    (tmp_path / "mine.txt").write_text("Is {actual_answer} true?")
    own = {"prompt": {**asked.get("prompt", {}), "fact_check": str(tmp_path / "mine.txt")}}
    first = prepare_here(workspace, ["fact_check"], judge="m@http://localhost:1/v1", **asked | own)
    assert first.resources["judge"]["prompts"]["fact_check"] == "Is {actual_answer} true?", (
        "a file by its id goes first"
    )
    (folder / "fact-check.txt").write_text("?")
    with pytest.raises(InputError, match=r"fact-check\.txt.*fact_check"):
        prepare_here(workspace, ["fact_check"], **asked)


def test_an_empty_folder_of_wordings_is_refused(workspace: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no texts in .*none-here.*fact_check\.txt"):
        prepare_here(workspace, ["fact_check"], prompt={"h2o": str(tmp_path / "none-here")})


def test_a_judge_is_asked_in_the_published_words(judge_server: JudgeServer, workspace: Path) -> None:
    folder = workspace / "prompts" / "h2o"
    folder.mkdir(parents=True)
    (folder / "fact_check.txt").write_text("Find false information in {actual_answer}.")
    judge = f"m@{judge_server.url}"
    run = metrics.evaluate(ROWS, evaluators=["fact_check"], as_in="h2o", judge=judge, workspace=workspace)
    assert any("Find false information in ANSWER." in call.text for call in judge_server.calls)
    assert "fact_check " in run.wording("fact_check")
    again = judged_again(run, ["answer_padded"]).create(Workspace(workspace))
    assert again.made_as == run.made_as, "a run made of a run is made as that was"


SAMPLING = {"temperature": 0.0, "top_p": 1.0, "presence_penalty": 0.5, "frequency_penalty": 0.0, "seed": 42}


@pytest.mark.parametrize("given", [{}, {"judge_option": ["presence_penalty=0", "seed=7"]}], ids=["its own", "given"])
def test_the_judge_samples_as_in_open_rag_eval(
    judge_server: JudgeServer, workspace: Path, given: dict[str, Any]
) -> None:
    judge_server.say("umbrela.grade", {"intent": "a town", "match": 3, "trust": 3, "grade": 3})
    rows = [row | {"contexts": ["Lima is the capital of Peru."]} for row in ROWS]
    asked = {"evaluators": ["umbrela"], "judge": f"m@{judge_server.url}", "workspace": workspace, **given}
    run = metrics.evaluate(rows, as_in="open_rag_eval", **asked)
    expected = SAMPLING | ({"presence_penalty": 0.0, "seed": 7} if given else {})
    assert len(judge_server.calls) == 2
    for request in judge_server.calls:
        assert {name: request.body[name] for name in SAMPLING} == expected
    said = "Made as in Open RAG Eval: its main metrics and parameters in every evaluator; its judge's temperature 0,"
    assert run.made_as.startswith(said)
    judge_server.clear()
    metrics.evaluate(rows, **asked)
    assert all("presence_penalty" not in call.body for call in judge_server.calls) or given, "only on request"


def test_open_rag_evals_parameters(workspace: Path) -> None:
    found = prepare_here(
        workspace, ["autonuggetizer", "hallucination_hhem", "consistency_bertscore"], as_in="open_rag_eval"
    )
    chosen = choose(found.evaluators, found.parameters)
    assert chosen["autonuggetizer"][0].primary.name == "vital"
    assert (chosen["autonuggetizer"][1].refine, chosen["hallucination_hhem"][1].mode) == (True, "joined")
    assert chosen["consistency_bertscore"][1].subtracted == 0.8525485


def test_compliance_says_whose_thresholds_it_goes_by(workspace: Path) -> None:
    def words_of(run: Run) -> tuple[str, set[str]]:
        [found] = answers(run, ["compliance"])
        table = analysis.compliance_table(run).dropna(subset=["threshold"])
        return found.sentences[0].text, set(table["threshold_of"])

    asked = {"evaluators": ["looping_detection"], "workspace": workspace}
    ours, theirs, own = (
        metrics.evaluate(ROWS, **asked, **more) for more in ({}, {"as_in": "h2o"}, {"threshold": {"looping": 0.2}})
    )
    assert words_of(ours)[0].endswith("; the thresholds are Assay's by default.")
    assert words_of(theirs)[0].endswith("; the thresholds are H2O Eval Studio's.")
    assert words_of(own)[0].endswith("; the thresholds are your own.")
    assert [words_of(run)[1] for run in (ours, theirs, own)] == [{"Assay"}, {"H2O Eval Studio"}, {"user"}]


def test_the_main_metric_can_be_chosen_for_any_evaluator() -> None:
    entry, own = choose(["bleu"], {"bleu": {"primary": "bleu2", "threshold": 0.3}})["bleu"]
    assert (entry.primary.name, entry.primary.threshold, entry.primary.minor) == ("bleu2", 0.3, False)
    assert entry.metric("bleu4").minor
    assert json.loads(own.model_dump_json())["primary"] == "bleu2"
    with pytest.raises(InputError, match=r"bleu\.primary.*'bleu9'|'bleu9'"):
        choose(["bleu"], {"bleu": {"primary": "bleu9"}})
