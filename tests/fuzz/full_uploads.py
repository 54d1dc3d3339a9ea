"""Uploads with all that a format has, and something more: what the readers use, and what they say is not used."""
# ruff: noqa: E501 - a table reads better with one line a file

from typing import Any

from tests.ingest.test_coco_variants import each, results, ring, truth
from tests.ingest.test_promptfoo import document, result
from tests.ingest.test_tool_exports import SPANS, SPEC, braintrust, choice, event, langsmith_run, lm, observation


def coco_truth() -> Any:
    """Return a ground truth with all that COCO, LVIS and key point files have, and some that tools add."""
    gt = truth()
    gt |= {"info": {"year": 2024}, "licenses": [{"id": 1, "name": "CC"}], "custom": {"a": [{"b": 1}]}, "type": "x"}
    each(gt["images"], license=1, coco_url="u", flickr_url="z", date_captured="2024", tags=["night"])
    each(gt["images"], weather={"sky": "grey"}, neg_category_ids=[2], not_exhaustive_category_ids=[1])
    each(gt["annotations"], segmentation=lambda record: [ring(record)], attributes={"occluded": False, "id": 3})
    each(gt["annotations"], ignore=0, num_keypoints=1, keypoints=[15, 15, 2], track=[1, 2])
    each(gt["categories"], supercategory="animal", keypoints=["nose"], skeleton=[[1, 1]], isthing=1, image_count=3)
    each(gt["categories"], frequency="c", synonyms=["x"])
    return gt


def coco_results() -> Any:
    found = results()
    each(found, id=1, file_name=lambda record: "ab"[record["image_id"] - 1] + ".jpg", area=5.0, iscrowd=0)
    each(found, segmentation=lambda record: [ring(record)], keypoints=[15, 15, 2], extra={"embedding": [0.5, 1]})
    each(found, category_name=lambda record: ["cat", "dog"][record["category_id"] - 1], model="m")
    return found


def createml() -> Any:
    box = {"x": 50, "y": 40, "width": 20, "height": 10, "unit": "px"}
    thing = {"label": "cat", "confidence": 0.5, "coordinates": box, "tracking": {"id": "a"}}
    return [{"image": "a.jpg", "annotations": [thing], "checksum": "x"}]


def label_studio() -> Any:
    region = {
        "id": "r", "type": "rectanglelabels", "from_name": "label", "to_name": "image", "original_width": 100,
        "original_height": 50, "image_rotation": 0, "origin": "manual", "meta": {"text": ["note"]},
        "value": {"x": 10, "y": 10, "width": 20, "height": 20, "rotation": 0, "rectanglelabels": ["cat"]},
    }  # fmt: skip
    answer = {"id": 5, "result": [region], "was_cancelled": False, "lead_time": 3.5}
    task = {"id": 1, "data": {"image": "a.jpg", "weather": "rain"}, "annotations": [answer], "meta": {"x": 1}}
    return [task | {"predictions": [{"score": 0.5, "result": []}]}]


VOC = """<annotation><folder>f</folder><filename>a.jpg</filename><source><database>d</database></source>
<size><width>100</width><height>50</height><depth>3</depth></size><segmented>0</segmented>
<object><name>cat</name><pose>Left</pose><truncated>0</truncated><difficult>0</difficult><occluded>0</occluded>
<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>30</xmax><ymax>40</ymax></bndbox>
<part><name>head</name><bndbox><xmin>1</xmin></bndbox></part></object></annotation>"""
CVAT = """<annotations><version>1.1</version><meta><task><id>7</id><name>job</name><labels>
<label><name>cat</name><color>red</color></label></labels></task></meta>
<image id="0" name="a.jpg" width="100" height="50" subset="train"><box label="cat" source="manual" occluded="0" xtl="1"
ytl="2" xbr="30" ybr="40" z_order="0"><attribute name="mood">angry</attribute>
<attribute name="score">0.5</attribute></box>
<points label="cat" points="1,2" occluded="0"/><tag label="night" source="manual"/></image></annotations>"""


def scored_label_studio() -> Any:
    tasks = label_studio()
    region = tasks[0]["annotations"][0]["result"][0]
    return [tasks[0] | {"predictions": [{"id": 3, "score": 0.5, "model_version": "v", "result": [region]}]}]


