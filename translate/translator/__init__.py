"""Strings in, translations out: the translator, its requests and translations, alignment, scores, the model directory.

`engines/` runs a model: torch, int8, CTranslate2 or ONNX behind one protocol; `guards/` look over what it reads and
writes. Read `translator.py` first, then `engines/engine.py`. Imports common, config, data, markup, model, native and
search.
"""
