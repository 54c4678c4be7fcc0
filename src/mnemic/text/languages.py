"""Which of the languages in Latin letters a text may be in, by its function words and the letters that only some have.

Scripts that tell their language (or a stemmer that serves them) need no guess; `scripts.py` has those. A guess may name
several languages, or none for a text that has nothing to go by: whoever asks must do well with both.
"""

# ruff: noqa: RUF001 - words stand in their own letters

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

STOP_WORDS: Final = frozenset(
    """
        a about above after again all also am an and any are as at be because been before being below between
        both but by can could did do does doing don down during each few for from further had has have having he
        her here hers herself him himself his how i if in into is it its itself just let me more most my myself
        no nor not of off on once only or other our ours ourselves out over own same she should so some such
        than that the their theirs them themselves then there these they this those through to too under until
        up us very was we were what when where which while who whom why will with would you your yours yourself
        yourselves ll re ve s t d m im ive id dont didnt doesnt isnt wasnt arent cant couldnt wont wouldnt thats
        whats hes shes theyre youre weve yeah oh hey hi wow ok okay gonna wanna really got get
        """.split()
)
"""English function words and fillers: they carry no topic, and are searched only when nothing else is left."""

_LISTS: Final[Mapping[str, str]] = {
    "de": """
        am an bin da den der die du er hat hatten in so statt war was will aber alle als auch auf aus bei beim
        bis bist damit dann das dass dein deine deinen deiner dem denn der des dich dir doch durch ein eine
        einem einen einer eines er es euch euer fur gegen gern gerne habe haben hatte hatten hast hier ich ihm
        ihn ihnen ihr ihre ihren ihrer im immer ist ja jede jeden jetzt kann kannst kein keine keinen konnen
        machen mein meine meinem meinen meiner mich mir mit nach nicht noch nun nur ob oder ohne schon sehr sein
        seine seinem seinen seiner seit sich sie sind soll sollte uber um und uns unser unsere unseren vom von
        vor wann waren warum wegen weil welche welchem welchen welcher welches wem wen wenn werden wer wie
        wieder wir wird wo woher wohin wollen womit worden wurde wurden zu zum zur zwischen
        """,
    "nl": """
        aan al als altijd ben bij dan dat de deze die dit doen door een en er geen haar heb hebben hebt heeft
        hem het hij hoe hoeveel hun ik ja je jij jouw jullie kan kunnen maar meer met mij mijn moet na naar niet
        nog nu om omdat onder ons onze ook op over sinds te tegen toch toen tot uit van veel voor waar waarom
        wanneer waren wat welk welke werd wie wij willen worden wordt zal ze zeer zich zij zijn zo zonder zou
        """,
    "sv": """
        aldrig alla att av blev bli blir dar de dem den denna deras dess det detta dig din dina ditt du eller en
        ett efter fran for ha hade han hans har hennes hon hur i inte ja jag kan kommer man med mellan men mig
        min mina mitt mot mycket nar nagon nagot ni nu och om oss pa sedan sig sin sina sitt ska skulle som till
        under upp ut vad var vara varfor varit vart vem vi vid vilka vilken vilket ar
        """,
    "da": """
        af alle at blev blive bliver da de dem den denne der deres det dette dig din dine dit du efter eller en
        er et for fra ha ham han hans har havde hende hendes her hun hvad hvem hvilken hvilket hvis hvor hvordan
        hvorfor hvornar i ikke ja jeg jer kan kunne man med meget mellem men mig min mine mit mod nar nej noget
        og om os pa sig sin sine skal skulle som til ud under var ved vi vil ville vores vaere vaeret
        """,
    "fr": """
        ai aimes ainsi alors apres as au aussi autre aux avait avec avez avoir avons c ca ce cela celle celui
        ces cet cette chez ci comme comment dans de depuis des donc du elle elles en encore est et etait etaient
        ete etes etre eu fait il ils j je jusque l la le les leur leurs lors lui ma mais me meme mes moi mon n
        ne nos notre nous on ont ou par parce pas pendant peu peut plus pour pourquoi qu quand que quel quelle
        quelles quels qui quoi sa sans se ses si son sont sous sur ta te tes toi ton tous tout toute toutes tres
        tu un une va vais vers veut veux voici vont vos votre vous y cest jai dun dune quil quelle nest sest lai
        """,
    "es": """
        a adonde ahi al algo algun alguna alli ante antes aqui asi aun aunque bien cada como con cual cuales
        cuando cuanto cuantos cuantas de del desde donde dos el ella ellas ellos en entre era eran eres es esa
        ese eso esta estaba estamos estan estar estas este esto estos estoy fue fueron ha haber habia han hasta
        hay he hemos la las le les lo los mas me mi mis mucho muy nada ni nos nosotros o os otra otro para pero
        por porque pues que quien quienes se ser si sido sin sobre somos son soy su sus tambien tan tanto te
        tengo ti tiene tienes toda todavia todo todos tu tus tuve tuvo un una unas uno unos va vas voy y ya yo
        """,
    "pt": """
        a agora ainda algum alguma ao aos aquela aquele aqui as ate cada com como da das de dela dele depois do
        dos e ela elas ele eles em entre era eram essa esse esta estao estar estava estou eu foi foram ha isso
        isto ja la lhe mais mas me mesmo meu meus minha minhas muito na nao nas nem no nos nossa nosso num numa
        o onde os ou para pela pelo por porque qual quais quando quanto que quem se sem ser seu seus sobre sou
        sua suas tambem te tem tenho teu teve tinha toda todo todos tu tua um uma umas uns vai voce voces vou
        """,
    "it": """
        ad agli ai al alla alle allo anche ancora avere aveva c che chi ci ciao coi col come con cosa cui da
        dagli dai dal dalla dalle dallo degli dei del della delle dello di dopo dove e ed era erano essere fa
        fra gia gli ha hai hanno ho i il in io la le lei li lo loro lui ma me mi mia mie miei mio molto ne negli
        nei nel nella nelle nello noi non nostra nostro o ogni per perche piu poi qual quale quali quando quanto
        quella quello questa questo qui sarei se sei senza si sia siamo sono sta stata stato sto su sua sue sui
        sul sulla suo suoi te ti tra tu tua tuo tuoi tutti tutto un una uno vi voi
        """,
    "tr": """
        acaba ama ancak artik asla az bana bazi beni benim bile bir biraz biri biz bizi bizim bu buna bunu bunun
        burada cok cunku da daha de degil diye dolayi en gibi gore hala hangi hani hem hep her hic icin ile ise
        iste kac kadar ki kim kime kimin kimse la mi misin miydi mu mudur nasil ne neden nedir nerede nereden
        nereye neydi neyi neyin nicin niye o olan olarak oldu oldugu olur ona onlar onu onun orada oyle peki pek
        sana seni senin siz sizi sizin sonra su sunu tum uzere var vardi ve veya ya yani yok zaten
        """,
    "pl": """
        a aby ale albo bardzo bez bo by byc byl byla bylo byly ci co czy czym dla dlaczego do gdy gdzie go i ich
        ile im ja jak jaka jaki jakie jakim jako jego jej jest jestem jeszcze jesli juz kiedy kim komu kto ktora
        ktore ktory ma mam mi mial mnie moj moja moje mojej mu my na nad nam nas nie niz o od oraz po pod
        poniewaz przed przez przy sa sie swoj ta tak tam te tego tej ten to tu twoj twoja ty tych tylko tym u w
        we wiele wszystko wy z za ze
        """,
    "fi": """
        ei eivat en etta ehka han hanen he hyvin ihan itse ja jo joka jos jotka kaikki kanssa kuin kuinka kuka
        kun kylla me meidan mika mihin miksi mina minulla minun minua minut missa mista mita mitka myos mutta ne
        niin nyt ole olemme olen oli olin olivat on ovat sen se siella siita silla sina sinun sitten taas tai
        tama tassa te tuo vai vain viela voi voin
        """,
    "hu": """
        a az azt abban akkor amely ami amikor azert azonban be benne csak de ebben egy egyik el en engem es ez
        ezert ezt fel hanyszor hany hogy hogyan hol hova honnan igen is itt ki kicsit kik kit le lesz lett majd
        meg mely melyik mert mi miert mikor milyen mint most nagyon nekem neki nem nincs o ok olyan ott pedig
        rola sem szamara te tudom ugy vagy vagyok van vannak volt voltak voltam
        """,
}
"""Function words as they are folded: no case, no accents. Those that English has too, or that are common English words
and names, count for nothing (`_VOTES`).
"""

