"""Chain models from their descriptions and arrays, which are not trusted: parts that do not fit are refused.

An encoder states its kind. A new kind takes a class with `kind`, `to_json` and `arrays`, a rule for its description
(`chain_rules`), a function here that assembles it, and a line in `ENCODERS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tagweave.features.attributes import AttributeEncoder
from tagweave.features.clusters import clusters_of_arrays
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.gazetteer import GazetteerColumns
from tagweave.features.index import FeatureIndex
from tagweave.features.lexicon import LexiconColumns
from tagweave.features.rules import weights_of
from tagweave.features.templates import Templates
from tagweave.labels.space import LabelSpace
from tagweave.models.chain import ChainModel
from tagweave.models.chain_rules import check_chain, check_chain_arrays
from tagweave.models.chain_scorers import SCORERS
from tagweave.models.guide import GuidedEncoder
from tagweave.models.parts import Arrays, unnested
from tagweave.models.pieces import PieceEncoder
from tagweave.models.proposal import ProposingEncoder

AnyEncoder = TemplateEncoder | AttributeEncoder | GuidedEncoder | ProposingEncoder | PieceEncoder
"""The encoders of tokens; their index grows with the training data, and then freezes."""
Description = dict[str, Any]

check = check_chain


def assemble(description: Description, arrays: Arrays) -> ChainModel:
    """The model whose `to_json` and `arrays` gave these; models inside it are assembled and checked the same way.

    Args:
        description: one that `check` accepts.
        arrays: those of the file, unchecked.

    Raises:
        LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError: parts that do not fit.
    """
    check_chain_arrays(description, arrays)
    space = LabelSpace.from_json(description["space"])
    parameters = SCORERS[description["scorer"]].of_parts(description, space, arrays)
    encoder = ENCODERS[description["encoder"]["kind"]](description["encoder"], arrays, space)
    parameters.check_encoder(encoder.windows)
    weights_of((parameters.size,)).check(arrays["weights"], "weights")
    task, coding, about = description["task"], description["coding"], description["about"]
    return ChainModel(parameters, encoder, arrays["weights"], task, coding, about)


def _templates(description: Description, arrays: Arrays, space: LabelSpace) -> TemplateEncoder:
    index = FeatureIndex.of_codes(arrays["index.codes"])
    lexicon, gazetteer = LexiconColumns.of_arrays(arrays), GazetteerColumns.of_arrays(arrays)
    templates = Templates(tuple(description["templates"]))
    return TemplateEncoder(templates, index, lexicon, gazetteer, clusters_of_arrays(arrays))


def _attributes(description: Description, arrays: Arrays, space: LabelSpace) -> AttributeEncoder:
    return AttributeEncoder.of_arrays(arrays)


def _guided(description: Description, arrays: Arrays, space: LabelSpace) -> GuidedEncoder:
    guide = assemble(description["guide"], unnested(arrays, "guide"))
    return GuidedEncoder(_templates(description, arrays, space), guide)


def _pieces(description: Description, arrays: Arrays, space: LabelSpace) -> PieceEncoder:
    taggers = [assemble(each, unnested(arrays, f"taggers.{i}")) for i, each in enumerate(description["taggers"])]
    pieces = PieceEncoder(_templates(description, arrays, space), taggers)
    if space.guidelines != pieces.guidelines[:1]:
        raise ValueError("taggers the first of which is of another guideline than the model of pieces")
    return pieces


def _proposing(description: Description, arrays: Arrays, space: LabelSpace) -> ProposingEncoder:
    proposals = description["proposals"]
    models = [assemble(each, unnested(arrays, f"proposals.{i}")) for i, each in enumerate(proposals["models"])]
    if [model.space.views[0].guideline for model in models] != [side.guideline for side in space.sides]:
        raise ValueError("models of other guidelines than the sides of the label space")
    encoder = _templates(description, arrays, space)
    return ProposingEncoder(encoder, space, models, float(proposals["threshold"]))


ENCODERS: dict[str, Callable[[Description, Arrays, LabelSpace], AnyEncoder]] = {
    TemplateEncoder.kind: _templates,
    AttributeEncoder.kind: _attributes,
    GuidedEncoder.kind: _guided,
    ProposingEncoder.kind: _proposing,
    PieceEncoder.kind: _pieces,
}
