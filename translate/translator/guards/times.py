"""Times of day, their spans and durations: how a model reads them best, and how the other language writes them."""

from __future__ import annotations

import re
from functools import partial


def _times(before: str) -> re.Pattern[str]:
    """Return a pattern of times of day, with a colon, "p.m." or "h"; `before` is what precedes "h" without minutes."""
    return re.compile(
        r"(?<![\w.,:/])(?P<hour>[01]?\d|2[0-4])(?:(?::|\s?h\s?)(?P<minute>[0-5]\d)(?!(?![AaPp][Mm]\b)[\w:])"
        rf"|{before}\s?h(?!\w)"
        r"|(?=\s?[AaPp]\.?[Mm]\b))(?:\s?(?P<half>[AaPp])\.?[Mm]\b(?:\.(?=[,;:)]|\s+[^\sA-Z]))?)?"
    )


# "à 2 h" is one, and "pour 2 h" none
TIME = _times(r"(?:(?<=[àÀ] \d)|(?<=[àÀ] \d\d)|(?<=vers \d)|(?<=vers \d\d)|(?<=at \d)|(?<=at \d\d))")
HOUR = _times("")  # also "2 h" that something lasts
_HOURS = re.compile(r"(?<![\w.,:/])(?P<hour>[01]?\d|2[0-4]) (?:heures?|hours?|o'clock)\b(?: (?P<minute>[0-5]\d)\b)?")
_FRENCH_HOUR = r"(?<![\w.,:/])([01]?\d|2[0-4])\s?h"
_FRENCH_MINUTES = re.compile(rf"{_FRENCH_HOUR}\s?([0-5]\d)(?![\w:])")
_FRENCH_TIME = re.compile(rf"{_FRENCH_HOUR}(?:\s?([0-5]\d))?(?![\w:])")
_FRENCH_SPAN = re.compile(rf"{_FRENCH_TIME.pattern}(?: à | et |\s?[-–]\s?){_FRENCH_TIME.pattern}")
_FRENCH_HALF = re.compile(rf"{_FRENCH_TIME.pattern} (?:du|de l')\s?(matin|soir|après-midi)")
_BEFORE_DURATION = (  # what stands before French hours that are no time of day
    r"(?:dur(?:e|ent|é|ée|era|ait|ant)|[Pp]endant|[Ee]n|[Dd]ans|[Ii]l y a|cuire|mijoter|reposer|faut"
    r"|[Aa]tten(?!tion)\w+(?! \d+\s?h\s?\d)|[Pp]lus de|[Mm]oins de|toutes les"
    r"|(?:[Dd]urée|[Tt]emps|[Pp]réparation|[Cc]uisson|[Tt]rajet)(?: de \w+)?\s?:?)"
    r"(?: encore| environ| de| au moins| près de)? "
)
_BEHIND_DURATION = (
    r" (?:par (?:jour|semaine|mois|an)\b|de (?:route|vol|marche|train|voiture|trajet|travail|cours|cuisson|repos"
    r"|sommeil|retard|attente|conduite|avance|pause|plus)\b|d'(?:attente|avion|avance|étude)\b)"
)
LASTING = re.compile(  # no part of "8h-12h"
    rf"(?<!\w)({_BEFORE_DURATION})?(?<![\d.,:/–-])(?<![–-] )(?<!\bà )(\d{{1,3}})\s?h(?:\s?([0-5]\d))?"
    rf"(?!\w|\s?[–-]\s?\d| à \d)(?(1)|(?={_BEHIND_DURATION}))"
)
_HOURS_AND_MINUTES = re.compile(r"(?<![\w.,:/])(\d{1,2})\s?h\s?([0-5]?\d)\s?(?:min|mn)(?![\w/])")
_MINUTES = re.compile(r"(?<![\w.,:/])(\d{1,3})\s?(?:min|mn)(?![\w/]|\.\w)(?:\.(?= [a-zà-ÿ]))?")
_BEHIND_PREPOSITION = re.compile(  # no "après 1 h au four"
    r"\b([Aa]près|[Aa]vant|[Vv]ers|[Dd]ès|[Jj]usqu['’]à|[ÀAà] partir de) ([6-9]|1\d|2[0-3])\s?h"
    r"(?![\w:]|\s\d| (?:du|de|d'|avant|après|au four|plus) )"
)
_HALF = r"\s?[AaPp]\.?[Mm](?!\w)\.?"
_SPAN = {  # "9:00-17:00", and the words that may stand before it
    "en": re.compile(
        rf"(?:\b([Ff]rom|[Bb]etween|[Aa]t) )?(?<![\w.,:/-])(\d{{1,2}}(?::[0-5]\d)?(?:{_HALF})?)\s?[-–]\s?"
        rf"(\d{{1,2}}(?::[0-5]\d(?:{_HALF})?|{_HALF}))(?![\w:-])"
    ),
    "fr": re.compile(
        r"(?:\b([Dd]e|[Ee]ntre|[ÀAà]) )?(?<![\w.,:/-])(\d{1,2}:[0-5]\d)\s?[-–]\s?(\d{1,2}:[0-5]\d)(?![\w:-])"
    ),
}
_BEHIND_NAME = re.compile(r"\S\s+(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)[A-Z][a-z]+ \Z")  # Matthew 5:10-11:30
_SPAN_WORDS = {"en": ("from", "to", "and"), "fr": ("de", "à", "et")}
_OPEN_SPAN = re.compile(  # in English; "from 9:00 to 18 May" is none
    r"(?<![\w.,:/])(?:\d{1,2}:\d\d (?:to|until|till)|(?<=[Bb]etween )\d{1,2}:\d\d and) ([01]?\d|2[0-4])"
    r"(?![\w:%-]|[.,]\d|\s?[ap]\.?m\b| (?:o'clock|h\b|hours?|minutes?|people|[A-Z]\w))"
)
_HALF_OPEN_SPAN = re.compile(r"\b(?:[Ff]rom|[Bb]etween) ([01]?\d|2[0-4]) (?:to|and|until) \d{1,2}:\d\d(?![\w:])")
_ONE_HALF = re.compile(  # from 7 to 8 pm
    r"(?<![\w.,:/-])(?P<hour>1?\d)(?P<minute>:[0-5]\d)?(?P<word> (?:to|and|or|until|till) )"
    r"(?P<end>(?P<last>1?\d)(?::[0-5]\d)?(?P<half>\s?[AaPp]\.?[Mm](?!\w)\.?))"
)
_BETWEEN = re.compile(r"\b[Bb]etween \Z")
_BEFORE_CLOCK = re.compile(r"\b(?:at|from|to|until|till|by|after|before|around|about|between|and|since)\s\Z")
_SPELLED = re.compile(r"\b(?:demie?|quart|past|quarter|noon|midnight|midi|minuit)\b")
_BARE_TIME = re.compile(
    r"(?<![\w.,:])(?<!\d[ \u00a0\u202f])(\d{1,2})[ \u00a0\u202f](\d\d)(?![\w:]|[ \u00a0\u202f.,]?[\dh])"
)
_GARBLED = re.compile(r"\d\d\s\d\d\s?h\b")
_HALF_OF_DAY = re.compile(r"\b(?:matin|midi|soir|nuit)\b")  # midi: après-midi, too
_ENGLISH_HALF = re.compile(r"\b(?:morning|noon|afternoon|evening|night|tonight|midnight)\b")
_HOURS_OF_HALF = 12


