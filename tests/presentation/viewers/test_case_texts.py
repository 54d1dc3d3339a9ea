"""A text case as plain data."""

import pandas as pd

from metrics.presentation.viewers import case_texts


def test_closest_expected_answer():
    assert case_texts.closest("it is Paris, France", ["Rome", "Paris in France"]) == "Paris in France"
    assert case_texts.closest("x", []) == ""


def test_score_table():
    scores = pd.DataFrame([
        {"column": "ann", "evaluator": "rouge", "metric": "rougeL", "value": 0.8421, "status": "ok"},
        {"column": "ben", "evaluator": "rouge", "metric": "rougeL", "value": None, "status": "not_applicable"},
        {"column": "ann", "evaluator": "bleu", "metric": "bleu_1", "value": 0.5, "status": "ok"},
    ])  # fmt: skip
    table = case_texts.score_table(scores, {"rouge": "ROUGE", "bleu": "BLEU"}, ["ann", "ben"])
    assert table.to_dict("records") == [
        {"evaluator": "ROUGE", "metric": "ROUGE-L", "ann": "0.842", "ben": "not applicable"},
        {"evaluator": "BLEU", "metric": "BLEU 1", "ann": "0.500", "ben": ""},
    ]


def test_fact_parts():
    parts = case_texts.fact_parts({
        "claims": [{"claim": "a", "supported": True}, {"claim": "b", "supported": None}], "words": ["x", "y"],
        "long_text": "w" * 100, "nested": {"a": {"b": 1}}, "share": 0.123456, "nothing": [],
        "rouge_1": {"f": 0.5, "of": 1}, "rouge_2": {"f": 0.25, "of": 1}, "best": {"precision": 1.0, "found": True},
    })  # fmt: skip
    assert [(title, how) for title, how, _ in parts] == [
        ("Claims", "table"), ("", "table"), ("Long text", "code"), ("Nested", "code"), ("Share", "fact"),
        ("Nothing", "fact"), ("", "table"), ("Best", "fact"),
    ]  # fmt: skip
    assert parts[0][2].to_dict("list") == {"Claim": ["a", "b"], "Supported": ["✓", "–"]}
    assert (parts[4][2], parts[5][2]) == ("0.123", "none")
    assert parts[6][2].to_dict("list") == {"": ["rouge 1", "rouge 2"], "F": ["0.500", "0.250"], "Of": ["1", "1"]}
    assert parts[7][2] == "precision 1.00 · found ✓"
    assert case_texts.fact_parts({"right_repeats": [1, 4, 0.123456]}) == [("Right repeats", "fact", "1, 4, 0.123")]
