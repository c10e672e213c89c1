"""The method `overlap`: spans that may overlap, in one model of chains, each of layers that exclude one another.

Each chain is trained as if its layer were asked for alone, by the method `single`, with one index of features over all
texts. Where a corpus says nothing of a layer, its chain learns nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tagweave.errors import CorpusError, PlanError
from tagweave.labels import SPANS
from tagweave.structures import CHAIN
from tagweave.training.job import Job, Method, Training
from tagweave.training.methods import single

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.overlapping import Types
    from tagweave.features.encoder import FeatureIndex
    from tagweave.models.layered import LayeredModel
    from tagweave.training.fit.problem import Fitted


def _check(job: Job) -> None:
    from tagweave.corpus.overlapping import layer_types

    plan = job.plan
    if plan.task != SPANS:
        raise PlanError(f"found the task {plan.task} with the method overlap, expected {SPANS}")
    if plan.folder:
        raise PlanError("found a network with the method overlap, expected `encoder=features`")
    if job.options(single.SingleOptions).documents:
        raise PlanError("found `documents` with the method overlap, expected it without: layers share their features")
    corpora, dev = _by_types(job)
    types = layer_types(corpora)
    if not types:
        raise CorpusError("no layer of spans", "layers of spans with types", job.data.corpora[0].path)
    if dev is not None and types.keys().isdisjoint(of_dev := layer_types([dev])):
        layers = ", ".join(of_dev) or "none"
        raise CorpusError(f"the layers of spans {layers}", f"one of {', '.join(types)}, of training", dev.path)


def _by_types(job: Job) -> tuple[list[Corpus], Corpus | None]:
    """Return the corpora and the development data with layers of types where others have them."""
    from tagweave.corpus.overlapping import by_types, layer_types, type_layers

    names = type_layers(layer_types(job.data.corpora))
    return [by_types(corpus, names) for corpus in job.data.corpora], job.dev and by_types(job.dev, names)


def _fit(job: Job) -> Fitted:
    from tagweave.corpus.overlapping import groups, joint_name, layer_types
    from tagweave.models.layered import LayeredModel
    from tagweave.training.fit.problem import Fitted

    corpora, dev = _by_types(job)
    types = layer_types(corpora)
    files = [replace(file, corpus=corpus) for file, corpus in zip(job.data.files, corpora, strict=True)]
    job = replace(job, data=replace(job.data, files=tuple(files)), dev=dev)
    layers = groups(corpora, types)
    count = "1 chain" if len(layers) == 1 else f"{len(layers)} chains"
    job.run.tell(f"spans may overlap: {count}, of {'; of '.join(map(' and '.join, layers))}")
    index = _shared_index(job)
    trained: list[Training] = []
    for number, group in enumerate(layers, 1):
        if trained:
            trained[-1].fitted.outcome.check_finished()
        trained.append(job.train(_step(job, group, types, number, index)))
    fitted = [training.fitted for training in trained]
    facts = {joint_name(group): training.facts for group, training in zip(layers, trained, strict=True)}
    iterations = max(one.outcome.iterations for one in fitted)
    about: dict[str, Any] = {"recipe": job.recipe.to_json(), "iterations": iterations, "steps": facts}
    of_chains = tuple({name: types[name] for name in group} for group in layers)
    model = LayeredModel(tuple(one.model for one in fitted), of_chains, about)
    judged = [training.job.dev is not None for training in trained]  # some have learned from development data, too
    names = [name for types, is_judged in zip(of_chains, judged, strict=True) if is_judged for name in types]
    score = _score(model.only(names), dev, job.recipe.threads) if dev is not None and names else None
    outcome = replace(fitted[-1].outcome, score=score, iterations=iterations)
    return Fitted(replace(model, about={**about, "dev_score": score}), outcome)


def _shared_index(job: Job) -> FeatureIndex:
    """Return the frozen index of the features of all texts."""
    encoder = job.recipe.encoder()
    encoded = encoder.encode([sentence for corpus in job.data.corpora for sentence in corpus], job.recipe.threads)
    encoder.freeze(encoded, job.recipe.minimum_count)
    return encoder.index


def _step(job: Job, group: Sequence[str], types: Types, number: int, index: FeatureIndex) -> Job:
    """Return the job of a chain, which has a checkpoint of its own.

    Features do not look at documents: they would come from a model of this layer, which chains do not share.
    """
    from tagweave.corpus.overlapping import joint_name, of_group

    files = [replace(file, corpus=of_group(file.corpus, group, types)) for file in job.data.files]
    annotated = [at for at, file in enumerate(files) if _says_something(file.corpus)]
    dev = None if job.dev is None else of_group(job.dev, group, types)
    dev = dev if dev is not None and _says_something(dev) else None
    data = replace(job.data, files=tuple(files[at] for at in annotated), train_count=len(annotated), notes=())
    target = tuple(job.plan.corpora[at] for at in annotated)
    (method,) = single.METHODS
    options = replace(job.options(single.SingleOptions), documents=False)
    plan = replace(job.plan, target=target, sources=(), dev=job.plan.dev if dev else None, overlap=False)
    plan = replace(plan, method=method.name, options=options)
    run = job.run.part(f"layer-{number}").phase(joint_name(group))
    return replace(job, plan=plan, method=method, data=data, dev=dev, run=run, race={}, index=index)


def _says_something(corpus: Corpus) -> bool:
    return any(sentence.is_annotated(corpus.guideline) for sentence in corpus)


def _score(model: LayeredModel, dev: Corpus, threads: int) -> float:
    """Return F of the spans of all layers that development data have."""
    from tagweave.evaluation.spans import score_of_layers
    from tagweave.models.layered import LayeredPredictor

    bare = (replace(sentence, layers={}, rejected={}) for sentence in dev)
    tagged = dev.with_sentences(LayeredPredictor(model, threads).tag(bare))
    annotated = [name for name in model.names if any(any(sentence.layers.get(name, ())) for sentence in dev)]
    return score_of_layers(dev, tagged, annotated).f


METHODS = (
    Method(
        "overlap",
        "spans that may overlap: a chain for each layer of spans that exclude one another",
        (CHAIN,),
        single.SingleOptions,
        _fit,
        check=_check,
        several=None,
        compares=True,
    ),
)
