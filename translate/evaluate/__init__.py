"""Score a model or its output, and write the report: `python -m translate.evaluate`.

Read `scores.py` first, then `report.py`.
"""
