"""A text case as plain data."""

import pandas as pd

from metrics.presentation.marked_text import Part
from metrics.presentation.viewers import case_texts

HOSTILE = "<img src=x onerror=alert(1)>"


def test_closest_expected_answer():
    assert case_texts.closest("it is Paris, France", ["Rome", "Paris in France"]) == "Paris in France"
    assert case_texts.closest("x", []) == ""


def test_contexts_beside_each_other():
    first = ["same", "It costs 5 € here.", "moved", "old"], []
    second = ["same", "It costs 6 € here.", "new", "moved", HOSTILE], []
    signs = {"": "", "removed": "-", "added": "+"}
    shown = [
        [(title, "".join(signs[mark] + text for text, mark, _ in parts)) for title, parts in own]
        for own in case_texts.context_twins(first, second)
    ]
    assert shown == [
        [
            ("1", "same"), ("2 · only here", "It costs -5 € here."), ("3 · there as 4", "moved"),
            ("4 · only here", "-old"),
        ],
        [
            ("1", "same"), ("2 · only here", "It costs +6 € here."), ("3 · only here", "+new"),
            ("4 · there as 3", "moved"), ("5 · only here", f"+{HOSTILE}"),
        ],
    ]  # fmt: skip


def test_contexts_of_one_id_are_compared_wherever_they_stand():
    own, other = case_texts.context_twins((["a b c"], ["x"]), (["new", "d e f a"], ["y", "x"]))
    assert [part.text for part in own[0][1] if not part.mark] == ["a"]
    assert [part.text for part in other[1][1] if not part.mark] == ["a"]
    assert other[0] == ("1 · id y · only here", [Part("new", "added")])


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
