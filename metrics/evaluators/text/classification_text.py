"""Classification by text: the answer itself is the predicted label."""

from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from metrics.core.evaluator import Example, Findings
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import facts_json
from metrics.core.score_columns import mapped
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import CLASSIFICATION_METRICS, LabelParameters, compare
from metrics.evaluators.text._overlap import answered_cases
from metrics.text.agents.dialogue import cut

SHOWN_CHARACTERS = 200

SPAM = answered_cases(("spam", ["spam"]), ("ham", ["spam"]), (" ham\n", ["ham"]), ("Ham, I would say", ["ham"]))


class TextClassificationParameters(LabelParameters):
    """How an answer is turned into a label."""

    strip: bool = Field(True, description="Ignore white space around the answer and the labels.")
    casefold: bool = Field(False, description="Ignore upper and lower case: 'Spam' is 'spam'.")
    label_map: dict[str, str] = Field(
        {}, description="Labels that are taken for others, in answers and expected answers: spam → unwanted."
    )

    def normalised(self, text: str) -> str:
        """Return the label that `text` stands for."""
        text = self._plain(text)
        return self._plain_map.get(text, text)

    @cached_property
    def _plain_map(self) -> dict[str, str]:
        return {self._plain(name): self._plain(label) for name, label in self.label_map.items()}

    def _plain(self, text: str) -> str:
        text = text.strip() if self.strip else text
        return text.casefold() if self.casefold else text


@evaluator(
    version=2,
    title="Classification by text",
    inputs=("answer", "expected_answers"),
    metrics=CLASSIFICATION_METRICS,
    sources=("H2O Eval Studio evaluators: Classification",),
    default_needs=("few_answers",),
    standards=("valid and reliable", "outcomes analysis"),
    examples=(
        Example(
            "an answer that is no class is wrong, but a false positive of no class",
            SPAM,
            expect={"accuracy": 0.5},
            rows=(
                {"metric": "precision", "label": "spam", "value": 1.0},
                {"metric": "recall", "label": "spam", "value": 0.5},
                {"metric": "precision", "label": "ham", "value": 0.5},
                {"metric": "recall", "label": "ham", "value": 0.5},
                {"metric": "precision", "label": None, "average": "macro", "value": 0.75},
                {"metric": "f1", "label": None, "average": "macro", "value": 7 / 12},
            ),
        ),
        Example(
            "any of several expected answers is accepted, ignoring case",
            {
                "cases": [
                    {"case_id": "1", "expected_answers": ["yes", "y"]},
                    {"case_id": "2", "expected_answers": ["no"]},
                    {"case_id": "3", "expected_answers": ["no"]},
                ],
                "outputs": [{"case_id": "1", "answer": "Y"}, {"case_id": "2", "answer": "NO"}],
            },
            rows=(
                {"metric": "accuracy", "label": None, "value": 1.0, "n": 2, "unscored": 1},
                {"metric": "recall", "label": "y", "value": 1.0},
                {"metric": "recall", "label": "no", "value": 1.0, "unscored": 1},
            ),
            parameters={"casefold": True},
        ),
    ),
    differs_from="classification takes scored labels; this one takes the text of the answer, which may be no class.",
    differs_from_source="H2O's page gives no formulas; these are scikit-learn's, with no value for 0/0. An answer that "
    "is no class is wrong and a false positive of no class, so that stray answers do not add classes. White space "
    "around labels is ignored (`strip`). An output without an answer is unscored unless `missing` = wrong.",
)
def classification_text(suite: Suite, outputs: Outputs, parameters: TextClassificationParameters) -> Findings:
    """How well answers agree with the expected label, word for word: accuracy, precision, recall, F1 and confusion.

    The answer is the predicted label, the expected answer the true one; both are normalised as the parameters say and
    otherwise unchanged. With several expected answers, the one that equals the answer is the true label, else the
    first. Formulas, 0/0, means and intervals are those of `classification`; accuracy is the primary metric.

    The classes are the true labels of the suite. An answer that is none of them is wrong: it lowers the recall of its
    true class and the accuracy, is a false positive of no class, and appears as null in the confusion matrix's
    `predicted`; so is an empty one, by which a model would avoid an error. A missing answer is unscored; `missing` =
    wrong makes it an error.

    MCC, balanced accuracy, specificity, NPV and F-β are as in classification; for MCC all answers that are no class are
    one class more. Equal to scikit-learn's precision_recall_fscore_support with labels = the true ones and
    zero_division = nan.
    """
    answers = _answers(suite, outputs)
    predicted = mapped(answers, parameters.normalised)
    expected = suite.cases["expected_answers"].combine_chunks()
    accepted, case = mapped(expected.flatten(), parameters.normalised), pc.list_parent_indices(expected).to_numpy()
    matches = pc.fill_null(pc.equal(accepted, predicted.take(pa.array(case))), False).to_numpy(zero_copy_only=False)
    chosen = np.full(len(suite), -1)  # of each case the accepted answer that is the true label
    chosen[case[::-1]] = np.arange(len(case))[::-1]
    chosen[case[matches]] = np.flatnonzero(matches)
    truth = accepted.take(pa.array(chosen, mask=chosen < 0))
    shown = mapped(answers, lambda text: cut(text, SHOWN_CHARACTERS))
    labels = sorted(truth.unique().drop_null().to_pylist())
    evidence = facts_json(truth=truth, predicted=shown, score=pa.nulls(len(suite), pa.string()))
    return compare(suite, truth, predicted, labels, parameters, evidence)


def _answers(suite: Suite, outputs: Outputs) -> pa.Array:
    """Return the answer to each case of the suite, null where there is none."""
    case = pc.index_in(outputs.outputs["case_id"], suite.cases["case_id"].combine_chunks()).to_numpy()
    row = np.full(len(suite), -1)
    row[case] = np.arange(len(case))
    return outputs.outputs["answer"].combine_chunks().take(pa.array(row, mask=row < 0))
