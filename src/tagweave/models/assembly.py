"""A model from its description and its arrays, which may come from anywhere: what does not fit is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.encoding.attributes import AttributeEncoder
from tagweave.encoding.encoder import TemplateEncoder
from tagweave.encoding.index import FeatureIndex
from tagweave.encoding.lexicon import LexiconColumns
from tagweave.encoding.templates import Templates
from tagweave.labels.scheme import TransitionScheme
from tagweave.labels.space import LabelSpace, View
from tagweave.models.chain import ChainModel
from tagweave.models.description import Arrays, unnested
from tagweave.models.guide import GuidedEncoder
from tagweave.models.layout import Layout
from tagweave.models.pieces import PieceEncoder
from tagweave.models.proposal import ProposingEncoder
from tagweave.models.structure import ChainStructure

AnyEncoder = TemplateEncoder | AttributeEncoder | GuidedEncoder | ProposingEncoder | PieceEncoder


def assemble(description: dict[str, Any], arrays: Arrays) -> ChainModel:
    """The model that `describe` and `arrays_of` took apart; a guide is assembled, and checked, in the same way.

    Raises:
        LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError: parts that do not fit.
    """
    structure = _structure(description, arrays)
    encoder = _encoder(description["encoder"], arrays, structure.space)
    _check_shapes(structure, encoder.windows, arrays["weights"])
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


def _check_shapes(structure: ChainStructure, windows: NDArray[Any], weights: NDArray[Any]) -> None:
    """Refuse what kernels, which do not check their indices, would read beyond its end.

    Raises:
        ValueError: arrays that do not fit each other.
    """
    Y, scheme = len(structure.space), structure.scheme
    expected = {"transition": (Y, Y), "start": (Y,), "end": (Y,)}
    fits = [(part := getattr(scheme, name)).shape == shape and part.dtype == bool for name, shape in expected.items()]
    fits += [_projects(view, Y) for view in structure.space.views]
    fits += [_fits(layout, windows, len(view.names)) for view, layout in structure.weighted]
    for licensed, (view, _) in zip(structure.licensed_transitions or (), structure.weighted, strict=False):
        fits.append(licensed.shape == (len(view.names),) * 2 and licensed.dtype == bool)
    fits.append(bool(structure.weighted) and weights.shape == (structure.size,))
    fits.append(weights.dtype in (np.float32, np.float64))
    if not all(fits):
        raise ValueError("arrays of sizes that do not fit each other")


def _projects(view: View, labels: int) -> bool:
    """Whether every label of the space has a tag of the view."""
    tags = view.projection
    return tags.shape == (labels,) and bool(((tags >= 0) & (tags < len(view.names))).all())


def _fits(layout: Layout, windows: NDArray[Any], tags: int) -> bool:
    """Whether a layout gives every feature weights for positions of its window and for tags of the view alone."""
    rows = np.diff(layout.ptr.astype(np.int64))
    if len(layout.ptr) != len(windows) + 1 or int(layout.ptr[0]) != 0:
        return False
    if not len(layout.cell):  # dense, unless there is nothing at all
        return not rows.any() or np.array_equal(rows, windows * tags)
    room = np.repeat(windows * tags, np.maximum(rows, 0))
    inside = len(room) == len(layout.cell) and bool(((layout.cell >= 0) & (layout.cell < room)).all())
    return inside and bool((rows >= 0).all())
