"""The claims of a text for the local judge, by rules: its sentences without greetings, offers and refusals."""

import re
from functools import cache

from metrics.core.unicode_forms import normalized
from metrics.text.sentences import worded_sentences

MAX_CLAUSE = 300  # characters of a clause that may state nothing
TEXT = r"(?:text|passage|context|document|information|article|source|excerpt|paragraph|material|conversation)s?"
GIVEN = rf"(?:the|this|these|any|your|my|either)(?: \w+)? {TEXT}(?: (?:provided|given|above|available))?"
IN_GIVEN = rf"(?:anywhere )?(?:in|from|by|with|within|based on|using) {GIVEN}"
KNOWN = r"(?:information|info|answers?|details?|knowledge|access|idea|mention|reference|indication)\b"
WHAT = r"(?:who|whom|whose|what|when|where|which|why|how|if|whether|about|of|the|this|that|it|your|any|anything)\b"
SHARED = (
    r"(?:answer|say|tell|help|assist|provide|determine|confirm|verify|identify|be sure|give|share|comply|access|discuss"
    r"|browse|do (?:that|this))\b"
)
UNABLE = (
    r"(?:cannot|can't|could not|couldn't|can not|(?:(?:am|'m|was|are|were) )?(?:unable|not able) to"
    r"|(?:won't|will not|would not|wouldn't) (?:be able to )?)"
)
# whole clauses, case-folded
COURTESIES = (
    r"(?:hi|hello|hey|dear)(?:,? [^\W\d_]+)?|(?:welcome|greetings|good (?:morning|afternoon|evening|day))(?:,"
    r" [^\W\d_]+|,? (?:all|back|everyone|there))?|good ?bye|bye|cheers|best|(?:(?:best|kind|warm) )?(?:regards"
    r"|wishes)|(?:yours )?(?:sincerely|truly)",
    r"(?:(?:many )?thanks(?: a lot)?|thank you(?: (?:so|very) much)?)(?: for (?:asking|reaching out|your \w+))?",
    r"(?:you're|you are) (?:very |most )?welcome|my pleasure|no (?:problem|worries)|(?:great|good|excellent) question",
    r"sure(?: thing)?|certainly|absolutely|of course|anytime|unfortunately|however|well|have a (?:great|nice|good) \w+",
    r"(?:(?:i'm|i am|i'd be) )?(?:happy|glad|here) (?:to|i could) (?:help|assist)(?: you)?|let me (?:check|explain)"
    r"|let's (?:dive|jump) in",
    r"(?:(?:i'm|i am|we're|we are) )?(?:(?:very|so|truly|really) )?(?:sorry|afraid)(?: to hear that| (?:for|about)"
    r" (?:the|any|this|that)(?: \w+)?)?|(?:my )?apologies|i apologi[sz]e(?: for (?:the|any) \w+)?",
    r"(?:i )?hope (?:this|that|it) (?:(?:helps|answers|clarifies)\b[^,;]*)|(?:please )?let me know(?: (?:if|what"
    r"|how|whether|when)\b[^,;]*)?",
    r"(?:please )?feel free to (?:ask|reach|contact|let|share|provide|tell)\b[^,;]*|(?:please )?ask (?:me )?if\b[^,;]*",
    r"if you (?:have|need|want|would like|'d like)\b[^,;]*|please (?:provide|clarify|specify|share|rephrase)\b[^,;]*",
    r"(?:please )?(?:do not|don't) hesitate to [^,;]*|(?:here(?:'s| is| are)|below (?:is|are)) [^.:]{0,60}:",
)
REFUSALS = (
    rf"(?:as|because|since|and|or) (?:i|we|there|{GIVEN}) .{{0,40}}(?:cannot|can't|not|n't|no)\b[^,;]*",
    r"as an? (?:ai|large language|language|virtual|artificial)\b[^,;]*",
    rf"(?:based on|according to|from|in|given|after reviewing) {GIVEN}",
    rf"(?:(?:i|we) (?:\w+ly )?)?(?:do not|don't|did not|didn't) know(?: (?:exactly|for sure|{WHAT}[^,;]*))?",
    rf"(?:(?:i|we) )?{UNABLE} ?{SHARED}[^,;]*",
    rf"(?:(?:i|we) )?{UNABLE} ?(?:find|see|locate) (?:(?:\w+ ){{0,3}}{KNOWN}[^,;]*|(?:it|that|this|anything)\b[^,;]*)",
    rf"(?:i'm|i am) (?:unable|not able) to\b[^,;]*|(?:i'm|i am) not (?:sure|certain)(?: {WHAT}[^,;]*)?",
    rf"(?:i|we) (?:do not|don't|did not|didn't) (?:currently )?(?:have|find|see) (?:\w+ ){{0,3}}{KNOWN}[^,;]*",
    rf"i (?:\w+ly )?have no (?:\w+ )?{KNOWN}[^,;]*|i (?:refuse|must decline|have to decline|decline) to\b[^,;]*"
    r"|i (?:would |'d )?need more\b[^,;]*|more (?:context|information|details) (?:is|are) needed\b[^,;]*",
    r"i wish i could(?: help[^,;]*)?|i (?:would|'d) rather not say|i can't|no (?:idea|data)|dunno",
    r"(?:i'm|i am) (?:just |only )?an? (?:ai|language model|assistant)\b[^,;]*",
    rf"there(?:'s| is| was)(?: no| not enough| not any|n't enough|n't any| insufficient)(?: \w+)? {KNOWN}"
    r"(?: (?:about|of|on|in|to|regarding|for|as|available|provided|given)\b[^,;]*)?",
    r"(?:no|not enough|insufficient)(?: \w+)? (?:information|info|answer|data|mention|context)"
    rf"(?: (?:about|on|for) (?:this|that|it))?(?: (?:is|was))?(?: (?:given|available|found|provided))?(?: {IN_GIVEN})?",
    rf"(?:there(?:'s| is) )?nothing (?:about [^,;]{{1,60}} )?{IN_GIVEN}[^,;]*|{GIVEN} (?:\w+ )?(?:provide|contain"
    rf"|give|ha|offer)(?:ve|e?s)? no (?:\w+ )?{KNOWN}[^,;]*",
    rf"none of {GIVEN} (?:mentions?|contains?|says?|provides?|states?|answers?|includes?|gives?)\b[^,;]*",
    rf"{GIVEN}.{{0,40}}? (?:do|does|did)(?: not|n't) (?:\w+ ){{0,2}}"
    r"(?:contain|say|mention|provide|state|answer|specify|include|give)\b[^,;]*|it (?:doesn't|does not) say",
    rf"the [^,;]{{1,80}} (?:is|are|was|were)(?: not|n't) (?:mentioned|stated|specified|given|provided"
    rf"|found) {IN_GIVEN}",
    rf"(?:(?:it|this|that|(?:the|this|that|such|your) (?:\w+ ){{0,2}}(?:answer|information|question|detail)s?(?:"
    rf" needed)?)(?:(?:'s| is| are| was| were| has| have)(?: not|n't)(?: been)?| {UNABLE} ?(?:be)?)|not)"
    rf" (?:explicitly |directly |clearly )?(?:mentioned|stated|specified|given|provided|available|found|included"
    rf"|determined|answered|addressed|known)(?: {IN_GIVEN})?",
    rf"(?:the (?:answer|information)(?: needed)?|it|this) (?:is|was)(?: not|n't) {IN_GIVEN}|cannot be (?:determined"
    rf"|answered)|not sure|cannot",
    rf"it (?:is|was)(?: not|n't) (?:possible|clear)(?: to [^,;]*| {IN_GIVEN})|it is un(?:clear|known)(?: {IN_GIVEN})?",
    r"unanswerable|n/?a|unknown|unclear|unsure|unspecified",
)
# greetings, apologies and refusals in German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian, Turkish,
# Hindi, Chinese, Japanese, Korean and Arabic
ELSEWHERE = (
    r"hallo|guten (?:tag|morgen|abend)|gerne?(?: geschehen)?|(?:vielen )?dank|danke(?: schön)?|leider|entschuldigung"
    r"|(?:es )?tut mir (?:sehr )?leid",
    r"(?:leider )?(?:das )?wei(?:ß|ss) ich (?:das |es )?(?:leider )?nicht|ich wei(?:ß|ss) (?:es "
    r"|das )?(?:leider )?nicht",
    r"(?:leider |das |diese frage |darauf |hierzu ){0,2}(?:kann ich|ich kann) .{0,60}nichts? (?:beantworten|sagen"
    r"|helfen|finden)",
    r"(?:leider |dazu |darüber ){0,2}(?:habe ich|ich habe|es gibt) (?:leider |dazu ){0,2}keine (?:informationen"
    r"|angaben|antwort)[^,;]*",
    r"(?:der|dieser|im) (?:text|kontext|abschnitt) (?:enthält|nennt|erwähnt|sagt|gibt|wird).{0,40}(?:kein|nicht)[^,;]*",
    r"keine (?:ahnung|angaben?)|(?:das |es )?steht nicht im text|(?:das |es )?geht aus dem text nicht hervor"
    r"|(?:die|diese) frage kann nicht beantwortet werden|aucune information n'est [^,;]*|je l'ignore",
    r"desconozco la respuesta|no se (?:menciona|indica)(?: en el \w+)?|нет информации|неизвестно"
    r"|nie mam informacji[^,;]*",
    r"bonjour|bonsoir|salut|merci(?: beaucoup)?|de rien|(?:je suis )?(?:vraiment )?désolée?|malheureusement|pardon",
    r"(?:malheureusement )?je ne (?:le )?sais pas(?: [^,;]*)?|je ne (?:peux|suis) .{0,30}pas .{0,30}(?:répondre"
    r"|aider|fournir)\b[^,;]*",
    r"je (?:ne dispose|n'ai) (?:malheureusement )?(?:pas|aucune) .{0,20}(?:information|réponse)s?\b[^,;]*",
    r"(?:le|ce) (?:texte|contexte|passage|document) ne (?:mentionne|contient|dit|fournit|précise|indique) [^,;]*",
    r"hola|(?:muchas )?gracias|buen[oa]s (?:días|tardes|noches)|de nada|lo (?:siento|lamento)(?: mucho)?|disculpa"
    r"|lamentablemente|desafortunadamente",
    r"no (?:lo )?sé(?: (?:la respuesta|quién|qué|cuándo|dónde|si)\b[^,;]*)?|no (?:puedo|podemos) (?:responder"
    r"|contestar|ayudar|proporcionar)[^,;]*",
    r"no (?:tengo|dispongo de|encuentro|hay) (?:\w+ ){0,2}información[^,;]*",
    r"el (?:texto|contexto|pasaje|documento) no (?:lo )?(?:menciona|dice|contiene|proporciona|indica|incluye)[^,;]*",
    r"ciao|buongiorno|grazie|mi dispiace|purtroppo|non (?:lo )?so|non (?:posso|sono in grado di) (?:rispondere"
    r"|aiutare)[^,;]*",
    r"non ho (?:\w+ ){0,2}informazioni[^,;]*|il (?:testo|contesto|documento) non (?:menziona|contiene|dice"
    r"|fornisce)[^,;]*",
    r"olá|obrigad[oa]|desculpe|infelizmente|lamento|sinto muito|não sei|não posso (?:responder|ajudar)[^,;]*",
    r"não tenho (?:\w+ ){0,2}informaç[^,;]*|o (?:texto|contexto|documento) não (?:menciona|contém|diz|fornece)[^,;]*",
    r"het spijt me|helaas|bedankt|(?:dat )?weet ik (?:het )?niet|ik weet het niet|ik kan .{0,40}niet beantwoorden",
    r"dziękuję|przepraszam|niestety|nie wiem|nie mogę (?:odpowiedzieć|pomóc)[^,;]*",
    r"привет|здравствуйте|спасибо|извините|простите|к сожалению|(?:я )?не знаю|(?:я )?не могу (?:ответить"
    r"|помочь)[^,;]*",
    r"(?:к сожалению )?в (?:тексте|контексте|документе) (?:об этом |это )?не (?:говорится|упоминается|указано)[^,;]*"
    r"|у меня нет (?:\w+ ){0,2}информации[^,;]*",
    r"merhaba|teşekkürler|üzgünüm|maalesef|bilmiyorum|नमस्ते|धन्यवाद|क्षमा करें|(?:मुझे )?(?:नहीं पता"
    r"|पता नहीं)(?: है)?",
    r"(?:根据|根據)(?:上下文|文本|文中内容)|未知|不明です?|غير معروف|(?:その)?情報は見つかりません(?:でした)?",
    r"[你您]好|[谢謝]{2}|不客[气氣]|(?:很|非常)?抱歉|[对對]不起|(?:但)?我?(?:也)?不(?:知道|清楚|确定|確定)",
    r"我?(?:[无無]法|不能)(?:回答|提供|确定|確定|[帮幫]助)[^,;]*|(?:我|(?:上下|本|原)?文(?:本|章|档|件)?(?:中|里)?|[资資]料(?:中)?)?(?:[没沒]有"
    r"|未)(?:提[到及供]|[说說]明|相[关關][信资資][^,;]*|答案)",
    r"こんにちは|ありがとうございます|すみません(?:が)?|申し訳(?:ありません|ございません)(?:が)?|(?:わか|分か)りません",
    r"(?:お)?答えでき(?:ません|かねます)|(?:本文|文脈|テキスト|文書)に(?:は)?.{0,12}(?:ません|ない)|(?:その)?情報は(?:ありません|含まれていません)",
    r"안녕하세요|감사합니다|죄송합니다(?:만)?|(?:잘 )?모르겠습니다|(?:답변|대답)(?:을|할)? ?(?:드릴 )?수 없습니다"
    r"|.{0,15}정보[가는] 없습니다",
    r"مرحبا|شكرا|عذرا|آسف|أعتذر|لا (?:أعرف|أعلم|أدري)(?: [^,;]*)?|لا (?:أستطيع|يمكنني) (?:الإجابة|المساعدة"
    r"|تقديم)[^,;]*",
    r"لا توجد (?:معلومات|إجابة)[^,;]*|(?:النص|السياق) لا (?:يذكر|يحتوي|يتضمن)[^,;]*",
)
CLAUSES = re.compile(r"[,;:،、，；：–—]+|\s-\s|\b(?:but|though|although|aber|mais|pero|ma|mas|но)\b", re.IGNORECASE)
MARKS = " \t\"'“”‘’«»„()[]*_.!。！¡…।"
MARKED = dict.fromkeys(map(ord, "\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652"))  # Arabic vowel signs
BARE = 8  # words; a text of at most as many is no claim without its question
BULLET = re.compile(r"^(?:[\-–—*•·]\s|\s)+")
EMPHASIS = re.compile(r"(?<!\w)(?:\*\*|__)|(?:\*\*|__)(?!\w)")
CODE = re.compile(r"^[^\S\n]*+```.*?(?:^[^\S\n]*+```[^\S\n]*+$|\Z)", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"#{1,6}\s")
QUESTION = ("?", "？", "؟")


