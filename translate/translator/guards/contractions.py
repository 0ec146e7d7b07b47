"""Words that people type as they speak, or without their apostrophes: "dont", "gimme", "sooo", "jai"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from translate.translator.guards.abbreviations import in_full

_CONTRACTIONS = (  # whose letters are no other word, as those of "it's", "we'll" and "we're" are
    "aren't couldn't didn't doesn't don't hadn't hasn't haven't he's here's how's I'm I've isn't she's shouldn't "
    "that's there's they're they've wasn't weren't what's where's who's wouldn't you're you've"
)
_ENGLISH = {word.replace("'", "").lower(): word for word in _CONTRACTIONS.split()} | {
    "c'mon": "come on",
    "gimme": "give me",
    "lemme": "let me",
    "whatcha": "what are you",
    "y'all": "you all",
}
_FRENCH = {
    "aujourdhui": "aujourd'hui",
    "cest": "c'est",
    "cetait": "c'était",
    "cétait": "c'était",
    "daccord": "d'accord",
    "jai": "j'ai",
    "jaime": "j'aime",
    "jarrive": "j'arrive",
    "javais": "j'avais",
    "jétais": "j'étais",
    "jsais": "je sais",
    "jt'aime": "je t'aime",
    "yavait": "il y avait",
}
_LENGTHENED = re.compile(  # "sooo", and not "hmmm", "zzzz", "xviii", "Schifffahrt"
    r"(?<![\w/@#*.'`])(?!(?i:ieee|[ivxlcdm]+)\b)(?=\w*(?i:[aeiouyàâéèêô]))(?!(\w)\1+\b)(?!\w*(?:fff|nnn|sss)[a-z])"
    r"(?:(?=\w*([^\W\d_])\2\2)[A-ZÀ-Þ]?[a-zß-öø-ÿœ]{3,}|(?=\w*([A-ZÀ-Þ])\3\3\3)[A-ZÀ-Þ]{4,})(?![\w/@*]|\.\w)"
)
WORD = r"\w+(?:['-]\w+)*"  # or several that are joined
_SINGLE = re.compile(WORD)
_MANY_LETTERS = re.compile(r"([^\W\d_])\1\1+", re.IGNORECASE)
_MANY_MARKS = re.compile(r"[!?]{4,}")
_DOUBLED = (  # words that people lengthen where they have two of a letter
    "agree all ball been belle bill boo boss call class cool dress elle feel feet fell food free full good goodbye "
    "green hell hello homme kiss less look mess miss mood moon need off pass please pomme pull really room see sleep "
    "small soon still sweet tell three too tree week well will yell yellow zoo"
)
_FULL = {"en": _ENGLISH, "fr": _FRENCH}
_WORDS = {  # before a capital they may be names: Jai Courtney, "Gimme Shelter"
    lang: re.compile(rf"(?<![\w/@#*.'’-])(?i:{'|'.join(words)})(?![\w/@*'’-]|\.\w| [A-ZÀ-Þ]| alai\b)")
    for lang, words in _FULL.items()
}
_BEGIN = (  # of a clause
    r"(?:\A|(?<=[.!?:,-] )|(?<=\b(?i:ok|so|if) )|(?<=\b(?i:and|but|now|yes|hey) )"
    r"|(?<=\b(?i:then|well|okay|sure|hope) )|(?<=\bthink ))"
)
_BEGIN_OF_SENTENCE = r"(?:\A|(?<=[.!?] )|(?<=\b(?i:ok) )|(?<=\b(?i:yes|hey) )|(?<=\b(?i:okay) ))"
_PERSONS = r"(?:\A|(?<=[.,!?] )|(?<=\b(?i:i|u) )|(?<=\b(?i:we|he|it) )|(?<=\b(?i:you|she) )|(?<=\b(?i:they) ))"
_OF_SOMEBODY = r"(?<!\b(?:his|her|its|our|was|are) )(?<!\b(?:their) )(?<!\b(?:your|were) )(?<!\b(?:my|is) )(?<!['’]s )"
_NO_LETTER = r"(?![\w-]| (?:are|converges?|denotes?|is|means?)\b| ?[<>≤≥=])"  # "where s is the length"
_VERBS = (
    "ask|be|begin|call|come|do|eat|find|get|give|go|have|help|keep|leave|let|look|make|meet|move|pay|play|see|send|start"
    "|stay|stop|take|talk|tell|think|try|wait|watch|write"
)
_NEGATED = "(?i:are|ca|could|did|does|do|had|has|have|is|should|was|were|wo|would)n"
_PATTERNS = {
    "en": (
        (re.compile(rf"\b({_NEGATED}) t\b"), r"\1't"),
        (re.compile(rf"{_PERSONS}([Cc])ant(?![\w@/'’-]|\.\w| of\b)"), r"\1an't"),
        (re.compile(rf"{_OF_SOMEBODY}\b([Ww])ont(?= (?!to\b)[a-z])"), r"\1on't"),
        (re.compile(r"\bIm (?=[a-z])"), "I'm "),
        (re.compile(rf"{_BEGIN}Ive (?=[a-z])"), "I've "),
        (re.compile(r"(?<![\w'’])'[Cc]ause\b(?! (?:of|and|célèbre)\b)(?![^'’]*['’](?!\w))"), "because"),
        (re.compile(rf"(?<!\b[Ss]uch )\b((?i:he|it|she|that|there|what|where|who)) s{_NO_LETTER}"), r"\1's"),
        (re.compile(rf"(?<!\b[Ll]et )\b([Ii]) (m|ve|ll){_NO_LETTER}"), r"\1'\2"),
        (re.compile(r"\b((?i:they|we|you)) (re|ve|ll)(?![\w-])"), r"\1'\2"),
        (re.compile(rf"{_BEGIN_OF_SENTENCE}([Ll])ets (?={_VERBS}\b|not\b)"), r"\1et's "),
        (re.compile(rf"{_BEGIN}[Ii]ll (?={_VERBS}\b|not\b|never\b|always\b)"), "I'll "),
        (
            re.compile(
                rf"(?:{_BEGIN_OF_SENTENCE}|(?<=\b(?:think|guess) ))[Ii]d (?=be\b|like\b|love\b|rather\b|prefer\b|say\b)"
            ),
            "I'd ",
        ),
        (
            re.compile(
                rf"{_BEGIN_OF_SENTENCE}([Ii])ts (?=(?:an?|the|ok|okay|too|been|my|your|raining|snowing)\b"
                r"|(?:not|so)\b(?!-)|time to\b|late(?:\s?[.,!?]|\Z))"
            ),
            r"\1t's ",
        ),
        (re.compile(r"\b([Ii])ts (?=(?:ok|okay)(?:\s*[.,!?]|\Z))"), r"\1t's "),
        (re.compile(r"\b(I|[Yy]ou|[Ww]e|[Tt]hey)(?:['’]ve)? gotta\b"), r"\1 have to"),
        (re.compile(r"\b([HhSs]?[Hh]e|[Ii]t)(?:['’]s)? gotta\b"), r"\1 has to"),
        (re.compile(r"(?:\A|(?<=[.!?] ))[Gg]otta\b"), "I have to"),
        (re.compile(r"\b(?:I )?[Dd]unno\b"), "I don't know"),
        (re.compile(r"\b([Kk])inda\b"), r"\1ind of"),
    ),
    "fr": (
        (re.compile(r"\b([Yy])a (?=(?:de|des|du|un|une|pas|rien|personne|trop|\d+)\b)"), "il y a "),
        (re.compile(r"\b([Bb])on we\b"), r"\1on week-end"),
        (re.compile(r"(?:\A|(?<=, ))[Àà](?: plus| ?\+)(?=\s?[.!]*\Z)"), "à plus tard"),
        (re.compile(r"(?:\A|(?<=, ))a(?: plus| ?\+)(?=\s?[.!]*\Z)"), "à plus tard"),
        (re.compile(r"\AA\+(?=\s?[.!]*\Z)"), "à plus tard"),
        (re.compile(r"(?:\A|(?<=, ))[ÀAàa] tte\b"), "à tout de suite"),
        (re.compile(r"(?:\A|(?<=[.!,] ))[Tt]['’]inquiète(?: pas)?(?=\s?[.!,]|\Z)"), "ne t'inquiète pas"),
    ),
}


def plain_contractions(text: str, src_lang: str) -> str:
    """Return English or French text as it would be written with care; one in lower case stays so.

    >>> plain_contractions("Dont worry, ill be there. Its late. Gotta go!", "en")
    "Don't worry, I'll be there. It's late. I have to go!"
    >>> plain_contractions("Heyyy, thats sooo coool!!!!!!", "en")
    "Hey, that's so cool!!!"
    >>> plain_contractions("Jai faim, cest dur. Bon we, à +", "fr")
    "J'ai faim, c'est dur. Bon week-end, à plus tard"
    """
    text = _MANY_MARKS.sub(_few_marks, _LENGTHENED.sub(_shortened, text))
    plain = with_words(text, _WORDS[src_lang], _FULL[src_lang])
    for pattern, words in _PATTERNS[src_lang]:
        plain = pattern.sub(partial(expanded, words), plain)
    return plain.lower() if text.islower() else plain


def with_words(text: str, pattern: re.Pattern[str], words: Mapping[str, str]) -> str:
    """Return a text with others in place of words in lower case, or with a capital at the beginning of a sentence.

    Args:
        text: Any text.
        pattern: Where the words, or any words, are in it; slow, so it is only asked for a text that has some.
        words: By those in lower case.
    """
    if words.keys().isdisjoint(_SINGLE.findall(text.lower())):
        return text

    def replaced(match: re.Match[str]) -> str:
        word = words.get(match[0].lower())
        return match[0] if word is None else in_full(match, word)

    return pattern.sub(replaced, text)


def _shortened(match: re.Match[str]) -> str:
    """Return a word without letters that lengthen it."""
    double = _MANY_LETTERS.sub(r"\1\1", match[0])
    return double if double.lower() in _DOUBLED.split() else _MANY_LETTERS.sub(r"\1", match[0])


def _few_marks(match: re.Match[str]) -> str:
    return "?!" if len({*match[0]}) > 1 else match[0][:3]


def expanded(words: str, match: re.Match[str]) -> str:
    """Return words, a template of `re`, with a capital if what they stand for has one."""
    return _in_case(match, match.expand(words))


def _in_case(match: re.Match[str], words: str) -> str:
    """Return words with a capital if what they stand for has one."""
    return words[0].upper() + words[1:] if match[0].strip("'’")[0].isupper() else words
