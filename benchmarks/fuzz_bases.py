"""Small models and checkpoints of every kind, of invented text: what `benchmarks.fuzz` mutates, and how it is used."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import conllu
from tagweave.corpus.formats import tagged as tagged_format
from tagweave.corpus.sentence import Arc, Sentence
from tagweave.estimators.chain_crf import ChainCRF
from tagweave.features.lookups import Lookups
from tagweave.features.subwords import Subwords
from tagweave.features.templates import PRESETS, Templates
from tagweave.features.word_vectors import WordVectors
from tagweave.front.description import describe_model, model_lines
from tagweave.learning.loop import train
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.layered import LayeredModel, LayeredPredictor
from tagweave.models.pair_tables import TableSegmenter, UnfitModelError
from tagweave.models.storage import load_model, save_model
from tagweave.models.tree import TreePredictor
from tagweave.training.cascades.coupled import Coupling, fit_coupled
from tagweave.training.cascades.documents import fit_documents
from tagweave.training.cascades.guided import fit_guided
from tagweave.training.cascades.subword import fit_pieces
from tagweave.training.fit.fit import fit, prepare
from tagweave.training.fit.recipe import FEATURE_LEARNERS, Recipe
from tagweave.training.fit.task import Task
from tagweave.training.plan import Plan, Source
from tagweave.training.resolve import job_of
from tagweave.training.train import train as carry_out

_FILE = {"path": "x", "sha256": "0", "sentences": 3, "words": 3}
_ABOUT = {
    "corpora": [_FILE],
    "lexicons": [_FILE],
    "gazetteers": [_FILE],
    "rounds": [{"round": 1, "predict_self": 0.3, "dev_score": 0.5}],
    "filter": False,
    "weights": {"ud": 10},
    "dev_scores": {"ordinary": 0.5},
    "mapping": ["automatic"],
    "method": "coupled",
    "round": 1,
    "date": "2026-01-01",
}  # all that `info` tells
_WORDS = ("ba", "dor", "Kim", "luna", "se", "tovi", "3", "rex", ".")
_SIGNS = "一丁七万丈三上下不与丐丑"
_TABLES = 25  # of so many models that are accepted, one is made into tables, too: that takes long


class Base(NamedTuple):
    """A file to be mutated.

    Attributes:
        build: writes it.
        use: reads a file of this kind and does what users do with it.
    """

    build: Callable[[Path], object]
    use: Callable[[Path, int], object]


def corpus(guideline: str, tags: str = "NVPX", seed: int = 0, heads: bool = False, relations: bool = True) -> Corpus:
    """Sentences of words whose tags are a function of their first letter, with trees of chains where wanted."""
    rng, sentences = np.random.default_rng(seed), []
    for _ in range(12):
        forms = tuple(rng.choice(_WORDS, rng.integers(2, 7)).tolist())
        layer = tuple((tags[ord(form[0]) % len(tags)],) for form in forms)
        names = ("det", "obj") if relations else (None, None)
        tree = tuple((Arc(i, (names[i % 2] if i else relations and "root") or None),) for i in range(len(forms)))
        layers = {"upos" if heads else guideline: layer}
        sentences.append(Sentence(forms, layers, heads={guideline: tree} if heads else {}))
    return Corpus(tuple(sentences), guideline)


def signs(guideline: str, seed: int = 0) -> Corpus:
    """Sentences of words of one to three invented characters, with tags."""
    rng, sentences = np.random.default_rng(seed), []
    for _ in range(12):
        lengths = rng.integers(1, 4, rng.integers(2, 6))
        forms = tuple("".join(rng.choice(list(_SIGNS), n).tolist()) for n in lengths)
        sentences.append(Sentence(forms, {guideline: tuple((("N", "V")[len(form) % 2],) for form in forms)}))
    return Corpus(tuple(sentences), guideline)


def text(of_characters: bool) -> list[Sentence]:
    """What is tagged: known and unknown words, a long one, an empty sentence."""
    lines = ["七万丈三x4", "一", "不与丐丑鱼" * 9] if of_characters else ["ba dor Kim", "new words luna 3 .", "se"]
    return [*(Sentence(tuple(line) if of_characters else tuple(line.split())) for line in lines), Sentence(())]


def _recipe(**settings: Any) -> Recipe:
    return Recipe(**{"task": Task(), **settings})


_FEW = Templates(("form[-1]", "form[0]", "form[1]", "form[0] form[1]", "form[0]==form[1]", "suffix_2[0]", "inner[0]"))
_SCHEDULE = Schedule(2)


def _words(**settings: Any) -> ChainModel:
    return fit([corpus("ud")], _recipe(templates=_FEW, **settings), corpus("ud", seed=1), Run(_SCHEDULE)).model


def _characters(task: str = "segment", **settings: Any) -> ChainModel:
    return fit([signs("ctb")], _recipe(task=Task(task), **settings), run=Run(_SCHEDULE)).model


def _lexicon() -> ChainModel:
    recipe = _recipe(task=Task("segment"), templates=PRESETS["liu-2014-lexicon"])
    return fit(
        [signs("ctb")], replace(recipe, lookups=Lookups(words=("七万", "丈三", "不与丐"))), run=Run(_SCHEDULE)
    ).model


def _coupled(**settings: Any) -> ChainModel:
    corpora, recipe = [corpus("ud"), corpus("old", "AB", 1)], _recipe(templates=_FEW, **settings)
    return fit_coupled(corpora, recipe, Coupling(), run=Run(_SCHEDULE)).model


def save_network(folder: Path, words: Sequence[str] = _WORDS, pieces: int = 40) -> None:
    """Write the folder of a small network of transformers: BERT with two layers, not trained, and pieces of words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import BertConfig, BertModel
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))  # noqa: S106 - a piece
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()  # type: ignore[attr-defined]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    trainer = trainers.WordPieceTrainer(vocab_size=pieces, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(words, trainer)
    frame = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.post_processor = frame  # type: ignore[attr-defined]
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 12}
    config = BertConfig(vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=40, **sizes)
    BertModel(config).save_pretrained(folder)


