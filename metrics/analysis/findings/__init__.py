"""What stands out? Problems, insights, flips, failure attribution, compliance."""
