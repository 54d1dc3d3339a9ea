"""Files as people bring them, a function a journey, and the numbers that must come out of them.

The numbers are computed from the same files by other programs: scikit-learn, pycocotools, rouge_score, sacrebleu.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

Numbers = dict[tuple[str, str], float]  # (model, evaluator.metric): value
NAMES = ["gpt-4o-mini", "llama-3-8b", "mistral-7b"]


class Brought(NamedTuple):
    """What somebody uploads, and the numbers that must come out; without outputs the suite has the answers."""

    suite: Path
    outputs: Sequence[Path]
    numbers: Numbers


def save(path: Path, columns: dict[str, Any] | pd.DataFrame, index: str | None = None) -> Path:
    """Write a table as the ending of the path says, its numbers in front under the name `index`; return the path."""
    frame = pd.DataFrame(columns)
    kept = frame if index is None else frame.rename_axis(index).reset_index()
    if path.suffix == ".csv":
        kept.to_csv(path, index=False)
    elif path.suffix == ".xlsx":
        kept.to_excel(path, index=False)
    elif path.suffix == ".parquet":
        kept.to_parquet(path)
    else:
        kept.to_json(path, orient="records", lines=path.suffix == ".jsonl")
    return path


def text_of(shared: Path) -> Path:
    return shared / "data" / "journeys" / "text"


def texts_of_journeys(shared: Path) -> pd.DataFrame:
    """Return the 60 questions with the answers of each model."""
    return pd.read_csv(text_of(shared) / "all_models_long.csv", keep_default_na=False)


def expected_matches(rows: pd.DataFrame) -> Numbers:
    """Return the share of each model's answers that are the expected ones but for case, articles and punctuation."""

    def plain(text: str) -> str:
        return " ".join(re.sub(r"\b(a|an|the)\b|[^\w\s]", " ", text.lower()).split())

    right = [plain(answer) == plain(truth) for answer, truth in zip(rows.answer, rows.ground_truth, strict=True)]
    return {
        (str(name), "exact_match.exact_match"): share
        for name, share in pd.Series(right, rows.index).groupby(rows.model).mean().items()
    }


