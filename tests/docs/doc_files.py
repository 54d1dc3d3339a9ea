"""Small files under the names that the documentation uses."""

import csv
import json
from pathlib import Path

from tests.ingest.files import packed, picture, write
from tests.ingest.test_mask_images import mask
from tests.models import tiny
from tests.questions.question_scenes import write_documents

CONTEXTS = json.dumps(["The library opens at nine.", "Fees are two crowns a day."])
ROWS = [
    ("c1", "When does the library open?", "It opens at nine.", '"nine"', "hours"),
    ("c2", "What is the fee for a late book?", "Two crowns a day.", '"two crowns"', "fees"),
    ("c3", "Can I renew a book that somebody else has reserved, and if so, how often?", "No.", '"no"', "fees"),
    ("c4", "Where is the café?", "On the ground floor.", '"ground floor"', "rooms"),
]
ANSWERS = {
    "heron": ("It opens at nine.", "Two crowns a day.", "No.", "On the ground floor."),
    "tern": ("It opens at nine.", "The fee is two crowns a day.", "No, you cannot.", "On the ground floor, I think."),
}
INSTANCES = {
    "images": [{"id": number, "file_name": f"{name}.png", "width": 4, "height": 2} for number,
        name in enumerate("ab", 1)],
    "annotations": [{"id": number, "image_id": number, "category_id": 1, "bbox": [0, 0, 2, 2], "area": 4,
        "iscrowd": 0} for number in (1, 2)],
    "categories": [{"id": 1, "name": "boat"}],
}  # fmt: skip
SKY = [[0, 0, 1, 1], [0, 0, 1, 1]]
RAG_ANSWERS = (  # as Open RAG Eval's connectors write them
    "query_id,query,query_run,passage_id,passage,generated_answer\n"
    "q1,When does the library open?,1,[1],The library opens at nine.,It opens at nine [1]\n"
    "q1,When does the library open?,1,[2],Fees are two crowns a day.,\n"
    "q2,Where is the café?,1,NA,NA,NO_ANSWER\n"
)
RAG_RESULTS = (  # as Open RAG Eval writes them
    "query_id,query,generated_answer,retrieval_score_mean_umbrela_score\n"
    "q1,When does the library open?,At nine.,{}\nq2,Where is the café?,Upstairs.,1.5\n"
)
RAG_CONFIG = """
results_folder: results
generated_answers: answers.csv
eval_results_file: results.csv
evaluator:
  type: TRECEvaluator
  model: {type: OpenAIModel, name: gpt-4o-mini, api_key: "${oc.env:OPENAI_API_KEY}"}
"""
TOXIC = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")


def write_doc_files(folder: Path) -> None:
    """Write all of them but the models."""
    suite = [
        dict(zip(("case_id", "question", "expected_answer", "conditions", "tags"), row, strict=True)) for row in ROWS
    ]
    outputs = [
        {"case_id": row[0], "model": model, "answer": answer, "retrieved_contexts": CONTEXTS}
        for model, answers in ANSWERS.items()
        for row, answer in zip(ROWS, answers, strict=True)
    ]
    _csv(folder / "suite.csv", suite)
    (folder / "bot.py").write_text("def answer(case):\n    return case['question']\n", encoding="utf-8")
    targets = [{"name": "echo", "function": "bot.py:answer"}, {"name": "cat", "argv": ["echo", "nine"]}]
    (folder / "targets.yaml").write_text(json.dumps(targets), encoding="utf-8")
    _csv(folder / "outputs.csv", outputs)
    _csv(
        folder / "prompts.csv",
        [{"wording" if name == "question" else name: row[name] for name in row} for row in suite],
    )
    _csv(folder / "people.csv", [
        {"case_id": row["case_id"], "model": row["model"], "rater": "ann", "label": "pass"} for row in outputs
    ])  # fmt: skip
    lines = [
        {"id": f"r{n}", "timestamp": f"2026-01-01T00:{n:02d}:00Z", "question": "When?", "answer": f"At {n}."}
        for n in range(60)
    ]
    write(folder, "app.jsonl", lines)
    write(folder, "answers.csv", RAG_ANSWERS)
    write(folder, "open_rag_eval.yaml", RAG_CONFIG)
    write(folder, "top_k_5.csv", RAG_RESULTS.format(2))
    write(folder, "top_k_10.csv", RAG_RESULTS.format(3))
    _images(folder)
    _agents(folder)
    write_documents(folder / "handbook")


def write_varied_outputs(folder: Path) -> None:
    """Write answers to the cases of varied.jsonl, which a command of the documentation makes."""
    cases = [json.loads(line) for line in (folder / "varied.jsonl").read_text(encoding="utf-8").splitlines()]
    _csv(folder / "varied_outputs.csv", [
        {"case_id": case["case_id"], "model": "heron", "answer": "It opens at nine."} for case in cases
    ])  # fmt: skip


def write_models(folder: Path) -> None:
    """Write tiny models, in the places of real ones."""
    for name, make in (
        ("hhem", tiny.hhem),
        ("smollm2", tiny.language_model),
        ("toxic-bert", lambda path: tiny.classifier(path, TOXIC, "multi_label_classification")),
    ):
        (folder / "models" / name).mkdir(parents=True)
        make(folder / "models" / name)


def _images(folder: Path) -> None:
    write(folder, "instances.json", INSTANCES)
    for name, score in (("detector_a", 0.9), ("detector_b", 0.6)):
        found = [{"image_id": number, "category_id": 1, "bbox": [0, 0, 2, 2], "score": score} for number in (1, 2)]
        write(folder, f"{name}.json", found)
    packed(folder / "images.zip", {"a.png": picture(4, 2), "b.png": picture(4, 2)})
    packed(folder / "masks.zip", {"a.png": mask(SKY), "b.png": mask(SKY), "labels.txt": "road\nsky\n"})
    packed(folder / "unet.zip", {"a.png": mask(SKY), "b.png": mask([[0, 0, 0, 1]] * 2)})
    packed(folder / "vit.zip", {"a.png": mask([[0, 0, 0, 1]] * 2), "b.png": mask(SKY)})


def _agents(folder: Path) -> None:
    tasks = [
        {"case_id": "a", "question": "Plot it.", "expected_answer": "1. read\n2. plot"},
        {"case_id": "b", "question": "Count it.", "expected_answer": "1. read\n2. count"},
    ]
    _csv(folder / "tasks.csv", tasks)
    said = (("Plot it.", "1. read\n2. draw"), ("Count it.", "1. count"))
    write(folder, "agent.jsonl", [
        [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}] for asked, answer in said
    ])  # fmt: skip
    packed(folder / "made.zip", {"a/plot.json": '{"bars": 3}', "b/count.csv": "n\n3\n"})


def _csv(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
