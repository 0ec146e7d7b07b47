"""Write `capitals.tsv` of the general model, as a training with its text does.

python docs/results/general_capitals.py DIR OUTPUT    # DIR as data.root of conf/data/general.yaml
"""

from __future__ import annotations

import sys
from pathlib import Path

from omegaconf import OmegaConf

from translate.common.resources import conf_dir
from translate.config.data import DataConfig
from translate.data.cleaning import clean_text
from translate.data.corpus import open_corpus
from translate.translator.truecasing import Truecaser


def main(root: str, output: Path) -> None:
    """Learn the capitals of both languages from the training text."""
    settings = OmegaConf.merge(DataConfig, OmegaConf.load(conf_dir() / "data/general.yaml"), {"root": root})
    sides = zip(*open_corpus(OmegaConf.to_object(settings)).train(), strict=True)
    truecaser = Truecaser.learn({lang: map(clean_text, side) for lang, side in zip(("en", "fr"), sides, strict=True)})
    truecaser.save(output)
    print(output, *(f"{lang}: {len(words):,} words" for lang, words in truecaser.words.items()))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
