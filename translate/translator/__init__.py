"""Strings in, translations out: the translator, its requests and answers, alignment, scores, the model directory.

`engines/` runs exported models without torch. Read `translator.py` first.
"""
