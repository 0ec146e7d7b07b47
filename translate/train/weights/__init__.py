"""Weights from files and of several models: read `warm_start.py` first."""
