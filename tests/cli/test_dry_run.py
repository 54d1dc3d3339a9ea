"""--dry-run says what would be asked: it asks nobody, spends nothing and leaves nothing behind."""

from pathlib import Path

import pytest

from metrics.cli.main import main
from tests.targets.conftest import bot

__all__ = ["bot"]

CASES = '{"case_id": "c1", "question": "Who?", "expected_answers": ["a cat"]}\n'
ANSWERS = '{"case_id": "c1", "model": "m", "answer": "a cat", "retrieved_contexts": ["the cat sat"]}\n'
JUDGE = ["--judge", "scripted", "--judge-base-url", "{judge}"]
COMMANDS = {
    "evaluate": ["evaluate", "suite.jsonl", "outputs.jsonl", "--evaluators", "faithfulness,rouge", *JUDGE],
    "evaluate, of another workspace": [
        "evaluate", "suite.jsonl", "outputs.jsonl", "--evaluators", "faithfulness", *JUDGE, "--workspace", "new/one",
    ],
    "evaluate with a target": ["evaluate", "suite.jsonl", "--target", "bot={bot}", "--evaluators", "rouge"],
    "evaluate with a program": ["evaluate", "suite.jsonl", "--target", "command:touch ran", "--evaluators", "rouge"],
    "complete": ["complete", "suite.jsonl", "--target", "bot={bot}", "--target", "command:touch ran", "-o", "a.jsonl"],
    "run": ["run"],
    "questions": ["suites", "from-documents", "text.md", "-o", "out.jsonl", *JUDGE],
}  # fmt: skip
PROJECT_FILE = """
[evaluate.one]
suite = "suite.jsonl"
outputs = ["outputs.jsonl"]
evaluators = ["faithfulness"]
judge = "scripted"
judge_base_url = "{judge}"
"""


def everything(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


@pytest.mark.attack("suite author", "a dry run asks, spends, runs a program or stores", "only what is there is read")
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_asked_or_stored(command, bot, judge_server, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path / "space" / "deep"))
    (tmp_path / "suite.jsonl").write_text(CASES)
    (tmp_path / "outputs.jsonl").write_text(ANSWERS)
    (tmp_path / "text.md").write_text("# Mills\n\n" + "The mill stands on the river and was built in 1500. " * 20)
    (tmp_path / "assay.toml").write_text(PROJECT_FILE.replace("{judge}", judge_server.url))
    before = everything(tmp_path)
    given = [word.replace("{judge}", judge_server.url).replace("{bot}", bot.url) for word in COMMANDS[command]]
    assert main([*given, "--dry-run"]) == 0, capsys.readouterr().err
    assert "call" in capsys.readouterr().out
    assert judge_server.calls == []
    assert not bot.asked
    assert everything(tmp_path) == before
