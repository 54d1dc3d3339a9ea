"""Precision and recall of the rules, kind by kind and span by span, on texts with findings planted in them.

    python -m tests.benchmarks.bench_rules [--size N] [--seed S]
    python -m tests.benchmarks.bench_rules --peers PYTHON [--gitleaks RULES] [--seed S]

Personal data, secrets and encodings, each on N cases (6,000): half hold one finding at a known place, half something
that looks like one (order numbers, ISBNs, hashes, dates, IBANs with wrong check digits …), in some twenty languages and
formats. A span that is off by one character is both missed and mistaken. `seen` is the seed and the surrounding text
that the rules were developed on; `held out` another seed in other surrounding text. Then seconds for a megabyte, and
milliseconds for an answer of 500 characters. Half a minute on one core.

With --peers the same texts go to presidio-analyzer (its pattern recognisers, all countries, with context words, no
language model) and detect-secrets (its default plugins and filters) in the environment of PYTHON; with --gitleaks also
to rules of gitleaks, as peer_rules.py reads them. 800 findings and 800 look-alikes, half of them of
tests/corpora/unseen, written after the rules. There a finding counts where it overlaps the planted one; secrets
whatever their label.
"""

import argparse
import json
import subprocess
import time
from collections import Counter, defaultdict
from pathlib import Path

from metrics.judge.keys import redact
from metrics.text.sensitive.personal_data import PERSONAL_KINDS, personal_data
from metrics.text.sensitive.secrets import secrets
from tests.benchmarks.table import Row, report
from tests.corpora import unseen
from tests.corpora.cases import corpus, measure
from tests.corpora.rules import HELD_OUT, RULES, SEEN

LEAST = 0.98  # precision and recall of each kind
COMPARED = 400  # cases a part: seen and held out, personal data and secrets
# presidio's labels in our kinds; those of states are national ids
OF_PRESIDIO = {
    "CREDIT_CARD": "card", "IBAN_CODE": "iban", "US_SSN": "ssn", "EMAIL_ADDRESS": "email", "PHONE_NUMBER": "phone",
    "CRYPTO": "crypto_address", "IP_ADDRESS": "ip_address", "MAC_ADDRESS": "mac_address", "US_PASSPORT": "passport",
    "US_DRIVER_LICENSE": "driving_licence", "US_BANK_NUMBER": "bank_account", "ABA_ROUTING_NUMBER": "bank_account",
}  # fmt: skip
NOT_COMPARED = {"URL", "UUID", "DATE_TIME", "NRP", "MEDICAL_LICENSE", "ORGANIZATION", "PERSON", "LOCATION"}
THRESHOLDS = (0.0, 0.3, 0.4, 0.5, 0.6)  # of presidio's score; the one best for presidio is taken
Case = tuple[str, str, int, int]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=6_000, metavar="N")
    parser.add_argument("--seed", type=int, default=HELD_OUT, metavar="S", help="of the cases held out")
    parser.add_argument("--peers", metavar="PYTHON", help="with presidio-analyzer, detect-secrets and google-re2")
    parser.add_argument("--gitleaks", metavar="RULES", default="", help="a JSON list of gitleaks' rules")
    options = parser.parse_args()
    if options.peers:
        _compare(options.peers, options.gitleaks, options.seed)
    else:
        report(_measure(options.size, options.seed) + _speed())


def _measure(size: int, seed: int) -> list[Row]:
    kinds = []
    print(f"{'rule':<15}{'kind':<20}{'':<10}{'planted':>8}{'precision':>11}{'recall':>8}")
    for rule, (planted, look_alikes, find) in RULES.items():
        wrong = {}
        for which, held_out, own in (("seen", False, SEEN), ("held out", True, seed)):
            cases = corpus(planted, look_alikes, size, own, held_out)
            begun = time.process_time()
            found = measure(cases, find)
            spent = 1000 * (time.process_time() - begun) / len(cases)
            for kind, tally in sorted(found.kinds.items()):
                print(f"{rule:<15}{kind:<20}{which:<10}{tally.planted:>8}{tally.precision:>11.4f}{tally.recall:>8.4f}")
            kinds += [kind for kind in found.kinds.values() if held_out and kind.planted]
            print(f"{rule:<15}{'all':<20}{which:<10}{len(cases) // 2:>8}   {spent:.2f} ms a case")
            wrong[which] = {name: (found.missed[name], found.mistaken[name]) for name in found.missed + found.mistaken}
        for which, names in wrong.items():
            for name, (missed, mistaken) in names.items():
                if missed or mistaken:
                    print(f"  {which}: {name}: {missed} missed, {mistaken} mistaken")
    title = f"rules on {len(RULES) * size:,} texts with findings planted, held out, spans exact"
    return [
        Row(f"{title}: least precision of {len(kinds)} kinds", min(kind.precision for kind in kinds), "", least=LEAST),
        Row(f"{title}: least recall of {len(kinds)} kinds", min(kind.recall for kind in kinds), "", least=LEAST),
    ]


