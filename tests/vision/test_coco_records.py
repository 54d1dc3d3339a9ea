"""The scanner of COCO results: what it accepts it reads as Python's json does; all else it leaves alone."""

import json
import random

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from metrics.vision.compiled import coco_records
from metrics.vision.compiled.coco_records import NOT_PLAIN, SHORTEST

KEYS = ("image_id", "category_id", "bbox", "score")


def columns_of(size: int, rows: int = 2):
    return np.zeros(rows * size, np.int64), np.empty(4 * size), np.empty(size)


def scan(text: bytes, scanner=coco_records.scan_records, keys=coco_records.RESULT):
    """The records that the scanner finds between the brackets of an array; None where they are not plain."""
    size = len(text) // SHORTEST + 1
    columns = columns_of(size, 2 if keys is coco_records.RESULT else 4)
    count = scanner(np.frombuffer(bytearray(text + b"\0"), np.uint8), keys, *columns)
    if count == NOT_PLAIN:
        return None
    whole, box, number = (column.tolist() for column in columns)
    return [(*whole[i::size], box[4 * i : 4 * i + 4], number[i]) for i in range(count)]


def strictly(text: bytes):
    """The same by Python's json, for records of the right types; None for others."""

    def number(value) -> bool:
        return type(value) in (int, float)

    def once(pairs):
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("a key twice")
        return dict(pairs)

    def refuse(name: str):
        raise ValueError(name)

    try:
        records = json.loads(b"[" + text + b"]", object_pairs_hook=once, parse_constant=refuse)
    except (ValueError, RecursionError):
        return None
    found = []
    for record in records:
        if not isinstance(record, dict) or set(record) != set(KEYS):
            return None
        image, category, box, score = (record[key] for key in KEYS)
        if type(image) is not int or type(category) is not int or not number(score):
            return None
        if not isinstance(box, list) or len(box) != 4 or not all(map(number, box)):
            return None
        found.append((image, category, [float(side) for side in box], float(score)))
    return found


def record(image=1, category=2, box="[1, 2.5, 3, 4]", score="0.5") -> str:
    return f'{{"image_id": {image}, "category_id": {category}, "bbox": {box}, "score": {score}}}'


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(record(), id="as json.dump writes it"),
        pytest.param(record().replace(" ", ""), id="without blanks"),
        pytest.param(record().replace(" ", "\n\t\r "), id="all blanks"),
        pytest.param('{"score":1e-05,"bbox":[0,-0.0,1E-1,2.50],"image_id":0,"category_id":7}', id="keys in any order"),
        pytest.param(f" {record()} ,\n{record(2)} , {record(3)} ", id="several"),
        pytest.param('{"image_id":1,"category_id":1,"bbox":[0,0,0,0],"score":0}', id="the shortest"),
        pytest.param(record(score="0.12345678901234567"), id="17 digits"),
        pytest.param(record(image=8 * 10**17), id="18 digits of id"),
    ],
)
def test_plain_records(text):
    assert scan(text.encode()) == strictly(text.encode())
    assert scan(text.encode()) is not None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param(record() + ",", id="a comma behind"),
        pytest.param("," + record(), id="a comma before"),
        pytest.param(record() + record(), id="no comma"),
        pytest.param(record() + "x", id="garbage behind"),
        pytest.param(record() + "\0", id="a zero byte"),
        pytest.param(record()[:-1], id="cut"),
        pytest.param(record(image="1.0"), id="id with a point"),
        pytest.param(record(image="-1"), id="negative id"),
        pytest.param(record(image="01"), id="leading zero"),
        pytest.param(record(image='"1"'), id="id in quotes"),
        pytest.param(record(image="true"), id="true"),
        pytest.param(record(image=10**18), id="19 digits of id"),
        pytest.param(record(score="NaN"), id="NaN"),
        pytest.param(record(score="Infinity"), id="Infinity"),
        pytest.param(record(score="1e400"), id="beyond every float"),
        pytest.param(record(score="1e-30"), id="an inexact power of ten"),
        pytest.param(record(score="00.5"), id="two zeros"),
        pytest.param(record(score=".5"), id="no digit before the point"),
        pytest.param(record(score="5."), id="no digit behind the point"),
        pytest.param(record(score="+5"), id="plus"),
        pytest.param(record(score="5e"), id="no exponent"),
        pytest.param(record(score="-"), id="minus alone"),
        pytest.param(record(score="null"), id="null"),
        pytest.param(record(box="[1, 2, 3]"), id="three sides"),
        pytest.param(record(box="[1, 2, 3, 4, 5]"), id="five sides"),
        pytest.param(record(box="[]"), id="no sides"),
        pytest.param(record(box="[1, 2, 3, 4"), id="open box"),
        pytest.param(record()[:-1] + ', "score": 1}', id="a key twice"),
        pytest.param(record()[:-1] + ', "id": 1}', id="another key"),
        pytest.param(record().replace("image_id", "image_ix"), id="a key misspelt"),
        pytest.param('{"image_id": 1, "category_id": 2, "score": 0.5}', id="no box"),
        pytest.param("{}", id="no keys"),
        pytest.param("[]", id="an array"),
    ],
)
def test_what_is_not_plain_is_left_to_others(text):
    assert scan(text.encode()) is None


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(0, 1, width=32).map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.from_regex(r"-?(0|[1-9][0-9]{0,10})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
)
blanks = st.text(" \n\t\r", max_size=2)
records = st.builds(
    lambda image, category, box, score, order, blank: (
        "{" + blank
        + f",{blank}".join(
            f'"{KEYS[key]}"{blank}:' + blank + (image, category, f"[{blank}{f',{blank}'.join(box)}]", score)[key]
            for key in order
        )
        + "}" + blank
    ),
    st.integers(0, 10**19).map(str), st.integers(0, 200).map(str),
    st.lists(numbers, min_size=4, max_size=4), numbers, st.permutations(range(4)), blanks,
)  # fmt: skip


