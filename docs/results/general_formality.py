"""Count the French translations of the general model that say vous, tu or both, for each `decode.formality`.

python docs/results/general_formality.py DIR/tatoeba/valid
"""

from __future__ import annotations

import sys
from pathlib import Path

from sacrebleu.metrics.bleu import BLEU

from translate.common.tables import markdown_table
from translate.config.decode import FORMALITIES
from translate.data.readers import read_lines
from translate.translator.guards.formality import FORMAL, INFORMAL, addresses
from translate.translator.translator import Translator


def main() -> None:
    """Print a line for each setting, of single sentences and of five to a text."""
    sources, targets = (list(read_lines(Path(f"{sys.argv[1]}.{language}.gz"))) for language in ("en", "fr"))
    translator = Translator.load()
    rows = []
    for joined in (1, 5):
        starts = range(0, len(sources), joined)
        texts, references = ([" ".join(side[at : at + joined]) for at in starts] for side in (sources, targets))
        for formality in FORMALITIES:
            outputs = [one.text for one in translator.translate(texts, tgt_lang="fr", formality=formality)]
            said = [addresses(text) for text in outputs]
            counts = [sum(one == wanted for one in said) for wanted in ({FORMAL}, {INFORMAL}, {FORMAL, INFORMAL})]
            bleu = BLEU().corpus_score(outputs, [references]).score
            rows.append([str(joined), formality, *map(str, counts), f"{bleu:.1f}"])
    head = ["sentences of a text", "formality", "vous", "tu", "both", "BLEU"]
    print("\n".join(markdown_table(head, rows)))


if __name__ == "__main__":
    main()
