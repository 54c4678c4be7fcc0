"""What counts as a word, a sentence and a token, for everything that reads text.

Indexing, extraction and packing share these so that they agree. `words` has what a word is, `scripts` and `languages`
what its script and its language make of it, `forms` and `asking` what a passage is indexed by and a question looks for,
`reading` when that has changed, `sentences` how text is cut.
"""

from mnemic.text.asking import Sought as Sought
from mnemic.text.asking import sought as sought
from mnemic.text.forms import index_terms as index_terms
from mnemic.text.languages import STOP_WORDS as STOP_WORDS
from mnemic.text.languages import likely as likely
from mnemic.text.reading import reading as reading
from mnemic.text.sentences import estimate_tokens as estimate_tokens
from mnemic.text.sentences import passages as passages
from mnemic.text.sentences import sentence_spans as sentence_spans
from mnemic.text.sentences import sentences as sentences
from mnemic.text.sentences import shorten as shorten
from mnemic.text.traits import Trait as Trait
from mnemic.text.traits import traits_of as traits_of
from mnemic.text.words import clean as clean
from mnemic.text.words import content_terms as content_terms
from mnemic.text.words import fold as fold
from mnemic.text.words import sound as sound
from mnemic.text.words import stem as stem
from mnemic.text.words import terms as terms
from mnemic.text.words import words as words
