"""Every mistake of systems in its sentence, by kind: as a table of tabs, and as a static page.

Kinds of spans: missed, invented, wrong type, wrong boundary, wrong type and boundary. Of tokens and tags:
`gold -> system`. Of words: split, joined, cut elsewhere. Of trees: wrong head, and `relation: gold -> system` where
the head is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tagweave.display.markup import element, in_context, joined
from tagweave.evaluation.accuracy import Accuracy, CandidateCodes, guideline_layers
from tagweave.evaluation.alignment import aligned_words
from tagweave.evaluation.attachment import Attachment, arcs_in_gold_numbers, arcs_of, universal
from tagweave.evaluation.spans import SpanCodes, SpanScores, with_rejected
from tagweave.evaluation.tables import tab_separated
from tagweave.evaluation.words import segmentations

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Arc, Candidates
    from tagweave.evaluation.report import Scores

COLUMNS = ("kind", "system", "line", "first", "last", "gold", "found", "sentence", "why")
_SHOWN = 100  # mistakes of a kind on a page
_KINDS = 50  # kinds with examples on a page


class Mistake(NamedTuple):
    """Tokens start .. stop - 1 of a sentence of the gold standard, by its number, that a system has wrong."""

    kind: str
    sentence: int
    start: int
    stop: int
    gold: str
    answer: str
    why: str = ""  # what speaks most for and against the system's answer, if it is a tagger


def mistakes(gold: Corpus, system: Corpus, scores: Scores) -> list[Mistake]:
    """Return the mistakes of a system that was scored, the most frequent kind first."""
    if isinstance(scores, Attachment):
        wrong = list(_of_trees(gold, system))
    elif isinstance(scores, SpanScores):
        wrong = list(_of_spans(gold, system))
    elif isinstance(scores, Accuracy):
        wrong = list(_of_tokens(gold, system))
    else:
        wrong = list(_of_words(gold, system))
    counts = Counter(mistake.kind for mistake in wrong)
    return sorted(wrong, key=lambda mistake: (-counts[mistake.kind], mistake.kind, mistake.sentence, mistake.start))


def _text(candidates: Candidates) -> str:
    return "_" if candidates is None else "|".join(candidates)


def _of_tokens(gold: Corpus, system: Corpus) -> Iterator[Mistake]:
    ours, theirs = guideline_layers(gold), guideline_layers(system)
    codes = CandidateCodes.of(*([candidates for layer in side for candidates in layer] for side in (ours, theirs)))
    right = codes.agree(codes.gold, codes.system) | ~codes.known[codes.gold]
    ends = np.cumsum([len(layer) for layer in ours])
    for token in np.flatnonzero(~right).tolist():
        number = int(np.searchsorted(ends, token, side="right"))
        at = token - int(ends[number]) + len(ours[number])
        wanted, said = _text(ours[number][at]), _text(theirs[number][at])
        yield Mistake(f"{wanted} -> {said}", number, at, at + 1, wanted, said)


def _of_spans(gold: Corpus, system: Corpus) -> Iterator[Mistake]:
    codes = SpanCodes.of(gold, system)
    verdict = with_rejected(codes.verdict(), gold, codes.types)
    names, forms = codes.types, [form for sentence in gold for form in sentence.forms]
    lost = [*np.setdiff1d(np.arange(len(verdict.gold.starts)), verdict.gold_match).tolist()]
    scored = np.flatnonzero(verdict.scored)
    extra = np.setdiff1d(scored, verdict.system_match).tolist()
    begins = [0, *accumulate(map(len, gold))]
    starts, stops, kinds = (array.tolist() for array in verdict.system)
    wanted = list(zip(verdict.gold.starts.tolist(), verdict.gold.stops.tolist(), strict=True))

    def mistake(kind: str, start: int, stop: int, ours: str, theirs: str) -> Mistake:
        number = int(np.searchsorted(begins, start, side="right")) - 1
        return Mistake(kind, number, start - begins[number], stop - begins[number], ours, theirs)

    def named(start: int, stop: int, label: str) -> str:
        return f"{' '.join(forms[start:stop])}/{label}"

    free, first = dict.fromkeys(extra), 0
    for number in lost:
        start, stop = wanted[number]
        types = [names[kind] for kind in np.flatnonzero(verdict.gold.types[number]).tolist()]
        while first < len(extra) and stops[extra[first]] <= start:
            first += 1
        beside = []
        for index in extra[first:]:
            if starts[index] >= stop:
                break
            beside.append(index)
        pairs = [span for span in beside if span in free]
        same = next((span for span in pairs if (starts[span], stops[span]) == (start, stop)), None)
        chosen = same if same is not None else next((e for e in pairs if names[kinds[e]] in types), None)
        chosen = pairs[0] if chosen is None and pairs else chosen
        ours = named(start, stop, "|".join(types))
        if chosen is None:
            yield mistake("missed", start, stop, ours, "")
            continue
        del free[chosen]
        agree = names[kinds[chosen]] in types
        kind = "wrong type" if chosen == same else "wrong boundary" if agree else "wrong type and boundary"
        low, high = min(start, starts[chosen]), max(stop, stops[chosen])
        yield mistake(kind, low, high, ours, named(starts[chosen], stops[chosen], names[kinds[chosen]]))
    for index in free:
        yield mistake(
            "invented",
            starts[index],
            stops[index],
            "",
            named(starts[index], stops[index], names[kinds[index]]),
        )


def _of_words(gold: Corpus, system: Corpus) -> Iterator[Mistake]:
    ours, theirs = (segmentations(corpus.sentences, corpus.guideline, corpus.unit) for corpus in (gold, system))
    for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        sure = one.certain or (True,) * len(one.forms)
        bounds = [[0, *accumulate(map(len, words.forms))] for words in (one, other)]
        common = sorted({*bounds[0]} & {*bounds[1]})
        for low, high in pairwise(common):
            (a, b), (c, d) = ((ends.index(low), ends.index(high)) for ends in bounds)
            span = (a, b) if gold.unit == "word" else (low, high)
            wanted, said = " ".join(one.forms[a:b]), " ".join(other.forms[c:d])
            if not all(sure[a:b]):
                continue
            if (b - a, d - c) != (1, 1):
                kind = "split" if b - a == 1 else "joined" if d - c == 1 else "cut elsewhere"
                yield Mistake(kind, number, *span, wanted, said)
            elif one.tags and other.tags and one.tags[a] and other.tags[c] != one.tags[a]:
                tags = _text(one.tags[a]), _text(other.tags[c])
                if not (len(other.tags[c] or ()) == 1 and {*(other.tags[c] or ())} <= {*(one.tags[a] or ())}):
                    yield Mistake(" -> ".join(tags), number, *span, f"{wanted}/{tags[0]}", f"{said}/{tags[1]}")


def _of_trees(gold: Corpus, system: Corpus) -> Iterator[Mistake]:
    for number, (one, other) in enumerate(zip(gold, system, strict=True)):
        system_arcs = arcs_in_gold_numbers(arcs_of(other, system.guideline), aligned_words(one, other))

        def named(arc: Arc, forms: tuple[str, ...] = one.forms) -> str:
            head = "_" if arc.head is None else "ROOT" if arc.head == 0 else forms[arc.head - 1]
            return f"{head}/{arc.relation}" if arc.relation else head

        for at, wanted in enumerate(arcs_of(one, gold.guideline)):
            if wanted is None or any(arc.head is None for arc in wanted):
                continue
            arc, shown = system_arcs[at], "|".join(map(named, wanted))
            if all(candidate.head != arc.head for candidate in wanted):
                yield Mistake("wrong head", number, at, at + 1, shown, named(arc))
            elif (
                len(wanted) == 1
                and wanted[0].relation
                and universal(wanted[0].relation) != universal(arc.relation or "")
            ):
                kind = f"relation: {universal(wanted[0].relation)} -> {universal(arc.relation or '_')}"
                yield Mistake(kind, number, at, at + 1, shown, named(arc))


def table(gold: Corpus, systems: Mapping[str, list[Mistake]]) -> Iterator[str]:
    """Yield the lines of a table of all mistakes; `first` and `last` count the tokens of a sentence from 1."""
    yield tab_separated(COLUMNS)
    for name, mistakes_of_system in systems.items():
        for mistake in mistakes_of_system:
            sentence = gold[mistake.sentence]
            line = sentence.location.line or mistake.sentence + 1
            forms, start, stop = sentence.forms, mistake.start, mistake.stop
            text = " ".join([*forms[:start], "[", *forms[start:stop], "]", *forms[stop:]])
            row = (
                mistake.kind,
                name,
                line,
                mistake.start + 1,
                mistake.stop,
                mistake.gold,
                mistake.answer,
                text,
                mistake.why,
            )
            yield tab_separated(row)


def content(gold: Corpus, systems: Mapping[str, list[Mistake]]) -> str:
    """Return the content of a page: for each system the kinds with their counts, and mistakes of each in sentences."""
    parts = []
    for name, mistakes_of_system in systems.items():
        counts = Counter(mistake.kind for mistake in mistakes_of_system)
        parts.append(element("h2", f"{name}: {len(mistakes_of_system):,} mistakes"))
        head = element("tr", *(element("th", title, scope="col") for title in ("kind", "count")))
        rows = (
            element("tr", element("td", kind), element("td", f"{count:,}", class_="number"))
            for kind, count in counts.most_common(_KINDS)
        )
        parts.append(element("div", element("table", head, *rows), class_="wide"))
        if len(counts) > _KINDS:
            parts.append(
                element("p", f"{len(counts) - _KINDS:,} rarer kinds are left out; a .tsv has all.", class_="quiet")
            )
        for kind, count in counts.most_common(_KINDS):
            chosen = [mistake for mistake in mistakes_of_system if mistake.kind == kind][:_SHOWN]
            parts.append(element("h3", f"{kind}: {count:,}"))
            parts.append(element("div", element("table", *_rows(gold, chosen)), class_="wide"))
            if count > _SHOWN:
                parts.append(element("p", f"{count - _SHOWN:,} more are left out; a .tsv has all.", class_="quiet"))
    return joined(parts, "\n")


def _rows(gold: Corpus, chosen: list[Mistake]) -> Iterator[str]:
    titles = ("line", "gold", "system", "sentence", *(["why"] if any(mistake.why for mistake in chosen) else []))
    yield element("tr", *(element("th", title, scope="col") for title in titles))
    between = " " if gold.unit == "word" else ""
    for mistake in chosen:
        sentence = gold[mistake.sentence]
        forms, start, stop = sentence.forms, mistake.start, mistake.stop
        text = in_context(map(between.join, (forms[:start], forms[start:stop], forms[stop:])), between)
        line = str(sentence.location.line or mistake.sentence + 1)
        cells = (line, mistake.gold, mistake.answer, text, mistake.why)
        yield element("tr", *(element("td", cell) for cell in cells[: len(titles)]))
