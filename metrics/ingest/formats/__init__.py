"""One file an upload format, which exports its reader; see metrics.ingest.format_table."""
