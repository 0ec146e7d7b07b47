"""Write models for CTranslate2 and ONNX: `python -m translate.export`.

Read `writer.py` first.
"""
