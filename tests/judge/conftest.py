"""What several tests of the judge start with."""

import pytest

from tests.judge.bench import Bench


@pytest.fixture
def bench(judge_server, tmp_path):
    return Bench(judge_server, tmp_path)
