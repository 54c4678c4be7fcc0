"""Words, sentences and tokens of every script; English text is read as if there were no other language."""

# ruff: noqa: RUF001 - other scripts have letters that look like ours

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.text import (
    content_terms,
    estimate_tokens,
    index_terms,
    passages,
    sentences,
    shorten,
    sought,
    stem,
    terms,
    words,
)

ANY_SCRIPT = st.text(
    st.characters(exclude_categories=["Cs"])
    | st.sampled_from("กเแไ้่ำาิุ์ລໄດ້ကောင်းខ្មែរガがパー한국어漢字كتابيةْהّספרкёйßıİçñ'’ .!?"),
    max_size=40,
)


@given(ANY_SCRIPT)
def test_what_is_a_word_is_a_word_by_itself(text: str) -> None:
    found = words(text)
    if any(char.isalnum() for word in found for char in word):
        assert [piece for word in found for piece in words(word)] == found


@given(ANY_SCRIPT)
def test_a_question_is_found_in_its_own_text(text: str) -> None:
    wanted = sought(text)
    held = set(index_terms(text)[0])
    assert not wanted or any(held.intersection(term for term, _ in word.terms) for word in wanted)


@given(ANY_SCRIPT)
def test_every_passage_is_indexed_by_its_stems_and_is_as_long_as_these(text: str) -> None:
    found, length = index_terms(text)
    assert found[:length] == terms(text)
    assert all("_" in further for further in found[length:])


@given(ANY_SCRIPT)
def test_sentences_cover_everything_that_is_no_space(text: str) -> None:
    spans = sentences(text)
    assert "".join("".join(spans).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "text", ["Where did Ben move to last spring?", "We were at the café, weren't we?", "My dog's name is Rex."]
)
def test_english_is_looked_for_by_its_stems_alone(text: str) -> None:
    assert [word.terms for word in sought(text)] == [((each, 1.0),) for each in dict.fromkeys(content_terms(text))]
    assert index_terms(text) == (terms(text), len(terms(text)))


@pytest.mark.parametrize(
    "passage, question",
    [
        ("Unsere Geburtstagsfeier war schön", "Wann ist die Feier?"),
        ("Unsere Geburtstagsfeier war schön", "Wer hat Geburtstag?"),
        ("Ich bin gegen Haselnüsse allergisch", "Gegen welche Nuss?"),
        ("Die Haustür ist zu", "Warum sind alle Tueren zu?"),
        ("Wir haben gefeiert", "Wie feiern wir?"),
        ("Kitabımı masada unuttum ve çıktım", "Kitaplar nerede?"),
        ("Bu arabanın rengi çok güzel", "HANGİ ARABA?"),
        ("J'habite près de l'hôpital", "Où sont les hopitaux ?"),
        ("Os meus irmãos vivem em Lisboa", "Onde vive o teu irmao?"),
        ("Gli amici della nonna sono qui", "Chi è l'amico?"),
        ("De kinderen gaan naar school", "Waar is het kind?"),
        ("Мою кошку зовут Соня", "Как зовут кошек?"),
        ("اشتريت السيارة أمس", "أين سيارتي؟"),
        ("قرأتُ كِتَابَهُ", "ما هو الكتاب؟"),
        ("הלכתי לספרייה", "איפה הספרייה?"),
        ("किताबें मेज पर हैं।", "किताब कहाँ है?"),
        ("りんごを買った", "リンゴはどこ？"),
        ("新しいサーバーを買った", "サーバは？"),
        ("ｱﾚﾙｷﾞｰがあります", "アレルギーは何？"),
        ("도서관에서 만나요", "도서관은 어디야?"),
        ("ฉันชอบผลไม้", "ผลไม้อะไร"),
    ],
)
def test_a_word_is_found_in_its_other_forms(passage: str, question: str) -> None:
    held = set(index_terms(passage)[0])
    assert any(held.intersection(term for term, _ in word.terms) for word in sought(question))


@pytest.mark.parametrize(
    "question, left",
    [
        ("Wo findet die Feier statt?", ["findet", "feier"]),
        ("我什么时候搬到成都的？", ["搬到", "到成", "成都"]),
        ("猫ちゃんの名前は何でしたか？", ["猫", "名前"]),
        ("나는 어느 병원의 간호사야?", ["병원", "간호", "호사"]),
        ("แมวชื่ออะไร", ["แมว", "วชื่", "ชื่อ"]),
        ("什么", ["什么"]),
    ],
)
def test_what_only_asks_is_not_looked_for(question: str, left: list[str]) -> None:
    found = [word.stem for word in sought(question)]
    assert found == left


def test_a_word_of_another_language_does_not_stand_for_an_english_one() -> None:
    spanish = index_terms("Mi hermano tiene vinos muy buenos")[0]
    assert not set(spanish).intersection(term for word in sought("Where does he have wins?") for term, _ in word.terms)


@pytest.mark.parametrize(
    "text, cut",
    [
        ("今天很好。你呢？我也很好！", ["今天很好。", "你呢？", "我也很好！"]),
        ("彼は「行く。」と言った。", ["彼は「行く。」", "と言った。"]),
        ("كيف حالك؟ أنا بخير.", ["كيف حالك؟", "أنا بخير."]),
        ("यह अच्छा है। वह नहीं।", ["यह अच्छा है।", "वह नहीं।"]),
        ("Dr. Smith came. He left!", ["Dr. Smith came.", "He left!"]),
    ],
)
def test_sentences_end_as_their_script_has_it(text: str, cut: list[str]) -> None:
    assert sentences(text) == cut


def test_a_danda_is_no_part_of_a_word() -> None:
    assert words("किताब।") == words("किताब")


@pytest.mark.parametrize("text", ["我上个月搬到了成都", "삼월부터 일하고 있어요", "เดือนที่แล้วฉันย้ายไป", "किताब मेज पर"])
def test_a_letter_of_an_asian_script_costs_a_token(text: str) -> None:
    assert estimate_tokens(text) >= sum(char.isalnum() for char in text)


def test_passages_of_text_without_spaces_cover_all_of_it() -> None:
    text = "海" * 3_000
    spans = passages(text)
    assert [start for start, _ in spans[1:]] == [end for _, end in spans[:-1]]
    assert (spans[0][0], spans[-1][1]) == (0, 3_000)
    assert all(left[1] == right[0] for left, right in pairwise(spans))


def test_shortened_text_fits() -> None:
    assert len(shorten("a word " * 50, 40)) <= 40


def test_stems_of_words_in_latin_letters_are_english_ones() -> None:
    assert [stem(word) for word in ("hiking", "houses", "feiern")] == ["hike", "hous", "feiern"]
