"""Renderers of a report and of a run's tables: PDF, HTML, JUnit, CSV, Parquet, JSON."""
