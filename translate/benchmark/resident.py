"""Resident memory of this process, as the system counts it; imports nothing heavy, so that it may be measured early."""

import re
import sys
from pathlib import Path


def high_water() -> int:
    """Most resident bytes of the process so far, or since `restart_high_water`."""
    if marked := status_bytes("VmHWM"):
        return marked
    import resource  # not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def restart_high_water() -> int:
    """Resident bytes now, from which the high-water mark starts again; where it cannot, the mark itself."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return high_water()
    return status_bytes("VmRSS") or high_water()


def status_bytes(name: str) -> int | None:
    """A size of the process in bytes, such as VmHWM, where the system has /proc."""
    path = Path("/proc/self/status")
    found = re.search(rf"^{name}:\s+(\d+) kB", path.read_text() if path.exists() else "", re.MULTILINE)
    return int(found[1]) * 1024 if found else None
