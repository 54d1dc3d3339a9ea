"""The columns of annotations and predictions: labels, scores and shapes of objects, and the columns of uploads that
become them. See metrics.core.fields, whose rows these are.
"""

import pyarrow as pa

from metrics.core.fields import CASE_FIELDS, NUMBER, NUMBERS, OUTPUT_FIELDS, STRING, STRINGS, Field

_case_id, _model, _run = CASE_FIELDS[0], OUTPUT_FIELDS[1], OUTPUT_FIELDS[2]

SHAPE_FIELDS = (
    Field("x", NUMBER, "shape", "Left", "The left edge of the box, in pixels."),
    Field("y", NUMBER, "shape", "Top", "The top edge of the box, in pixels."),
    Field("width", NUMBER, "shape", "Width", "The width of the box, in pixels.", ("w",)),
    Field("height", NUMBER, "shape", "Height", "The height of the box, in pixels.", ("h",)),
    Field("area", NUMBER, "shape", "Area", "The area in square pixels: the file's own figure where it has one."),
    Field("polygons", pa.list_(NUMBERS), "stored", "Polygons",
        "Rings x1 y1 x2 y2 …, in pixels; a rotated box is one of four points."),
    Field("rle", STRING, "shape", "Run lengths", "COCO's compressed run-length counts of a mask of the image's size.",
        ("rle.counts", "segmentation.counts")),
)  # fmt: skip
KEYPOINTS = Field("keypoints", NUMBERS, "stored", "Key points",
    "x1 y1 v1 x2 y2 v2 …, in pixels; v is 0 for a point that is not labelled, 1 for a hidden, 2 for a visible one.",
    later=True)  # fmt: skip
OBJECT_LABEL = Field("label", STRING, "expect", "Label", "The class of the object.",
    ("class", "class_name", "category", "category_name", "label_name"))  # fmt: skip
OBJECT_SCORE = Field("score", NUMBER, "answer", "Score", "How sure the model is.", ("confidence", "conf"))

ANNOTATION_FIELDS = (
    _case_id,
    Field("annotation_id", pa.int64(), "stored", "Object", "The number of the object in the suite."),
    OBJECT_LABEL,
    *SHAPE_FIELDS,
    Field("is_crowd", pa.bool_(), "help", "Is a crowd", "Whether it is a group, or a region, of objects.",
        ("iscrowd", "is_group_of")),
    Field("difficult", pa.bool_(), "help", "Difficult",
        "Whether a benchmark's rules neither count nor punish it.", ("is_difficult",), later=True),
    KEYPOINTS,
)  # fmt: skip
PREDICTION_FIELDS = (
    _case_id, _model, _run,
    Field("prediction_id", pa.int64(), "stored", "Prediction", "Its number among the model's of a run, in file order."),
    OBJECT_LABEL,
    OBJECT_SCORE,
    *SHAPE_FIELDS,
    KEYPOINTS,
)  # fmt: skip

# columns of outputs of classifiers, beside those of OUTPUT_FIELDS, that become predictions
CLASS_FIELDS = (
    Field("predicted_label", STRING, "answer", "Predicted class", "A class that the model predicts.",
        ("predicted", "y_pred", "predicted_class", "pred", "pred_label", "pred_class", "prediction_label")),
    Field("predicted_labels", STRINGS, "answer", "Predicted classes",
        "The classes that the model predicts, where a case may have several.", ("predicted_classes",), items="classes"),
    Field("score", NUMBER, "answer", "Score",
        "How sure the model is of the class: the predicted one, or one of two that is asked about.",
        ("confidence", "probability", "proba", "prob", "y_prob", "y_proba", "y_score", "predicted_probability")),
)  # fmt: skip
_of_images = {each.name: each for each in CASE_FIELDS if each.role == "image"}
_of_objects = {each.name: each for each in ANNOTATION_FIELDS if each.role != "stored"}
# columns of tables of objects in images; an `id` there is none of a case
OBJECT_TABLE_FIELDS = (
    Field("case_id", STRING, "key", _case_id.title, "The id of the image, where that is not its name."),
    *(each for each in _of_images.values() if not each.is_list),
    next(each for each in CASE_FIELDS if each.name == "tags"),
    *(each for each in _of_objects.values() if each.role != "key"),
    Field("xmin", NUMBER, "shape", "Left", "The left edge of the box.", ("x_min", "x1", "left")),
    Field("ymin", NUMBER, "shape", "Top", "The top edge of the box.", ("y_min", "y1", "top")),
    Field("xmax", NUMBER, "shape", "Right", "The right edge of the box.", ("x_max", "x2", "right")),
    Field("ymax", NUMBER, "shape", "Bottom", "The bottom edge of the box.", ("y_max", "y2", "bottom")),
    Field("polygon", STRING, "shape", "Polygon", "The outline of the object.", ("segmentation",)),
    *(each for each in _of_images.values() if each.is_list),
    _model, _run, OBJECT_SCORE,
)  # fmt: skip
