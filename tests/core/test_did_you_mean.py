"""Names that nearly are known ones."""

import pytest

from metrics.core.errors import did_you_mean, near, one_of
from metrics.core.registry import evaluator_ids

FEW = ("rouge", "bleu", "text_matching")


@pytest.mark.parametrize(("name", "known", "meant"), [
    pytest.param("rogue", FEW, ["rouge"], id="two letters swapped"),
    pytest.param("ROUGE", FEW, ["rouge"], id="another case"),
    pytest.param("text-matching", FEW, ["text_matching"], id="another hyphen"),
    pytest.param("rougel", ("rouge.rougeL", "bleu.bleu4"), ["rouge.rougeL"], id="without its evaluator"),
    pytest.param("rouge", ("rouge.rougeL", "bleu.bleu4"), ["rouge.rougeL"], id="the evaluator alone"),
    pytest.param("zebra", FEW, [], id="nothing like it"),
    pytest.param("faithfullness", evaluator_ids(), ["faithfulness"], id="of all evaluators"),
])  # fmt: skip
def test_near(name, known, meant):
    assert near(name, known)[: len(meant) or None] == meant


def test_words_and_lists():
    assert did_you_mean("rouge1", ("rouge2", "rougeL", "x")) == "did you mean 'rougeL' or 'rouge2'?"
    assert did_you_mean("zebra", FEW) == ""
    assert one_of("rogue", FEW) == "one of rouge, bleu, text_matching (did you mean 'rouge'?)"
    assert one_of("zebra", FEW) == "one of rouge, bleu, text_matching"
    many = [f"metric_{number}" for number in range(40)]
    assert one_of("metric_x7", many, "assay list").startswith("one of 40 (did you mean 'metric_7'")
    assert one_of("zebra", many, "assay list") == "one of 40 (`assay list` lists them)"
    assert one_of("zebra", many) == "one of " + ", ".join(many), "no other way to see them"
