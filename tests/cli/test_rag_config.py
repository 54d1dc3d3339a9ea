"""Open RAG Eval's YAML configurations: the arguments that they become, what is not used, what is written."""
# ruff: noqa: E501 - a table reads better with one line a case

import contextlib
import json
from functools import partial

import pandas as pd
import pytest
import yaml

from metrics.cli.main import main, parser
from metrics.cli.rag_config import read, with_config
from metrics.core.errors import InputError
from metrics.ingest.formats.open_rag_eval import read_rag_results
from metrics.store import Workspace
from tests.reports.test_rag_results import ANSWERS

JOINED = ["--param", "hallucination_hhem.mode=joined"]
TREC = "umbrela,autonuggetizer,citation,hallucination_hhem,no_answer"
CONFIG = """
input_queries: "queries.csv"
results_folder: "results/"
generated_answers: "answers.csv"
eval_results_file: "results.csv"
metrics_file: "metrics.png"
evaluator:
  - type: "TRECEvaluator"
    model:
      type: "OpenAIModel"
      name: "gpt-4o-mini"
      api_key: ${oc.env:OPENAI_API_KEY}
      model_kwargs: {temperature: 0.0, top_p: 1.0, seed: 42, presence_penalty: 0.5, best_of: 2}
    options:
      k_values: [1, 3]
      run_consistency: true
      metrics_to_run_consistency: [mean_umbrela_score, vital_nuggetizer_score]
  - type: "ConsistencyEvaluator"
    options:
      metrics:
        - bert_score: {model_type: "xlm-roberta-large", lang: "en", rescale_with_baseline: true}
        - rouge_score: {}
connector:
  type: "VectaraConnector"
  options: {api_key: "${oc.env:VECTARA_API_KEY}", corpus_key: "fiqa"}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "answers.csv").write_text(ANSWERS)
    (tmp_path / "config.yaml").write_text(CONFIG)
    return tmp_path


def test_a_configuration_becomes_arguments(folder):
    config = read(folder / "config.yaml")
    assert config.arguments == [
        str(folder / "answers.csv"), *JOINED,
        "--param", "umbrela.k_values=[1, 3]", "--run-consistency",
        "--param", "consistency_statistics.metrics_to_run_consistency=umbrela.umbrela,autonuggetizer.vital",
        "--param", "consistency_bertscore.token_encoder=xlm-roberta-large",
        "--param", "consistency_bertscore.layer=17", "--param", "consistency_bertscore.lang=en",
        "--param", "consistency_bertscore.rescale_with_baseline=true",
        "--judge", "gpt-4o-mini", "--judge-option", "temperature=0.0", "--judge-option", "top_p=1.0",
        "--judge-option", "seed=42", "--judge-option", "presence_penalty=0.5",
        "--evaluators", f"{TREC},consistency_bertscore,consistency_rouge",
    ]  # fmt: skip
    assert config.unused == [
        "input_queries (the answers have the queries)", "evaluator[0].model.api_key",
        "evaluator[0].model.model_kwargs.best_of", "connector",
    ]  # fmt: skip
    assert config.results == folder / "results" / "results.csv"
    assert config.picture == folder / "results" / "metrics.png"
    options = parser().parse_args(
        with_config(["evaluate", "--config", str(folder / "config.yaml"), "--judge", "other"])
    )
    assert (options.suite, options.judge, options.run_consistency) == (str(folder / "answers.csv"), ["other"], True)


@pytest.mark.parametrize("results", ["eval_results_file", "evaluation_results"])
@pytest.mark.parametrize("place", ["results/", "", None])
def test_the_folder_of_results_is_that_of_all_that_is_written(folder, results, place):
    text = f"input_results: answers.csv\n{results}: a.csv\nmetrics_file: a.png\nevaluator: {{name: trec}}\n"
    (folder / "config.yaml").write_text(text + (f"results_folder: '{place}'\n" if place is not None else ""))
    config = read(folder / "config.yaml")
    assert (config.results, config.picture) == (folder / (place or "") / "a.csv", folder / (place or "") / "a.png")


FORMS = {
    "the shortest": ("evaluator: {name: trecrag}", [*JOINED, "--evaluators", TREC]),
    "BERTScore rescaled, with the tool's own model": ("evaluator: {name: consistency, options: {metrics: [{bert_score: {rescale_with_baseline: True}}]}}", ["--param", "consistency_bertscore.token_encoder=xlm-roberta-large", "--param", "consistency_bertscore.layer=17", "--param", "consistency_bertscore.rescale_with_baseline=true", "--evaluators", "consistency_bertscore"]),
    "BERTScore of another model": ("evaluator: {name: consistency, options: {metrics: [{bert_score: {model_type: /models/bert, lang: fr, rescale_with_baseline: false}}]}}", ["--param", "consistency_bertscore.token_encoder=/models/bert", "--param", "consistency_bertscore.lang=fr", "--param", "consistency_bertscore.rescale_with_baseline=false", "--evaluators", "consistency_bertscore"]),
    "golden answers": ("evaluator: {type: GoldenAnswerEvaluator, model: {type: AnthropicModel, name: claude}, options: {num_questions: 3}}", ["--judge", "anthropic/claude", "--evaluators", "answer_semantic_similarity,answer_correctness"]),
    "consistency without metrics": ("evaluator: {name: consistency}", ["--evaluators", "consistency_rouge,consistency_bertscore"]),
    "a server of one's own": ("evaluator: {type: TRECEvaluator, model: {type: openai, name: qwen, base_url: 'http://localhost:1/v1', generation_kwargs: {max_tokens: 900, reasoning_effort: low}}}", [*JOINED, "--judge", "qwen", "--judge-base-url", "http://localhost:1/v1", "--judge-option", "max_tokens=900", "--judge-option", "reasoning_effort=low", "--evaluators", TREC]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "arguments"), FORMS.values(), ids=FORMS.keys())
def test_forms(folder, text, arguments):
    (folder / "config.yaml").write_text(f"input_results: answers.csv\n{text}\n")
    assert read(folder / "config.yaml").arguments == [str(folder / "answers.csv"), *arguments]


def leaves(node, name=""):
    """Yield the name of each value of a document, and what puts another value in its place."""
    for key, inner in node.items() if isinstance(node, dict) else enumerate(node):
        own = f"{name}[{key}]" if isinstance(node, list) else f"{name}.{key}".removeprefix(".")
        if isinstance(inner, dict | list) and inner:
            yield from leaves(inner, own)
        else:
            yield own, partial(node.__setitem__, key, "another")


def test_every_key_reaches_something_or_is_named(folder):
    """Another value changes what is asked, or is refused, or the key is listed as not used: nothing is lost silently."""
    before = read(folder / "config.yaml")
    names = [name for name, _ in leaves(yaml.safe_load(CONFIG))]
    assert len(names) > 20
    for name in names:
        document = yaml.safe_load(CONFIG)
        dict(leaves(document))[name]()
        (folder / "config.yaml").write_text(yaml.safe_dump(document))
        listed = any(name.startswith(unused.partition(" ")[0]) for unused in before.unused)
        with contextlib.suppress(InputError):
            assert listed or read(folder / "config.yaml") != before, name


@pytest.mark.parametrize(("text", "unused"), [
    ("evaluator: {name: trec, options: {metrics_to_run_consistency: [mean_umbrela_score]}}", ["evaluator.options.metrics_to_run_consistency (run_consistency is not true)"]),
    ("evaluator: {name: consistency, options: {metrics: [{bleu: {n: 4}}, {rouge_score: {stem: 1}}]}}", ["evaluator.options.metrics[0].bleu", "evaluator.options.metrics[1].rouge_score.stem"]),
    ("input_queries: none.csv\nevaluator: {name: trec, type: TRECEvaluator}", ["input_queries (the answers have the queries)", "evaluator.name"]),
])  # fmt: skip
def test_what_has_no_effect_is_named(folder, text, unused):
    (folder / "config.yaml").write_text(f"input_results: answers.csv\n{text}\n")
    assert read(folder / "config.yaml").unused == unused


def test_a_language_without_a_published_baseline_is_refused(folder, workspace, capsys):
    text = CONFIG.replace('lang: "en"', 'lang: "fr"').replace("run_consistency: true", "run_consistency: false")
    (folder / "config.yaml").write_text(text)
    assert main(["eval", "--config", str(folder / "config.yaml"), "--evaluators", "consistency_bertscore"]) == 2
    said = capsys.readouterr().err
    assert "a value of baseline, as a published one is known only for token_encoder xlm-roberta-large" in said


def test_queries_with_expected_answers_are_the_suite(folder):
    queries = folder / "queries.csv"
    queries.write_text("query_id,query\nq1,How many moons?\n")
    assert read(folder / "config.yaml").arguments[0] == str(folder / "answers.csv")
    queries.write_text("query_id,query,expected_answer\nq1,How many moons?,seven\n")
    assert read(folder / "config.yaml").arguments[:2] == [str(queries), str(folder / "answers.csv")]


BAD = {
    "no answers": ("evaluator: {name: trec}", ["generated_answers: found no file of answers"]),
    "answers that are not there": ("input_results: none.csv\nevaluator: {name: trec}", ["generated_answers: found no file '"]),
    "an unknown evaluator": ("input_results: answers.csv\nevaluator: {type: MyEvaluator}", ["evaluator.type: found 'MyEvaluator'; expected TRECEvaluator, ConsistencyEvaluator or GoldenAnswerEvaluator"]),
    "several wrong values": ("input_results: answers.csv\nevaluation_results: run.sh\nevaluator: {name: trec, model: {name: x, model_kwargs: {seed: '${oc.env:SEED}', top_p: high}}, options: {k_values: [one], metrics_to_run_consistency: [x]}}", ["eval_results_file: found the file 'run.sh'", "k_values: found ['one']", "metrics_to_run_consistency: found x; expected names among mean_umbrela_score", "top_p: found 'high'", "seed: found '${oc.env:SEED}'; expected a plain value"]),
    "neither true nor false": ("input_results: answers.csv\nevaluator: [{name: trec, options: {run_consistency: maybe}}, {name: consistency, options: {metrics: [{bert_score: {rescale_with_baseline: 1}}]}}]", ["run_consistency: found 'maybe'; expected true or false", "metrics[0].bert_score.rescale_with_baseline: found '1'; expected true or false"]),
    "two judges": ("input_results: answers.csv\nevaluator: [{name: trec, model: {name: x}}, {type: GoldenAnswerEvaluator, model: {name: y}}]", ["evaluator: found 2 different judges"]),
    "no mapping": ("- a", ["found list in place of a mapping"]),
    "an alias": ("a: &a [1]\nb: *a", ["found YAML that cannot be read: an alias"]),
    "no YAML": ("a: [", ["found YAML that cannot be read"]),
    "code": ("input_results: !!python/object/apply:os.system ['true']", ["input_results: found"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), BAD.values(), ids=BAD.keys())
def test_problems(folder, text, said):
    (folder / "config.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        read(folder / "config.yaml")
    for part in said:
        assert part in str(caught.value)


def test_evaluate_writes_what_the_configuration_names(folder, workspace, judge_server, capsys):
    path = folder / "config.yaml"
    assert main(["eval", f"--config={path}", "--judge-base-url", judge_server.url, "--judge-concurrency", "2"]) == 0
    captured = capsys.readouterr()
    assert "not used of" in captured.err
    assert "connector" in captured.err
    run = Workspace(workspace).run("latest")
    assert run.spec.judge | {"model": "gpt-4o-mini", "base_url": judge_server.url} == run.spec.judge
    written = read_rag_results(folder / "results" / "results.csv").to_pylist()
    found = {
        (row["case_id"], row["run"], row["metric"]): row["value"] for row in written if row["evaluator"] == "umbrela"
    }
    stored = run.scores.query("evaluator == 'umbrela' and value.notna()")
    keys = zip(stored["case_id"], stored["run"], stored["metric"], strict=True)
    assert found == pytest.approx(dict(zip(keys, stored["value"], strict=True)), abs=1e-14)
    columns = pd.read_csv(folder / "results" / "results.csv")
    for number in (1, 2, 3):
        assert columns[f"run_{number}_generation_score_hallucination_score"].isna().all(), "no model is installed"
    for name in ("results.csv", "metrics.png"):
        assert f"written to {folder / 'results' / name}\n" in captured.err
    reason = "results.csv: generation_score_hallucination_score is empty: no classifier is chosen: set classifier to"
    assert reason in captured.err
    assert columns["consistency_bert_score"].isna().all()
    said = [
        line for line in captured.err.splitlines() if line.startswith("results.csv: consistency_bert_score is empty: ")
    ]
    assert len(said) == 1, captured.err
    assert (
        main(["export", "latest", "--what", "open_rag_eval", "--format", "csv", "-o", str(folder / "again.csv")]) == 0
    )
    assert reason.partition(": ")[2] in capsys.readouterr().err
    assert (folder / "again.csv").read_bytes() == (folder / "results" / "results.csv").read_bytes()
    assert (folder / "results" / "metrics.png").read_bytes().startswith(b"\x89PNG")
    assert "sk-" not in json.dumps(run.spec.stored)


def test_a_configuration_that_is_not_there(capsys):
    assert main(["evaluate", "--config", "none.yaml"]) == 2
    assert capsys.readouterr().err == "none.yaml: found No such file or directory; expected a YAML file\n"
