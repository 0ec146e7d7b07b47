"""Our weights in Hugging Face's M2M100 (norm first) or Marian (norm last), and its `generate`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from translate.benchmark.peers import unfit_marian
from translate.config.decode import DecodeConfig
from translate.config.model import ModelConfig
from translate.convert.huggingface import names_and_tensors
from translate.data.batch import Batch, Example, collate
from translate.data.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID, Tokenizer
from translate.model.positions import sinusoids
from translate.model.transformer import Transformer

_TOLERANCE = 1e-4  # of logits


def unfit_peer(network: ModelConfig) -> list[str]:
    """Return why no model of Hugging Face's can hold ours; nothing where one can."""
    reasons = [] if find_spec("transformers") else ["pip install transformers"]
    reasons += unfit_marian(network)
    if network.norm_first and not (network.share_embeddings and network.tie_output):
        reasons.append("M2M100, which has the norm first, has no share_embeddings=false or tie_output=false")
    return reasons


def save_peer(directory: Path, model: Transformer, tokenizer: Tokenizer, network: ModelConfig, positions: int) -> None:
    """Write our weights as a directory of theirs, with our tokenizer.

    Args:
        directory: Where to write.
        model: The network, float32, in eval mode.
        tokenizer: Its tokenizer.
        network: Its settings, which `unfit_peer` has nothing against.
        positions: How many tokens a sentence may have.

    Raises:
        ValueError: If what was written gives other logits than ours.
    """
    peer = _build(tokenizer, network, positions)
    missing, unexpected = peer.load_state_dict(dict(names_and_tensors(model)), strict=False)
    assert not unexpected, unexpected
    assert all("embed_positions" in name or name == "final_logits_bias" for name in missing), missing  # zeros
    peer.save_pretrained(directory)
    tokenizer.save(directory)
    if (difference := logits_difference(load_peer(directory), model, tokenizer)) > _TOLERANCE:
        raise ValueError(f"{type(peer).__name__} with our weights has other logits: up to {difference:.2g} apart")


def load_peer(directory: Path | str) -> nn.Module:
    """Read what `save_peer` wrote."""
    model: Any = _transformers().AutoModelForSeq2SeqLM.from_pretrained(directory, attn_implementation="sdpa")
    for part in (model.model.encoder, model.model.decoder):
        _set_positions(part.embed_positions, model.config)
    return cast(nn.Module, model.eval())


def logits_difference(peer: nn.Module, model: Transformer, tokenizer: Tokenizer) -> float:
    """Return the largest difference of a logit over a padded batch of random sentence pairs."""
    draw = torch.Generator().manual_seed(1)
    sizes = (tokenizer.src_vocab_size, tokenizer.tgt_vocab_size)
    examples = [
        Example(*(torch.randint(EOS_ID, size, (length,), generator=draw).tolist() for size in sizes))
        for length in (3, 40, 17)
    ]
    batch = collate(examples, pad_id=PAD_ID, bos_id=BOS_ID)
    with torch.inference_mode():
        ours = model(batch.src_ids, batch.tgt_in_ids, batch.src_mask, batch.tgt_mask)
    return float((ours - peer_logits(peer, batch))[batch.tgt_mask].abs().max())


@torch.inference_mode()
def peer_logits(peer: nn.Module, batch: Batch) -> Tensor:
    """Return the logits [B, T, V] of a model of theirs; row t predicts token t + 1 of the target."""
    found: Tensor = peer(
        input_ids=batch.src_ids,
        attention_mask=batch.src_mask.long(),
        decoder_input_ids=batch.tgt_in_ids,
        decoder_attention_mask=batch.tgt_mask.long(),
    ).logits
    return found


@torch.inference_mode()
def generate(peer: nn.Module, sources: Sequence[list[int]], decode: DecodeConfig, beam_size: int) -> list[list[int]]:
    """Return the target ids, EOS last, of the best hypothesis of each source in one batch."""
    src_ids = pad_sequence([torch.tensor(ids) for ids in sources], batch_first=True, padding_value=PAD_ID)
    device = next(peer.parameters()).device
    penalty = {"length_penalty": decode.length_penalty} if beam_size > 1 else {}
    found: Tensor = cast(Any, peer).generate(
        input_ids=src_ids.to(device),
        attention_mask=(src_ids != PAD_ID).long().to(device),
        num_beams=beam_size,
        do_sample=False,
        max_new_tokens=decode.max_output_len,
        suppress_tokens=[PAD_ID, BOS_ID, UNK_ID],
        **penalty,
    )
    return [[token for token in row if token != PAD_ID] for row in found[:, 1:].tolist()]


def _transformers() -> Any:
    """Import the package and keep it quiet."""
    transformers = import_module("transformers")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers


def _build(tokenizer: Tokenizer, network: ModelConfig, positions: int) -> Any:
    transformers = _transformers()
    shared = {
        "vocab_size": tokenizer.src_vocab_size,
        "max_position_embeddings": positions,
        "d_model": network.d_model,
        "encoder_layers": network.num_encoder_layers,
        "decoder_layers": network.num_decoder_layers,
        "encoder_ffn_dim": network.d_ff,
        "decoder_ffn_dim": network.d_ff,
        "encoder_attention_heads": network.num_heads,
        "decoder_attention_heads": network.num_heads,
        "activation_function": network.activation,
        "scale_embedding": True,
        "tie_word_embeddings": network.tie_output,
        "pad_token_id": PAD_ID,
        "bos_token_id": BOS_ID,
        "eos_token_id": EOS_ID,
        "decoder_start_token_id": BOS_ID,
    }
    if network.norm_first:
        return transformers.M2M100ForConditionalGeneration(transformers.M2M100Config(**shared))
    shared["decoder_vocab_size"] = tokenizer.tgt_vocab_size
    shared["share_encoder_decoder_embeddings"] = network.share_embeddings
    return transformers.MarianMTModel(transformers.MarianConfig(**shared, forced_eos_token_id=None))


def _set_positions(embed: Any, config: Any) -> None:
    """Write our table for theirs: sines and cosines alternate; M2M100 counts from the row after padding's."""
    table = sinusoids(config.max_position_embeddings, config.d_model)
    if config.model_type == "m2m_100":
        embed.weights = torch.cat((torch.zeros(PAD_ID + 1, config.d_model), table))
    else:
        embed.weight = nn.Parameter(table, requires_grad=False)
