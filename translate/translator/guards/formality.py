"""Whether a French translation says tu or vous, so that a text says the same throughout, or what is asked for.

English says "you" for both, and a model that translates sentence by sentence chooses anew in each of them.

Source: Sennrich et al. 2016, "Controlling Politeness in Neural Machine Translation via Side Constraints", for the task;
the outputs of a beam are chosen from instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from translate.config.decode import FORMAL, FRENCH, INFORMAL, DecodeConfig
from translate.translator.translation import Translation

_OTHER = {FORMAL: INFORMAL, INFORMAL: FORMAL}

_START = r"(?:\A|[.!?…:;«»–—-]\s)"  # of a sentence
_NOT = "(?:n['’]|ne )"
_OBJECT = "bien|ça|ce|cela|ces|cet|cette|la|le|les|ma|mes|mon|nos|notre|pas|sa|ses|son|tout|un|une"
_PRONOUN = "moi|toi|nous|les?|la|lui|leur|en|y"
_OF_TU = (  # imperatives that are the third person, too, so what follows must be an object
    "ajoute|allume|appelle|apporte|arrête|coupe|donne|écoute|envoie|essaie|explique|ferme|garde|goûte|imagine|laisse|lave|"
    "mange|mélange|montre|oublie|ouvre|parle|passe|pose|prépare|range|regarde|retourne|retire|tourne|utilise|verse|vérifie"
)
_OF_TU_ALONE = (  # those that are not
    "assieds|attends|bois|choisis|dépêche|dis|écris|éteins|fais|lis|mets|perds|prends|remets|rends|réponds|sois|sors|tais|"
    "va|viens"
)
_NOUN_TON = "".join(rf"(?<!\b{word} )" for word in ["le", "un", "ce", "du", "au", "de", "son", "bon", "quel"])
_INFORMAL = re.compile(
    r"(?<![\w-])(?:(?<!est )(?<!suis )(?<!sont )(?<!était )tu|te(?! deum)|toi|ta|tes)(?![\w-])"
    rf"|(?<![\w-]){_NOUN_TON}ton(?![\w-])"
    r"|(?<![\w-])t['’](?=\w)|-(?:t['’]|(?:tu|toi)(?![\w-]))"
    r"|(?<!je )(?<!tu )\b(?:(?:le|du|au) tien|(?:les|des|aux) tien(?:ne)?s)\b"
    r"|(?<!il )(?<!elle )(?<!on )(?<!je )\bla tienne\b"
    rf"|{_START}{_NOT}?(?:{_OF_TU})(?= (?:{_OBJECT})\b| [ld]['’]|[ \u00a0\u202f]?!)"
    rf"|(?:{_START}|, )(?:{_OF_TU_ALONE})(?![\w'’-])"
    rf"|{_START}{_NOT}(?!(?:a|est|peut|sera)\b)\w+(?<!ez)(?<!ons)(?<!nt)(?<!r) pas\b"
    rf"|(?<![\w-])(?!\w*(?:ez|ons|mes|tes|est)-)\w+[eas]-(?:{_PRONOUN})(?:-(?:{_PRONOUN}))?(?![\w/-]|\.\w)"
)
_FORMAL = re.compile(
    r"(?<![\w-])(?:vous|votre|vos|vôtres?)(?!\w)|(?<!rendez)(?<!à)-vous(?!\w)"
    rf"|(?<![\w-])(?:dites|faites)-(?:{_PRONOUN})\b|{_START}(?:ne )?(?:dites|faites)\b"
    r"|(?<![\w-])(?!assez|chez|nez|rez|merguez|fez|suez|cessez-le-feu|laissez-p|rendez-v|allez[ \u00a0\u202f]?[!,])"
    r"\w+ez(?!\w)"
)
_NAME = re.compile(  # Martinez, but not Entrez
    r"(?:(?<=[^\W\d_] )|(?<=[^\W\d_], )|(?<=[A-Z]\. )|(?<=Dr\. )|(?<=[(«])|(?<=«[ \u00a0]))[A-ZÀ-Ý]\w*ez\b(?!-)"
    r"|\A[A-ZÀ-Ý]\w*ez\b(?= (?:a|avait|est|était|et|fait|ne|n['’]|s['’]|sera|se|va)\b)"
)
_WORDS = {FORMAL: _FORMAL, INFORMAL: _INFORMAL}


def addresses(text: str) -> set[str]:
    """Return how a French text addresses its reader: "formal" (vous), "informal" (tu), both or not at all.

    >>> sorted(addresses("Dites-moi si ton frère vient chez Mme Martinez.")), addresses("Il tient le ton.")
    (['formal', 'informal'], set())
    """
    plain = _plain(text)
    return {name for name, words in _WORDS.items() if words.search(plain)}


def deviates(text: str, formality: str) -> bool:
    """Return whether a French text does not say what it should, by `decode.formality`."""
    if formality == "consistent":
        plain = _plain(text)
        return all(words.search(plain) for words in _WORDS.values())
    return formality in _OTHER and _WORDS[_OTHER[formality]].search(_plain(text)) is not None


def _plain(text: str) -> str:
    """Return a text in lower case, without names that look like verbs of vous."""
    return _NAME.sub("", text).lower()


def can_choose(decode: DecodeConfig, tgt_lang: str) -> bool:
    """Return whether translations into a language can be chosen by their formality with these settings."""
    return tgt_lang == FRENCH and decode.ranks_by_score


def best_place(texts: Sequence[str], formality: str) -> int:
    """Return the place of the first text that says what is asked for, else of one that says neither, else 0.

    >>> best_place(["Tu manges.", "On mange.", "Vous mangez."], "formal"), best_place(["Tu manges."], "formal")
    (2, 0)
    """
    said = [addresses(text) for text in texts]
    return next((said.index(one) for one in ({formality}, set[str]()) if one in said), 0)


def in_one_formality(
    found: Sequence[Translation], translate: Callable[[list[int], str], Sequence[Translation]]
) -> list[Translation]:
    """Return translations, those that say both tu and vous anew, all formal or all informal, whichever is likelier.

    Args:
        found: Translations of texts.
        translate: Translates the texts at some places, formal or informal.
    """
    results = list(found)
    places = [place for place, one in enumerate(found) if deviates(one.text, "consistent")]
    ways = [translate(places, formality) for formality in (FORMAL, INFORMAL)] if places else []
    for place, *others in zip(places, *ways, strict=True):
        agreeing = [one for one in others if not deviates(one.text, "consistent")]
        results[place] = max(agreeing, key=log_prob, default=found[place])
    return results


def log_prob(translation: Translation) -> float:
    """Return the log-probability of the best hypothesis; 0 if there is none."""
    return translation.hypotheses[0].log_prob if translation.hypotheses else 0.0
