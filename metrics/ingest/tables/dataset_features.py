"""Features of Hugging Face datasets, which Arrow and Parquet files describe: classes by number get their names."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.errors import InputError, InputProblem
from metrics.ingest.arrays import flat

SCHEMA_KEY = b"huggingface"
MEDIA = ("Image", "Audio", "Video", "Pdf", "Nifti")
LISTS = ("Sequence", "LargeList", "List")


def features_of(schema: pa.Schema) -> Mapping[str, Any]:
    """Return the features that a file's schema describes; none where it describes none."""
    text = (schema.metadata or {}).get(SCHEMA_KEY)
    try:
        found = json.loads(text) if text else {}
        features = found["info"]["features"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return features if isinstance(features, Mapping) else {}


def named_features(file: str, table: pa.Table, features: Mapping[str, Any] | None = None) -> pa.Table:
    """Return the table with the names of classes in place of their numbers (-1, unknown, is no value).

    `features` are those of a data set in memory, else of the file. InputError where a column holds pictures or sounds,
    or a number that is no class.
    """
    features = features_of(table.schema) if features is None else features
    problems = []
    for place, name in enumerate(table.column_names):
        feature = features.get(name)
        kind = feature.get("_type") if isinstance(feature, Mapping) else None
        if kind in MEDIA:
            found = f"a column of the Hugging Face feature {kind}"
            expected = f"columns of text and numbers: remove_columns({name!r}); images go in a zip of their own"
            problems.append(InputProblem(file, found, expected, column=name, fatal=True))
        elif kind in LISTS and isinstance(feature.get("feature"), Mapping):  # type: ignore[union-attr]
            names = _names(feature["feature"])  # type: ignore[index]
            if names is not None and pa.types.is_list(table.schema.field(name).type):
                column = flat(table[name])
                named = _named(column.flatten(), names)
                if named is not None:
                    offsets = pc.subtract(column.offsets, column.offsets[0])
                    listed = pa.ListArray.from_arrays(offsets, named, mask=pc.is_null(column))
                    table = table.set_column(place, name, listed)
                    continue
                problems.append(_no_class(file, name, names))
        elif (names := _names(feature)) is not None:
            named = _named(flat(table[name]), names)
            if named is None:
                problems.append(_no_class(file, name, names))
            else:
                table = table.set_column(place, name, named)
    if problems:
        raise InputError(problems)
    return table


def _names(feature: Any) -> list[str] | None:
    names = feature.get("names") if isinstance(feature, Mapping) and feature.get("_type") == "ClassLabel" else None
    return names if isinstance(names, list) and all(isinstance(name, str) for name in names) else None


def _named(column: pa.Array, names: list[str]) -> pa.DictionaryArray | None:
    """Return classes by number with their names, each once; None where a number is none of them."""
    if not pa.types.is_integer(column.type):
        return None
    places = np.asarray(pc.fill_null(column, -1).to_numpy(zero_copy_only=False), np.int64)
    if ((places < -1) | (places >= len(names))).any():
        return None
    return pa.DictionaryArray.from_arrays(pa.array(places, mask=places < 0), pa.array(names, pa.string()))


def _no_class(file: str, name: str, names: list[str]) -> InputProblem:
    return InputProblem(file, "a value that is no class", f"a number from 0 to {len(names) - 1}", None, name, True)
