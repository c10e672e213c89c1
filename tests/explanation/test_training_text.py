"""Training sentences that made a model say something: those that share most of the features that speak for it."""

from __future__ import annotations

import numpy as np

import tagweave as tw
from tagweave.corpus.sample import path as sample
from tagweave.explanation.contrast import Contrast
from tagweave.explanation.training_text import TrainingText
from tagweave.features.feature_names import FeatureNames
from tagweave.learning.run import Silence


def test_the_most_similar_sentences_are_those_of_the_twin() -> None:
    corpus = tw.load(f"ctb={sample('ctb.txt')}")
    corpus = corpus.with_sentences(corpus.sentences[:40])
    model = tw.train(corpus, task="tag", iterations=3, callback=Silence()).chain
    names = {at: FeatureNames(model.encoder, sentence) for at, sentence in enumerate(corpus)}
    training = TrainingText(model.encoder, corpus, corpus.guideline)
    for at in range(0, 40, 8):
        contrast = Contrast(model, names[at])
        other = contrast.runner_up(model.space.views[0], 1, 2, False)
        contributions, _ = contrast.difference(contrast.best, other)
        weights = [
            {(one.feature, one.position): abs(one.score) for one in contributions if one.token == token}
            for token in np.flatnonzero(contrast.best != other)
        ]
        similarity = np.zeros(len(corpus))
        for number, of_sentence in names.items():
            for table in weights:
                known = {key: score for key, score in table.items() if key[0] >= 0}
                similarity[number] += max(
                    sum(known.get((named.feature, named.position), 0.0) for named in of_sentence.at(token))
                    for token in range(len(of_sentence.sentence))
                )
        examples = training.similar(contributions)
        expected = np.argsort(-similarity, kind="stable")[:3]
        assert [example.place for example in examples] == [
            f"{corpus[int(number)].location.path}:{corpus[int(number)].location.line}" for number in expected
        ]
        assert int(expected[0]) == at  # of the sentence itself
        assert contrast.names.sentence.forms[1] == examples[0].token or len(weights) > 1
