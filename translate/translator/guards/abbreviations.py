"""Abbreviations of messages, notices and letters, written out, as models have read little that is abbreviated."""

from __future__ import annotations

import re
from collections.abc import Iterable

from translate.translator.guards.dates import MONTH_BEGINNINGS, from_to

_ENGLISH = {
    "2moro": "tomorrow",
    "2nite": "tonight",
    "abt": "about",
    "afaik": "as far as I know",
    "appt": "appointment",
    "appts": "appointments",
    "asap": "as soon as possible",
    "b/c": "because",
    "b4": "before",
    "bcos": "because",
    "bcuz": "because",
    "bcz": "because",
    "bday": "birthday",
    "becuz": "because",
    "brb": "I'll be right back",
    "btw": "by the way",
    "btwn": "between",
    "c u": "see you",
    "coz": "because",
    "cul8r": "see you later",
    "cuz": "because",
    "cya": "see you",
    "deffo": "definitely",
    "every1": "everyone",
    "frnd": "friend",
    "frnds": "friends",
    "fwiw": "for what it's worth",
    "fyi": "for your information",
    "g2g": "I have to go",
    "gnite": "good night",
    "gr8": "great",
    "gtg": "I have to go",
    "hbd": "happy birthday",
    "hbu": "and you",
    "hmu": "contact me",
    "hrs": "hours",
    "hru": "how are you",
    "icymi": "in case you missed it",
    "idc": "I don't care",
    "idk": "I don't know",
    "iirc": "if I remember correctly",
    "ikr": "I know, right",
    "ilysm": "I love you so much",
    "imho": "in my opinion",
    "imo": "in my opinion",
    "irl": "in real life",
    "jk": "just kidding",
    "l8r": "later",
    "lmao": "lol",
    "lmk": "let me know",
    "luv": "love",
    "mins": "minutes",
    "msg": "message",
    "msgs": "messages",
    "nbd": "no big deal",
    "ngl": "I'm not going to lie",
    "np": "no problem",
    "nvm": "never mind",
    "nvmd": "never mind",
    "obvs": "obviously",
    "omfg": "oh my God",
    "omg": "oh my God",
    "omw": "on my way",
    "otoh": "on the other hand",
    "pcs": "pieces",
    "pls": "please",
    "plz": "please",
    "ppl": "people",
    "r u": "are you",
    "rn": "right now",
    "rofl": "lol",
    "secs": "seconds",
    "smth": "something",
    "some1": "someone",
    "soz": "sorry",
    "srsly": "seriously",
    "sry": "sorry",
    "sth": "something",
    "tbf": "to be fair",
    "tbh": "to be honest",
    "thanx": "thanks",
    "thks": "thanks",
    "thnx": "thanks",
    "thx": "thanks",
    "tmi": "too much information",
    "tmrrw": "tomorrow",
    "tmrw": "tomorrow",
    "ttyl": "talk to you later",
    "ty": "thank you",
    "tysm": "thank you so much",
    "u": "you",
    "u r": "you are",
    "u'll": "you'll",
    "u're": "you're",
    "u've": "you've",
    "ur": "your",
    "urself": "yourself",
    "w/o": "without",
    "wbu": "what about you",
    "wdym": "what do you mean",
    "wdyt": "what do you think",
    "wknd": "weekend",
    "wks": "weeks",
    "wyd": "what are you doing",
    "yr": "year",
    "yrs": "years",
    "yw": "you're welcome",
}
_FRENCH = {
    "2m1": "demain",
    "a2m1": "à demain",
    "ado": "adolescent",
    "ados": "adolescents",
    "ajd": "aujourd'hui",
    "ajrd": "aujourd'hui",
    "anniv": "anniversaire",
    "aprem": "après-midi",
    "aprèm": "après-midi",
    "askip": "à ce qu'il paraît",
    "auj": "aujourd'hui",
    "aujd": "aujourd'hui",
    "bcp": "beaucoup",
    "bi1": "bien",
    "bjour": "bonjour",
    "bjr": "bonjour",
    "bnjr": "bonjour",
    "bsoir": "bonsoir",
    "bsr": "bonsoir",
    "cdlt": "cordialement",
    "chui": "je suis",
    "chuis": "je suis",
    "ciné": "cinéma",
    "clim": "climatisation",
    "cmnt": "comment",
    "cpdt": "cependant",
    "càd": "ce qui veut dire",
    "d'ac": "d'accord",
    "d'acc": "d'accord",
    "dac": "d'accord",
    "dakor": "d'accord",
    "dico": "dictionnaire",
    "dispo": "disponible",
    "dsl": "désolé",
    "dsolé": "désolé",
    "dzl": "désolé",
    "j'suis": "je suis",
    "jpp": "je n'en peux plus",
    "jrs": "jours",
    "jsp": "je ne sais pas",
    "jspr": "j'espère",
    "jsuis": "je suis",
    "jtdr": "je t'adore",
    "jtm": "je t'aime",
    "kdo": "cadeau",
    "ke": "que",
    "mdp": "mot de passe",
    "mrci": "merci",
    "msg": "message",
    "msgs": "messages",
    "mtn": "maintenant",
    "mtnt": "maintenant",
    "nrv": "énervé",
    "nvelle": "nouvelle",
    "osef": "on s'en fiche",
    "parce q": "parce que",
    "pblm": "problème",
    "pck": "parce que",
    "pcke": "parce que",
    "pcq": "parce que",
    "pcque": "parce que",
    "pdt": "pendant",
    "petit-dej": "petit déjeuner",
    "petit-déj": "petit déjeuner",
    "pkoi": "pourquoi",
    "ptdr": "mdr",
    "ptet": "peut-être",
    "ptetre": "peut-être",
    "ptit-déj": "petit déjeuner",
    "qd": "quand",
    "qlqn": "quelqu'un",
    "qlqun": "quelqu'un",
    "qq1": "quelqu'un",
    "qqc": "quelque chose",
    "qqch": "quelque chose",
    "qqchose": "quelque chose",
    "qqn": "quelqu'un",
    "qqs": "quelques",
    "qqun": "quelqu'un",
    "rdv": "rendez-vous",
    "slt": "salut",
    "stp": "s'il te plaît",
    "stpl": "s'il te plaît",
    "stplait": "s'il te plaît",
    "stplé": "s'il te plaît",
    "svp": "s'il vous plaît",
    "tfq": "tu fais quoi",
    "tjours": "toujours",
    "tjr": "toujours",
    "tjrs": "toujours",
    "tjs": "toujours",
    "tkt": "ne t'inquiète pas",
    "tlm": "tout le monde",
    "tqt": "ne t'inquiète pas",
    "trkl": "tranquille",
    "tt le": "tout le",
    "tt le monde": "tout le monde",
    "tte la": "toute la",
    "ttes": "toutes",
    "vrmnt": "vraiment",
    "vrmt": "vraiment",
    "wknd": "week-end",
}
ENGLISH_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_FRENCH_DAYS = ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"]
_DAYS = {day[:3].lower(): day for day in [*ENGLISH_DAYS, *_FRENCH_DAYS]}
_ENGLISH_SHORT_DAYS = ("Mon", "Tue", "Tues", "Wed", "Thu", "Thurs", "Fri", "Sat", "Sun")
_WITH_STOP = {
    "en": {
        "approx.": "approximately",
        "dept.": "department",
        **{f"{short}.": _DAYS[short[:3].lower()] for short in _ENGLISH_SHORT_DAYS},
    },
    "fr": {
        "av. J.-C.": "avant Jésus-Christ",
        "ap. J.-C.": "après Jésus-Christ",
        "apr. J.-C.": "après Jésus-Christ",
        "env.": "environ",
        "p. ex.": "par exemple",
        "pers.": "personnes",
        "tél.": "téléphone",
    },
}
_DAY = r"(lun|mar|mer|jeu|ven|sam|dim)\."
_FRENCH_DAY = re.compile(  # "la mer. on" is none
    rf"(?<!\w)(?<!\b[Ll][ae] )(?<!\b[Uu]n )(?<!\bde ){_DAY}(?=\s*[-–]|\s+(?:au\s|\d|ouvert|fermé))"
    rf"|(?<=\bau ){_DAY}|(?<=[-–]){_DAY}|(?<=[-–] ){_DAY}"
    rf"|\A(?i:{_DAY})(?=\s+\d)"
)
_IN_CAPITALS = {"asap", "btw", "fyi", "idk", "imho", "imo", "omg", "pls", "plz", "rdv", "stp", "svp", "thx"}
_PLAIN = {"en": _ENGLISH, "fr": _FRENCH}
_AMPERSAND = re.compile(  # not "Tom & Mary", "the & sign"
    r"(?<=[^\W\d_]{2} )(?<!\b[Tt]he )(?<!\b[Ll]e )&(?= (?!(?:de|du|di|van|von|sign|operator)\b)[a-zß-öø-ÿœ]{2})"
)
_SHORT_DAYS = r"(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\b"
_ANY_DAY = rf"{_SHORT_DAYS}|(?:{'|'.join(ENGLISH_DAYS)})\b"
_ENGLISH_SPAN = re.compile(  # Mon-Fri, Monday through Friday, but "Monday to Friday" as it is
    rf"(?<![\w-])(?i:({_ANY_DAY})(?:\s?[-–]\s?| thru | through )({_ANY_DAY}))(?!-)"
    rf"|(?<![\w-])({_SHORT_DAYS}) to ({_SHORT_DAYS})(?!-)"
)
_MONTH = rf"(?:{MONTH_BEGINNINGS})[a-z]*\b"
_CLOCK = r"\d{1,2}(?:\s?[-–]\s?\d{1,2})?(?::\d\d|\s?[ap]\.?m\b)"
_SHORT_DAY = re.compile(  # beside a time or a date; not "the Sun"
    rf"(?<![\w-])(?<!\b[Tt]he )({_SHORT_DAYS})(?= (?:open|closed)(?:\Z|,| from\b| \d)"
    rf"|,? (?:{_CLOCK}|at {_CLOCK}|{_MONTH}\.? \d"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}))"
)
_SHORT_DAY_LIST = re.compile(  # Mon, Wed and Fri
    rf"(?<![\w-])(?<!\b[Tt]he ){_SHORT_DAYS}(?:, {_SHORT_DAYS})*,? (?:and|or|&) {_SHORT_DAYS}(?=[\s,.;:)]|\Z)"
)
_SAINT = re.compile(  # on St. Patrick's Day, not "Main St. Tom's house"
    r"(?:\A|(?<=, )|(?<=\b[Oo]n )|(?<=\b(?:at|of|to) )|(?<=\b(?:for|the) ))St\. (?=[A-Z][a-z]+['’]s )"
)
_SPOONS = re.compile(  # 2 c. à s.
    r"(?<!\w)((?:1|[Uu]ne|[Ll]a|[½¼¾]|1/[234]) )?[Cc](?:uill?)?\. ?à\.? ?(s(?:oupe\b|\.)|c(?:afé\b|\.))"
)
_BEHIND_HOUSE_NUMBER = r"(?:(?<=\d )|(?<=\d, ))"
_ENGLISH_SPOONS = re.compile(r"(?<=[\d½¼¾⅓⅔]) ?(tsp|tbsp|tbs)s?\b\.?", re.IGNORECASE)
_BEFORE_CHRIST = re.compile(r"(?<![\w.,])(\d[\d,]*|\d{1,2}(?:st|nd|rd|th) century) B(\.?)C(?:\.?E\b)?(\.)?(?!\w)")
_MEETING = re.compile(  # RDV jeudi, and not "Rendez-vous sur notre site"
    rf"\A([Rr])endez-vous(?= (?:{'|'.join(_FRENCH_DAYS)}|demain|aujourd'hui|ce (?:soir|matin|midi)|cet après-midi"
    r"|à \d|devant)\b)(?!.*\b(?:annul|confirm|déplac|manqu|pris|report)|.* (?:a|est|sera) )"
)


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_WORDS = {
    lang: re.compile(rf"(?<![\w/@#.-])(?:{_any_of(words)})(?![\w/@'’-]|\.\w)", re.IGNORECASE)
    for lang, words in _PLAIN.items()
}
_STOPPED = {
    lang: re.compile(rf"(?<![\w@#.])(?:{_any_of(words)})(?=\s*[-–,;:)]|\s+[\da-zà-ÿ(])")
    for lang, words in _WITH_STOP.items()
}
_LAST_DAY = re.compile(rf"(?<!\w)(?:{_any_of(day for day in _WITH_STOP['en'] if day.istitle())})\Z")
_BEGIN = re.compile(r"(?:\A|[.!?]\s+)\Z")


