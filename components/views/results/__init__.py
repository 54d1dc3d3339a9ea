"""Parts of the pages that read a finished run: leaderboard charts, comparison, trend, slices, insights, monitors."""
