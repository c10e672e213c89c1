"""Labels with their probabilities as lines, for every token or for the best sequences."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tagweave.corpus.alternatives import format_candidates
from tagweave.corpus.soft import with_probabilities

if TYPE_CHECKING:
    from tagweave.streams.label_conversion import LabelConversion
    from tagweave.streams.labelling import Labelling


def probability_rows(labelling: Labelling) -> Iterator[str]:
    """A row per token with its labels and their marginal probabilities, and "" after each sentence.

    The label of the best sequence comes first.
    """
    tagger = labelling.tagger
    for block in labelling.blocks():
        labelled = tagger.complete(block.evidence)
        tables = tagger.probabilities(block.evidence.sentences, tagger.guideline, block.evidence.covered)
        for sentence, table in zip(labelled, tables, strict=True):
            for form, candidates, row in zip(sentence.forms, sentence.layers[tagger.guideline], table, strict=True):
                soft = with_probabilities(tagger.labels, row.tolist(), (candidates or ("",))[0])
                yield f"{form}\t{format_candidates(soft)}"
            yield ""


def best_lines(labelling: Labelling | LabelConversion, k: int) -> Iterator[str]:
    """The k best sequences of every sentence under its evidence, with their probabilities, in JSON."""
    tagger, number = labelling.tagger, 0
    for block in labelling.blocks():
        for sentence in tagger.tokens(block.evidence.sentences, tagger.guideline):
            number += 1
            for rank, ranked in enumerate(tagger.k_best(sentence, k, tagger.guideline, block.evidence.covered), 1):
                words, labels = labelling.words(sentence.forms, ranked.labels)
                line = {"sentence": number, "rank": rank, "probability": ranked.probability, "tokens": list(words)}
                yield json.dumps({**line, **({"labels": list(labels)} if any(labels) else {})}, ensure_ascii=False)
