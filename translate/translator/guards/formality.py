"""Whether a French translation says tu or vous, so that a text says the same throughout, or what is asked for.

English says "you" for both, and a model that translates sentence by sentence chooses anew in each of them.

Source: Sennrich et al. 2016, "Controlling Politeness in Neural Machine Translation via Side Constraints", for the task;
the candidates of a beam are chosen from instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

LANGUAGE = "fr"  # the only one whose words are known here
FORMAL, INFORMAL = "formal", "informal"
_OTHER = {FORMAL: INFORMAL, INFORMAL: FORMAL}
_WORSE = 1.0  # nats by which what no candidate says is taken to be less likely than the last of them

_IMPERATIVES = (  # of tu, which hardly are anything else at the start of a sentence before the words below
    "aide|aie|ajoute|allume|appelle|apporte|arrête|attends|change|cherche|choisis|clique|coupe|demande|dis|donne|écoute|"
    "écris|envoie|essaie|éteins|explique|fais|ferme|garde|goûte|imagine|laisse|lave|lis|mange|mélange|mets|montre|oublie|"
    "ouvre|parle|passe|perds|pose|prends|prépare|range|regarde|remets|rends|réponds|reste|retourne|retire|signe|suis|"
    "tourne|utilise|verse|vérifie"
)
_OBJECTS = "bien|ça|ce|cela|ces|cet|cette|l['’]|la|le|les|ma|mes|mon|nos|notre|pas|sa|ses|son|tout|un|une"
_INFORMAL = re.compile(
    r"(?<![\w-])(?:tu|te|toi|ta|tes|(?<!\ble )(?<!\bun )(?<!\bce )(?<!\bdu )ton)(?![\w-])"
    r"|(?<![\w-])t['’](?=\w)|-(?:t['’]|(?:tu|toi)\b)"
    r"|\b(?:la|les?|aux?|des|du) tien(?:ne)?s?\b"
    rf"|(?:\A|[.!?…] )(?:n['’]|ne )?(?:{_IMPERATIVES})(?= (?:{_OBJECTS})(?!\w)| ?!)"
    r"|(?:\A|[.!?…] )(?:assieds|dépêche|sois|tais|va|viens)(?=[ -])"
    r"|\b(?!\w*(?:ez|ons)-)(?!(?:dites|es|est|faites|puis)-)\w+[es]-(?:moi|nous|les?|la|lui|leur|en|y)\b",
    re.IGNORECASE,
)
_FORMAL = re.compile(
    r"(?<![\w-])(?:vous|votre|vos|vôtres?)(?!\w)|(?<!rendez)-vous\b"
    r"|(?<![\w-])(?:dites|faites)-|(?:\A|[.!?…] )(?:ne )?(?:dites|faites)\b"
    r"|(?<![\w-])(?!(?:assez|chez|nez|rez|rendez-vous)\b)\w+ez(?!\w)",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[\w,;:] )[A-ZÀ-Ý]\w*ez\b")  # Martinez, within a sentence


def addresses(text: str) -> set[str]:
    """Return how a French text addresses its reader: "formal" (vous), "informal" (tu), both or not at all.

    >>> sorted(addresses("Dites-moi si ton frère vient chez Mme Martinez.")), addresses("Il tient le ton.")
    (['formal', 'informal'], set())
    """
    text = _NAME.sub("", text)
    return {name for name, words in ((FORMAL, _FORMAL), (INFORMAL, _INFORMAL)) if words.search(text)}


def deviates(texts: Sequence[str], formality: str) -> bool:
    """Return whether translations of a text's sentences say what they should not, by `decode.formality`."""
    found = set[str]().union(*map(addresses, texts))
    return len(found) == 2 if formality == "consistent" else _OTHER.get(formality) in found


def choose(candidates: Sequence[Sequence[tuple[str, float]]], formality: str) -> list[int]:
    """Return the place of the candidate to take for each sentence of a text.

    Args:
        candidates: Of each sentence, best first: text and log-probability.
        formality: "formal" or "informal", or "consistent": that of the two which makes the whole text likelier.

    >>> choose([[("Avez-vous faim ?", -1.0), ("As-tu faim ?", -1.5)], [("Tu dois manger.", -1.0)]], "consistent")
    [1, 0]
    """
    if formality == "consistent":
        formality = min((FORMAL, INFORMAL), key=lambda one: sum(_cost(own, one) for own in candidates))
    return [_place(own, formality) for own in candidates]


def _place(candidates: Sequence[tuple[str, float]], formality: str) -> int:
    """Return the place of the best candidate that says so, else of one that says neither, else the first."""
    said = [addresses(text) for text, _ in candidates]
    wanted = [{formality}, set()] if _OTHER[formality] in said[0] else []
    return next((said.index(one) for one in wanted if one in said), 0)


def _cost(candidates: Sequence[tuple[str, float]], formality: str) -> float:
    """Return how many nats the candidate at that place costs."""
    place, best = _place(candidates, formality), candidates[0][1]
    if _OTHER[formality] in addresses(candidates[place][0]):
        return best - candidates[-1][1] + _WORSE
    return best - candidates[place][1]
