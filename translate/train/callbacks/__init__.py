"""Watch a training: speed (`progress.py`), BLEU (`validation.py`), saving and stopping (`checkpoints.py`)."""
