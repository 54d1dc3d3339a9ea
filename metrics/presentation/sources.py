"""The sources of evaluators: how each is named in full, and where it is to be read."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple


class Source(NamedTuple):
    """A work that definitions come from: its full name, and a link."""

    name: str
    link: str


# by the names that evaluators call them by
SOURCES = {
    "OpenTelemetry GenAI conventions": Source(
        "OpenTelemetry semantic conventions for generative AI",
        "https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events/",
    ),
    "Valor": Source("Striveworks Valor", "https://striveworks.github.io/valor/metrics/"),
    "H2O Eval Studio": Source("H2O.ai Eval Studio", "https://docs.h2o.ai/eval-studio-docs/evaluators"),
    "Open RAG Eval": Source("Vectara Open RAG Eval", "https://github.com/vectara/open-rag-eval/blob/main/METRICS.md"),
    "RAG generator metrics": Source(
        "Kalyan KS, RAG Generator Evaluation Metrics", "https://www.linkedin.com/in/kalyanksnlp/"
    ),
    "Agent evaluation reference": Source(
        "Agent Skills for Context Engineering, Evaluation Reference: Metrics and Implementation",
        "https://github.com/muratcankoylan/Agent-Skills-for-Context-Engineering/tree/main/skills/evaluation",
    ),
    "RAGAS": Source(
        "RAGAS (Es et al. 2023, Automated Evaluation of Retrieval Augmented Generation)",
        "https://arxiv.org/abs/2309.15217",
    ),
    "RAGChecker": Source(
        "RAGChecker (Ru et al. 2024, A Fine-grained Framework for Diagnosing Retrieval-Augmented Generation)",
        "https://arxiv.org/abs/2408.08067",
    ),
    "DeepEval": Source("Confident AI DeepEval", "https://github.com/confident-ai/deepeval"),
    "TREC 2024 RAG Track": Source("TREC 2024 RAG Track", "https://trec-rag.github.io/"),
    "Vectara HHEM-2.1-Open": Source(
        "Vectara HHEM-2.1-Open", "https://huggingface.co/vectara/hallucination_evaluation_model"
    ),
    "Hanu and Unitary team 2020, Detoxify": Source(
        "Hanu and Unitary team 2020, Detoxify", "https://github.com/unitaryai/detoxify"
    ),
    "scikit-learn": Source("scikit-learn", "https://scikit-learn.org/stable/modules/model_evaluation.html"),
    "pycocotools 2.0": Source("pycocotools 2.0", "https://github.com/cocodataset/cocoapi"),
    "tidecv 1.0.1": Source("tidecv 1.0.1", "https://github.com/dbolya/tide"),
    "Chen et al. 2021": Source(
        "Chen et al. 2021, Evaluating Large Language Models Trained on Code", "https://arxiv.org/abs/2107.03374"
    ),
    "Austin et al. 2021": Source(
        "Austin et al. 2021, Program Synthesis with Large Language Models", "https://arxiv.org/abs/2108.07732"
    ),
    "Yu et al. 2018": Source(
        "Yu et al. 2018, Spider: A Large-Scale Human-Labeled Dataset for Complex and Cross-Domain Semantic Parsing and "
        "Text-to-SQL Task",
        "https://arxiv.org/abs/1809.08887",
    ),
    "Li et al. 2023": Source(
        "Li et al. 2023, Can LLM Already Serve as A Database Interface? A BIg Bench for Large-Scale Database Grounded "
        "Text-to-SQLs",
        "https://arxiv.org/abs/2305.03111",
    ),
    "Greshake et al. 2023": Source(
        "Greshake et al. 2023, Not What You've Signed Up For: Compromising Real-World LLM-Integrated Applications with "
        "Indirect Prompt Injection",
        "https://arxiv.org/abs/2302.12173",
    ),
    "Perez and Ribeiro 2022": Source(
        "Perez and Ribeiro 2022, Ignore Previous Prompt: Attack Techniques For Language Models",
        "https://arxiv.org/abs/2211.09527",
    ),
    "Mazeika et al. 2024": Source(
        "Mazeika et al. 2024, HarmBench: A Standardized Evaluation Framework for Automated Red Teaming and Robust "
        "Refusal",
        "https://arxiv.org/abs/2402.04249",
    ),
    "Souly et al. 2024": Source(
        "Souly et al. 2024, A StrongREJECT for Empty Jailbreaks", "https://arxiv.org/abs/2402.10260"
    ),
    "Zhang et al. 2024": Source(
        "Zhang et al. 2024, Effective Prompt Extraction from Language Models", "https://arxiv.org/abs/2307.06865"
    ),
    "Röttger et al. 2024": Source(
        "Röttger et al. 2024, XSTest: A Test Suite for Identifying Exaggerated Safety Behaviours in Large Language "
        "Models",
        "https://arxiv.org/abs/2308.01263",
    ),
    "Brier 1950": Source(
        "Brier 1950, Verification of Forecasts Expressed in Terms of Probability",
        "https://doi.org/10.1175/1520-0493(1950)078%3C0001:VOFEIT%3E2.0.CO;2",
    ),
    "Jelinek et al. 1977": Source(
        "Jelinek et al. 1977, Perplexity: a measure of the difficulty of speech recognition tasks",
        "https://doi.org/10.1121/1.2016299",
    ),
    "Papineni et al. 2002": Source(
        "Papineni et al. 2002, BLEU: a Method for Automatic Evaluation of Machine Translation",
        "https://aclanthology.org/P02-1040/",
    ),
    "Lin 2004": Source(
        "Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries", "https://aclanthology.org/W04-1013/"
    ),
    "Lui & Baldwin 2012": Source(
        "Lui & Baldwin 2012, langid.py: An Off-the-shelf Language Identification Tool",
        "https://aclanthology.org/P12-3005/",
    ),
    "Lin et al., Microsoft COCO: Common Objects in Context, 2014": Source(
        "Lin et al. 2014, Microsoft COCO: Common Objects in Context", "https://arxiv.org/abs/1405.0312"
    ),
    "Everingham et al., The Pascal Visual Object Classes Challenge: a retrospective, 2015": Source(
        "Everingham et al. 2015, The Pascal Visual Object Classes Challenge: A Retrospective",
        "https://doi.org/10.1007/s11263-014-0733-5",
    ),
    "Hosang et al., What makes for effective detection proposals?, 2015": Source(
        "Hosang et al. 2015, What makes for effective detection proposals?", "https://arxiv.org/abs/1502.05082"
    ),
    "Geifman, Uziel & El-Yaniv 2019: Bias-Reduced Uncertainty Estimation for Deep Neural Classifiers": Source(
        "Geifman et al. 2019, Bias-Reduced Uncertainty Estimation for Deep Neural Classifiers",
        "https://arxiv.org/abs/1805.08206",
    ),
    "Angelopoulos, Bates, Candès, Jordan & Lei 2021: Learn then Test": Source(
        "Angelopoulos et al. 2021, Learn then Test: Calibrating Predictive Algorithms to Achieve Risk Control",
        "https://arxiv.org/abs/2110.01052",
    ),
    "Guo et al. 2017: On Calibration of Modern Neural Networks": Source(
        "Guo et al. 2017, On Calibration of Modern Neural Networks", "https://arxiv.org/abs/1706.04599"
    ),
    "Bolya et al., TIDE: A General Toolbox for Identifying Object Detection Errors, 2020": Source(
        "Bolya et al. 2020, TIDE: A General Toolbox for Identifying Object Detection Errors",
        "https://arxiv.org/abs/2008.08115",
    ),
    "Küppers et al. 2020: Multivariate Confidence Calibration for Object Detection": Source(
        "Küppers et al. 2020, Multivariate Confidence Calibration for Object Detection",
        "https://arxiv.org/abs/2004.13546",
    ),
    "Zhang et al. 2020": Source(
        "Zhang et al. 2020, BERTScore: Evaluating Text Generation with BERT", "https://arxiv.org/abs/1904.09675"
    ),
    "Cheng et al., Boundary IoU: improving object-centric image segmentation evaluation, 2021": Source(
        "Cheng et al. 2021, Boundary IoU: Improving Object-Centric Image Segmentation Evaluation",
        "https://arxiv.org/abs/2103.16562",
    ),
    "Risch et al. 2021": Source(
        "Risch et al. 2021, Semantic Answer Similarity for Evaluating Question Answering Models",
        "https://arxiv.org/abs/2108.06130",
    ),
    "Laban et al. 2022, SummaC-ZS": Source(
        "Laban et al. 2022, SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in Summarization",
        "https://arxiv.org/abs/2111.09525",
    ),
    "Fu et al. 2023, GPTScore": Source(
        "Fu et al. 2023, GPTScore: Evaluate as You Desire", "https://arxiv.org/abs/2302.04166"
    ),
    "Liu et al. 2023, G-Eval": Source(
        "Liu et al. 2023, G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment",
        "https://arxiv.org/abs/2303.16634",
    ),
    "Pradeep et al. 2024, AutoNuggetizer": Source(
        "Pradeep et al. 2024, Initial Nugget Evaluation Results for the TREC 2024 RAG Track with the AutoNuggetizer "
        "Framework",
        "https://arxiv.org/abs/2411.09607",
    ),
    "Upadhyay et al. 2024, UMBRELA": Source(
        "Upadhyay et al. 2024, UMBRELA: UMbrela is the (Open-Source Reproduction of the) Bing RELevance Assessor",
        "https://arxiv.org/abs/2406.06519",
    ),
}


class Piece(NamedTuple):
    """A part of a source's text: a work with its link, or words between; then `link` is empty."""

    text: str
    link: str = ""


def pieces(source: str) -> Iterator[Piece]:
    """Yield a source as an evaluator declares it with every known work named in full."""
    for part in _names().split(source):
        if part in SOURCES:
            yield Piece(*SOURCES[part])
        elif part:
            yield Piece(part)


def source_text(source: str) -> str:
    """Return a source in full, as text: `Striveworks Valor, after RAGAS (Es et al. 2023, …)`."""
    return "".join(piece.text for piece in pieces(source))


def source_markdown(source: str) -> str:
    """Return a source in full, as Markdown with its links."""
    return "".join(f"[{piece.text}]({piece.link})" if piece.link else piece.text for piece in pieces(source))


@cache
def _names() -> re.Pattern[str]:
    # the longest first, so that a name within another one does not cut it short
    return re.compile("(" + "|".join(re.escape(name) for name in sorted(SOURCES, key=len, reverse=True)) + ")")
