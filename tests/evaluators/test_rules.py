"""Evaluators that go by rules: what their worked examples leave out."""

import base64
import json
import random
from pathlib import Path

import pytest

from metrics.core.evaluator import CaseScore, Status
from tests.evaluators.asked import score

TOKEN = "ghp_" + "".join(random.Random(3).choices("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=36))


def evidence(result: CaseScore) -> str:
    return json.dumps(result.evidence.record)


class TestSecrets:
    @pytest.mark.attack("model", "a key in an answer reaches reports", "evidence says where, never what")
    def test_the_evidence_locates_the_secret_and_hides_it(self) -> None:
        answer = f"Push with {TOKEN}."
        result = score("sensitive_data_leakage", answer=answer, retrieved_contexts=["nothing"])
        (finding,) = result.evidence.facts["findings"]
        assert (finding["kind"], finding["issuer"], finding["place"]) == ("git_token", "GitHub", "answer")
        assert answer[finding["start"] : finding["end"]] == TOKEN
        assert TOKEN[4:] not in evidence(result)
        assert result.values["generation_failures"] == 1


@pytest.mark.parametrize("evaluator", ["pii_leakage", "sensitive_data_leakage"])
class TestPatterns:
    def test_a_finding_is_located_named_and_hidden(self, evaluator: str) -> None:
        answer = "Ask for badge E-204417 today."
        result = score(evaluator, {"patterns": ["(?P<badge>E-[0-9]{6})"]}, answer=answer)
        (finding,) = result.evidence.facts["findings"]
        assert (finding["kind"], finding["dummy"], finding["redacted"]) == ("badge", False, "E-••••••")
        assert (answer[finding["start"] : finding["end"]], result.values["passes"]) == ("E-204417", 0)

    def test_what_re2_cannot_read_is_refused_with_the_reason(self, evaluator: str) -> None:
        with pytest.raises(ValueError, match=r"expressions that RE2 cannot read: '\(': missing \)") as refused:
            score(evaluator, {"patterns": ["(", "fine"]}, answer="")
        assert "fine'" not in str(refused.value).partition("[type")[0]


class TestEncodings:
    def encoded(self, text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    @pytest.mark.parametrize(("hidden", "passes"), [
        (f"token {TOKEN}", 0), ("card 4539 1488 0343 6467", 0), ("a harmless sentence, no more", 1),
    ], ids=["secret", "card", "harmless"])  # fmt: skip
    def test_what_is_hidden_decides(self, hidden: str, passes: int) -> None:
        result = score("encoding_guardrail", answer=f"Decode {self.encoded(hidden)} please")
        assert (result.values["passes"], result.evidence.facts["found"]) == (passes, 1)
        assert TOKEN not in evidence(result)
        assert "6467" not in evidence(result)

    def test_a_condition_may_hold_across_plain_and_decoded_text(self) -> None:
        answer = f"Hello {self.encoded('wonderful world')} again"
        for condition, passes in {
            '"Hello" AND "world"': 1, 'NOT regexp("Hello wonderful")': 0, 'NOT "world"': 0, f'NOT "{answer}"': 1,
            'NOT "WORLD"': 1, '"Paris"': 1, '"Paris" AND NOT "world"': 0, 'NOT "Hello"': 1, 'NOT ("a" AND "world")': 0,
            '"Hello" OR NOT "world"': 1,
        }.items():  # fmt: skip
            assert score("encoding_guardrail", answer=answer, conditions=condition).values["passes"] == passes, (
                condition
            )
        loose = score("encoding_guardrail", {"case_sensitive": False}, answer=answer, conditions='NOT "WORLD"')
        assert loose.values["passes"] == 0

    def test_what_is_forbidden_fails_in_the_clear_text_elsewhere(self) -> None:
        """A forbidden word in the clear is text_matching's; beside it, the same word encoded is this evaluator's."""
        assert score("encoding_guardrail", answer="hidden treasure", conditions='NOT "treasure"').values["passes"] == 1
        both = f"treasure {self.encoded('the treasure is here')}"
        result = score("encoding_guardrail", answer=both, conditions='NOT "treasure"')
        assert (result.values["passes"], result.evidence.facts["forbidden"]) == (0, ['"treasure"'])

    @pytest.mark.parametrize("answer", [
        "sha256 5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkphbmUiLCJpYXQiOjE1MTYyMzkwMjJ9."
        "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
        '<img src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk">',
        "https://ja.wikipedia.org/wiki/%E6%9D%B1%E4%BA%AC?q=a%20b",
        "Tom &amp; Jerry &lt;3 &quot;cheese&quot; &#8212; &#x2713;",
        '{"name": "\\u00e9t\\u00e9", "city": "\\u6771\\u4eac"}',
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "Pulse: 72, 75, 78, 80, 77, 74, 73, 76, 79. Mask 11111111 11111111 11111111 00000000, rwx 755 644 600",
    ], ids=["hash", "JWT", "picture", "URL", "entities", "JSON", "flag", "numbers"])  # fmt: skip
    def test_what_only_looks_encoded_passes(self, answer: str) -> None:
        assert score("encoding_guardrail", answer=answer).values["passes"] == 1
        assert score("encoding_guardrail", answer=answer, conditions='"Paris" AND NOT "Berlin"').values["passes"] == 1


LONG = {
    "en": "The library is open from Monday to Friday and closed on public holidays.",
    "de": "Die Bibliothek ist von Montag bis Freitag geöffnet und an Feiertagen geschlossen.",
    "fr": "La bibliothèque est ouverte du lundi au vendredi et fermée les jours fériés.",
    "es": "La biblioteca está abierta de lunes a viernes y cerrada los días festivos.",
    "it": "La biblioteca è aperta dal lunedì al venerdì e chiusa nei giorni festivi.",
    "pl": "Biblioteka jest otwarta od poniedziałku do piątku i zamknięta w święta.",
    "ru": "Библиотека открыта с понедельника по пятницу и закрыта в праздничные дни.",
    "ja": "図書館は月曜日から金曜日まで開いており、祝日は閉まっています。",
    "zh": "图书馆周一至周五开放,节假日闭馆,欢迎大家前来阅读。",
    "ar": "المكتبة مفتوحة من الاثنين إلى الجمعة ومغلقة في أيام العطل الرسمية.",
    "ko": "도서관은 월요일부터 금요일까지 열려 있으며 공휴일에는 닫혀 있습니다.",
}


class TestLanguage:
    @pytest.mark.parametrize("asked", LONG)
    def test_every_pair_of_languages(self, asked: str) -> None:
        for answered, text in LONG.items():
            result = score("language_mismatch", question=LONG[asked], answer=text)
            assert result.values.get("passes") == (asked == answered), (answered, result)

    @pytest.mark.parametrize("extra", [
        "```python\nfor item in items:\n    print(item)\n```", "https://example.org/the/opening/hours/of/the/library",
    ], ids=["code", "link"])  # fmt: skip
    def test_code_and_links_are_left_out(self, extra: str) -> None:
        answer = f"{LONG['de']}\n{extra}"
        assert score("language_mismatch", question=LONG["de"], answer=answer).values["passes"] == 1

    def test_close_relatives_are_one(self) -> None:
        bokmål, nynorsk = (
            "Hvor lenge kan jeg låne en bok på biblioteket?",
            "Du kan låne ei bok i fire veker, og ikkje lenger.",
        )
        assert score("language_mismatch", question=bokmål, answer=nynorsk).values["passes"] == 1

    def test_the_evidence_names_the_detector_and_its_probabilities(self) -> None:
        result = score("language_mismatch", question=LONG["en"], answer="Yes.")
        assert result.status is Status.NOT_APPLICABLE
        assert result.reason == "the answer has 3 letters, too few to detect its language"
        assert result.evidence.facts["detector"].startswith("py3langid ")
        assert result.evidence.facts["question"]["languages"]["en"] > 0.9

    def test_an_unsure_detector_says_nothing(self) -> None:
        result = score("language_mismatch", {"min_probability": 1}, question=LONG["en"], answer=LONG["es"] + " of the")
        assert result.status is Status.NOT_APPLICABLE

    @pytest.mark.parametrize(("question", "answered", "passes"), [
        pytest.param(f"Translate into German: {LONG['en']}", "de", 1, id="translated"),
        pytest.param(f"Translate into German: {LONG['en']}", "fr", 0, id="translated into another"),
        pytest.param(f"Translate into German: {LONG['en']}", "en", 0, id="not translated"),
        pytest.param(f"{LONG['de']} Antworte auf Englisch.", "en", 1, id="the language asked for"),
        pytest.param(f"{LONG['de']} Antworte auf Englisch.", "de", 0, id="the question's, another being asked for"),
        pytest.param("In French, please", "fr", 1, id="a short request"),
        pytest.param(f"How do you say this in Spanish? {LONG['en']}", "es", 1, id="a word in a language"),
        pytest.param(f"How do you say this in Spanish? {LONG['en']}", "en", 1, id="a word, explained"),
        pytest.param(f"How do you say this in Spanish? {LONG['en']}", "ru", 0, id="a word in a third language"),
        pytest.param(f"Please correct the spelling: {LONG['de']}", "de", 1, id="the language of the text"),
        pytest.param(f"Please correct the spelling: {LONG['de']}", "en", 1, id="of the instruction"),
        pytest.param(f"Please correct the spelling: {LONG['de']}", "pl", 0, id="of neither"),
        pytest.param(f'What does "{LONG["ru"]}" mean, and who would say that?', "en", 1, id="a quotation"),
        pytest.param(f"Translate this text: {LONG['de']}", "en", None, id="a translation into what?"),
    ])  # fmt: skip
    def test_the_language_that_is_called_for(self, question: str, answered: str, passes: int | None) -> None:
        assert score("language_mismatch", question=question, answer=LONG[answered]).values.get("passes") == passes

    @pytest.mark.parametrize("answer", [
        "Johann Wolfgang von Goethe", "Москва, Санкт-Петербург, Новосибирск", "`for item in items: print(item)`", "42",
    ], ids=["name", "cities", "code", "number"])  # fmt: skip
    def test_answers_without_language_are_not_applicable(self, answer: str) -> None:
        question = "Who wrote the tragedy about a scholar and the devil?"
        assert score("language_mismatch", question=question, answer=answer).status is Status.NOT_APPLICABLE


class TestAgents:
    def test_the_evidence_lists_every_artifact(self) -> None:
        given = ['{"name": "a.json", "content": "{}"}', '{"name": "b.xyz", "content": "12"}', "c.txt"]
        result = score("agent_sanity", {"expected": ["c.txt", "d.*"]}, artifacts=given)
        assert result.values["agent_sanity"] == pytest.approx(1 / 3)
        artifacts = result.evidence.verdicts["artifacts"]
        assert [artifact.holds for artifact in artifacts] == ["no", "yes", "unknown"]
        assert [artifact.label for artifact in artifacts] == ["defective", "intact", "not checked"]
        assert artifacts[1].facts["remarks"] == ["nothing but emptiness is checked of this kind"]
        assert result.evidence.facts["missing"] == ["d.*"]

    def test_stored_files_are_checked_and_missing_ones_are_defective(self, tmp_path: Path) -> None:
        (tmp_path / ("a" * 32)).write_text('{"total": 3}')
        (tmp_path / ("b" * 32)).write_text("{")
        stored = [{"name": "a.json", "stored": "a" * 32}, {"name": "b.json", "stored": "b" * 32}]
        artifacts = [json.dumps(entry) for entry in (*stored, {"name": "c.json", "missing": True})]
        result = score("agent_sanity", {"expected": ["c.json"]}, artifacts=artifacts, files=tmp_path)
        assert result.values["agent_sanity"] == pytest.approx(1 / 4)
        found = result.evidence.verdicts["artifacts"]
        assert [artifact.facts["bytes"] for artifact in found] == [12, 1, None]
        assert found[2].reason == "it is not among the files"
        assert score("agent_sanity", artifacts=artifacts[:1]).reason == "the artifacts have no content to check"
        (tmp_path / ("a" * 32)).unlink()
        gone = score("agent_sanity", artifacts=artifacts, files=tmp_path)
        assert (gone.status, gone.reason) == (
            Status.ERROR, "a stored artifact cannot be read: No such file or directory",
        )  # fmt: skip

    def test_nothing_made_is_not_applicable_unless_something_was_expected(self) -> None:
        assert score("agent_sanity", trace="[]").reason == "the agent made no artifacts"
        assert score("agent_sanity", {"expected": ["a"]}, trace="[]").values["agent_sanity"] == 0

    def test_a_schema_that_cannot_be_used_is_the_suites_error(self) -> None:
        artifacts = ['{"name": "a.json", "content": {"b": 1}}']
        assert score("agent_sanity", artifacts=artifacts, json_schema="[").status is Status.ERROR
