"""Abbreviations of messages and notices are read in full."""

import pytest

from translate.common.resources import models_dir
from translate.translator.guards.abbreviations import plain_abbreviations
from translate.translator.translator import Translator


@pytest.mark.parametrize(
    ("text", "lang", "read"),
    [
        ("Can u help me pls?", "en", "Can you help me please?"),
        ("U r late, r u ok? It's ur turn.", "en", "You are late, are you ok? It's your turn."),
        ("Thx 4 that. OMG, ASAP! ASAP.", "en", "Thanks 4 that. Oh my God, as soon as possible! As soon as possible."),
        ("FYI: BTW is short", "en", "For your information: by the way is short"),
        ("Ask HR, the U.S., a U-turn, Plan U, the EU", "en", "Ask HR, the U.S., a U-turn, Plan U, the EU"),
        ("Coffee w/ milk, w/o sugar, b/c why not", "en", "Coffee with milk, without sugar, because why not"),
        ("5 hrs and 10 mins, 2 yrs old, 3 pcs", "en", "5 hours and 10 minutes, 2 years old, 3 pieces"),
        ("approx. 5 km, the dept. of maths", "en", "approximately 5 km, the department of maths"),
        ("Mon.-Fri., Sat. 5, the Sun. It", "en", "From Monday to Friday, Saturday 5, the Sun. It"),
        ("Open Mon. - Sat.", "en", "Open from Monday to Saturday."),
        (
            "from Tue through Thurs, the night of Sat to Sun",
            "en",
            "from Tuesday to Thursday, the night of Saturday to Sunday",
        ),
        ("Sat 10am or Sun, Jan 8; Mon, Wed & Fri", "en", "Saturday 10am or Sunday, Jan 8; Monday, Wednesday & Friday"),
        ("St. Anne's school, Main St. Boston", "en", "Saint Anne's school, Main St. Boston"),
        (
            "a B.A. in art, a.k.a. Bob, walk through 3 gates",
            "en",
            "a BA in art, also known as Bob, walk through 3 gates",
        ),
        ("the Sun and Saturn, Sun Jung, Wed Mayor", "en", "the Sun and Saturn, Sun Jung, Wed Mayor"),
        ("Mt. Everest, pls@b.org, #btw, u/x, imo.com", "en", "Mount Everest, pls@b.org, #btw, u/x, imo.com"),
        (
            "Tea vs. coffee, max. 4 people, est. 1950",
            "en",
            "Tea against coffee, a maximum of 4 people, founded in 1950",
        ),
        ("max. Then est. It vs", "en", "max. Then est. It vs"),
        ("44 BC, 44 B.C. Then", "en", "44 before Jesus Christ, 44 before Jesus Christ. Then"),
        ("in 753 BC.", "en", "in 753 before Jesus Christ."),
        ("the 5th century B.C., AD 70, an AD", "en", "the 5th century before Jesus Christ, the year 70, an AD"),
        ("1 tsp, 1/2 tsp, 2.1 tbsp, 11tbsp", "en", "1 teaspoon, 1/2 teaspoon, 2.1 tablespoons, 11 tablespoons"),
        ("incl. tax, incl. in the price", "en", "including tax, included in the price"),
        (
            "5, bd Voltaire, 12 av. Foch, en 70 apr. J.-C.",
            "fr",
            "5, boulevard Voltaire, 12 avenue Foch, en 70 après Jésus-Christ.",
        ),
        ("no. 5, i.e. B, e.g. A", "en", "number 5, i.e. B, for example A"),
        ("He lived in Ur. Ur gone.", "en", "He lived in Ur. Your gone."),
        ("No. 7, but no. Not it.", "en", "Number 7, but no. Not it."),
        ("Sun closed its shop, Sun, open it", "en", "Sun closed its shop, Sun, open it"),
        ("Apt. 4, Bldg. C, pp. 3-5, 5 p. 3", "en", "Apartment 4, Building C, pages 3-5, 5 p. 3"),
        ("Sun closed, Mon open, the Sun open", "en", "Sunday closed, Monday open, the Sun open"),
        ("He is 5 yo, $9 p.a. in all", "en", "He is 5 years old, $9 a year in all"),
        ("Attn: J. Smith, attn. Bob", "en", "For the attention of J. Smith, For the attention of Bob"),
        ("PJ : CV, la PJ : x", "fr", "Pièce jointe : CV, la PJ : x"),
        ("Lun. 9-12, mar. fermé", "fr", "Lundi 9-12, mardi fermé"),
        ("the '90s, '95, 5'90s", "en", "the 90s, '95, 5'90s"),
        ("Cf. p. 3, le Bât. C", "fr", "Voir page 3, le Bâtiment C"),
        ("Rdv demain devant le cinéma", "fr", "On se voit demain devant le cinéma"),
        ("Rendez-vous sur notre site, à lundi", "fr", "Rendez-vous sur notre site, à lundi"),
        ("un pb, tt le monde est là, cad nous", "fr", "un problème, tout le monde est là, ce qui veut dire nous"),
        ("Pb : 5 mg, 200 cad, la cad.", "fr", "Pb : 5 mg, 200 cad, la cad."),
        ("le jeu. 4 joueurs, la mer. 3 lits, Jeu. 4", "fr", "le jeu. 4 joueurs, la mer. 3 lits, Jeu. 4"),
        ("Rendez-vous jeudi annulé", "fr", "Rendez-vous jeudi annulé"),
        ("Tu peux m'aider stp ?", "fr", "Tu peux m'aider s'il te plaît ?"),
        ("RDV à 8 h, répondez SVP.", "fr", "On se voit à 8 h, répondez s'il vous plaît."),
        ("Dsl, bcp de gens tjs dispo", "fr", "Désolé, beaucoup de gens toujours disponible"),
        ("2 c. à soupe d'huile, 1 c. à c. de sel", "fr", "2 cuillères à soupe d'huile, 1 cuillère à café de sel"),
        ("Mar. 5 nov., th. 6, p. 42, p. ex. ``x``", "fr", "Mardi 5 nov., thermostat 6, page 42, p. ex. ``x``"),
        ("env. 5 km, p. ex. demain, c.-à-d. lundi", "fr", "environ 5 km, par exemple demain, c.-à-d. lundi"),
        ("du lun. au ven., mar. 5, jeu.-sam.", "fr", "du lundi au vendredi, mardi 5, jeudi-samedi"),
        ("au bord de la mer. on joue à un jeu. il", "fr", "au bord de la mer. on joue à un jeu. il"),
        (
            "en 52 av. J.-C., tél. : 01, 3 pers. max",
            "fr",
            "en 52 avant Jésus-Christ, téléphone : 01, 3 personnes au maximum",
        ),
        ("Nº 5, n°6, 20 °C, n'est", "fr", "Numéro 5, numéro 6, 20 °C, n'est"),
        ("no. 5, i.e. B, un QQN, l'anniv", "fr", "no. 5, i.e. B, un QQN, l'anniversaire"),
    ],
)
def test_they_are_read_in_full(text: str, lang: str, read: str) -> None:
    assert plain_abbreviations(text, lang) == read


def test_the_general_model_reads_them_so() -> None:
    translator = Translator.load(models_dir() / "en-fr")
    (found,) = translator.translate(["Thx for ur help"], tgt_lang="fr")
    assert found.text.startswith("Merci ")
    (found,) = translator.translate(["Je suis tjs en retard, dsl."], tgt_lang="en")
    assert "always" in found.text
    assert "sorry" in found.text
    (plain,) = translator.translate(["Je suis tjs en retard, dsl."], tgt_lang="en", form_guard=False)
    assert "sorry" not in plain.text
