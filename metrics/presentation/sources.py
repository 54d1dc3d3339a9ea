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
    "LangSmith agentevals": Source("LangChain agentevals", "https://github.com/langchain-ai/agentevals"),
    "DeepEval": Source("Confident AI DeepEval", "https://github.com/confident-ai/deepeval"),
    "TREC 2024 RAG Track": Source("TREC 2024 RAG Track", "https://trec-rag.github.io/"),
    "Vectara HHEM-2.1-Open": Source(
        "Vectara HHEM-2.1-Open", "https://huggingface.co/vectara/hallucination_evaluation_model"
    ),
    "Hanu and Unitary team 2020, Detoxify": Source(
        "Hanu and Unitary team 2020, Detoxify", "https://github.com/unitaryai/detoxify"
    ),
    "scikit-learn": Source("scikit-learn", "https://scikit-learn.org/stable/modules/model_evaluation.html"),
    "trec_eval": Source("trec_eval (NIST)", "https://github.com/usnistgov/trec_eval"),
    "Järvelin & Kekäläinen 2002, nDCG": Source(
        "Järvelin & Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques",
        "https://doi.org/10.1145/582415.582418",
    ),
    "Buckley & Voorhees 2004, bpref": Source(
        "Buckley & Voorhees 2004, Retrieval Evaluation with Incomplete Information",
        "https://doi.org/10.1145/1008992.1009000",
    ),
    "Moffat & Zobel 2008, RBP": Source(
        "Moffat & Zobel 2008, Rank-Biased Precision for Measurement of Retrieval Effectiveness",
        "https://doi.org/10.1145/1416950.1416952",
    ),
    "Yao et al. 2024, τ-bench (pass^k)": Source(
        "Yao et al. 2024, τ-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains",
        "https://arxiv.org/abs/2406.12045",
    ),
    "Liu et al. 2024 (G-Pass@k)": Source(
        "Liu et al. 2024, Are Your LLMs Capable of Stable Reasoning?", "https://arxiv.org/abs/2412.13147"
    ),
    "Morris et al. 2004, MER and WIL": Source(
        "Morris, Maier & Green 2004, From WER and RIL to MER and WIL: Improved Evaluation Measures for Connected "
        "Speech Recognition",
        "https://doi.org/10.21437/Interspeech.2004-668",
    ),
    "Radford et al. 2022, Whisper": Source(
        "Radford et al. 2022, Robust Speech Recognition via Large-Scale Weak Supervision",
        "https://arxiv.org/abs/2212.04356",
    ),
    "Biten et al. 2019, ANLS": Source(
        "Biten et al. 2019, Scene Text Visual Question Answering", "https://arxiv.org/abs/1905.13648"
    ),
    "Hand & Till 2001": Source(
        "Hand & Till 2001, A Simple Generalisation of the Area Under the ROC Curve for Multiple Class Problems",
        "https://doi.org/10.1023/A:1010920819831",
    ),
    "Huttenlocher et al. 1993, Hausdorff distance": Source(
        "Huttenlocher, Klanderman & Rucklidge 1993, Comparing Images Using the Hausdorff Distance",
        "https://doi.org/10.1109/34.232073",
    ),
    "Cohen 1968": Source(
        "Cohen 1968, Weighted kappa: Nominal scale agreement with provision for scaled disagreement",
        "https://doi.org/10.1037/h0026256",
    ),
    "Kiritchenko et al. 2006": Source(
        "Kiritchenko et al. 2006, Learning and Evaluation in the Presence of Class Hierarchies",
        "https://doi.org/10.1007/11766247_34",
    ),
    "fairlearn": Source("fairlearn", "https://fairlearn.org/main/user_guide/assessment/index.html"),
    "Hardt et al. 2016": Source(
        "Hardt et al. 2016, Equality of Opportunity in Supervised Learning", "https://arxiv.org/abs/1610.02413"
    ),
    "Newcombe 1998": Source(
        "Newcombe 1998, Interval estimation for the difference between independent proportions",
        "https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8%3C873::AID-SIM779%3E3.0.CO;2-I",
    ),
    "Kendall 1945": Source(
        "Kendall 1945, The Treatment of Ties in Ranking Problems", "https://doi.org/10.2307/2332303"
    ),
    "Gneiting & Raftery 2007": Source(
        "Gneiting & Raftery 2007, Strictly Proper Scoring Rules, Prediction, and Estimation",
        "https://doi.org/10.1198/016214506000001437",
    ),
    "Hahn & Meeker 1991": Source(
        "Hahn & Meeker 1991, Statistical Intervals, ch. 5", "https://doi.org/10.1002/9780470316771"
    ),
    "Woodruff 1952": Source(
        "Woodruff 1952, Confidence Intervals for Medians and Other Position Measures",
        "https://doi.org/10.1080/01621459.1952.10483443",
    ),
    "Hyndman & Koehler 2006": Source(
        "Hyndman & Koehler 2006, Another look at measures of forecast accuracy",
        "https://doi.org/10.1016/j.ijforecast.2006.03.001",
    ),
    "Makridakis 1993": Source(
        "Makridakis 1993, Accuracy measures: theoretical and practical concerns",
        "https://doi.org/10.1016/0169-2070%2893%2990079-3",
    ),
    "Koenker & Bassett 1978": Source("Koenker & Bassett 1978, Regression Quantiles", "https://doi.org/10.2307/1913643"),
    "pycocotools 2.0": Source("pycocotools 2.0", "https://github.com/cocodataset/cocoapi"),
    "Gupta et al. 2019": Source(
        "Gupta et al. 2019, LVIS: A Dataset for Large Vocabulary Instance Segmentation",
        "https://arxiv.org/abs/1908.03195",
    ),
    "Everingham et al. 2010": Source(
        "Everingham et al. 2010, The PASCAL Visual Object Classes (VOC) Challenge",
        "https://doi.org/10.1007/s11263-009-0275-4",
    ),
    "VOC development kit 2012": Source(
        "VOC development kit 2012", "https://host.robots.ox.ac.uk/pascal/VOC/voc2012/htmldoc/index.html"
    ),
    "Kuznetsova et al. 2020": Source(
        "Kuznetsova et al. 2020, The Open Images Dataset V4", "https://arxiv.org/abs/1811.00982"
    ),
    "TensorFlow Object Detection API": Source(
        "TensorFlow Object Detection API, Open Images Challenge evaluation",
        "https://github.com/tensorflow/models/blob/master/research/object_detection/g3doc/challenge_evaluation.md",
    ),
    "Xia et al. 2018": Source(
        "Xia et al. 2018, DOTA: A Large-scale Dataset for Object Detection in Aerial Images",
        "https://arxiv.org/abs/1711.10398",
    ),
    "DOTA devkit": Source("DOTA devkit", "https://github.com/CAPTAIN-WHU/DOTA_devkit"),
    "boundary-iou-api 1.0": Source("boundary-iou-api 1.0", "https://github.com/bowenc0221/boundary-iou-api"),
    "lvis 0.5.3": Source("lvis 0.5.3", "https://github.com/lvis-dataset/lvis-api"),
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
    "Rajpurkar et al. 2016, SQuAD": Source(
        "Rajpurkar et al. 2016, SQuAD: 100,000+ Questions for Machine Comprehension of Text",
        "https://arxiv.org/abs/1606.05250",
    ),
    "lm-evaluation-harness": Source(
        "EleutherAI Language Model Evaluation Harness", "https://github.com/EleutherAI/lm-evaluation-harness"
    ),
    "Levenshtein 1966": Source(
        "Levenshtein 1966, Binary Codes Capable of Correcting Deletions, Insertions and Reversals",
        "https://www.mathnet.ru/eng/dan31411",
    ),
    "RapidFuzz": Source("RapidFuzz", "https://github.com/rapidfuzz/RapidFuzz"),
    "jiwer": Source("jiwer", "https://github.com/jitsi/jiwer"),
    "Popović 2015": Source(
        "Popović 2015, chrF: character n-gram F-score for automatic MT evaluation", "https://aclanthology.org/W15-3049/"
    ),
    "Popović 2017": Source(
        "Popović 2017, chrF++: words helping character n-grams", "https://aclanthology.org/W17-4770/"
    ),
    "Snover et al. 2006": Source(
        "Snover et al. 2006, A Study of Translation Edit Rate with Targeted Human Annotation",
        "https://aclanthology.org/2006.amta-papers.25/",
    ),
    "Post 2018, sacreBLEU": Source(
        "Post 2018, A Call for Clarity in Reporting BLEU Scores", "https://aclanthology.org/W18-6319/"
    ),
    "Banerjee & Lavie 2005": Source(
        "Banerjee & Lavie 2005, METEOR: An Automatic Metric for MT Evaluation with Improved Correlation with Human "
        "Judgments",
        "https://aclanthology.org/W05-0909/",
    ),
    "NLTK": Source("Natural Language Toolkit", "https://www.nltk.org/api/nltk.translate.meteor_score.html"),
    "Flesch 1948": Source("Flesch 1948, A New Readability Yardstick", "https://doi.org/10.1037/h0057532"),
    "Kincaid et al. 1975": Source(
        "Kincaid et al. 1975, Derivation of New Readability Formulas for Navy Enlisted Personnel",
        "https://doi.org/10.21236/ADA006655",
    ),
    "Gunning 1952": Source(
        "Gunning 1952, The Technique of Clear Writing", "https://archive.org/details/techniqueofclear00gunn"
    ),
    "McLaughlin 1969": Source(
        "McLaughlin 1969, SMOG Grading: A New Readability Formula", "https://www.jstor.org/stable/40011226"
    ),
    "Coleman & Liau 1975": Source(
        "Coleman & Liau 1975, A Computer Readability Formula Designed for Machine Scoring",
        "https://doi.org/10.1037/h0076540",
    ),
    "Smith & Senter 1967": Source(
        "Smith & Senter 1967, Automated Readability Index", "https://apps.dtic.mil/sti/citations/AD0667273"
    ),
    "Barbieri et al. 2020, TweetEval": Source(
        "Barbieri et al. 2020, TweetEval: Unified Benchmark and Comparative Evaluation for Tweet Classification",
        "https://arxiv.org/abs/2010.12421",
    ),
    "Hutto & Gilbert 2014, VADER": Source(
        "Hutto & Gilbert 2014, VADER: A Parsimonious Rule-based Model for Sentiment Analysis of Social Media Text",
        "https://doi.org/10.1609/icwsm.v8i1.14550",
    ),
    "textstat": Source("textstat", "https://github.com/textstat/textstat"),
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
    "Kirillov et al., Panoptic Segmentation, 2019": Source(
        "Kirillov et al. 2019, Panoptic Segmentation", "https://arxiv.org/abs/1801.00868"
    ),
    "panopticapi": Source("panopticapi", "https://github.com/cocodataset/panopticapi"),
    "Yang & Ramanan, Articulated human detection with flexible mixtures of parts, 2013": Source(
        "Yang & Ramanan 2013, Articulated Human Detection with Flexible Mixtures of Parts",
        "https://doi.org/10.1109/TPAMI.2012.261",
    ),
    "COCO keypoint evaluation": Source("COCO keypoint evaluation", "https://cocodataset.org/#keypoints-eval"),
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
