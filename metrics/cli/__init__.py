"""Subcommands of the command line that fill a file of their own."""
