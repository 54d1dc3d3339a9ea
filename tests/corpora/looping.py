# ruff: noqa: E501
"""Answers that got stuck in a loop, and answers that repeat themselves for a reason; half of each held out.

The thresholds of `metrics.text.loops` were set on SEEN; HELD_OUT was written beside it and only measured.
"""

from collections.abc import Mapping

PROSE = (
    "The library was founded in 1871 by a group of merchants who wanted their apprentices to read. Its first room "
    "held four hundred books, most of them given by widows. A fire destroyed the roof in 1903, but the neighbours "
    "carried nearly all the volumes into the church. Today the building houses a reading room, a workshop for "
    "bookbinders and, in the cellar, the archive of the town. Visitors may borrow up to ten items for four weeks. "
)
PROSA = (
    "Die Bücherei wurde 1871 von Kaufleuten gegründet, die ihren Lehrlingen das Lesen nahebringen wollten. Im ersten "
    "Raum standen vierhundert Bände, die meisten davon Geschenke. Ein Brand zerstörte 1903 das Dach, doch die Nachbarn "
    "trugen fast alle Bücher in die Kirche. Heute gibt es einen Lesesaal, eine Werkstatt und das Archiv der Stadt. "
)


def numbered(line: str, times: int, between: str = "\n") -> str:
    """The line with a number in each copy."""
    return between.join(line.format(number) for number in range(1, times + 1))


SEEN_LOOPS: Mapping[str, str] = {
    "one sentence": "I am stuck in a loop. " * 10, "short sentence": "No way. " * 60, "one word": "the " * 40,
    "three words": "the the the", "two words": "very good " * 25,
    "German": "Das kann ich leider nicht beantworten. " * 12, "French": "Je ne sais pas. " * 30,
    "Spanish, capitals": "NO LO SÉ. " * 20, "Russian": "Я не знаю, что сказать. " * 15,
    "Arabic": "لا أعرف الجواب. " * 20, "Hindi": "मुझे नहीं पता। " * 20, "Chinese": "我不知道。" * 30,
    "Chinese, without stops": "非常好" * 40, "Japanese": "申し訳ございません。" * 15, "Korean": "죄송합니다. " * 20,
    "Thai": "ขอโทษครับ" * 20, "numbered": numbered("{}. Do it", 25, " "),
    "numbered lines": numbered("{}. Check the valve and close it.", 20),
    "numbered steps": numbered("Step {}: open the lid.", 30),
    "changing numbers": " ".join(f"There are {n * n % 97} apples on the table in the kitchen." for n in range(20)),
    "lines": "Please consult a doctor.\n" * 20, "paragraphs": (PROSE[:210] + "\n\n") * 4,
    "at the end": PROSE + "It is open on weekdays and " * 20, "at the end, one word": PROSE + "and " * 80,
    "at the end, lines": PROSE * 1 + "\n- more books\n" * 40,
    "at the end, Chinese": "图书馆成立于1871年，由一群商人创办，他们希望学徒能够读书。" + "书很多，" * 40,
    "at the end of a long text": PROSA + PROSE + PROSA[:200] + "and the archive of the town and " * 15,
    "two sentences in turn": "Is it open? Yes, it is. " * 15,
    "four sentences in any order": " ".join(("You can call the office.", "Please write to the desk.",
        "The door may be closed.", "Ask for the key there.")[n * n * 7 % 11 % 4] for n in range(40)),
    "one letter": "a" * 300, "a model's own token": "<|endoftext|>" * 30, "syllable": "ha" * 120,
    "case changes": "Wait a moment. wait a moment! WAIT A MOMENT... " * 6,
    "half a sentence": "and then he said that " * 12, "markdown": "**Note:** see the *manual*.\n\n" * 15,
}  # fmt: skip

