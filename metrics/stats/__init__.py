"""Statistics on arrays: intervals, paired tests, rankings, agreement, slice search. No input or output, no state."""
