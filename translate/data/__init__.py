"""Text to batches: sources, cleaning, the tokenizer, the cache, token-budget batches, the DataModule.

It may import `common` and `config`. Read `batch.py` and `datamodule.py` first.
"""
