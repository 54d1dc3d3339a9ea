"""Requests that name the language of their answer, in many languages, and sentences that only mention one."""

import pytest

from metrics.text.requested_language import asks_translation, requested_language

REQUESTS = {
    "Translate into French: How long may I keep a book?": "fr",
    "Please translate this sentence to Spanish: The door is closed.": "es",
    "Can you translate the following text into Japanese?\nThe door is closed.": "ja",
    "Answer in German. What is the capital of France?": "de",
    "What is the capital of France? Reply in Italian, please.": "it",
    "Respond only in Portuguese.": "pt",
    "In Dutch, please: what is a library?": "nl",
    "Summarise the text in Russian.": "ru",
    "Give me a Korean translation of this.": "ko",
    "How do you say good morning in Turkish?": "tr",
    'How do you say "good morning in Turkish" in Greek?': "el",
    "Write a short poem in Hindi about rain.": "hi",
    "Explain it to me in simple English": "en",
    "Was ist eine Bibliothek? Auf Englisch bitte.": "en",
    "auf Deutsch bitte: what is a library?": "de",
    "Übersetze den folgenden Satz ins Französische: Guten Morgen.": "fr",
    "Bitte antworte auf Spanisch!": "es",
    "Wie heißt das auf Polnisch?": "pl",
    "Traduis en anglais : Bonjour tout le monde": "en",
    "Réponds en allemand, s'il te plaît.": "de",
    "Écris la lettre en espagnol.": "es",
    "Traduce al inglés: ¿Dónde está la biblioteca?": "en",
    "Responde en francés, por favor.": "fr",
    "Traduza para o inglês: Bom dia a todos": "en",
    "Traduci in tedesco: buongiorno a tutti": "de",
    "Rispondi in inglese per favore": "en",
    "Vertaal naar het Engels: goedemorgen": "en",
    "Przetłumacz na angielski: dzień dobry": "en",
    "Odpowiedz po polsku: what is a library?": "pl",
    "Переведи на английский: доброе утро": "en",
    "Ответь на русском языке, пожалуйста.": "ru",
    "Bunu Türkçeye çevir: good morning": "tr",
    "请用英文回答：图书馆几点开门？": "en",
    "把这句话翻译成法语：早上好": "fr",
    "What time does it open? 请用中文回答。": "zh",
    "英語で答えてください。図書館は何時に開きますか。": "en",
    "次の文をフランス語に訳してください：おはよう": "fr",
    "다음 문장을 영어로 번역해 주세요: 안녕하세요": "en",
    "What is a library? 한국어로 대답해 주세요.": "ko",
    "ترجم إلى الإنجليزية: صباح الخير": "en",
    "What is a library? أجب باللغة العربية": "ar",
}
MENTIONS = (
    "What did the law say in English courts in 1850?",
    "Who lived in French Polynesia before 1800?",
    "Which plants grow in German forests?",
    "Is Polish a Slavic language?",
    "Write a poem about Spanish wine.",
    "Explain the German constitution to me.",
    "What is in the Italian section of the library?",
    "Say it to Italian tourists who visit the town.",
    "Tell me about daily life in Chinese cities.",
    "How many people speak Portuguese?",
    "Write a Python function that sorts a list.",
    "Convert this to JSON.",
    "Wie viele Menschen sprechen Spanisch?",
    "Was steht in deutschen Schulbüchern über Rom?",
    "Quelle est la capitale de l'Allemagne ?",
    "¿Qué comen en las ciudades francesas?",
    'What does "answer in German" mean as a prompt?',
    "Where are the books `answer in French` stored?",
    "Где говорят на этом языке?",
    "日本の首都はどこですか。",
    "中国的首都是哪里？",
)


@pytest.mark.parametrize("request_", REQUESTS)
def test_the_language_asked_for(request_: str) -> None:
    assert requested_language(request_) == REQUESTS[request_]


@pytest.mark.parametrize("question", MENTIONS)
def test_a_language_that_is_only_mentioned(question: str) -> None:
    assert requested_language(question) is None


def test_a_translation_without_a_language() -> None:
    assert asks_translation("Translate the text below.")
    assert asks_translation("请翻译下面的句子")
    assert not asks_translation("How do translators work?")


@pytest.mark.parametrize("unit", ["translate ", "in ", "in French ", "answer ", '"', "(", "用", "英語"])
def test_a_large_request_is_read(unit: str) -> None:
    requested_language(unit * (200_000 // len(unit)))
