"""How the names of files end that can be uploaded."""

ANNOTATION_ENDINGS = ("xml",)  # of files of objects in images that are no tables
TABLE_ENDINGS = ("csv", "tsv", "jsonl", "ndjson", "json", "parquet", "xlsx")
