"""A second reading of what a model is unsure of: with its first word in lower case, as it stands within sentences.

A word that hardly ever begins a sentence of the training text is cut into other pieces there than elsewhere: a model
may know "la cannelle" and not "Cannelle moulue".
"""

from __future__ import annotations

import re
from collections.abc import Container

from translate.search.hypothesis import Hypothesis, normalized_score
from translate.translator.guards.forms import Form

_UNSURE = -0.35  # mean log-probability of the tokens of an output, natural log
_LIKELIER = 0.05  # by which that for the second reading must be better
_FIRST = re.compile(r"[A-ZÀ-Þ][a-zß-öø-ÿœ]+(?![\w'’.-])(?!\s[A-ZÀ-Þ])")  # no abbreviation, no name of several words


def second_reading(form: Form, best: Hypothesis, output: str, names: Container[str]) -> Form | None:
    """Return a form with its first word in lower case; None if the model is sure of it, or the word may be a name.

    Args:
        form: What the model read.
        best: The best hypothesis for that.
        output: Its text.
        names: Words that always have a capital, in lower case.
    """
    first = _FIRST.match(form.text)
    if first is None or _mean_log_prob(best) >= _UNSURE or first[0].lower() in names:
        return None
    if re.search(rf"\w\W+{first[0]}\b", output):  # behind other words it has its capital as a name has
        return None
    return form._replace(text=form.text[0].lower() + form.text[1:], capital=True)


def is_likelier(second: Hypothesis, best: Hypothesis) -> bool:
    """Return whether the best hypothesis for the second reading is to be taken in place of that for the first."""
    return _mean_log_prob(second) > _mean_log_prob(best) + _LIKELIER


def _mean_log_prob(hypothesis: Hypothesis) -> float:
    return normalized_score(hypothesis.log_prob, len(hypothesis.token_ids), 1.0)
