"""Compliance: for which standards is there evidence, and what is missing?"""

from metrics.core.registry import evaluators
from metrics.store import Run
from tests.pages.conftest import HOSTILE, Open


def test_it_shows_every_standard_and_says_that_it_is_no_certificate(run: Run, open_page: Open) -> None:
    page = open_page("compliance", run=run.id)
    assert page.info[0].value.startswith("This is evidence, not certification")
    assert page.text[0].value.endswith("; the thresholds are Assay's by default.")
    matrix = page.dataframe[0].value
    assert set(matrix["framework"]) == {"NIST AI RMF", "SR 11-7", "OWASP LLM Top 10"}
    row = matrix[matrix["standard"].eq("Valid and reliable")].iloc[0]
    assert (row["measured"], row["m0"], row["m1"], row["m2"]) == ("1 of 13", "✓ 1", "✗ 1", "✗ 1")
    assert "LLM01 prompt injection" in set(matrix["standard"])
    assert matrix[matrix["standard"].eq("Privacy enhanced")].iloc[0]["m0"] == "–"


def test_a_standard_shows_its_numbers_and_what_was_not_run(run: Run, open_page: Open) -> None:
    page = open_page("compliance", run=run.id, standard="SR 11-7: outcomes analysis", model=["blunt", HOSTILE])
    assert page.subheader[0].value == "SR 11-7: outcomes analysis"
    evidence, missing = page.dataframe[1].value, page.dataframe[2].value
    assert evidence["evaluator"].tolist() == ["Classification"]
    assert evidence["m1"].tolist() == ["✗ 0.667 (0.578–0.745), n 120"]
    assert "m0" not in evidence
    assert evaluators()["roc_auc"].title in set(missing["title"])
    assert page.caption[1].value == "2 models of 3 shown. Choose which in the sidebar."


def test_a_framework_narrows_the_matrix(run: Run, open_page: Open) -> None:
    page = open_page("compliance", run=run.id, framework="SR 11-7", standard="NIST AI RMF: safe")
    assert len(page.dataframe[0].value) == 3
    assert page.subheader[0].value == "SR 11-7: conceptual soundness"