def rouge_l(rows: pd.DataFrame) -> Numbers:
    """Return the mean ROUGE-L of each model."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"])
    pairs = zip(rows.ground_truth, rows.answer, strict=True)
    values = pd.Series([scorer.score(truth, answer)["rougeL"].fmeasure for truth, answer in pairs], rows.index)
    return {(str(name), "rouge.rougeL"): value for name, value in values.groupby(rows.model).mean().items()}


def answers_of_three(folder: Path, shared: Path) -> Brought:
    """A suite with contexts, and a file of answers for each model."""
    rows = texts_of_journeys(shared)
    outputs = [text_of(shared) / f"out_{name}.csv" for name in NAMES]
    return Brought(text_of(shared) / "suite.csv", outputs, rouge_l(rows) | expected_matches(rows))


def one_long_table(folder: Path, shared: Path) -> Brought:
    """One table of questions and answers with a column for the model."""
    return Brought(text_of(shared) / "all_models_long.csv", [], rouge_l(texts_of_journeys(shared)))


def answers_of_notebooks(folder: Path, shared: Path) -> Brought:
    """A table of questions, answers and contexts for each model, without ids."""
    tables = [text_of(shared) / f"{model}.csv" for model in NAMES]
    frames = [pd.read_csv(table, keep_default_na=False).assign(model=table.stem) for table in tables]
    return Brought(tables[0], tables[1:], expected_matches(pd.concat(frames)))


def a_column_a_model(folder: Path, shared: Path) -> Brought:
    """One table with the answers of each model in a column named after it."""
    table = text_of(shared) / "wide.csv"
    wide = pd.read_csv(table, keep_default_na=False)
    long = [wide.assign(model=model, answer=wide[model]) for model in NAMES]
    return Brought(table, [], expected_matches(pd.concat(long)))


def answers_without_ids(folder: Path, shared: Path) -> Brought:
    """A table some rows of which have lost their ids."""
    table = text_of(shared) / "missing_ids.csv"
    rows = pd.read_csv(table, keep_default_na=False).query("id != ''").assign(model="missing_ids")
    return Brought(table, [], expected_matches(rows))


def answers_given_again(folder: Path, shared: Path) -> Brought:
    """A table whose ids begin again: the first row of each is kept."""
    table = text_of(shared) / "dups.csv"
    rows = pd.read_csv(table, keep_default_na=False).drop_duplicates("id").assign(model="dups")
    return Brought(table, [], expected_matches(rows))


def answers_to_compare(folder: Path) -> Brought:
    """Answers of three models, votes.csv of people who compare them, and how strong each is beside their mean."""
    from sklearn.linear_model import LogisticRegression

    models, cases = ["oak", "elm", "ash"], [f"c{number}" for number in range(12)]
    suite, outputs = folder / "questions.csv", folder / "answers.csv"
    pd.DataFrame({"id": cases, "question": cases, "expected_answer": cases}).to_csv(suite, index=False)
    rows = [(case, model, f"{model} says {case}") for case in cases for model in models]
    pd.DataFrame(rows, columns=["id", "model", "answer"]).to_csv(outputs, index=False)
    wins = {("oak", "elm"): 8, ("oak", "ash"): 9, ("elm", "ash"): 7}
    votes = [
        (case, *pair, pair[0] if number < times else pair[1], "ann")
        for pair, times in wins.items() for number, case in enumerate(cases)
    ]  # fmt: skip
    pd.DataFrame(votes, columns=["case_id", "model_a", "model_b", "winner", "rater"]).to_csv(
        folder / "votes.csv", index=False
    )
    sides = np.array([[(name == a) - (name == b) for name in models] for _, a, b, *_ in votes])
    won = np.array([winner == a for _, a, _, winner, _ in votes])
    strengths = LogisticRegression(C=1e9, fit_intercept=False, tol=1e-10).fit(sides, won).coef_[0]
    scores = 1 / (1 + np.exp(strengths.mean() - strengths))
    return Brought(
        suite, [outputs], {(name, "score"): float(score) for name, score in zip(models, scores, strict=True)}
    )


def translations(folder: Path, shared: Path) -> Brought:
    """JSON lines of two translators."""
    import sacrebleu

    references = [f"The {noun} of the {place} is closed on {day}." for noun, place, day in zip(
        ["door", "gate", "office", "pool", "shop"] * 4, ["harbour", "museum", "school", "town"] * 5,
        ["Monday", "Friday"] * 10, strict=True)]  # fmt: skip
    said = {
        "formal": [text.replace("is closed", "remains closed") for text in references],
        "hasty": [text.removeprefix("The ").replace(" on ", " ") for text in references],
    }
    suite = save(folder / "newstest.jsonl", {"id": range(20), "reference": references})
    numbers, outputs = {}, []
    for name, answers in said.items():
        outputs.append(save(folder / f"{name}.jsonl", {"id": range(20), "output": answers}))
        numbers[name, "corpus_bleu.corpus_bleu"] = sacrebleu.corpus_bleu(answers, [references]).score / 100
        numbers[name, "chrf.chrf"] = sacrebleu.corpus_chrf(answers, [references]).score / 100
    return Brought(suite, outputs, numbers)


def irises() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Return a half of scikit-learn's irises to learn from, the other half to be tested on, and the names."""
    from sklearn.datasets import load_iris

    data = load_iris()
    return (
        data.data[::2], data.target[::2], data.data[1::2], data.target[1::2], [str(name) for name in data.target_names],
    )  # fmt: skip


