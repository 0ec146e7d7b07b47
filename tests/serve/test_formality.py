"""A text that goes through the server says tu or vous throughout, sentence by sentence as it is translated."""

import re

import pytest
from starlette.testclient import TestClient

from translate.serve.formality import in_one_formality
from translate.serve.pool import Sentence
from translate.translator.guards.formality import addresses
from translate.translator.translation import TranslatedHypothesis, Translation

LETTER = "Could you send me the figures before Monday?\nYou have done a great job."
MOTHER = "Mum, where did you put my shoes? Can you help me? You always know where everything is."


def ask(client: TestClient, **values: object) -> str:
    answer = client.post("/translate", json={"source": "en", "target": "fr", **values})
    assert answer.status_code == 200, answer.text
    return answer.json()["translatedText"]


def test_each_text_says_one_of_them_and_what_is_asked_for(client: TestClient) -> None:
    said = {
        formality: [addresses(one) for one in ask(client, q=[LETTER, MOTHER], formality=formality)]
        for formality in (None, "any", "consistent", "formal", "informal")
    }
    both = {"formal", "informal"}
    assert said == {
        None: [{"formal"}, {"informal"}],
        "any": [both, both],
        "consistent": [{"formal"}, {"informal"}],
        "formal": [{"formal"}] * 2,
        "informal": [{"informal"}] * 2,
    }
    page = "<p>Could you send me the figures before Monday?</p><p>You have done a <b>great</b> job.</p>"
    assert addresses(re.sub("<.*?>", " ", ask(client, q=page, format="html"))) == {"formal"}


def test_v1_gives_sentences_of_one_formality_with_their_alternatives(client: TestClient) -> None:
    values = {"text": LETTER, "source": "en", "target": "fr", "alternatives": 2}
    found = client.post("/v1/translate", json=values).json()
    translations = [one["translations"] for one in found["segments"] if one["translations"]]
    assert [addresses(own[0]["text"]) for own in translations] == [{"formal"}, {"formal"}]
    assert [len(own) for own in translations] == [3, 3]
    stream = client.post(
        "/v1/translate", json={**values, "formality": "informal"}, headers={"accept": "text/event-stream"}
    )
    first = re.findall(r'"translations": \[\{"text": "(.*?)"', stream.text)
    assert [addresses(one) for one in first] == [{"informal"}, {"informal"}]


def test_what_cannot_be_had_is_refused(client: TestClient) -> None:
    for path, name in (("/translate", "q"), ("/v1/translate", "text")):
        values = {name: "Tu viens ?", "source": "fr", "target": "en"}
        refused = client.post(path, json={**values, "formality": "formal"})
        assert refused.status_code == 400
        assert refused.json()["error"] == "Invalid request: formality (formal) is for translations into fr"
        refused = client.post(path, json={**values, "formality": ["more"]})
        assert refused.status_code == 400
        assert "formality parameter must be one of any, consistent, formal, informal" in refused.json()["error"]
        assert client.post(path, json={**values, "formality": "consistent"}).status_code == 200


def translation(text: str, log_prob: float) -> Translation:
    return Translation(text, log_prob, (TranslatedHypothesis(text, log_prob, log_prob, ()),))


@pytest.mark.anyio
async def test_only_texts_that_deviate_are_translated_again_and_the_likelier_way_wins() -> None:
    asked: list[tuple[str, str]] = []

    async def again(sentences: list[Sentence]) -> list[Translation]:
        asked.extend((one.text, one.formality) for one in sentences)
        return [
            translation(
                f"{'Vous' if one.formality == 'formal' else 'Tu'} {one.text}", -2.0 - (one.formality == "formal")
            )
            for one in sentences
        ]

    consistent = [Sentence(text, "en", "fr", formality="consistent") for text in "abcde"]
    texts = [consistent[:3], consistent[3:], [], [Sentence(text, "en", "fr") for text in "fg"]]
    found = [translation(text, -1.0) for text in ("Vous a", "b", "Tu c", "Tu d", "Tu e", "Tu f", "Vous g")]
    done = await in_one_formality(texts, found, again)
    assert [one.text for one in done] == ["Tu a", "b", "Tu c", "Tu d", "Tu e", "Tu f", "Vous g"]
    assert asked == [("a", "informal"), ("c", "formal")]
