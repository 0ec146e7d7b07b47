"""The Transformer in 8-bit integers on a CPU, of numpy and the kernels in C: translating needs no torch.

`network.py` builds it from the weights of a model directory (`weights.py`, `packing.py`); `state.py` is what it
remembers while it decodes.
"""
