"""A model directory that an earlier version wrote still loads and says what it said then."""

from pathlib import Path

import pytest

from translate import Translator

FIXTURE = Path(__file__).parent / "fixtures" / "tiny_model"
# what version 0.1.0 answered, with the log-probability of the answer (greedy, float32), after 600 steps of training
ANSWERS = [
    ("Good morning.", "L'est mal.", -11.0349),
    ("The cat is black.", "Le cuisine est fille.", -11.9787),
    ("She will eat an apple tomorrow.", "Elle vient de la chaulé.", -19.2682),
]


@pytest.mark.parametrize(("src", "text", "log_prob"), ANSWERS)
def test_an_old_model_directory_translates_as_it_did(src: str, text: str, log_prob: float) -> None:
    (translation,) = Translator.load(FIXTURE, device="cpu", precision="32").translate([src], beam_size=1)
    assert translation.text == text
    assert translation.hypotheses[0].log_prob == pytest.approx(log_prob, abs=1e-3)  # sums in another order elsewhere
