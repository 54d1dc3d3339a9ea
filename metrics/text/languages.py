"""Which language a text is in, by py3langid's local model, and which a request asks for: "Translate into French"."""

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import Any

from metrics.core.unicode_forms import normalized
from metrics.text.conditions import comparable

DETECTOR = "py3langid"
MAX_LANGUAGES_SHOWN = 3
WEIGHT_OF_A_SIGN = 3  # letters that a Chinese, Japanese or Korean character counts as
LEFT_OUT = re.compile(
    r"(?s)```.{0,20000}?```|`[^`\n]{1,500}`|https?://\S{1,2000}|\b[\w.+-]{1,64}@[\w.-]{1,255}|<[a-zA-Z/][^<>]{0,200}>"
)
SIGNS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
# Individual languages that a detector cannot tell apart in a sentence, under their ISO 639-3 macrolanguage.
MACROLANGUAGES = {
    "ary": "ar", "arz": "ar", "wuu": "zh", "yue": "zh", "bs": "hbs", "hr": "hbs", "sr": "hbs", "nn": "no", "id": "ms",
    "uzs": "uz", "sdh": "ku", "ltg": "lv",
}  # fmt: skip
NO_LANGUAGE = "zxx"  # what the model calls text without any


@dataclass(frozen=True, slots=True)
class Detected:
    """The most likely language (ISO 639 code) of a text with its probability, the runners-up, and the letters read."""

    language: str
    probability: float
    candidates: tuple[tuple[str, float], ...]
    letters: int


def detect(text: str) -> Detected:
    """Return the language of the prose in `text`: code, links, e-mail addresses and mark-up are ignored.

    Languages of one ISO 639-3 macrolanguage count as one (Bosnian, Croatian and Serbian; Bokmål and Nynorsk; Indonesian
    and Malay; the forms of Chinese and of Arabic), because no detector can distinguish them in a sentence. Source:
    py3langid, a naive Bayes model of byte n-grams over 140 languages (Lui & Baldwin 2012).
    """
    prose = LEFT_OUT.sub(" ", text)
    shares: dict[str, float] = {}
    for language, probability in _identifier().rank(normalized("NFC", prose)):
        language = MACROLANGUAGES.get(language, language)
        shares[language] = shares.get(language, 0.0) + float(probability)
    ranked = sorted(shares.items(), key=lambda share: -share[1])
    language, probability = ranked[0]
    return Detected(language, min(1.0, probability), tuple(ranked[:MAX_LANGUAGES_SHOWN]), letters_in(prose))


def letters_in(text: str) -> int:
    """Return the number of letters of `text`; a Chinese, Japanese or Korean character counts as three."""
    return sum(map(str.isalpha, text)) + (WEIGHT_OF_A_SIGN - 1) * len(SIGNS.findall(text))


def detector() -> str:
    """Return the detector's name and version, for the evidence."""
    return f"{DETECTOR} {version(DETECTOR)}"


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]  # on use: a second

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