def plain_abbreviations(text: str, src_lang: str) -> str:
    """Return English or French text with common abbreviations in full.

    >>> plain_abbreviations("Thx! Can u reply ASAP, i.e. before Fri. 5, pls?", "en")
    'Thanks! Can you reply as soon as possible, i.e. before Friday 5, please?'
    >>> plain_abbreviations("Terms & conditions of Smith & Sons", "en")
    'Terms and conditions of Smith & Sons'
    >>> plain_abbreviations("In the '90s: see p. 5", "en")
    'In the 90s: see page 5'
    >>> plain_abbreviations("Open Mon-Fri, St. Patrick's Day, Wed 3pm: a Ph.D. in chapters 3 through 7", "en")
    "Open from Monday to Friday, Saint Patrick's Day, Wednesday 3pm: a PhD in chapters 3 to 7"
    >>> plain_abbreviations("Rdv à 8 h svp, n° 5, du lun. au ven., env. 3 pers. max", "fr")
    "On se voit à 8 h s'il vous plaît, numéro 5, du lundi au vendredi, environ 3 personnes au maximum"
    """
    plain, stopped = _PLAIN[src_lang], _WITH_STOP[src_lang]
    text = _WORDS[src_lang].sub(lambda match: in_full(match, plain.get(match[0].lower(), match[0])), text)
    text = _STOPPED[src_lang].sub(lambda match: stopped[match[0]], text)
    if src_lang == "fr":
        text = _FRENCH_DAY.sub(_french_day, text)
    else:
        text = _LAST_DAY.sub(lambda match: f"{stopped[match[0]]}.", text)
    for pattern, words in _PATTERNS[src_lang]:
        text = pattern.sub(words, text)
    return text


