"""Score a model of both directions on the sets of the general model's page; without names on those of validation.

python docs/results/general_scores.py DIR MODEL [SET…]

DIR is the folder of `conf/data/general.yaml` with tests/flores_dev and tests/newstest2013 (.en.gz, .fr.gz). A test set
is scored once, when all settings are chosen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from general_sets import paragraphs

from translate.common.resources import topics_dir
from translate.common.tables import markdown_table
from translate.data.readers import read_table
from translate.data.sources import Pair
from translate.data.variants import lower
from translate.evaluate.inputs import read_pairs
from translate.evaluate.scores import score
from translate.translator.translator import Translator

_VALID_NEWS = 1_000  # the first lines of newstest2013 are for validation


def pairs_of(path: Path) -> list[Pair]:
    """Return the pairs of two line-aligned files, whose names `path` begins."""
    return read_pairs(f"{path}.en.gz", f"{path}.fr.gz")


def topics_of(path: Path) -> list[Pair]:
    """Return the pairs of a file of the topics."""
    return [Pair(row["src"], row["tgt"]) for row in read_table(str(path), "en", "fr", named=True)]


_VALIDATION: dict[str, Callable[[Path], list[Pair]]] = {
    "valid": lambda root: pairs_of(root / "tatoeba/valid"),
    "valid_typed": lambda root: list(map(lower, pairs_of(root / "tatoeba/valid"))),
    "valid_news": lambda root: pairs_of(root / "tests/newstest2013")[:_VALID_NEWS],
    "valid_topics": lambda _: topics_of(topics_dir() / "valid.tsv"),
    "valid_genres": lambda _: topics_of(topics_dir() / "valid_genres.tsv"),
}
_TESTS: dict[str, Callable[[Path], list[Pair]]] = {
    "test": lambda root: pairs_of(root / "tatoeba/test"),
    "typed": lambda root: list(map(lower, pairs_of(root / "tatoeba/test"))),
    "paragraphs_of_5": lambda root: paragraphs(pairs_of(root / "tatoeba/test"), 5),
    "paragraphs_of_10": lambda root: paragraphs(pairs_of(root / "tatoeba/test"), 10),
    "flores": lambda root: pairs_of(root / "tests/flores_dev"),
    "news": lambda root: pairs_of(root / "tests/newstest2013")[_VALID_NEWS:],
}


def main() -> None:
    """Print a row of BLEU with its interval and chrF2 for each set."""
    root, model = Path(sys.argv[1]), sys.argv[2]
    sets = {**_VALIDATION, **_TESTS}
    translator, rows = Translator.load(model, device="cpu"), []
    for name in sys.argv[3:] or _VALIDATION:
        pairs = sets[name](root)
        row = [name, f"{len(pairs):,}"]
        for sources, references, lang in ((0, 1, "fr"), (1, 0, "en")):
            found = translator.translate([pair[sources] for pair in pairs], tgt_lang=lang)
            outputs, wanted = [one.text for one in found], [pair[references] for pair in pairs]
            bleu, chrf, _ = score(outputs, wanted, protocol="cased", tgt_lang=lang)
            row += [f"{bleu.value:.1f} [{bleu.low:.1f}, {bleu.high:.1f}]", f"{chrf.value:.1f}"]
        rows.append(row)
    print("\n".join(markdown_table(["set", "pairs", "from English", "chrF2", "from French", "chrF2"], rows)))


if __name__ == "__main__":
    main()
