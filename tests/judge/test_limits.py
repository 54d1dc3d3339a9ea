"""How fast a judge is asked: at once, a minute, after it has said stop."""

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from contextlib import nullcontext

import pytest
from hypothesis import given, strategies as st

from metrics.core.errors import JudgeDown
from metrics.judge.limits import FAILURES, REFUSALS, Gate


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose clock jumps to the next timer instead of waiting for it: tests of time do not depend on the load."""

    def __init__(self) -> None:
        self.now = 1_000.0
        super().__init__(JumpingSelector(self))

    def time(self) -> float:
        return self.now


class JumpingSelector(selectors.SelectSelector):
    """Moves its loop's clock on by what it is asked to wait for."""

    def __init__(self, loop: VirtualLoop):
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._loop.now += max(0.0, timeout or 0.0)
        return super().select(0)


def run(work: Callable[[], Awaitable[None]]) -> float:
    """Seconds, of the virtual clock, that `work` takes in a loop of its own."""

    async def timed() -> float:
        begun = asyncio.get_running_loop().time()
        await work()
        return asyncio.get_running_loop().time() - begun

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(timed())


async def pass_through(gate: Gate, tokens: int = 1, seconds: float = 0.0) -> float:
    await gate.enter(tokens)
    try:
        entered = asyncio.get_running_loop().time()
        await asyncio.sleep(seconds)
        return entered
    finally:
        gate.leave()


@given(allowed=st.integers(1, 6), many=st.integers(1, 20))
def test_no_more_than_allowed_are_in_at_once(allowed, many):
    inside = most = 0

    async def work() -> None:
        gate = Gate("judge", allowed)

        async def one() -> None:
            nonlocal inside, most
            await gate.enter(1)
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1
            gate.leave()

        await asyncio.gather(*(one() for _ in range(many)))

    run(work)
    assert most == min(allowed, many)


@pytest.mark.parametrize(("limits", "tokens"), [
    pytest.param({"requests": 4}, 1, id="requests"),
    pytest.param({"tokens": 400}, 100, id="tokens"),
    pytest.param({"requests": 9, "tokens": 400}, 100, id="the tighter of both"),
])  # fmt: skip
def test_no_window_of_a_minute_holds_more_than_allowed(limits, tokens):
    entered: list[float] = []

    async def work() -> None:
        gate = Gate("judge", 50, **limits, minute=0.2)
        entered.extend(await asyncio.gather(*(pass_through(gate, tokens) for _ in range(10))))

    assert run(work) == pytest.approx(0.4, abs=0.005)
    entered.sort()
    for first, fifth in zip(entered, entered[4:], strict=False):
        assert fifth - first >= 0.2 - 0.005


def test_a_request_larger_than_the_limit_still_goes_through_alone():
    async def work() -> None:
        gate = Gate("judge", 5, tokens=10, minute=0.1)
        await asyncio.gather(*(pass_through(gate, 1000) for _ in range(2)))

    assert run(work) == pytest.approx(0.1, abs=0.005)


def test_one_let_through_as_it_gives_up_leaves_its_place():
    async def work() -> None:
        gate = Gate("judge", 1)
        await gate.enter(1)
        waiting = asyncio.create_task(pass_through(gate))
        await asyncio.sleep(0)
        gate.leave()  # lets it through …
        waiting.cancel()  # … in the same turn of the loop
        await asyncio.gather(waiting, return_exceptions=True)
        await asyncio.wait_for(pass_through(gate), 1)

    run(work)


def test_too_many_requests_halve_what_is_allowed_and_replies_win_it_back():
    async def most(gate: Gate) -> int:
        inside = found = 0

        async def one() -> None:
            nonlocal inside, found
            await gate.enter(1)
            inside += 1
            found = max(found, inside)
            await asyncio.sleep(0.001)
            inside -= 1
            gate.leave()

        await asyncio.gather(*(one() for _ in range(20)))
        return found

    async def work() -> None:
        gate = Gate("judge", 8)
        for _ in range(5):  # those in flight together are told together: it counts once
            gate.busy(None)
        assert await most(gate) == 4
        for _ in range(20):
            gate.answered()
        assert 4 < await most(gate) <= 8
        for _ in range(50):
            gate.answered()
        assert await most(gate) == 8

    run(work)


def test_retry_after_holds_all_back():
    async def work() -> None:
        gate = Gate("judge", 8)
        gate.busy(0.2)
        await asyncio.gather(*(pass_through(gate) for _ in range(3)))

    assert run(work) == pytest.approx(0.2, abs=0.005)


class TestTheCircuit:
    def test_the_very_first_failure_opens_it(self):
        async def work() -> None:
            gate = Gate("m", 1)
            await gate.enter(1)
            waiting = asyncio.create_task(pass_through(gate))
            await asyncio.sleep(0)
            with pytest.raises(JudgeDown, match=r"the judge m does not answer: no route\. Everything it has answered"):
                gate.failed("no route")
            with pytest.raises(JudgeDown):
                await waiting
            with pytest.raises(JudgeDown):
                await gate.enter(1)

        run(work)

    @pytest.mark.parametrize(("steps", "opens"), [
        pytest.param(["reply", *["hiccup"] * (FAILURES - 1), "reply", *["hiccup"] * FAILURES], True, id="in a row"),
        pytest.param(["reply", *["refused"] * 2 * REFUSALS], False, id="refusals after a reply"),
        pytest.param(["refused"] * REFUSALS, True, id="refusals without a reply"),
        pytest.param(["reply", "hopeless"], True, id="hopeless"),
    ])  # fmt: skip
    def test_what_opens_it(self, steps, opens):
        gate = Gate("m", 1)

        def take(step: str) -> None:
            if step == "reply":
                gate.answered()
            else:
                gate.failed(step, refused=step == "refused", hopeless=step == "hopeless")

        for step in steps[:-1]:
            take(step)
        with pytest.raises(JudgeDown) if opens else nullcontext():
            take(steps[-1])
