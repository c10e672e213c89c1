"""Models from their descriptions and arrays, which may come from anywhere: what does not fit is refused.

A model says what kind it is, and so does its encoder. A new kind is a class with `kind`, `to_json` and `arrays`, a rule
for its description, a function here that puts it together again, and a line in `MODELS` or `ENCODERS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tagweave.features.arc_templates import ArcTemplates
from tagweave.features.attributes import AttributeEncoder
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.index import FeatureIndex
from tagweave.features.lexicon import LexiconColumns
from tagweave.features.relation_templates import RelationTemplates
from tagweave.features.rules import one_of, record, weights_of
from tagweave.features.templates import Templates
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models.arc_features import ArcFeatures
from tagweave.models.arc_labels import ArcLabels
from tagweave.models.chain import ChainModel
from tagweave.models.chain_rules import check_chain, check_chain_arrays, check_layout
from tagweave.models.guide import GuidedEncoder
from tagweave.models.layout import Layout
from tagweave.models.parameters import ChainParameters
from tagweave.models.parts import Arrays, unnested
from tagweave.models.pieces import PieceEncoder
from tagweave.models.proposal import ProposingEncoder
from tagweave.models.tree import TreeModel
from tagweave.models.tree_rules import check_tree, check_tree_arrays

AnyModel = ChainModel | TreeModel
AnyEncoder = TemplateEncoder | AttributeEncoder | GuidedEncoder | ProposingEncoder | PieceEncoder
Description = dict[str, Any]

UNFIT = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What is raised by parts that do not fit."""


def check_description(description: Description) -> None:
    """Raise one of `UNFIT` unless a value describes a model of some kind."""
    _HAS_KIND(description, "")
    _RULES[description["kind"]](description, "")


def assemble(description: Description, arrays: Arrays) -> AnyModel:
    """The model that `to_json` and `arrays` took apart; parts that are models are assembled, and checked, likewise.

    Args:
        description: one that `check_description` accepts.
        arrays: whatever the file holds.

    Raises:
        LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError: parts that do not fit.
    """
    return MODELS[description["kind"]](description, arrays)


def _chain(description: Description, arrays: Arrays) -> ChainModel:
    check_chain_arrays(description, arrays)
    parameters = _parameters(description, arrays)
    encoder = ENCODERS[description["encoder"]["kind"]](description["encoder"], arrays, parameters.space)
    windows = encoder.windows
    for view, layout in parameters.weighted:
        check_layout(layout, windows, len(view.names))
    weights_of((parameters.size,)).check(arrays["weights"], "weights")
    task, coding, about = description["task"], description["coding"], description["about"]
    return ChainModel(parameters, encoder, arrays["weights"], task, coding, about)


def _parameters(description: Description, arrays: Arrays) -> ChainParameters:
    space, weighted = LabelSpace.from_json(description["space"]), description["weighted"]
    layouts = tuple(
        Layout(arrays[f"layout.{i}.ptr"], arrays[f"layout.{i}.cell"]) if has_weights else None
        for i, has_weights in enumerate(weighted)
    )
    scheme = TransitionScheme(*(arrays[f"scheme.{part}"] for part in ("transition", "start", "end")))
    observed = tuple(arrays[f"observed.{i}"] for i in range(sum(weighted))) if "observed.0" in arrays else None
    return ChainParameters(space, layouts, scheme, description["transitions"], description["edges"], observed)


def _templates(description: Description, arrays: Arrays, space: LabelSpace) -> TemplateEncoder:
    index = FeatureIndex.of_codes(arrays["index.codes"])
    return TemplateEncoder(Templates(tuple(description["templates"])), index, LexiconColumns.of_arrays(arrays))


def _attributes(description: Description, arrays: Arrays, space: LabelSpace) -> AttributeEncoder:
    return AttributeEncoder.of_arrays(arrays)


def _guided(description: Description, arrays: Arrays, space: LabelSpace) -> GuidedEncoder:
    guide = _chain(description["guide"], unnested(arrays, "guide"))
    return GuidedEncoder(_templates(description, arrays, space), guide)


def _pieces(description: Description, arrays: Arrays, space: LabelSpace) -> PieceEncoder:
    taggers = [_chain(each, unnested(arrays, f"taggers.{i}")) for i, each in enumerate(description["taggers"])]
    pieces = PieceEncoder(_templates(description, arrays, space), taggers)
    if space.guidelines != pieces.guidelines[:1]:
        raise ValueError("taggers the first of which is of another guideline than the model of pieces")
    return pieces


def _proposing(description: Description, arrays: Arrays, space: LabelSpace) -> ProposingEncoder:
    proposals = description["proposals"]
    models = [_chain(each, unnested(arrays, f"proposals.{i}")) for i, each in enumerate(proposals["models"])]
    if [model.space.views[0].guideline for model in models] != [side.guideline for side in space.sides]:
        raise ValueError("models of other guidelines than the sides of the label space")
    encoder = _templates(description, arrays, space)
    return ProposingEncoder(encoder, space, models, float(proposals["threshold"]))


def _tree(description: Description, arrays: Arrays) -> TreeModel:
    templates = ArcTemplates(tuple(description["templates"]), description.get("guided_by", ""))
    _ = templates.codes  # reads them
    features = ArcFeatures(templates, description["rows"])
    check_tree_arrays(description, arrays)
    labels = _relations(description, arrays) if "relations" in description else None
    guide = _tree(description["guide"], unnested(arrays, "guide")) if "guide" in description else None
    single_root, guideline, about = description["single_root"], description["guideline"], description["about"]
    return TreeModel(features, arrays["weights"], labels, single_root, guideline, about, guide)


def _relations(description: Description, arrays: Arrays) -> ArcLabels:
    templates = RelationTemplates(tuple(description["relation_templates"]))
    _ = templates.codes  # reads them
    return ArcLabels(templates, tuple(description["relations"]), arrays["relation_weights"])


MODELS: dict[str, Callable[[Description, Arrays], AnyModel]] = {ChainModel.kind: _chain, TreeModel.kind: _tree}
ENCODERS: dict[str, Callable[[Description, Arrays, LabelSpace], AnyEncoder]] = {
    TemplateEncoder.kind: _templates,
    AttributeEncoder.kind: _attributes,
    GuidedEncoder.kind: _guided,
    ProposingEncoder.kind: _proposing,
    PieceEncoder.kind: _pieces,
}
_RULES = {ChainModel.kind: check_chain, TreeModel.kind: check_tree}
_HAS_KIND = record({"kind": one_of(*_RULES)}, others=True)
