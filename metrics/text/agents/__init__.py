"""What agents do and make: traces, steps, files."""
