"""Decides which guideline each training corpus follows, the target's or another one, and so the method.

The corpora of the target guideline come first; `--source` adds corpora of other guidelines, or more of the target's.
The names of guidelines decide. If neither file names its guideline, the method decides: corpora of the method `single`
follow one guideline, sources of other methods do not. Without a method, the tags decide: a source follows another
guideline if most of its tags, or relations of trees, do not occur in the target's.

Warns if a source shares few labels or words with TRAIN, since little can be learned from it.

Drops sentences of partial sources that TRAIN annotates in full: they can only repeat it or contradict it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tagweave.corpus import chunk_schemes
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.conllu import UPOS, XPOS
from tagweave.corpus.overlapping import layer_types
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import OUTSIDE
from tagweave.errors import PlanError
from tagweave.features.arc_templates import LONGEST
from tagweave.labels import OF_WORDS, PARSE
from tagweave.training.cascades.incomplete import is_complete
from tagweave.training.corpora import LoadedSource, TrainingData
from tagweave.training.fit.task import TASKS, label_counts
from tagweave.training.fit.tree_problem import tag_layers
from tagweave.training.inspection import unfamiliar_labels
from tagweave.training.job import Method
from tagweave.training.methods import AUTO, COUPLED, MERGED, METHODS, OVERLAP, SINGLE

TARGET, SOURCE = "target", "source"
"""The names of two guidelines whose files would give them the same name."""

_STRANGE = 0.05  # of 50 sentences of public corpora, the rest has 2.6 % other labels at most
_HOW = "corpora can be named: GUIDELINE=FILE"


def training_data(
    training: Sequence[LoadedSource],
    sources: Sequence[LoadedSource],
    method: str | None,
    default_for_several: str = COUPLED,
    default_for_one: str = SINGLE,
) -> tuple[TrainingData, Method]:
    """Return the corpora of a run, with the names of their guidelines, and its method.

    Args:
        default_for_several, default_for_one: the default methods for several guidelines, and for one.
    """
    if method == OVERLAP:
        files = tuple(map(_called_like_its_type, (*training, *sources)))
        return TrainingData(files, len(files), True), METHODS[method]
    target = training[0]
    for file in training[1:]:
        if file.guideline != target.guideline:
            raise _other_guideline(file, target, f"; corpora of other guidelines are given by `sources` ({_HOW})")
    foreign = [_is_foreign(source, target, method) for source in sources]
    chosen = method or (default_for_several if any(foreign) else default_for_one)
    several, of_two = METHODS[chosen].several, METHODS[chosen].of_two
    if not (any(foreign) if several is None else several):
        for source in sources:
            if source.guideline != target.guideline:
                raise _other_guideline(source, target, f", for `method={chosen}` ({_HOW})")
        data = TrainingData((*training, *sources), len(training), method is not None)
    else:
        files = _with_distinct_names(training, sources, foreign)
        data = TrainingData(files, len(training), method is not None)
        count = len(data.guidelines)
        if count == 1 or (of_two and count > 2):
            problem = f"found corpora of {' and '.join(map(repr, data.guidelines))}"
            expected = "one other guideline" if of_two else "another guideline"
            raise PlanError(f"{problem}, expected `sources` of {expected}, for `method={chosen}` ({_HOW})")
    return replace(data, notes=_notes(data, training, sources, method, chosen)), METHODS[chosen]


def development_data(data: TrainingData, method: Method, dev: LoadedSource, training: LoadedSource) -> LoadedSource:
    """Development data with a guideline of the model; if they name none, it is the target."""
    if method.name == OVERLAP:
        return _called_like_its_type(dev)
    guidelines = data.guidelines if method.name in (AUTO, COUPLED) else (data.target,)
    if not dev.is_named and (training.is_named or dev.guideline == training.guideline):
        if {dev.corpus.layer, training.corpus.layer} != {UPOS, XPOS}:
            return dev.called(data.target)
    elif dev.guideline in guidelines:
        return dev
    path = dev.corpus.path
    target = training.corpus
    layers = list(dict.fromkeys(name for s in dev.corpus for name in (*s.layers, *s.heads)))
    mismatch = (
        f"the guideline {dev.guideline!r}" if dev.guideline not in guidelines else f"the layer {dev.corpus.layer!r}"
    )
    beside = f" (layers {', '.join(layers)})" if len(layers) > 1 else ""
    suggestion = f"{path}#{target.layer}" if target.layer in layers else f"{guidelines[0]}={path}"
    expected = f"{' or '.join(map(repr, guidelines))} as in {target.path}: say {suggestion} if it is that"
    raise PlanError(f"{path}: found development data of {mismatch}{beside}, expected {expected}")


def _called_like_its_type(file: LoadedSource) -> LoadedSource:
    """Return a file whose layer has no name, and spans of one type, as of a layer with the name of this type."""
    corpus = file.corpus
    kinds = layer_types([corpus]).get(corpus.guideline, ())
    if file.is_named or len(kinds) != 1 or kinds[0] in {name for sentence in corpus for name in sentence.layers}:
        return file
    return file.called(kinds[0])


def _is_foreign(source: LoadedSource, target: LoadedSource, method: str | None) -> bool:
    """Return whether a source follows another guideline than the target's."""
    if source.guideline != target.guideline:
        return True
    several = None if method is None else METHODS[method].several
    if source.is_named or target.is_named or several is False:
        return False
    if several:
        return True
    if source.corpus.covered is not None or target.corpus.covered is not None:
        return False  # it is known why their types differ
    tags = _tags(source.corpus)
    target_tags = _tags(target.corpus)
    return bool(target_tags) and 2 * sum(count for tag, count in tags.items() if tag in target_tags) < tags.total()


