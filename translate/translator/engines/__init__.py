"""The engines behind a `Translator`: torch, int8, CTranslate2 and ONNX; read `engine.py`, then `opening.py`."""
