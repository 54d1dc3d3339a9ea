"""A conversation as a chat: the turns, the verdicts beside them, plain text whatever is in them."""

import json

from metrics.core.evidence import Evidence, Verdict
from metrics.presentation.verdict_rows import verdict_groups
from metrics.presentation.viewers.chat_turns import chat, summary
from tests.pages.page_scenes import HOSTILE

TRACE = json.dumps([
    {"role": "system", "text": "Be kind."}, {"role": "user", "text": HOSTILE}, {"tool": "look"},
    {"role": "assistant", "text": "Ok."}, {"role": "user", "text": "Thanks."},
])  # fmt: skip


def test_turns_with_their_verdicts():
    judged = Evidence({
        "replies": [Verdict("turn 2, assistant: Ok.", "no", "beside the point", "Why.", (("turns", 2),))],
        "goals": [Verdict("A room.", "yes", "met", rests_on=(("turns", 1), ("turns", 3)))],
        "other": [Verdict("x", "yes", rests_on=(("contexts", 1),))],
    })  # fmt: skip
    view = chat(TRACE, None, None, [("Turn relevance", verdict_groups(judged))])
    told = [(turn["number"], turn["side"], turn["text"], turn["calls"]) for turn in view["turns"]]
    assert told == [(1, "user", HOSTILE, ""), (2, "assistant", "Ok.", "look"), (3, "user", "Thanks.", "")]
    beside = [[(one["glyph"], one["label"], one["lines"]) for one in turn["verdicts"]] for turn in view["turns"]]
    assert beside == [[], [("✗", "beside the point", ["Why."])], [("✓", "met", ["A room."])]]
    assert (view["instructions"], view["note"], summary(view)) == ("Be kind.", "", "3 turns · ✓ 1 · ✗ 1")


def test_a_conversation_in_the_question_and_what_is_none():
    view = chat(None, "user: Hi", "Hello!")
    assert view is not None
    assert (summary(view), chat(None, "Hi", "Hello!")) == ("2 turns", None)
    assert chat('[{"role": "user", "text": "Hi"}]', None, None) is None
    assert chat("{", None, None) is None
