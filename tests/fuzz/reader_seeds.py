"""Valid uploads of every format, small, made of the samples that the tests of the readers have."""

import csv
import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from metrics.ingest.traces.stored_trace import is_trace
from tests.fuzz import full_uploads
from tests.fuzz.mutation import zip_of
from tests.fuzz.target import Input
from tests.ingest import (
    one_scene,
    test_coco_panoptic,
    test_detector_files,
    test_h2o,
    test_inspect_logs,
    test_open_images,
    test_packed_tables,
    test_promptfoo,
    test_rankings,
    test_tool_exports,
    test_tool_traces,
    test_workbooks,
    trace_samples,
)
from tests.ingest.files import picture
from tests.ingest.test_annotation_shapes import STUDIO_SHAPES, brushed, task
from tests.ingest.test_mask_images import mask

POSES = {
    "data.yaml": "names: [man]\nkpt_shape: [2, 3]\nkpt_names: {0: [head, hand]}\n",
    "labels/a.txt": "0 0.5 0.5 0.2 0.4 0.1 0.2 2 0.3 0.3 1\n",
}
CASES: list[dict[str, Any]] = [
    {"case_id": f"c{number}", "question": f"Wie groß ist {number}?", "expected_answers": [f"a{number}", "b;c"],
     "tags": ["x", "y"], "weight": 0.5, "model": "m", "answer": f"it is {number}", "contexts": ["one", "two"],
     "latency": 1.25, "run": 1}
    for number in range(12)
]  # fmt: skip
RAG_RESULTS = (
    "query_id,query,run_1_generated_answer,run_1_retrieved_passages,run_1_retrieval_score_mean_umbrela_score,"
    "run_1_generation_score_no_answer_score,consistency_rouge_score\n"
    'q1,How many moons?,"[{""text"": ""Seven"", ""citations"": [""[2]""]}]","{""[2]"": ""Seven.""}",2.5,'
    '"{""query_answered"": ""yes""}","{""values"": [0.5], ""stats"": {""mean"": 0.5}}"\n'
)
BLOCKS = np.kron(np.arange(6).reshape(2, 3), np.ones((4, 5)))


def bytes_of(content: Any) -> bytes:
    """Return text or bytes as they are, and anything else as JSON."""
    return content if isinstance(content, bytes) else content.encode() if isinstance(content, str) else dumped(content)


def dumped(document: Any) -> bytes:
    return json.dumps(document).encode()


def lines(records: Sequence[Any]) -> bytes:
    return b"\n".join(map(dumped, records))


def zipped(files: dict[str, Any]) -> Input:
    return Input("u.zip", zip_of({name: bytes_of(content) for name, content in files.items()}))


def table_text(delimiter: str = ",") -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter)
    writer.writerow(CASES[0])
    for row in CASES:
        writer.writerow([json.dumps(value) if isinstance(value, list) else value for value in row.values()])
    return buffer.getvalue().encode()


def boxes_text() -> bytes:
    rows = [f"{'ab'[n % 2]}.png,{'cat' if n % 2 else 'dog'},{n / 20},1,2,3.5,4" for n in range(20)]
    return "\n".join(["image,label,score,x,y,width,height", *rows]).encode()


def packed_tables(kind: str) -> list[Input]:
    table = pa.Table.from_pylist(CASES)
    if kind == "parquet":
        buffer = io.BytesIO()
        pq.write_table(table, buffer)
        return [Input("u.parquet", buffer.getvalue())]
    if kind == "arrow":
        return [Input(f"u.{end}", test_packed_tables.stream(table, end == "feather")) for end in ("arrow", "feather")]
    with TemporaryDirectory() as folder:
        sheets = {"Cases": test_workbooks.CASES, "Answers": test_workbooks.ANSWERS}
        return [Input("u.xlsx", test_workbooks.book(Path(folder) / "u.xlsx", sheets).read_bytes())]