OPIK = {"id": "i", "data": {"input": {"q": "Capital?", "tone": "mild"}, "expected_output": "Paris", "note": "easy"}, "assertions": ["It names the town"], "source": "manual"}  # fmt: skip
MLFLOW = {
    "inputs": {"question": "Capital?", "tone": "mild"}, "source": "people",
    "outputs": {"response": "Paris", "retrieved_context": [{"doc_uri": "file-1", "content": "It is Paris."}]},
    "expectations": {
        "expected_response": "Paris.", "expected_facts": ["Paris is it"], "guidelines": ["Be brief"], "level": "easy",
        "expected_retrieved_context": [{"doc_uri": "file-1", "content": "It is so."}],
    },
}  # fmt: skip
H2O_CASE = {
    "key": "c1", "prompt": "Capital?", "categories": ["towns"], "relationships": [], "expected_output": "Paris",
    "constraints": ["Paris"], "creator": "Ann",
}  # fmt: skip
H2O_INPUT = {
    "key": "c1_m", "test_case_key": "c1", "input": "Capital?", "corpus": ["a.pdf"], "context": ["It is Paris."],
    "expected_output": "Paris", "actual_output": "Paris.", "actual_duration": 1.5, "cost": 0.25, "model_key": "m",
    "metrics": {"score": 0.75},
}  # fmt: skip
CONFIG = {
    "description": "towns", "prompts": ["{{question}}"], "providers": [{"id": "openai:x", "config": {"seed": 11}}],
    "defaultTest": {"options": {"provider": "openai:grader"}, "assert": [{"type": "cost", "threshold": 0.5}]},
    "tests": [
        {"description": "capital", "vars": {"question": "Capital?", "topic": "towns"}, "metadata": {"level": "easy"},
         "assert": [{"type": "icontains", "value": "paris", "metric": "named"}, {"type": "javascript", "value": "true"}]}
    ],
    "outputPath": "out.html",
}  # fmt: skip
KITTI = "cat 0.1 1 -1.5 10 20 30 40 1.1 1.2 1.3 2.1 2.2 2.3 0.4 0.9"
DOTA = "imagesource:GoogleEarth\ngsd:0.5\n1 2 30 2 30 40 1 40 cat 0"
SEEDS: dict[str, list[tuple[str, Any]]] = {  # reader → names and contents of files
    "coco_ground_truth": [("u.json", coco_truth())], "coco_results": [("u.json", coco_results())],
    "createml": [("u.json", createml())], "label_studio": [("u.json", label_studio()), ("u.json", scored_label_studio())],
    "pascal_voc": [("u.zip", {"a.xml": VOC})], "cvat": [("u.xml", CVAT)], "kitti": [("u.zip", {"a.txt": KITTI})],
    "dota": [("u.zip", {"a.txt": DOTA})],
    "lm_eval": [("u.json", [lm(), lm(1)]), ("u.json", [choice(1, "-3.5", "-0.5")])],
    "langsmith": [("u.json", [langsmith_run(), langsmith_run(id="r2", trace_id="r2", reference_example_id="e2")])],
    "langfuse": [("u.json", [observation()])],
    "braintrust": [("u.json", [braintrust(), braintrust(id="b2", span_id="y", root_span_id="y", is_root=False)])],
    "phoenix": [("u.json", SPANS)],
    "openai_evals_log": [("u.json", [SPEC, event(0, "sampling", prompt="Capital?", sampled=["Paris"]), event(1, "match", correct=True, expected="Paris")])],
    "openai_evals_data": [("u.json", [{"input": "Capital?", "ideal": ["Paris"], "topic": "towns"}])],
    "opik": [("u.json", {"name": "towns", "items": [OPIK]})],
    "mlflow": [("u.json", [MLFLOW | {"tags": {"by": "Ann"}}])],
    "promptfoo": [("u.json", document(result(), result(1)))],
    "promptfoo_config": [("u.json", CONFIG)],
    "h2o_suite": [("u.json", {"name": "s", "tests": [{"key": "t", "documents": ["a.pdf"], "test_cases": [H2O_CASE]}]})],
    "h2o_lab": [("u.json", {"name": "lab", "dataset": {"inputs": [H2O_INPUT]}, "models": [{"key": "m", "llm_model_name": "big", "temperature": 0.5}]})],
    "json": [("u.json", {"version": "one", "items": [{"question": "Capital?", "expected_answer": "Paris", "topic": "towns"}]})],
}  # fmt: skip
