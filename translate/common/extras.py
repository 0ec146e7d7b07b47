"""What the extra `train` installs, and what to say where it is missing. An int8 model translates without it."""

_TRAIN = frozenset(
    [
        "torch",
        "lightning",
        "datasets",
        "hydra",
        "omegaconf",
        "sacremoses",
        "matplotlib",
        "tensorboardX",
        "google",
        "filelock",
        "array_api_compat",
    ]
)
INSTALL_TRAIN = "pip install -e '.[train]'"


def explain_missing(error: ModuleNotFoundError) -> str | None:
    """Return what to install for a package that could not be imported; None if no extra brings it."""
    package = (error.name or "").split(".")[0]
    return f"this needs {package}, which is not installed: {INSTALL_TRAIN}" if package in _TRAIN else None