def scenes(name: str, scored: bool = True) -> list[Input]:
    write = getattr(one_scene, name)
    both = [one_scene.TRUTHS, one_scene.PREDICTIONS] if scored else [one_scene.TRUTHS]
    return [zipped(write(rows) | images) for rows in both for images in (one_scene.images(), {})]


def lone(name: str, file: str) -> list[Input]:
    """The first file of a scene, as a tool writes it, by itself."""
    write = getattr(one_scene, name)
    return [
        Input(file, bytes_of(next(iter(write(rows).values())))) for rows in (one_scene.TRUTHS, one_scene.PREDICTIONS)
    ]


def exports(format: str) -> list[Input]:
    known = [*test_tool_exports.BOTH.values(), *test_tool_exports.SUITES.values()]
    return [upload_of(name, content) for name, found, content, *_ in known if found == format]


def masks() -> list[Input]:
    sets: list[dict[str, Any]] = [
        {f"masks/{name}.png": mask((BLOCKS + shift) % 6) for shift, name in enumerate("abcd")}
        | {"labels.txt": "road\nsky\ntree\nsea\nsand\nsnow\n"},
        {f"gt/{name}.png": mask(BLOCKS) for name in "ab"}
        | {f"images/{name}.jpg": picture(15, 8, "JPEG") for name in "ab"},
        {f"{model}/{name}.png": mask(BLOCKS[::-1], "L") for model in ("m", "n") for name in "abcd"}
        | {"classes.json": '{"0": "road", "1": "sky", "2": "tree", "3": "sea", "4": "sand", "5": "snow"}'},
        {f"{name}.png": mask(BLOCKS * 30, "I;16") for name in "abcd"},
    ]
    return [zipped(files) for files in sets]


def coco() -> list[Input]:
    drawn = one_scene.coco(one_scene.TRUTHS)
    for number, row in enumerate(drawn["annotations"]):
        x, y, wide, high = row["bbox"]
        size = [100, 200] if row["image_id"] == 1 else [160, 80]
        rest = size[0] * size[1] - 1000
        row["segmentation"] = (
            [[x, y, x + wide, y, x + wide, y + high]],
            {"size": size, "counts": [400, 600, rest]},
            {"size": size, "counts": "`i1`K5L3"},
        )[number % 3]
    return [Input("u.json", dumped(one_scene.coco(one_scene.TRUTHS))), Input("u.json", dumped(drawn)),
            Input("u.json", dumped(one_scene.coco(one_scene.PREDICTIONS)))]  # fmt: skip


def coco_results() -> list[Input]:
    rows = one_scene.coco(one_scene.PREDICTIONS)["annotations"]
    own = [{name: row[name] for name in ("image_id", "category_id", "bbox", "score")} for row in rows]
    drawn = [{**row, "segmentation": {"size": [100, 200], "counts": [400, 600, 19000]}} for row in own]
    return [Input("u.json", dumped(own)), Input("u.json", dumped(drawn))]


def studio() -> list[Input]:
    pixels = np.zeros((10, 14), bool)
    pixels[2:5, 3:9] = pixels[7, 0] = True
    brush = {"format": "rle", "rle": brushed(pixels)}
    drawn = [
        task(brush, "brushlabels", original_width=14, original_height=10),
        *(one for one, _ in STUDIO_SHAPES.values()),
    ]
    return [
        *scenes("label_studio"), *lone("label_studio", "u.json"), *(Input("u.json", dumped([one])) for one in drawn),
    ]  # fmt: skip


def upload_of(name: str, content: Any) -> Input:
    """An upload with the content of a file: of a zip its files, of lines of JSON the records."""
    if name.endswith(".zip"):
        return Input(name, zip_of({file: bytes_of(inner) for file, inner in content.items()}))
    return Input(name, lines(content) if name.endswith(".jsonl") and isinstance(content, list) else bytes_of(content))


