"""Losses of training, summed over tokens, with the output projection fused in; read `cross_entropy.py` first."""
