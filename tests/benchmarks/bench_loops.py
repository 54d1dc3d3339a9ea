"""Looping and requested languages: what is seen, what is mistaken, and how long it takes.

    python -m tests.benchmarks.bench_loops

Answers that are stuck in a loop against answers that repeat themselves for a reason (refrains, tables, code, lists,
legal texts), half of them held out; requests for a language against sentences that only mention one.
"""

import time

from metrics.core.suite import Case
from metrics.evaluators.text.looping_detection import LoopingParameters, looping_detection
from metrics.text.languages import requested_language
from tests.benchmarks.table import Row, report
from tests.corpora.looping import HELD_OUT_LOOK_ALIKES, HELD_OUT_LOOPS, SEEN_LOOK_ALIKES, SEEN_LOOPS
from tests.text.test_requested_language import MENTIONS, REQUESTS


def is_loop(text: str) -> bool:
    """Return whether an answer is on the wrong side of the threshold."""
    value = looping_detection(Case.of(answer=text), LoopingParameters()).values["looping"]
    return value is not None and looping_detection.holds(value, LoopingParameters()) == "no"


def main() -> None:
    rows = []
    for which, loops, look_alikes in (
        ("seen", SEEN_LOOPS, SEEN_LOOK_ALIKES), ("held out", HELD_OUT_LOOPS, HELD_OUT_LOOK_ALIKES),
    ):  # fmt: skip
        seen, mistaken = (sum(map(is_loop, texts.values())) for texts in (loops, look_alikes))
        rows += [
            Row(f"looping, texts {which}: loops seen of {len(loops)}", seen, "", least=len(loops)),
            Row(f"looping, texts {which}: false alarms in {len(look_alikes)} look-alikes", mistaken, "", most=0),
        ]
    right = sum(requested_language(request) == code for request, code in REQUESTS.items())
    mistaken = sum(requested_language(text) is not None for text in MENTIONS)
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
