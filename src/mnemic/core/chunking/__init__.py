"""From what a file says to the passages that it is found by, and the summaries above them: pure, and always alike.

`sizing` says how large a text is, `pieces` what is never cut, `cutting` where passages end, `passage` what search reads
of them, `parents` which sections they are of and what these are about, `placing` which chunks a version has.
"""

from mnemic.core.chunking.cutting import cut as cut
from mnemic.core.chunking.parents import Section as Section
from mnemic.core.chunking.parents import sections as sections
from mnemic.core.chunking.parents import summary_of as summary_of
from mnemic.core.chunking.parents import summary_of_summaries as summary_of_summaries
from mnemic.core.chunking.passage import Passage as Passage
from mnemic.core.chunking.passage import hash_of as hash_of
from mnemic.core.chunking.passage import indexed as indexed
from mnemic.core.chunking.placing import Abstract as Abstract
from mnemic.core.chunking.placing import Cut as Cut
from mnemic.core.chunking.placing import chunks_of as chunks_of
from mnemic.core.chunking.sizing import size_of as size_of