def _tags(corpus: Corpus) -> Counter[str]:
    """Count the labels of a corpus; of spans their types, since all spans have O and letters of places in common.

    Of trees they are relations.
    """
    heads = (sentence.heads.get(corpus.guideline, ()) for sentence in corpus)
    relations = Counter(arc.relation for layer in heads for arcs in layer for arc in arcs or () if arc.relation)
    counts = relations or label_counts(corpus)
    if relations or not chunk_schemes.codes_chunks(counts):
        return counts
    types = Counter[str]()
    for label, count in counts.items():
        if label != OUTSIDE:
            types[str(chunk_schemes.parse(label).type)] += count
    return types


def _with_distinct_names(
    training: Sequence[LoadedSource], sources: Sequence[LoadedSource], foreign: Sequence[bool]
) -> tuple[LoadedSource, ...]:
    """Return the files under distinct names of guidelines: `target` and `source` if both have the same name."""
    target_name = training[0].guideline
    if not any(
        is_foreign and source.guideline == target_name for source, is_foreign in zip(sources, foreign, strict=True)
    ):
        return (*training, *sources)
    names = [SOURCE if is_foreign else TARGET for is_foreign in foreign]
    return (
        *(file.called(TARGET) for file in training),
        *(
            file.called(name) if file.guideline == target_name else file
            for file, name in zip(sources, names, strict=True)
        ),
    )


def _notes(
    data: TrainingData,
    training: Sequence[LoadedSource],
    sources: Sequence[LoadedSource],
    method: str | None,
    chosen: str,
) -> tuple[str, ...]:
    """Return notes on the guidelines, and on the chosen method if the user named none."""
    first = training[0]
    notes = []
    for before, file in zip(sources, data.files[len(training) :], strict=True):
        if method or before.is_named or first.is_named or before.guideline != first.guideline:
            continue
        if file.guideline == data.target:
            how = _strange_labels(before, first) or f" ({_HOW})"
            notes.append(f"{file.corpus.name} is taken as of the guideline of {first.corpus.name}{how}")
        else:
            has_spans = chunk_schemes.codes_chunks(label_counts(file.corpus))
            how = "; types that annotators did not look for are told by `covers`" if has_spans else ""
            notes.append(
                f"{file.corpus.name} is taken as of another guideline: its labels are not {first.corpus.name}'s{how}"
            )
    if data.target != first.guideline:
        notes.append(f"the guidelines are called {data.target!r} and {SOURCE!r} ({_HOW})")
    if not method and len(data.guidelines) > 1:
        notes.append(f"method {chosen}, for corpora of {' and '.join(data.guidelines)}")
    return tuple(notes)


def _strange_labels(source: LoadedSource, target: LoadedSource) -> str:
    """Say which labels a source has that the target lacks; "" if they are few, or `covers` tells why."""
    tags = _tags(source.corpus)
    target_tags = _tags(target.corpus)
    strange, share = unfamiliar_labels(tags, target_tags)
    is_told = source.corpus.covered is not None or target.corpus.covered is not None
    if not target_tags or is_told or share < _STRANGE:
        return ""
    return (
        f", which has no label {strange}, {100 * share:.0f} % of its labels; it is another guideline with"
        f" `sources=NAME={source.source.argument or 'FILE'}`"
    )


