"""Trains a small `MarianMTModel`, as nobody's weights of a real one can be had everywhere, to be converted.

The training is Hugging Face's alone: their network, their tokenizer, a plain loop. Two SentencePiece models and a
vocabulary between them are learnt from the text, as OPUS-MT has them.

Usage: python stand_in.py TRAIN.en.gz TRAIN.fr.gz OUTPUT EPOCHS
"""

import gzip
import json
import random
import sys
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import sentencepiece
import torch
import transformers

_PIECES = 6000  # of each language
_TOKENS = 2500  # target tokens of a batch
_WARMUP, _RATE = 600, 1e-3
_SIZES = {"d_model": 256}
for _side in ("encoder", "decoder"):
    _SIZES |= {f"{_side}_layers": 3, f"{_side}_ffn_dim": 1024, f"{_side}_attention_heads": 4}


def learn_tokenizer(texts: dict[str, list[str]], output: Path) -> Any:
    """Write `source.spm`, `target.spm` and `vocab.json`, and return their tokenizer."""
    pieces = ["</s>", "<unk>"]
    for name, lines in zip(("source", "target"), texts.values(), strict=True):
        model = BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_writer=model, vocab_size=_PIECES, bos_id=-1, minloglevel=2
        )
        (output / f"{name}.spm").write_bytes(model.getvalue())
        learnt = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
        pieces += [piece for piece in map(learnt.id_to_piece, range(len(learnt))) if piece not in ("</s>", "<unk>")]
    order = [*dict.fromkeys(pieces), "<pad>"]
    (output / "vocab.json").write_text(json.dumps({piece: place for place, piece in enumerate(order)}))
    source, target = texts
    tokenizer = transformers.MarianTokenizer(
        *(str(output / name) for name in ("source.spm", "target.spm", "vocab.json")),
        source_lang=source,
        target_lang=target,
    )
    tokenizer.save_pretrained(output)
    return tokenizer


def make_model(vocab_size: int) -> Any:
    """Return a fresh network."""
    config = transformers.MarianConfig(
        vocab_size=vocab_size,
        activation_function="swish",
        scale_embedding=True,
        dropout=0.1,
        pad_token_id=vocab_size - 1,
        eos_token_id=0,
        forced_eos_token_id=0,
        decoder_start_token_id=vocab_size - 1,
        max_length=128,
        num_beams=4,
        bad_words_ids=[[vocab_size - 1]],
        max_position_embeddings=256,
        **_SIZES,
    )
    return transformers.MarianMTModel(config)


def batches(pairs: list[tuple[list[int], list[int]]], pad_id: int) -> Iterator[dict[str, torch.Tensor]]:
    """Yield the pairs in batches of like length, in random order."""
    order = sorted(pairs, key=lambda pair: (len(pair[1]), len(pair[0]), random.random()))
    groups: list[list[tuple[list[int], list[int]]]] = [[]]
    for pair in order:
        if groups[-1] and len(pair[1]) * (len(groups[-1]) + 1) > _TOKENS:
            groups.append([])
        groups[-1].append(pair)
    random.shuffle(groups)
    for group in groups:
        source, target = (
            torch.nn.utils.rnn.pad_sequence([torch.tensor(ids) for ids in side], True, pad_id)
            for side in zip(*group, strict=True)
        )
        yield {
            "input_ids": source,
            "attention_mask": (source != pad_id).long(),
            "labels": target.masked_fill(target == pad_id, -100),
        }


def train(source_file: str, target_file: str, directory: str, epochs: str) -> None:
    """Train and save a model."""
    output = Path(directory)
    output.mkdir(parents=True)
    texts = {}
    for file in (source_file, target_file):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            texts[Path(file).suffixes[-2][1:]] = [line.strip() for line in lines]
    tokenizer = learn_tokenizer(texts, output)
    source, target = texts.values()
    pairs = list(zip(tokenizer(source).input_ids, tokenizer(text_target=target).input_ids, strict=True))
    torch.manual_seed(1)
    random.seed(1)
    model = make_model(len(tokenizer)).train()
    optimizer = torch.optim.AdamW(model.parameters(), _RATE, betas=(0.9, 0.98), weight_decay=0.01)
    total = int(epochs) * sum(1 for _ in batches(pairs, tokenizer.pad_token_id))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, step / _WARMUP) * max(0.0, 1 - step / total)
    )
    start, step, smoothed = time.monotonic(), 0, 0.0
    for _ in range(int(epochs)):
        for batch in batches(pairs, tokenizer.pad_token_id):
            labels = batch.pop("labels")
            decoder_ids = model.prepare_decoder_input_ids_from_labels(labels)
            logits = model(**batch, decoder_input_ids=decoder_ids).logits
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), label_smoothing=0.1)
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
            step += 1
            smoothed = 0.98 * smoothed + 0.02 * float(loss.detach())
            if step % 50 == 0:
                left = (time.monotonic() - start) / step * (total - step) / 60
                print(f"step {step:,} of {total:,}  loss {smoothed:.3f}  {left:.0f} minutes left", flush=True)
    model.save_pretrained(output)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    train(*sys.argv[1:])
