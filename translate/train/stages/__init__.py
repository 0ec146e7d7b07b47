"""The stages of a run: `kinds.py` has the four kinds, `plan.py` reads them from the settings, `work.py` does them."""
