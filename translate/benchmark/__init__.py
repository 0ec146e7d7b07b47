"""Measure training and decoding beside the machine's peak and beside peers: `python -m translate.benchmark`.

`training.py` and `decoding.py` are the two measurements.
"""
