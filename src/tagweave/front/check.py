"""Which labels of a corpus may be wrong: in a table, in a notebook, and as tasks for annotators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import written
from tagweave.corpus.formats import chosen_format
from tagweave.corpus.sentence import Candidates
from tagweave.corpus.spans import OUTSIDE
from tagweave.display.markup import distinct, element, heat, in_context, joined, page, picture, share
from tagweave.errors import CorpusError, PlanError
from tagweave.evaluation.tables import tab_separated
from tagweave.exchange.sentences import DOCUMENT, TEXT
from tagweave.front.corpora import Given, corpus_of, save
from tagweave.front.exchange import write_documents
from tagweave.labels import OF_CHARACTERS, OF_WORDS, SPANS
from tagweave.learning.run import Run
from tagweave.streams import Tell, say
from tagweave.structures import STRUCTURES, TREE
from tagweave.training.cascades import label_errors
from tagweave.training.cascades.head_errors import HeadJudge
from tagweave.training.cascades.incomplete import leaves_out_spans, ratio_of_complete
from tagweave.training.corpora import loaded
from tagweave.training.fit.recipe import EntityRatio, Recipe
from tagweave.training.fit.task import Task, guessed_task
from tagweave.training.methods import check_known
from tagweave.training.plan import Plan, Source
from tagweave.training.resolve import checked
from tagweave.version import __version__

if TYPE_CHECKING:
    from tagweave.training.cascades.label_errors import Part, Suspect, Suspicions

FORMS = ("tsv", "html", "label-studio", "doccano", "columns")
LEAST = 0.1
"""Suspects with a smaller suspicion are listed only if a number of suspects is asked for."""
ROUNDS = 4
"""How often a text of labels is cut by default."""
_SHOWN = 25  # in a notebook
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
        if count is not None:
            return [*self.found.suspects[:count]]
        return [suspect for suspect in self.found.suspects if suspect.suspicion >= LEAST]

    def rows(self, count: int | None = None) -> list[dict[str, Any]]:
        """Return a row for each suspect; `first` and `last` count the tokens of its sentence from 1.

        `line` is where its sentence begins in the file, or of sentences in memory their number.
        """
        return [self._row(suspect) for suspect in self.suspects(count)]

    def _row(self, suspect: Suspect) -> dict[str, Any]:
        sentence = self.found.sentences[suspect.sentence]
        before, marked, after = self._in_context(suspect)
        values = (
            round(suspect.suspicion, 4),
            sentence.location.line or suspect.sentence + 1,
            suspect.start + 1,
            suspect.stop,
            " + ".join(self._name(part, sentence.forms) for part in suspect.given),
            self._name(suspect.rival, sentence.forms),
            round(suspect.given_probability, 4),
            round(suspect.rival_probability, 4),
            self._between.join(filter(None, (before, f"[{marked}]", after))),
        )
        return dict(zip(_COLUMNS, values, strict=True))

    @property
    def _between(self) -> str:
        return "" if self.task in OF_CHARACTERS else " "

    def _in_context(self, suspect: Suspect) -> tuple[str, str, str]:
        """Return the text before a suspect, its own, and that after it."""
        forms = self.found.sentences[suspect.sentence].forms
        start = suspect.start
        stop = suspect.stop
        before, marked, after = map(self._between.join, (forms[:start], forms[start:stop], forms[stop:]))
        return before, marked, after

    def _name(self, part: Part, forms: tuple[str, ...]) -> str:
        """Return a label, or a span, word or head with its label."""
        if self.task == "tag" or part.label == OUTSIDE:
            return part.label
        words = self._between.join(forms[max(part.start, 0) : part.stop]) or ("ROOT" if part.start == _ROOT else "_")
        return f"{words}/{part.label}" if part.label else words

    def write(self, path: str | PathLike[str], form: str = "tsv", count: int | None = None) -> None:
        """Write suspects, as a table (`tsv`) or a page (`html`), or their sentences, most suspicious first, as tasks.

        Tasks are files for `label-studio` and `doccano`, in which the models' spans stand beside the given ones, or
        `columns` for the annotation server.

        Raises:
            PlanError: another form, or tasks from words of characters or trees.
            OSError: the file cannot be written.
        """
        if form not in FORMS:
            raise PlanError(f"found `output_format={form}`, expected one of {', '.join(FORMS)}")
        if form == "columns":
            guidelines = [self.corpus.guideline]
            save(self.questions(count).map(lambda sentence: sentence.with_layers_of(guidelines)), path, form)
        elif form in ("label-studio", "doccano"):
            task = "tags" if self.task == "tag" else SPANS
            write_documents(form, self.questions(count), path, [_GIVEN, _RIVAL], task)
        else:
            with written(fspath(path)) as stream:
                if form == "tsv":
                    stream.writelines(map(tab_separated, (_COLUMNS, *(row.values() for row in self.rows(count)))))
                else:
                    title = f"{self.corpus.path or 'corpus'}: labels that may be wrong"
                    stream.write(page(title, self._content(count), __version__))

    def questions(self, count: int | None = None) -> Corpus:
        """Return the sentences of suspects, the most suspicious first, with three layers.

        At suspects, the corpus's own layer allows the given label and the models' label; the layer `given` has the
        annotation, and `rival` what the models say at suspects. Raises PlanError for words of characters and trees.
        """
        if self.task not in OF_WORDS:
            raise PlanError(f"found tasks for annotators of the task {self.task}, expected the task tag or spans")
        coded = Task(self.task, "IOB2" if self.task == SPANS else "").prepare(self.corpus)
        rivals: dict[int, dict[int, str]] = {}
        for suspect in self.suspects(count):
            rivals.setdefault(suspect.sentence, {}).update(_rival_labels(suspect, self.task))
        elsewhere = None if self.task == "tag" else (OUTSIDE,)
        questions = []
        for number, labels in rivals.items():
            sentence = coded[number]
            annotated = sentence.layers[coded.guideline]
            rival = [(labels[at],) if at in labels else None for at in range(len(sentence))]
            layers = {
                coded.guideline: tuple(map(_either, annotated, rival)),
                _GIVEN: annotated,
                _RIVAL: tuple(label or elsewhere for label in rival),
            }
            texts = [line for line in sentence.comments if line.lstrip("# ").startswith(f"{TEXT} =")]
            comments = (f"# {DOCUMENT} = {sentence.location.line or number + 1}", *texts)
            questions.append(replace(sentence, layers=layers, comments=comments, covered=None))
        return coded.with_sentences(questions)

    def believed(self) -> Corpus:
        """Return the corpus to train from: the confidence in each label is what it was, times 1 - its suspicion."""
        return self.corpus.with_sentences(map(label_errors.believed, self.corpus, self.found.tokens))

    def write_believed(self, path: str | PathLike[str]) -> None:
        """Write `believed()` as columns or CoNLL-U, by the name of the file. Raises as `save`."""
        form = chosen_format(None, fspath(path))
        if form is None or form.confidence is None:
            raise PlanError(f"found {fspath(path)} for `believed`, expected .conll or .conllu")
        put = form.confidence.written
        save(self.believed().map(lambda s: put(s, s.confidence or (1.0,) * len(s))), path)

    def _content(self, count: int | None) -> str:
        titles = ("suspicion", "line", _GIVEN, _RIVAL, "sentence")
        lines = [element("tr", *(element("th", title, scope="col") for title in titles))]
        suspects = self.suspects(count)
        numbers = distinct([suspect.suspicion for suspect in suspects])
        for suspect, row, number in zip(suspects, self.rows(count), numbers, strict=True):
            text = in_context(self._in_context(suspect), self._between)
            names = (f"{row[key]} {share(row[f'{key}_probability'])}" for key in (_GIVEN, _RIVAL))
            first = element("td", number, style=f"background:{heat(suspect.suspicion)}")
            lines.append(element("tr", first, *(element("td", cell) for cell in (str(row["line"]), *names, text))))
        return joined([element("div", str(self)), element("div", element("table", *lines), class_="wide")])

    def _repr_html_(self) -> str:
        return picture(self._content(min(_SHOWN, len(self.suspects()))))

    def __str__(self) -> str:
        listed, total = len(self.suspects()), len(self.found.suspects)
        return f"{self.corpus.path or 'corpus'}: {listed:,} of {total:,} have a suspicion of {LEAST} or more"


def _rival_labels(suspect: Suspect, task: str) -> dict[int, str]:
    """Return what the models say of the tokens of a suspect."""
    start, stop, label = suspect.rival
    if task == "tag":
        return {start: label}
    inside = {at: f"{'I' if at > start else 'B'}-{label}" for at in range(start, stop) if label != OUTSIDE}
    return {at: inside.get(at, OUTSIDE) for at in range(suspect.start, suspect.stop)}


def _either(one: Candidates, other: Candidates) -> Candidates:
    return one if one is None or other is None else tuple(dict.fromkeys((*one, *other)))


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
    if rounds is not None and rounds < 1:
        raise PlanError(f"found `rounds={rounds}`, expected 1 or more")
    corpus = corpus_of(corpus)
    task = task or guessed_task(corpus, tell)
    check_known("task", task, tuple(STRUCTURES))
    prepared = loaded(Source(corpus.path, weight=corpus.weight), corpus, task).corpus
    recipe = Recipe.of_plan(checked(Plan(seed=seed, threads=threads), task))
    if task == SPANS and leaves_out_spans([(prepared, prepared.guideline)]):
        ratio, count = ratio_of_complete([prepared])
        if not count:
            problem = "spans, and no token beside them that is known to be outside spans"
            raise CorpusError(problem, "some complete sentences", prepared.path)
        tell(f"models expect {100 * ratio:.1f} % of tokens in spans, as in the {count:,} complete sentences with an O")
        recipe = replace(recipe, ratio=EntityRatio(ratio))
    is_tree = recipe.structure == TREE
    judge = HeadJudge(prepared) if is_tree else label_errors.LabelJudge(prepared, recipe)
    rounds = rounds or (1 if is_tree else ROUNDS)
    suspicions = label_errors.suspicions(prepared, recipe, judge, folds, rounds, seed, Run(tell=progress))
    return Checked(prepared, task, suspicions)