HELD_OUT_LOOPS: Mapping[str, str] = {
    "one sentence": "As an assistant I cannot help with that request. " * 8,
    "short sentence": "Okay! " * 45, "one word": "to " * 25, "four words": "yes yes yes yes",
    "two words": "thank you " * 30, "Italian": "Non posso rispondere a questa domanda. " * 9,
    "Portuguese": "Não sei. " * 30, "Polish": "Nie wiem, o co chodzi. " * 14, "Ukrainian": "Я не розумію. " * 20,
    "Greek": "Δεν ξέρω την απάντηση. " * 14, "Hebrew": "אני לא יודע. " * 22, "Bengali": "আমি জানি না। " * 20,
    "Chinese": "请稍等。" * 25, "Chinese, a phrase": "图书馆的书" * 25, "Japanese": "わかりません。" * 18,
    "Japanese, a phrase": "そしてまた" * 20, "Korean": "모르겠어요. " * 25, "Lao": "ຂໍໂທດ" * 24,
    "numbered": numbered("({}) Press the button", 18, " "), "numbered lines": numbered("{}) Add water and stir.", 15),
    "numbered questions": numbered("Question {}: What is the capital of France?", 16),
    "changing numbers": " ".join(
        f"The train to the north leaves from platform {n * 31 % 17} in the evening." for n in range(18)
    ),
    "lines": "See the appendix for details.\n" * 16, "paragraphs": (PROSA[:230] + "\n\n") * 5,
    "at the end": PROSA + "und das Archiv der Stadt " * 22, "at the end, one word": PROSA + "Bücher " * 70,
    "at the end, list": PROSE + "\n* books and papers" * 30,
    "at the end, Japanese": "図書館は1871年に商人たちによって設立されました。" + "本がたくさん" * 25,
    "at the end of a long text": PROSE + PROSA + PROSE[:150] + "the reading room, the workshop, " * 18,
    "three sentences in turn": "Open it. Look inside. Close it again. " * 12,
    "five sentences in any order": " ".join(("The team met the goal again.", "We thank the members for it.",
        "The plan is on the table now.", "Nothing else is to be said.",
        "The board will meet next week.")[n * n * 5 % 13 % 5] for n in range(45)),
    "one sign": "好" * 80, "syllable": "lalala" * 40,
    "punctuation changes": "So it goes. So it goes! So it goes, so it goes; so it goes... " * 4,
    "clause": "because it is because it was " * 10, "heading": "## Summary\n\nThe text is about books.\n\n" * 10,
}  # fmt: skip

