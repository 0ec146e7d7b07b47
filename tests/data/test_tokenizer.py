"""The tokenizer gives back what it was given, has fixed ids and says what it cannot do."""

import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from translate.data.cleaning import clean_text
from translate.data.tokenizer import Tokenizer

EN = [
    *("The cat sat on the mat.", "A dog runs in the park!", "Two children play with a red ball?", "<2fr> Hello, world"),
    *("An old man is reading his newspaper.", "We will travel to the mountains tomorrow morning."),
] * 20
FR = [
    *(
        "Le chat était assis sur le tapis.",
        "Un chien court dans le parc !",
        "Deux enfants jouent au ballon.",
        "Bonjour",
    ),
    *("Un vieil homme lit son journal.", "Nous voyagerons demain matin à la montagne."),
] * 20
KINDS = ("bpe", "unigram")


def train(kind: str = "bpe", vocab_size: int = 340, **options) -> Tokenizer:
    return Tokenizer.train(EN, FR, kind=kind, vocab_size=vocab_size, **options)


TOKENIZERS = {kind: train(kind) for kind in KINDS}
NASTY = [
    "",
    "a  b   c",
    "👨‍👩‍👧 family 🏴󠁧󠁢󠁥󠁮󠁧󠁿 flag",
    "ሰላም ᚠᚢᚦ 𒀀𒁀 ꙮ",
    "مرحبا שלום",
    "<s> </s> <unk> <pad> <0x41>",
    "⁇ ⁇",
    "10 000 €\u202f: « oui »",
    "snake_case __init__",
    "ﷺ Å Ω ﬁ ２",
    "\x00 and \x7f",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", NASTY)
def test_decoding_undoes_encoding_of_nasty_strings(kind, text):
    tokenizer, text = TOKENIZERS[kind], clean_text(text)
    assert tokenizer.decode(tokenizer.encode_tgt(text)) == text


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=200, deadline=None)
@given(text=st.text(st.characters(exclude_categories=()), max_size=30))
def test_decoding_undoes_encoding_of_every_clean_string(kind, text):
    tokenizer, clean = TOKENIZERS[kind], clean_text(text)
    assert tokenizer.decode(tokenizer.encode_tgt(clean)) == clean


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=50, deadline=None)
@given(text=st.text(st.sampled_from("▁ _\t\n\u00a0ae\u0301"), max_size=20))
def test_the_space_mark_and_spaces_survive_cleaning_and_encoding(kind, text):
    clean = clean_text(text, normalize_unicode=False, remove_control_chars=False)
    assert TOKENIZERS[kind].decode(TOKENIZERS[kind].encode_tgt(clean)) == clean


@pytest.mark.parametrize("joint", [True, False])
def test_special_ids_are_fixed_and_eos_ends_every_sentence(joint):
    tokenizer = train(vocab_size=320, joint=joint)
    assert (tokenizer.pad_id, tokenizer.unk_id, tokenizer.bos_id, tokenizer.eos_id) == (0, 1, 2, 3)
    assert tokenizer.pieces_src([0, 1, 2, 3]) == tokenizer.pieces_tgt([0, 1, 2, 3]) == ["<pad>", "<unk>", "<s>", "</s>"]
    for encode in (tokenizer.encode_src, tokenizer.encode_tgt):
        assert encode("")[-1:] == [3]
        ids = encode("The ꙮ chat")
        assert ids.count(3) == 1
        assert ids[-1] == 3
        assert not {0, 1, 2} & set(ids)


def test_decoding_leaves_special_ids_out():
    tokenizer = TOKENIZERS["bpe"]
    assert tokenizer.decode([2, *tokenizer.encode_tgt("Un chien"), 0, 0]) == "Un chien"
    batch = [[], [2, 3], tokenizer.encode_tgt("Un chien")]
    assert (tokenizer.decode_batch(batch), tokenizer.decode_batch([])) == (["", "", "Un chien"], [])


def test_batches_encode_as_single_sentences_do():
    tokenizer = TOKENIZERS["bpe"]
    assert tokenizer.encode_src_batch(EN[:4]) == [tokenizer.encode_src(text) for text in EN[:4]]
    assert tokenizer.encode_tgt_batch([]) == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_text_gives_the_same_model(kind):
    assert train(kind).fingerprint == TOKENIZERS[kind].fingerprint
    assert train(kind, vocab_size=330).fingerprint != TOKENIZERS[kind].fingerprint


@pytest.mark.parametrize(("joint", "files"), [(True, 1), (False, 2)])
def test_a_saved_tokenizer_loads_as_it_was(tmp_path, joint, files):
    tokenizer = train(vocab_size=320, joint=joint, directory=tmp_path)
    loaded = Tokenizer.load(tmp_path)
    assert len(list(tmp_path.iterdir())) == files
    assert loaded.joint == joint
    assert loaded.fingerprint == tokenizer.fingerprint
    assert loaded.encode_src("The dog") == tokenizer.encode_src("The dog")
    assert (loaded.encode_src("Le chien") == loaded.encode_tgt("Le chien")) == joint


