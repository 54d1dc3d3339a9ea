"""Evaluators: what does each measure, and from what?"""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from components.views.setup import worked_examples
from metrics.core.registry import evaluators
from metrics.presentation.sources import source_markdown


def test_every_evaluator_is_listed(open_page: Callable[..., AppTest]) -> None:
    page = open_page("evaluators")
    assert not page.exception
    assert page.dataframe[0].value["id"].tolist() == list(evaluators())


@pytest.mark.parametrize("name", evaluators())
def test_an_evaluator_shows_all_it_declares(open_page: Callable[..., AppTest], name: str) -> None:
    entry = evaluators()[name]
    page = open_page("evaluators", evaluator=name)
    assert not page.exception
    assert page.subheader[0].value == entry.title
    assert len(page.dataframe[0].value) == len(entry.metrics)
    (parameters,) = [table.value for table in page.dataframe if "Parameter" in table.value]
    assert set(parameters["Parameter"]) == set(entry.parameters.model_fields)
    assert [box.label for box in page.expander] == [worked_examples.heading(example) for example in entry.examples]
    written = [text.value for text in page.markdown]
    assert {entry.doc, entry.differs_from_source} <= set(written)
    shown = "\n".join(written)
    assert all(f"- {source_markdown(source)}" in shown for source in entry.sources)


def test_search_looks_into_names_and_definitions(open_page: Callable[..., AppTest]) -> None:
    page = open_page("evaluators", search="zzz-nothing")
    assert not page.exception
    assert page.dataframe[0].value.empty
    assert "classification" in open_page("evaluators", search="CLASSIFICATION").dataframe[0].value["id"].tolist()


def test_an_unknown_evaluator_is_named(open_page: Callable[..., AppTest]) -> None:
    page = open_page("evaluators", evaluator="no_such")
    assert page.error[0].value == r"There is no evaluator 'no\_such'; these are available."
