"""Where the files that travel with the package lie: in a clone at its top level, in a wheel beside this file."""

from pathlib import Path

SHIPPED = "en-fr"  # the model that comes with the package
_PACKAGE = Path(__file__).resolve().parents[1]


def conf_dir() -> Path:
    """Return the folder of the Hydra configuration."""
    return _resource("conf")


def everyday_dir() -> Path:
    """Return the folder of the embedded everyday corpus."""
    return _resource("data/everyday")


def topics_dir() -> Path:
    """Return the folder of the embedded corpus of topics."""
    return _resource("data/topics")


def second_translations_dir() -> Path:
    """Return the folder of the second translations of sentences of Tatoeba."""
    return _resource("data/second_translations")


def glossary_dir() -> Path:
    """Return the folder of the embedded glossary."""
    return _resource("data/glossary")


def models_dir() -> Path:
    """Return the folder of the models that come with the package."""
    return _resource("data/models")


def _resource(name: str) -> Path:
    for candidate in (_PACKAGE / "_resources" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise ValueError(
        f"{name} is neither in the installed package nor beside it ({_PACKAGE.parent}); reinstall translate"
    )
