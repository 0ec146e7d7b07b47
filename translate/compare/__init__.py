"""Put finished training runs side by side, one table and one picture: `python -m translate.compare`.

Read `comparison.py` first.
"""
