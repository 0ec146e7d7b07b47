"""Measure training and decoding beside the machine's peak and beside peers: `python -m translate.benchmark`.

`training.py`, `decoding.py` and `serving.py` are the measurements; `acceptance.py` runs all that a GPU should do.
"""