def _compare(python: str, gitleaks: str, seed: int) -> None:
    parts: dict[tuple[str, str], list[Case]] = {}
    for rule, own in (("personal data", unseen.PERSONAL), ("secrets", unseen.SECRETS)):
        seen = corpus(RULES[rule][0], RULES[rule][1], COMPARED, SEEN)
        parts[rule, "seen"] = [(case.text, *(case.findings or (("", 0, 0),))[0]) for case in seen]
        looks = unseen.LOOKS_PERSONAL if rule == "personal data" else unseen.LOOKS_SECRET
        parts[rule, "held out"] = unseen.cases_of_text(own, looks, COMPARED, seed)
    texts = [text for cases in parts.values() for text, *_ in cases]
    script = Path(__file__).with_name("peer_rules.py")
    command = [python, str(script), *([gitleaks] if gitleaks else [])]
    lines = "\n".join(map(json.dumps, texts))
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    rows = iter([json.loads(line) for line in done.stdout.splitlines()])
    for (rule, which), cases in parts.items():
        theirs = [next(rows) for _ in cases]
        print(f"\n{rule}, {which}: {sum(bool(kind) for _, kind, *_ in cases)} findings, as many look-alikes")
        if rule == "personal data":
            ours = [[(f.kind, f.start, f.end) for f in personal_data(text, PERSONAL_KINDS)] for text, *_ in cases]
            best = max(
                (_presidio(theirs, threshold) for threshold in THRESHOLDS),
                key=lambda found: _scores(cases, found, labelled=True)["all"][2],
            )
            _print(cases, {"Assay": ours, "presidio": best}, labelled=True)
        else:
            found = {"Assay": [[(f.kind, f.start, f.end) for f in secrets(text)] for text, *_ in cases]}
            for peer in ("detect-secrets", *(["gitleaks"] if gitleaks else [])):
                found[peer] = [[(one[1], one[2], one[3]) for one in row if one[0] == peer] for row in theirs]
            _print(cases, found, labelled=False)


def _presidio(rows: list, threshold: float) -> list:  # type: ignore[type-arg]
    counted = [[one for one in row if one[0] == "presidio" and one[1] not in NOT_COMPARED] for row in rows]
    return [
        [(OF_PRESIDIO.get(label, "national_id"), *ends) for _, label, *ends, score in row if score >= threshold]
        for row in counted
    ]


def _scores(cases: list[Case], found: list, labelled: bool) -> dict:  # type: ignore[type-arg]
    """Recall, precision and F1 by kind and of all; precision by kind where labels are compared."""
    right, planted, wrong = Counter(), Counter(), Counter()  # type: ignore[var-annotated]
    for (_, kind, start, end), own in zip(cases, found, strict=True):
        hit = [one for one in own if kind and one[1] < end and start < one[2]]
        same = [one for one in hit if one[0] == kind] if labelled else hit
        planted[kind] += bool(kind)
        right[kind] += bool(same)
        for label in {one[0] for one in own if one not in hit}:
            wrong[label] += 1
        if labelled and not same and hit:
            wrong[hit[0][0]] += 1
    table = {}
    for kind in filter(None, planted):
        recall = right[kind] / planted[kind]
        precision = right[kind] / ((right[kind] + wrong[kind]) or 1) if labelled else float("nan")
        f1 = 2 * recall * precision / ((recall + precision) or 1) if labelled else float("nan")
        table[kind] = (recall, precision, f1)
    hits, errors = sum(right[kind] for kind in planted if kind), sum(wrong.values())
    recall, precision = hits / sum(planted.values()), hits / ((hits + errors) or 1)
    table["all"] = (recall, precision, 2 * recall * precision / ((recall + precision) or 1))
    return table


def _print(cases: list[Case], found: dict, labelled: bool) -> None:  # type: ignore[type-arg]
    tables = {name: _scores(cases, own, labelled) for name, own in found.items()}
    print(f"{'kind':<18}{'planted':>8}" + "".join(f"{name + ' R/P/F1':>26}" for name in tables))
    counts = Counter(kind for _, kind, *_ in cases if kind)
    covered: dict[str, list[str]] = defaultdict(list)
    for kind in [*sorted(counts), "all"]:
        rows = [tables[name][kind] for name in tables]
        print(f"{kind:<18}{counts[kind] or sum(counts.values()):>8}" + "".join(f"{_shown(row):>26}" for row in rows))
        for name in tables:
            if kind != "all" and tables[name][kind][0] > 0:
                covered[name].append(kind)
    for name in list(tables)[1:]:
        kinds = set(covered[name])
        kept = [place for place, (_, kind, *_) in enumerate(cases) if not kind or kind in kinds]
        own = {}
        for other in ("Assay", name):
            spans = [[one for one in found[other][place] if not labelled or one[0] in kinds] for place in kept]
            own[other] = _scores([cases[place] for place in kept], spans, labelled)["all"]
        print(f"  the {len(kinds)} kinds that {name} finds: " + ", ".join(f"{n} {_shown(r)}" for n, r in own.items()))


def _shown(row: tuple[float, float, float]) -> str:
    return " / ".join("–" if value != value else f"{value:.3f}" for value in row)


def _speed() -> list[Row]:
    rows = []
    prose = Path("docs/evaluators.md").read_text(encoding="utf-8")
    megabyte = (prose * (1_000_000 // len(prose) + 1))[:1_000_000]
    answers = [prose[place : place + 500] for place in range(0, 50_000, 500)]
    for name, find in (("personal data", personal_data), ("secrets", secrets), ("redact", redact)):
        find(answers[0])
        begun = time.process_time()
        find(megabyte)
        long = time.process_time() - begun
        begun = time.process_time()
        for answer in answers:
            find(answer)
        short = 1000 * (time.process_time() - begun) / len(answers)
        rows += [
            Row(f"{name}: a megabyte, processor time", long, "s"),
            Row(f"{name}: an answer of 500 characters, processor time", short, "ms"),
        ]
    return rows


if __name__ == "__main__":
    main()
