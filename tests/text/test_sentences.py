"""Sentences in several scripts, and in time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.text.sentences import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="empty"),
        pytest.param(" \n\t\n", [], id="white-space"),
        pytest.param("no full stop", ["no full stop"], id="no-stop"),
        pytest.param("Dr. Who paid 3.50. Why? No!", ["Dr. Who paid 3.50.", "Why?", "No!"], id="abbreviation-decimal"),
        pytest.param("- one\n- two\n\nThree. Four", ["- one", "- two", "Three.", "Four"], id="lines"),
        pytest.param("今天很好。走吧！好吗？", ["今天很好。", "走吧！", "好吗？"], id="chinese"),
        pytest.param("他说：“走吧。”然后走了。", ["他说：“走吧。”", "然后走了。"], id="closing-quote"),
        pytest.param("यह एक है। यह दो है।", ["यह एक है।", "यह दो है।"], id="hindi"),
        pytest.param("هل هذا سؤال؟ نعم.", ["هل هذا سؤال؟", "نعم."], id="arabic"),
        pytest.param("Mixed. 今天很好。Then this.", ["Mixed.", "今天很好。", "Then this."], id="mixed"),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


# each text with | between its sentences
TABLE = """
The cat sat.| Uranus has rings.
The cat sat.| I saw it.| A dog came.| NASA launched.
It happened two years ago.| Uranus has rings.
I bought a horse.| Black Beauty is its name.
We flew to Saigon.| Hanoi came next.
He moved to New York.| London is far.
Each member has eight a month.| Credits that are left expire.
No.| Paris is the capital.
See no. 5 for details.| It is there.
See No. 5 for details.
Open the app.| Tap Save.
Boil it 5 min.| Drain it.
He waited 10 sec.| Uranus rose.
We met on Sat.| He left.
The sun sat.| Mercury followed.
He lives in Calif.| Now he works.
Gen. Patton spoke.| Col. Mustard left.
Mr. Smith, Mrs. Jones and Dr. Who met.| They ate.
Prof. Ito and Rev. Green came.
J. K. Rowling wrote it.| It sold well.
J.R.R. Tolkien wrote it.
It costs $3.50.| That is cheap.
Pi is 3.14159.| It is irrational.
The value is .5.| OK.
The temperature is -5.5 °C.| It is cold.
Version 2.0.1 is out.| Update now.
In 1999.| Two people came.
The score was 3-2.| England won.
See https://example.com/a.b?c=d.| It works.
Write to a.b@example.com.| Thanks.
Node.js is fast.| So is .NET.
Wait... what?| He left...| Then he came back.
Well…| Maybe.| Yes!
Is it so?| Yes!| No?!| OK.
He said "Stop."| Then he left.
“Stop.”| She left.
(He left.)| She stayed.
He ran (fast.)| Then he stopped.
He lives in the U.S. and works.| The U.S. Navy is big.
She has a Ph.D. in physics.| He has an M.D. too.
He is from Washington D.C. and she is not.
At 5 p.m. we left.
Use e.g. Python, i.e. code.| Done.
We sell apples, pears, etc. and more.
We sell apples, pears, etc.| Uranus has rings.
Smith et al. (2020) show this.| Others do not.
This vs. That is a play.
Approx. 5 people came.| Approx. Ten left.
Fig. 3 shows it.| See Figs. 4 and 5.| Eq. 2 holds.
Vol. II is long.| Ch. Five is not.
Acme Inc. makes it.| Beta Ltd. does not.
Acme Corp. CEO Jo left.
He was born in St. Petersburg.| It is cold.
He climbed Mt. Everest.| It was high.
[1] It is so.| [2] It is not.
It is so [1].| It is not [2].
**Bold.**| Then plain.| *It sat.*| Uranus.
This is it.Then no space.
M. Dupont est là.| Il parle.
Er lebt.| Sie schläft.| Nr. 5 lebt.
Он пришёл.| Она ушла.| Всё в жизни.| Он один.
Αυτό είναι.| Εκείνο δεν είναι.
저는 학생입니다.| 그는 의사입니다.| 감사합니다.| 안녕히 가세요.
صبر کنید.| من می آیم.
من هنا.| نعم هناك.
זה ספר.| זה עט.
これは本です。|それはペンです。
他说“好。”|然后走了。
यह है।| वह नहीं है।
"""


@pytest.mark.parametrize("line", TABLE.strip().splitlines())
def test_table_of_sentences(line: str) -> None:
    assert sentences(line.replace("|", "")) == [part.strip() for part in line.split("|")]


@settings(deadline=None)
@given(st.text(max_size=200))
def test_no_character_is_lost_but_white_space(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
