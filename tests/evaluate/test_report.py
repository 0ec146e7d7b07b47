import csv
import json
import re
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
import torch

from translate.config.decode import DecodeConfig
from translate.data.corpus import Pair
from translate.evaluate.report import Output, Report, build_test_set
from translate.evaluate.report_html import to_html
from translate.evaluate.report_markdown import summary, to_markdown
from translate.evaluate.scores import score
from translate.evaluate.test_sets import Baseline, evaluate_test_sets, read_curves, report_outputs

EVIL = "<script>alert('&')</script> | `$x_1$` \\ \"q\" œuf naïf"
PAIRS = [Pair(f"a source of {i} words " + "and more " * i, f"une référence de {i} mots") for i in range(24)]
PAIRS += [Pair(EVIL, EVIL), Pair("", "vide"), Pair("one two three four", "un deux trois quatre")]


class FakeTranslator:
    """Returns the reference with its last word changed, and random attention."""

    config = SimpleNamespace(src_lang="en", tgt_lang="fr")
    device = torch.device("cpu")
    precision = "32"
    threads = 3

    def describe(self):
        return "a fake"

    def __init__(self, last: str = "faux"):
        self.table = {pair.src: " ".join([*pair.tgt.split()[:-1], last]) if pair.src else "" for pair in PAIRS}
        self.asked: list[DecodeConfig] = []

    def translate(self, texts, options, *, progress):
        self.asked.append(options)
        found = {t: SimpleNamespace(token_ids=[5] * len(line.split()) + [2]) for t, line in self.table.items()}
        hypotheses = [(found[text],) if text else () for text in texts]
        return [SimpleNamespace(text=self.table[t], hypotheses=h) for t, h in zip(texts, hypotheses, strict=True)]

    def cross_attention(self, src, tgt):
        src_pieces, tgt_pieces = [f"▁{w}" for w in src.split()] + ["</s>"], [f"▁{w}" for w in tgt.split()] + ["</s>"]
        logits = torch.randn(2, 4, len(tgt_pieces), len(src_pieces), generator=torch.Generator().manual_seed(0))
        return SimpleNamespace(src_pieces=src_pieces, tgt_pieces=tgt_pieces, weights=logits.softmax(-1))


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "<b>run"
    folder.mkdir()
    (folder / "config.yaml").write_text("seed: 1\nname: '<i>x</i>'\nmodel:\n  d_model: 16\n", encoding="utf-8")
    with (folder / "metrics.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["step", "train_loss", "valid_loss", "valid_bleu", "lr"])
        writer.writerows([[10, 3.5, "", "", 0.1], [20, "nan", "", "", 0.1], [20, "", 3.25, 12.5, ""]])
    return folder


@pytest.fixture(scope="module")
def evaluated(run_dir):
    """The translator, its report, and the folder it was written to."""
    translator, output = FakeTranslator(), run_dir / "out"
    report = evaluate_test_sets(
        translator,
        {"test": PAIRS, "short": PAIRS[:3]},
        decode=DecodeConfig(beam_size=3, length_penalty=0.5),
        bootstrap=50,
        seed=0,
        run_dir=run_dir,
        output=output,
        baseline=Baseline("<u>old", {"test": [pair.src for pair in PAIRS], "short": [p.tgt for p in PAIRS[:3]]}),
    )
    return translator, report, output


@pytest.mark.slow
def test_report_json_round_trips(evaluated):
    _, report, output = evaluated
    assert Report.load(output / "report.json") == report
    assert json.loads((output / "report.json").read_text(encoding="utf-8"))["test_sets"][0]["sentences"] == len(PAIRS)


def test_scores_are_those_of_the_written_hypotheses(evaluated):
    _, report, output = evaluated
    lines = (output / "hyp.test.txt").read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""
    for protocol, scores in report.test_sets[0].scores.items():
        again = score(
            lines, [p.tgt for p in PAIRS], protocol=protocol, tgt_lang="fr", bootstrap=50, seed=0,
            baseline=[p.src for p in PAIRS],
        )  # fmt: skip
        assert again == scores


def test_the_search_settings_reach_the_translator_and_the_report(evaluated):
    translator, report, _ = evaluated
    assert translator.asked[0].beam_size == 3
    assert translator.asked[0].length_penalty == 0.5
    assert report.settings["evaluate"]["decode"]["beam_size"] == 3
    assert report.settings["train"]["model"] == {"d_model": 16}
    speed = report.test_sets[0].speed
    assert speed is not None
    assert (speed.search, speed.device, speed.precision, speed.threads) == ("with beam 3", "cpu", "32", 3)
    assert report.settings["evaluate"]["translator"] == "a fake"
    words = sum(len(line.split()) for line in translator.table.values())
    tokens = words + len(PAIRS) - 1  # an EOS each, but for the empty source
    assert speed.target_tokens_per_s / speed.sentences_per_s == pytest.approx(tokens / len(PAIRS), rel=0.01)


def test_buckets_cover_every_sentence_once_and_examples_are_in_order(evaluated):
    _, report, _ = evaluated
    test_set = report.test_sets[0]
    assert sum(bucket.sentences for bucket in test_set.buckets) == test_set.sentences
    assert all(a.longest < b.shortest for a, b in zip(test_set.buckets, test_set.buckets[1:], strict=False))
    best, worst = [e.chrf for e in test_set.best], [e.chrf for e in test_set.worst]
    assert best == sorted(best, reverse=True)
    assert worst == sorted(worst)
    assert max(worst) <= min(best)
    assert len({e.line for e in test_set.best + test_set.worst}) == len(PAIRS)
    assert test_set.worst[0].line == 26  # the empty output


def test_attention_is_the_mean_over_heads_of_sentences_with_words(evaluated):
    _, report, _ = evaluated
    maps = report.test_sets[0].attention
    assert len(maps) == 3
    for entry in maps:
        weights = torch.tensor(entry.weights)
        assert weights.shape == (2, len(entry.tgt_pieces), len(entry.src_pieces))
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:2]), atol=2e-3, rtol=0)  # rounded


