"""People's labels: whether raters agree, whether the judge agrees with them, and which output to label next."""
