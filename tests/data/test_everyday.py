"""The everyday corpus: its files, its splits, and its French and English spelling and agreement."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from generator import corpus as everyday
from generator.lexicon import Lexicon, read_table

from translate.common.resources import everyday_dir

SIZES = {"train": 20_000, "valid": 1_000, "test": 1_000, "test_unseen": 1_000}
DIRECTORY = Path(everyday_dir())
VOWEL = "aàâeéèêëiîïoôuûœæ"
Reading = tuple[str, str]
Checker = Callable[[str], list[str]]

# What each determiner says of its noun: the genders and the number.
DETERMINERS = {
    "le": ("m", "s"), "la": ("f", "s"), "l'": ("mf", "s"), "les": ("mf", "p"), "un": ("m", "s"), "une": ("f", "s"),
    "des": ("mf", "p"), "du": ("m", "s"), "au": ("m", "s"), "aux": ("mf", "p"), "ce": ("m", "s"), "cet": ("m", "s"),
    "cette": ("f", "s"), "ces": ("mf", "p"), "mon": ("mf", "s"), "son": ("mf", "s"), "ma": ("f", "s"),
    "sa": ("f", "s"), "mes": ("mf", "p"), "ses": ("mf", "p"), "notre": ("mf", "s"), "votre": ("mf", "s"),
    "leur": ("mf", "s"), "nos": ("mf", "p"), "vos": ("mf", "p"), "leurs": ("mf", "p"), "quel": ("m", "s"),
    "quelle": ("f", "s"), "quels": ("m", "p"), "quelles": ("f", "p"), "deux": ("mf", "p"), "trois": ("mf", "p"),
}  # fmt: skip


def words(french: str) -> list[str]:
    """Split French text into lower-case words, "l'" and the like apart, punctuation kept as words."""
    return re.findall(r"aujourd'hui|[\w-]+'|[\w-]+|[.,?!:;]", french.lower())


def plural(word: str) -> str:
    """Return the regular French plural, worked out apart from the generator."""
    if word[-1] in "sxz":
        return word
    return re.sub(r"al$", "aux", word) if word.endswith("al") else word + ("x" if word.endswith(("au", "eu")) else "s")


class Agreement:
    """The readings (gender, number) of every noun and adjective form, straight from the lexicon files."""

    def __init__(self, directory: Path) -> None:
        self.nouns: dict[str, set[Reading]] = defaultdict(set)
        self.adjectives: dict[str, set[Reading]] = defaultdict(set)
        self.aspirated: set[str] = set()
        for row in read_table(directory / "nouns.tsv"):
            self._add(self.nouns, row["fr"], row["gender"], row["fr_plural"], mass=row["en_plural"] == "-")
        for row in read_table(directory / "professions.tsv"):
            self._add(self.nouns, row["fr"], "m")
        for row in read_table(directory / "countries.tsv"):
            forms = (row["fr"], row["fr_adjective"], row["fr_adjective_feminine"])
            self.aspirated |= {form[1:].lower() for form in forms if form.startswith("*")}
        for row in read_table(directory / "adjectives.tsv"):
            masculine = row["fr"]
            feminine = row["fr_feminine"] or (masculine if masculine.endswith("e") else masculine + "e")
            fixed = masculine if masculine == "marron" else ""
            self._add(self.adjectives, masculine, "m", fixed or ("bleus" if masculine == "bleu" else ""))
            self._add(self.adjectives, feminine, "f", fixed)
        for liaison in ("bel", "nouvel", "vieil"):
            self.adjectives[liaison].add(("m", "s"))
        # Nouns which are also forms of verbs ("il la montre").
        verbs = {row["fr"] for row in read_table(directory / "verbs.tsv")}
        self.verbal = {noun for noun in self.nouns if noun + "r" in verbs}

    def _add(self, forms: dict[str, set[Reading]], word: str, gender: str, many: str = "", mass: bool = False) -> None:
        bare = word.replace("*", "")
        number = (many or plural(word)).replace("*", "")
        forms[bare].add((gender, "s"))
        if not mass:
            forms[number].add((gender, "p"))
        if word.startswith("*"):
            self.aspirated |= {bare, number}

    def noun_at(self, tokens: list[str], at: int) -> tuple[str, int]:
        """Return the longest noun at a place and where it ends, or an empty string."""
        for length in (4, 3, 2, 1):
            candidate = " ".join(tokens[at : at + length]).replace("' ", "'")
            if candidate in self.nouns:
                return candidate, at + length
        return "", at

    def problems(self, french: str) -> list[str]:
        """Return the determiner-adjective-noun-adjective groups of a text whose forms do not agree."""
        tokens = words(french)
        found = []
        for at, token in enumerate(tokens):
            if token not in DETERMINERS or (at and tokens[at - 1] == "et" and token in ("un", "une")):
                continue
            start = at + 1
            while start < len(tokens) and tokens[start] in self.adjectives and not self.noun_at(tokens, start)[0]:
                start += 1
            noun, end = self.noun_at(tokens, start)
            if not noun or (noun in self.verbal and token in ("le", "la", "l'", "les")):
                continue
            genders, number = DETERMINERS[token]
            readings = {(gender, number) for gender in genders} & self.nouns[noun]
            for adjective in tokens[at + 1 : start] + self.after(tokens, end, at):
                readings &= self.adjectives[adjective]
            if not readings:
                found.append(" ".join(tokens[at : end + 1]))
        return found

    def after(self, tokens: list[str], end: int, start: int) -> list[str]:
        """Return the adjectives that follow a noun, or that a sentence which begins with it says of it."""
        begins = start == 0 or tokens[start - 1] in ".?!"
        if begins and tokens[end : end + 1] and tokens[end] in ("est", "sont", "était", "étaient", "sera", "seront"):
            end += 1
            while tokens[end] in ("très", "trop", "plus", "moins", "aussi", "pas"):
                end += 1
        elif tokens[end : end + 1] == ["prête"]:
            return []  # the verb "prêter"
        return tokens[end : end + 1] if end < len(tokens) and tokens[end] in self.adjectives else []


AGREEMENT = Agreement(DIRECTORY / "lexicon")
INFINITIVES = {verb.fr.split()[-1].split("'")[-1] for verb in Lexicon(DIRECTORY / "lexicon").verbs}


def elision_problems(french: str) -> list[str]:
    """Return the words which should have been elided, and the h's which should not."""
    found = []
    for first, second in re.findall(r"(?<![\w-])(le|la|je|me|te|se|de|ne|que|si) (?=([\w-]+))", french, re.IGNORECASE):
        silent = second[0].lower() in VOWEL + "h" and second.lower() not in AGREEMENT.aspirated
        if first.lower() == "si":
            silent = second in ("il", "ils")
        if silent and second not in ("onze", "huit", "huitième", "oui"):
            found.append(f"{first} {second}")
    found += [f"l'{h}" for h in re.findall(r"\w'(h[\w-]+)", french) if h in AGREEMENT.aspirated]
    return found + re.findall(r"\bce (?:est|était)\b", french, re.IGNORECASE)