_ALIKE: Final = frozenset(
    """
        al an as at be ben bin can come con dan de den der die do don du el em en era fin go gut hat he her hier
        i im in is la land las le les lo los man mas me men mit most no nu o of on once or par per pour sale san
        so son sur te tot u un under up us var via von war was we will y ya
        """.split()
)
"""Words of other languages that English, its names or its abbreviations have too: alone they tell nothing."""

_LETTERS: Final[Mapping[str, str]] = {
    "ß": "de", "ä": "de sv fi", "ö": "de sv fi tr hu", "ü": "de tr hu", "å": "sv da", "ø": "da", "æ": "da",
    "ı": "tr", "İ": "tr", "ğ": "tr", "ş": "tr", "ç": "fr pt tr", "œ": "fr", "ê": "fr pt", "ë": "fr nl", "î": "fr",
    "ñ": "es", "¿": "es", "¡": "es", "ã": "pt", "õ": "pt", "ì": "it", "ò": "it", "ù": "it fr", "à": "fr it pt",
    "è": "fr it", "é": "fr es pt hu", "á": "es pt hu", "í": "es pt hu", "ó": "es pt pl hu", "ú": "es pt hu",
    "ł": "pl", "ż": "pl", "ź": "pl", "ś": "pl", "ń": "pl", "ę": "pl", "ą": "pl", "ć": "pl", "ő": "hu", "ű": "hu",
}  # fmt: skip
"""Letters that a text in one of these languages may have, and in English hardly any does."""

