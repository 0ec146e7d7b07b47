"""What a model has beside its network: learnt from the training text, and kept from the start of its run."""

from translate.data.datamodule import TranslationDataModule
from translate.native.shortlist import PAIRS, Shortlist
from translate.translator.beside import Beside
from translate.translator.recognition import Recognizer
from translate.translator.truecasing import Truecaser


def learn_beside(
    data: TranslationDataModule, languages: tuple[str, str], kept: Beside, *, both_directions: bool
) -> Beside:
    """Return what a translator has beside the network.

    Args:
        data: Data of the run, prepared; a glossary that its sources are annotated with goes before that of the start.
        languages: Codes of source and target.
        kept: What the start of the run had; what the training text contradicts is left out, and so is what is of other
            languages.
        both_directions: Whether the model translates both ways, so that the languages of texts must be told apart.
    """
    kept = kept.of_languages(languages)
    recognizer = Recognizer.learn(languages, *data.texts(), kept.recognizer) if both_directions else None
    memory = kept.memory and kept.memory.agreeing(languages, zip(*data.texts(), strict=True))
    glossary = data.glossary or kept.glossary
    truecaser = Truecaser.learn(dict(zip(languages, data.texts(), strict=True)), kept.truecaser)
    return Beside(recognizer, memory, glossary, truecaser)


def learn_shortlist(data: TranslationDataModule, *, both_directions: bool) -> Shortlist:
    """Learn from the training pairs which tokens a translation may need."""
    directions = [data.token_ids(PAIRS)]
    if both_directions:
        directions.append(data.token_ids(PAIRS)[::-1])
    tokenizer = data.tokenizer
    return Shortlist.learn(
        directions,
        *(tokenizer.src_vocab_size, tokenizer.tgt_vocab_size),
        special_ids=(tokenizer.pad_id, tokenizer.unk_id, tokenizer.bos_id, tokenizer.eos_id),
        copies=tokenizer.joint,
    )
