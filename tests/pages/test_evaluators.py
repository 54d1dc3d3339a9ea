"""Evaluators: what does each measure, and from what?"""

import pytest

from components.data import model_needs
from components.views.setup import worked_examples
from components.widgets.parameter_form import fields, value_text
from metrics.core.registry import evaluators
from metrics.presentation.sources import source_markdown
from tests.pages.conftest import Open


def test_every_evaluator_is_listed(open_page: Open) -> None:
    page = open_page("evaluators")
    assert page.dataframe[0].value["id"].tolist() == list(evaluators())


def various() -> list[str]:
    """One evaluator for each task, family, need and kind of what its page shows; the pages differ in nothing else."""
    shown = {
        (entry.family, entry.needs, entry.tasks[0], bool(entry.prompts), bool(entry.examples)): name
        for name, entry in sorted(evaluators().items(), reverse=True)
    }
    return sorted(shown.values())


def test_an_evaluator_shows_all_it_declares(open_page: Open) -> None:
    for name in various():
        entry = evaluators()[name]
        page = open_page("evaluators", evaluator=name)
        assert page.subheader[0].value == entry.title
        assert len(page.dataframe[0].value) == len(entry.metrics), name
        (parameters,) = [table.value for table in page.dataframe if "Parameter" in table.value]
        graded = [metric for metric in entry.metrics if metric.direction.value != "none"]
        hidden = set() if len(graded) > 1 else {"primary"}  # nothing to choose
        assert set(parameters["Parameter"]) == set(entry.parameters.model_fields) - hidden, name
        assert [box.label for box in page.expander] == [worked_examples.heading(example) for example in entry.examples]
        written = [text.value for text in page.markdown]
        assert {entry.doc, entry.differs_from_source} <= set(written), name
        shown = "\n".join(written)
        assert all(f"- {source_markdown(source)}" in shown for source in entry.sources), name


@pytest.mark.parametrize("name", evaluators())
def test_every_parameter_and_example_can_be_written(name: str) -> None:
    entry = evaluators()[name]
    assert all(value_text(field.default) for field in fields(model_needs.parameter_schema(name)))
    assert all(worked_examples.heading(example) for example in entry.examples)


def test_search_looks_into_names_and_definitions(open_page: Open) -> None:
    page = open_page("evaluators", search="zzz-nothing")
    assert page.dataframe[0].value.empty
    assert "classification" in open_page("evaluators", search="CLASSIFICATION").dataframe[0].value["id"].tolist()
    for theirs, ours in {"FaithfulnessMetric": "faithfulness", "LLMContextRecall": "context_recall"}.items():
        assert open_page("evaluators", search=theirs).dataframe[0].value["id"].tolist() == [ours]


def test_an_unknown_evaluator_is_named(open_page: Open) -> None:
    page = open_page("evaluators", evaluator="no_such")
    assert page.error[0].value == r"There is no evaluator 'no\_such'; these are available."