LANGUAGES: Final = tuple(_LISTS)
"""The languages in Latin letters that are known beside English, by their ISO 639-1 codes."""

FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = {name: frozenset(told.split()) for name, told in _LISTS.items()}
"""By language; English has `STOP_WORDS`."""


_BY_SCRIPT: Final = """
        ما ماذا من هل اين متى كيف لماذا اي كم الذي التي هذا هذه ذلك تلك هو هي هم انا انت نحن في على الى إلى عن
        مع منذ كان كانت قد لقد لا لم لن ان أن إن أو او ثم عند عندي بعد قبل كل يا لي له لها هناك هنا و и в во не
        что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще
        нет о из ему теперь когда даже ну ли если уже или ни быть был него до вас опять уж вам ведь там потом
        себя ничего еи может они тут где есть надо неи для мы тебя их чем была сам чтоб без будто чего раз тоже
        себе под будет кто этот того потому этого какои какая какие каким каких каком какую совсем ним здесь
        этом один почти мои моя мое мои моих моеи моем мою твои твоя тем чтобы нее были куда зачем всех никогда
        можно при наконец два об другои хоть после над больше тот через эти нас про всего них много разве эту
        наш наша свою своеи перед иногда лучше чуть том такои им более всегда конечно
        """
"""Function words of Arabic and Russian, whose letters tell them apart."""

SCRIPT_STOP_WORDS: Final = frozenset(_BY_SCRIPT.split())


def _votes() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, told in FUNCTION_WORDS.items():
        for word in told - STOP_WORDS - _ALIKE:
            found[word] = (*found.get(word, ()), name)
    return found


_VOTES: Final[Mapping[str, tuple[str, ...]]] = _votes()


_OTHERS: Final = frozenset(_VOTES)


def _count(present: Collection[str], text: str) -> tuple[dict[str, int], int]:
    """Return how many function words and letters of a text speak for each language, and how many words for English.

    `present` are the folded words of the text, each once.
    """
    found: dict[str, int] = {}
    for word in _OTHERS.intersection(present):
        for name in _VOTES[word]:
            found[name] = found.get(name, 0) + 1
    if not text.isascii():
        for letter in _LETTERS.keys() & set(text.lower()):
            for name in _LETTERS[letter].split():
                found[name] = found.get(name, 0) + 1
    return found, len(STOP_WORDS.intersection(present))


def likely(present: Collection[str], text: str) -> tuple[str, ...] | None:
    """Return the languages that a text may be in besides English, the likeliest first; None when nothing tells.

    Of close relatives all are named. A text with twice as many English function words as others is English only.
    """
    found, english = _count(present, text)
    if not found:
        return () if english else None
    best = max(found.values())
    if english >= 2 * best:
        return ()
    return tuple(sorted((name for name, count in found.items() if 2 * count > best), key=lambda name: -found[name]))


def fillers(present: Collection[str], text: str) -> frozenset[str]:
    """Return the words that carry no topic in a text of these folded words, in its likeliest languages."""
    found, english = _count(present, text)
    best = max(found.values(), default=0)
    told = [FUNCTION_WORDS[name] for name, count in found.items() if count == best and count > english]
    return STOP_WORDS.union(SCRIPT_STOP_WORDS, *told)
