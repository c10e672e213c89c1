"""A model from its description and its arrays, which may come from anywhere: what does not fit is refused."""

from __future__ import annotations

from typing import Any

from tagweave.features.attributes import AttributeEncoder
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.index import FeatureIndex
from tagweave.features.lexicon import LexiconColumns
from tagweave.features.rules import weights_of
from tagweave.features.templates import Templates
from tagweave.labels.scheme import TransitionScheme
from tagweave.labels.space import LabelSpace
from tagweave.models.chain import ChainModel
from tagweave.models.chain_rules import check_chain_arrays, check_layout
from tagweave.models.description import Arrays, unnested
from tagweave.models.guide import GuidedEncoder
from tagweave.models.layout import Layout
from tagweave.models.pieces import PieceEncoder
from tagweave.models.proposal import ProposingEncoder
from tagweave.models.structure import ChainStructure

AnyEncoder = TemplateEncoder | AttributeEncoder | GuidedEncoder | ProposingEncoder | PieceEncoder


def assemble(description: dict[str, Any], arrays: Arrays) -> ChainModel:
    """The model that `describe` and `arrays_of` took apart; a guide is assembled, and checked, in the same way.

    Args:
        description: one that `check_chain` has found to be one.
        arrays: whatever the file holds.

    Raises:
        LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError: parts that do not fit.
    """
    check_chain_arrays(description, arrays)
    structure = _structure(description, arrays)
    encoder = _encoder(description["encoder"], arrays, structure.space)
    windows = encoder.windows
    for view, layout in structure.weighted:
        check_layout(layout, windows, len(view.names))
    weights_of((structure.size,)).check(arrays["weights"], "weights")
    return ChainModel(
        structure,
        encoder,
        arrays["weights"],
        description["task"],
        description["coding"],
        description["about"],
    )


def _structure(description: dict[str, Any], arrays: Arrays) -> ChainStructure:
    space, weighted = LabelSpace.from_json(description["space"]), description["weighted"]
    layouts = tuple(
        Layout(arrays[f"layout.{i}.ptr"], arrays[f"layout.{i}.cell"]) if has_weights else None
        for i, has_weights in enumerate(weighted)
    )
    scheme = TransitionScheme(*(arrays[f"scheme.{part}"] for part in ("transition", "start", "end")))
    licensed = tuple(arrays[f"licensed.{i}"] for i in range(sum(weighted))) if "licensed.0" in arrays else None
    return ChainStructure(space, layouts, scheme, description["transitions"], description["edges"], licensed)


def _encoder(description: dict[str, Any], arrays: Arrays, space: LabelSpace) -> AnyEncoder:
    if "templates" not in description:
        return AttributeEncoder.of_arrays(arrays)
    index = FeatureIndex.of_codes(arrays["index.codes"])
    templates, lexicon = Templates(tuple(description["templates"])), LexiconColumns.of_arrays(arrays)
    encoder = TemplateEncoder(templates, index, lexicon)
    if "guide" in description:
        return GuidedEncoder(encoder, assemble(description["guide"], unnested(arrays, "guide")))
    if "proposals" in description:
        return _proposing(encoder, description["proposals"], arrays, space)
    if "taggers" in description:
        return _cutting(encoder, description["taggers"], arrays, space)
    return encoder


def _cutting(
    encoder: TemplateEncoder, descriptions: list[dict[str, Any]], arrays: Arrays, space: LabelSpace
) -> PieceEncoder:
    taggers = [assemble(each, unnested(arrays, f"taggers.{i}")) for i, each in enumerate(descriptions)]
    pieces = PieceEncoder(encoder, taggers)
    if space.guidelines != pieces.guidelines[:1]:
        raise ValueError("taggers the first of which is of another guideline than the model of pieces")
    return pieces


def _proposing(
    encoder: TemplateEncoder, description: dict[str, Any], arrays: Arrays, space: LabelSpace
) -> ProposingEncoder:
    each = enumerate(description["models"])
    models = [assemble(model, unnested(arrays, f"proposals.{i}")) for i, model in each]
    if [model.structure.space.views[0].guideline for model in models] != [side.guideline for side in space.sides]:
        raise ValueError("models of other guidelines than the sides of the label space")
    return ProposingEncoder(encoder, space, models, float(description["threshold"]))
