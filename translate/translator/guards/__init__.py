"""Texts that a model reads badly, and translations that have lost what they must keep: read `guarded.py` first.

Guards of single searches, such as that against repetition, are in `search/guards.py`.
"""