# ISO 639-1 code (or that of a macrolanguage, as `detect` returns it): names in English, of its own, in others
LANGUAGES = """
    en: English inglés inglese Englisch anglais inglês Engels angielski английский английском 英語 英文 英语
        영어 الإنجليزية
        angielsku английски İngilizce ingilizce 英訳 אנגלית अंग्रेज़ी अंग्रेजी engelska engelsk englanniksi angolra
        angolul angličtiny anglicky engleză αγγλικά Anh Inggris англійською انگلیسی ภาษาอังกฤษ
    de: German Deutsch Deutsche Deutschen allemand alemán alemão tedesco Duits niemiecki немецкий немецком
        德语 德文 ドイツ語 독일어 الألمانية
        niemiecku немецки Almanca 独訳 גרמנית जर्मन tyska tysk saksaksi németre németül němčiny německy
        germană γερμανικά Đức Jerman німецькою آلمانی ภาษาเยอรมัน
    fr: French français francés francês Französisch francese Frans francuski французский французском 法语 法文
        フランス語 프랑스어 الفرنسية
        francusku французски Fransızca 仏訳 צרפתית फ़्रेंच फ्रेंच franska fransk ranskaksi franciára franciául
        francouzštiny francouzsky franceză γαλλικά Pháp Prancis французькою فرانسوی ภาษาฝรั่งเศส
    es: Spanish español Spanisch espagnol spagnolo espanhol castellano Spaans hiszpański испанский испанском
        西班牙语 スペイン語 스페인어 الإسبانية
        hiszpańsku испански İspanyolca ispanyolca ספרדית स्पेनिश spanska spansk espanjaksi spanyolra spanyolul
        španělštiny španělsky spaniolă ισπανικά іспанською اسپانیایی ภาษาสเปน
    it: Italian italiano Italienisch italien Italiaans włoski итальянский итальянском 意大利语 イタリア語
        이탈리아어 الإيطالية
        włosku итальянски İtalyanca italyanca איטלקית italienska italiensk italiaksi olaszra olaszul italštiny
        italiană ιταλικά італійською
    pt: Portuguese português portugués Portugiesisch portugais portoghese Portugees portugalski португальский
        португальском 葡萄牙语 ポルトガル語 포르투갈어 البرتغالية
    nl: Dutch Nederlands Niederländisch néerlandais neerlandés olandese holandés holenderski нидерландский
        荷兰语 オランダ語 네덜란드어
    pl: Polish polski polsku Polnisch polonais polaco polacco Pools польский польском 波兰语 ポーランド語
        폴란드어
        польски Lehçe polska puolaksi lengyelre lengyelül польською
    ru: Russian русский русском Russisch russe ruso russo rosyjski rosyjsku 俄语 俄文 ロシア語 러시아어
        الروسية
        русски Rusça רוסית रूसी ryska russisk venäjäksi oroszra oroszul rusă ρωσικά Nga російською روسی
    uk: Ukrainian українська українською украинский украинском Ukrainisch ukrainien ucraniano ukraiński
        乌克兰语 ウクライナ語
    cs: Czech čeština česky češtiny Tschechisch tchèque checo чешский 捷克语 チェコ語
    sv: Swedish svenska Schwedisch suédois sueco svedese шведский 瑞典语 スウェーデン語
        ruotsiksi
    no: Norwegian norsk Norwegisch norvégien noruego норвежский
    da: Danish dansk Dänisch danois danés датский
    fi: Finnish suomeksi suomea Finnisch finnois finlandés финский
    hu: Hungarian magyarul magyar Ungarisch hongrois húngaro венгерский
        magyarra
    ro: Romanian română Rumänisch roumain rumano румынский
    el: Greek ελληνικά Griechisch grec griego greco греческий 希腊语 ギリシャ語
    tr: Turkish Türkçe Türkçeye Türkisch turc turco турецкий 土耳其语 トルコ語
    ar: Arabic العربية بالعربية عربي Arabisch arabe árabe arabo арабский арабском 阿拉伯语 アラビア語 아랍어
        арабски Arapça ערבית अरबी arabiska arabisk arabiaksi عربی
    he: Hebrew עברית בעברית Hebräisch hébreu hebreo иврит 希伯来语
    fa: Persian Farsi فارسی Persisch persan persa персидский
    hi: Hindi हिन्दी हिंदी хинди 印地语 ヒンディー語
    bn: Bengali Bangla বাংলা বাংলায় Bengalisch
    ta: Tamil தமிழ் தமிழில்
    th: Thai ไทย ภาษาไทย Thailändisch thaï tailandés тайский 泰语 タイ語
    vi: Vietnamese Vietnamesisch vietnamien vietnamita вьетнамский 越南语 ベトナム語
        Việt
    ms: Indonesian Indonesisch indonésien Malay indonesio
    ja: Japanese 日本語 Japanisch japonais japonés giapponese japoński японский японском 日语 日文 일본어
        اليابانية
        японски Japonca 和訳 יפנית जापानी japanska japansk japaniksi japánra Nhật ภาษาญี่ปุ่น
    ko: Korean 한국어 Koreanisch coréen coreano koreański корейский корейском 韩语 韓国語 الكورية
    zh: Chinese Mandarin 中文 汉语 Chinesisch chinois chino cinese chinês chiński китайский китайском 中国語
        중국어 الصينية
        китайски Çince סינית चीनी kinesiska kinesisk kiinaksi kínaira Trung ภาษาจีน
    hbs: Croatian Serbian Bosnian hrvatski srpski Kroatisch Serbisch
    bg: Bulgarian български Bulgarisch
    sk: Slovak slovensky Slowakisch
    ca: Catalan català Katalanisch
    la: Latin Latein Lateinisch latín латинский
    sw: Swahili Kiswahili Suaheli
    am: Amharic አማርኛ
"""
CODES = {
    name.casefold(): code
    for code, names in re.findall(r"(\w+): ([^:]+)(?=\s\w+:|\Z)", LANGUAGES)
    for name in names.split()
}
# Scripts that join a preposition to the name
JOINED = re.compile("[\u3040-\u9fff\uac00-\ud7af\u0600-\u06ff\u0e00-\u0e7f]")
SPACED = sorted((name for name in CODES if not JOINED.search(name)), key=len)
UNSPACED = sorted((name for name in CODES if JOINED.search(name)), key=len)

