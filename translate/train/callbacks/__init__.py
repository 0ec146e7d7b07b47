"""Watch a training: speed (`progress.py`), BLEU (`validation.py`), saving and stopping (`checkpoints.py`).

`rounding.py` changes one: the network computes with rounded weights.
"""
