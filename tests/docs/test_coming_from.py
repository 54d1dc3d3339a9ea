"""docs/coming-from.md: what the names of other systems are here exists, and their own files give their numbers."""

import argparse
import contextlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from components.widgets.url import PAGES
from metrics import evaluate
from metrics.cli.main import main, parser as command_line
from metrics.core.errors import InputError
from metrics.core.evaluator import ScriptedReply
from metrics.core.other_names import MARKS, NEAREST, NONE, OtherName, called_here, other_names
from metrics.core.registry import choose, evaluators
from metrics.presentation.families import is_found
from metrics.store import Workspace
from tests.conftest import PROJECT
from tests.docs.blocks import blocks
from tests.seeds.public_door import judge_saying
from tests.seeds.test_open_rag_eval import graded
from tests.seeds.test_valor_texts import claims, entailed, verdicts

PAGE = PROJECT / "docs" / "coming-from.md"
SYSTEMS = ("Valor", "H2O Eval Studio", "Open RAG Eval", "RAGAS", "promptfoo", "DeepEval", "FiftyOne")
ROWS = other_names()
NAMES = [f"{row.system}: {row.theirs[0]}" for row in ROWS]


def commands(parser: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[tuple[str, set[str]]]:
    """Each command, with its options."""
    nested = next((each for each in parser._actions if isinstance(each, argparse._SubParsersAction)), None)
    if nested is None:
        yield " ".join(words), set(parser._option_string_actions)
    else:
        for name, child in nested.choices.items():
            yield from commands(child, (*words, name))


COMMANDS = dict(commands(command_line()))
OPTIONS = set().union(*COMMANDS.values())


def is_here(code: str) -> bool:
    """Whether a name in the table is an evaluator, a metric or parameter of one, a command, an option or a module."""
    id, _, part = code.partition(".")
    if id in evaluators():
        entry = evaluators()[id]
        return not part or part in entry.parameters.model_fields or any(part == one.name for one in entry.metrics)
    module = PROJECT / code.replace(".", "/")
    return code in COMMANDS or code in OPTIONS or (code.startswith("metrics.") and module.exists())


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_what_a_name_is_here_exists(row: OtherName):
    titles = {title for title, _ in PAGES.values()}
    ours = [each for each in MARKS.sub("", row.ours.removeprefix(NEAREST)).split(", ") if each]
    assert ours
    assert [each for each in ours if not (each in titles or is_here(each) or ours == [NONE])] == []
    for code in row.codes:
        if (id := code.partition(".")[0]) in evaluators():
            assert [name for name in row.theirs if not is_found(evaluators()[id], name)] == []


def test_the_table_is_of_seven_systems_and_names_nothing_twice():
    for system in SYSTEMS:
        theirs = [name for row in ROWS if row.system == system for name in row.theirs]
        assert len(theirs) == len(set(theirs)) > 15, system
    assert {row.system for row in ROWS} == set(SYSTEMS)


@pytest.mark.parametrize(("name", "expected"), [
    ("FaithfulnessMetric", "faithfulness, as DeepEval's FaithfulnessMetric is called here ("),
    ("llm_rubric", "byop, as promptfoo's llm-rubric is called here ("),
    ("ArenaGEval", "Side by side, the nearest: DeepEval's ArenaGEval has no counterpart here ("),
    ("guardrails", "nothing: promptfoo's guardrails has no counterpart here ("),
    ("Hallucination", "hallucination_contexts, as Valor's Hallucination is called here (the share of contexts that the "
     "answer contradicts) or hallucination_hhem, as H2O Eval Studio's "),
    ("Agent sanity check", "agent_sanity, as H2O Eval Studio's Agent Sanity Check is called here"),
    ("AnswerRelevance", "answer_relevance, as Valor's AnswerRelevance and promptfoo's answer-relevance is called here"),
    ("faithfulnes", "one of "),
])  # fmt: skip
def test_an_unknown_evaluator_is_named_by_whose_it_is(name: str, expected: str):
    with pytest.raises(InputError) as refused:
        evaluate([{"case_id": "1", "question": "?"}], [{"case_id": "1", "answer": "!", "model": "m"}], [name])
    assert f"found {name!r}; expected {expected}" in str(refused.value)


def test_parameters_and_options_are_named_too(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(InputError, match="max_dets, as FiftyOne's max_preds is called here"):
        choose(["average_precision"], {"average_precision": {"max_preds": 5}})
    with pytest.raises(SystemExit):
        main(["evaluate", "suite.csv", "--grader=gpt-4o-mini"])
    assert "unknown option --grader: --judge, as promptfoo's --grader is called here" in capsys.readouterr().err
    assert called_here("FaithfulnessMetric", {"rouge"}) == ""
    assert called_here("–") == ""


OPENS, FEE = "It opens at nine. It closes at five.", "Two crowns a day."
CITED = {"STATEMENT": "It opens at nine", "PASSAGE": "The library opens at nine."}


class Brought(NamedTuple):
    """What the judge says of a system's files in the documentation, and the numbers of that system's formulas.

    `values` by command, one after the other: evaluator.metric → value, of the one model.
    """

    values: Sequence[Mapping[str, float]]
    said: Sequence[ScriptedReply] = ()


BROUGHT = {
    "RAGAS": Brought(
        [{
            "faithfulness.faithfulness": (1 / 2 + 1) / 2,  # supported claims / claims
            "answer_correctness.answer_correctness": (2 / 3 + 1) / 2,  # FactualCorrectness: F1 of 1 TP, 1 FP, 0 FN
            "rouge.rougeL": (2 * 0.5 / 1.5 + 1) / 2,  # RougeScore: 4 of 8 and 4 of 4 words
        }],
        [claims(OPENS), claims("It opens at nine."), claims(FEE), entailed("nine", [1], [], claim="closes"),
         entailed("closes", [1]), entailed("crowns", [1])],
    ),
    "DeepEval": Brought(
        [{
            "context_precision.context_precision": (1 / 2 + 1) / 2,  # the second of two contexts, the only one
            "answer_relevance.answer_relevance": (1 / 2 + 1) / 2,  # relevant statements / statements
            "exact_match.exact_match": 1 / 2,
        }],
        [claims(OPENS), claims(FEE), verdicts("context_precision.useful", "no yes", EXPECTED="nine"),
         verdicts("context_precision.useful", "yes", EXPECTED="crowns"),
         verdicts("answer_relevance.relevant", "yes no", QUESTION="open"),
         verdicts("answer_relevance.relevant", "yes", QUESTION="fee")],
    ),
    "promptfoo": Brought([{
        "text_matching.passes": 1.0,  # icontains and contains-all hold
        "agent_budget.within_budget": 1 / 2,  # latency: 900 ms of 2,000, 2,500 of 2,000
        "latency.mean": 1.7,
    }]),
    "FiftyOne": Brought([{  # results.mAP() and mAR() with compute_mAP: cat 1, dog 0
        "coco_summary.AP": 0.5, "coco_summary.AP50": 0.5, "coco_summary.AR_100": 0.5,
    }, {"classification.accuracy": 1 / 2}]),
    "Valor": Brought([
        {  # cat: at IoU .5, .55, .6 both are found, above one of two: AP over 101 points of recall; dog: none
            "average_precision.map_averaged": (3 * 1 + 7 * 51 / 101) / 10 / 2,
            "average_recall.mar": (3 * 1 + 7 * 1 / 2) / 10 / 2,
        },
        {"classification.accuracy": 1 / 2, "roc_auc.roc_auc": 1.0},  # dog .75 above .41; cat .39 above .2
    ]),
    "H2O Eval Studio": Brought([{
        "looping_detection.unique_sentences": (2 / 3 + 1) / 2,  # unique sentences / sentences
        "text_matching.passes": 1 / 2,
        "bleu.bleu1": (3 / 13 + 3 / 4) / 2,  # opens, at, nine of 13 words; crowns, a, day of four
    }]),
    "Open RAG Eval": Brought(
        [{
            "umbrela.umbrela": 3 / 2, "umbrela.precision_at_1": 1.0, "umbrela.precision_at_2": 1 / 2,
            "umbrela.mrr": 1.0,
            "autonuggetizer.vital": 1.0, "autonuggetizer.all": 1 / 2, "autonuggetizer.weighted": 1 / 1.5,
            "citation.citation_f1": 1 / 2, "no_answer.no_answer": 1.0,  # partial support: .5 and .5
        }],
        [graded("The library opens", 3), graded("Fees", 0),
         ScriptedReply("autonuggetizer.nuggets", {"nuggets": ["opens at nine", "closes at five"]}),
         ScriptedReply("autonuggetizer.importance", [{"reason": "", "importance": each} for each in ("vital", "okay")]),
         ScriptedReply("autonuggetizer.assignment",
                       [{"reason": "", "assignment": each} for each in ("support", "not_support")]),
         ScriptedReply("citation.support", {"reason": "", "quote": "", "support": "partial"}, CITED),
         ScriptedReply("no_answer", {"reason": "", "attempted": "yes"})],
    ),
}  # fmt: skip


def commands_of(system: str, folder: Path) -> Iterator[list[str]]:
    """The commands of a system's section of the documentation; the files that they are about are written before."""
    text = PAGE.read_text(encoding="utf-8")
    first = text[: text.index(f"\n## {system}\n") + 1].count("\n")
    rest = [place for place, line in enumerate(text.splitlines()) if line.startswith("## ") and place > first]
    for block in blocks(PAGE):
        if first < block.line < min(rest, default=len(text)):
            if name := block.option("input"):
                (folder / name).write_text(block.text, encoding="utf-8")
            elif block.language == "bash":
                yield from (shlex.split(command)[3:] for command in block.commands())


@pytest.mark.usefixtures("units_here")
@pytest.mark.parametrize("system", SYSTEMS)
def test_its_files_give_its_numbers(
    system: str, tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought = BROUGHT[system]
    with judge_saying(brought.said) as server, contextlib.chdir(tmp_path):
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-docs")
        for words, expected in zip(commands_of(system, tmp_path), brought.values, strict=True):
            assert main(words) == 0
            rows = Workspace(str(workspace)).run("latest").aggregates.query("label.isna()")
            values = {f"{each.evaluator}.{each.metric}": each.value for each in rows.itertuples()}
            assert {name: values.get(name) for name in expected} == pytest.approx(expected)
        assert bool(server.calls) == bool(brought.said)
