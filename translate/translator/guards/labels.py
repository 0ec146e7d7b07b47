"""Labels with a number, such as "Step 1:", before a text or alone: so short, models take them for other words."""

from __future__ import annotations

import re

_LABELS = (  # English, then French
    "Annex Annexe, Appendix Annexe, Article Article, Chapter Chapitre, Column Colonne, Day Jour, Episode Épisode, "
    "Error Erreur, Example Exemple, Exercise Exercice, Exhibit Pièce, Figure Figure, Floor Étage, Gate Porte, "
    "Group Groupe, Lesson Leçon, Level Niveau, Line Ligne, Method Méthode, Module Module, Note Note, Option Option, "
    "Page Page, Part Partie, Phase Phase, Platform Quai, Point Point, Question Question, Room Salle, Room Chambre, "
    "Round Manche, Row Rangée, Rule Règle, Scene Scène, Season Saison, Section Section, Stage Étape, Step Étape, "
    "Table Tableau, Task Tâche, Tip Conseil, Track Voie, Unit Unité, Version Version, Volume Volume, Week Semaine, "
    "Year Année, Zone Zone"
)
_PAIRS = [  # of several the first counts
    (words[0], words[1]) for words in map(str.split, reversed(_LABELS.split(", ")))
]
_KNOWN = {
    "fr": dict(_PAIRS),
    "en": {french: english for english, french in _PAIRS} | {"Étape": "Step", "Annexe": "Appendix"},
}
_LABEL = re.compile(r"(?P<word>[^\W\d_]+) (?P<number>\d{1,4}[a-z]?)(?:(?P<colon>\s?: )(?=\S)|(?P<end>[.:]?)\Z)")


def split_label(text: str, tgt_lang: str) -> tuple[str, str]:
    """Return the translated label of an English or French text and the rest of it; "" and the text if it has none.

    >>> split_label("Step 2: mix it.", "fr"), split_label("Étape 2 : mélange.", "en"), split_label("Tom 2: no", "fr")
    (('Étape 2 : ', 'mix it.'), ('Step 2: ', 'mélange.'), ('', 'Tom 2: no'))
    """
    label = _LABEL.match(text)
    word = _translated(label["word"], tgt_lang) if label and label["colon"] else None
    if label is None or word is None:
        return "", text
    return f"{word} {label['number']}{' : ' if tgt_lang == 'fr' else ': '}", text[label.end() :]


def translate_label(text: str, tgt_lang: str) -> str | None:
    """Return the translation of an English or French label that is the whole text; None if it is none.

    >>> translate_label("Step 2", "fr"), translate_label("chapitre 3", "en"), translate_label("Tom 2", "fr")
    ('Étape 2', 'chapter 3', None)
    """
    label = _LABEL.fullmatch(text)
    word = _translated(label["word"], tgt_lang) if label and not label["colon"] else None
    return f"{word} {label['number']}{label['end']}" if label and word else None


def _translated(word: str, tgt_lang: str) -> str | None:
    """Return the translation of a word in lower case or with a capital, in its case; None if it is not known."""
    known = _KNOWN.get(tgt_lang, {}).get(word.capitalize())
    if known is None or word[1:] != word[1:].lower():
        return None
    return known if word[0].isupper() else known[0].lower() + known[1:]
