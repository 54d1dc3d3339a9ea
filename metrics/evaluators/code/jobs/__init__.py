"""Programs that run inside the sandbox, where nothing else of Assay is: they import each other and the library."""
