"""Score a model or its output: `python -m translate.evaluate model=runs/latest`."""

from translate.common.command import run_command
from translate.config.evaluate import EvaluateConfig


def main() -> None:
    """Run the command with the settings of the command line."""
    from translate.config.compose import hydra_main  # needs the extra train, as the next
    from translate.evaluate.evaluation import evaluate

    hydra_main("evaluate", EvaluateConfig, evaluate, groups=False)


if __name__ == "__main__":
    run_command(main)
