"""The command line: one file for each subcommand, the parser that joins them, the options that they share."""
