"""Searches over any model that can take one step: greedy, beams, samples, ensembles, minimum Bayes risk.

They import torch and the kernels; `choose.py` and `guards.py` know the settings too.
Read `step_model.py`, then `beam.py`.
"""