def left_out(files: Sequence[LoadedSource]) -> list[str]:
    """Lines about sentences that are left out of training."""
    why = f"they have more than {LONGEST:,} tokens"
    return [f"{file.corpus.name}: {file.too_long:,} sentences left out: {why}" for file in files if file.too_long]


def _other_guideline(file: LoadedSource, target: LoadedSource, where: str) -> PlanError:
    problem = f"{file.corpus.name}: found the guideline {file.guideline!r}"
    return PlanError(f"{problem}, expected {target.guideline!r} as in {target.corpus.name}{where}")


_FEW = 0.5  # warn below this share of TRAIN's tokens


def overlap_lines(data: TrainingData, method: Method, task: str) -> Iterator[str]:
    """Yield a line for each source that shares less than half of TRAIN's tokens.

    Parsers compare the tags that they use, segmenters words, and `merged` taggers labels.
    """
    for source in data.sources:
        if task == PARSE:
            shared = tag_layers([sentence for corpus in data.corpora for sentence in corpus])
            for layer in shared:
                tags = _layer(data.targets, layer), _layer([source], layer)
                yield from _overlap_line(
                    tags, source, f"tags of {layer}", "its trees come with tags that TRAIN does not have"
                )
        elif task == "segment" and source.unit == "word":
            targets = [corpus for corpus in data.targets if corpus.unit == "word"]
            yield from _overlap_line(
                (_forms(targets), _forms([source])), source, "words", "it is segmented in another style"
            )
        elif method.name == MERGED and task in OF_WORDS:
            labels = _layer(data.targets, data.target), _layer([source], source.guideline)
            yield from _overlap_line(labels, source, "labels", f"`method={COUPLED}` tells them apart")


def _overlap_line(pair: tuple[list[str], list[str]], source: Corpus, what: str, why: str) -> Iterator[str]:
    target_values, source_values = pair
    shared = set(source_values)
    share = sum(value in shared for value in target_values) / max(1, len(target_values))
    if target_values and source_values and share < _FEW:
        yield f"{source.path} shares few {what} with TRAIN, {100 * share:.0f} % of its tokens': {why}"


def _layer(corpora: Iterable[Corpus], layer: str) -> list[str]:
    layers = (sentence.layers.get(layer, ()) for corpus in corpora for sentence in corpus)
    return [label for labels in layers for candidates in labels for label in candidates or ()]


def _forms(corpora: Iterable[Corpus]) -> list[str]:
    return [form for corpus in corpora for sentence in corpus for form in sentence.forms]


def without_repeated(data: TrainingData, task: str) -> TrainingData:
    """The data without sentences of partly annotated sources of the target guideline that TRAIN annotates in full.

    Without this, words of a list marked in the training text cost 0.6 to 0.8 points of F (ZX and UD Chinese, 1,500
    sentences, development data).
    """
    if task not in TASKS or not data.has_sources:
        return data
    train_corpora = [file.corpus for file in data.files[: data.train_count]]
    texts = {_text(sentence) for corpus in train_corpora for sentence in corpus if _tells_all(sentence, corpus, task)}
    files = list(data.files)
    for number, file in enumerate(files[data.train_count :], data.train_count):
        corpus = file.corpus
        if corpus.guideline == data.target and not all(_tells_all(sentence, corpus, task) for sentence in corpus):
            kept = corpus.with_sentences(sentence for sentence in corpus if _text(sentence) not in texts)
            files[number] = replace(file, corpus=kept)
    notes = (
        f"{kept.corpus.name}: {count:,} sentences left out: TRAIN has the same text with all its labels"
        for old, kept in zip(data.files, files, strict=True)
        if (count := len(old.corpus) - len(kept.corpus))
    )
    return replace(data, files=tuple(files), notes=(*data.notes, *notes))


def _tells_all(sentence: Sentence, corpus: Corpus, task: str) -> bool:
    """Return whether the annotation is complete; words are complete for the task segment."""
    if task == "segment" and corpus.unit == "word":
        return True
    return is_complete(sentence, corpus.guideline, corpus.covered_in(sentence))


def _text(sentence: Sentence) -> str:
    return "".join(sentence.forms)
