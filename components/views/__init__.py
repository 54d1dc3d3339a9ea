"""The larger parts of the pages, a folder for each section of the menu."""
