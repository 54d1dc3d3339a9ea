"""The registry: where evaluators are found, and what it refuses."""

import subprocess
import sys

import pytest

from metrics.core import registry


def test_ids_are_known_without_importing_an_evaluator() -> None:
    code = "import sys; from metrics.core.registry import evaluator_ids; print(*evaluator_ids()); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ids, modules = (line.split() for line in done.stdout.splitlines())
    assert {"bleu", "gptscore_qa", "gptscore_translation"} <= set(ids)
    assert not [name for name in modules if name.startswith("metrics.evaluators.")]


def test_a_family_is_one_module() -> None:
    found = {id: module for id, module in registry._modules().items() if id.startswith("gptscore")}
    assert len(found) == 4
    assert set(found.values()) == {"metrics.evaluators.text.gptscore"}
    assert [registry.evaluators()[id].id for id in found] == list(found)


@pytest.mark.parametrize(
    "modules",
    [
        pytest.param(
            {"bleu": "metrics.evaluators.text.bleu", "blue": "metrics.evaluators.text.bleu"}, id="one-too-many"
        ),
        pytest.param({"blue": "metrics.evaluators.text.bleu"}, id="another"),
    ],
)
def test_a_module_has_the_evaluators_that_its_text_names(modules: dict[str, str], monkeypatch) -> None:
    monkeypatch.setattr(registry, "_modules", lambda: modules)
    with pytest.raises(ValueError, match=r"text\.bleu has the evaluators bleu, but its text has others: .*'blue'"):
        registry._all.__wrapped__()
