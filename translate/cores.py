"""How many cores are there for this process; imports nothing heavy."""

import math
import os
from contextlib import suppress
from pathlib import Path


def available_cores(root: Path = Path("/")) -> int:
    """Cores that the process can keep busy.

    The least of the cores that it may run on, the CPU quota of its container, a part of a core counted as one, and
    OMP_NUM_THREADS where that is set.

    Args:
        root: Where proc/ and sys/ are.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    limits = [float(wanted)] if wanted.isdigit() else []
    return max(1, math.ceil(min(cores, *_quotas(root), *limits)))


def _quotas(root: Path) -> list[float]:
    """Of the control groups, version 1 or 2, that the process is in, in cores."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    quotas = []
    for line in lines:
        _, controllers, path = line.split(":", 2)  # none are named in version 2
        if not controllers or "cpu" in controllers.split(","):
            top = root / "sys/fs/cgroup" / ("cpu" if controllers else "")
            group = top / path.lstrip("/")
            groups = [group, *group.parents]
            quotas += [_quota(group) for group in groups[: groups.index(top) + 1]]
    return quotas


def _quota(group: Path) -> float:
    """Of one group; infinite where it has none."""
    with suppress(OSError, ValueError):
        quota, period = (group / "cpu.max").read_text(encoding="utf-8").split()  # "max" is no number
        return int(quota) / int(period)
    with suppress(OSError, ValueError):
        quota, period = ((group / f"cpu.cfs_{part}_us").read_text(encoding="utf-8") for part in ("quota", "period"))
        return int(quota) / int(period) if int(quota) > 0 else math.inf
    return math.inf
