"""Remote workspaces: sealed runs with their suites and outputs in an object store or on another machine's disk."""
