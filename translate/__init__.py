"""English-French neural machine translation: one attention class, one Transformer, every step readable.

`from translate import Translator` is the Python door; `python -m translate.train`, `python -m translate.infer` and
`python -m translate.evaluate` are the command-line ones. Importing this package loads neither torch nor lightning, nor
does Translator before it opens a model that needs them.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from translate.translator.translation import Translation
    from translate.translator.translator import Translator

__version__ = "0.1.0"
__all__ = ["Translation", "Translator", "__version__"]


def __getattr__(name: str) -> Any:
    """Load what is asked for on first use, so that `import translate` stays instant."""
    if name == "Translator":
        from translate.translator.translator import Translator

        return Translator
    if name == "Translation":
        from translate.translator.translation import Translation

        return Translation
    raise AttributeError(f"module 'translate' has no attribute {name!r}")
