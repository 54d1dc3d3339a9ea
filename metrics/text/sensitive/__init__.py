"""What a text should not disclose: personal data, secrets, encoded parts."""