def plain_times(text: str, src_lang: str) -> str:
    """Return a text with words between the times of a span, French times with a colon, and durations in words.

    Args:
        text: English or French.
        src_lang: Its language.

    >>> plain_times("Open Monday 9:00-17:00, from 9-11 a.m. on Sundays.", "en")
    'Open Monday from 9:00 to 17:00, from 9 a.m. to 11 a.m. on Sundays.'
    >>> plain_times("De 9h à 18 h 30, un jour 14h-16h, après 19h : un trajet de 2h.", "fr")
    'De 9:00 à 18:30, un jour de 14:00 à 16:00, après 19:00 : un trajet de 2 heures.'
    >>> plain_times("Il dure 3 h, pas pendant 1h30, soit 35 h par semaine et 20 min.", "fr")
    'Il dure 3 heures, pas pendant 1 heure et 30 minutes, soit 35 heures par semaine et 20 minutes.'
    """
    if src_lang == "fr":
        text = _HOURS_AND_MINUTES.sub(lambda match: _duration("", *match.groups()), text)
        text = _MINUTES.sub(lambda match: f"{match[1]} minute{'s' if int(match[1]) > 1 else ''}", text)
        text = LASTING.sub(_in_hours, text)
        text = _FRENCH_SPAN.sub(lambda match: _FRENCH_TIME.sub(_with_colon, match[0]), text)
        text = _FRENCH_MINUTES.sub(_with_colon, text)
        text = _BEHIND_PREPOSITION.sub(r"\1 \2:00", text)
    text = _SPAN[src_lang].sub(partial(_in_words, lang=src_lang), text)
    return _ONE_HALF.sub(_with_both_halves, text) if src_lang == "en" else text


