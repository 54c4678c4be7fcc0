"""How text is read, as one short name that changes when the terms of passages do: stores keep it, to notice an upgrade.

It is taken from what a sample in many languages is indexed by, so that a new version of the stemmers shows as well.
"""

# ruff: noqa: RUF001 - words stand in their own letters

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Final

from mnemic.text.forms import index_terms
from mnemic.text.traits import traits_of

_EDITION: Final = 1
"""Counted up by whoever changes what passages are indexed by in a way that the sample does not show."""

_SAMPLE: Final = (
    "Ann's children were hiking happily; it's the best of the 3 hobbies, isn't it? \u2b50 foo_bar",
    "Ich habe meine Geburtstagsfeier in den Häusern der Nachbarn nicht gefeiert, aber die Gruesse gehört.",
    "Mijn kinderen hebben de verjaardagstaarten niet gegeten, maar het waren er veel.",
    "Jag har inte ätit frukosten, men vi och barnen är på skolgården.",
    "Jeg har ikke spist morgenmaden, men vi og børnene er på legepladsen.",
    "J'ai préféré les journaux de l'hôpital, mais nous étions avec mes chevaux.",
    "Los camiones de mi hermano están rotos, pero las canciones también son nuestras.",
    "Os meus irmãos não estavam nas canções, mas você também não.",
    "Gli amici della nonna sono qui, ma l'amica non è con noi e le città nemmeno.",
    "Kitaplarımı ışıklı rafa dizdim, arabanın anahtarı da çok güzel ama İzmir'de değil.",
    "Moje koty są bardzo małe, ale nie jest mi z nimi źle.",
    "Minun lapseni ovat talossa, mutta en ole siellä vielä.",
    "A gyerekeim nem voltak a házban, de most már itt vannak és jól.",
    "Мои кошки переехали в детский сад, а любимый ёжик остался.",
    "قرأتُ كِتَابَهُ في المدرسة وسيارتي بالحديقة. הלכתי לספריות. किताबें मेज पर हैं। τα σπίτια",
    "新しいサーバーとｺｰﾋｰとりんごを買った。我搬到了成都。도서관에서 만나요. ฉันชอบผลไม้น้ำ ຂ້ອຍ မြန်မာ ខ្មែរ",
)


@lru_cache(maxsize=1)
def reading() -> str:
    """Return the name of the present reading."""
    read = "\n".join(f"{traits_of(text)} {' '.join(index_terms(text)[0])}" for text in _SAMPLE)
    return f"{_EDITION}-{hashlib.sha256(read.encode('utf-8', 'replace')).hexdigest()[:16]}"