def classes_of_two(folder: Path, shared: Path) -> Brought:
    """pandas' to_csv of true classes and of two classifiers' predictions."""
    from sklearn.metrics import accuracy_score, f1_score
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    seen, known, asked, truth, names = irises()
    suite = save(folder / "test_set.csv", {"y_true": [names[number] for number in truth]}, "id")
    numbers, outputs = {}, []
    for name, model in {"bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1, random_state=0)}.items():
        guessed = model.fit(seen, known).predict(asked)
        outputs.append(save(folder / f"{name}.csv", {"y_pred": [names[number] for number in guessed]}, "id"))
        numbers[name, "classification.accuracy"] = float(accuracy_score(truth, guessed))
        numbers[name, "classification.f1"] = float(f1_score(truth, guessed, average="macro", zero_division=0))
    return Brought(suite, outputs, numbers)


def probabilities(folder: Path, shared: Path) -> Brought:
    """A notebook's to_json(orient="records") with a column of probabilities for each class."""
    from sklearn.metrics import accuracy_score, roc_auc_score
    from sklearn.neighbors import KNeighborsClassifier

    seen, known, asked, truth, names = irises()
    shares = KNeighborsClassifier(7).fit(seen[:, :2], known).predict_proba(asked[:, :2])
    ids = [f"iris-{number:03}" for number in range(len(truth))]
    suite = save(folder / "irises.json", {"id": ids, "label": [names[number] for number in truth]})
    outputs = save(folder / "knn.json", pd.DataFrame(shares, columns=names).assign(id=ids))
    numbers = {
        ("knn", "roc_auc.roc_auc"): float(roc_auc_score(truth, shares, multi_class="ovr")),
        ("knn", "classification.accuracy"): float(accuracy_score(truth, shares.argmax(1))),
    }
    return Brought(suite, [outputs], numbers)


def workbooks(folder: Path, shared: Path) -> Brought:
    """Two Excel workbooks of several labels a case."""
    from sklearn.metrics import f1_score, hamming_loss

    rng, kinds = np.random.default_rng(5), np.array(["billing", "delivery", "refund", "account"])
    truth = rng.random((40, 4)) < 0.4
    guessed = truth ^ (rng.random((40, 4)) < 0.15)
    suite, outputs = folder / "tickets.xlsx", folder / "router.xlsx"
    for path, column, cells in ((suite, "labels", truth), (outputs, "predicted_labels", guessed)):
        lists = [json.dumps(list(kinds[row])) for row in cells]
        save(path, {"case_id": [f"t{number}" for number in range(40)], column: lists})
    numbers = {
        ("router", "multilabel.f1"): float(f1_score(truth, guessed, average="macro")),
        ("router", "multilabel.hamming_loss"): float(hamming_loss(truth, guessed)),
    }
    return Brought(suite, [outputs], numbers)


def diabetes() -> dict[str, np.ndarray]:
    """Return the true values of a test set, and what three models predict."""
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import LinearRegression
    from sklearn.neighbors import KNeighborsRegressor

    data = load_diabetes()
    seen, known, asked = data.data[::4], data.target[::4], data.data[1::4]
    mean = np.full(len(asked), known.mean())
    linear, near = (each.fit(seen, known).predict(asked) for each in (LinearRegression(), KNeighborsRegressor(3)))
    return {"truth": data.target[1::4], "linear": linear, "knn3": near, "mean": mean}


def errors_of(values: dict[str, np.ndarray], name: str) -> Numbers:
    """Return the errors of a model of `diabetes`."""
    from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

    pair = values["truth"], values[name]
    return {
        (name, "regression.mae"): float(mean_absolute_error(*pair)),
        (name, "regression.rmse"): float(root_mean_squared_error(*pair)),
        (name, "regression.r2"): float(r2_score(*pair)),
    }


def numbers_of_three(folder: Path, shared: Path) -> Brought:
    """CSV files of true whole numbers, which may be classes as well, and of three regressions."""
    values = diabetes()
    suite, names = (
        save(folder / "y_test.csv", {"y_true": values["truth"].astype(int)}, "id"),
        ("linear", "knn3", "mean"),
    )
    outputs = [save(folder / f"{name}.csv", {"prediction": values[name]}, "id") for name in names]
    numbers = {key: value for name in names for key, value in errors_of(values, name).items()}
    return Brought(suite, outputs, numbers)


def one_parquet(folder: Path, shared: Path) -> Brought:
    """One Parquet file with the true and the predicted number, as a pipeline keeps it."""
    values = diabetes()
    frame = pd.DataFrame({"true_value": values["truth"], "predicted_value": values["linear"], "model": "linear"})
    return Brought(save(folder / "linear.parquet", frame, "id"), [], errors_of(values, "linear"))


def chats_with_tools(folder: Path, shared: Path) -> Brought:
    """Tasks with the expected calls as CSV, and OpenAI's messages of two agents as JSON lines."""
    cities, outputs, numbers = ["Paris", "Lima", "Oslo", "Cairo", "Quito", "Hanoi"], [], {}

    def messages(city: str) -> list[dict[str, Any]]:
        function = {"name": "weather", "arguments": json.dumps({"city": city})}
        calls = [{"id": "1", "type": "function", "function": function}]
        return [
            {"role": "user", "content": "What is the weather?"},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "1", "content": "Sunny"},
            {"role": "assistant", "content": "It is sunny."},
        ]

    questions = [f"What is the weather in {city}?" for city in cities]
    calls = [json.dumps([{"name": "weather", "arguments": {"city": city}}]) for city in cities]
    suite = save(folder / "tasks.csv", {"case_id": cities, "question": questions, "expected_calls": calls})
    for name, wrong in {"careful": 6, "hasty": 2}.items():
        asked = ["Rome" if number % wrong == wrong - 1 else city for number, city in enumerate(cities)]
        outputs.append(
            save(folder / f"{name}.jsonl", {"case_id": cities, "messages": [messages(city) for city in asked]})
        )
        numbers[name, "tool_calls.accuracy"] = float(np.mean([a == b for a, b in zip(asked, cities, strict=True)]))
    return Brought(suite, outputs, numbers)


