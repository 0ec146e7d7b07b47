"""Range checks that all settings share; each message names the setting, its value and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence


def check_choice(name: str, value: str, allowed: Sequence[str]) -> None:
    """Refuse a value that is not among those allowed."""
    if value not in allowed:
        raise ValueError(f"{name} ({value}) must be one of {', '.join(allowed)}")


def check_at_least(name: str, value: float | None, low: float) -> None:
    """Refuse a number below `low`; None, where a setting may be left out, is fine."""
    if value is not None and value < low:
        raise ValueError(f"{name} ({value}) must be at least {low}")


def check_share(name: str, value: float) -> None:
    """Refuse a share outside 0 to below 1."""
    if not 0.0 <= value < 1.0:
        raise ValueError(f"{name} ({value}) must be at least 0 and below 1")
