"""Prompts of one's own wording: placed, checked, used, and told apart wherever their numbers stand."""
# ruff: noqa: E501 - a table reads better with one line a case

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from metrics import Run, evaluate
from metrics.analysis import compare, leaderboard, prompts_asked, trend
from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.core.prompt import filled, split_template, wording
from metrics.core.registry import choose, evaluators, wordings
from metrics.core.suite import Case
from metrics.judge.custom_prompts import CustomPrompt, place_prompts, prompts_of_files
from metrics.judge.saved_objects import save
from metrics.models.language_model import Loss
from metrics.reports.build import build
from metrics.reports.renderers.export_tables import table
from metrics.store import Workspace
from tests.judge.judging import requests
from tests.judge.server import JudgeServer
from tests.judge.test_injection import FACTS

OWN = "Split {text} into facts."
PUBLISHED = "Rewrite the following text with consistent facts: {ref_hypo} In other words, {hypo_ref}"
JUDGE = {"model": "m"}


class Heard:
    """A language model that charges a nat a token and remembers what it was asked."""

    name, weights = "heard", "0" * 64

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []

    def losses(self, pairs: list[tuple[str, str]]) -> list[Loss]:
        self.pairs += pairs
        return [Loss(1.0, 1, 1) for _ in pairs]


@pytest.mark.parametrize(("text", "parts"), [
    (PUBLISHED, ("Rewrite the following text with consistent facts: {ref_hypo} In other words,", " {hypo_ref}")),
    ("{source}\nTL;DR:\n{answer}\n", ("{source}\nTL;DR:\n", "{answer}")),
    ("Fluent?\nAnswer: Yes", ("Fluent?\nAnswer:", " Yes")),
    ("Yes", ("", "Yes")),
])  # fmt: skip
def test_the_last_word_is_what_is_scored(text, parts):
    assert split_template(text) == parts


def test_braces_of_a_text_are_no_placeholders():
    assert filled("{a} {b} {c}", {"a": "{b}", "b": "x"}) == "{b} x {c}"


def test_our_own_templates_ask_as_they_always_did():
    heard = Heard()
    entry, parameters = choose(["gptscore_qa"])["gptscore_qa"]
    entry([Case("1", question="Q {x}?", answer="A.")], parameters, language_model=heard)
    assert heard.pairs[7] == ("Question: Q {x}?\nReply: A.\nIs the reply fluent? Say Yes or No:", " Yes")
    heard = Heard()
    entry, parameters = choose(["gptscore_translation"])["gptscore_translation"]
    entry([Case("1", answer="A b", expected_answers=("C d",))], parameters, language_model=heard)
    assert heard.pairs[:2] == [
        ("Say this again with the same facts: A b\nIn other words:", " C d"),
        ("Say this again with the same facts: C d\nIn other words:", " A b"),
    ]


