"""Do people agree? Their labels beside the judge's scores."""
