"""What stands for the parts of a text that stay as they are, and a text with such stand-ins."""

from typing import NamedTuple


class Slot(NamedTuple):
    """What the output must hold at one place.

    Attributes:
        kind: "span" and "term" take the place of words, "tag" stands between them.
        text: Its text, character for character.
        start: Where its stand-in begins in the model's text.
        end: Where that ends; of a tag, which has none, the same as `start`.
        spaces: Whether a space stands before and after it in the source.
        apart: Whether it is a tag that takes the place of a space, as in "a<br/>b".
    """

    kind: str
    text: str
    start: int
    end: int
    spaces: tuple[bool, bool]
    apart: bool = False


class Masked(NamedTuple):
    """A text made ready for the model.

    Attributes:
        head: A label with nothing to translate, as in "{name}: Hello", which stays in front.
        text: Text that the model reads; "" if nothing is left to translate.
        slots: In the order of the source.
        whole: The clean source with every slot filled, which is the output if nothing is left to translate.
        stand_in: What stands for spans in `text`.
    """

    head: str
    text: str
    slots: tuple[Slot, ...]
    whole: str
    stand_in: str
