"""Checks of an upload before it is scored: are the boxes, scores and classes what they were read as?

A file of boxes in another convention is read without an error and scores an AP near 0. `lint` compares what was read
with the images and the ground truth and returns findings, most of them with a fix; `fix` applies fixes and records
them in `Outputs.changes`.

    findings = lint(suite, outputs)
    outputs = fix(suite, outputs, findings)
"""

from metrics.ingest.lint.checks import FIXES, advice, fix, fix_all, lint
from metrics.ingest.lint.findings import Finding
from metrics.ingest.lint.unknown_classes import (
    TASKS_ASKED,
    ClassChoice,
    UnknownClass,
    settle,
    unanswered,
    unknown_classes,
    unknown_text,
)
