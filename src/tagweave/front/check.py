"""Which labels of a corpus may be wrong: in a table, in a notebook, and as tasks for annotators."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, cast

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates
from tagweave.corpus.spans import OUTSIDE
from tagweave.errors import CorpusError, PlanError
from tagweave.front.corpora import Given, corpus_of, save
from tagweave.labels import OF_CHARACTERS, OF_WORDS, SPANS
from tagweave.streams import Tell, say

if TYPE_CHECKING:
    from tagweave.exchange.sentences import Task as Marked
    from tagweave.training.cascades.label_errors import Part, Suspect, Suspicions

FORMS = ("tsv", "json", "html", "label-studio", "doccano", "columns")
LEAST = 0.1
"""Suspects with a smaller suspicion are listed only if a number of suspects is asked for."""
ROUNDS = 4
"""How often a text of labels is cut by default."""
_SHOWN = 25  # in a notebook
_BLANKS = dict.fromkeys(map(ord, "\t\n\r"), " ")
_ROOT = -1
_GIVEN, _RIVAL = "given", "rival"
_PROBABILITIES = f"{_GIVEN}_probability", f"{_RIVAL}_probability"
_COLUMNS = ("suspicion", "line", "first", "last", _GIVEN, _RIVAL, *_PROBABILITIES, "sentence")


@dataclass(frozen=True, eq=False)
class Checked:
    """What may be wrong in a corpus; in a notebook a table.

    Attributes:
        corpus: the corpus that was checked.
        task: the task whose models judged it.
        found: the suspicion of every token, and the suspects, the most suspicious first.
    """

    corpus: Corpus
    task: str
    found: Suspicions

    def suspects(self, count: int | None = None) -> list[Suspect]:
        """Return the most suspicious ones; by default all with a suspicion of 0.1 or more."""
        every = self.found.suspects
        return [each for each in every if each.suspicion >= LEAST] if count is None else [*every[:count]]

    def rows(self, count: int | None = None) -> list[dict[str, Any]]:
        """Return a row for each suspect; `first` and `last` count the tokens of its sentence from 1.

        `line` is where its sentence begins in the file, or of sentences in memory their number.
        """
        return [self._row(each) for each in self.suspects(count)]

    def _row(self, suspect: Suspect) -> dict[str, Any]:
        suspicion, number, start, stop, given, rival, *probabilities = suspect
        sentence = self.found.sentences[number]
        names = [self._name(part, sentence.forms) for part in (*given, rival)]
        place = sentence.location.line or number + 1, start + 1, stop
        text = self._between.join(filter(None, self._around(suspect, "[", "]")))
        values = (suspicion, *place, " + ".join(names[:-1]), names[-1], *probabilities, text)
        rounded = (round(each, 4) if isinstance(each, float) else each for each in values)
        return dict(zip(_COLUMNS, rounded, strict=True))

    @property
    def _between(self) -> str:
        return "" if self.task in OF_CHARACTERS else " "

    def _around(self, suspect: Suspect, begin: str = "", end: str = "") -> tuple[str, str, str]:
        forms, start, stop = self.found.sentences[suspect.sentence].forms, suspect.start, suspect.stop
        before, marked, after = map(self._between.join, (forms[:start], forms[start:stop], forms[stop:]))
        return before, f"{begin}{marked}{end}", after

    def _name(self, part: Part, forms: tuple[str, ...]) -> str:
        """Return a label, or a span, word or head with its label."""
        if self.task == "tag" or part.label == OUTSIDE:
            return part.label
        words = self._between.join(forms[max(part.start, 0) : part.stop]) or ("ROOT" if part.start == _ROOT else "_")
        return f"{words}/{part.label}" if part.label else words

    def write(self, path: str | PathLike[str], form: str = "tsv", count: int | None = None) -> None:
        """Write suspects: `tsv`, `json` or `html`, or their sentences, the most suspicious first, as tasks.

        Tasks are files for `label-studio` and `doccano`, in which the models' spans stand beside the given ones, or
        `columns` for the annotation server.

        Raises:
            PlanError: another form, or tasks from words of characters or trees.
            OSError: the file cannot be written.
        """
        if form not in FORMS:
            raise PlanError(f"found `output_format={form}`, expected one of {', '.join(FORMS)}")
        if form == "columns":
            save(self.questions(count).map(lambda each: each.with_layers_of([self.corpus.guideline])), path, form)
        elif form in ("label-studio", "doccano"):
            from tagweave.front.exchange import write_documents

            task = cast("Marked", "tags" if self.task == "tag" else SPANS)
            write_documents(form, self.questions(count), path, [_GIVEN, _RIVAL], task)
        else:
            from tagweave.corpus.files import written

            with written(fspath(path)) as stream:
                stream.write({"tsv": self._tsv, "json": self._json, "html": self._page}[form](count))

    def questions(self, count: int | None = None) -> Corpus:
        """Return the sentences of suspects, the most suspicious first, with three layers.

        At suspects, the corpus's own layer allows the given label and the models' label; the layer `given` has the
        annotation, and `rival` what the models say at suspects. Raises PlanError for words of characters and trees.
        """
        from tagweave.exchange.sentences import DOCUMENT, TEXT
        from tagweave.training.fit.task import Task

        if self.task not in OF_WORDS:
            raise PlanError(f"found tasks for annotators of the task {self.task}, expected the task tag or spans")
        coded = Task(self.task, "IOB2" if self.task == SPANS else "").prepare(self.corpus)
        rivals: dict[int, dict[int, str]] = {}
        for suspect in self.suspects(count):
            rivals.setdefault(suspect.sentence, {}).update(_rival_labels(suspect, self.task))
        asked, elsewhere = [], None if self.task == "tag" else (OUTSIDE,)
        for number, own in rivals.items():
            sentence = coded[number]
            given = sentence.layers[coded.guideline]
            rival = tuple((own[t],) if t in own else None for t in range(len(sentence)))
            layers = {coded.guideline: tuple(map(_either, given, rival)), _GIVEN: given}
            layers[_RIVAL] = tuple(each or elsewhere for each in rival)
            kept = [each for each in sentence.comments if each.lstrip("# ").startswith(f"{TEXT} =")]
            comments = (f"# {DOCUMENT} = {sentence.location.line or number + 1}", *kept)
            asked.append(replace(sentence, layers=layers, comments=comments, covered=None))
        return coded.with_sentences(asked)

    def believed(self) -> Corpus:
        """Return the corpus to train from: the confidence in each label is what it was, times 1 - its suspicion."""
        from tagweave.training.cascades.label_errors import believed

        return self.corpus.with_sentences(map(believed, self.corpus, self.found.tokens))

    def write_believed(self, path: str | PathLike[str]) -> None:
        """Write `believed()` as columns, CoNLL-U or CoNLL-U Plus, by the name of the file. Raises as `save`."""
        from tagweave.corpus.formats.registry import chosen_format

        form = chosen_format(None, fspath(path))
        if form is None or form.confidence is None:
            raise PlanError(f"found {fspath(path)} for `believed`, expected .conll, .conllu or .conllup")
        put = form.confidence.written
        save(self.believed().map(lambda each: put(each, each.confidence or (1.0,) * len(each))), path)

    def _tsv(self, count: int | None) -> str:
        return tab_separated(_COLUMNS, (row.values() for row in self.rows(count)))

    def _json(self, count: int | None) -> str:
        """Return an object with the file, the task and a list of suspects; spans have tokens and labels."""
        rows = self.rows(count)
        for row, (_, number, _, _, given, rival, *_) in zip(rows, self.suspects(count), strict=True):
            forms = self.found.sentences[number].forms
            row[_GIVEN], row[_RIVAL] = [_plain(each, forms) for each in given], _plain(rival, forms)
        about = {"file": self.corpus.path, "task": self.task, "suspects": rows}
        return json.dumps(about, ensure_ascii=False, indent=1) + "\n"

    def _page(self, count: int | None) -> str:
        from tagweave import __version__
        from tagweave.display.markup import page

        return page(f"{self.corpus.path or 'corpus'}: labels that may be wrong", self._content(count), __version__)

    def _content(self, count: int | None) -> str:
        from tagweave.display.markup import distinct, element, heat, joined, share, word

        titles = ("suspicion", "line", _GIVEN, _RIVAL, "sentence")
        rows = [element("tr", *(element("th", title, scope="col") for title in titles))]
        suspects = self.suspects(count)
        suspicions = distinct([suspect.suspicion for suspect in suspects])
        for suspect, row, shown in zip(suspects, self.rows(count), suspicions, strict=True):
            before, marked, after = map(word, self._around(suspect))
            text = joined([before, element("mark", marked, style=f"background:{heat(0.5)}"), after], self._between)
            names = (f"{row[key]} {share(row[f'{key}_probability'])}" for key in (_GIVEN, _RIVAL))
            number = element("td", shown, style=f"background:{heat(suspect.suspicion)}")
            rows.append(element("tr", number, *(element("td", each) for each in (str(row["line"]), *names, text))))
        return joined([element("div", str(self)), element("div", element("table", *rows), class_="wide")])

    def _repr_html_(self) -> str:
        from tagweave.display.markup import picture

        return picture(self._content(min(_SHOWN, len(self.suspects()))))

    def __str__(self) -> str:
        found, every = len(self.suspects()), len(self.found.suspects)
        return f"{self.corpus.path or 'corpus'}: {found:,} of {every:,} have a suspicion of {LEAST} or more"


def tab_separated(titles: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as lines of cells with tabs between; tabs and line breaks in a cell become blanks."""
    lines = ("\t".join(str(each).translate(_BLANKS) for each in row) for row in (titles, *rows))
    return "".join(f"{line}\n" for line in lines)


