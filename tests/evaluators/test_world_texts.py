"""Laws of every overlap metric on texts of the world: identical texts score 1 or it is said why not, others less."""

from pathlib import Path
from typing import Any

import pytest

from metrics.core.evaluator import Findings
from metrics.core.registry import evaluators
from metrics.core.suite import Case, Outputs, Suite
from metrics.models.token_encoder import open_token_encoder

# two texts of each language or script
TEXTS: dict[str, tuple[str, str]] = {
    "English": ("The library opens at nine on weekdays.", "My dog prefers cold water and long walks."),
    "German": ("Die Bücherei öffnet werktags um neun.", "Mein Hund mag kaltes Wasser sehr gern."),
    "French": ("La bibliothèque ouvre à neuf heures.", "Mon chien préfère l'eau très froide."),
    "Turkish": ("Kütüphane hafta içi dokuzda açılır.", "Köpeğim soğuk suyu daha çok sever."),
    "Vietnamese": ("Thư viện mở cửa lúc chín giờ.", "Con chó của tôi thích nước lạnh."),
    "Russian": ("Библиотека открывается в девять утра.", "Моя собака любит очень холодную воду."),
    "Greek": ("Η βιβλιοθήκη ανοίγει στις εννέα.", "Ο σκύλος μου προτιμά κρύο νερό."),
    "Arabic": ("تفتح المكتبة أبوابها في التاسعة صباحا.", "كلبي يفضل الماء البارد كل يوم."),
    "Hebrew": ("הספרייה נפתחת בתשע בבוקר.", "הכלב שלי אוהב מים קרים."),
    "Persian": ("کتابخانه ساعت نه صبح باز می‌شود.", "سگ من آب خیلی سرد دوست دارد."),
    "Hindi": ("पुस्तकालय सुबह नौ बजे खुलता है।", "मेरा कुत्ता ठंडा पानी पसंद करता।"),
    "Bengali": ("গ্রন্থাগার সকাল নয়টায় খোলে প্রতিদিন।", "আমার কুকুর ঠান্ডা জল পছন্দ করে।"),
    "Tamil": ("நூலகம் காலை ஒன்பது மணிக்கு திறக்கும்.", "என் நாய் குளிர்ந்த நீரை விரும்பும்."),
    "Georgian": ("ბიბლიოთეკა დილის ცხრა საათზე იხსნება.", "ჩემს ძაღლს ცივი წყალი ძალიან უყვარს."),
    "Amharic": ("ቤተ መጻሕፍቱ በሦስት ሰዓት ይከፈታል።", "ውሻዬ በጣም ቀዝቃዛ ውኃ ይወዳል።"),
    "Korean": ("도서관은 평일 아홉 시에 엽니다.", "우리 강아지는 찬물을 아주 좋아해요."),
    "Chinese": ("图书馆工作日九点开门。", "我家小狗喜欢喝冷水。"),
    "Chinese, traditional": ("圖書館平日九點開門。", "我家小狗喜歡喝冷水。"),
    "Japanese": ("図書館は平日九時に開きます。", "うちの犬は冷たい水が好き。"),
    "Japanese, kana only": ("としょかんはあさくじにひらく", "うちのいぬはみずがすき"),
    "Thai": ("ห้องสมุดเปิดเวลาเก้าโมงเช้า", "สุนัขของฉันชอบน้ำเย็นมาก"),
    "Khmer": ("បណ្ណាល័យបើកនៅម៉ោងប្រាំបួន", "ឆ្កែរបស់ខ្ញុំចូលចិត្តទឹកត្រជាក់"),
    "Lao": ("ຫໍສະໝຸດເປີດເວລາເກົ້າໂມງ", "ໝາຂອງຂ້ອຍມັກນ້ຳເຢັນ"),
    "Burmese": ("စာကြည့်တိုက်ကို ကိုးနာရီမှာ ဖွင့်တယ်", "ကျွန်တော့်ခွေးက ရေအေးကြိုက်တယ်"),
    "Tibetan": ("དཔེ་མཛོད་ཁང་ཆུ་ཚོད་དགུ་པར་སྒོ་འབྱེད།", "ངའི་ཁྱི་ཆུ་གྲང་མོར་དགའ།"),
    "emoji": ("🎉🔥🚀🌍✨", "🐶💧🍕🎈🌙"),
    "digits": ("2024 31 12 7 9", "1999 4 88 15 3"),
    "Arabic digits": ("٢٠٢٤ ٣١ ١٢ ٧", "١٩٩٩ ٤ ٨٨ ١٥"),
    "mixed": ("用Python 3.11编写the report吧", "在Linux上安装new packages很快"),
}


