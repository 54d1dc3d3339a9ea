"""One scene, two images with five objects and six predictions, written in every format that can hold it."""

from typing import Any

from metrics.core.suite import Outputs, Suite
from metrics.evaluators.detection.coco_summary import CocoSummaryParameters, coco_summary
from tests.ingest.files import picture

SIZES = {"a": (200, 100), "b": (80, 160)}
TRUTHS = [  # image, label, x, y, width, height
    ("a", "cat", 20, 10, 60, 40),
    ("a", "dog", 100, 50, 50, 30),
    ("a", "cat", 150, 10, 40, 20),
    ("b", "dog", 8, 16, 40, 64),
    ("b", "cat", 40, 80, 20, 40),
]
PREDICTIONS = [  # and the score
    ("a", "cat", 22, 10, 60, 42, 0.9),
    ("a", "dog", 100, 60, 50, 30, 0.8),
    ("a", "cat", 4, 60, 20, 20, 0.7),
    ("b", "dog", 8, 16, 40, 64, 0.6),
    ("b", "cat", 44, 84, 20, 40, 0.5),
    ("b", "dog", 60, 8, 12, 16, 0.4),
]
Row = tuple[Any, ...]
Files = dict[str, Any]


def rows_of(rows: list[Row], image: str) -> list[Row]:
    return [row for row in rows if row[0] == image]


def corners(row: Row) -> tuple[float, float, float, float]:
    return row[2], row[3], row[2] + row[4], row[3] + row[5]


def ring(row: Row) -> list[float]:
    left, top, right, bottom = corners(row)
    return [left, top, right, top, right, bottom, left, bottom]


def images() -> Files:
    return {f"images/{name}.png": picture(*size) for name, size in SIZES.items()}


def coco(rows: list[Row], first: int = 1) -> dict[str, Any]:
    names, labels = list(SIZES), ["cat", "dog"]
    return {
        "images": [
            {"id": place + first, "file_name": f"{name}.png", "width": SIZES[name][0], "height": SIZES[name][1]}
            for place, name in enumerate(names)
        ],
        "categories": [{"id": place + first, "name": label} for place, label in enumerate(labels)],
        "annotations": [
            {"id": place + first, "image_id": names.index(row[0]) + first, "category_id": labels.index(row[1]) + first,
             "bbox": list(row[2:6]), "area": row[4] * row[5], "iscrowd": 0, **({"score": row[6]} if row[6:] else {})}
            for place, row in enumerate(rows)
        ],
    }  # fmt: skip


def yolo(rows: list[Row]) -> Files:
    files: Files = {"data.yaml": "names: [cat, dog]\n"}
    for image, (wide, high) in SIZES.items():
        lines = []
        for _, label, x, y, width, height, *score in rows_of(rows, image):
            box = ((x + width / 2) / wide, (y + height / 2) / high, width / wide, height / high)
            lines.append(" ".join(map(repr, (["cat", "dog"].index(label), *box, *score))))
        files[f"labels/{image}.txt"] = "\n".join(lines)
    return files


def yolo_obb(rows: list[Row]) -> Files:
    files: Files = {"data.yaml": "names: [cat, dog]\n"}
    for image, size in SIZES.items():
        lines = []
        for row in rows_of(rows, image):
            points = [value / size[place % 2] for place, value in enumerate(ring(row))]
            lines.append(" ".join(map(repr, (["cat", "dog"].index(row[1]), *points, *row[6:]))))
        files[f"labels/{image}.txt"] = "\n".join(lines)
    return files


def dota(rows: list[Row]) -> Files:
    if rows[0][6:]:
        return {
            f"Task1_{label}.txt": "\n".join(
                " ".join(map(str, (row[0], row[6], *ring(row)))) for row in rows if row[1] == label
            )
            for label in ("cat", "dog")
        }
    return {
        f"labelTxt/{image}.txt": "imagesource:GoogleEarth\ngsd:0.1\n"
        + "\n".join(" ".join(map(str, (*ring(row), row[1], 0))) for row in rows_of(rows, image))
        for image in SIZES
    }


def kitti(rows: list[Row]) -> Files:
    return {
        f"label_2/{image}.txt": "\n".join(
            " ".join(map(str, (row[1], 0, 0, -10, *corners(row), 1, 1, 1, 0, 0, 10, 0, *row[6:])))
            for row in rows_of(rows, image)
        )
        for image in SIZES
    }


def labelme(rows: list[Row]) -> Files:
    return {
        f"{image}.json": {
            "version": "5.4.1", "flags": {}, "imagePath": f"{image}.png", "imageData": None,
            "imageWidth": SIZES[image][0], "imageHeight": SIZES[image][1],
            "shapes": [
                {"label": row[1], "points": [list(corners(row)[2:]), list(corners(row)[:2])], "group_id": None,
                 "shape_type": "rectangle", "flags": {}, **({"score": row[6]} if row[6:] else {})}
                for row in rows_of(rows, image)
            ],
        }
        for image in SIZES
    }  # fmt: skip