@pytest.mark.parametrize(("prompts", "asked_of"), [
    pytest.param({"gptscore_translation.accuracy": PUBLISHED}, {0}, id="one-aspect"),
    pytest.param({"gptscore_translation": PUBLISHED}, {0, 1, 2}, id="all-aspects"),
])  # fmt: skip
def test_a_published_template_is_asked_as_published(prompts, asked_of):
    heard = Heard()
    entry, parameters = choose(["gptscore_translation"], {"gptscore_translation": {"prompts": prompts}})[
        "gptscore_translation"
    ]
    (score,) = entry([Case("1", answer="A b", expected_answers=("C d",))], parameters, language_model=heard)
    theirs = ("Rewrite the following text with consistent facts: A b In other words,", " C d")
    assert {place // 2 for place, pair in enumerate(heard.pairs) if pair == theirs} == asked_of
    assert score.evidence.facts["wordings"] == {id: wording(PUBLISHED) for id in prompts}


@pytest.mark.parametrize(("id", "text", "expected"), [
    ("gptscore_translation", "{answer} {hypo_ref}", "no other placeholders than {quality}, {ref_hypo}, {hypo_ref}"),
    ("gptscore_translation", "{hypo_ref} then {ref_hypo}", "a text that ends in {hypo_ref}, which is scored"),
    ("gptscore_qa", "Is it fluent? Yes", "one or more of the placeholders {question}, {answer}, {quality}"),
    ("gptscore_qa", " ", "a text"),
    ("gptscore_qa.charm", "{answer} Yes", "one of gptscore_qa, gptscore_qa.interest"),
    ("claims", "Split {passage}.", "no other placeholders than {text}, {question}"),
    ("entail", "x", "one of claims, entailment"),
])  # fmt: skip
def test_texts_that_cannot_be_used(id, text, expected):
    chosen = ["faithfulness"] if id in ("claims", "entail") else [id.partition(".")[0]]
    with pytest.raises(InputError) as failure:
        place_prompts({id: text}, chosen, {}, {"judge": JUDGE})
    assert expected in str(failure.value)


def test_a_judged_text_reaches_every_judge_of_a_panel():
    panel = {"model": "a", "panel": [{"model": "b", "prompts": {"claims": "old"}}]}
    _, models = place_prompts({"claims": OWN}, ["faithfulness"], {}, {"judge": panel})
    judge = models["judge"]
    assert [one["prompts"] for one in (judge, *judge["panel"])] == [{"claims": OWN}] * 2
    with pytest.raises(InputError, match="a judge, who is asked by these prompts"):
        place_prompts({"claims": OWN}, ["faithfulness"], {}, {})


def test_files_and_saved_prompts(tmp_path):
    polite = save(tmp_path, CustomPrompt(id="polite", title="Polite?", prompt="Is {actual_answer} polite?"))
    (tmp_path / "own.txt").write_text(f"\n{OWN}\n")
    (tmp_path / "polite.json").write_text(json.dumps(polite.model_dump()))
    for source in ("polite", str(tmp_path / "polite.json")):
        assert prompts_of_files({"byop": source}, tmp_path) == {"byop": polite.parameters}
    texts = prompts_of_files({"claims": str(tmp_path / "own.txt"), "byop": str(tmp_path / "own.txt")}, tmp_path)
    assert texts == {"claims": OWN, "byop": OWN}
    with pytest.raises(InputError, match="one or more of the placeholders"):
        place_prompts(texts, ["byop", "faithfulness"], {}, {"judge": JUDGE})
    with pytest.raises(InputError, match=r"(?s)no-1.*no-2"):
        prompts_of_files({"claims": "/no-1", "entailment": "/no-2"}, tmp_path)


def judged(folder: Path, server: JudgeServer, *more: str) -> Run:
    (folder / "suite.csv").write_text("case_id,question\n" + "".join(f"{case},Why?\n" for case in range(6)))
    answers = "".join(f"{case},small,Because {case}.,It is {case}.\n" for case in range(6))
    (folder / "outputs.csv").write_text("case_id,model,answer,retrieved_contexts\n" + answers)
    files = [str(folder / "suite.csv"), str(folder / "outputs.csv")]
    judge = ["--judge", "m", "--judge-base-url", server.url]
    assert main(["evaluate", *files, "--evaluators", "faithfulness", "--quiet", *judge, *more]) == 0
    return Run(Workspace().run("latest").folder)


def test_a_wording_stands_beside_its_numbers(workspace, tmp_path, judge_server):
    def claims(request: Any) -> Mapping[str, Any]:
        own = request.body["messages"][1]["content"].startswith("Split TEXT into facts.")
        return {"claims": ["One.", "Two."] if own else ["One."]}

    judge_server.say("claims", claims)
    judge_server.say(
        "entailment",
        lambda request: [
            {"reason": "", "supported_by": [1] if item.startswith("One") else []}
            for item in request.data["CLAIMS"].replace("[1] ", "").split("\n[2] ")
        ],
    )
    (tmp_path / "own.txt").write_text(OWN + "\n")
    before = judged(tmp_path, judge_server)
    after = judged(tmp_path, judge_server, "--prompt", f"claims={tmp_path / 'own.txt'}")
    sha = hashlib.sha256(OWN.encode()).hexdigest()[:12]
    columns = [next(one for one in leaderboard(run).columns if one.metric == "faithfulness") for run in (before, after)]
    assert [column.wording for column in columns] == ["", f"claims {sha}"]
    assert (prompts_asked(after)["claims"].edited, prompts_asked(after)["claims"].wording) == (True, sha)
    method = build(after).methods[0]
    assert ("wording of your own", f"claims: sha256 {sha}") in [(fact.name, fact.value) for fact in method.parameters]
    assert set(table(after, "aggregates")["wording"]) == {f"claims {sha}"}
    assert "wording" not in table(before, "aggregates")
    told = f"another wording of claims (ours, then {sha})"
    assert trend([before, after], columns[0].key).stops[-1].settings == (told,)
    assert told in " ".join(compare(before, "small", "small", other=after).notes)


def test_prompts_in_python_and_those_of_every_evaluator_are_named(tmp_path):
    with pytest.raises(InputError, match=r"one of rubric\.levels"):
        evaluate(*_files(tmp_path), ["rubric"], judge="m", prompts={"rubric": "x"})
    assert wordings("byop", {"prompt": "Is {question} kind?"}, {}) == {"byop": wording("Is {question} kind?")}
    assert wordings("umbrela", {"prompt": "structured"}, {}) == {}, (
        "a choice between our wordings is none of the user's"
    )
    for entry in evaluators().values():
        for prompt in entry.prompts:
            assert prompt.placeholders, f"{prompt.id} names none of its data"
            assert prompt.complaint(prompt.text) is None, prompt.id


def _files(folder: Path) -> tuple[Path, Path]:
    (folder / "s.csv").write_text("case_id,question\n1,Why?\n")
    (folder / "o.csv").write_text("case_id,model,answer\n1,small,So.\n")
    return folder / "s.csv", folder / "o.csv"


PUBLISHED_SHAPES = {
    # wordings of our own with the placeholders and the shape of the published ones
    "umbrela.grade": ("Score from 0 to 3 how relevant the passage is.\nQuery: {query}\nPassage: {passage}\nThink of intent (M) and " "trust (T), then give ##final score: O.", {"QUERY", "PASSAGE"}),
    "autonuggetizer.nuggets": ('List nuggets like ["a", "b"], at most {max_nuggets}.\nSearch Query: {query}\nContext:\n{context}\nInitial ' "Nugget List: {initial_nuggets}\nInitial Nugget List Length: {initial_nuggets_length}", {"QUERY", "NUGGETS", "PASSAGES"}),
    "autonuggetizer.importance": ("Label each of the {len_nuggets} nuggets vital or okay.\nSearch Query: {query}\nNugget List: {nuggets}", {"QUERY", "NUGGETS"}),
    "autonuggetizer.assignment": ("Label each of the {len_nuggets} nuggets.\nQuery: {query}\nPassage: {generated_passage}\nNuggets: {nuggets}", {"QUERY", "ANSWER", "NUGGETS"}),
    "no_answer": ("Did the student try?\nQuery: {query}\nAnswer: {answer}", {"QUESTION", "ANSWER"}),
    "citation.support": ("Statement: {statement}\nCitation: {citation}", {"ANSWER", "STATEMENT", "PASSAGE"}),
    "fact_check": ("Find false information. ANSWER: {actual_answer} It may help: {question}", {"QUESTION", "ANSWER"}),
    "claims": ('Question: {question}\nAnswer: {answer}\nOutput: {"statements": []}', {"QUESTION", "TEXT"}),
    "entailment": ("Context: {context}\nStatements: {statements}", {"CONTEXTS", "CLAIMS"}),
    "answer_relevancy.questions": ("Write a question for: {response}", {"ANSWER", "DRAWS"}),
    "context_precision.useful": ("Question: {question}\nContext: {context}\nAnswer: {answer}", {"QUESTION", "EXPECTED", "CONTEXTS"}),
    "summary_coherence": ("Source Text:\n{{Document}}\nSummary:\n{{Summary}}\n- Coherence:", {"SOURCE", "SUMMARY"}),
}  # fmt: skip


@pytest.mark.parametrize("id", PUBLISHED_SHAPES)
def test_a_wording_of_the_published_shape_is_taken_as_it_is(id, judge_server, tmp_path):
    """From a file to the request: each of its placeholders names what stands below; no brace of it is left."""
    text, blocks = PUBLISHED_SHAPES[id]
    asking = {
        "claims": "faithfulness", "entailment": "faithfulness", "umbrela.grade": "umbrela",
        "summary_coherence": "summary_coherence", "no_answer": "no_answer",
    }  # fmt: skip
    evaluator = asking.get(id, id.partition(".")[0])
    (tmp_path / "published.txt").write_text(text)
    prompts = prompts_of_files({id: str(tmp_path / "published.txt")}, tmp_path)
    _, models = place_prompts(prompts, [evaluator], {}, {"judge": JUDGE})
    if evaluator == "answer_relevancy":
        judge_server.say(id, [{"question": "How high?", "evasive": "no"}] * 3)
    entry = evaluators()[evaluator]
    found = requests(entry, FACTS, judge_server, tmp_path / "cache", prompts=models["judge"]["prompts"])
    asked = [request for request in found if request.step == id.replace(".", "_")]
    assert asked
    said = asked[0].text.partition("\n\n<")[0]
    assert not re.search(r"\{\w+\}", said)
    assert "{" not in said.replace('{"statements": []}', "")
    assert set(asked[0].data) <= blocks
    for name in re.findall(r"\b[A-Z]{4,}\b", said):
        assert name in asked[0].data, "what the wording names is shown"
    if id == "autonuggetizer.nuggets":
        assert 'like ["a", "b"], at most 30.' in said
        assert "Length: the number of NUGGETS" in said
