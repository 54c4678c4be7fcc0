"""The weights that `python -m bench.fitting --write` learned; `core.features` has the features.

A row reads: weight below the knee, knee, weight above it. Written by the script, not by hand.
"""

from __future__ import annotations

from typing import Final

from mnemic.core.fusion import Fusion, Row

LEARNED: Final = Fusion(
    rows={
        "dense": Row(1.2752, 0.4028, 0.0),
        "dense_share": Row(0.0406, 0.7102, 0.0),
        "dense_rank": Row(0.6128, 0.3333, 0.3862),
        "lexical": Row(0.0, 0.1271, 0.0),
        "lexical_share": Row(0.0, 0.4336, 0.0),
        "lexical_rank": Row(0.0, 0.625, 1.1054),
        "dense_pair": Row(1.9068, 0.4239, 3.8359),
        "dense_pair_share": Row(1.3737, 0.7433, -1.9938),
        "dense_pair_rank": Row(0.2446, 0.3333, 1.3848),
        "lexical_pair": Row(-1.9073, 0.1778, -1.2676),
        "lexical_pair_share": Row(-0.479, 0.5089, -0.67),
        "lexical_pair_rank": Row(1.5341, 0.5, 1.6561),
        "sum_share": Row(2.0246, 0.6258, 0.0),
        "sum_rank": Row(2.1204, 0.3333, 0.0),
        "lexical_three": Row(2.5211, 0.2066, -1.8103),
        "cover": Row(0.0, 0.2807, 0.6424),
        "cover_pair": Row(0.1417, 0.366, 2.1917),
        "cover_three": Row(0.6913, 0.3995, -0.5018),
        "lexical_many": Row(0.0, 0.0584, 3.6438),
        "dense_before": Row(-2.3038, 0.3698, 2.1566),
        "dense_after": Row(1.0205, 0.3428, -0.3002),
        "lexical_before": Row(-1.0823, 0.0978, -1.3309),
        "lexical_after": Row(-1.8407, 0.0693, -0.8004),
        "neighbour": Row(1.2221, 0.1883, 7.018),
        "session": Row(0.3291, 0.2177, 4.1573),
        "session_best": Row(1.4682, 0.2605, 0.6655),
        "session_dense": Row(-2.004, 0.466, 0.3163),
        "session_lexical": Row(0.7913, 0.1662, -6.2973),
        "session_cover": Row(1.1461, 0.724, 1.8742),
        "speaker": Row(1.4169),
        "subject": Row(1.1955),
        "subject_of_two": Row(0.1841),
        "entity": Row(0.0),
        "time": Row(3.1578),
        "length": Row(1.2583, 0.9878, 3.7646),
        "asks": Row(-0.108),
        "asked_before": Row(0.2967),
        "speaker_asks": Row(-0.2994),
        "speaker_asked": Row(0.2628),
        "number": Row(0.0768),
        "says_time": Row(0.1494),
        "picture": Row(-0.154),
        "names": Row(1.4156),
        "when_time": Row(1.5394),
        "when_number": Row(0.183),
        "how_many_number": Row(0.4119),
        "how_long_time": Row(2.2616),
        "reply": Row(-0.2406),
        "asked_reply": Row(1.8479),
    },
    sureness={
        "sum": 0.8487,
        "dense": -3.4512,
        "lexical": 1.2251,
        "cover_pair": -0.5133,
        "lexical_three": 0.0243,
    },
    offset=-9.4907,
)
