"""Acronyms of English and French: the WHO is l'OMS. A model that has read few of them garbles them.

Some it reads in full, as "human resources" for HR. Where it has lost one that has its own in the other language, it
reads a word that it knows and that has the same articles in French and in English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from translate.translator.guards.abbreviations import in_case

_IN_FULL = {
    "en": {
        "AI": "artificial intelligence",
        "CFO": "financial director",
        "CTO": "technical director",
        "ER": "emergency room",
        "HR": "human resources",
        "ICU": "intensive care unit",
        "NYC": "New York",
        "TBA": "to be announced",
        "TBC": "to be confirmed",
        "TBD": "to be determined",
        "UAE": "United Arab Emirates",
        "UK": "United Kingdom",
        "U.K.": "United Kingdom",
    },
    "fr": {
        "BD": "bande dessinée",
        "CB": "carte bancaire",
        "CDD": "contrat temporaire",
        "CDI": "contrat permanent",
        "DAB": "distributeur de billets",
        "DRH": "directeur des ressources humaines",
        "HLM": "logement social",
        "IA": "intelligence artificielle",
        "JO": "Jeux olympiques",
        "QG": "quartier général",
        "RIB": "coordonnées bancaires",
        "R.-U.": "Royaume-Uni",
        "SAV": "service après-vente",
        "SDF": "sans-abri",
        "É.-U.": "États-Unis",
    },
}
_UNLESS = {  # texts in which they stand for something else
    "CDI": re.compile(r"\bCDI du (?:collège|lycée)|\bau CDI\b"),
    "DRH": re.compile(r"\b[Ll]a DRH"),
    "ER": re.compile(r"(?<!\bthe )(?<!\bThe )ER"),
    "HLM": re.compile("['’]HLM"),
    "HR": re.compile(r"\d HR|HR \d"),
    "JO": re.compile(r"\b[Aa]u JO|\b[Ll]e JO|\b[Dd]u JO"),
}
_TO_READ = {
    lang: re.compile(rf"(?<![\w(./@#&-])(?:{'|'.join(map(re.escape, words))})(?![\w)/@&+-]|\.\w| [A-Z])")
    for lang, words in _IN_FULL.items()
}
_IN_NAME = {  # Mistral AI; le stade IA
    "en": re.compile(
        r"(?!(?:The|This|That|Our|My|Your|An|Any|Each|Some|What|If|When|Can|Will|Does|Is|Has|How|Why|With|For|In|By|Of|To|And"
        r"|But|So|Using|Use)\b)\b[A-Z][\w-]+ \Z"
    ),
    "fr": re.compile(
        r"\b(?:stade|type|classe|grade|groupe|niveau) \Z"
        r"|(?!(?:[LDMTSC]es|[LMTS]a|[LC]e|[MTS]on|[NV]otre|Une?|Au|Du|Cette|Leur|Quelle?|Avec|Par|En|Sans|Sur|Chaque)\b)"
        r"\b[A-Z][\w-]+ \Z"
    ),
}
_OF_STATES = (  # nouns, before which "US" and "UK" are adjectives; "the US army" is known
    "army|ban|banks?|border|budget|central|citizens?|citizenship|compan(?:y|ies)|congress|courts?|debt|delivery|dollars?"
    "|economy|elections?|embass(?:y|ies)|exports?|firms?|forces|foreign|government|imports?|inflation|jobs?|laws?|leaders?"
    "|markets?|media|military|navy|officials?|parliament|passports?|police|politics|prices|president|presidential|press"
    "|prime|sanctions|senators?|soldiers?|stocks?|tariffs?|tax(?:es)?|teams?|tour|trade|troops|visas?|voters|weapons"
)
_OF_COMPUTERS = (
    "company|consultant|department|expert|industry|manager|sector|security|service|skill|specialist|staff|support|system"
    "|team|worker"
)
_ADJECTIVES = (
    (re.compile(rf"\b([Aa]) (?:US|U\.S\.)(?= (?:{_OF_STATES})\b)"), r"\1n American"),
    (re.compile(rf"(?<![\w./])(?<!\b[Tt]he )(?:US|U\.S\.)(?= (?:{_OF_STATES})\b)"), "American"),
    (re.compile(rf"(?<![\w./])(?:UK|U\.K\.)(?= (?:{_OF_STATES})\b)"), "British"),
    (re.compile(rf"(?<!\w)IT(?= (?:{_OF_COMPUTERS})s?\b)"), "computer"),
    (re.compile(r"(?<=\b[Ii]n )IT(?= and\b|[.,;!?]|\Z)"), "computing"),
    (re.compile(r"(?<=\b[Ii]n )LA(?= and\b|[.,;!?]|\Z)"), "Los Angeles"),
)
_ACRONYMS = {  # by kind, in English and French; one word is both
    "the, le": "FBI, ICRC CICR, IMF FMI, IOC CIO, IPCC GIEC, UNDP PNUD, UNHCR HCR, WFP PAM",
    "the, la": "BBC, CIA, DRC RDC, ECB BCE, ECHR CEDH, EIB BEI, FRG RFA, GDR RDA, ICJ CIJ, ISS",
    "the, l'": "EEC CEE, EU UE, IAEA AIEA, ILO OIT, OAU OUA, OECD OCDE, PLO OLP, UN ONU, USSR URSS, WHO OMS, WTO OMC",
    "le": "ADHD TDAH, AIDS SIDA, GDP PIB, GNP PNB, HIV VIH, LNG GNL, PTSD TSPT",
    "le, no name": "CSS, HTML, HTTP, JSON, PHP, SQL, XML",
    "la": "FIFA, NASA",
    "la, no name": "COPD BPCO, IVF FIV, RAM, VAT TVA",
    "l'": "NATO OTAN, OPEC OPEP, UEFA, UNESCO, UNICEF",
    "l', no name": "DNA ADN, RNA ARN",
    "un": "CEO PDG, DVD, GMO OGM, GPS, PDF, SUV",
    "un, l'": "UFO OVNI",
    "une": "LED, SME PME, STD MST, STI IST",
    "une, l'": "API, MRI IRM, NGO ONG, URL",
}
STAND_INS = {  # of each kind, and of the plural of those that are counted: in English and French
    "the, le": (("museum", "musée"), ("king", "roi")),
    "the, la": (("bank", "banque"), ("city", "ville")),
    "the, l'": (("army", "armée"), ("church", "église")),
    "le": (("Canada", "Canada"), ("Japan", "Japon")),
    "le, no name": (("wood", "bois"), ("wine", "vin")),
    "la": (("France", "France"), ("China", "Chine")),
    "la, no name": (("music", "musique"), ("meat", "viande")),
    "l'": (("Europe", "Europe"), ("Africa", "Afrique")),
    "l', no name": (("money", "argent"), ("air", "air")),
    "un": (("book", "livre"), ("dog", "chien")),
    "un, l'": (("tree", "arbre"), ("bird", "oiseau")),
    "une": (("letter", "lettre"), ("house", "maison")),
    "une, l'": (("school", "école"), ("idea", "idée")),
    "des": (("books", "livres"), ("trees", "arbres"), ("letters", "lettres"), ("schools", "écoles")),
}
_IN_BRACKETS = {  # elsewhere they are read in full
    "en": {"AI": "IA", "HR": "RH", "UAE": "EAU"},
    "fr": {"IA": "AI", "RH": "HR", "EAU": "UAE"},
}
_WORDS = re.compile(  # that a model may translate
    "AD|AM|BC|END|FIN|FREE|HT|IT|NEW|NON?|NOT|OFF|OK|OLD|ON|ONLY|OR|OUI|OUT|PM|SUITE|TTC|TV|UK|USA?|YES"
)
_TYPED = {  # those that in lower case are neither words nor names, nor mostly something else
    "en": "adhd api apis bbc ceo ceos cia css dna dvd dvds fbi gdp gps hiv html http imf json mri nasa nato ngo ngos"
    " oecd opec pdf pdfs php ptsd rna sql suv suvs uefa ufo ufos unesco unhcr unicef url urls ussr wto xml",
    "fr": "adn api arn bbc bce bpco cia css dvd fbi fmi gps html http irm json nasa ocde ogm oms omc ong onu otan ovni"
    " pdf pdg php pib pme sql suv tdah tva uefa unesco unicef url urss vih xml",
}
_ONLY_BEHIND = {  # is also a name: Mr Ngo
    "ngo": re.compile(r"\b(?:an?|the|this|that|each|every|our|your|their|local|international) \Z", re.IGNORECASE),
    "ong": re.compile(
        r"(?:\b[ld]['’]|\b(?:une|des|les|cette|ces|notre|nos|votre|vos|leurs?|aux|deux|trois|plusieurs|grandes?) )\Z",
        re.IGNORECASE,
    ),
}
_PLURAL = re.compile(
    r"\b(?:[lcdmst]es|[nv]os|aux|leurs|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|douze|vingt|cents?|mille|plusieurs"
    r"|quelques|certaine?s|diverse?s|nombreu(?:x|ses)|toute?s|[02-9]|\d+\d)(?: [\w-]+[sx])? \Z",
    re.IGNORECASE,
)
_BEFORE = 30  # characters before an acronym that tell its number
_CAPITALS = re.compile(r"(?<![\w.&/@#-])[A-Z]{2,6}s?(?![\w&@/]|[-.]\w)")
_VOWEL_SOUND = re.compile(r"(?!FIFA|NASA|NATO|RAM)[AEFHILMNORSX]")  # with which the English names of letters begin
_WITH_ARTICLE = {"la": ("à la ", "de la "), "l'": ("à l'", "de l'")}  # not "en", "de"


class Acronym(NamedTuple):
    """An acronym of a text.

    Attributes:
        start: Where it begins.
        text: It itself, with the "s" of a plural; in lower case if it stands so.
        kind: One of `STAND_INS`, or "word" if nothing is known of it.
        translation: What a translation has for it.
    """

    start: int
    text: str
    kind: str
    translation: str


def plain_acronyms(text: str, src_lang: str) -> str:
    """Return English or French text with some acronyms in full, and English ones that are adjectives as adjectives.

    >>> plain_acronyms("HR in the UK: UK laws, AI", "en")
    'Human resources in the United Kingdom: British laws, artificial intelligence'
    >>> plain_acronyms("Le SAV des JO", "fr")
    'Le service après-vente des Jeux olympiques'
    """
    for pattern, words in _ADJECTIVES if src_lang == "en" else ():
        text = pattern.sub(words, text)
    return _TO_READ[src_lang].sub(partial(_read_in_full, src_lang), text)


def _read_in_full(src_lang: str, short: re.Match[str]) -> str:
    """Return what an acronym stands for, unless it is part of a name or the text says it itself."""
    words, text, place = _IN_FULL[src_lang][short[0]], short.string, (max(0, short.start() - _BEFORE), short.start())
    other_number = src_lang == "fr" and not words.endswith("s") and _PLURAL.search(text, *place)
    unless = _UNLESS.get(short[0])
    if (
        words.lower() in text.lower()
        or other_number
        or _IN_NAME[src_lang].search(text, *place)
        or (unless and unless.search(text))
    ):
        return short[0]
    ends = short[0].endswith(".") and short.end() == len(text)
    return in_case(short, f"{words}." if ends else words)


def find_acronyms(text: str, src_lang: str) -> Iterator[Acronym]:
    """Yield what is known of an English or French text, and what it has alone in brackets; nothing in one in capitals.

    Those that do not look like ordinary words are also found in lower case, as people type them.

    >>> [one[1:] for one in find_acronyms("WHO knows? The WHO knows NGOs (DFID).", "en")]
    [('WHO', "the, l'", 'OMS'), ('NGOs', 'des', 'ONG'), ('DFID', 'word', 'DFID')]
    >>> [one[1:] for one in find_acronyms("Le PIB des ONG", "fr")]
    [('PIB', 'le', 'GDP'), ('ONG', 'des', 'NGOs')]
    >>> [one[1:] for one in find_acronyms("who leads the who and ngos?", "en")]
    [('ngos', 'des', 'ong')]
    """
    if text.isupper():
        return
    for match in _CAPITALS.finditer(text):
        own, start, end = match[0], match.start(), match.end()
        in_brackets = text[start - 1 : start] == "(" and text[end : end + 1] == ")"
        kind, translation = _KNOWN[src_lang].get(own, ("", ""))
        if in_brackets and not _WORDS.fullmatch(own):
            counted = src_lang == "fr" and kind.startswith("un")
            several = counted and text[start - 3 : start - 2] in ("s", "x")  # petites et moyennes entreprises (PME)
            known = translation or _IN_BRACKETS[src_lang].get(own, own)
            yield Acronym(start, own, "word", f"{known}s" if several else known)
        elif kind and (own != "WHO" or text[:start].lower().endswith("the ")):
            yield _numbered(match, src_lang, kind, translation)
    for match in _IN_LOWER_CASE[src_lang].finditer(text):
        own, start = match[0], match.start()
        behind = _ONLY_BEHIND.get(own)
        if behind is None or behind.search(text, max(0, start - _BEFORE), start):
            kind, translation = _LOWER[src_lang][own]
            yield _numbered(match, src_lang, kind, translation.lower() if text.islower() else translation)


def _numbered(match: re.Match[str], src_lang: str, kind: str, translation: str) -> Acronym:
    """Return a known acronym, as a plural if it is a French one behind a plural."""
    text, start = match.string, match.start()
    if src_lang == "fr" and kind.startswith("un") and _PLURAL.search(text, max(0, start - _BEFORE), start):
        kind, translation = "des", translation if translation[-1] in "sS" else f"{translation}s"
    return Acronym(start, match[0], kind, translation)


def lacks_article(output: str, acronym: Acronym, tgt_lang: str) -> bool:
    """Return whether a French translation begins with a name that needs its article: "NASA lancé une fusée".

    >>> nasa = Acronym(0, "NASA", "la", "NASA")
    >>> [lacks_article(text, nasa, "fr") for text in ("NASA lance", "La NASA lance", "NASA : le budget")]
    [True, False, False]
    """
    if tgt_lang != "fr" or acronym.kind not in _WITH_ARTICLE:
        return False
    return re.match(rf"{acronym.translation} [a-zà-ÿ]", output) is not None


def with_articles(text: str, acronym: str, kind: str, tgt_lang: str) -> str:
    """Return an English or French translation with the articles of its acronym in place of those of a stand-in.

    >>> with_articles("He runs a NGO", "NGO", "une, l'", "en")
    'He runs an NGO'
    >>> with_articles("Le chef d'OTAN va en OTAN", "OTAN", "l'", "fr")
    "Le chef de l'OTAN va à l'OTAN"
    """
    if tgt_lang == "en":
        article = r"\1n" if _VOWEL_SOUND.match(acronym.upper()) else r"\1"
        return re.sub(rf"(?<!itis )(?<!vitamin )\b([Aa])n?(?= {acronym}\b)", article, text)
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
_LOWER = {
    lang: {own.lower(): of for own, of in known.items() if own.lower() in _TYPED[lang].split()}
    for lang, known in _KNOWN.items()
}
_IN_LOWER_CASE = {
    lang: re.compile(rf"(?<![\w.:&/\\@#-])(?:{'|'.join(known)})(?![\w&@/\\]|[-.]\w|:[/:])")
    for lang, known in _LOWER.items()
}
