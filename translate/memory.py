"""The memory of this process: what it takes, and what torch's libraries may keep of it; imports nothing heavy."""

import os

from translate.cores import available_cores

KEPT_SHAPES = 32  # of matmuls, by each thread: those that the layers of a step have in common are about half as many


def limit_kernel_caches() -> None:
    """Let torch and oneDNN, which multiply 16-bit matrices on a CPU, keep kernels for few shapes of matmuls only.

    They keep 1,024 each, and a kernel takes 200 to 400 KiB. Batches of text hardly ever repeat a shape, so that all but
    the latest kernels are of no use. Both caches read their size when the first such matrices are multiplied; what the
    user has set in the environment stays.
    """
    threads = available_cores()
    os.environ.setdefault("LRU_CACHE_CAPACITY", str(KEPT_SHAPES))  # torch's: one cache for each thread
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(KEPT_SHAPES * threads))  # one cache for all of them
