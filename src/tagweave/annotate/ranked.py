"""What to annotate next, as a file for people who annotate outside the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tagweave.annotate import selection
from tagweave.annotate.task import AnnotationTask, Asks
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import written
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.corpus.spans import OUTSIDE, SPANS, TAGS, span_labels
from tagweave.exchange.sentences import DOCUMENT, TEXT
from tagweave.front.check import tab_separated
from tagweave.front.exchange import write_documents
from tagweave.models.chain_predictor import ChainPredictor

FORMS = ("tsv", "label-studio", "doccano")
_TITLES = ("score", "line", "first", "last", "candidates", "sentence")


def ranked(
    tagger: ChainPredictor, corpus: Corpus, share: float = 0.2, seed: int = 0, strategy: str = "marginal"
) -> list[AnnotationTask]:
    """Return `selection.uncertain_tasks` in the order in which the server asks them. Raises as these."""
    tasks = selection.uncertain_tasks(tagger, corpus.sentences, share, None, seed, strategy)
    return sorted(tasks, key=lambda each: -each.uncertainty)


def write(tasks: Sequence[AnnotationTask], path: str, form: str = "tsv") -> None:
    """Write one task or more, in their order: a row for each in `tsv`; for a tool, each sentence once, with candidates.

    `path`: `-` is standard output. Raises OSError if the file cannot be written, CorpusError for a text that the tool
    cannot hold.
    """
    if form == "tsv":
        with written(path) as stream:
            stream.write(tab_separated(_TITLES, map(_row, tasks)))
        return
    of_spans = any(each.asks is Asks.SPANS for each in tasks)
    write_documents(form, Corpus(_proposed(tasks), tasks[0].guideline), path, task=SPANS if of_spans else TAGS)


def _row(task: AnnotationTask) -> tuple[object, ...]:
    """Return a row: the candidates are labels, or spans with their words; what is asked for stands in brackets."""
    forms = list(task.sentence.forms)
    if task.asks is Asks.LABEL:
        forms[task.start] = f"[{forms[task.start]}]"
    candidates = (
        f"{each.label if each.start is None else f'{task.words(each.span)}/{each.label}'} {each.probability}"
        for each in task.candidates
    )
    place = task.sentence.location.line, task.start + 1, task.stop
    return f"{task.uncertainty:.6f}", *place, "; ".join(candidates), task.gap.join(forms)


def _proposed(tasks: Sequence[AnnotationTask]) -> tuple[Sentence, ...]:
    """Return the sentences of tasks, in their order, with the candidates and their probabilities as the only layer."""
    of_sentence: dict[int, list[AnnotationTask]] = {}
    for task in tasks:
        of_sentence.setdefault(id(task.sentence), []).append(task)
    sentences = []
    for first, *more in of_sentence.values():
        sentence = first.sentence
        layer: list[Candidates] = [None] * len(sentence)
        if first.asks is Asks.SPANS:
            layer = [*span_labels([(each.span,) for each in first.candidates], len(sentence))]
            for each in first.candidates:
                rest = round(1 - each.probability, 4)
                for at in range(each.span.start, each.span.stop or 0):
                    layer[at] = Soft((*(layer[at] or ()), OUTSIDE), (each.probability, rest))
        else:
            for task in (first, *more):
                names = [each.label for each in task.candidates]
                layer[task.start] = Soft(names, [each.probability for each in task.candidates])
        text = (each for each in sentence.comments if each.lstrip("# ").startswith(f"{TEXT} ="))
        comments = (f"# {DOCUMENT} = {sentence.location.line}", *text)
        sentences.append(replace(sentence, layers={first.guideline: tuple(layer)}, comments=comments, covered=None))
    return tuple(sentences)
