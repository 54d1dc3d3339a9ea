"""Bundles: a run as a folder of static files that a browser opens from a disk or any web host."""
