"""Write a model directory with the weighted mean of the weights of two models of one network: the general model is one.

python docs/results/general_mean.py SHARE MODEL OTHER OUTPUT   # SHARE of MODEL and the rest of OTHER
python -m translate.export format=model model=OUTPUT quantization=int6 output=data/models/en-fr overwrite=true
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import torch

from translate.translator.bundle import find_model, load_bundle, save_bundle


def main() -> None:
    """Read both, write their mean with the settings of the first, and copy what else its directory has."""
    share, output = float(sys.argv[1]), Path(sys.argv[4])
    first, second = map(find_model, sys.argv[2:4])
    model, tokenizer, config = load_bundle(first)
    other, _, _ = load_bundle(second)
    with torch.no_grad():
        for mine, theirs in zip(model.parameters(), other.parameters(), strict=True):
            mine.lerp_(theirs, 1 - share)
    save_bundle(output, model, tokenizer, config)
    for file in first.iterdir():
        if not (output / file.name).exists():
            shutil.copy(file, output)


if __name__ == "__main__":
    main()
