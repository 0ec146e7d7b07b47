"""The memory of this process: what it takes, and what torch's libraries may keep of it.

Importing it loads nothing heavy, so that memory can be measured early.
"""

import os
import re
import sys
from pathlib import Path

from translate.common.cores import available_cores

KEPT_SHAPES = 32  # of matmuls, by each thread: a training step takes equally long with 16 to 128


def limit_kernel_caches() -> None:
    """Let torch and oneDNN, which multiply 16-bit matrices on a CPU, keep kernels for few shapes of matmuls only.

    They keep 1,024 each, and a kernel takes 200 to 400 KiB. Batches of text hardly ever repeat a shape, so that all but
    the latest kernels are of no use. Both caches read their size when the first such matrices are multiplied; what the
    user has set in the environment stays.
    """
    of_all = KEPT_SHAPES * available_cores()
    os.environ.setdefault("LRU_CACHE_CAPACITY", str(KEPT_SHAPES))  # torch's: each thread has one
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(of_all))


def high_water() -> int:
    """Return the largest resident size of the process so far, or since `restart_high_water`, in bytes."""
    if marked := status_bytes("VmHWM"):
        return marked
    import resource  # not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def restart_high_water() -> int:
    """Restart the high-water mark at the resident size, and return that; where it cannot restart, the mark."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return high_water()
    return status_bytes("VmRSS") or high_water()


def status_bytes(name: str, process: int | None = None) -> int | None:
    """Return a size of a process (null: this one) in bytes, such as VmHWM, where the system has /proc."""
    path = Path(f"/proc/{process or 'self'}/status")
    found = re.search(rf"^{name}:\s+(\d+) kB", path.read_text() if path.exists() else "", re.MULTILINE)
    return int(found[1]) * 1024 if found else None
