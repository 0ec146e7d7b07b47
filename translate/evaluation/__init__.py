"""Scores with their signatures, significance, and the report."""
