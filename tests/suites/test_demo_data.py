"""The labels of the demo of judge agreement."""

from metrics.core.schema import LABELS
from metrics.suites.demo_data import CRITERION, LABELLED_SAMPLE, RATER, demo_labels
from metrics.suites.samples import samples


def test_every_output_of_the_sample_is_labelled_by_the_condition_of_its_case():
    table = demo_labels()
    suite, outputs = next(sample for sample in samples() if sample.id == LABELLED_SAMPLE).read()
    assert table.schema == LABELS
    assert table.num_rows == outputs.outputs.num_rows == 3 * len(suite)
    assert (set(table["rater"].to_pylist()), set(table["criterion"].to_pylist())) == ({RATER}, {CRITERION})
    labels = {(row["case_id"], row["model"]): row["value"] for row in table.to_pylist()}
    answers = {(row["case_id"], row["model"]): row["answer"] for row in outputs.outputs.to_pylist()}
    loans = {
        model: value for (case, model), value in labels.items() if case == "loan-period"
    }  # "28 days" or four weeks
    assert loans == {
        model: float("28 days" in answer or "four weeks" in answer)
        for (case, model), answer in answers.items()
        if case == "loan-period"
    }
    assert set(labels.values()) == {0.0, 1.0}
