"""docs/coming-from.md: what the names of other systems are here exists, and their own files give their numbers."""

import argparse
from collections.abc import Iterator

import pytest

from components.widgets.url import PAGES
from metrics import evaluate
from metrics.cli.main import main, parser as command_line
from metrics.core.errors import InputError
from metrics.core.other_names import MARKS, NEAREST, NONE, OtherName, called_here, other_names
from metrics.core.registry import choose, evaluators
from metrics.presentation.families import is_found
from tests.conftest import PROJECT

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