def states_nothing(sentence: str) -> bool:
    """Return whether each clause of a sentence is a courtesy or a refusal: "Sorry, but Ann wrote it" states something.

    >>> states_nothing("I'm sorry, but I cannot answer this question.")
    True
    """
    plain = normalized("NFC", sentence).replace("’", "'").casefold().translate(MARKED)
    if _matches(plain):
        return True
    clauses = [clause for clause in CLAUSES.split(plain) if clause.strip(MARKS)]
    return all(map(_matches, clauses))


def _matches(clause: str) -> bool:
    clause = " ".join(clause.strip(MARKS + ",").split())
    return len(clause) <= MAX_CLAUSE and _pattern().fullmatch(clause) is not None


@cache
def _pattern() -> re.Pattern[str]:
    opening = (
        r"(?:(?:and|so|well|sure,|certainly,|certainly!|sorry|unfortunately|i'm afraid|i am afraid|leider|désolé)"
        r" (?:that )?)?"
    )
    return re.compile(f"{opening}(?:{'|'.join((*COURTESIES, *REFUSALS, *ELSEWHERE))})")


def claim_sentences(text: str, question: str = "") -> list[str]:
    """Return the sentences of a text that state something, in order; a bare answer behind its question.

    Left out are questions, courtesies, sentences that refuse or say that nothing is known, and beside other sentences
    headings, the words that introduce a list, and blocks of code. A single sentence of at most BARE words ("Judson",
    "no") is an answer to be completed: it is returned as "QUESTION? Judson".
    """
    text = EMPHASIS.sub("", text.strip())
    parts = [BULLET.sub("", sentence) for sentence in worded_sentences(CODE.sub("", text)) or worded_sentences(text)]
    if len(parts) == 1 and question.strip() and len(text.split()) <= BARE and (_title(parts[0]) or _states(parts[0])):
        return [f"{' '.join(question.split()).rstrip(' ?.')}? {parts[0]}"]
    kept = [part for part in parts if part and _states(part)]
    own = [part for part in kept if not HEADING.match(part) and (not part.endswith(":") or len(part.split()) > BARE)]
    return own or kept


def _states(sentence: str) -> bool:
    return not sentence.rstrip("\"'”’)] ").endswith(QUESTION) and not states_nothing(sentence)


def _title(answer: str) -> bool:
    """Return whether a bare answer is the title of something that is a question: Who's Afraid of Virginia Woolf?"""
    long = [word for word in answer.split() if len(word) > 3]
    return answer.endswith("?") and len(long) > 1 and all(word[0].isupper() for word in long)
