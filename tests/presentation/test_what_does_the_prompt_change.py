"""What the prompt changes: one sentence a metric, only what is significant is called better, the same everywhere."""

from collections.abc import Mapping, Sequence
from html import unescape
from io import BytesIO

import numpy as np
import pytest
from pypdf import PdfReader

from metrics.presentation.blocks import Sentence
from metrics.reports import render
from metrics.store import Run
from metrics.store.board_settings import Boards, BoardSettings, Factors
from tests.analysis.scored import scored_run
from tests.presentation.asked import ask
from tests.presentation.test_markdown_text import GFM, Elements

pytestmark = pytest.mark.usefixtures("workspace")
N = 60
ID = "what_does_the_prompt_change"
PAIRS = [(model, prompt) for model in ("gpt", "llama") for prompt in ("terse", "verbose")]


def run_of(more: Mapping[tuple[str, str], float], metrics: Sequence[str] = ("faithfulness.faithfulness",)) -> Run:
    """A run whose entries have what `more` adds to the values of cases that all of them find as hard."""
    rng = np.random.default_rng(7)
    hard = rng.uniform(0.2, 0.5, N)
    given = {" | ".join(pair): (hard + own + rng.normal(0, 0.02, N)).tolist() for pair, own in more.items()}
    return scored_run(dict.fromkeys(metrics, given))


def declare(run: Run) -> Run:
    """The run, after its suite's board declares each entry to be the model with the prompt of its name."""
    factors = {entry: Factors(*entry.split(" | ")) for entry in run.models}
    Boards(run.workspace.path).change(run.spec.suite.fingerprint, lambda _: BoardSettings(factors=factors), run.models)
    return run


def answers(run: Run) -> list[str]:
    """The sentences of the answer."""
    return [one.text for one in ask(ID, declare(run)).sentences]


def test_only_boards_with_prompts_have_an_answer() -> None:
    run = run_of(dict.fromkeys(PAIRS, 0.0))
    assert ask(ID, run) is None
    assert ask(ID, declare(run)) is not None


def test_a_better_prompt() -> None:
    run = run_of(dict(zip(PAIRS, (0.1, 0.0, 0.2, 0.1), strict=True)))
    (text,) = answers(run)
    assert text.startswith("Faithfulness: prompt terse is better than verbose by 0.1")
    assert text.endswith(") over both models; the effect does not differ significantly between models.")
    found = ask(ID, run)
    cells, effects = found.tables
    assert [head.title for head in cells.heads] == ["Model", "terse", "verbose", "Mean over prompts"]
    assert [row[0] for row in cells.rows] == ["gpt", "llama", "Mean over models"]
    assert [(row[1], row[-1]) for row in effects.rows] == [
        ("Prompt: verbose − terse", "terse is better"),
        ("Interaction: verbose − terse, llama − gpt", "no significant interaction"),
        ("Model: llama − gpt", "llama is better"),
    ]
    assert found.notes[0].startswith("Paired on 60 shared cases; a mean over models or prompts gives each of them the")
    assert "Holm correction (3 tests, 5 %)" in found.notes[0]
    tested = ask("what_was_tested", run).tables[0].rows
    assert ("What does the prompt change?", "3", "Holm, over all effects and metrics", "2") in tested


def test_less_is_better_where_it_is() -> None:
    run = run_of(dict(zip(PAIRS, (0.1, 0.0, 0.2, 0.1), strict=True)), ["hallucination_claims.hallucination_claims"])
    (text,) = answers(run)
    assert "prompt verbose is better than terse by 0." in text


def test_nothing_is_better_by_chance() -> None:
    (text,) = answers(run_of(dict.fromkeys(PAIRS, 0.0)))
    assert text == (
        "Faithfulness: no significant difference between terse and verbose over both models; the effect does not "
        "differ significantly between models."
    )


@pytest.mark.parametrize(
    ("gain", "words"), [(-0.2, "more with gpt than with llama"), (0.2, "with llama than with gpt")]
)
def test_an_effect_that_differs_between_models(gain: float, words: str) -> None:
    (text,) = answers(run_of(dict(zip(PAIRS, (0.1, 0.1, 0.1, 0.1 + gain), strict=True))))
    assert "the effect differs between models: verbose less terse is 0." in text
    assert text.endswith(f"{words}.")


def test_more_prompts_and_models() -> None:
    pairs = [(model, prompt) for model in ("a", "b", "c") for prompt in ("x", "y", "z")]
    even = run_of({pair: {"x": 0.0, "y": 0.1, "z": 0.0}[pair[1]] for pair in pairs})
    (text,) = answers(even)
    assert "over all 3 models, the largest of 2 significant differences between 3 prompts" in text
    uneven = run_of({pair: 0.2 * (pair == ("b", "y")) for pair in pairs})
    (text,) = answers(uneven)
    assert "the effect differs between models: b with y is +0." in text


def test_without_a_grid_and_without_values() -> None:
    alone = [("gpt", "terse"), ("llama", "verbose")]
    (text,) = answers(run_of(dict.fromkeys(alone, 0.0)))
    assert text.startswith("What the prompt changes cannot be told from what the model does")
    (_, of_gpt) = answers(run_of({("gpt", "terse"): 0.2, ("gpt", "verbose"): 0.0, ("llama", "terse"): 0.0}))
    assert of_gpt.startswith("With gpt alone, is prompt verbose better than prompt terse? No: prompt terse is")
    run = scored_run({"rouge.rougeL": {" | ".join(pair): [None] * 5 for pair in PAIRS}})
    found = ask(ID, declare(run))
    assert found.sentences == (Sentence("What the prompt changes could not be tested in any main metric."),)
    assert found.notes == ("Not tested: ROUGE-L (no case has a value of every model with every prompt).",)


def test_what_is_outside_the_grid_is_said() -> None:
    run = run_of(dict.fromkeys([*PAIRS, ("qwen", "terse")], 0.0))
    assert any(note.startswith("Left out: qwen | terse, as only models") for note in ask(ID, declare(run)).notes)


def test_every_report_has_the_answer_and_hostile_names_stay_text() -> None:
    run = run_of(dict(zip(PAIRS, (0.1, 0.0, 0.2, 0.1), strict=True)))
    image, link = "<img src=x onerror=alert(1)>", "[=1+1](javascript:x)"
    names = {"gpt": image, "llama": "**llama**", "terse": link, "verbose": "#panic() @you"}
    factors = {entry: Factors(*(names[part] for part in entry.split(" | "))) for entry in run.models}
    settings = BoardSettings(factors=factors)
    Boards(run.workspace.path).change(run.spec.suite.fingerprint, lambda _: settings, run.models)
    page = render(run, "html").decode()
    assert "<img src=x" not in page
    assert f"prompt {link} is better than #panic() @you by 0.1" in unescape(page)
    summary = Elements(GFM.render(render(run, "md").decode()))
    assert not {"img", "a"} & set(summary.elements)
    assert f"prompt {link} is better than #panic() @you by 0.1" in summary.outside.replace("\u200b", "")
    text = "".join(page.extract_text() for page in PdfReader(BytesIO(render(run, "pdf"))).pages)
    assert "onerror=alert(1)" in "".join(text.split()).replace("\u200b", "")
    assert f"prompt {link} is better than #panic() @you by 0.1" in render(run, "json").decode()
