"""Acronyms of English and French: the WHO is l'OMS. A model that has read few of them garbles them.

In place of one it reads a word that it knows and that has the same articles in French and in English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_ACRONYMS = {  # by kind, in English and French; one word is both
    "the, le": "FBI, ICRC CICR, IMF FMI, IOC CIO, IPCC GIEC, UNDP PNUD, UNHCR HCR, WFP PAM",
    "the, la": "BBC, CIA, DRC RDC, ECB BCE, ECHR CEDH, EIB BEI, FRG RFA, GDR RDA, ICC CPI, ICJ CIJ, ISS",
    "the, l'": "EEC CEE, EU UE, IAEA AIEA, ILO OIT, OAU OUA, OECD OCDE, PLO OLP, UN ONU, USSR URSS, WHO OMS, WTO OMC",
    "le": "ADHD TDAH, AIDS sida, GDP PIB, GNP PNB, HIV VIH, LNG GNL, PTSD TSPT",
    "la": "FIFA, IVF FIV, NASA, VAT TVA",
    "l'": "DNA ADN, NATO OTAN, OPEC OPEP, RNA ARN, UEFA, UNESCO, UNICEF",
    "un": "CEO PDG, DVD, GMO OGM, GPS, PDF, SUV",
    "un, l'": "UFO OVNI",
    "une": "LED, SME PME, STD MST, STI IST",
    "une, l'": "MRI IRM, NGO ONG",
}
STAND_INS = {  # of each kind, and of the plural of those that are counted: in English and French
    "the, le": (("museum", "musée"), ("king", "roi")),
    "the, la": (("bank", "banque"), ("city", "ville")),
    "the, l'": (("army", "armée"), ("church", "église")),
    "le": (("Canada", "Canada"), ("Japan", "Japon")),
    "la": (("France", "France"), ("China", "Chine")),
    "l'": (("Europe", "Europe"), ("Africa", "Afrique")),
    "un": (("book", "livre"), ("dog", "chien")),
    "un, l'": (("tree", "arbre"), ("bird", "oiseau")),
    "une": (("letter", "lettre"), ("house", "maison")),
    "une, l'": (("school", "école"), ("idea", "idée")),
    "des": (("books", "livres"), ("trees", "arbres"), ("letters", "lettres"), ("schools", "écoles")),
}
_IN_BRACKETS = {"en": {"AI": "IA"}, "fr": {"IA": "AI"}}  # elsewhere they are read in full
_WORDS = {"OK", "TV", "UK", "US", "USA"}  # that a model may translate
_PLURAL = re.compile(
    r"\b(?:[lcdmst]es|[nv]os|aux|leurs|deux|trois|quatre|cinq|plusieurs|quelques|[02-9]|\d+\d) \Z", re.IGNORECASE
)
_CAPITALS = re.compile(r"(?<![\w.&/@#-])[A-Z]{2,6}s?(?![\w&@/]|[-.]\w)")
_VOWEL_SOUND = re.compile(r"(?!FIFA|NASA|NATO)[AEFHILMNORSX]")  # with which the English names of letters begin
_WITH_ARTICLE = {"le": ("au ", "du "), "la": ("à la ", "de la "), "l'": ("à l'", "de l'")}  # not "en", "de"


class Acronym(NamedTuple):
    """What a text has in capitals.

    Attributes:
        start: Where it begins.
        text: It itself, with the "s" of a plural.
        kind: One of `STAND_INS`, or "word" if nothing is known of it.
        translation: What a translation has for it.
    """

    start: int
    text: str
    kind: str
    translation: str


def find_acronyms(text: str, src_lang: str) -> Iterator[Acronym]:
    """Yield what is known of an English or French text, and what it has alone in brackets; nothing in one in capitals.

    >>> [one[1:] for one in find_acronyms("WHO knows? The WHO knows NGOs (DFID).", "en")]
    [('WHO', "the, l'", 'OMS'), ('NGOs', 'des', 'ONG'), ('DFID', 'word', 'DFID')]
    >>> [one[1:] for one in find_acronyms("Le PIB des ONG", "fr")]
    [('PIB', 'le', 'GDP'), ('ONG', 'des', 'NGOs')]
    """
    if text.isupper():
        return
    for match in _CAPITALS.finditer(text):
        own, start, end = match[0], match.start(), match.end()
        in_brackets = text[start - 1 : start] == "(" and text[end : end + 1] == ")"
        kind, translation = _KNOWN[src_lang].get(own, ("", ""))
        if in_brackets and own not in _WORDS:
            yield Acronym(start, own, "word", translation or _IN_BRACKETS[src_lang].get(own, own))
        elif kind and src_lang == "fr" and kind.startswith("un") and _PLURAL.search(text, max(0, start - 12), start):
            yield Acronym(start, own, "des", f"{translation}s")
        elif kind and (own != "WHO" or text[:start].lower().endswith("the ")):
            yield Acronym(start, own, kind, translation)


def with_articles(text: str, acronym: str, kind: str, tgt_lang: str) -> str:
    """Return an English or French translation with the articles of its acronym in place of those of a stand-in.

    >>> with_articles("He runs a NGO", "NGO", "une, l'", "en")
    'He runs an NGO'
    >>> with_articles("Le chef d'OTAN va en OTAN", "OTAN", "l'", "fr")
    "Le chef de l'OTAN va à l'OTAN"
    """
    if tgt_lang == "en":
        article = r"\1n" if _VOWEL_SOUND.match(acronym) else r"\1"
        return re.sub(rf"\b([Aa])n?(?= {acronym}\b)", article, text)
    if kind not in _WITH_ARTICLE:
        return text
    at, of = _WITH_ARTICLE[kind]
    return re.sub(rf"\b(?:en |d(?:e |'))(?={acronym}\b)", lambda match: at if match[0] == "en " else of, text)


def _known(column: int) -> dict[str, tuple[str, str]]:
    """Return kinds and translations of the acronyms of a language, and of their English plurals."""
    known = {}
    for kind, rows in _ACRONYMS.items():
        for row in rows.split(", "):
            words = row.split()
            own, translation = (words[0], words[-1])[:: -1 if column else 1]
            known[own] = kind, translation
            if not column and kind.startswith("un"):
                known[f"{own}s"] = "des", translation
    return known


_KNOWN = {"en": _known(0), "fr": _known(1)}