def contraction_problems(french: str) -> list[str]:
    """Return "de le", "à les" and the like, unless a verb follows ("de le voir")."""
    pairs = re.findall(r"\b((?:de|à) les?) ([\w-]+)", french, re.IGNORECASE)
    return [f"{pair} {word}" for pair, word in pairs if word not in INFINITIVES]


def liaison_problems(french: str) -> list[str]:
    """Return "beau arbre", "ce ami", "ma école" and the opposite "cet chat", "bel chat"."""
    found = []
    for first, second in re.findall(
        r"\b(beau|nouveau|ce|ma|sa|(?:un|le|ce|mon|son) vieux) (?=([\w-]+))", french.lower()
    ):
        known = second in AGREEMENT.nouns or second in AGREEMENT.adjectives
        if known and second[0] in VOWEL + "h" and second not in AGREEMENT.aspirated:
            found.append(f"{first} {second}")
    for first, second in re.findall(r"\b(bel|nouvel|vieil|cet) ([\w-]+)", french.lower()):
        if second[0] not in VOWEL + "h" or second in AGREEMENT.aspirated:
            found.append(f"{first} {second}")
    preposed = (
        r"\bdes (?:beaux|belles|nouveaux|nouvelles|vieux|vieilles|petite?s|grande?s|jolie?s|bons|bonnes) [\w]+s\b"
    )
    return found + re.findall(r"(?:a|ont|mange|achète) " + preposed, french)


