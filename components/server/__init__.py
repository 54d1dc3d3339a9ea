"""What stands before the pages: whom the server answers, and which headers its answers carry."""
