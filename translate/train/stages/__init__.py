"""The stages of a run: `kinds.py` has the five kinds, `plan.py` reads them from the settings, `work.py` does them."""