def participle_problems(french: str) -> list[str]:
    """Return the participles with être which do not agree with the pronoun before them."""
    verbs = "allé|arrivé|entré|retourné|resté|tombé|sorti|revenu|venu|levé|couché|reposé|amusé|habillé|promené|né"
    wrong = re.findall(rf"\belle (?:n'|s')?est (?:pas |jamais )?(?:{verbs})\b", french, re.IGNORECASE)
    wrong += re.findall(rf"\bils (?:ne )?(?:se )?sont (?:pas |jamais )?(?:{verbs})e?\b", french, re.IGNORECASE)
    wrong += re.findall(rf"\b(?:il|je) (?:n'|s')?(?:est|suis) (?:pas )?(?:{verbs})e?s\b", french, re.IGNORECASE)
    return wrong + re.findall(r"\bl(?:es) a \w+é\b", french)


def article_problems(english: str) -> list[str]:
    """Return "a apple" and "an university"."""
    wrong = [f"a {w}" for w in re.findall(r"\ba ([aeio]\w*|un(?!i)\w*|umbrella)", english, re.I) if w[:3] != "one"]
    return wrong + [f"an {w}" for w in re.findall(r"\ban ([^aeiou\W]\w*|uni\w*|use\w*)", english, re.I) if w != "hour"]


def spelling_problems(text: str) -> list[str]:
    """Return what is wrong with the form of a sentence of either language."""
    checks = {
        "NFC": unicodedata.normalize("NFC", text) == text,
        "spaces": text == " ".join(text.split(" ")) and "  " not in text and text == text.strip(),
        "capital": bool(re.match(r"[A-ZÀÂÇÉÈÊÎÔŒ0-9]", text)),
        "end": text[-1] in ".?!",
        "marks": not re.search(r"[*’\t]|(\b\w+\b) \1\b(?<!vous vous)(?<!nous nous)", text.lower()),
    }
    return [name for name in checks if not checks[name]]


def french_space_problems(french: str) -> list[str]:
    """Return the "?" and "!" without a space before them."""
    return re.findall(r"\S[?!:;]", french)


FRENCH_CHECKS: dict[str, tuple[Checker, tuple[str, ...], tuple[str, ...]]] = {
    "elision": (
        elision_problems,
        (
            "Il mange le ananas.",
            "Je ai faim.",
            "Il dit que il dort.",
            "Si il pleut.",
            "L'ami de Anne.",
            "C'est l'héros.",
        ),
        ("C'est le héros.", "Il dit qu'elle dort.", "Si elle vient.", "La haine."),
    ),
    "contraction": (
        contraction_problems,
        ("Il sort de le jardin.", "Il va à le marché.", "Il parle à les enfants.", "La fin de les films."),
        ("Il essaie de le voir.", "Il va au marché."),
    ),
    "liaison": (
        liaison_problems,
        ("Un beau arbre.", "Ce ami dort.", "Ma école.", "Le vieux âne.", "Cet chat.", "Un bel hibou."),
        ("Un bel arbre.", "Cet ami.", "Mon école.", "De vieux arbres.", "Ce héros."),
    ),
    "agreement": (
        AGREEMENT.problems,
        ("Le pomme.", "La petit maison.", "Une robe vert.", "Les chats noir.", "Ces cheval.", "La soupe est froid."),
        ("La petite maison verte.", "Les chats noirs.", "Les bons chevaux.", "La soupe est très froide."),
    ),
    "participle": (
        participle_problems,
        ("Elle est allé à Paris.", "Ils sont resté.", "Elle s'est levé.", "Il est sortis."),
        ("Elle est allée à Paris.", "Ils sont restés.", "Il est sorti."),
    ),
    "spacing": (french_space_problems, ("Pourquoi?", "Non!"), ("Pourquoi ?", "Non !")),
    "spelling": (
        spelling_problems,
        ("il dort.", "Il dort", "Il  dort.", "Le *héros.", "Il parle de de Paul."),
        ("Il dort.",),
    ),
}