# what asks for a language, by the language of the request: a verb of saying, then the language, or the bare phrase
VERBS = (
    r"translat\w*|answer\w*|repl\w+|respond\w*|write|rewrite|say|said|speak|explain\w*|summari[sz]e\w*|describe|put"
    r"|give|tell"
    r"|render|reformulate|rephrase|express|convert|list|draft|compose|call\w*|mean|word|phrase|name"
    r"|übersetz\w*|antworte\w*|schreib\w*|sag\w*|erklär\w*|formulier\w*|fasse?|nenn\w*|heißt|gib"
    r"|tradui\w*|tradu[czs]\w*|répond\w*|écri\w*|dis|dit|dites|expliqu\w*|résum\w*|rédige\w*"
    r"|responde\w*|respond\w+|contesta\w*|escrib\w*|escrev\w*|di|dice|diga|explica\w*|resume\w*|resum\w*"
    r"|traduc\w*|rispond\w*|scriv\w*|spiega\w*|riassum\w*"
    r"|vertaal\w*|antwoord\w*|schrijf\w*|przetłumacz\w*|odpowied\w*|napisz|wyjaśnij"
    r"|перевед\w*|ответ\w*|напиш\w*|объясн\w*|скаж\w*|çevir\w*|yanıtla\w*|cevap\w*|yaz|svar\w*|översätt|oversæt"
    r"|oversett|skriv\w*|förklara|přelož\w*|odpověz|napiš"
    r"|tradu\w*|traduce\w*|răspunde\w*|scrie|μετάφρασε|μεταφράστε|απάντησε|απαντήστε|γράψε|dịch|trả lời|viết|nói"
    r"|terjemahkan|jawab\w*|tulis\w*"
)
LINKS = (
    r"into|in|to|using|do|în|στα|dalam bahasa|ke bahasa|bahasa|sang tiếng|bằng tiếng|ins|auf|nach|en|vers|al|a"
    r"|para|em|in|nel|naar|na|po|w|на|по|till|på|til"
)
AFTER = (  # what may follow the language, other than a noun: "in French Polynesia" asks for none
    r"(?=\s*(?:[.,;:!?)\]»\"'…\n-]|$|(?:please|bitte|s'il|por|per|and|und|et|y|e|or|the|this|that|these|following"
    r"|for|with"
    r"|using|only|how|what|why|when|about|language|язык|языке|języku|текст|пожалуйста|as|den|das|die|diesen"
    r"|folgenden|le|la|les|ce|cette|el|los"
    r"|lo|il|o|os|esta|este|um|uma|un|une"
    r"|sagen|schreiben|übersetzen|antworten|formulieren|an|zeggen|schrijven|alstublieft|graag|tack|takk|tak)\b))"
)
TRANSLATE = re.compile(
    r"\b(?:translat(?:e|ion)\b|übersetz\w*|tradui[st]\w*|traduc\w*|traduz\w*|przetłumacz\w*|перевед\w*)|翻译|翻訳|번역|ترجم",
    re.IGNORECASE,
)
ASKS_A_WORD = re.compile(
    r"(?i)\bhow (?:do|would|can) (?:you|i|we|one) say\b|\bwhat(?:'s| is| does)\b.{0,80}\b(?:in|mean)\b|\bword for\b"
    r"|\bwie (?:heißt|sagt)\b|\bcomment (?:dit|dis)\b|\bcómo se dice\b|\bcome si dice\b|\bкак (?:будет|сказать)\b"
    r"|怎么说|何と言"
)
ADVERBS = (  # names that mean "in" or "into" the language by themselves
    r"Türkçe|Türkçeye|česky|anglicky|německy|francouzsky|španělsky|po polsku|suomeksi|englanniksi|saksaksi|ranskaksi"
    r"|espanjaksi|italiaksi|venäjäksi|ruotsiksi|magyarul|magyarra|angolul|angolra|németül|németre|franciául|franciára"
    r"|spanyolul|spanyolra|українською|англійською|німецькою|французькою|іспанською"
)
FACT = re.compile(  # a question word, and no comma before the language, as in "Why is it blue, in German please?"
    r"(?i)\s*¿?(?:who|when|where|why|which|how many|how much|did|does|(?:was|were) (?:it|he|she|the|this|that|they)|wer"
    r"|wann|wo|warum|welche[rs]?|wurde|qui|quand"
    r"|où|pourquoi|combien|quién|cuándo|dónde|cuántos)\b[^,;:]*\Z"
)
MAX_REQUEST = 2_000  # characters of a request that are read, at either end


