"""What the extras install, and what to say where one is missing. An int8 model translates without them."""

_SERVE = frozenset(["starlette", "uvicorn", "python_multipart", "prometheus_client"])
_TRAIN = frozenset(
    [
        "torch",
        "lightning",
        "datasets",
        "pyarrow",
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
_RAY = frozenset(["ray", "pandas"])
INSTALL_SERVE = "pip install -e '.[serve]'"
INSTALL_RAY = "pip install -e '.[ray]'"


def explain_missing(error: ModuleNotFoundError) -> str | None:
    """Return what to install for a package that could not be imported; None if no extra brings it."""
    package = (error.name or "").split(".")[0]
    for packages, command in ((_TRAIN, INSTALL_TRAIN), (_SERVE, INSTALL_SERVE), (_RAY, INSTALL_RAY)):
        if package in packages:
            return f"this needs {package}, which is not installed: {command}"
    return None
