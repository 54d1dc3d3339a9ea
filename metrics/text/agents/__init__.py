"""What agents do and produce: traces, steps, files."""