def cvat(rows: list[Row]) -> Files:
    body = ""
    for place, (image, (wide, high)) in enumerate(SIZES.items()):
        body += f'<image id="{place}" name="{image}.png" width="{wide}" height="{high}">'
        for row in rows_of(rows, image):
            left, top, right, bottom = corners(row)
            score = f'<attribute name="score">{row[6]}</attribute>' if row[6:] else ""
            body += f'<box label="{row[1]}" xtl="{left}" ytl="{top}" xbr="{right}" ybr="{bottom}">{score}</box>'
        body += "</image>"
    labels = "".join(f"<label><name>{name}</name></label>" for name in ("cat", "dog"))
    return {"annotations.xml": f"<annotations><version>1.1</version><meta><task><labels>{labels}</labels></task></meta>"
            f"{body}</annotations>"}  # fmt: skip


def createml(rows: list[Row]) -> Files:
    return {
        "_annotations.createml.json": [
            {
                "image": f"{image}.png",
                "annotations": [
                    {"label": row[1], "coordinates": {"x": row[2] + row[4] / 2, "y": row[3] + row[5] / 2,
                     "width": row[4], "height": row[5]}, **({"confidence": row[6]} if row[6:] else {})}
                    for row in rows_of(rows, image)
                ],
            }
            for image in SIZES
        ]
    }  # fmt: skip


def label_studio(rows: list[Row]) -> Files:
    tasks = []
    for place, (image, (wide, high)) in enumerate(SIZES.items()):
        result = [
            {"id": str(number), "type": "rectanglelabels", "from_name": "label", "to_name": "image",
             "original_width": wide, "original_height": high, "image_rotation": 0,
             "value": {"x": row[2] / wide * 100, "y": row[3] / high * 100, "width": row[4] / wide * 100,
                       "height": row[5] / high * 100, "rotation": 0, "rectanglelabels": [row[1]]},
             **({"score": row[6]} if row[6:] else {})}
            for number, row in enumerate(rows_of(rows, image))
        ]  # fmt: skip
        kind = "predictions" if rows[0][6:] else "annotations"
        answer = {"result": result, **({"model_version": "m"} if rows[0][6:] else {"was_cancelled": False})}
        tasks.append({"id": place, "data": {"image": f"/data/upload/1/0a1b2c3d-{image}.png"}, kind: [answer]})
    return {"project.json": tasks}


def voc(rows: list[Row]) -> Files:
    files = {}
    for image, (wide, high) in SIZES.items():
        body = f"<filename>{image}.png</filename><size><width>{wide}</width><height>{high}</height></size>"
        for row in rows_of(rows, image):
            sides = zip(("xmin", "ymin", "xmax", "ymax"), corners(row), strict=True)
            box = "".join(f"<{name}>{value}</{name}>" for name, value in sides)
            body += f"<object><name>{row[1]}</name><bndbox>{box}</bndbox></object>"
        files[f"{image}.xml"] = f"<annotation>{body}</annotation>"
    return files


def labelme_xml(rows: list[Row]) -> Files:
    files = {}
    for image, (wide, high) in SIZES.items():
        body = f"<filename>{image}.png</filename>"
        for row in rows_of(rows, image):
            points = zip(ring(row)[0::2], ring(row)[1::2], strict=True)
            inside = "".join(f"<pt><x>{x}</x><y>{y}</y></pt>" for x, y in points)
            body += f"<object><name>{row[1]}</name><deleted>0</deleted><type>bounding_box</type>"
            body += f"<polygon>{inside}</polygon></object>"
        body += f"<imagesize><nrows>{high}</nrows><ncols>{wide}</ncols></imagesize>"
        files[f"{image}.xml"] = f"<annotation>{body}</annotation>"
    return files


def open_images(rows: list[Row]) -> Files:
    """An Open Images table; its predictions have no flags."""
    scored = bool(rows[0][6:])
    lines = ["ImageID,LabelName,Confidence,XMin,XMax,YMin,YMax" + ("" if scored else ",IsGroupOf")]
    for row in rows:
        wide, high = SIZES[row[0]]
        left, top, right, bottom = corners(row)
        cells = (row[0], row[1], row[6] if scored else 1, left / wide, right / wide, top / high, bottom / high)
        lines.append(",".join(map(str, cells)) + ("" if scored else ",0"))
    return {"boxes.csv": "\n".join(lines) + "\n"}


def boxes(suite: Suite) -> list[Row]:
    """The objects of a suite as the rows of TRUTHS, in order."""
    names = dict(zip(suite.cases["case_id"].to_pylist(), suite.cases["metadata.image_name"].to_pylist(), strict=True))
    return sorted(
        (names[row["case_id"]].removesuffix(".png"), row["label"],
         *(round(row[side], 6) for side in ("x", "y", "width", "height")))
        for row in suite.annotations.to_pylist()
    )  # fmt: skip


def scores(suite: Suite, outputs: Outputs) -> dict[str, float | None]:
    """COCO's numbers of boxes, whatever else the files have."""
    found = coco_summary(suite, outputs, CocoSummaryParameters(geometry="box"))
    return {row.metric: row.value for row in found.aggregates if row.label is None}
