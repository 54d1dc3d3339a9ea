"""What a text should not give away: personal data, secrets, encoded parts."""