@given(st.lists(records, min_size=1, max_size=3).map(",".join))
def test_records_are_read_as_json_reads_them(text):
    found = scan(text.encode())
    assert found is None or found == strictly(text.encode())


@given(
    st.lists(records, min_size=1, max_size=2).map(",".join),
    st.lists(
        st.tuples(st.integers(0, 400), st.sampled_from([b"", b"\0", b'"', b"}", b"{", b",", b"9", b"e", b"\xff"]))
    ),
)
@example(record(), [(0, b"")])
def test_damaged_bytes_are_never_misread(text, damage):
    """Bytes cut out, replaced and put in; numpy's own bounds are checked by the uncompiled loops."""
    data = bytearray(text.encode())
    for place, byte in damage:
        at = place % (len(data) + 1)
        data[at : at + place % 3] = byte
    found = scan(bytes(data))
    assert found is None or found == strictly(bytes(data))


@pytest.fixture
def uncompiled(monkeypatch):
    """The scanner as Python, in which an index past the end raises."""
    for name in ("_blank", "_quotient", "_number", "_integer", "_box", "_key", "_skip"):
        monkeypatch.setattr(coco_records, name, getattr(coco_records, name).py_func)
    return coco_records.scan_records.py_func


def test_no_index_passes_the_end(uncompiled):
    whole = f"{record(score='1.25e-2')},{record(box='[-1.5,2,3e-1,4]')}".encode()
    for end in range(len(whole)):
        assert (scan(whole[:end], uncompiled) is not None) == (end == whole.index(b"},") + 1)
    assert scan(whole, uncompiled) == strictly(whole)


def annotated(text: bytes):
    """What Python's json reads of annotations of the right types; None for others."""
    found = []
    for one in json.loads(b"[" + text + b"]"):
        box = one.get("bbox")
        numbers = [*box, one.get("area")] if isinstance(box, list) and len(box) == 4 else [None]
        whole = [one.get("image_id"), one.get("category_id"), one.get("id"), one.get("iscrowd", 0)]
        if any(type(value) is not int for value in whole) or any(type(value) not in (int, float) for value in numbers):
            return None
        found.append((*whole, [float(side) for side in box], float(one["area"])))
    return found


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 99) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=8,
)
annotations = st.builds(
    lambda known, more, order: {key: (more | known)[key] for key in order if key in more or key in known},
    st.fixed_dictionaries(
        {
            "id": st.integers(0, 10**17), "image_id": st.integers(0, 9), "category_id": st.integers(0, 9),
            "bbox": st.lists(st.floats(0, 999).map(lambda side: round(side, 2)), min_size=4, max_size=4),
            "area": st.floats(0, 1e6).map(lambda size: round(size, 3)),
        },
        optional={"iscrowd": st.integers(0, 1)},
    ),
    st.fixed_dictionaries({}, optional={"segmentation": VALUES, "": VALUES, "score": VALUES, 'a "},{" b': VALUES}),
    st.permutations(["id", "image_id", "category_id", "bbox", "area", "iscrowd", "segmentation", "", "score"]),
)  # fmt: skip


