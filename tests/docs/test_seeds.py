"""docs/seeds.md: every item says where it is, how it relates to its source, and which test shows it."""

import re
from functools import cache
from pathlib import Path

from metrics.core.registry import evaluators

ROW = re.compile(r"^\| (?P<item>.+?) \| (?P<here>.*?) \| (?P<how>.*?) \| (?P<tests>.*?) \|$", re.MULTILINE)
TEST = re.compile(r"`(?P<file>[\w/]+\.py)` (?P<name>\w+)(?:\[(?P<case>[^\]]+)\])?")
HOW = re.compile(r"as the source|differs: \S.*|on request: .*`[^`]+`.*")  # the last with its switch
WORKED_NUMBER = re.compile(r"\*\*[^*]*\d[^*]*\*\*")  # the source gives it: an item has it in bold


@cache
def text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""


def rows(project: Path) -> list[re.Match[str]]:
    found = ROW.finditer(text_of(project / "docs" / "seeds.md"))
    return [row for row in found if row["item"] not in ("item", "---")]


def test_every_item_has_a_place_and_a_test_that_exists(project):
    found = rows(project)
    missing = []
    for row in found:
        named = list(TEST.finditer(row["tests"]))
        if not named or not row["here"].strip():
            missing.append(f"{row['item']}: no place or no test")
        for test in named:
            text = text_of(project / "tests" / test["file"])
            if not re.search(rf"def test_{test['name']}\(", text):
                missing.append(f"{row['item']}: there is no {test['file']}::test_{test['name']}")
            if test["case"] and f'"{test["case"]}"' not in text:
                missing.append(f"{row['item']}: {test['file']} has no case {test['case']!r}")
    assert not missing, "\n".join(missing)
    assert len(found) > 200


def test_every_item_says_how_it_relates_to_its_source(project):
    found = rows(project)
    assert [row["item"] for row in found if not HOW.fullmatch(row["how"])] == []
    worked = [row for row in found if WORKED_NUMBER.search(row["item"])]
    elsewhere = [row["item"] for row in worked if "`seeds/" not in row["tests"]]
    assert elsewhere == [], "the source's own numbers are run by tests/seeds/"


def test_every_evaluator_is_named(project):
    text = text_of(project / "docs" / "seeds.md")
    of_our_own = {  # in none of the five systems
        "agent_budget", "ap_by_bin", "bertscore", "boundary_ap", "calibration", "chrf", "coco_summary",
        "code_execution", "conversation_goal", "corpus_bleu", "corpus_error_rate", "cost", "detection_confusion",
        "edit_distance", "error_breakdown", "exact_match", "g_eval", "goal_accuracy", "group_fairness",
        "hierarchical_classification", "interval_coverage", "jailbreak_success", "keypoint_summary",
        "knowledge_retention", "latency", "lvis_summary", "meteor", "multilabel", "multiple_choice", "open_images_ap",
        "ordinal", "oriented_ap", "own_scores", "panoptic_quality", "pass_at_k", "prompt_injection", "ranking",
        "readability", "refusal_balance", "refusals", "regression", "role_adherence", "selective_accuracy",
        "sentiment", "sql_execution", "system_prompt_leakage", "ter", "token_f1", "tokens", "tool_calls",
        "top_k_accuracy", "topic_adherence", "turn_relevance", "voc_ap",
    }  # fmt: skip
    assert set(re.findall(r"`(\w+)`", text)) >= set(evaluators()) - of_our_own


def test_paths_exist(project):
    wanted = {
        path
        for row in rows(project)
        for path in re.findall(r"`((?:metrics|components|pages)/[\w/]+\.py)`", row["here"])
    }
    assert [path for path in sorted(wanted) if not (project / path).exists()] == []
