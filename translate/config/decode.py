"""Settings of the search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from translate.config.fields import check_settings, setting

METRICS = ("chrf", "bleu")  # that outputs can be compared with each other by
FORMAL, INFORMAL = "formal", "informal"
FRENCH = "fr"  # the only target language whose formality can be chosen
FORMALITIES = ("any", "consistent", FORMAL, INFORMAL)
PRECISIONS = ("32", "bf16", "16", "int8", "auto")  # that a trained model can be opened in


class DecodeChanges(TypedDict, total=False):
    """The settings of `DecodeConfig` as keyword arguments, for editors and type checkers; None = unchanged."""

    search: str | None
    beam_size: int | None
    beam_groups: int | None
    diversity_penalty: float | None
    length_penalty: float | None
    num_hypotheses: int | None
    min_output_len: int | None
    max_output_len: int | None
    min_output_ratio: float | None
    max_output_ratio: float | None
    repetition_guard: bool | None
    length_guard: bool | None
    copy_guard: bool | None
    form_guard: bool | None
    formality: str | None
    paragraph_len: int | None
    shortlist: bool | None
    shortlist_check: bool | None
    temperature: float | None
    top_k: int | None
    top_p: float | None
    seed: int | None
    memory: bool | None
    glossary: bool | None
    mbr: str | None
    batch_tokens: int | None


@dataclass
class DecodeConfig:
    """Settings of the search."""

    search: str = setting(
        "beam",
        "How outputs are found: beam (beam search), sample (drawn at random, independently, so that some may be "
        "equal) or sample_distinct (drawn at random without replacement: stochastic beam search).",
        choices=("beam", "sample", "sample_distinct"),
    )
    beam_size: int = setting(
        5,
        "Hypotheses that beam search follows at once per sentence; 1 is greedy search. More is slower, beyond 10 "
        "rarely better.",
        at_least=1,
    )
    beam_groups: int = setting(
        1,
        "Groups of a diverse beam search, which avoid each other's tokens; must divide beam_size. 1 = off.",
        at_least=1,
    )
    diversity_penalty: float = setting(
        0.5,
        "With beam_groups: nats that a token costs a group for each hypothesis of an earlier group that took it at "
        "the same step. It steers the search; scores stay those of the model.",
        above=0,
    )
    length_penalty: float = setting(
        1.0,
        "Exponent a in score = log_prob / length^a, with the length in tokens, EOS included: 0 ranks by probability "
        "and favours short outputs, 1 ranks by the mean log-probability of a token. Values of other formulas do not "
        "carry over.",
        at_least=0,
        at_most=10,
    )
    num_hypotheses: int = setting(
        1,
        "Outputs returned per sentence, best score first; at most beam_size with search=beam, any number of samples.",
        at_least=1,
    )
    min_output_len: int = setting(1, "Fewest tokens of an output, EOS included.", at_least=1)
    max_output_len: int = setting(
        256,
        "Most tokens of an output, EOS included; a longer output is cut there. At most model.max_positions with "
        "model.positions=learned.",
        at_least=1,
    )
    min_output_ratio: float = setting(
        0.0, "Fewest tokens of an output per source token; 0 = off.", at_least=0, at_most=1000
    )
    max_output_ratio: float = setting(
        3.0, "Most tokens of an output per source token, plus 10; 0 = off.", at_least=0, at_most=1000
    )
    repetition_guard: bool = setting(
        True,
        "Search again, with repetitions limited to two in a row, where the best output repeats up to 8 tokens 4 times "
        "in a row and the source does not repeat as much. Other sentences are left as they are.",
    )
    length_guard: bool = setting(
        True,
        "If the best output reached its limit without an end and has at least twice the tokens of the source plus 10, "
        "search again for outputs that end in time.",
    )
    copy_guard: bool = setting(
        False,
        "Translate again, with a common name or number as a stand-in, where the best output has lost a number of "
        "four or more digits or with decimals, a telephone number, a time of day, an amount of money, a temperature, a "
        "quantity, a fraction, a formula, an address of mail, page or file, a @name or #subject, or a word with "
        "characters that the tokenizer lacks, such as emoji, or, between English and French, an acronym such as WHO or "
        'OMS; with the word for it where it has lost "&"; in lower case '
        "a text of one word that came out as it is; and by themselves the words in brackets that end a sentence. "
        "Between English and French, numbers, amounts and times that were copied are written as the other language "
        "does. For models that know English names; texts with prefixes or alignments are left as they are.",
    )
    form_guard: bool = setting(
        False,
        "Translate without its form a sentence with the mark of a list before it, in quotation marks, brackets or "
        "emphasis, and one of five letters or more in capitals, which its translation gets back; and in lower case a "
        "text with the capitals of a title, or with the other case of its first letter one of up to three words, or "
        "of up to twelve or in lower case without a mark at its end, if that has the better score (not with "
        "alignments, nor if it holds a protected part or a term); with its first word in lower case a sentence of "
        "whose translation the model is unsure (beam search), if that makes it likelier and the word is no known "
        "name; and with their capitals the names in a text in lower case, as far as the training text told them. "
        "Between English and French, words that models hardly know, such as etc., are read in others; quotation "
        "marks and brackets within a sentence are read apart from its words, dates in one order, ordinals and "
        "millions of a currency as words, and translations get the spaces that their language has beside its marks. "
        "For models that have learnt little such text; not with prefixes.",
    )
    formality: str = setting(
        "any",
        "Whether translations into French say vous (formal) or tu (informal), as far as the outputs of a beam of 12 or "
        "more have it; consistent = a text that says both is translated in both ways, and the likelier one is taken; "
        "any = as each sentence comes out. Not with sampling, mbr or prefixes.",
        choices=FORMALITIES,
    )
    paragraph_len: int = setting(
        32,
        "Longest text of several sentences that is translated in one piece, in tokens with EOS. A longer one is cut "
        "where sentences end, as models learn from short texts. 0 = cut only what exceeds the longest source of "
        "training. Texts with a prefix are not cut for this.",
        at_least=0,
    )
    shortlist: bool = setting(
        True,
        "Let beam search in int8 choose among the tokens that the model's shortlist proposes for a batch of sources, "
        "if the model has one. Not with prefixes, and not where the guards search again.",
    )
    shortlist_check: bool = setting(
        True,
        "Score what a search with a shortlist found by the whole vocabulary, and search again with all of it where a "
        "better next token lies outside the shortlist. Without the check scores are estimates, and greedy search uses "
        "the shortlist too; with it that would save nothing.",
    )
    temperature: float = setting(
        1.0,
        "With sampling: divides the logits; above 1 draws more evenly, below 1 less.",
        at_least=0.0001,
        at_most=1000,
    )
    top_k: int = setting(0, "With sampling: draw from the k most probable tokens only; 0 = off.", at_least=0)
    top_p: float = setting(
        1.0,
        "With sampling: draw from the most probable tokens that together reach this probability; 1 = off.",
        above=0,
        at_most=1,
    )
    seed: int = setting(
        1,
        "With sampling: the same sentence gets the same draws with the same seed, in any file, batch and order.",
        at_least=0,
    )
    memory: bool = setting(
        True,
        "Take the translation of a sentence that the model's translation memory holds from there instead of searching, "
        "if the model has one; with num_hypotheses the search's outputs follow it. Not with sampling, mbr or prefixes.",
    )
    glossary: bool = setting(
        True,
        "Let the model read the translations of terms beside these, as its glossary has them, if it was trained with "
        "one (data.glossed); a term that is a whole text gets its translation there without a search.",
    )
    mbr: str = setting(
        "none",
        "Order the num_hypotheses outputs by their mean sentence chrF or BLEU against each other instead of by score "
        "(minimum Bayes risk); none = off.",
        choices=("none", *METRICS),
    )
    batch_tokens: int = setting(
        2048,
        "Limit of sentences * hypotheses followed at once * longest source, in tokens, of a batch; one sentence is "
        "always allowed. The C kernels for 8-bit integers take at most 768 for one model, so that a batch stays in a "
        "core's cache. It changes memory and speed; the text only where a shortlist, which is made for each batch, "
        "decides between near equals.",
        at_least=1,
    )

    def __post_init__(self) -> None:
        check_settings("decode", self)
        if self.search == "beam" and self.num_hypotheses > self.beam_size:
            raise ValueError(
                f"decode.num_hypotheses ({self.num_hypotheses}) must be at most decode.beam_size ({self.beam_size})"
            )
        if self.search == "beam" and self.beam_size % self.beam_groups:
            raise ValueError(f"decode.beam_groups ({self.beam_groups}) must divide decode.beam_size ({self.beam_size})")
        for shortest, longest in (("min_output_len", "max_output_len"), ("min_output_ratio", "max_output_ratio")):
            low, high = getattr(self, shortest), getattr(self, longest)
            if low > high and not (longest == "max_output_ratio" and high == 0):  # 0 is off
                raise ValueError(f"decode.{shortest} ({low}) must be at most decode.{longest} ({high})")

    @property
    def width(self) -> int:
        """Number of hypotheses that are followed at once per sentence."""
        return self.beam_size if self.search == "beam" else self.num_hypotheses

    @property
    def ranks_by_score(self) -> bool:
        """Whether the outputs are those of a beam, in the order of their scores."""
        return self.search == "beam" and self.mbr == "none"

    def changed(self, given: Mapping[str, object]) -> DecodeConfig:
        """Return these settings with those of `given` that are not None, by the names of `DecodeChanges`.

        `beam_size` alone chooses search=beam, and a beam keeps no more hypotheses than it holds, and no groups that do
        not divide it.

        Raises:
            ValueError: If a setting is out of its range, or is given where it would do nothing.
            TypeError: If there is no such setting.
        """
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if unknown := sorted(set(changes) - set(DecodeChanges.__annotations__)):
            raise TypeError(f"{unknown[0]} is no setting of the search: {', '.join(DecodeChanges.__annotations__)}")
        if "beam_size" in changes:
            changes.setdefault("search", "beam")
        if changes.get("search", self.search) == "beam":
            beam_size = changes.get("beam_size", self.beam_size)
            changes.setdefault("num_hypotheses", min(self.num_hypotheses, beam_size))
            changes.setdefault("beam_groups", 1 if beam_size % self.beam_groups else self.beam_groups)
            for name in ("temperature", "top_k", "top_p", "seed"):
                if name in changes and changes[name] != getattr(DecodeConfig, name):
                    raise ValueError(f"{name} ({changes[name]}) does nothing with search=beam; choose search=sample")
        elif changes.get("beam_groups", 1) > 1:
            raise ValueError(f"beam_groups ({changes['beam_groups']}) does nothing without search=beam")
        result = replace(self, **changes)
        penalty = changes.get("diversity_penalty", DecodeConfig.diversity_penalty)
        if result.beam_groups == 1 and penalty != DecodeConfig.diversity_penalty:
            raise ValueError(f"diversity_penalty ({penalty}) does nothing with beam_groups=1; ask for more of them")
        asked = changes.get("formality") in (FORMAL, INFORMAL)
        if asked and not result.ranks_by_score:
            raise ValueError(
                f"formality ({result.formality}) chooses among the outputs of a beam; leave sampling and mbr out"
            )
        if changes.get("mbr", "none") != "none" and result.num_hypotheses == 1:
            raise ValueError(f"mbr ({result.mbr}) chooses among num_hypotheses, which is 1; ask for more of them")
        return result
