import json
import os
import subprocess
import sys

import numpy as np
import pytest

from translate.evaluate.literature import literature_form
from translate.evaluate.scores import METRICS, Statistics, interval, score

REFERENCES = [
    "Un homme à cheval traverse la rivière.",
    "Deux enfants jouent au football, l'un contre l'autre.",
    "L'été dernier, elle a vu « la mer » !",
    "Il pleut.",
]
HYPOTHESES = [
    "Un homme sur un cheval traverse la rivière.",
    "Deux enfants jouent au football.",
    "L'été dernier elle vit la mer !",
    "",
]


def many(seed: int, error_rate: float, sentences: int = 60) -> list[str]:
    """The references over and over, some words replaced."""
    rng = np.random.default_rng(seed)
    lines = [REFERENCES[i % len(REFERENCES)] for i in range(sentences)]
    return [" ".join("faux" if rng.random() < error_rate else word for word in line.split()) for line in lines]


def sacrebleu_cli(tmp_path, references, systems, metrics, *options):
    """What the sacreBLEU command line prints."""
    for name, lines in {"ref": references, **systems}.items():
        (tmp_path / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    command = [sys.executable, "-m", "sacrebleu", "ref", "-i", *systems, "-m", *metrics, *options]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONUTF8": "1"}
    )
    return done.stdout


ALL = ("bleu", "chrf", "ter")


def test_cased_scores_are_those_of_the_command_line_to_the_last_digit(tmp_path):
    printed = json.loads(sacrebleu_cli(tmp_path, REFERENCES, {"hyp": HYPOTHESES}, ALL, "-f", "json", "-w", "10"))
    ours = score(HYPOTHESES, REFERENCES, protocol="cased", tgt_lang="fr", bootstrap=0)
    assert [entry["name"] for entry in printed] == [entry.metric for entry in ours] == list(METRICS)
    for theirs, our in zip(printed, ours, strict=True):
        assert f"{our.value:.10f}" == f"{theirs['score']:.10f}"
        assert our.signature == theirs["signature"]


def test_intervals_are_those_of_the_command_line(tmp_path):
    references, system = many(0, 0.0), many(1, 0.1)
    printed = json.loads(
        sacrebleu_cli(tmp_path, references, {"hyp": system}, ALL, "-f", "json", "-w", "10", "--confidence")
    )
    ours = score(system, references, protocol="cased", tgt_lang="fr")
    for theirs, our in zip(printed, ours, strict=True):
        assert f"{our.value:.10f}" == f"{theirs['score']:.10f}"
        assert our.signature == theirs["signature"]
        assert our.low is not None
        assert our.high is not None
        assert (our.high - our.low) / 2 == pytest.approx(theirs["confidence_var"], abs=1e-5)  # float32 resamples


def test_literature_scores_are_those_of_the_command_line_on_prepared_text(tmp_path):
    hyp, ref = literature_form(HYPOTHESES, "fr"), literature_form(REFERENCES, "fr")
    printed = json.loads(
        sacrebleu_cli(tmp_path, ref, {"hyp": hyp}, ALL, "--tokenize", "none", "-f", "json", "-w", "10")
    )
    ours = score(HYPOTHESES, REFERENCES, protocol="literature", tgt_lang="fr", bootstrap=0)
    for theirs, our in zip(printed, ours, strict=True):
        assert f"{our.value:.10f}" == f"{theirs['score']:.10f}"
        assert our.signature.startswith(theirs["signature"] + "|prep:lowercase,moses-normalize,moses-tokenize-escape")
        assert "moses-lang:fr" in our.signature


def test_paired_bootstrap_is_that_of_sacrebleu():
    from sacrebleu.metrics import BLEU, CHRF, TER
    from sacrebleu.significance import PairedTest

    references, system, baseline = many(0, 0.0), many(1, 0.10), many(2, 0.12)
    metrics = {"BLEU": BLEU(), "chrF2": CHRF(), "TER": TER()}
    _, expected = PairedTest([("b", baseline), ("s", system)], metrics, [references], test_type="bs", n_samples=200)()
    ours = score(system, references, protocol="cased", tgt_lang="fr", bootstrap=200, baseline=baseline)
    for our in ours:
        their_baseline, theirs = expected[our.metric]
        assert (our.baseline, our.value) == (their_baseline.score, theirs.score)
        assert our.p_value == pytest.approx(theirs.p_value)


