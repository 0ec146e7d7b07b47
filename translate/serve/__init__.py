"""A translation server that clients of LibreTranslate use without a change.

From a request to its answer: `fields.py` reads it, `limits.py` may refuse it, `documents.py` cuts its texts into
sentences, `pool.py` translates the sentences of all requests together, `work.py` puts texts together again, with one
way to say "you" (`formality.py`), `api.py` writes the answer.
"""
