"""What the columns and cells of an uploaded table mean."""
