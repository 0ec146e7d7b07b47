"""Text to batches: corpora, cleaning, the tokenizer, the one-step shift, token-budget batches."""
