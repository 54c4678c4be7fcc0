"""What a question asks for in a run without spaces: the run without the words that only make a sentence of it.

Chinese and Thai are parted at function words, Japanese at changes of script and at particles and endings of verbs,
Korean at the particle that ends each word. No dictionary is needed, and none is asked: what is left is taken in pairs.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Final

from mnemic.text.scripts import clusters, pairs


def _any_of(told: str) -> str:
    """Return a pattern for any of these words, longer ones first, in the form that folding gives them."""
    plain = {unicodedata.normalize("NFC", unicodedata.normalize("NFKC", word)) for word in told.split()}
    return "|".join(sorted(map(re.escape, plain), key=len, reverse=True))


_CHINESE: Final = re.compile(
    _any_of(
        """
        什么时候 什么 为什么 怎么样 怎么 怎样 如何 哪里 哪儿 哪家 哪个 哪些 哪 多少 多久 几点 几个 谁 我们 你们
        他们 她们 自己 这个 那个 这里 那里 的时候 有没有 是不是 是否 可以 可不可以 现在 已经 还是 因为 所以 但是
        我 你 您 他 她 它 们 的 了 吗 呢 吧 啊 呀 是 在 把 被 跟 很 么 什麼時候 什麼 為什麼
        怎麼樣 怎麼 哪裡 哪裏 這個 那個 我們 你們 他們 她們 嗎 們 還是 會不會 会不会
        """
    )
)
_THAI: Final = re.compile(
    _any_of(
        """
        ที่ไหน เมื่อไหร่ เมื่อไร อะไรบ้าง อะไร ใครบ้าง ใคร ทำไม อย่างไร ยังไง แบบไหน อันไหน เท่าไหร่ เท่าไร กี่
        หรือยัง หรือเปล่า หรือไม่ หรือ ไหม มั้ย ครับ ค่ะ นะคะ ของ ฉัน ดิฉัน คุณ เป็น อยู่ แล้ว และ ให้ ตั้งแต่
        เมื่อ กับ
        """
    )
)
_JAPANESE_START: Final = re.compile(
    "(?:"
    + _any_of(
        """
            から まで より など だけ には では とは との での にも でも へは は
            が を に で と も の へ や か ね よ な さん ちゃん くん さま
            """
    )
    + ")+"
)
_JAPANESE_END: Final = re.compile(
    "(?:"
    + _any_of(
        """
        ましたか ました ませんでした ません ますか ます でしたか でした ですか です だった だろう でしょうか
        でしょう のですか んですか んだっけ っけ ている ていた ています ていますか ていました てある てあった
        てありますか てます てた てる って して した する します され られない られる られた れない れる れた
        せる たい たの たか ない なかった なの のは のが のか こと もの とき ところ から けど まで より など
        だけ には では とは どこ いつ だれ どれ どの どう どんな なぜ なに なん いくつ いくら わたし ぼく あなた
        これ それ あれ この その あの お さん ちゃん くん は が を に で と も の へ や か ね よ な た て る い
        う く し
        """
    )
    + ")+$"
)
_JAPANESE_SCRIPTS: Final = re.compile(
    "[\u3041-\u309f]+|[\u30a0-\u30ff\u31f0-\u31ff]+|[^\u3041-\u30ff\u31f0-\u31ff]+", re.DOTALL
)
_JAPANESE_ASKING: Final = re.compile("[何誰私僕俺]|彼女|彼")
_KOREAN_ASKING: Final = frozenset(
    """
        언제 어디 어디에 어디서 어디에서 어디야 어디예요 누구 누가 누구야 무엇 무엇을 무엇이 뭐 뭐야 뭘 뭐였지
        왜 어떻게 어느 어떤 무슨 몇 얼마 얼마나 나 나는 내 내가 나의 저 저는 제 제가 너 너는 네 네가 우리 우리는
        그 이 그리고 있어 있어요 있나 있나요 있니 했어 했어요 했니 해 해요 인가요 이야 뭐지 거야 건가요
        """.split()
)
_KOREAN_PARTICLE: Final = re.compile(
    "(?<=..)(?:"
    + _any_of(
        """
        에서는 에서도 으로는 으로 에게서 에게 한테서 한테 까지 부터 처럼 보다 마다 이랑 하고 에는 에도 에서
        이라고 라고 이었지 였지 이에요 예요 입니까 입니다 인가요 이야 은 는 이 가 을 를 의 에 와 과 로 도 만 랑
        야
        """
    )
    + ")$"
)
_KOREAN_VERB: Final = re.compile("(?<=..)(?:했|하|해|한|할|합|함).{0,5}$")  # what a noun became by "do"
_KANJI: Final = re.compile("[\u3005\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_HANGUL: Final = re.compile("[\uac00-\ud7a3]")
_KANA: Final = re.compile("[\u3041-\u30ff]")


def wanted(run: str, *, japanese: bool) -> list[list[str]]:
    """Return what a run asks for: lists of letters, neighbours in each list; nothing when it only asks."""
    if _HANGUL.search(run):
        return _korean(run)
    if "\u0e00" <= run[0] <= "\u0e7f":
        return [clusters(piece) for piece in _THAI.split(run) if piece]
    if japanese:
        return _japanese(run)
    return [list(piece) for piece in _CHINESE.split(run) if piece]


def is_japanese(text: str) -> bool:
    """Tell whether a text has kana."""
    return _KANA.search(text) is not None


def _korean(word: str) -> list[list[str]]:
    if word in _KOREAN_ASKING:
        return []
    bare = _KOREAN_PARTICLE.sub("", word)
    bare = _KOREAN_VERB.sub("", bare)
    return [] if bare in _KOREAN_ASKING else [list(bare)]


def _japanese(run: str) -> list[list[str]]:
    found: list[list[str]] = []
    before = ""
    for piece in _JAPANESE_SCRIPTS.findall(run):
        if _KANJI.match(piece):
            found.extend(list(part) for part in _JAPANESE_ASKING.split(piece) if part)
        elif "\u3041" <= piece[0] <= "\u309f":
            _hiragana(piece, before, found)
        elif len(piece) > 1:
            found.append(
                list(piece.rstrip("\u30fc") if len(piece) > 3 else piece)
            )  # the long vowel of -er comes and goes
        before = piece
    return found


def _hiragana(piece: str, before: str, found: list[list[str]]) -> None:
    """Add what a run of hiragana asks for: what is left of it, or the first letter to the kanji that it inflects."""
    inflects = bool(before) and _KANJI.match(before[-1]) is not None and bool(found)
    left = _JAPANESE_START.sub("", piece, count=1) if before and _JAPANESE_START.match(piece) else piece
    inflects = inflects and left == piece
    left = _JAPANESE_END.sub("", left)
    if inflects and left:
        found[-1] = [*found[-1], left[0]]
    elif len(left) > 1:
        found.append(list(left))


def in_pairs(letters: list[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the pairs of neighbouring letters, each with the letters that stand in for a pair that nobody wrote."""
    if len(letters) == 1:
        return [(letters[0], ())]
    return [
        (pair, tuple(each for each in (left, right) if _KANJI.match(each)))
        for pair, (left, right) in zip(pairs(letters), pairwise(letters), strict=True)
    ]
