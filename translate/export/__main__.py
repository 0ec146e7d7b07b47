"""Write a model for another runtime: `python -m translate.export model=RUN quantization=int8`."""

from translate.common.command import run_command
from translate.config.export import ExportConfig


def main() -> None:
    """Run the command with the settings of the command line."""
    from translate.config.compose import hydra_main  # needs the extra train, as the next
    from translate.export.writer import export

    hydra_main("export", ExportConfig, export, groups=False)


if __name__ == "__main__":
    run_command(main)
