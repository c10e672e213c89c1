"""What parsers set in documents of spaCy: heads, relations, and the starts of sentences."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from tagweave.corpus.sentence import Sentence
from tagweave.features.given_columns import lacking, with_columns
from tagweave.models.tree_predictor import TreePredictor
from tagweave.pipelines.doc_sentences import DocSentences

if TYPE_CHECKING:
    from tagweave.front.parser import Parser

_ROOT, _ANY = "ROOT", "dep"
"""What spaCy calls the relation of a root, and one that is not known."""
_USER = "user:"
_ATTRIBUTES = {"upos": "POS", "user:lemma": "LEMMA", "user:feats": "MORPH"}
"""Where inputs of parsers are in documents; any other layer is `TAG`."""
_UNKNOWN = "_"


class Trees:
    """Trees as `token.head` and `token.dep_`.

    Args:
        parser: finds them.
        overwrite: whether documents with trees get other ones.
    """

    def __init__(self, parser: Parser, overwrite: bool) -> None:
        self._parser, self._overwrite = TreePredictor(parser.trained, parser.threads), overwrite
        self._inputs, self._name, self._has_warned = parser.trained.inputs, parser.name, False
        relations = parser.trained.labels
        self.labels = () if relations is None else tuple(relations.names)

    def set(self, docs: Sequence[Any]) -> None:
        """Set the trees of documents. Raises CorpusError as `TreePredictor.parse`."""
        todo = [each for each in docs if self._overwrite or not each.has_annotation("DEP")]
        documents = [DocSentences(each) for each in todo]
        seen = [sentence for each in documents for sentence in self._with_inputs(each)]
        self._warn(seen)
        parsed = self._parser.parse(with_columns(each, self._inputs) for each in seen)
        for document in documents:
            if document.sentences:
                self._set(document, islice(parsed, len(document.sentences)))

    def _set(self, document: DocSentences, parsed: Any) -> None:
        from spacy.attrs import DEP, HEAD

        doc, strings = document.doc, document.doc.vocab.strings
        heads, relations = _of_blanks(document), np.full(len(doc), strings.add(_ANY), np.uint64)
        for positions, sentence in zip(document.positions, parsed, strict=True):
            arcs = [candidates[0] for candidates in sentence.heads[self._parser.model.guideline]]
            heads[positions] = [positions[(arc.head or at) - 1] for at, arc in enumerate(arcs, 1)]
            names = [(arc.relation or _ANY) if arc.head else _ROOT for arc in arcs]
            relations[positions] = [strings.add(name) for name in names]
        distances = (heads - np.arange(len(doc))).astype(np.int64).astype(np.uint64)
        doc.from_array([HEAD, DEP], np.stack([distances, relations], axis=1))

    def _with_inputs(self, document: DocSentences) -> list[Sentence]:
        """The sentences with what the parser looks at, where the document has it."""
        found = document.sentences
        for name in self._inputs:
            from spacy.attrs import IDS

            attribute = _ATTRIBUTES.get(name, "TAG")
            if name.startswith(_USER) and name not in _ATTRIBUTES:
                continue
            values = document.doc.to_array([IDS[attribute]]).reshape(-1)
            if values.any():
                strings = document.doc.vocab.strings
                texts = [[strings[at] for at in values[own].tolist()] for own in document.positions]
                found = [_with(each, name, own) for each, own in zip(found, texts, strict=True)]
        return found

    def _warn(self, sentences: Sequence[Sentence]) -> None:
        missing = [] if self._has_warned or not sentences else lacking(sentences, self._inputs)
        if missing:
            self._has_warned = True
            said = f"the documents have no {', '.join(missing)}, which {self._name} looks at: its trees will be worse"
            warnings.warn(said, UserWarning, stacklevel=4)


def _with(sentence: Sentence, name: str, values: list[str]) -> Sentence:
    if name.startswith(_USER):
        return sentence.with_column(name.removeprefix(_USER), (each or _UNKNOWN for each in values))
    return replace(sentence, layers={**sentence.layers, name: tuple((each,) if each else None for each in values)})


def _of_blanks(document: DocSentences) -> Any:
    """int64 for each token: the token before it that is not blank, on which blanks hang; or else the first one."""
    tokens = document.tokens
    at = np.searchsorted(tokens, np.arange(len(document.doc)), "right") - 1
    return tokens[np.maximum(at, 0)]
