"""Measures how well memory finds and answers: datasets, runners over the public face, baselines, and pure measures.

    dataset = open_dataset("locomo", Path("locomo10.json"))
    found = document(run(dataset, Options(Path("state"), config.load())))
    print(found["systems"]["mnemic"]["groups"]["all answerable"]["measures"]["turn recall@10"]["mean"])

`run_answers` and `answers_document` do the same for answers. `docs/evaluation.md` tells the files, the measures and the
documents. A fitting script takes conversations from `Dataset.read`, fills memories with `store`, and scores rankings
with `ranks` and `of_ranking`.
"""

from mnemic.evaluation.answer_running import Answers, Models, run_answers
from mnemic.evaluation.answer_summing import answers_document
from mnemic.evaluation.asking import ask, confidences, ranks, turns_of
from mnemic.evaluation.datasets import Conversation, Dataset, Problem, Question, Turn
from mnemic.evaluation.filling import store
from mnemic.evaluation.journal import Journal
from mnemic.evaluation.metrics import (
    all_hit_at,
    any_hit_at,
    area_under_curve,
    ndcg_at,
    of_ranking,
    quantile,
    recall_at,
    reciprocal_rank,
)
from mnemic.evaluation.opening import LAYOUTS, open_dataset
from mnemic.evaluation.peers import PEERS, Peer
from mnemic.evaluation.records import Asked, Found, Packed, Stored
from mnemic.evaluation.resampling import Interval, Spread, over_conversations, over_questions, spread
from mnemic.evaluation.running import Options, Run, Step, run
from mnemic.evaluation.summing import abstention, document, rows_of
from mnemic.evaluation.vectors import KeptEmbedder

__all__ = [
    "LAYOUTS", "PEERS", "Answers", "Asked", "Conversation", "Dataset", "Found", "Interval", "Journal", "KeptEmbedder",
    "Models", "Options", "Packed", "Peer", "Problem", "Question", "Run", "Spread", "Step", "Stored", "Turn",
    "abstention", "all_hit_at", "answers_document", "any_hit_at", "area_under_curve", "ask", "confidences", "document",
    "ndcg_at", "of_ranking", "open_dataset", "over_conversations", "over_questions", "quantile", "ranks", "recall_at",
    "reciprocal_rank", "rows_of", "run", "run_answers", "spread", "store", "turns_of",
]  # fmt: skip
