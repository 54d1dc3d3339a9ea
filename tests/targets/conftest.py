import pytest

from metrics.core.suite import Suite
from tests.targets.bot_server import BotServer


@pytest.fixture
def bot():
    with BotServer() as server:
        yield server


@pytest.fixture
def twenty():
    """Cases c0 … c19 with the questions q0 … q19."""
    return Suite.from_rows(
        "twenty", "text",
        [{"case_id": f"c{n}", "question": f"q{n}", "expected_answers": [f"A q{n}"], "topic": "t"} for n in range(20)],
    )  # fmt: skip