@pytest.fixture(scope="module")
def corpus() -> dict[str, list[tuple[str, str]]]:
    def read(name: str) -> list[str]:
        return (DIRECTORY / name).read_text(encoding="utf-8").splitlines()

    return {split: list(zip(read(f"{split}.en"), read(f"{split}.fr"), strict=True)) for split in SIZES}


@pytest.fixture(scope="module")
def built() -> dict[str, list[everyday.Sentence]]:
    return everyday.sentences(DIRECTORY)


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon(DIRECTORY / "lexicon")


def pairs(corpus: dict[str, list[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    for split in corpus.values():
        yield from split


def test_files_have_the_promised_sizes(corpus: dict[str, list[tuple[str, str]]]) -> None:
    assert {split: len(rows) for split, rows in corpus.items()} == SIZES


def test_lexicon_and_phrases_have_the_promised_sizes(lexicon: Lexicon) -> None:
    assert len(lexicon.nouns) - len(lexicon.professions) >= 250
    assert len(lexicon.verbs) >= 120
    assert len(lexicon.adjectives) >= 80
    assert len(everyday.read_phrases(DIRECTORY)) >= 500
    assert len(everyday.PATTERNS) >= 60


def test_one_english_word_has_one_french_word(lexicon: Lexicon) -> None:
    for words_of_kind in (lexicon.nouns, lexicon.verbs, lexicon.adjectives):
        assert max(Counter(word.en for word in words_of_kind).values()) == 1


@pytest.mark.slow
def test_rebuilding_gives_the_same_bytes(built: dict[str, list[everyday.Sentence]]) -> None:
    for split, sentences in built.items():
        for language in ("en", "fr"):
            text = "".join(getattr(sentence, language) + "\n" for sentence in sentences)
            assert (DIRECTORY / f"{split}.{language}").read_bytes() == text.encode(), f"{split}.{language}"


def test_activities_are_rebuilt_to_the_byte_agree_and_hold_no_sentence_twice() -> None:
    built = everyday.write_activities(DIRECTORY / "lexicon", everyday.DEFAULT_SEED)
    assert len(built) == 4_000
    for column, language in enumerate(("en", "fr")):
        sentences = [pair[column] for pair in built]
        assert (DIRECTORY / f"activities.{language}").read_text(encoding="utf-8").splitlines() == sentences
        assert len(set(sentences)) == len(sentences)
    french = [fr for _, fr in built]
    for check in (elision_problems, contraction_problems, participle_problems, spelling_problems):
        assert not [fr for fr in french if check(fr)], check.__name__
    assert not [en for en, _ in built if article_problems(en) or spelling_problems(en)]
    assert not [fr for fr in french if re.search(r"\b(Elle|Une \w+) est (assis|allongé)\b", fr)]
    assert not [fr for fr in french if re.search(r"\b(Ils|Les \w+s) est\b", fr)]


def test_no_activity_is_one_of_the_hundred_judged_sentences() -> None:
    judged = Path(__file__).parents[2] / "docs" / "results" / "general_sentences.csv"
    with judged.open(encoding="utf-8", newline="") as file:
        sources = {row["source"] for row in csv.DictReader(file)}
    assert len(sources) == 100
    for language in ("en", "fr"):
        assert not sources & set((DIRECTORY / f"activities.{language}").read_text(encoding="utf-8").splitlines())


def test_write_makes_a_file_of_each_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(everyday, "build", lambda seed, source: {"train": [("Hello!", "Ça va ?")], "test": []})
    everyday.write(tmp_path / "new")
    assert (tmp_path / "new" / "train.fr").read_bytes() == "Ça va ?\n".encode()
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["test.en", "test.fr", "train.en", "train.fr"]


def test_no_sentence_of_either_side_comes_twice(corpus: dict[str, list[tuple[str, str]]]) -> None:
    for column in (0, 1):
        sentences = [pair[column] for pair in pairs(corpus)]
        assert len(set(sentences)) == len(sentences)


def test_all_phrases_are_in_train(corpus: dict[str, list[tuple[str, str]]]) -> None:
    assert {(phrase.en, phrase.fr) for phrase in everyday.read_phrases(DIRECTORY)} <= set(corpus["train"])


def test_unseen_sentences_hold_new_pairs_of_known_words(built: dict[str, list[everyday.Sentence]]) -> None:
    seen = {r for split in ("train", "valid", "test") for s in built[split] for r in s.relations}
    vocabulary = {word for sentence in built["train"] for word in sentence.words}
    for sentence in built["test_unseen"]:
        assert set(sentence.relations) - seen, sentence
        assert sentence.words <= vocabulary, sentence


def test_unseen_adjectives_and_objects_never_meet_in_the_text(
    built: dict[str, list[everyday.Sentence]], lexicon: Lexicon
) -> None:
    seen = {r for split in ("train", "valid", "test") for s in built[split] for r in s.relations}
    text: dict[str, list[str]] = defaultdict(list)
    for split in ("train", "valid", "test"):
        for sentence in built[split]:
            for word in set(re.findall(r"[\w']+", sentence.en.lower())):
                text[word].append(sentence.en.lower())
    phrases = everyday.phrase_texts(everyday.read_phrases(DIRECTORY))
    new = {r for s in built["test_unseen"] for r in s.relations if everyday.held_out(r, phrases)}
    assert len(new) > 300
    assert not new & seen
    for relation in sorted(new):
        kind, first, second = relation
        if kind == "subject":
            continue
        noun = lexicon.noun[second]
        forms = [first]
        if kind == "object":
            e = lexicon.english
            forms = [first, e.third(first), e.past(first), e.ing(first), e.participle(first)]
        article = "" if kind == "adjective" else r"(?:the|an?|some|any|this|these|my|your|his|our|their) "
        for form in (noun.en, noun.en_plural):
            pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, forms))}) {article}{re.escape(form)}\b")
            met = [s for s in text.get(form.split()[0] if form else "", []) if pattern.search(s)]
            assert not met, (relation, met)


