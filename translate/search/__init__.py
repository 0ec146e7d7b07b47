"""Searches over any model that can take one step: greedy, beams, samples, ensembles, minimum Bayes risk.

They take arrays of torch or of numpy (`arrays.py`) and import neither torch nor a model.
Read `step_model.py`, then `beam.py`.
"""
