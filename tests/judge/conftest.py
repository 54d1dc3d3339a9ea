"""What several tests of the judge start with."""

from pathlib import Path

import pytest

from tests.judge.bench import Bench
from tests.judge.server import JudgeServer


@pytest.fixture
def bench(judge_server: JudgeServer, tmp_path: Path) -> Bench:
    return Bench(judge_server, tmp_path)