def test_curves_come_from_the_sparse_csv_without_what_is_not_a_number(run_dir, tmp_path):
    assert read_curves(run_dir / "metrics.csv") == {
        "train_loss": [(10.0, 3.5)],
        "valid_loss": [(20.0, 3.25)],
        "valid_bleu": [(20.0, 12.5)],
    }
    assert read_curves(tmp_path / "metrics.csv") == {}


def test_damaged_rows_are_left_out_of_the_curves(tmp_path, caplog):
    rows = b"step,train_loss,valid_loss\r\n10,3.5,\r\n2x,3,\r\n30,3.o,\r\n\xff\x00,,1\r\n40,2.5,\r\n50,2."
    (tmp_path / "metrics.csv").write_bytes(rows)
    assert read_curves(tmp_path / "metrics.csv") == {"train_loss": [(10.0, 3.5), (40.0, 2.5)]}
    assert caplog.messages == [f"{tmp_path / 'metrics.csv'}: 3 rows are damaged, and left out of the curves"]


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.outside, self.open = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "action", "data", "srcset") and value:
                self.outside += [value] * (not value.startswith(("#", "data:image/png;base64,")))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_html_is_well_formed_loads_nothing_and_runs_nothing(evaluated):
    text = (evaluated[2] / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.open == []
    assert page.outside == []
    assert not re.search(r"https?:|@import|url\((?!#)|\son\w+=", text)
    assert "script" not in page.tags
    assert page.tags.count("svg") >= 2 * 2 + 2 * 3 + 2  # lengths and ratios of two sets, attention, curves


def test_html_shows_hostile_text_as_text(evaluated):
    page = Page((evaluated[2] / "report.html").read_text(encoding="utf-8"))
    seen = "".join(page.text)
    for hostile in ("<script>alert('&')</script>", "<b>run", "<u>old", "<i>x</i>", "œuf naïf"):
        assert hostile in seen
    assert not {"i", "u"} & set(page.tags)
    assert "--accent" in seen
    assert "#040506" not in seen  # a placeholder colour that no variable replaced


def test_attention_labels_show_dollars_and_markup_as_they_are():
    translator = FakeTranslator()
    from translate.evaluate.pictures import attention_picture
    from translate.evaluate.test_sets import attention_maps

    picture = attention_picture(attention_maps(translator, [EVIL], [EVIL])[0][0], 0)
    seen = "".join(Page(picture).text)
    assert "_`$x_1$`" in seen
    assert "_<script>alert('&')</script>" in seen


def test_markdown_keeps_hostile_text_inside_its_cell(evaluated):
    _, report, output = evaluated
    text = (output / "report.md").read_text(encoding="utf-8")
    assert "<script>" not in text
    row = next(line for line in text.splitlines() if "naïf" in line)
    assert len(re.findall(r"(?<!\\)\|", row)) == 7
    for protocol in ("cased", "literature"):
        assert report.test_sets[0].scores[protocol][0].signature in text


def test_summary_keeps_the_protocols_in_tables_of_their_own(evaluated):
    cased, literature, _ = summary(evaluated[1]).split("\n\n")
    bleu = evaluated[1].test_sets[0].scores
    assert f"{bleu['cased'][0].value:.2f} [" in cased
    assert f"{bleu['literature'][0].value:.2f} [" in literature
    assert re.search(r"[+-]\d+\.\d\d \[[+-]\d+\.\d\d, [+-]\d+\.\d\d\], p = \d", cased)


def test_output_without_sources_run_baseline_or_bootstrap_is_reported_too(tmp_path):
    report = report_outputs(
        [Output("only", None, ["un chat"], ["un chien"])],
        src_lang=None, tgt_lang="fr", system="out.fr", baseline=None, protocols=("literature",), bootstrap=0, seed=1,
        run_dir=None, settings={}, output=tmp_path / "new" / "folder",
    )  # fmt: skip
    assert report.test_sets[0].bucket_side == "reference"
    assert list(report.test_sets[0].scores) == ["literature"]
    assert Report.from_json(report.to_json()) == report
    assert "Learning curves" not in to_html(report) + to_markdown(report)
    assert (tmp_path / "new" / "folder" / "hyp.only.txt").read_text() == "un chien\n"


def test_lines_that_do_not_fit_are_refused_with_both_counts(tmp_path):
    with pytest.raises(ValueError, match="t: 1 hypotheses do not fit 2 references"):
        Output("t", None, ["a", "b"], ["a"])
    with pytest.raises(ValueError, match="t: 1 baseline lines do not fit 2 references"):
        Output("t", None, ["a", "b"], ["a", "b"], baseline=["a"])
    with pytest.raises(ValueError, match="t: there is nothing to score"):
        Output("t", [], [], [])
    with pytest.raises(ValueError, match="there is no test set"):
        evaluate_test_sets(FakeTranslator(), {}, decode=DecodeConfig(), output=tmp_path)


def test_one_sentence_has_one_example():
    test_set = build_test_set(Output("t", ["a"], ["a b"], ["a b"]), tgt_lang="fr", protocols=["cased"], bootstrap=2)
    assert ([e.line for e in test_set.best], test_set.worst) == ([1], [])
