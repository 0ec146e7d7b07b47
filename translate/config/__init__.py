"""Every setting of the project, a file a group: its type, default, range and check, once.

Hydra composes `conf/` over these dataclasses (`compose.py`), so an unknown key or a wrong type is refused while the
command line is read; `__post_init__` checks ranges and pairs. YAML holds the values that differ from here and explains
every key. It may import `common` alone, and nothing but `compose.py` loads torch, lightning or hydra at import time,
so that `--help` answers at once. Read `train.py` first.
"""
