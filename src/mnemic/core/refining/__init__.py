"""What a language model is asked about a batch of messages, and what of its answer may be believed.

The model proposes; what stands here checks every item against the messages: an item whose evidence is not there, that
is about the wrong person, or that holds a number or a name that nobody said, is void.
"""

from mnemic.core.refining.batch import Batch, Drawn, Item, Mention, Tastes, Topic, TopicNote, Void
from mnemic.core.refining.checking import check
from mnemic.core.refining.prompting import prompt_of
from mnemic.core.refining.reading import read

__all__ = [
    "Batch",
    "Drawn",
    "Item",
    "Mention",
    "Tastes",
    "Topic",
    "TopicNote",
    "Void",
    "check",
    "prompt_of",
    "read",
]
