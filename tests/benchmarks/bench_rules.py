"""Precision and recall of the rules, kind by kind and span by span, on texts with findings planted in them.

    python -m tests.benchmarks.bench_rules [--size N] [--seed S]

Personal data, secrets and encodings, each on N cases (6,000): half hold one finding at a known place, half something
that looks like one (order numbers, ISBNs, hashes, dates, IBANs with wrong check digits …), in some twenty languages and
formats. A span that is off by one character is both missed and mistaken. `seen` is the seed and the surrounding text
that the rules were developed on; `held out` another seed in other surrounding text. Half a minute on one core.
"""

import argparse
import time

from tests.corpora.cases import corpus, measure
from tests.corpora.rules import HELD_OUT, RULES, SEEN


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=6_000, metavar="N")
    parser.add_argument("--seed", type=int, default=HELD_OUT, metavar="S", help="of the cases held out")
    options = parser.parse_args()
    print(f"{'rule':<15}{'kind':<20}{'':<10}{'planted':>8}{'precision':>11}{'recall':>8}")
    for rule, (planted, look_alikes, find) in RULES.items():
        wrong = {}
        for which, held_out, seed in (("seen", False, SEEN), ("held out", True, options.seed)):
            cases = corpus(planted, look_alikes, options.size, seed, held_out)
            begun = time.process_time()
            found = measure(cases, find)
            spent = 1000 * (time.process_time() - begun) / len(cases)
            for kind, tally in sorted(found.kinds.items()):
                print(f"{rule:<15}{kind:<20}{which:<10}{tally.planted:>8}{tally.precision:>11.4f}{tally.recall:>8.4f}")
            print(f"{rule:<15}{'all':<20}{which:<10}{len(cases) // 2:>8}   {spent:.2f} ms a case")
            wrong[which] = {name: (found.missed[name], found.mistaken[name]) for name in found.missed + found.mistaken}
        for which, names in wrong.items():
            for name, (missed, mistaken) in names.items():
                print(f"  {which}: {name}: {missed} missed, {mistaken} mistaken")


if __name__ == "__main__":
    main()
