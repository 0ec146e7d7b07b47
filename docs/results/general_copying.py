"""Count what the general model keeps of long numbers, addresses, amounts, formulas, emoji and unknown letters, without
and with `decode.copy_guard`.

python docs/results/general_copying.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from translate.common.tables import markdown_table
from translate.translator.translator import Translator

_NUMBERS = (
    *("He has {} books.", "They paid {} euros.", "The town has {} inhabitants.", "I was born in {}."),
    *("Call me at {}.", "The year {} was good.", "There are {} people here.", "My number is {}."),
)
_SHORT = ("I love it", "Thank you so much!", "See you tomorrow", "She is my best friend.")
_CURRENCIES = {"€": ("€", "euros"), "£": ("£", "livres"), "$": ("$", "dollars")}
_PEOPLE = ("Łukasz", "Åse", "Jiří", "Şükrü", "Nguyễn")
_PLACES = ("Łódź", "Åre", "Brno", "İzmir", "Huế")
_WRITE = ("Write to {} today.", "My address is {}.", "See {} for more.", "I found it at {}, I think.")
_PAY = ("It costs {}.", "They paid {} for the car.", "I owe you {}.", "The ticket is {}, isn't it?")
_SUM = ("The result is {}.", "We won {} yesterday.", "Read the pages {} again.", "I think that {} is right.")


def cases() -> dict[str, list[tuple[str, list[str]]]]:
    """Return sentences of each kind, each with what a translation must hold."""
    random = Random(1)
    made: dict[str, list[tuple[str, list[str]]]] = {}
    for digits in (4, 5, 6, 8, 10):
        numbers = [str(random.randrange(10 ** (digits - 1), 10**digits)) for _ in range(100)]
        made[f"{digits} digits"] = [(random.choice(_NUMBERS).format(number), [number]) for number in numbers]
    emoji = [chr(random.randint(0x1F600, 0x1F64F)) for _ in range(100)]
    made["emoji"] = [(f"{random.choice(_SHORT)} {one}", [one]) for one in emoji]
    made["mail"] = _filled(random, _WRITE, lambda: f"{_word(random)}.{_word(random)}@{_word(random)}.org")
    made["pages"] = _filled(
        random, _WRITE, lambda: f"https://www.{_word(random)}.com/{_word(random)}?{_word(random)}=1"
    )
    made["amounts"] = _filled(random, _PAY, lambda: f"{random.choice('€£$')}{random.randint(2, 99)}")
    made["formulas"] = _filled(
        random, _SUM, lambda: f"{random.randint(1, 9)}{random.choice('-+×')}{random.randint(1, 99)}"
    )
    made["names"] = [(f"{name} lives in {place}.", [name, place]) for name in _PEOPLE for place in _PLACES]
    return made


def _filled(random: Random, patterns: Sequence[str], make: Callable[[], str]) -> list[tuple[str, list[str]]]:
    parts = [make() for _ in range(100)]
    return [(random.choice(patterns).format(part), [part]) for part in parts]


def _word(random: Random) -> str:
    return "".join(random.choice("abdegilmnoprstu") for _ in range(random.randint(3, 7)))


def _has(text: str, word: str) -> bool:
    """Return whether a text has a word, amounts also as French writes them: 20€, 20euros."""
    return word in text or any(word[1:] + name in text for name in _CURRENCIES.get(word[0], ()))


def main() -> None:
    """Print how many sentences of each kind keep what they must."""
    translator, made = Translator.load(), cases()
    rows = []
    for guard in (False, True):
        row = ["with the guard" if guard else "without"]
        for sentences in made.values():
            found = translator.translate([text for text, _ in sentences], tgt_lang="fr", copy_guard=guard)
            texts = [one.text.replace("\u202f", "").replace(" ", "") for one in found]
            kept = [all(_has(text, word) for word in words) for text, (_, words) in zip(texts, sentences, strict=True)]
            row.append(f"{sum(kept)} of {len(kept)}")
        rows.append(row)
    print("\n".join(markdown_table(["", *made], rows)))


if __name__ == "__main__":
    main()