def _french_day(short: re.Match[str]) -> str:
    own = short[short.lastindex or 1]
    day = _DAYS[own.lower()]
    return day.capitalize() if own.istitle() else day


def _spoons(short: re.Match[str]) -> str:
    return f"{short[1] or ''}cuillère{'' if short[1] else 's'} à {'soupe' if short[2][0] == 's' else 'café'}"


def _english_spoons(short: re.Match[str]) -> str:
    one = re.search(r"(?:(?<![\d/.,])1|[½¼¾⅓⅔]|1/[234]) ?\Z", short.string[: short.start()])
    return f" {'tea' if short[1].lower() == 'tsp' else 'table'}spoon{'' if one else 's'}"


def _before_christ(year: re.Match[str]) -> str:
    ends = year[3] and (
        not year[2] or year.end() == len(year.string) or year.string[year.end() :].lstrip()[:1].isupper()
    )
    return f"{year[1]} before Jesus Christ{'.' if ends else ''}"


def _english_days(short: re.Match[str]) -> str:
    """Return a day, or a span of days with words, in full, and in lower case if it is."""
    days = [_DAYS.get(day[:3].lower(), day) for day in short.groups() if day]
    if len(days) == 1:
        return days[0]
    words = from_to(short.string[max(0, short.start() - 20) : short.start()], *days)
    return words.lower() if short[0].islower() else words