def _in_words(span: re.Match[str], lang: str) -> str:
    """Return a span of times with words between them."""
    before, start, end = span.groups()
    from_, to, and_ = _SPAN_WORDS[lang]
    if before and before.lower() in ("between", "entre"):
        return f"{before} {start} {and_} {end}"
    if not before and _BEHIND_NAME.search(span.string, max(0, span.start() - 40), span.start()):
        return span[0]
    return f"{from_ if span.start() and not (before or '').istitle() else from_.title()} {start} {to} {end}"


def _with_both_halves(span: re.Match[str]) -> str:
    """Return "7 to 8 pm" with "pm" behind both times, "11 to 1 pm" with "am" behind the first."""
    hour, last = int(span["hour"]), int(span["last"])
    if not (1 <= hour <= _HOURS_OF_HALF and 1 <= last <= _HOURS_OF_HALF):
        return span[0]
    if " and " in span["word"] and not _BETWEEN.search(span.string, max(0, span.start() - 10), span.start()):
        return span[0]
    half = span["half"] if "." in span["half"][:-1] else span["half"].rstrip(".")
    if hour % _HOURS_OF_HALF > last % _HOURS_OF_HALF:
        half = half.translate(str.maketrans("apAP", "paPA"))
    return f"{span['hour']}{span['minute'] or ''}{half}{span['word']}{span['end']}"


def _in_hours(lasting: re.Match[str]) -> str:
    """Return how long something lasts in words."""
    return _duration(*lasting.groups(default=""))


def _duration(before: str, hours: str, minutes: str) -> str:
    rest = f" et {int(minutes)} minute{'s' if int(minutes) > 1 else ''}" if minutes and int(minutes) else ""
    return f"{before}{hours} {'heure' if int(hours) < 2 else 'heures'}{rest}"


def _with_colon(time: re.Match[str]) -> str:
    return f"{time[1]}:{time[2] or '00'}"


def has_time(text: str, time: str) -> bool:
    """Return whether a text has a time of day in digits, by either clock, or one in words, which may be it.

    Not in a text with a garbled one, "3 h 30 30 h 30".
    """
    if _GARBLED.search(text):
        return False
    found = [match for match in HOUR.finditer(text) if not match["half"] or int(match["hour"]) <= _HOURS_OF_HALF]
    clocks = {_since_noon(match) for match in (*found, *_HOURS.finditer(text))}
    return _SPELLED.search(text) is not None or _since_noon(_match(time)) in clocks


def write_time(time: str, lang: str) -> str:
    """Return a time of day as a language writes it; with a colon and in other languages it stays as it is.

    >>> write_time("15h30", "en"), write_time("8 h", "en"), write_time("3:30 p.m.", "fr"), write_time("12 a.m.", "fr")
    ('15:30', '8:00', '15\xa0h\xa030', '0\xa0h')
    """
    match = _match(time)
    hour, minute = _clock(match)
    if lang == "en" and "h" in time:
        return f"{hour}:{minute:02}"
    if lang != "fr" or not match["half"]:
        return time
    hour = hour % _HOURS_OF_HALF + (_HOURS_OF_HALF if match["half"] in "pP" else 0)
    return f"{hour}\u00a0h\u00a0{minute:02}" if minute else f"{hour}\u00a0h"