def _network() -> ChainModel:
    with tempfile.TemporaryDirectory() as folder:
        save_network(Path(folder))
        return _words(lookups=Lookups(subwords=Subwords.of_folder(folder)), learner="adamw")


def _vectors() -> ChainModel:
    templates = Templates((*_FEW.texts, *PRESETS["vector-clusters"].texts))
    recipe = _recipe(templates=templates, lookups=Lookups(vectors=_clustered()))
    return fit([corpus("ud")], recipe, run=Run(_SCHEDULE)).model


def _clustered() -> WordVectors:
    table = np.random.default_rng(0).normal(size=(len(_WORDS) + 5, 3))
    return WordVectors.scaled(_WORDS, table, (2, 3)).clustered()


def _documents() -> ChainModel:
    tagged = corpus("ud")
    names = {"N": "B-N", "V": "I-N"}  # of any other tag `O`, and of an I at the beginning B
    sentences = []
    for number, sentence in enumerate(tagged):
        layer = [(names.get(candidates[0], "O") if candidates else "O",) for candidates in sentence.layers["ud"]]
        spans = [
            ("B-N",) if label == ("I-N",) and before == ("O",) else label
            for before, label in pairwise([("O",), *layer])
        ]
        sentences.append(replace(sentence.with_layer("ud", spans), comments=("# newdoc",) if number % 2 else ()))
    spans_of = [Corpus(tuple(sentences), "ud")]
    recipe = _recipe(task=Task("spans"), templates=_FEW)
    first = fit(spans_of, recipe, run=Run(_SCHEDULE)).model
    return fit_documents(spans_of, first, recipe, None, Run(_SCHEDULE)).model


def _layered() -> LayeredModel:
    """Return a model of layers: two share a chain, and the spans of a third overlap those of one of them."""
    rng, kinds = np.random.default_rng(0), {"A": "bd", "B": "KlB", "C": "bds"}
    sentences = []
    for _ in range(20):
        forms = tuple(rng.choice(_WORDS, rng.integers(2, 7)).tolist())
        layers = {
            kind: tuple((f"B-{kind}",) if form[0] in letters else ("O",) for form in forms)
            for kind, letters in kinds.items()
        }
        sentences.append(Sentence(forms, layers))
    plan = Plan((Source(),), templates=_FEW.texts, task="spans", overlap=True, iterations=2, average_seeds=1)
    job = job_of(plan, Run(tell=lambda line: None), [Corpus(tuple(sentences), "A")])
    model: LayeredModel = carry_out(job).fitted.model
    return model


def _guided(depth: int = 1) -> ChainModel:
    model = _words()
    for i in range(depth):
        model = fit_guided(
            [corpus(f"own{i}", "ABC", i + 2)], model, _recipe(templates=_FEW), None, Run(_SCHEDULE)
        ).model
    return model


def _pieces() -> ChainModel:
    recipe = _recipe(task=Task("segment"), templates=Templates(("form[0]", "form[-1]", "form[1]", "prefix_1[0]")))
    taggers = [fit([signs(name, seed)], recipe, run=Run(_SCHEDULE)).model for seed, name in enumerate(("ctb", "pd"))]
    return fit_pieces([recipe.task.prepare(signs("ctb"))], taggers, recipe, None, Run(_SCHEDULE)).model


def _attributes(path: Path) -> None:
    X = [[{"word": form, "length": len(form)} for form in sentence.forms] for sentence in corpus("ud").sentences]
    y = [[str(each[0]) for each in sentence.layers["ud"]] for sentence in corpus("ud").sentences]
    ChainCRF(max_iterations=2).fit(X, y).save(path)


def _crfsuite(path: Path) -> None:
    import pycrfsuite

    trainer = pycrfsuite.Trainer("lbfgs", verbose=False)
    for sentence in corpus("ud").sentences:
        trainer.append([{"word": form} for form in sentence.forms], [str(each[0]) for each in sentence.layers["ud"]])
    trainer.train(str(path))


