"""A report made by hand: three models, five metrics, hostile and non-Latin texts, an image with boxes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from metrics.analysis import Cell, Column
from metrics.analysis.leaderboard.leaderboard import NOT_EVALUATED
from metrics.presentation.blocks import (
    Answer,
    Bar,
    BarGroup,
    Bars,
    Box,
    CaseMetric,
    Curve,
    Heatmap,
    Matrix,
    Note,
    Passage,
    Sentence,
    Series,
    WorstCase,
    table,
)
from metrics.presentation.questions.what_stands_out import Insight
from metrics.presentation.questions.what_went_wrong import Problem
from metrics.reports.report import Fact, FactGroup, Method, MethodMetric, Report, Summary

HOSTILE = 'before #panic() $x^2$ *bold* _it_ `raw` \\ // /* <script>alert(1)</script> @ref "q" ]]> &amp; '
HOSTILE += "\x00\x1b[31m \u202e after"
SCRIPTS = "日本語 中文 한국어 · العربية في التقرير · हिन्दी · שלום · ไทย · বাংলা · தமிழ் · Ωλ · Жя · 😀✓"
MODELS = ("atlas-large", "borealis-7b", "cirrus-mini")
CURVES = (
    Curve(
        "Detection precision–recall: person", "recall", "precision",
        tuple(
            Series(
                model, tuple((x / 50, max(0.0, 1 - (x / 50) ** (2 + index) * (0.4 + index * 0.2))) for x in range(51))
            )
            for index, model in enumerate(MODELS)
        ),
    ),
    Curve("Detection precision–recall: " + SCRIPTS[:3], "recall", "precision", (Series(MODELS[0], ((0.4, 0.6),)),)),
    Curve("F1", "score threshold", "F1", (Series(MODELS[1], ((0.1, 0.4), (0.5, 0.7), (0.9, 0.2)), mark=(0.5, 0.7)),)),
    Curve(
        "Calibration", "mean score", "share right",
        (Series(MODELS[2], ((0.3, 0.2), (0.8, 0.6)), spans=((0.3, 0.1, 0.4), (0.8, 0.5, 0.7))),), diagonal=True,
    ),
)  # fmt: skip
CONFUSION = Matrix(
    "Confusion: atlas-large", ("cat", HOSTILE[:60], "background"), ("cat", HOSTILE[:60], "missed"),
    ((41, 3, 2), (0, 1_234_567, 1), (5, 0, 0)), True,
)  # fmt: skip
CLASSES = Bars("Classes: F1 ↑", (
    BarGroup("cat", tuple(Bar(model, 0.5 + index / 10, 0.4, 0.9) for index, model in enumerate(MODELS))),
    BarGroup(SCRIPTS[:9], (Bar(MODELS[0], 0.25), Bar(MODELS[1], None), Bar(MODELS[2], 0.0, 0.0, 0.1))),
), MODELS, 1.0)  # fmt: skip


def column(evaluator: str, evaluator_title: str, title: str, **other: Any) -> Column:
    """A primary column of shares without a threshold, but for what is given."""
    usual = Column(
        f"{evaluator}.{title}", evaluator, evaluator_title, "text", title, title, "", "higher", 0.0, 1.0, None, "",
        primary=True, minor=False,
    )  # fmt: skip
    return replace(usual, **other)


def cell(value: float | None, low: float | None = None, high: float | None = None, n: int = 0, **other: Any) -> Cell:
    """A cell with its interval and n, but for what is given."""
    return replace(NOT_EVALUATED, value=value, low=low, high=high, n=n, **({"reason": None} | other))


COLUMNS = (
    column("rouge", "ROUGE", "rougeL", threshold=0.4),
    column("rouge", "ROUGE", "rouge1", primary=False),
    column("bleu", "BLEU", "bleu4"),
    column("looping_detection", "Looping detection", "longest_repeated_substring", direction="lower", threshold=0.2),
    column("pii_leakage", "PII leakage", "passes", threshold=0.5),
)
NUMBERS = (  # value, low, high, n, unscored, goodness, best, problem
    (
        (0.512, 0.47, 0.55, 159, 0, 0.512, True), (0.561, 0.52, 0.6, 159, 0, 0.561, True),
        (0.213, 0.17, 0.26, 159, 0, 0.213), (0.041, 0.03, 0.06, 157, 2, 0.96, True),
        (1.0, 0.976, 1.0, 159, 0, 1.0, True),
    ),
    (
        (0.478, 0.44, 0.52, 159, 0, 0.478, True), (0.532, 0.49, 0.57, 159, 0, 0.532, True),
        (0.301, 0.25, 0.35, 159, 0, 0.301, True), (0.052, 0.04, 0.07, 159, 0, 0.95, True),
        (0.994, 0.965, 0.999, 159, 0, 0.994, True),
    ),
    (
        (0.211, 0.18, 0.24, 159, 0, 0.211, False, True), (0.252, 0.22, 0.29, 159, 0, 0.252),
        (0.049, 0.02, 0.08, 159, 0, 0.049), (0.312, 0.26, 0.37, 159, 0, 0.688, False, True),
        (None, None, None, 0, 159),
    ),
)  # fmt: skip
CELLS = tuple(
    tuple(
        cell(*one[:4], **dict(zip(("unscored", "goodness", "best", "problem"), one[4:], strict=False))) for one in row
    )
    for row in NUMBERS
)


def worst_text() -> WorstCase:
    return WorstCase(
        "case-017", "cirrus-mini", 1,
        (CaseMetric("ROUGE: rougeL", 0.02), CaseMetric("Looping detection: longest_repeated_substring", 0.81, "lower")),
        (
            Passage("Question", "How long may a tenant keep a deposit claim open after moving out?"),
            Passage("Expected", "Three years, counted from the end of the year in which the claim arose."),
            Passage(
                "Context 1", "The limitation period of the claim is three years. It starts at the end of the year.",
            ),
            Passage("Answer", "You may keep it open. " * 14 + HOSTILE + "\n" + SCRIPTS),
        ),
        ("law", "multi-turn"),
        (
            *(CaseMetric(column.title, 0.123, column.direction) for column in COLUMNS),
            CaseMetric("json_schema", None, "higher", "not_applicable", "no schema"),
        ),
        (
            ("✗", "You may keep it open."), ("✓", "The limitation period is three years."),
            ("", "longest: “You may keep it open. ”"),
        ),
    )  # fmt: skip


def worst_image(image: Path | None) -> WorstCase:
    return WorstCase(
        "street-004.jpg", "borealis-7b", 1, (CaseMetric("Average precision", 3.0, "lower", unit="error"),), image=image,
        image_note="Boxes matched at IoU ≥ 0.5; predictions with a score of at least 0.3.",
        boxes=(
            Box("annotation", ((40.0, 60.0, 160.0, 60.0, 160.0, 220.0, 40.0, 220.0),), "person"),
            Box("tp", ((44.0, 64.0, 164.0, 64.0, 164.0, 226.0, 44.0, 226.0),), "person", 0.93),
            Box("fp_hallucination", ((240.0, 30.0, 330.0, 30.0, 330.0, 120.0, 240.0, 120.0),), "自転車", 0.71),
            Box("fp_misclassification", ((330.0, 180.0, 460.0, 180.0, 460.0, 300.0, 330.0, 300.0),), "سيارة", 0.55),
            Box("fn", ((200.0, 220.0, 300.0, 220.0, 300.0, 330.0, 200.0, 330.0),), "dog"),
        ),
    )  # fmt: skip


def noted(text: str) -> tuple[Answer, ...]:
    """An answer in which every text is this one."""
    blocks = (Sentence(text, text), table(text, (text, "b"), ((text, text),), groups=((text, 1),)), Note(text))
    return (Answer("slices", text, text, blocks),)


def made(image: Path | None = None, hostile: str = HOSTILE) -> Report:
    heads = ("Metric", "Best value of", "Value (95 % interval)", "n", "Tied for best")
    leaders = table(
        "Best values by metric", heads, (("ROUGE-L ↑", MODELS[0], "0.512 (0.470–0.550)", "159", MODELS[1]),)
    )
    return Report(
        title="MT-RAG answers, 21 Nov 2026", run="20261121-102800-ab12", created="2026-11-21T10:28:00+00:00",
        headline="atlas-large leads: ahead in 3 of 4 main metrics, behind in none.", models=MODELS,
        facts=(
            FactGroup("Data", (
                Fact("Suite", "mtrag"), Fact("Cases", "159"),
                Fact("Suite fingerprint", "53aa51172d14" * 5 + "abcd", True),
                Fact("Rows left out", "3 of the suite, 0 of the outputs"),
            )),
            FactGroup("Run", (
                Fact("Run", "20261121-102800-ab12", True), Fact("Seed", "17"),
                Fact("Versions", "python 3.11.7 · numpy 2.4.6"),
            )),
        ),
        charts=(
            Answer(
                "charts", "Curves", "How do precision and recall change with the threshold?",
                (*CURVES, Note("3 curves left out here.")),
            ),
            Answer("charts", "Confusion", "Which classes are confused?", (CONFUSION,)),
            Answer("charts", "Classes", "On which classes is each model weak?", (CLASSES,)),
        ),
        problems=(Problem(
            "cirrus-mini", "rouge", "ROUGE", "rougeL", 0.211, 0.18, 0.24, 0.4, "higher", 159, "high",
            "rougeL of cirrus-mini is 0.211; at least 0.4 is asked for.",
        ),),
        insights=(Insight("hardest", f"Hardest: case-017, {hostile[:40]}"),),
        summary=Summary(
            table(
                "By how much?", ("Metric", "atlas-large", "borealis-7b", "Difference", "Adjusted p", "Result"),
                ((
                    "ROUGE: rougeL ↑", "0.512 (0.470–0.550)", "0.478 (0.440–0.520)", "+0.034 (−0.010 – 0.078)", "0.130",
                    "not significant",
                ),),
                (1, 2, 3, 4),
            ),
            ("atlas-large and borealis-7b do not differ significantly in any of 4 tested metrics.",),
            ("ROUGE: rougeL ≥ 0.4 is missed by cirrus-mini: 0.211 (0.180–0.240), certain.",),
            ("Choose atlas-large.", f"Read case {hostile}"),
        ),
        sections=(
            Answer(
                "leaderboard", "Leaderboard", "Who is how good at what?", (Heatmap(MODELS, COLUMNS, CELLS), leaders),
            ),
            Answer("comparison", "Is it really better?", "Or could the difference be chance?", (Note("Paired."),)),
            Answer("problems", "Problems", "Which thresholds are missed?", (
                Sentence("1 problem in 1 of 3 models."),
                table(
                    "Missed thresholds", ("Model", "Value", "n"), (("cirrus-mini", "0.211", "159"),), (1, 2),
                    groups=(("ROUGE-L ≥ 0.4", 1),),
                ),
                Note("Significant: the whole 95 % interval misses the threshold."),
            )),
            Answer("problems", "What stands out", "", (Sentence(f"Hardest: case-017, {hostile[:40]}"),)),
            Answer("slices", "Slices", "Where is a model worse than elsewhere?", (Note("342 slices searched."),)),
        ),
        appendices=(Answer("compliance", "Compliance", "For which standards is there evidence?", (table(
            "Evidence", ("Evaluator", "Standards"), (("PII leakage", "NIST AI RMF: privacy enhanced"),),
        ),)),),
        evaluators=("ROUGE", "BLEU", "Looping detection", "PII leakage"), worst=(worst_text(), worst_image(image)),
        methods=(Method(
            "rouge", "ROUGE", 1, "Overlap of n-grams and of the longest common subsequence with the expected answers.",
            ("F = 2 P R / (P + R), where P is the share of the answer's tokens in the subsequence.",),
            (
                MethodMetric("rougeL", "F1 of the longest common subsequence.", 0.0, 1.0, "higher", 0.4),
                MethodMetric("perplexity", "Open range.", 0.0, float("inf"), "lower", None),
            ),
            (Fact("stemmer", "true"),), ("Lin 2004, ROUGE: a package for automatic evaluation of summaries",),
            ("NIST AI RMF: valid and reliable",),
        ),),
        remarks=("The worst 2 of 18 failing cases are shown; the others are in the studio.",),
    )  # fmt: skip
