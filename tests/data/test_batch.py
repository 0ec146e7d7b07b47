"""Padding, masks, and the one-step shift."""

import numpy as np
import pytest
import torch

from translate.data.batch import IGNORE_INDEX, Example, Padded, collate, collate_padded

PAD, BOS, EOS = 0, 2, 3


def test_targets_are_shifted_by_one_step():
    batch = collate([Example([7, EOS], [10, 11, 12, EOS])], pad_id=PAD, bos_id=BOS)
    assert batch.tgt_in_ids.tolist() == [[BOS, 10, 11, 12]]
    assert batch.labels.tolist() == [[10, 11, 12, EOS]]


def test_unequal_lengths_are_padded_and_masked():
    batch = collate([Example([7, 8, EOS], [9, EOS]), Example([EOS], [4, 5, 6, EOS])], pad_id=PAD, bos_id=BOS)
    assert batch.src_ids.tolist() == [[7, 8, EOS], [EOS, PAD, PAD]]
    assert batch.src_mask.tolist() == [[True] * 3, [True, False, False]]
    assert batch.tgt_in_ids.tolist() == [[BOS, 9, PAD, PAD], [BOS, 4, 5, 6]]
    assert batch.tgt_mask.tolist() == [[True, True, False, False], [True] * 4]
    assert batch.labels.tolist() == [[9, EOS, IGNORE_INDEX, IGNORE_INDEX], [4, 5, 6, EOS]]
    assert batch.num_tokens == 6


def test_any_batch_agrees_with_a_loop_over_its_positions():
    rng = np.random.default_rng(0)
    for _ in range(20):
        examples = [
            Example(*(rng.integers(4, 99, rng.integers(1, 9)).astype(np.uint16) for _ in range(2))) for _ in range(5)
        ]
        batch = collate(examples, pad_id=PAD, bos_id=BOS)
        assert batch.src_ids.dtype == batch.tgt_in_ids.dtype == batch.labels.dtype == torch.int64
        for row, example in enumerate(examples):
            tgt = example.tgt_ids.tolist()
            padding = batch.labels.shape[1] - len(tgt)
            assert batch.labels[row].tolist() == tgt + [IGNORE_INDEX] * padding
            assert batch.tgt_in_ids[row].tolist() == [BOS, *tgt[:-1]] + [PAD] * padding
            assert batch.src_ids[row][batch.src_mask[row]].tolist() == example.src_ids.tolist()
            assert (batch.src_ids[row][~batch.src_mask[row]] == PAD).all()


def test_labels_are_ignored_exactly_where_the_mask_is_false():
    batch = collate([Example([EOS], [9, EOS]), Example([EOS], [EOS])], pad_id=PAD, bos_id=BOS)
    assert torch.equal(batch.labels == IGNORE_INDEX, ~batch.tgt_mask)


def test_what_stands_behind_the_tokens_of_a_padded_side_does_not_matter():
    examples = [Example([7, 8, EOS], [9, EOS]), Example([EOS], [4, EOS])]
    src = Padded(np.array([[7, 8, EOS, 55], [EOS, 66, 77, 88]], np.uint16), np.array([3, 1], np.int32))
    tgt = Padded(np.array([[9, EOS, 44], [4, EOS, 33]], np.uint16), np.array([2, 2], np.int32))
    batch, expected = collate_padded(src, tgt, pad_id=PAD, bos_id=BOS), collate(examples, pad_id=PAD, bos_id=BOS)
    for name, tensor in vars(expected).items():
        assert torch.equal(vars(batch)[name], tensor), name


@pytest.mark.parametrize("new", [[4, EOS], [4, 5, 6, 7, EOS]], ids=["shorter", "longer than all"])
def test_rows_of_a_padded_side_are_replaced_by_others_of_any_length(new):
    side = Padded.of([[7, 8, EOS], [9, EOS], [EOS]])
    changed = side.replaced([1], [new])
    rows = [ids[:length].tolist() for ids, length in zip(*changed, strict=True)]
    assert rows == [[7, 8, EOS], new, [EOS]]
    assert [ids[:length].tolist() for ids, length in zip(*side, strict=True)] == [[7, 8, EOS], [9, EOS], [EOS]]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_pinned_batch_arrives_whole_on_the_gpu():
    batch = collate([Example([7, 8, EOS], [9, EOS]), Example([EOS], [4, EOS])], pad_id=PAD, bos_id=BOS)
    pinned = batch.pin_memory()
    assert pinned.src_ids.is_pinned()
    arrived = pinned.to("cuda", non_blocking=True)
    assert torch.equal(arrived.labels.cpu(), batch.labels)
    assert arrived.num_tokens == batch.num_tokens


def test_a_batch_moves_as_a_whole():
    batch = collate([Example([7, EOS], [9, EOS])], pad_id=PAD, bos_id=BOS).to("meta")
    assert {t.device.type for t in (batch.src_ids, batch.src_mask, batch.tgt_in_ids, batch.tgt_mask, batch.labels)} == {
        "meta"
    }
