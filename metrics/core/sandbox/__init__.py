"""Processes for what nobody vouches for, code that a model wrote and its SQL: bubblewrap, libseccomp and limits."""
