"""What is where in an archive of a run, and what its columns mean."""

import re

from metrics.store.own_files import NAMES as SEALED_NAMES

FORMAT = "assay run archive"
VERSION = 1
MANIFEST, README, LOG, REPLIES, EVIDENCE = (
    "manifest.json", "README.md", "run/log.txt", "replies.jsonl", "evidence.jsonl",
)  # fmt: skip
NAMES = re.compile(  # of every entry
    "|".join(
        (
            "|".join(map(re.escape, (MANIFEST, README, LOG, REPLIES, EVIDENCE))),
            SEALED_NAMES,
            r"tables/[a-z_]+\.(?:csv|parquet)",
            r"prompts/[A-Za-z0-9_.-]+\.txt",
        )
    )
)
COLUMNS = {  # of the tables in tables/
    "adjusted": "p after Holm's correction over all rows",
    "affected": "number of cases it is about; empty: a model as a whole",
    "after": "value of the perturbed case",
    "before": "value of the original case",
    "better": "flips to the good side",
    "cached": "whether the reply was there before, or came for another score: paid for once",
    "case_id": "the case",
    "case_ids": "the cases, the worst first",
    "change": "worse: now on the wrong side of the threshold; better: now on the good one",
    "completion_tokens": "tokens of the reply",
    "control": "whether the perturbation is the unchanged copy",
    "control_flips": "flips of unchanged copies",
    "control_pairs": "pairs of an original and its unchanged copy",
    "control_rate": "control_flips / control_pairs",
    "cost_usd": "price of the reply in US dollars; empty: unknown",
    "direction": "which end is better: higher, lower, none",
    "error": "in aggregates: cases that failed; elsewhere: why there is no reply",
    "evaluator": "id of the evaluator, see docs/evaluators.md",
    "evidence": "what it rests on",
    "exceeds": "whether there are significantly more flips than with unchanged copies",
    "flips": "pairs whose value crossed the threshold",
    "framework": "framework of the standard",
    "high": "upper end of the 95 % interval",
    "if_best": "value if unscored cases had the metric's best",
    "if_worst": "value if unscored cases had the metric's worst",
    "interval": "method of the interval",
    "judge": "the judge that was asked",
    "key": "of the reply in the judge's cache",
    "kind": "what it is: the names are in docs/python.md",
    "label": "class or label; empty: all",
    "low": "lower end of the 95 % interval",
    "message": "the finding in words",
    "metric": "name of the metric",
    "model": "the model whose outputs were evaluated",
    "n": "what the value rests on: cases, or objects of a label",
    "not_applicable": "cases to which the metric does not apply",
    "original": "the case that was perturbed",
    "outcome": "passed, failed, measured, unmeasured; unsure: the interval reaches the other side; only: no interval",
    "p": "one-sided exact test against the unchanged copies",
    "pairs": "pairs of an original and its perturbed case with both values",
    "parse_failure": "cases where the judge's reply could not be read",
    "perturbation": "kind of perturbation",
    "prompt_tokens": "tokens of the request",
    "rate": "flips / pairs",
    "reason": "why there is no value, or the judge's reason",
    "reply": "the judge's reply, verbatim",
    "run": "number of the repeat; empty: all repeats",
    "seconds": "time that the reply took",
    "severity": "high, low, info; unknown without an interval or copies",
    "skipped": "cases that were left out",
    "slice": "part of the cases, tag=NAME; empty: all",
    "standard": "the standard",
    "standards": "standards that the evaluator gives evidence for",
    "status": "ok, not_applicable, parse_failure, error, skipped",
    "step": "id of the prompt",
    "threshold": "threshold in force",
    "threshold_of": "whose threshold it is: Assay, calibration, user, or the system that the run was made as in",
    "unscored": "cases without a value; in flip_rates pairs without both",
    "value": "the number; empty: none, see reason",
    "verdict": "the judge's reply without its reason",
    "worse": "flips to the wrong side",
}
ABOUT = """# Run {id}

{name}. An archive of a finished evaluation, made by Assay. Another Assay opens it:

    python -m metrics import FILE.zip

| part | what it holds |
|---|---|
| manifest.json | the sha256 and size of every file here |
| run/ | the sealed run: specification (spec.json), seal (manifest.json), tables as they were computed (Parquet) |
| suite/ | the test cases{media} |
| outputs/ | the answers and predictions of the models{artifacts} |
| tables/ | the findings for reading elsewhere, each as CSV and Parquet |
| evidence.jsonl | what each score rests on: a line per case, model and evaluator |
| prompts/ | the instructions that the judge was given, by step |
| replies.jsonl | the judge's replies that the run used, for `cache import` or `--replay` |

Only the parts that this run has are here. It holds no key.

## Columns of tables/

"""
