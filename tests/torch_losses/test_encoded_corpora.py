"""Evidence from corpora, labels of models and of several guidelines, for losses in PyTorch."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.front.training import train
from tagweave.labels.mapping import TagMapping, bundle
from tagweave.torch import ChainLoss, at_first_pieces

_FORMS = ("Ann", "Bell", "left", "Graz")


def _corpus(*layer: str | tuple[str, ...] | None, **others: object) -> Corpus:
    candidates = tuple((each,) if isinstance(each, str) else each for each in layer)
    return Corpus((Sentence(_FORMS, {"names": candidates}, **others),), "names")  # type: ignore[arg-type]


def test_spans_are_brought_to_the_coding_and_sets_get_numbers() -> None:
    corpus = _corpus("B-PER", "I-PER", None, ("B-LOC", "O"))
    module = ChainLoss(corpus, "BIOES")
    assert module.labels == ("B-LOC", "B-PER", "E-LOC", "E-PER", "I-LOC", "I-PER", "O", "S-LOC", "S-PER")
    (ids,) = module.encode(corpus)
    assert ids[:3].tolist() == [1, 3, -1]
    assert ids[3] >= 9
    emissions = torch.randn(1, 4, 9)
    sets = torch.zeros(1, 4, 9, dtype=torch.bool)
    sets[0, 0, 1] = sets[0, 1, 3] = sets[0, 2] = True
    sets[0, 3, [6, 7]] = True
    assert module(emissions, ids[None]).item() == pytest.approx(module(emissions, sets).item(), rel=1e-6)
    with pytest.raises(ValueError, match=r"expected 0 to 8, 9 to \d+ \(sets of `encode`\), -1"):
        module(emissions, ids[None] + 90)


def test_numbers_and_confidence_become_likelihoods() -> None:
    module = ChainLoss(["A", "B", "C"]).double()
    corpus = _corpus(Soft(("A", "B"), (0.6, 0.3)), "C", None, ("A", "B"), confidence=(1.0, 0.9, 1.0, 1.0))
    (ids,) = module.encode(corpus)
    likelihoods = torch.tensor([[[0.6, 0.3, 0], [0.1, 0.1, 1], [1, 1, 1], [1, 1, 0]]])
    emissions = torch.randn(1, 4, 3, dtype=torch.float64)
    assert module(emissions, ids[None]).item() == pytest.approx(module(emissions, likelihoods).item(), rel=1e-7)
    for strange in (_corpus("A", "A", "A", "A", weight=2.0), _corpus("A", "D", "A", "A")):
        with pytest.raises(CorpusError, match=r"found a weight|label 'D'"):
            module.encode(strange)


def test_words_are_brought_to_their_first_pieces() -> None:
    ids = torch.tensor([4, -1, 2])
    assert at_first_pieces(ids, [None, 0, 0, 1, 2, 2, 2, None]).tolist() == [-100, 4, -100, -1, 2, -100, -100, -100]
    assert at_first_pieces(ids, [0, 1]).tolist() == [4, -1]  # a row that is cut


def test_a_model_gives_its_labels_and_transitions() -> None:
    texts = ["the/DT dog/NN runs/VB", "they/PR run/VB", "the/DT run/NN"]
    pairs = [tuple(zip(*(token.split("/") for token in text.split()), strict=True)) for text in texts]
    model = train(pairs, iterations=3)
    module = ChainLoss(model)
    chain = model.chain
    encoded = chain.encoder.encode([Sentence(forms) for forms, _ in pairs], 1)
    emission = torch.from_numpy(chain.scoring.scores(encoded, 0, 3).emission)
    padded = pad_sequence([emission[low:high] for low, high in pairwise(encoded.sentence_ptr.tolist())], True)
    mask = torch.arange(3) < torch.tensor([[3], [2], [2]])
    assert torch.allclose(module.log_partition(padded, mask).double(), torch.from_numpy(chain.marginals(encoded)[1]))
    best = [[module.labels[at] for at in row[row >= 0].tolist()] for row in module.decode(padded, mask)]
    assert best == [model.tag(list(forms)) for forms, _ in pairs]


def test_a_corpus_of_one_of_two_guidelines_is_evidence_for_their_bundles() -> None:
    mapping = TagMapping("a", "b", {("N", "n"): 1, ("N", "m"): 1, ("V", "v"): 1})
    module = ChainLoss(bundle([("a", ("N", "V")), ("b", ("m", "n", "v"))], [mapping]))
    assert len(module.labels) == 3
    of_a, of_b = torch.randn(1, 4, 2), torch.randn(1, 4, 3)
    emissions = module.joint(of_a, of_b)
    at = [(view.names.index("N"), other.names.index("m")) for view, other in [module.space.views[:2]]]
    label = module.space.allow("b", ["m"])[0]
    assert torch.equal(emissions[..., label], of_a[..., at[0][0]] + of_b[..., at[0][1]])
    (ids,) = module.encode(Corpus((Sentence(_FORMS, {"a": (("N",), ("V",), None, ("N",))}),), "a"))
    marginals = module.marginals(emissions, None, ids[None])
    assert torch.allclose(marginals[0, 0, module.space.allow("a", ["N"])].sum(), torch.tensor(1.0))
    with pytest.raises(ValueError, match=r"found scores of the shape \(1, 4, 3\), expected the last to be 2"):
        module.joint(of_b)
    with pytest.raises(CorpusError, match="found the guideline 'names', expected one of a, b"):
        module.encode(_corpus("N", "V", None, "N"))
