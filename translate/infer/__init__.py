"""Translate sentences, lines and files: `python -m translate.infer`.

`__main__.py` reads the command line, `lines.py` the text; `answers.py` writes it; `resume.py` continues a stopped run,
and `bulk/` translates many files, by processes here or on a Ray cluster.
"""
