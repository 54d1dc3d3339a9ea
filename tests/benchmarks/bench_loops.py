"""Looping and requested languages: what is seen, what is mistaken, and how long it takes.

    python -m tests.benchmarks.bench_loops

Answers that are stuck in a loop against answers that repeat themselves for a reason (refrains, tables, code, lists,
legal texts), half of them held out, by `looping` and by the three numbers of its source at their thresholds; requests
for a language against sentences that only mention one.
"""

import time
from collections.abc import Callable

from metrics.core.suite import Case
from metrics.evaluators.text.looping_detection import LoopingParameters, looping_detection
from metrics.text.requested_language import requested_language
from tests.benchmarks.table import Row, report
from tests.corpora.looping import HELD_OUT_LOOK_ALIKES, HELD_OUT_LOOPS, SEEN_LOOK_ALIKES, SEEN_LOOPS
from tests.text.test_requested_language import MENTIONS, REQUESTS

METRICS = {metric.name: metric for metric in looping_detection.metrics}


def flagged(metric: str) -> Callable[[str], bool]:
    """Return whether a text is on the wrong side of a metric's threshold."""

    def test(text: str) -> bool:
        value = looping_detection(Case.of(answer=text), LoopingParameters()).values[metric]
        return value is not None and not METRICS[metric].passes(value, METRICS[metric].threshold)

    return test


def main() -> None:
    """Measure and print."""
    sets = (("seen", SEEN_LOOPS, SEEN_LOOK_ALIKES), ("held out", HELD_OUT_LOOPS, HELD_OUT_LOOK_ALIKES))
    print(f"{'':<28}{'':<10}{'loops seen':>14}{'false alarms':>16}")
    rows = []
    for metric in METRICS:
        for which, loops, look_alikes in sets:
            seen, mistaken = sum(map(flagged(metric), loops.values())), sum(map(flagged(metric), look_alikes.values()))
            print(f"{metric:<28}{which:<10}{seen:>7} of {len(loops)}{mistaken:>10} of {len(look_alikes)}")
            if metric == "looping" and which == "held out":
                title = "looping, texts held out"
                rows += [
                    Row(f"{title}: loops seen of {len(loops)}", seen, "", least=len(loops)),
                    Row(f"{title}: false alarms in {len(look_alikes)} refrains, tables, code", mistaken, "", most=0),
                ]
    right = sum(requested_language(request) == code for request, code in REQUESTS.items())
    mistaken = sum(requested_language(text) is not None for text in MENTIONS)
    print(
        f"requested languages: {right} of {len(REQUESTS)} understood, {mistaken} of {len(MENTIONS)} mentions mistaken"
    )
    begun = time.process_time()
    for text in (*SEEN_LOOPS.values(), *SEEN_LOOK_ALIKES.values()):
        looping_detection(Case.of(answer=text), LoopingParameters())
    each = 1000 * (time.process_time() - begun) / (len(SEEN_LOOPS) + len(SEEN_LOOK_ALIKES))
    rows += [
        Row(f"requested languages: understood of {len(REQUESTS)}", right, "", least=len(REQUESTS)),
        Row(f"requested languages: mistaken of {len(MENTIONS)} mentions", mistaken, "", most=0),
        Row("looping: processor time an answer", each, "ms"),
    ]
    report(rows)


if __name__ == "__main__":
    main()
