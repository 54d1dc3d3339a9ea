"""Runs in the formats of other tools, a file each: `EXPORTERS` in exporters.py is the table of them."""