@pytest.mark.parametrize("kind", KINDS)
def test_a_vocabulary_too_large_names_the_largest_possible(kind):
    with pytest.raises(ValueError, match=r"vocab_size \(9000\) is too large .* largest possible is \d+") as error:
        train(kind, vocab_size=9000)
    largest = int(str(error.value).rpartition("=")[2].split()[0])
    assert train(kind, vocab_size=largest).src_vocab_size == largest
    with pytest.raises(ValueError, match=f"largest possible is {largest}"):
        train(kind, vocab_size=largest + 1)


def test_a_vocabulary_too_small_for_the_characters_says_how_many_there_are():
    with pytest.raises(ValueError, match=r"vocab_size \(280\) has no room for the characters.*set it above \d+"):
        train(vocab_size=280)


def test_no_text_is_an_error():
    with pytest.raises(ValueError, match="no text to train the tokenizer on"):
        Tokenizer.train([], [], vocab_size=300)


def test_user_symbols_stay_whole(tmp_path):
    tokenizer = train(user_symbols=["<2fr>", "a,b"])
    assert "<2fr>" in tokenizer.pieces_src(tokenizer.encode_src("x<2fr>y"))
    assert tokenizer.decode(tokenizer.encode_tgt("x <2fr>y a,b")) == "x <2fr>y a,b"
    with pytest.raises(ValueError, match="'a b' is empty or contains a space"):
        train(user_symbols=["a b"])


@pytest.mark.parametrize("kind", KINDS)
def test_sampling_varies_by_seed_and_repeats_with_it(kind):
    tokenizer = TOKENIZERS[kind]
    first, again, other = (tokenizer.encode_src_batch(EN, sampling=0.3, seed=seed) for seed in (5, 5, 6))
    assert first == again
    assert first != other
    assert first != tokenizer.encode_src_batch(EN)
    assert {len(ids) for ids in first if ids[-1] != 3} == set()
    sampled = tokenizer.encode_tgt_batch(FR, sampling=0.3, seed=2**40)
    assert [tokenizer.decode(ids) for ids in sampled] == FR


def test_sampling_does_not_depend_on_what_was_sampled_before():
    tokenizer, rng = TOKENIZERS["bpe"], random.Random(0)
    expected = tokenizer.encode_src_batch(EN, sampling=0.2, seed=1)
    tokenizer.encode_src_batch(EN[: rng.randrange(1, 9)], sampling=0.2, seed=77)
    assert tokenizer.encode_src_batch(EN, sampling=0.2, seed=1) == expected


def test_sampling_with_a_seed_is_the_same_in_every_process(tmp_path):
    TOKENIZERS["bpe"].save(tmp_path)
    code = (
        "import sys; from translate.data.tokenizer import Tokenizer; tokenizer = Tokenizer.load(sys.argv[1]); "
        "print(tokenizer.encode_src_batch(['The cat sat on the mat.'] * 200, sampling=0.3, seed=5))"
    )
    run = [sys.executable, "-c", code, str(tmp_path)]
    first, second = (subprocess.run(run, capture_output=True, text=True, check=True).stdout for _ in range(2))
    assert first == second
    assert len(set(first.split("], ["))) > 1


def test_training_writes_nothing_to_the_screen(capfd):
    train()
    assert capfd.readouterr() == ("", "")


def test_a_folder_without_a_tokenizer_and_foreign_models_are_refused(tmp_path):
    with pytest.raises(ValueError, match="no tokenizer in"):
        Tokenizer.load(tmp_path)
    for content in (b"not a model", b""):
        (tmp_path / "tokenizer.model").write_bytes(content)
        with pytest.raises(ValueError, match=rf"^{tmp_path}: not a SentencePiece model"):
            Tokenizer.load(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_trimmed_tokenizer_spells_what_it_lacks(tmp_path, kind):
    symbols = {"user_symbols": ["<br>"], "languages": ["fr"]}
    tokenizer = train(kind, vocab_size=345, **symbols)
    common = {token for text in FR[:2] for token in tokenizer.encode_tgt(text)}
    tokenizer.trimmed(common)[0].save(tmp_path)
    trimmed, (_, sources, kept) = Tokenizer.load(tmp_path), tokenizer.trimmed(common)
    assert sources == list(range(tokenizer.src_vocab_size))
    assert trimmed.src_vocab_size == tokenizer.src_vocab_size
    assert trimmed.tgt_vocab_size == len(kept) < tokenizer.tgt_vocab_size
    assert trimmed.pieces_tgt(range(len(kept))) == tokenizer.pieces_tgt(kept)
    assert (kept[:4], trimmed.joint) == ([0, 1, 2, 3], False)
    for text in (*FR, *EN, "a<br>b", *map(clean_text, NASTY)):
        ids = trimmed.encode_tgt(text)
        assert max(ids) < len(kept)
        assert trimmed.decode(ids) == text
        assert trimmed.encode_src(text) == tokenizer.encode_src(text)
    for text in FR[:2]:
        assert [kept[token] for token in trimmed.encode_tgt(text)] == tokenizer.encode_tgt(text)
    assert "<br>" in trimmed.pieces_tgt(trimmed.encode_tgt("a<br>b"))
    again, _, same = trimmed.trimmed(range(trimmed.tgt_vocab_size))
    assert (again.tgt_vocab_size, same) == (len(kept), list(range(len(kept))))
