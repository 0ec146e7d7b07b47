"""Score the general model on sentences in several forms, without and with `decode.form_guard`.

python docs/results/general_forms.py DIR/tatoeba/valid
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from sacrebleu.metrics.bleu import BLEU

from translate.common.tables import markdown_table
from translate.data.readers import read_lines
from translate.data.variants import without_accents
from translate.translator.translator import Translator

_SENTENCES = 500
_FORMS: dict[str, Callable[[str], str]] = {
    "as they are": lambda text: text,
    "in capitals": str.upper,
    "As A Title": lambda text: re.sub(r"(?<!\S)\w", lambda match: match[0].upper(), text),
    '"quoted"': lambda text: f'"{text}"',
    "“quoted”": lambda text: f"“{text}”",
    "« quoted »": lambda text: f"«\u00a0{text}\u00a0»",
    "(in brackets)": lambda text: f"({text})",
    "**emphasis**": lambda text: f"**{text}**",
    "two  spaces": lambda text: text.replace(" ", "  "),
    "without accents": without_accents,
}


def words(text: str) -> str:
    """Return the words of a text in lower case, without marks."""
    return re.sub(r"[^\w]+", " ", text.lower()).strip()


def main() -> None:
    """Print BLEU of each form, without and with the guard."""
    translator, bleu = Translator.load(), BLEU()
    sides = {language: read_lines(Path(f"{sys.argv[1]}.{language}.gz")) for language in ("en", "fr")}
    texts = {language: list(islice(lines, _SENTENCES)) for language, lines in sides.items()}
    rows = []
    for name, form in _FORMS.items():
        row = [name]
        for guard in (False, True):
            scores = []
            for src, tgt in (("en", "fr"), ("fr", "en")):
                found = translator.translate(list(map(form, texts[src])), tgt_lang=tgt, form_guard=guard)
                references = [list(map(words, texts[tgt]))]
                scores.append(f"{bleu.corpus_score([words(one.text) for one in found], references).score:.1f}")
            row.append(" / ".join(scores))
        rows.append(row)
    print("\n".join(markdown_table(["", "without", "with the guard"], rows)))


if __name__ == "__main__":
    main()
