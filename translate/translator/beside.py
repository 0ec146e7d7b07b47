"""What a model directory may hold beside the network and its tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from translate.data.glossary import Glossary
from translate.translator.memory import Memory
from translate.translator.recognition import Recognizer
from translate.translator.truecasing import Truecaser


class Beside(NamedTuple):
    """What a translator has beside its engine, tokenizer and settings; each part may be missing.

    Attributes:
        recognizer: Tells the languages of texts apart, of a model that translates both ways.
        memory: Whole texts whose translation is known.
        glossary: Terms that the model reads with their translations.
        truecaser: Knows which words have capitals.
    """

    recognizer: Recognizer | None = None
    memory: Memory | None = None
    glossary: Glossary | None = None
    truecaser: Truecaser | None = None

    @classmethod
    def load(cls, directory: Path) -> Beside:
        """Read what a directory has.

        Raises:
            ValueError: If a file is damaged.
        """
        return cls(*(part.load(directory) for part in (Recognizer, Memory, Glossary, Truecaser)))  # type: ignore[arg-type]

    def of_languages(self, languages: tuple[str, str]) -> Beside:
        """Return what is for these two languages, in either order, and the truecaser, which has each by its code."""

        def fits(part: Recognizer | Memory | Glossary | None) -> bool:
            return part is not None and {*part.languages} == {*languages}

        return self._replace(
            recognizer=self.recognizer if fits(self.recognizer) else None,
            memory=self.memory if fits(self.memory) else None,
            glossary=self.glossary if fits(self.glossary) else None,
        )

    def save(self, directory: Path) -> None:
        """Write what there is into a directory that is being made."""
        for part in self:
            if part is not None:
                part.save(directory)


NOTHING = Beside()
