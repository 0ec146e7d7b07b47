"""How many cores are there for this process. Importing it loads nothing heavy."""

import math
import os
from contextlib import suppress
from pathlib import Path


def available_cores(root: Path = Path("/"), *, processes: int = 1) -> int:
    """Return how many cores this process can keep busy, at least 1; everything in this package asks here.

    That is the least of the cores that it may run on, the CPU quota of its container, a part of a core counted as one,
    and OMP_NUM_THREADS where that is set.

    Args:
        root: Where proc/ and sys/ are.
        processes: How many processes of a run share the cores and the quota; OMP_NUM_THREADS is of each.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    limits = [float(wanted)] if wanted.isdigit() else []
    shared = math.ceil(min([cores, *_quotas(root)])) // processes
    return int(max(1, min([shared, *limits])))


def _quotas(root: Path) -> list[float]:
    """Yield the CPU quotas, in cores, of the control groups, version 1 or 2, that the process is in."""
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
    """Return the CPU quota of one control group; infinite where it has none."""
    with suppress(OSError, ValueError):
        quota, period = (group / "cpu.max").read_text(encoding="utf-8").split()  # "max" is no number
        return int(quota) / int(period)
    with suppress(OSError, ValueError):
        quota, period = ((group / f"cpu.cfs_{part}_us").read_text(encoding="utf-8") for part in ("quota", "period"))
        return int(quota) / int(period) if int(quota) > 0 else math.inf
    return math.inf


def limit_threads(threads: int | None = None, *, processes: int = 1) -> None:
    """Let torch use `threads` threads on the CPU, or no more than there are cores: it does not see a container's quota.

    Args:
        threads: Number the user asks for; None leaves torch's number where it is not too large.
        processes: How many processes of a run share this machine's cores.
    """
    import torch

    torch.set_num_threads(threads or min(torch.get_num_threads(), available_cores(processes=processes)))
