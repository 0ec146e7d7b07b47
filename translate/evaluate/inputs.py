"""What to score and what to compare with, by the names that the command line gives."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from translate.common.resources import SHIPPED
from translate.config.evaluate import EvaluateConfig
from translate.config.files import load_config
from translate.config.train import TrainConfig
from translate.data.corpus import Pair, open_corpus
from translate.data.readers import read_aligned, read_lines
from translate.evaluate.test_sets import Baseline, translate_timed

if TYPE_CHECKING:
    from translate.translator.translator import Translator


def load_translator(config: EvaluateConfig, path: str | Path) -> "Translator":
    """Open the model of a run or bundle, on the device, in the precision and for the direction of the settings.

    Raises:
        ValueError: If the device, the precision or the direction is not possible.
    """
    from translate.translator.translator import Translator

    translator = Translator.load(path, device=config.device, precision=config.precision)
    return translator.into(config.tgt_lang) if config.tgt_lang else translator


def name_from_file(path: str) -> str:
    """Name of a test set by its reference file.

    >>> name_from_file("data/test_2017.fr.gz"), name_from_file("refs")
    ('test_2017', 'refs')
    """
    return re.sub(r"[^\w.-]", "_", Path(path.removesuffix(".gz")).stem)


def suffix_lang(path: str | None) -> str | None:
    """Return the two-letter language code at the end of a file name, or None.

    >>> suffix_lang("ref.fr"), suffix_lang("ref.fr.gz"), suffix_lang("ref.txt"), suffix_lang("ref.gz")
    ('fr', 'fr', None, None)
    """
    match = re.search(r"\.([a-z]{2})$", (path or "").removesuffix(".gz"))
    return match[1] if match else None


def read_pairs(src: str, tgt: str) -> list[Pair]:
    """Read the pairs of two line-aligned files, see `read_aligned` for its errors."""
    return [Pair(row["src"], row["tgt"]) for row in read_aligned(src, tgt)]


def find_test_sets(config: EvaluateConfig, run_dir: Path | None, src_lang: str, tgt_lang: str) -> dict[str, list[Pair]]:
    """Test sets by name: the pair src/ref, else those of the folder data_root, else those of the run, turned
    around where its model is asked for the other direction.

    Raises:
        ValueError: If there is none, `config.name` is not among them, or a file is unusable.
    """
    if config.src and config.ref:
        return {config.name or name_from_file(config.ref): read_pairs(config.src, config.ref)}
    found: Mapping[str, tuple[str, str]] = {}
    if config.data_root:
        found = _aligned_files(Path(config.data_root), src_lang, tgt_lang)
    if found:
        names = _choose(config.name, list(found))
        return {name: read_pairs(*found[name]) for name in names}
    if run_dir is None:
        where = f"{config.data_root}: no test*.{src_lang} with test*.{tgt_lang}" if config.data_root else "no run"
        raise ValueError(f"{where} to take test sets from; give src=FILE ref=FILE")
    data = load_config(run_dir / "config.yaml", TrainConfig).data.own
    if config.data_root:
        if data.source == "everyday":
            raise ValueError(f"data_root ({config.data_root}): no test*.{src_lang} with test*.{tgt_lang} there")
        data = replace(data, root=config.data_root)
    corpus = open_corpus(data)
    tests = {name: corpus.test(name) for name in _choose(config.name, corpus.test_names)}
    if tgt_lang == data.src_lang:
        return {name: [Pair(pair.tgt, pair.src) for pair in pairs] for name, pairs in tests.items()}
    return tests


def _aligned_files(folder: Path, src_lang: str, tgt_lang: str) -> dict[str, tuple[str, str]]:
    """Find test*.SRC and test*.TGT in a folder, plain or .gz, by what stands before the language."""
    sides: list[dict[str, str]] = []
    for lang in (src_lang, tgt_lang):
        paths = [path for end in (f".{lang}.gz", f".{lang}") for path in sorted(folder.glob(f"test*{end}"))]
        sides.append({path.name.removesuffix(".gz").removesuffix(f".{lang}"): str(path) for path in paths})
    return {name: (src, sides[1][name]) for name, src in sorted(sides[0].items()) if name in sides[1]}


def _choose(name: str | None, there: Sequence[str]) -> Sequence[str]:
    if name is not None and name not in there:
        raise ValueError(f"name ({name}) must be one of the test sets: {', '.join(there) or 'there is none'}")
    return there if name is None else [name]


def find_baseline(config: EvaluateConfig, sources: Mapping[str, Sequence[str] | None]) -> Baseline | None:
    """Return the output to compare with: a file of hypotheses, or translations by a model with its own settings.

    Args:
        config: `baseline` names it.
        sources: Source lines by test set; None where only output and references are known.

    Raises:
        ValueError: If a file is given for several test sets, or a model for unknown sources.
    """
    if config.baseline is None:
        return None
    path = Path(config.baseline)
    if not path.is_dir() and (config.baseline != SHIPPED or path.is_file()):
        if len(sources) > 1:
            raise ValueError(
                f"baseline={config.baseline} is one output for {len(sources)} test sets ({', '.join(sources)}); "
                "choose one of them with name="
            )
        lines = list(read_lines(config.baseline))
        for name, src in sources.items():
            if src is not None and len(src) != len(lines):
                raise ValueError(f"baseline ({config.baseline}) has {len(lines)} lines and {name} has {len(src)}")
        return Baseline(config.baseline, dict.fromkeys(sources, lines))
    if None in sources.values():
        raise ValueError(f"baseline={config.baseline} is a model; give src=FILE for it to translate")
    translator = load_translator(config, config.baseline)
    decode = translator.config.decode.changed(vars(config.decode))
    return Baseline(
        config.baseline, {name: translate_timed(translator, src or [], decode)[0] for name, src in sources.items()}
    )