TRACES = [document for document, _ in trace_samples.KINDS.values()]
CONFIG = test_packed_tables.CONFIG + "defaultTest: {vars: {tone: mild}}\ntests:\n" + test_packed_tables.TEST
SAMPLE, LOG = test_inspect_logs.sample, test_inspect_logs
SEEDS: dict[str, list[Input]] = {
    "label_studio": studio(),
    "createml": [*scenes("createml"), *lone("createml", "u.json")],
    "labelme": [*scenes("labelme"), *lone("labelme", "u.json")], "cvat": [*scenes("cvat"), *lone("cvat", "u.xml")],
    "labelme_xml": scenes("labelme_xml", scored=False), "inspect_eval": [zipped(LOG.entries(SAMPLE(), SAMPLE(2)))],
    "hugging_face": [zipped(files) for files in test_packed_tables.DATA_SETS.values()],
    "class_folders": [zipped({f"val/{name}/{name}.jpg": picture(9, 8, "JPEG") for name in ("cat", "dog")})],
    "masks": masks(), "coco_panoptic": [zipped(test_coco_panoptic.ZIP)], "beir": [zipped(test_rankings.BEIR)],
    "trec_qrels": [Input("u.qrels", test_rankings.QRELS.encode())],
    "trec_run": [Input("u.run", test_rankings.RUN.encode())], "dota": scenes("dota"), "kitti": scenes("kitti"),
    "yolo": [*scenes("yolo"), *scenes("yolo_obb"), zipped(POSES)], "pascal_voc": scenes("voc", scored=False),
    "traces": [zipped({f"c{number}.json": document for number, document in enumerate(TRACES)})],
    "inspect_json": [Input("u.json", dumped(LOG.log(SAMPLE(), SAMPLE(2))))],
    "detector_json": [upload_of(*form) for form in test_detector_files.FORMS.values()],
    "coco_ground_truth": coco(), "coco_results": coco_results(),
    "promptfoo": [Input("u.json", dumped(test_promptfoo.RESULTS))],
    "promptfoo_config": [Input("promptfooconfig.yaml", CONFIG.encode())],
    "promptfoo_table": [Input("t.csv", b"question,__expected\nq,contains-all: a b\nr,is-json\n")],
    "promptfoo_grid": [Input("r.csv", text.encode()) for text in test_promptfoo.TABLES.values()],
    "mlflow": [], "opik": [], "open_rag_eval": [Input("u.csv", RAG_RESULTS.encode())],
    "h2o_suite": [Input("u.json", dumped(test_h2o.SUITE))], "h2o_lab": [Input("u.json", dumped(test_h2o.LAB))],
    **{name: exports(name) for name in ("lm_eval", "openai_evals_log", "openai_evals_data", "langsmith", "braintrust")},
    "langfuse": [*exports("langfuse"), Input("u.json", dumped(test_tool_traces.langfuse()))],
    "phoenix": [*exports("phoenix"), Input("u.json", dumped(test_tool_traces.phoenix()))],
    "trace_document": [Input("u.json", dumped(document)) for document in TRACES if is_trace(document)],
    "trace_lines": [Input("u.jsonl", lines(trace_samples.agent_spans()))],
    "json": [Input("u.json", dumped(CASES))], "yaml": [Input("u.yaml", test_packed_tables.YAML.encode())],
    "jsonl": [*(Input("u.jsonl", lines([{"case_id": "c1", "model": "m", "trace": trace}])) for trace in TRACES),
        Input("u.jsonl", lines(CASES)), Input("u.jsonl.gz", gzip.compress(lines(CASES)))],
    **{kind: packed_tables(kind) for kind in ("parquet", "arrow", "xlsx")},
    "csv": [Input("u.csv", table_text()), Input("u.tsv", table_text("\t")), Input("u.csv", table_text(";")),
        Input("u.csv", boxes_text()), Input("u.csv.gz", gzip.compress(table_text())),
        zipped({"t.csv": test_open_images.TRUTH} | test_open_images.IMAGES | test_open_images.NAMES),
        zipped({"p.csv": test_open_images.PREDICTIONS} | test_open_images.NAMES)],
}  # fmt: skip
for reader, uploads in full_uploads.SEEDS.items():
    SEEDS[reader] = [*SEEDS[reader], *(upload_of(*each) for each in uploads)]