def case_scores(entry: str, answer: str, expected: str) -> tuple[dict[str, float | None], dict[str, Any]]:
    found = evaluators()[entry]
    [result] = found([Case.of(answer=answer, expected_answers=[expected])], found.parameters())
    return dict(result.values), dict(result.evidence.facts)


def run_scores(entry: str, first: str, second: str, **resources: Any) -> dict[str, float | None]:
    found = evaluators()[entry]
    suite = Suite.from_rows("s", "text", [{"case_id": "1", "question": "?"}])
    outputs = Outputs.from_rows(
        [{"case_id": "1", "model": "m", "run": run, "answer": text} for run, text in enumerate((first, second))]
    )
    findings: Findings = found(suite, outputs, found.parameters(), **resources)
    return {row.metric: row.value for row in findings.aggregates}


@pytest.mark.parametrize("language", TEXTS)
class TestLanguages:
    def test_identical_texts_score_one_or_say_why_not(self, language: str) -> None:
        text = TEXTS[language][0]
        for entry in ("rouge", "bleu"):
            values, facts = case_scores(entry, text, text)
            assert values
            one = all(value == pytest.approx(1) for value in values.values())
            assert one or "tokens, so no 4-grams" in facts["note"], (entry, values, facts)
        runs = run_scores("consistency_rouge", text, text)
        assert runs
        assert all(value == pytest.approx(1) for value in runs.values()), runs

    def test_other_texts_of_the_script_score_less(self, language: str) -> None:
        one, other = TEXTS[language]
        for entry in ("rouge", "bleu"):
            values, facts = case_scores(entry, other, one)
            assert all(value is not None and value < 0.75 for value in values.values()), (entry, values, facts)
        runs = run_scores("consistency_rouge", one, other)
        assert all(value is not None and value < 0.75 for value in runs.values()), runs

    def test_a_single_token_says_why_it_has_no_longer_ones(self, language: str) -> None:
        text = TEXTS[language][0].split()[0][:2]
        for entry in ("rouge", "bleu"):
            values, facts = case_scores(entry, text, text)
            assert facts.get("note") or all(value == pytest.approx(1) for value in values.values()), (entry, values)


def test_bertscore_of_what_the_bundled_encoder_reads_and_of_what_it_does_not(tmp_path: Path) -> None:
    encoder = open_token_encoder("bundled", tmp_path)
    read = set()
    for language, (one, other) in TEXTS.items():
        same = run_scores("consistency_bertscore", one, one, token_encoder=encoder)["consistency_bertscore"]
        apart = run_scores("consistency_bertscore", one, other, token_encoder=encoder)["consistency_bertscore"]
        assert same is None or same == pytest.approx(1), language
        assert apart is None or apart < 0.9, language
        if apart is not None:
            read.add(language)
    assert {"English", "German", "Turkish", "Russian", "Greek", "Arabic", "Hebrew", "Hindi", "Korean"} <= read
    assert not {"Thai", "Khmer", "Amharic", "Chinese", "Japanese, kana only", "emoji"} & read


def test_answers_of_runs_in_two_scripts_are_compared() -> None:
    runs = run_scores("consistency_rouge", "The library opens at nine.", "图书馆工作日九点开门。")
    assert runs["rougeL_f1"] == 0
