"""Geometries as GeoJSON: closed rings, several parts."""

import json

import pytest

from metrics.vision.outlines import geojson


@pytest.mark.parametrize(
    ("box", "rings", "expected"),
    [
        pytest.param(
            (1, 2, 3, 4), None,
            {"type": "Polygon", "coordinates": [[[1, 2], [4, 2], [4, 6], [1, 6], [1, 2]]]}, id="box",
        ),
        pytest.param(
            (0, 0, 2, 2), [[0, 0, 2, 0, 1, 2]],
            {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [1, 2], [0, 0]]]}, id="polygon, closed",
        ),
        pytest.param(
            (0, 0, 2, 2), [[0, 0, 2, 0, 1, 2, 0, 0]],
            {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [1, 2], [0, 0]]]}, id="polygon, closed already",
        ),
        pytest.param(
            (0, 0, 9, 2), [[0, 0, 2, 0, 1, 2], [7, 0, 9, 0, 8, 2.5]],
            {
                "type": "MultiPolygon",
                "coordinates": [[[[0, 0], [2, 0], [1, 2], [0, 0]]], [[[7, 0], [9, 0], [8, 2.5], [7, 0]]]],
            },
            id="several parts",
        ),
        pytest.param(
            (5, 5, 0, 1), [], {"type": "Polygon", "coordinates": [[[5, 5], [5, 5], [5, 6], [5, 6], [5, 5]]]}, id="line",
        ),
    ],
)  # fmt: skip
def test_geometry(box, rings, expected):
    assert json.loads(geojson(box, rings)) == expected