def _parser(relations: bool = True) -> Any:
    recipe = Recipe(Task("parse"), bits=6, lookups=Lookups(vectors=_clustered().without_numbers()))
    return fit([corpus("gold", heads=True, relations=relations)], recipe, run=Run(_SCHEDULE)).model


def _guided_parser() -> Any:
    recipe, guide = Recipe(Task("parse"), bits=6), _parser()
    return fit_guided([corpus("own", seed=3, heads=True)], guide, recipe, run=Run(_SCHEDULE)).model


def _use_chain(path: Path, number: int) -> None:
    _tell(path)
    model = load_model(path)
    first, *others = model.space.guidelines
    tagger, given = ChainPredictor(model, 1 + number % 2, others=others), text(model.of_characters)
    tagged = list(tagger.tag(given, whole_runs=model.of_characters))
    if model.of_characters:
        tagged = [tagger.words(each) for each in tagged]
    tagged_format.write(tagged, io.TextIOWrapper(io.BytesIO(), "utf-8"), layer=first)
    tagger.probabilities(given)
    tagger.k_best(given[0], 2)
    known = (model.space.views[0].names[0],)
    layer = (known, *[None] * (len(given[0]) - 1))
    tagger.complete(Corpus((given[0].with_layer(first, layer),), first))
    if model.task == "segment" and number % _TABLES == 0:
        with suppress(UnfitModelError):  # `ChainPredictor` segments with such a model, as above
            list(TableSegmenter(model).segment("".join(each.forms) for each in given))


def _use_layers(path: Path, number: int) -> None:
    _tell(path)
    predictor, given = LayeredPredictor(load_model(path, LayeredModel), 1 + number % 2), text(False)
    list(predictor.tag_spans(given))
    known = (("O",), *[None] * (len(given[0]) - 1))
    predictor.complete(Corpus((given[0].with_layer(predictor.guideline, known),), predictor.guideline))


def _use_crf(path: Path, _number: int) -> None:
    _tell(path)
    crf = ChainCRF.load(path)
    crf.predict_marginals([[{"word": "ba", "length": 2}, {"new": 1.0}], []])
    crf.state_features_  # noqa: B018 - it is worked out when asked for


def _use_parser(path: Path, _number: int) -> None:
    _tell(path)
    given = corpus("other", heads=True, seed=4).sentences[:4]
    parser = TreePredictor(load_model(path))
    conllu.write(parser.parse(given), io.TextIOWrapper(io.BytesIO(), "utf-8"), head=parser.model.guideline)
    list(TreePredictor(parser.model, projective=False).parse(given))


def _tell(path: Path) -> None:
    described = describe_model(str(path))
    json.dumps(described)
    list(model_lines(described))


@cache
def _problem(learner: str) -> Any:
    recipe = _recipe(templates=_FEW, learner=learner)
    return prepare([corpus("ud")], recipe), recipe.trainer()


def _resume(learner: str, path: Path, _number: int, iterations: int = 4) -> None:
    """Go on with training from a checkpoint; the first time, begin."""
    problem, trainer = _problem(learner)
    scores = iter(np.linspace(0.1, 0.9, 200))
    schedule = Schedule(iterations, checkpoint=path, resume=True, identity="fuzz", is_part=True)
    train(trainer, problem.objective, problem.model.weights, Run(schedule), lambda _weights: float(next(scores)))


def _told(model: Any) -> Any:
    return replace(model, about={**model.about, **_ABOUT})


def _saved(make: Callable[[], ChainModel]) -> Base:
    return Base(lambda path: save_model(_told(make()), path), _use_chain)


def _parsed(make: Callable[[], Any]) -> Base:
    return Base(lambda path: save_model(_told(make()), path), _use_parser)


MODELS: dict[str, Base] = {
    "words": _saved(_words),
    "observed": _saved(partial(_words, features="observed")),
    "pointwise": _saved(partial(_words, transitions=False, precision="float64")),
    "segmenter": _saved(_characters),
    "segtag": _saved(partial(_characters, "segtag")),
    "lexicon": _saved(_lexicon),
    "coupled": _saved(_coupled),
    "coupled-observed": _saved(partial(_coupled, features="observed")),
    "guided": _saved(_guided),
    "nested guides": _saved(partial(_guided, 2)),
    "pieces": _saved(_pieces),
    "attributes": Base(_attributes, _use_crf),
    "parser": _parsed(_parser),
    "parser of heads": _parsed(partial(_parser, False)),
    "guided parser": _parsed(_guided_parser),
    "network": _saved(_network),
    "vectors": _saved(_vectors),
    "documents": _saved(_documents),
    "layers": Base(lambda path: save_model(_told(_layered()), path), _use_layers),
}
CHECKPOINTS: dict[str, Base] = {
    f"checkpoint {learner}": Base(partial(_resume, learner, _number=0, iterations=2), partial(_resume, learner))
    for learner in FEATURE_LEARNERS
}
FOREIGN: dict[str, Base] = {"crfsuite": Base(_crfsuite, _use_crf)}
BASES = {**MODELS, **CHECKPOINTS, **FOREIGN}
