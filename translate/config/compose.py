"""Run a command with Hydra: compose its settings, check them, explain an error in one line."""

import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, cast

import hydra
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from translate.common.errors import first_line
from translate.common.resources import conf_dir
from translate.config.files import unknown_setting

Config = TypeVar("Config")
_LAUNCHERS = {f"hydra/launcher/{name}" for name in ("joblib", "submitit_local", "submitit_slurm")}  # of an extra


def hydra_main(
    config_name: str, schema: type[Config], task: Callable[[Config], object], *, groups: bool = True
) -> None:
    """Run `task` with the configuration that the command line describes.

    Composes `conf/<config_name>.yaml` over `schema`. `--help`, `--cfg job`, `-m` and the rest of Hydra's flags work.
    Without `groups` the folders of conf/ offer no choices, so that a key called like one, as in `model=PATH`, is a
    value.

    Raises:
        ValueError: For a key, value or file name that is wrong, in one line; and whatever the task raises.
        OSError: If the task raises it.
    """
    store, directory = ConfigStore.instance(), conf_dir()
    store.store(name=f"{config_name}_schema", node=schema)
    if not groups:  # Hydra takes every folder beside the file for a group; beside beam.yaml there are no folders
        store.store(name=config_name, node=OmegaConf.load(directory / f"{config_name}.yaml"))
        directory = directory / "decode"

    process = os.getpid()

    def run(config: DictConfig) -> None:
        try:
            task(_settings(config, schema))
        except (ValueError, OSError) as error:
            if os.getpid() != process:  # a launcher's: Hydra brings the error here, and the other jobs go on
                raise
            raise _PastHydra(error) from error

    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra raises what it would print in its own way
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C: a launcher's processes end with this one
    try:
        overrides = [text for text in sys.argv[1:] if "=" in text and not text.startswith("-")]
        _check_empty(overrides)
        _check_sweep(config_name, schema, str(directory), overrides)
        hydra.main(version_base="1.3", config_path=str(directory), config_name=config_name)(run)()
    except _PastHydra as past:
        raise past.error from None
    except (HydraException, OmegaConfBaseException) as error:
        raise ValueError(_explain(error, schema)) from error


class _PastHydra(BaseException):
    """Carries an error past Hydra, which would announce any Exception of a job in its own way, to `run_command`."""

    def __init__(self, error: ValueError | OSError) -> None:
        super().__init__(error)
        self.error = error


def _settings(config: DictConfig, schema: type[Config]) -> Config:
    """Build the dataclasses that `config` describes, which check their ranges."""
    try:
        settings = cast(Config, OmegaConf.to_object(config))
    except (OmegaConfBaseException, ValueError) as error:
        raise ValueError(_explain(error, schema)) from error
    if added := _added(settings):  # by +KEY=VALUE
        raise ValueError(unknown_setting(added, schema))
    return settings


def _added(settings: Any, prefix: str = "") -> str | None:
    """Return the first attribute of a dataclass, or of one within it, that is not one of its fields."""
    known = {one.name for one in fields(settings)}
    for name, value in vars(settings).items():
        if name not in known:
            return f"{prefix}{name}"
        if is_dataclass(value) and (found := _added(value, f"{prefix}{name}.")):
            return found
    return None


def _check_empty(overrides: Sequence[str]) -> None:
    """Refuse `stages={}`, which would be merged with the stages that there are and so leave them as they are."""
    for override in OverridesParser.create().parse_overrides(list(overrides)):
        if override.value() == {}:
            key = override.key_or_group
            raise ValueError(f"{key}={{}} changes nothing, since mappings are merged; ~{key} leaves them out")


def _check_sweep(config_name: str, schema: type, directory: str, overrides: Sequence[str]) -> None:
    """Compose once for every value of every sweep, so that a mistake is found before the first job starts."""
    fixed: list[str] = []
    swept: list[str] = []
    for override in OverridesParser.create().parse_overrides(list(overrides)):
        if not override.get_key_element().startswith("hydra"):
            line = override.input_line or ""
            (swept if override.is_sweep_override() else fixed).append(line)
    choices = [
        f"{override.get_key_element()}={value}"
        for override in OverridesParser.create().parse_overrides(swept)
        for value in override.sweep_string_iterator()
    ]
    for choice in choices:
        with hydra.initialize_config_dir(directory, version_base="1.3"):
            config = hydra.compose(config_name, overrides=[*fixed, choice])
        GlobalHydra.instance().clear()
        if len(swept) == 1:
            _settings(config, schema)  # ranges; with several sweeps only the jobs know the pairs


def _explain(error: Exception, schema: type) -> str:
    """Return an error as one line: what is wrong, and the nearest valid names for a key that does not exist."""
    chain: list[BaseException] = [error]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    text = "\n".join(map(str, chain))
    for pattern, message in _MESSAGES:
        if found := re.search(pattern, text):
            return message(found, schema)
    line = first_line(chain[-1])
    key = re.search(r"full_key: (\S+)", text)
    return f"{key[1]}: {line}" if key and not isinstance(error, ValueError) else line


def _no_such_choice(found: re.Match[str], schema: type) -> str:
    choice, folder, names = found.groups()
    if choice in _LAUNCHERS:
        return f"{choice.replace('launcher/', 'launcher=')} needs an extra: pip install -e '.[sweep]'"
    return f"there is no {choice}; conf/{folder} has {', '.join(names.split())}"


# What Hydra says, by a pattern, and what we say instead.
_MESSAGES: tuple[tuple[str, Callable[[re.Match[str], type], str]], ...] = (
    (
        r"Could not override '([^']+)'(?=[\s\S]*(?:not in struct|not in '|No match))",
        lambda found, schema: unknown_setting(found[1], schema),
    ),
    (r"Could not find '([^']+)'\s+Available options in '([^']+)':\n((?:\t\S+\n?)+)", _no_such_choice),
    (
        r"Ambiguous value for argument '([^']+)'",
        lambda found, _: f"{found[1]} holds several values: -m sweeps over them, [brackets] make a list of them",
    ),
    (
        r"dict is not a subclass of PartConfig[\s\S]*full_key: (\S+)",
        lambda found, _: (
            f"the part {found[1]} cannot be added here: write it into a file beside conf/data/general.yaml, NAME.yaml, "
            "and set data=NAME"
        ),
    ),
)
