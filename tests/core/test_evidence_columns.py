"""Evidence written by columns: the JSON text that the evidence of each row has when it is written one by one."""

import numpy as np
import orjson
import pyarrow as pa
import pytest

from metrics.core.evidence import Evidence, Holds, Verdict, evidence_json, facts_json, verdicts_json

TEXTS = ['a "b"', None, "é,\n}", "", "a", "é,\n}"]
NUMBERS = [1.0, np.nan, -0.25, 1e300, float("inf"), 1e-7]


def one_by_one(**columns: list[object]) -> list[dict[str, object]]:
    rows = zip(*columns.values(), strict=True)
    return [orjson.loads(evidence_json(Evidence(facts=dict(zip(columns, row, strict=True)))) or "") for row in rows]


@pytest.mark.parametrize("rows", [0, 1, len(TEXTS)])
def test_facts_are_those_of_each_row(rows):
    texts, numbers = TEXTS[:rows], NUMBERS[:rows]
    found = facts_json(one=pa.array(texts, pa.string()), at=pa.array(numbers, pa.float64()), two=pa.array(texts[::-1]))
    assert [orjson.loads(text) for text in found.to_pylist()] == one_by_one(one=texts, at=numbers, two=texts[::-1])
    encoded = facts_json(one=pa.array(texts, pa.string()).dictionary_encode(), two=pa.array(numbers, pa.float64()))
    assert [orjson.loads(text) for text in encoded.to_pylist()] == one_by_one(one=texts, two=numbers)


@pytest.mark.parametrize("beside", [(), ({"model": "m"}, {}, {"model": "o", "windows": 2})], ids=["alone", "facts"])
def test_verdicts_are_those_of_each_row(beside):
    sizes = np.array([2, 1, 3])
    kinds: tuple[tuple[Holds, str], ...] = (("yes", "chosen"), ("unknown", ""))
    texts, kind, numbers = ['a"', "b", "é", "", "b", "c"], np.array([0, 1, 1, 0, 0, 1]), NUMBERS
    found = verdicts_json("choices", sizes, pa.array(texts), kinds, kind, {"p": pa.array(numbers)}, beside)
    verdicts = [
        Verdict(text, *kinds[which], facts={"p": number})
        for text, which, number in zip(texts, kind, numbers, strict=True)
    ]
    groups = [verdicts[:2], verdicts[2:3], verdicts[3:]]
    expected = [
        evidence_json(Evidence({"choices": group}, facts))
        for group, facts in zip(groups, beside or ({},) * 3, strict=True)
    ]
    assert [orjson.loads(text) for text in found.to_pylist()] == [orjson.loads(text or "") for text in expected]
