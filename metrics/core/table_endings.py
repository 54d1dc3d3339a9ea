"""How the names of files end that can be uploaded."""

ANNOTATION_ENDINGS = ("xml",)  # of files of objects in images that are no tables
RANKING_ENDINGS = ("qrels", "run", "trec", "txt")  # of the files of TREC: judgements and runs
LOG_ENDINGS = ("eval",)  # of zips that a tool names otherwise: the logs of Inspect
PACKED_ENDING = "gz"  # of a text file that is compressed
YAML_ENDINGS = ("yaml", "yml")
TABLE_ENDINGS = (
    "csv", "tsv", "jsonl", "ndjson", "json", "parquet", "xlsx", "arrow", "feather", *YAML_ENDINGS, PACKED_ENDING,
)  # fmt: skip