def test_a_system_against_itself_is_not_significant_and_a_clearly_better_one_is():
    references, good, bad = many(0, 0.0), many(1, 0.05), many(2, 0.5)
    same = score(good, references, protocol="cased", tgt_lang="fr", bootstrap=200, baseline=good)
    better = score(good, references, protocol="cased", tgt_lang="fr", bootstrap=200, baseline=bad)
    assert [entry.p_value for entry in same] == [1.0, 1.0, 1.0]
    assert all(entry.p_value is not None and entry.p_value < 0.01 for entry in better)
    assert all((entry.difference_low, entry.difference_high) == (0.0, 0.0) for entry in same)
    for entry in better:  # TER counts errors, so that a better output lies below
        ends = sorted(abs(end) for end in (entry.difference_low, entry.difference_high))
        assert entry.difference_low < entry.value - entry.baseline < entry.difference_high
        assert (entry.difference_low > 0) == (entry.metric != "TER")
        assert 0 < ends[0] < ends[1]


def test_the_interval_of_a_difference_is_narrower_than_that_of_a_score():
    references, system = many(0, 0.0), many(1, 0.2)
    close = [line if number % 10 else f"{line} x" for number, line in enumerate(system)]  # one line in ten differs
    for entry in score(close, references, protocol="cased", tgt_lang="fr", bootstrap=200, baseline=system):
        assert entry.difference_high - entry.difference_low < (entry.high - entry.low) / 2


def test_bootstrap_depends_on_the_seed_and_zero_is_a_seed():
    references, system = many(0, 0.0), many(1, 0.2)
    runs = {}
    for seed in (0, 0, 1):
        entry = score(system, references, protocol="cased", tgt_lang="fr", bootstrap=50, seed=seed)[0]
        assert runs.setdefault(seed, entry) == entry
        assert f"|seed:{seed}|" in entry.signature
    assert runs[0].low != runs[1].low


def test_no_bootstrap_leaves_interval_and_its_signature_out():
    bleu = score(HYPOTHESES, REFERENCES, protocol="cased", tgt_lang="fr", bootstrap=0)[0]
    assert (bleu.low, bleu.high, bleu.p_value) == (None, None, None)
    assert "bs:" not in bleu.signature


def test_a_perfect_output_has_perfect_scores_with_an_interval_of_no_width():
    bleu, chrf, ter = score(REFERENCES, REFERENCES, protocol="cased", tgt_lang="fr", bootstrap=20)
    assert bleu.value == pytest.approx(100.0)
    assert (chrf.value, ter.value, ter.low, ter.high) == (100.0, 0.0, 0.0, 0.0)


def test_the_score_of_some_rows_is_that_of_these_sentences_alone():
    rows = [0, 2]
    whole = Statistics(HYPOTHESES, REFERENCES, protocol="cased", tgt_lang="fr")
    part = score([HYPOTHESES[i] for i in rows], [REFERENCES[i] for i in rows], protocol="cased", tgt_lang="fr")
    assert [whole.value(metric, rows) for metric in METRICS] == [entry.value for entry in part]
    assert interval(whole.resampled("BLEU", 1000, 12345, rows)) == (part[0].low, part[0].high)


def test_sentence_scores_are_those_of_the_command_line(tmp_path):
    printed = sacrebleu_cli(tmp_path, REFERENCES, {"hyp": HYPOTHESES}, ["bleu"], "--sentence-level", "-b", "-w", "6")
    ours = Statistics(HYPOTHESES, REFERENCES, protocol="cased", tgt_lang="fr").sentence_values("BLEU")
    assert printed.split() == [f"{value:.6f}" for value in ours]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hypotheses": HYPOTHESES[:3]}, "3 hypotheses do not fit 4 references"),
        ({"hypotheses": [], "references": []}, "0 sentences"),
        ({"protocol": "lower"}, r"protocol \(lower\) must be one of cased, literature"),
        ({"bootstrap": 1}, r"bootstrap \(1\)"),
        ({"bootstrap": 0, "baseline": HYPOTHESES}, r"bootstrap \(0\)"),
        ({"baseline": HYPOTHESES[:2]}, "2 hypotheses do not fit 4 references"),
    ],
)
def test_unusable_arguments_are_refused(arguments, message):
    usable = {"hypotheses": HYPOTHESES, "references": REFERENCES, "protocol": "cased", "tgt_lang": "fr"}
    with pytest.raises(ValueError, match=message):
        score(**(usable | arguments))
