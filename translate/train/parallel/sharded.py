"""Training with weights, gradients and optimizer state spread over the processes (FSDP2)."""

from collections.abc import Sequence
from copy import deepcopy
from datetime import timedelta

from lightning.pytorch.strategies import ModelParallelStrategy
from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

from translate.config.train import TrainConfig
from translate.model.transformer import Transformer
from translate.train.module import TranslationModule


class ShardedStrategy(ModelParallelStrategy):
    """Lightning's strategy for FSDP2, over all processes, with checkpoints in one file.

    Args:
        processes: Number of processes.
        timeout: Longest time that a collective may take.
    """

    def __init__(self, processes: int, timeout: timedelta) -> None:
        super().__init__(processes, tensor_parallel_size=1, save_distributed_checkpoint=False, timeout=timeout)


class ShardedModule(TranslationModule):
    """Trains a sharded copy of its network.

    Args:
        model: The network. On the first process it gets the weights at each validation, for whatever needs it whole.
        config: As for `TranslationModule`.
        teachers: As for `TranslationModule`.
    """

    def __init__(self, model: Transformer, config: TrainConfig, teachers: Sequence[Transformer] = ()) -> None:
        super().__init__(deepcopy(model), config, teachers)
        self._whole = (model,)  # in a tuple, so that it is not trained

    def configure_model(self) -> None:
        """Shard each layer by itself, so that one at a time is gathered, and the rest together."""
        assert self.device_mesh is not None
        mesh = self.device_mesh["data_parallel"]
        for layer in (*self.model.encoder_layers, *self.model.decoder_layers):
            fully_shard(layer, mesh=mesh)
        fully_shard(self, mesh=mesh)
        for name in ("training_step", "validation_step"):  # what Lightning calls in place of `forward`
            register_fsdp_forward_method(self, name)

    def on_validation_epoch_start(self) -> None:
        """Reset the sums, and gather the weights on the first process, which translates."""
        from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict  # slow to import

        super().on_validation_epoch_start()
        weights = get_model_state_dict(self.model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
        if weights:
            self._whole[0].to(self.device).load_state_dict(weights)