def in_full(short: re.Match[str], words: str) -> str:
    """Return what an abbreviation stands for, with a capital where a sentence begins; HR is no hour, Ur no "your"."""
    own = short[0]
    if own.islower():
        return words
    known = own.lower() in _IN_CAPITALS if own.isupper() and len(own) > 1 else _begins_sentence(short)
    return in_case(short, words) if known else own


def in_case(short: re.Match[str], words: str) -> str:
    """Return words with a capital where a sentence begins."""
    return words[0].upper() + words[1:] if _begins_sentence(short) else words


def _begins_sentence(short: re.Match[str]) -> bool:
    return _BEGIN.search(short.string, max(0, short.start() - 10), short.start()) is not None


_PATTERNS = {
    "en": (
        (re.compile(r"\b([Nn])o\. (?=\d|[A-Z]+-?\d)"), r"\1umber "),
        (re.compile(r"(?<!\d )\bp\. (?=\d)"), "page "),
        (re.compile(r"(?<!\d )\bpp\. (?=\d)"), "pages "),
        (re.compile(r"\b([Aa])pt\. (?=\d)"), r"\1partment "),
        (re.compile(r"\b[Aa]ttn(?:\.:|[.:])? (?=[A-Z])"), "For the attention of "),
        (re.compile(r"\b([Bb])ldg\. (?=[A-Z\d])"), r"\1uilding "),
        (re.compile(r"(?<!\w)['’](?=[2-9]0s\b)"), ""),  # the '90s
        (re.compile(r"(?<=\d) ?hr\b(?! ?\d)"), " hour"),
        (re.compile(r"(?<=\bper )hr\b"), "hour"),
        (re.compile(r"(?<=\d) ?y/?o(?= and\b|[.,;!?]|\Z)"), " years old"),
        (re.compile(r"\bp\.a\.(?=\Z)"), "a year."),
        (re.compile(r"\bp\.a\.(?!\w)"), "a year"),
        (_ENGLISH_SPAN, _english_days),
        (_SHORT_DAY, _english_days),
        (_SHORT_DAY_LIST, lambda days: re.sub(f"({_SHORT_DAYS})", _english_days, days[0])),
        (re.compile(r"(?<=\d) through (?=\d)"), " to "),
        (_SAINT, "Saint "),
        (re.compile(r"\bPh\.D\.?(?=\s+[a-z]|[,;:)])"), "PhD"),
        (re.compile(r"\b(B|M)\.(A|Sc?)\. (?=in \w)"), r"\1\2 "),
        (re.compile(r"\ba\.k\.a\. "), "also known as "),
        (re.compile(r"\bvs\b\.?(?= [^\W\d_])"), "against"),
        (re.compile(r"\b([Mm])ax\. (?=\d|two |three |four |five |six |ten )"), r"a \1aximum of "),
        (re.compile(r"\b([Ii])ncl\. (?=in (?:the|your)\b)"), r"\1ncluded "),
        (re.compile(r"\b([Ii])ncl\. "), r"\1ncluding "),
        (re.compile(r"\best\. (?=1[5-9]\d\d\b|20\d\d\b)"), "founded in "),
        (_BEFORE_CHRIST, _before_christ),
        (re.compile(r"\b(?:A\.D\.|AD) (?=[1-9]\d{0,3}\b)"), "the year "),
        (_ENGLISH_SPOONS, _english_spoons),
        (re.compile(r"\be\.g\.(?=,?\s)"), "for example"),
        (re.compile(r"(?<!\S)w/ ?(?=[^\W\d_]{2})"), "with "),
        (re.compile(r"\bMt\. (?=[A-Z])"), "Mount "),
        (_AMPERSAND, "and"),
    ),
    "fr": (
        (re.compile(r"\b([Nn])[°º]\s?(?=\w)"), r"\1uméro "),
        (re.compile(r"(?<!\d )\bp\. (?=\d)"), "page "),
        (re.compile(r"\b([Tt])h\. (?=\d)"), r"\1hermostat "),
        (re.compile(r"\APJ(?= ?:)"), "Pièce jointe"),
        (re.compile(r"\b([Bb])ât\. (?=[A-Z\d])"), r"\1âtiment "),
        (re.compile(r"\bCf\. (?=[\da-zà-ÿ])"), "Voir "),
        (re.compile(r"\bcf\. (?=[\da-zà-ÿ])"), "voir "),
        (re.compile(r"(?:\A|(?<=[,(] )|(?<=\())cad(?= [a-zà-ÿ'])"), "ce qui veut dire"),
        (re.compile(r"\bpers(?:onnes|\.) max\b(?:\.(?!\Z))?"), "personnes au maximum"),
        (re.compile(r"\bav\. J\.-C\.\Z"), "avant Jésus-Christ."),
        (re.compile(r"\bapr?\. J\.-C\.\Z"), "après Jésus-Christ."),
        (re.compile(rf"{_BEHIND_HOUSE_NUMBER}bd\.? (?=[A-ZÀ-Þ]|d[eu'])"), "boulevard "),
        (re.compile(rf"{_BEHIND_HOUSE_NUMBER}av\. (?=[A-ZÀ-Þ]|d[eu'])(?!J\.)"), "avenue "),
        (re.compile(r"\bvs\b\.?(?= [^\W\d_])"), "contre"),
        (re.compile(r"(?<![\w/@#.-])pb(s?)(?![\w/@'’-]|\.\w)"), r"problème\1"),
        (_MEETING, lambda match: f"{'O' if match[1] == 'R' else 'o'}n se voit"),
        (_SPOONS, _spoons),
        (_AMPERSAND, "et"),
    ),
}