SEEN_LOOK_ALIKES: Mapping[str, str] = {
    "prose": PROSE,
    "German prose": PROSA,
    "a refrain": "\n".join(
        line + "\nFor the wind and the rain on the hill."
        for line in (
            "I went to the river to look for my brother,", "I found but his hat and the half of a boat,",
            "I asked of the miller, I asked of his mother,", "They gave me some bread and a patched winter coat,",
        )
    ),
    "a refrain of a ballad": "\n\n".join(
        f"{one}\n  Hey, the rosemary grows,\n{other}\n  And the dew lies on the meadow."
        for one, other in (
            ("A knight rode over the border,", "He rode on a horse of grey;"),
            ("He met a maid at the water,", "She washed her linen in May;"),
            ("He gave her a ring of silver,", "She threw it into the well;"),
            ("He turned with his men to the northward,", "And what he said none can tell;"),
            ("The snow came early that winter,", "The ring rose up with the ice;"),
        )
    ),
    "row, row": "Row, row, row your boat, gently down the stream. Merrily, merrily, merrily, merrily, life is but a dream.",
    "emphasis": "No, no, no! That is not what I meant when I told you about the opening hours of the library.",
    "a table": "| city | books | open |\n|---|---|---|\n" + "\n".join(
        f"| {city} | {books} | yes |" for city, books in (("Bern", 120), ("Graz", 85), ("Ulm", 64), ("Como", 31), ("Lyon", 7))
    ),
    "a table of yes": "| kind | day | night | Sunday |\n|---|---|---|---|\n" + "\n".join(
        f"| {kind} | yes | yes | yes |" for kind in ("adult", "child", "student", "senior", "guest", "member", "staff")
    ),
    "a table of zeros": "\n".join("| " + " | ".join("0" * 1 for _ in range(8)) + " |" for _ in range(8)),
    "numbers": " ".join(str(n * n % 10) for n in range(200)),
    "a matrix": "[[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]",
    "a counted list": ", ".join(f"Item {n}" for n in range(1, 30)),
    "multiplication": "\n".join(f"7 times {n} is {7 * n}" for n in range(1, 13)),
    "measurements": "\n".join(f"2024-03-{n:02} temperature {20 + n * 7 % 9}.{n * 3 % 10} C" for n in range(1, 20)),
    "a log": "\n".join(
        f"10:{n:02}:{n * 17 % 60:02} {verb} /{page} {status}"
        for n, (verb, page, status) in enumerate(
            [("GET", "home", 200), ("GET", "books", 200), ("POST", "loan", 201), ("GET", "desk", 404)] * 5
        )
    ),
    "capitals": "\n".join(
        f"- {city} is the capital of {land}."
        for city, land in (
            ("Paris", "France"), ("Rome", "Italy"), ("Madrid", "Spain"), ("Lisbon", "Portugal"), ("Vienna", "Austria"),
            ("Bern", "Switzerland"), ("Prague", "Czechia"), ("Warsaw", "Poland"), ("Oslo", "Norway"), ("Athens", "Greece"),
        )
    ),
    "similar lines": "\n".join(
        f"- The {thing} must be closed before {day}."
        for thing, day in (("gate", "Monday"), ("door", "Tuesday"), ("roof", "Friday"), ("desk", "Sunday"), ("till", "noon"))
    ),
    "Python": "\n".join(
        f"def {name}(self) -> int:\n    return self._{name}\n" for name in ("width", "height", "depth", "weight", "length")
    ),
    "assertions": "\n".join(f"assert f({n}) == {n * n + 1}" for n in range(12)),
    "HTML": "<table>\n" + "\n".join(
        f"<tr><td>{city}</td><td>{n * 37 % 91}</td><td></td></tr>" for n, city in enumerate("Bern Graz Ulm Como Lyon".split())
    ) + "\n</table>",
    "JSON": "[" + ",\n".join(
        f'{{"name": "{name}", "type": "string", "required": true}}' for name in "title author year place shelf note".split()
    ) + "]",
    "YAML": "\n".join(f"{name}:\n  enabled: true\n  mode: auto" for name in "alarm lift lamp heat door gate roof".split()),
    "SQL": "\n".join(
        f"INSERT INTO books (title, place) VALUES ('{title}', '{place}');"
        for title, place in (("Emma", "A3"), ("Ulysses", "B7"), ("Faust", "A1"), ("Kim", "C9"), ("Dracula", "D2"))
    ),
    "a contract": "\n".join(
        f"{n}. The {party} shall {duty}."
        for n, (party, duty) in enumerate(
            (("lessee", "pay the rent on the first day of the month"), ("lessor", "keep the roof in repair"),
             ("lessee", "give notice of any damage"), ("lessor", "give notice of any visit"),
             ("lessee", "not keep animals without consent"), ("lessor", "return the deposit within thirty days")), 1)
    ),
    "whereas": " ".join(
        f"WHEREAS the {party} {act};"
        for party, act in (
            ("Company", "owns the land"), ("Council", "wishes to build a school"), ("Company", "agrees to sell"),
            ("Council", "has the funds"), ("Parties", "wish to set out the terms"),
        )
    ),
    "a litany": "\n".join(f"{name}, pray for us." for name in "Agnes Barbara Clement Dorothy Edmund Felix George".split()),
    "a dialogue": "\n".join(
        f"{who}: {said}"
        for who, said in (
            ("Ann", "Yes."), ("Bob", "Really?"), ("Ann", "Yes."), ("Bob", "Every day?"), ("Ann", "Yes, but Sunday."),
            ("Bob", "Really?"), ("Ann", "No. Monday too."), ("Bob", "I see."),
        )
    ),
    "a quiz": "\n".join(
        f"{n}. What is {thing}?\n   a) a bird  b) a plant  c) a stone\n   Answer: {right}"
        for n, (thing, right) in enumerate((("a wren", "a"), ("basalt", "c"), ("sorrel", "b"), ("a kite", "a")), 1)
    ),
    "a Chinese list": "\n".join(f"{n}. {city}是{land}的首都。" for n, (city, land) in enumerate(
        (("巴黎", "法国"), ("罗马", "意大利"), ("柏林", "德国"), ("东京", "日本"), ("首尔", "韩国")), 1)),
    "Chinese prose": "图书馆成立于1871年。第一间房里有四百本书，大部分是捐赠的。1903年的大火烧毁了屋顶，但邻居们把书搬进了教堂。",
    "Japanese prose": "図書館は平日九時に開きます。土曜日は十時からです。日曜日と祝日は休みです。本は四週間借りられます。",
    "Thai prose": "ห้องสมุดเปิดเวลาเก้าโมงเช้า วันเสาร์เปิดสิบโมง วันอาทิตย์ปิด ยืมหนังสือได้สี่สัปดาห์",
    "repeated heading": "\n\n".join(f"### Opening hours\n{text}" for text in (PROSE[:90], PROSA[:90], PROSE[210:330])),
    "the same conclusion twice": PROSE + " In short, read more. " + PROSA + " In short, read more.",
    "a short answer": "Yes.",
    "laughter": "Ha ha ha, that is a good one. Now to your question about the library.",
}  # fmt: skip