@given(st.lists(annotations, min_size=1, max_size=3), st.sampled_from([None, 1]))
def test_annotations_are_read_as_json_reads_them(records, indent):
    """Whatever stands under other keys."""
    text = ",".join(json.dumps(one, indent=indent, ensure_ascii=False) for one in records).encode()
    assert scan(text, keys=coco_records.ANNOTATION) == annotated(text)
    for end in range(0, len(text), 7):
        cut = scan(text[:end], keys=coco_records.ANNOTATION)
        assert cut is None or cut == annotated(text)[: len(cut)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"id":1,"image_id":1,"category_id":1,"bbox":[0,0,1,1]}', id="no area"),
        pytest.param('{"image_id":1,"category_id":1,"bbox":[0,0,1,1],"area":1}', id="no id"),
        pytest.param('{"id":1,"image_id":1,"category_id":1,"bbox":[0,0,1,1],"area":1,"iscrowd":null}', id="null"),
        pytest.param('{"id":1,"image_id":1,"category_id":1,"bbox":[0,0,1,1],"area":1,"id":2}', id="an id twice"),
        pytest.param(
            '{"id":1,"image_id":1,"category_id":1,"bbox":[0,0,1,1],"area":1,"\\u0061":2}', id="an escaped key"
        ),
    ],
)
def test_annotations_that_are_not_plain(text):
    assert scan(text.encode(), keys=coco_records.ANNOTATION) is None


def test_no_index_passes_the_end_of_annotations(uncompiled):
    known = {"id": 1, "image_id": 1, "category_id": 2, "bbox": [0, 1, 2, 3], "area": 1.5}
    whole = json.dumps(known | {"note": 'a "b\\', "segmentation": {"size": [1, [2]], "counts": ""}}).encode()
    for end in range(len(whole)):
        assert scan(whole[:end], uncompiled, coco_records.ANNOTATION) is None
    assert scan(whole, uncompiled, coco_records.ANNOTATION) == annotated(whole)


def test_without_the_zero_byte_nothing_is_read():
    data = np.frombuffer(bytearray(record().encode()), np.uint8)
    for part in (data, data[:0]):
        assert coco_records.scan_records(part, coco_records.RESULT, *columns_of(9)) == NOT_PLAIN


def test_more_records_than_room_are_not_read():
    data = np.frombuffer(bytearray(f"{record()},{record()}".encode() + b"\0"), np.uint8)
    assert coco_records.scan_records(data, coco_records.RESULT, *columns_of(1)) == NOT_PLAIN


def test_numbers_are_those_of_float():
    """Ten thousand literals of every length: the nearest float, or none."""
    random_ = random.Random(0)
    literals = []
    for _ in range(2_000):
        digits = random_.randrange(1, 19)
        fraction = random_.randrange(10**digits)
        literals += [
            repr(random_.random()),
            repr(random_.uniform(-700, 700)),
            repr(float(np.float32(random_.random()))),
            repr(random_.random() * 10.0 ** -random_.randrange(9)),
            f"{random_.randrange(1000)}.{fraction:0{digits}}",
        ]
    text = ",".join(
        record(box=f"[{', '.join(literals[i : i + 4])}]", score=literals[i + 4]) for i in range(0, len(literals), 5)
    )
    plain = [part for part in text.split("},") if scan((part.rstrip("}") + "}").encode()) is not None]
    assert len(plain) > 0.5 * len(literals) / 5
    for part in plain:
        whole = (part.rstrip("}") + "}").encode()
        assert scan(whole) == strictly(whole)


@pytest.mark.parametrize(
    "literal",
    [
        "9007199254740993",
        "9007199254740992.5",
        "0.1",
        "1e22",
        "1e23",
        "0.30000000000000004",
        "5e-22",
        "4503599627370497.5",
    ],
)
def test_numbers_at_the_edges(literal):
    found = scan(record(score=literal).encode())
    assert found is None or found[0][3] == float(literal)
