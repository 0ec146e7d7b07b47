"""English-French neural machine translation: one attention class, one Transformer, every step readable.

Use it from Python with `from translate import Translator`, or by the commands `python -m translate.train`, `infer`,
`evaluate`, `compare`, `export`, `convert`, `serve` and `benchmark`. Importing this package loads neither torch nor
lightning; Translator loads them with the first model that needs them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from translate.config.decode import DecodeConfig
    from translate.translator.translation import Translation
    from translate.translator.translator import Translator

__version__ = "0.1.0"
__all__ = ["DecodeConfig", "Translation", "Translator", "__version__"]

_MODULES = {
    "DecodeConfig": "translate.config.decode",
    "Translation": "translate.translator.translation",
    "Translator": "translate.translator.translator",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that `import translate` stays instant."""
    if name not in _MODULES:
        raise AttributeError(f"module 'translate' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