def requested_language(request: str) -> str | None:
    """Return the code of the language that a request asks for; None where it names none.

    Codes are those of `detect`. Understood in some thirty languages, for some forty: a verb of
    saying followed by "in", "into" … and the language, or the phrase at the beginning or the end of the request. A
    language within a question about a fact is none: "Who translated the Bible into German?".
    Quoted texts and code are not read.
    """
    text = without_quotes(request)
    for part in dict.fromkeys((text[:MAX_REQUEST], text[-MAX_REQUEST:])):
        for pattern in _patterns():
            found = [match for match in pattern.finditer(part) if not _of_a_fact(part, match)]
            if found:
                named = found[-1].groupdict()
                return str(CODES[(named["language"] or named["named"]).casefold()])
    return None


def asks_translation(request: str) -> bool:
    """Return whether a request asks for a translation, whatever the language."""
    return TRANSLATE.search(without_quotes(request)[:MAX_REQUEST]) is not None


def asks_a_word(request: str) -> bool:
    """Return whether a request asks how something is said in a language: the answer may be in the language of both."""
    return ASKS_A_WORD.search(without_quotes(request)[:MAX_REQUEST]) is not None


def without_quotes(text: str) -> str:
    """Return a text without its code and its quoted parts."""
    text = re.sub(r"```.{0,20000}?```|`[^`\n]{1,500}`", " ", text, flags=re.DOTALL)
    return re.sub(r"\"[^\"\n]{1,2000}\"|«[^»\n]{1,2000}»|「[^」\n]{1,2000}」", " … ", comparable(text))


def _of_a_fact(text: str, found: re.Match[str]) -> bool:
    """Return whether a language is named within a question about a fact: "Who translated the Bible into German?"."""
    ending = re.search(r"[.!?\n][^.!?\n]*\Z", text[: found.start()])
    return FACT.match(text, ending.start() + 1 if ending else 0, found.end()) is not None


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], ...]:
    spaced = "|".join(map(re.escape, reversed(SPACED)))
    unspaced = "|".join(map(re.escape, reversed(UNSPACED)))
    style = r"(?:(?:the|simple|plain|proper|formal|modern|o|het|el|il|la|le|einfaches|einfachem|język)\s+|l')?"
    language = rf"{style}(?P<language>{spaced})e?\b"
    courtesy = r"(?:please|bitte|s'il (?:vous|te) plaît|por favor|per favore|proszę|пожалуйста)"
    return tuple(
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            rf"\b(?:{VERBS})\b[^.!?\n]{{0,120}}?\b(?:{LINKS})\s+{language}{AFTER}",  # translate this into French
            rf"(?:\A|[\n.!?,;:(…]\s*)(?:{LINKS})\s+{language}\s*{courtesy}?\s*(?=[,:.!?)\n]|\Z)",  # In French: …
            rf"\b(?:{LINKS})\s+{language}[,\s]*{courtesy}",
            rf"\b(?:{LINKS})\s+{language}\s*[.!?]?\s*\Z",
            rf"\b(?P<language>{spaced})\s+(?:translation|version|Übersetzung)\b|\bthe\s+(?P<named>{spaced})\s+for\b",
            rf"\b(?:ins|auf)\s+{language}\s+(?:übersetz|sag|schreib|antwort|formulier)",
            rf"\blanguage\s*[:=]\s*(?P<language>{spaced})\b",
            rf"\b(?P<language>{ADVERBS})\b|\bпо-(?P<named>{spaced})\b",
            rf"\b(?P<language>{spaced})(?:y[ea])?\s(?:[^.!?\n]{{0,40}}\s)?(?:çevir|yaz|cevap|yanıt|söyle|açıkla)",
            rf"(?:用|使用|以|[译譯][成为為]|翻[译譯][成为為]|翻成)\s*(?P<language>{unspaced})",
            rf"(?P<language>{unspaced})\s*(?:で|に|に訳|로|으로|回答|回复|作答|答)|(?P<named>英訳|和訳|仏訳|独訳)",
            rf"(?:إلى|باللغة|ب(?=ال)|به)\s*(?P<language>{unspaced})|(?:เป็น|ตอบ|ด้วย)\s*(?P<named>{unspaced})",
            rf"(?<!\w)[לב](?P<language>{spaced})(?!\w)|(?P<named>{spaced})\s*में",
        )
    )
