"""Write models for CTranslate2, ONNX and Hugging Face, or as model directories again: `python -m translate.export`.

Read `writer.py` first.
"""