def _plain(part: Part, forms: tuple[str, ...]) -> dict[str, Any]:
    words = forms[max(part.start, 0) : part.stop]
    return {"first": part.start + 1, "last": part.stop, "label": part.label, "forms": words}


def _rival_labels(suspect: Suspect, task: str) -> dict[int, str]:
    """Return what the models say of the tokens of a suspect."""
    start, stop, label = suspect.rival
    if task == "tag":
        return {start: label}
    inside = {t: f"{'I' if t > start else 'B'}-{label}" for t in range(start, stop) if label != OUTSIDE}
    return {t: inside.get(t, OUTSIDE) for t in range(suspect.start, suspect.stop)}


def _either(given: Candidates, rival: Candidates) -> Candidates:
    return given if given is None or rival is None else tuple(dict.fromkeys((*given, *rival)))


def check(
    corpus: Given,
    task: str | None = None,
    folds: int = 5,
    rounds: int | None = None,
    seed: int = 0,
    threads: int = 1,
    tell: Tell = say,
    progress: Callable[[str], None] = lambda _: None,
) -> Checked:
    """Find labels that may be wrong: models of the other folds judge the annotation, in several rounds.

    Args:
        corpus: a corpus, what `Corpus` takes, or a file. What it leaves open is not judged.
        task: as for `train`.
        folds: the parts of the text; a model of the others judges each.
        rounds: how often the text is cut; each round believes labels as far as the rounds before do. By default 4,
            and 1 for trees, which gain nothing from more.
        seed: of everything random.
        threads: how many threads share the work.
        tell: is given notes on decisions.
        progress: is given a line after every model.

    Raises:
        CorpusError: a corpus that does not suit the task, or too few annotated sentences.
        PlanError: an unknown task, or a number that is too small.
        OSError: the file cannot be read.
    """
    from tagweave.learning.run import Run
    from tagweave.structures import STRUCTURES, TREE
    from tagweave.training.cascades.head_errors import HeadJudge
    from tagweave.training.cascades.incomplete import leaves_out_spans, ratio_of_complete
    from tagweave.training.cascades.label_errors import LabelJudge, suspicions
    from tagweave.training.corpora import of_corpus
    from tagweave.training.fit.recipe import EntityRatio, Recipe
    from tagweave.training.fit.task import guessed_task
    from tagweave.training.methods import check_known
    from tagweave.training.plan import TrainingPlan

    if rounds is not None and rounds < 1:
        raise PlanError(f"found `rounds={rounds}`, expected 1 or more")
    given = corpus_of(corpus)
    task = task or guessed_task(given, None, tell)
    check_known("task", task, tuple(STRUCTURES))
    own = of_corpus(given, task).corpus
    recipe = Recipe.of_plan(TrainingPlan((), task=task, seed=seed, threads=threads))
    if task == SPANS and leaves_out_spans([(own, own.guideline)]):
        share, count = ratio_of_complete([own])
        if not count:
            found = "spans, and no token beside them that is known to be outside spans"
            raise CorpusError(found, "some complete sentences", own.path)
        tell(f"models expect {100 * share:.1f} % of tokens in spans, as in the {count:,} complete sentences with an O")
        recipe = replace(recipe, ratio=EntityRatio(share))
    judge = HeadJudge(own) if recipe.structure == TREE else LabelJudge(own, recipe)
    rounds = rounds or (1 if recipe.structure == TREE else ROUNDS)
    return Checked(own, task, suspicions(own, recipe, judge, folds, rounds, seed, Run(tell=progress)))