def changed_times(text: str, output: str, lang: str) -> dict[str, str]:
    """Return the times of day in an output that its language writes in another way, and how.

    English writes "8h05" with a colon, and "8 h" is 8 p.m. only with "du soir" or the like. French has 24 hours, where
    no such words say which half of the day it is, and an h between hour and minutes.

    >>> changed_times("at 3:30 p.m.", "à 3 h 30", "fr"), changed_times("à 8h05", "at 8h05", "en")
    ({'3 h 30': '15\xa0h\xa030'}, {'8h05': '8:05'})
    >>> changed_times("à 8 h ou à 21 h", "at 8 p.m. or at 9 p.m.", "en")
    {'8 p.m.': "8 o'clock"}
    >>> changed_times("de 9h à 18h", "from 9:00 to 18", "en")
    {'9:00 to 18': '9:00 to 18:00'}
    """
    if lang == "en":
        written = {match[0]: write_time(match[0], lang) for match in TIME.finditer(output)}
        written |= _halves_of_the_day(text, output)
        written |= _half_written(text, output)
    elif lang == "fr" and not _HALF_OF_DAY.search(output):
        text = _ONE_HALF.sub(_with_both_halves, text)
        later = {  # 12:45 a.m. is 0 h 45
            _clock(match): write_time(match[0], lang)
            for match in TIME.finditer(text)
            if match["half"] in ("p", "P") or (match["half"] and int(match["hour"]) == _HOURS_OF_HALF)
        }
        found = [match for pattern in (HOUR, _HOURS) for match in pattern.finditer(output)]
        written = {
            match[0]: write_time(match[0], lang)
            if match.groupdict().get("half")
            else later.get(_clock(match), match[0])
            for match in found
        }
    else:
        written = {}
    if lang == "fr":
        clocks = {_clock(match) for match in TIME.finditer(text) if match["minute"] and not match["half"]}
        for match in _BARE_TIME.finditer(output):
            if (int(match[1]), int(match[2])) in clocks:
                written[match[0]] = f"{match[1]}\u00a0h\u00a0{match[2]}"
    return {time: other for time, other in written.items() if other != time}


def _half_written(text: str, output: str) -> dict[str, str]:
    """Return the times of an English output that lack their minutes or their half of the day, and how they are written.

    >>> _half_written("de 20h à 23h, le soir à 18h30", "from 20h to 23:00, in the evening at 18:30")
    {'20h': '20:00'}
    >>> _half_written("de 9h à 18h, puis de 20h à 23h", "from 9:00 to 18, then from 20 to 23:00")
    {'9:00 to 18': '9:00 to 18:00', 'from 20 to 23:00': 'from 20:00 to 23:00'}
    >>> _half_written("jeudi à 18h30", "Thursday at 6:30")
    {'6:30': '18:30'}
    """
    hours, written = {_clock(match) for match in HOUR.finditer(LASTING.sub("", text))}, {}
    found = list(HOUR.finditer(output))
    clocks, has_half = {_clock(match) for match in found}, _ENGLISH_HALF.search(output) is not None
    for match in found:
        hour, minute = _clock(match)
        if (
            "h" in match[0]
            and (hour, minute) in hours
            and _BEFORE_CLOCK.search(output, max(0, match.start() - 10), match.start())
        ):
            written[match[0]] = write_time(match[0], "en")
        afternoon = (hour + _HOURS_OF_HALF, minute)
        is_lost = afternoon in hours - clocks and (hour, minute) not in hours and match["minute"] and not match["half"]
        if is_lost and not has_half:
            written[match[0]] = f"{afternoon[0]}:{minute:02}"
    for pattern in (_OPEN_SPAN, _HALF_OPEN_SPAN):
        for match in pattern.finditer(output):
            if (int(match[1]), 0) in hours:
                start, end = match.start(1) - match.start(), match.end(1) - match.start()
                written[match[0]] = f"{match[0][:start]}{match[1]}:00{match[0][end:]}"
    return written


def _halves_of_the_day(text: str, output: str) -> dict[str, str]:
    """Return the times of an English output with another half of the day than in a French text, and what they are."""
    halves = {int(match[1]): "a" if match[3] == "matin" else "p" for match in _FRENCH_HALF.finditer(text)}
    hours, changed = {int(match["hour"]) for match in HOUR.finditer(text)}, {}
    for match in HOUR.finditer(output):
        (hour, minute), half = _clock(match), (match["half"] or "").lower()
        if half and halves.get(hour, half) != half:
            changed[match[0]] = match[0].replace(match["half"], halves[hour])
        elif half and hour > _HOURS_OF_HALF:
            changed[match[0]] = f"{hour}:{minute:02}"
        elif half == "p" and hour in hours - {_HOURS_OF_HALF, *halves} and hour + _HOURS_OF_HALF not in hours:
            changed[match[0]] = f"{hour}:{minute:02}" if minute else f"{hour} o'clock"
    return changed


def _match(time: str) -> re.Match[str]:
    match = HOUR.match(time)
    assert match is not None
    return match


def _clock(match: re.Match[str]) -> tuple[int, int]:
    """Return hour and minute as they stand there."""
    return int(match["hour"]), int(match["minute"] or 0)


def _since_noon(match: re.Match[str]) -> tuple[int, int]:
    """Return hours and minutes since noon or midnight."""
    hour, minute = _clock(match)
    return hour % _HOURS_OF_HALF, minute
