"""Folders and zips, and the images and files in them."""
