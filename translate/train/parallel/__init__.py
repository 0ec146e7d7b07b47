"""Training on several devices or threads: read `distributed.py` for processes, `workers.py` for threads."""
