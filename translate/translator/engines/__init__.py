"""Exported models: what a directory of one holds, and how CTranslate2 and ONNX translate with it, without torch."""
