"""Archives of sealed runs: one zip with all that a run rests on, which another workspace opens."""