def chats(folder: Path, shared: Path) -> Brought:
    """JSON lines of conversations; a turn of the assistant about bananas answers nothing."""
    suite, outputs = folder / "talks.csv", folder / "desk-bot.jsonl"
    talks = [["We open at nine.", "Bananas are yellow."], ["Yes, until May."], ["Bananas!", "Try the desk.", "Gladly."]]
    pd.DataFrame({"case_id": range(3), "question": ["opening", "renewal", "loss"]}).to_csv(suite, index=False)
    records = [
        {"case_id": number, "messages": [
            message for turn in turns
            for message in ({"role": "user", "content": "Can you help?"}, {"role": "assistant", "content": turn})
        ]}
        for number, turns in enumerate(talks)
    ]  # fmt: skip
    outputs.write_text("\n".join(map(json.dumps, records)))
    share = float(np.mean([np.mean(["anana" not in turn for turn in turns]) for turns in talks]))
    return Brought(suite, [outputs], {("desk-bot", "turn_relevance.turn_relevance"): share})


def sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in re.findall(r"[^.!?]+[.!?]", text)]


def judged_answers(folder: Path, shared: Path) -> Brought:
    """A notebook's records of questions, contexts and answers of two models; the judge believes what a context says."""
    contexts = {
        "cards": ["A card is free.", "It is valid for two years."], "fines": ["A late book costs 20 cents a day."],
        "hours": ["The library opens at nine.", "It is closed on Sundays."], "rooms": ["A room holds six people."],
    }  # fmt: skip
    records = [
        {"id": topic, "model": model, "question": f"What are the rules for {topic}?", "contexts": passages,
         "answer": " ".join([*passages, *(["The mayor decides." ] if model == "small" and len(passages) > 1 else [])])}
        for model in ("small", "large") for topic, passages in contexts.items()
    ]  # fmt: skip
    table = folder / "answers.json"
    frame = pd.DataFrame(records)
    frame.to_json(table, orient="records")
    shares = [
        np.mean([claim in passages for claim in sentences(answer)])
        for answer, passages in zip(frame.answer, frame.contexts, strict=True)
    ]
    means = pd.Series(shares).groupby(frame.model).mean()
    return Brought(table, [], {(str(name), "faithfulness.faithfulness"): float(mean) for name, mean in means.items()})


def rankings(folder: Path, shared: Path) -> Brought:
    """TREC's judgements and the rankings of two retrievers."""
    from sklearn.metrics import ndcg_score

    rng, documents = np.random.default_rng(3), [f"d{number:02}" for number in range(14)]
    grades = rng.choice([0, 0, 1, 2], (8, 14))
    suite, outputs, numbers = folder / "test.qrels", [], {}
    suite.write_text("".join(f"q{q} 0 {name} {grades[q, d]}\n" for q in range(8) for d, name in enumerate(documents)))
    for name, noise in {"bm25": 2.5, "dense": 0.8}.items():
        scores = (grades + rng.normal(0, noise, grades.shape)).round(4)
        outputs.append(folder / f"{name}.run")
        lines = []
        for q, row in enumerate(scores):
            for rank, d in enumerate(np.argsort(-row), 1):
                lines.append(f"q{q} Q0 {documents[d]} {rank} {row[d]} {name}\n")
        outputs[-1].write_text("".join(lines))
        numbers[name, "ranking.ndcg_at_10"] = float(ndcg_score(grades, scores, k=10))
    return Brought(suite, outputs, numbers)
