"""Words typed without apostrophes, or as they are spoken, are read as they are written with care."""

import pytest

from translate.translator.guards.contractions import plain_contractions
from translate.translator.translator import Translator


@pytest.mark.parametrize(
    ("text", "src_lang", "read"),
    [
        ("Im here, youre late, thats it.", "en", "I'm here, you're late, that's it."),
        ("im here and i dont care", "en", "i'm here and i don't care"),
        ("Its raining. Its colour is red.", "en", "It's raining. Its colour is red."),
        ("Ok lets go. He lets her go.", "en", "Ok let's go. He lets her go."),
        ("Ill be back, an ill be", "en", "I'll be back, an ill be"),
        ("I think id like it, my id is 3", "en", "I think I'd like it, my id is 3"),
        ("You gotta see it, he's gotta go. Gotta run.", "en", "You have to see it, he has to go. I have to run."),
        ("Dunno, I dunno. Kinda hot. 'Cause!", "en", "I don't know, I don't know. Kind of hot. Because!"),
        ("cant@x.org, a #dont, im/x, im.com, Plan-im", "en", "cant@x.org, a #dont, im/x, im.com, Plan-im"),
        ("IM me, THATS it", "en", "IM me, THATS it"),
        (
            "Don t ask, it s late, i m sure you re in and I ve time",
            "en",
            "Don't ask, it's late, i'm sure you're in and I've time",
        ),
        (
            "The cant, we cant go. You re-run it; they were wont to",
            "en",
            "The cant, we can't go. You re-run it; they were wont to",
        ),
        ("Helloooo, I seeee! Sooo gooood, Yesss. OMGGGG", "en", "Hello, I see! So good, Yes. OMG"),
        (
            "Hmmm, zzzz, www.aaa.com, part iii, xxxx, IEEE, aaaB, mmm???",
            "en",
            "Hmmm, zzzz, www.aaa.com, part iii, xxxx, IEEE, aaaB, mmm???",
        ),
        ("Noooon, ouiii !!!!!! Quoi ??!!", "fr", "Non, oui !!! Quoi ?!"),
        ("I dıdnt go, Jony Ive left, Im Kwon-taek, Im in", "en", "I dıdnt go, Jony Ive left, Im Kwon-taek, I'm in"),
        (
            "Such that s is, where s is a, let I m be; as is his wont",
            "en",
            "Such that s is, where s is a, let I m be; as is his wont",
        ),
        ("He smiles and lets go, and its late president.", "en", "He smiles and lets go, and its late president."),
        ("Louis XVIII, page xviii, AAAI, SSSI, Schifffahrt", "en", "Louis XVIII, page xviii, AAAI, SSSI, Schifffahrt"),
        ("the 'cause of action', 'cause I said so", "en", "the 'cause of action', because I said so"),
        ("Jai Courtney, don Jaime L., Ya Rayah, ya pas", "fr", "Jai Courtney, don Jaime L., Ya Rayah, il y a pas"),
        ("Groupes O+, A+", "fr", "Groupes O+, A+"),
        ("He said its ok, its okay button", "en", "He said it's ok, its okay button"),
        ("Jai vu que cest là, ya du monde.", "fr", "J'ai vu que c'est là, il y a du monde."),
        ("À + ! T'inquiète. Tu t'inquiètes, A+ en maths", "fr", "À + ! Ne t'inquiète pas. Tu t'inquiètes, A+ en maths"),
        ("Bisous, a+", "fr", "Bisous, à plus tard"),
        ("À tte, bon we !", "fr", "À tout de suite, bon week-end !"),
        ("im ya un", "fr", "im il y a un"),
    ],
)
def test_they_are_read_in_full(text: str, src_lang: str, read: str) -> None:
    assert plain_contractions(text, src_lang) == read


@pytest.mark.parametrize(
    ("text", "tgt_lang", "output"),
    [
        ("dont worry", "fr", "t'inquiète pas"),
        ("Gotta go.", "fr", "Il faut que j'y aille."),
        ("lets go", "fr", "on y va"),
        ("jai faim", "en", "i'm hungry"),
    ],
)
def test_the_general_model_reads_them_so(general: Translator, text: str, tgt_lang: str, output: str) -> None:
    assert general.translate([text], tgt_lang=tgt_lang)[0].text == output
