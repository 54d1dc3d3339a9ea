"""Recall, precision, hit rate and nDCG at five k, MRR, MAP and R-precision beside pytrec_eval: printed only.

    PYTHONPATH=.:FOLDER python -m tests.benchmarks.bench_retrieval

FOLDER has pytrec_eval (`pip install --target FOLDER pytrec-eval-terrier`), which is not among the requirements. Both
begin with the same tables of 5,000 queries, 100 retrieved ids and 20 judged ones each. Limit: no slower.
"""

from importlib import import_module
from random import Random

import pyarrow as pa

from metrics.core.cases import Cases
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.retrieval.ranking import KS, RankingParameters, judged_ids, measures
from tests.benchmarks.table import Row, report, versions
from tests.benchmarks.timing import quickest

QUERIES, RETRIEVED, JUDGED, COMMON = 5_000, 100, 20, 8
CUT = ",".join(map(str, KS))
MEASURES = {f"recall.{CUT}", f"P.{CUT}", f"success.{CUT}", f"ndcg_cut.{CUT}", "recip_rank", "map", "Rprec"}


def tables() -> tuple[Suite, Outputs]:
    random = Random(2)
    cases, outputs = [], []
    for query in range(QUERIES):
        judged = [f"document-{number}" for number in random.sample(range(10**6), JUDGED)]
        grades = [1.0, *(float(random.randrange(3)) for _ in judged[1:])]
        others = [f"other-{number}" for number in random.sample(range(10**6), RETRIEVED - COMMON)]
        retrieved = [*random.sample(judged, COMMON), *others]
        random.shuffle(retrieved)
        cases.append({"case_id": f"q{query}", "reference_context_ids": judged, "reference_grades": grades})
        outputs.append({"case_id": f"q{query}", "model": "m", "context_ids": retrieved})
    return Suite.from_rows("ids", "text", cases), Outputs.from_rows(outputs)


def main() -> None:
    peer = import_module("pytrec_eval")
    suite, outputs = tables()
    parameters = RankingParameters()

    def numbers() -> None:
        cases = Cases.joined(suite, outputs.outputs)
        measures(len(cases), judged_ids(cases), parameters)

    def theirs() -> None:
        columns = (suite.cases[name].to_pylist() for name in ("case_id", "reference_context_ids", "reference_grades"))
        judged = {
            query: dict(zip(ids, map(int, grades), strict=True)) for query, ids, grades in zip(*columns, strict=True)
        }
        ids: pa.ChunkedArray = outputs.outputs["context_ids"]
        runs = {
            query: {one: float(-rank) for rank, one in enumerate(own)}
            for query, own in zip(judged, ids.to_pylist(), strict=True)
        }
        peer.RelevanceEvaluator(judged, MEASURES).evaluate(runs)

    what = f"measures of {QUERIES:,} queries, {RETRIEVED} ids each"
    entry = evaluators()["ranking"]
    whole = quickest(lambda: entry(Cases.joined(suite, outputs.outputs), parameters))
    of = versions("pytrec_eval-terrier")
    report([
        Row(what, 1e3 * quickest(numbers), "ms", 1e3 * quickest(theirs), of, least=1.0),
        Row(f"{what}, with the evidence of every case", 1e3 * whole, "ms"),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
