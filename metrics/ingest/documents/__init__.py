"""Documents as plain text: text, Markdown, HTML and PDF. Nothing in them is executed or fetched."""

from metrics.ingest.documents.reading import ENDINGS, ReadDocuments, read_documents
