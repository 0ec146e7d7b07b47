"""Write a model for another runtime: `python -m translate.export model=RUN quantization=int8`."""

from translate.common.command import run_command
from translate.config.compose import hydra_main
from translate.config.export import ExportConfig
from translate.export.writer import export


def main() -> None:
    """Run the command with the settings of the command line."""
    hydra_main("export", ExportConfig, export, groups=False)


if __name__ == "__main__":
    run_command(main)