HELD_OUT_LOOK_ALIKES: Mapping[str, str] = {
    "instructions": "Open the lid. Lift the glass and wipe it. Close the lid. Wait for the green light, then press start.",
    "a villanelle": "\n".join((
        "The lamp is lit; I wait beside the door.", "The snow has covered every road and sign.",
        "I hear the tide come in along the shore.", "", "You said that you would come the year before;",
        "The letter had a date, a name, a line.", "The lamp is lit; I wait beside the door.", "",
        "The clock has struck, and I have counted four.", "The cat has left the cushion, once was mine.",
        "I hear the tide come in along the shore.", "", "What kept you is not mine to ask for more,",
        "A broken wheel, a tavern and its wine.", "The lamp is lit; I wait beside the door.", "",
        "I hear the tide come in along the shore.",
    )),
    "a round": "Brother John, brother John, are you sleeping, are you sleeping? Morning bells are ringing, ding dang dong.",
    "a chorus": "\n\n".join(
        f"{verse}\nOh, carry me over the water, my dear,\nOh, carry me home before dawn."
        for verse in (
            "The sails of the harbour are folded and grey,\nThe gulls have gone up to the town,",
            "My father has gone to the fair with the hay,\nMy mother is mending a gown,",
            "There's bread in the oven and salt in the bowl,\nThere's nobody left at the mill,",
        )
    ),
    "bells": "Hear the sledges with the bells, silver bells! To the rhyming and the chiming of the bells, bells, bells, "
    "of the bells that ring so lightly over all the frozen fells and the meadows and the wells.",
    "calm": "Yes, yes, I know. You asked for the hours of Monday, and I gave you those of Tuesday; here they are.",
    "prices": "| fruit | price | unit |\n|---|---|---|\n" + "\n".join(
        f"| {fruit} | {n * 13 % 7}.{n}0 | kg |" for n, fruit in enumerate("apple pear plum grape quince fig".split(), 1)
    ),
    "a timetable": "\n".join(f"{h:02}:{m:02}\tplatform {h * m % 5}\ton time" for h in range(6, 12) for m in (5, 25, 45)),
    "features": "| plan | mail | chat | phone |\n|:--|:--|:--|:--|\n" + "\n".join(
        f"| {plan} | no | no | no |" for plan in "free basic plus pro team school".split()
    ),
    "binary": "0 1 1 0 1 0 0 1 1 0 0 1 0 1 1 0 1 0 0 1 0 1 1 0",
    "a vector": "x = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]",
    "figures": "See Figure 1, Figure 2, Figure 3, Figure 4 and Figure 5.",
    "squares": "\n".join(f"{n} squared is {n * n}" for n in range(1, 15)),
    "rainfall": "\n".join(f"Week {n}: {n * 29 % 41} mm on {n * 3 % 7} days" for n in range(1, 16)),
    "a server": "\n".join(
        f"[{n * 7919 % 9973}] {level} {what}"
        for n, (level, what) in enumerate(
            [("INFO", "started"), ("WARN", "slow disk"), ("INFO", "request done"), ("ERROR", "no route"), ("INFO", "retry")] * 4
        )
    ),
    "currencies": "\n".join(
        f"* The currency of {land} is the {money}."
        for land, money in (
            ("Japan", "yen"), ("India", "rupee"), ("Poland", "zloty"), ("Mexico", "peso"), ("Turkey", "lira"), ("China", "yuan"),
            ("Israel", "shekel"), ("Sweden", "krona"), ("Vietnam", "dong"), ("Thailand", "baht"),
        )
    ),
    "tasks": "\n".join(f"[ ] Ask {who} about the {what}" for who, what in zip(
        "Ann Bob Cem Dina Eli Fay".split(), "keys lamp roof door rent desk".split(), strict=True)),
    "JavaScript": "\n".join(
        f"export function {name}(x) {{\n  if (!x) return null;\n  return x.{name};\n}}" for name in "id name size tags".split()
    ),
    "imports": "\n".join(f"from library.{name} import {name.title()}" for name in "shelf book loan desk card fine".split()),
    "a list of links": "\n".join(f'<li><a href="/{name}">{name.title()}</a></li>' for name in "home books desk help".split()),
    "CSS": "\n".join(f".{name} {{\n  margin: 0;\n  padding: {n}px;\n}}" for n, name in enumerate("a nav main foot".split(), 3)),
    "records": "\n".join(
        f'{{"id": {n}, "city": "{city}", "open": true, "fee": null}}' for n, city in enumerate("Bern Graz Ulm Como".split())
    ),
    "configuration": "\n".join(f"[{name}]\nretries = 3\ntimeout = 30\n" for name in "mail store queue cache web".split()),
    "shell": "\n".join(f"cp -r {name}/ /backup/{name}/ && echo done {name}" for name in "etc home srv opt root".split()),
    "statutes": "\n".join(
        f"({letter}) a person who {act} commits an offence;"
        for letter, act in zip(
            "abcdef", ("enters the reserve at night", "lights a fire", "removes a plant", "feeds the birds", "leaves litter",
                       "brings a dog without a lead"), strict=True)
    ),
    "definitions": " ".join(
        f'"{term}" means {what}.'
        for term, what in (
            ("Agreement", "this agreement"), ("Buyer", "the person named in Schedule 1"), ("Goods", "the goods in Schedule 2"),
            ("Price", "the price in Schedule 3"), ("Seller", "the person named in Schedule 4"),
        )
    ),
    "responses": "\n".join(f"{line} His mercy endures for ever." for line in (
        "Give thanks to the maker of lights.", "He made the sun to rule the day.", "He made the moon for the night.",
        "He led the people through the desert.", "He gives food to all that live.",
    )),
    "an interview": "\n".join(
        f"Q: {asked}\nA: {said}"
        for asked, said in (
            ("Were you there?", "I was."), ("At night?", "I was."), ("Alone?", "I was not."), ("Who was with you?", "My son."),
        )
    ),
    "true or false": "\n".join(
        f"{n}. {claim} True or false?"
        for n, claim in enumerate(("Bats are blind.", "Ice floats.", "Gold rusts.", "Bees dance.", "Owls swim."), 1)
    ),
    "a Japanese list": "\n".join(f"・{city}は{land}の首都です。" for city, land in (
        ("パリ", "フランス"), ("ローマ", "イタリア"), ("ベルリン", "ドイツ"), ("北京", "中国"), ("ソウル", "韓国"))),
    "Chinese verse": "床前明月光，疑是地上霜。举头望明月，低头思故乡。红豆生南国，春来发几枝。愿君多采撷，此物最相思。",
    "Korean prose": "도서관은 평일 아홉 시에 엽니다. 토요일은 열 시부터입니다. 일요일은 쉽니다. 책은 사 주 동안 빌릴 수 있습니다.",
    "Arabic prose": "تأسست المكتبة عام 1871 على يد التجار. كانت القاعة الأولى تضم أربعمائة كتاب. دمر الحريق السقف عام 1903.",
    "Hindi prose": "पुस्तकालय की स्थापना 1871 में हुई। पहले कमरे में चार सौ पुस्तकें थीं। 1903 में आग से छत नष्ट हो गई।",
    "a recipe": "\n".join(f"{n}. Add {what} and stir." for n, what in enumerate(
        ("the flour", "two eggs", "a cup of milk", "salt", "the butter", "sugar"), 1)),
    "summary at both ends": "In short: read more. " + PROSE + PROSA + "In short: read more.",
    "a name": "Bora Bora",
}  # fmt: skip
