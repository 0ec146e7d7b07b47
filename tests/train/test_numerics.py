"""The fast path of training against plain arithmetic in float64."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from translate.config.model import ModelConfig
from translate.config.train import TrainConfig
from translate.config.trainer import TrainerConfig
from translate.data.batch import Batch, Example, collate
from translate.model.transformer import Transformer, build_model, record_attention
from translate.train.setup import make_module


def make_batch() -> Batch:
    generator = torch.Generator().manual_seed(0)
    lengths = torch.randint(3, 40, (24, 2), generator=generator).tolist()
    rows = [[torch.randint(4, 600, (length,), generator=generator).tolist() for length in pair] for pair in lengths]
    return collate([Example([*src, 3], [*tgt, 3]) for src, tgt in rows], pad_id=0, bos_id=2)


def make_model(**changes: object) -> Transformer:
    torch.manual_seed(1)
    shape = {"d_model": 64, "d_ff": 128, "num_heads": 4, "num_encoder_layers": 2, "num_decoder_layers": 2}
    return build_model(ModelConfig(**shape | {"dropout": 0.0, "embedding_dropout": 0.0} | changes), 600, 600)


def reference(model: Transformer, batch: Batch) -> tuple[Tensor, list[Tensor]]:
    """Loss and gradients in float64, with weights of attention that are built and logits of every position."""
    model = model.double()
    attentions = [module for module in model.modules() if hasattr(module, "recorded")]
    with record_attention(attentions):  # type: ignore[arg-type]
        logits = model(batch.src_ids, batch.tgt_in_ids, batch.src_mask, batch.tgt_mask)
    loss = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), batch.labels.flatten(), label_smoothing=0.1, reduction="sum"
    )
    return loss.detach(), list(torch.autograd.grad(loss, list(model.parameters())))


HALF = {"bf16-mixed": torch.bfloat16, "16-mixed": torch.float16}
SCALE = 2.0**16  # with which a gradient scaler begins


def fast(model: Transformer, batch: Batch, precision: str, workers: int = 1) -> tuple[Tensor, list[Tensor]]:
    config = TrainConfig(trainer=TrainerConfig(precision=precision, workers=workers))
    module = make_module(model, config).train()
    with torch.autocast("cpu", HALF.get(precision), enabled=precision in HALF):
        outputs = module.training_step(batch, 0)
    (SCALE * torch.as_tensor(outputs["loss"])).backward()  # type: ignore[no-untyped-call]
    grads = [p.grad * config.data.batch_tokens / SCALE for p in model.parameters() if p.grad is not None]
    return torch.as_tensor(outputs["loss_sum"]), grads


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("precision", "of_loss", "of_gradient"), [("32", 1e-6, 1e-5), ("bf16-mixed", 1e-4, 0.1)])
@pytest.mark.parametrize("changes", [{}, {"norm_first": False}, {"num_kv_heads": 2, "positions": "rotary"}], ids=str)
@pytest.mark.slow
def test_loss_and_gradients_are_those_of_plain_float64(
    precision: str, of_loss: float, of_gradient: float, changes: dict[str, object], workers: int
) -> None:
    """Relative errors: of the loss, and of each parameter's gradient as the norm of the difference.

    bfloat16 has 8 bits, an error of 0.4 % in each of some dozens of roundings on the way.
    """
    batch = make_batch()
    loss, grads = fast(make_model(**changes), batch, precision, workers)
    expected_loss, expected_grads = reference(make_model(**changes), batch)
    assert float(loss) == pytest.approx(float(expected_loss), rel=of_loss)
    assert len(grads) == len(expected_grads)
    largest = max(float(grad.norm()) for grad in expected_grads)
    for grad, expected in zip(grads, expected_grads, strict=True):
        error = float((grad - expected).norm() / max(float(expected.norm()), 1e-4 * largest))
        assert error <= of_gradient


def test_float16_is_as_good_where_sums_over_the_vocabulary_exceed_it() -> None:
    """As trained networks do, this one has hidden states and an output projection whose means are not 0."""

    def make() -> Transformer:
        model = make_model()
        with torch.no_grad():
            model.decoder_norm.bias.fill_(2.0)
            model.output.weight += 0.1
        return model

    batch = make_batch()
    (loss, grads), (expected, expected_grads) = fast(make(), batch, "16-mixed"), reference(make(), batch)
    assert float(loss) == pytest.approx(float(expected), rel=1e-4)
    total, expected_total = (torch.cat([grad.flatten() for grad in some]) for some in (grads, expected_grads))
    assert float((total - expected_total).norm()) <= 0.01 * float(expected_total.norm())
    sums = []
    for enabled in (False, True):
        module = make_module(make().eval(), TrainConfig())
        with torch.autocast("cpu", torch.float16, enabled=enabled), torch.no_grad():
            module.validation_step(batch, 0)
        sums.append(module._valid_sums)
    assert_close(sums[1], sums[0], atol=0, rtol=1e-4)
