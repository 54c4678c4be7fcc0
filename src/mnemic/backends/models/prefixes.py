"""Which words well-known models were trained to see in front of questions and passages, by the names of the models.

Many folders do not say it in their files, and without the words such a model finds markedly less. A folder that says
something itself is believed instead (`folder.describe`).
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Prefixes(NamedTuple):
    """What goes in front of a question and of a passage; empty for nothing."""

    query: str = ""
    passage: str = ""


_SEARCHING: Final = Prefixes("Represent this sentence for searching relevant passages: ")

_FAMILIES: Final = (  # from the authors' model cards
    (r"e5-(small|base|large)(-v2|-unsupervised)?", Prefixes("query: ", "passage: ")),
    (
        r"e5-large-instruct",
        Prefixes("Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "),
    ),
    (r"bge-(small|base|large)-en(-v1\.5)?", _SEARCHING),
    (r"bge-(small|base|large)-zh(-v1\.5)?", Prefixes("为这个句子生成表示以用于检索相关文章：")),  # noqa: RUF001 - as trained
    (r"mxbai-embed-(large|xsmall)-v1", _SEARCHING),
    (r"snowflake-arctic-embed-(xs|s|m|l)(-v1\.5)?", _SEARCHING),
    (r"snowflake-arctic-embed-(m|l)-v2\.0", Prefixes("query: ")),
    (r"nomic-embed-text-v[\d.]+(-moe)?", Prefixes("search_query: ", "search_document: ")),
)


def known_prefixes(name: str) -> Prefixes:
    """Return the prefixes of a model by its name or its folder's, such as `intfloat--multilingual-e5-small`."""
    lowered = name.lower()
    for pattern, prefixes in _FAMILIES:
        if re.search(rf"(?:^|[/_-]){pattern}(?:-onnx|-int8|-quantized)?$", lowered):
            return prefixes
    return Prefixes()
