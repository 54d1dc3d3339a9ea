"""How the names of tables end that can be uploaded."""

TABLE_ENDINGS = ("csv", "tsv", "jsonl", "ndjson", "json", "parquet")
