"""Train a model: `python -m translate.train [group=choice ...] [key=value ...]`."""

from translate.common.command import run_command
from translate.config.train import TrainConfig


def main() -> None:
    """Run the command with the settings of the command line."""
    from translate.config.compose import hydra_main  # needs the extra train, as the next
    from translate.train.start import train

    hydra_main("train", TrainConfig, train)


if __name__ == "__main__":
    run_command(main)
