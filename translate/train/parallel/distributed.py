"""Data-parallel processes: who started them, which of them this is, and how they share the training."""

import os
import shlex
from datetime import timedelta
from pathlib import Path

from lightning.fabric.plugins.environments.cluster_environment import ClusterEnvironment
from lightning.fabric.plugins.environments.lightning import LightningEnvironment
from lightning.fabric.plugins.environments.slurm import SLURMEnvironment
from lightning.fabric.plugins.environments.torchelastic import TorchElasticEnvironment
from lightning.pytorch.strategies import DDPStrategy, Strategy
from torch.distributed import DistError

from translate.common.errors import first_line
from translate.config.trainer import TrainerConfig
from translate.train import LAST_CHECKPOINT
from translate.train.parallel.sharded import ShardedStrategy

TIMEOUT = timedelta(minutes=10)  # of a collective, during which the first process may translate in a validation


def launch_environment(config: TrainerConfig) -> ClusterEnvironment:
    """Return what started this process: SLURM, torchrun, or else Lightning, which starts the others of its machine.

    Raises:
        ValueError: If SLURM or torchrun has started other processes than the settings name.
    """
    environment: ClusterEnvironment
    if SLURMEnvironment.detect():
        per_node = os.environ.get("SLURM_NTASKS_PER_NODE")
        if per_node is None and os.environ["SLURM_NTASKS"] != "1":
            raise ValueError("SLURM does not say how many processes a node has; start with --ntasks-per-node")
        environment = SLURMEnvironment(auto_requeue=False)  # `Resumable` saves on SIGTERM
        _check_processes("SLURM", environment.world_size(), int(per_node or 1), config)
    elif TorchElasticEnvironment.detect():
        environment = TorchElasticEnvironment()
        _check_processes("torchrun", environment.world_size(), int(os.environ["LOCAL_WORLD_SIZE"]), config)
    else:
        environment = LightningEnvironment()
        environment.set_global_rank(environment.node_rank() * config.devices + environment.local_rank())
    return environment


def processes_here(config: TrainerConfig) -> int:
    """Return how many processes of the run share the cores that this one sees.

    SLURM gives every process cores, and torchrun a number of threads; those that Lightning starts share all cores.
    """
    return config.devices if isinstance(launch_environment(config), LightningEnvironment) else 1


def _check_processes(starter: str, total: int, per_node: int, config: TrainerConfig) -> None:
    if (per_node, total) != (config.devices, config.devices * config.num_nodes):
        raise ValueError(
            f"{starter} has started {total} processes, {per_node} of them on each node, which is not what "
            f"trainer.devices ({config.devices}) and trainer.num_nodes ({config.num_nodes}) say; set "
            f"trainer.devices={per_node} trainer.num_nodes={-(-total // per_node)}"
        )


def make_strategy(config: TrainerConfig) -> Strategy | str:
    """Return how the processes share the training."""
    processes = config.devices * config.num_nodes
    if config.strategy == "fsdp":
        return ShardedStrategy(processes, TIMEOUT)
    return DDPStrategy(timeout=TIMEOUT) if config.strategy == "ddp" or processes > 1 else "auto"


def explain_lost_process(error: RuntimeError, run_dir: Path) -> str | None:
    """Return the message for a collective that failed because another process is gone; None for another error."""
    if not isinstance(error, DistError) and "gloo" not in str(error):
        return None
    lost = f"this run has lost, or never found, another of its processes ({first_line(error)})"
    if (run_dir / LAST_CHECKPOINT).exists():
        return f"{lost}; go on with\n  {resume_command(run_dir)}"
    if not run_dir.is_dir():  # the first process named it by its own clock
        return f"{lost}; go on with resume=DIR, the newest directory in {run_dir.parent}, if it has a checkpoint"
    return f"{lost}; there is no checkpoint yet, so start again"


def resume_command(run_dir: Path) -> str:
    """Return the command that resumes a run, started the way this process was."""
    command = f"-m translate.train resume={shlex.quote(str(run_dir))}"
    if SLURMEnvironment.detect():
        return f"srun python {command}"
    return f"torchrun … {command}" if TorchElasticEnvironment.detect() else f"python {command}"
