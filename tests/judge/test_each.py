"""The judge asked about numbered items over HTTP: their order, what is asked again, lists that are cut."""

import pytest

from metrics.core.errors import Cut, Unreadable
from tests.judge.server import Fault, Request, in_turn, items_of


def test_one_bad_item_of_forty_is_asked_again_on_its_own(bench):
    first = [{"id": number, "alive": "maybe" if number == 17 else "yes"} for number in range(1, 41)]
    bench.server.say("test.sort", in_turn([{"replies": first}, {"replies": [{"id": 1, "alive": "no"}]}]))
    things = [f"thing {number}" for number in range(1, 41)]
    assert (bench.sort(*things), len(bench.server.calls)) == (("yes",) * 16 + ("no",) + ("yes",) * 23, 2)
    again = bench.server.calls[1]
    assert again.data["THINGS"] == "[1] thing 17"
    assert again.text.endswith(
        "An earlier reply could not be used: [1] alive: Input should be 'yes' or 'no'. Give one reply to each "
        "item, its id the item's number."
    )
    bench.sort(*things)
    assert len(bench.server.calls) == 2, "both replies are kept"


def test_bad_missing_and_contradicted_items_are_asked_again_together(bench):
    first = [(1, "yes"), (2, "?"), (4, "yes"), (4, "no")]
    replies = [{"replies": [{"id": id, "alive": alive} for id, alive in first]}, [{"alive": "no"}] * 3]
    bench.server.say("test.sort", in_turn(replies))
    assert bench.sort("a", "b", "c", "d") == ("yes", "no", "no", "no")
    assert bench.server.calls[1].data["THINGS"] == "[1] b\n[2] c\n[3] d"
    assert "[1] alive: Input should be 'yes' or 'no'; [2] no reply; [3] two replies that differ." in (
        bench.server.calls[1].text
    )


def test_a_cut_list_halves_its_question(bench):
    def long_lists(request: Request) -> Fault | None:
        return Fault(text='{"replies": [{"id": 1, "al', cut=True) if items_of(request, "THINGS") > 3 else None

    bench.server.fail_by(long_lists)
    bench.server.say("test.sort", lambda request: [{"alive": "yes"}] * items_of(request, "THINGS"))
    things = [f"thing {number}" for number in range(10)]
    assert bench.sort(*things) == ("yes",) * 10
    asked = [items_of(request, "THINGS") for request in bench.server.calls]
    assert asked == [10, 5, 2, 3, 5, 2, 3]
    assert bench.server.calls[-1].data["THINGS"] == "[1] thing 7\n[2] thing 8\n[3] thing 9"


def test_one_item_that_is_still_cut_says_so(bench):
    bench.server.fail_by(lambda _: Fault(text="{", cut=True))
    with pytest.raises(Cut, match=r"limit of 64 tokens: .*; it was asked about one of the THINGS only, number 1"):
        bench.sort("a", "b", "c", max_tokens=64)
    assert [items_of(request, "THINGS") for request in bench.server.calls] == [3, 1]


def test_no_verdict_is_made_up(bench):
    assert bench.sort() == ()
    assert not bench.server.calls
    bench.server.say("test.sort", {"replies": [{"id": 1, "alive": "yes"}]})
    with pytest.raises(Unreadable, match=r"no single verdict on 1 of 3 things, twice \(3: no reply\)"):
        bench.sort("a heron", "an owl", "a mill")
    asked = len(bench.server.calls)
    bench.server.say("test.sort", {"replies": [{"id": id, "alive": "yes"} for id in (1, 2, 3)]})
    assert bench.sort("a heron", "an owl", "a mill") == ("yes", "yes", "yes"), "the next run asks again, from the start"
    assert len(bench.server.calls) == asked + 1


def test_a_list_numbered_from_0_is_asked_again_whole(bench):
    """Which item a number means cannot be known."""
    replies = [
        {"replies": [{"id": id, "alive": alive} for id, alive in ((first, "yes"), (first + 1, "no"))]}
        for first in (0, 1)
    ]
    bench.server.say("test.sort", in_turn(replies))
    assert bench.sort("a heron", "a mill") == ("yes", "no")
    assert "[1] the numbers begin at 0; [2] the numbers begin at 0." in bench.server.calls[1].text