def test_every_lexicon_word_is_frequent_in_train(corpus: dict[str, list[tuple[str, str]]], lexicon: Lexicon) -> None:
    text = "".join(
        f"  {'  '.join(re.findall(r'[a-zéèï]+', en.lower().replace(chr(39) + 's', '')))}  " for en, _ in corpus["train"]
    )
    counts = {}
    e = lexicon.english
    groups = [{n.en, n.en_plural or n.en} for n in lexicon.nouns] + [{a.en} for a in lexicon.adjectives]
    groups += [{v.en, e.third(v.en), e.past(v.en), e.ing(v.en), e.participle(v.en)} for v in lexicon.verbs]
    groups += [{name.lower()} for name, _ in lexicon.names] + [{c.en.lower()} for c in lexicon.countries]
    for forms in groups:
        counts[min(forms)] = sum(text.count(f" {form.replace(' ', '  ')} ") for form in forms)
    assert {word: count for word, count in counts.items() if count < 20} == {}


@pytest.mark.parametrize("name", FRENCH_CHECKS)
def test_french_checker_sees_wrong_sentences_and_passes_right_ones(name: str) -> None:
    check, wrong, right = FRENCH_CHECKS[name]
    assert [sentence for sentence in wrong if not check(sentence)] == []
    assert [sentence for sentence in right if check(sentence)] == []


@pytest.mark.parametrize("name", FRENCH_CHECKS)
def test_french_of_the_whole_corpus_passes(name: str, corpus: dict[str, list[tuple[str, str]]]) -> None:
    check = FRENCH_CHECKS[name][0]
    assert [(fr, found) for _, fr in pairs(corpus) if (found := check(fr))] == []


def test_english_checkers_see_wrong_sentences() -> None:
    assert all(map(article_problems, ("He eats a apple.", "An university.", "A old man.", "An car.")))
    assert not any(map(article_problems, ("He eats an apple.", "A university.", "An old man.", "An hour ago.")))


def test_english_of_the_whole_corpus_passes(corpus: dict[str, list[tuple[str, str]]]) -> None:
    assert [(en, found) for en, _ in pairs(corpus) if (found := article_problems(en) + spelling_problems(en))] == []
