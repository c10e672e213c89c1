"""Models in files: the rules for their arrays, and the model assembled from a description and its arrays.

| array | type | shape | entries |
|---|---|---|---|
| `weights` | float | all parts of `ChainParameters` | finite |
| `scheme.transition`, `.start`, `.end` | bool | [Y, Y], [Y], [Y] | |
| `observed.V` | bool | [T, T] | all views with weights, or none |
| `layout.V.ptr` | int | [F + 1] | 0, never falling, to the size of `cell`; dense: the sums of window * T |
| `layout.V.cell` | unsigned | [ptr[F]], or none: dense | below window * T of their feature |
| `occurrences` | uint8 | [F], or none: unknown | how often features occurred in training, see `occurrences` |
| `index.codes` | uint64 | [F] | distinct; their highest bits are windows, 1 to 15 (`kernels.hashing`) |
| `index.attributes` | uint8 | | JSON: F names |
| `lexicon.words` | uint8 | | JSON: words |
| `gazetteer.entries` | uint8 | | JSON: lines of a gazetteer |
| `clusters.words` | uint8 | | JSON: bit strings with their words |
| `subwords.config`, `.tokenizer` | uint8 | | JSON: the configuration of a network, and its pieces of words |
| `vectors.words`, `.table` | uint8, float16 | [words + buckets, H] | JSON: words; their vectors, and those of n-grams |
| `vectors.n_grams` | int64 | [3] | characters of n-grams, at least and at most, and their rows; 0 without n-grams |
| `vectors.paths` | uint16 | [words], or none | for each word a 1 and the bits of its cluster; 0 without a cluster |
| `weights` of a parser | float | [rows * 8] | finite |
| `relation_weights` | float | [relation rows, relations] | finite |
| `occurrences` of a parser, `relation_occurrences` | uint8 | [all rows], or none: unknown | see `TreeModel` |

with Y labels, T tags of a view V, F features; rows are powers of two, since hashes are cut to bits. The names of a
nested model's arrays begin with the name of the part. Files are not trusted: parts that do not fit are refused.

A new scorer takes a line in `SCORERS`, or in `ARC_SCORERS` of `tree`, a new encoder one in `ENCODERS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import UNSET, Struct
from numpy.typing import NDArray

from tagweave.features.attributes import AttributeEncoder
from tagweave.features.encoder import Encoder, EncoderDescription, TemplateEncoder
from tagweave.features.rules import FLOATS, ArrayRule, check_arrays, checked, refuse, weights_of
from tagweave.labels import LAYERS
from tagweave.labels.space import LabelSpace
from tagweave.models.cascades import DocumentEncoder, GuidedEncoder, PieceEncoder
from tagweave.models.chain import ChainModel
from tagweave.models.layered import LayeredModel
from tagweave.models.linear_scorer import ChainParameters, LinearDescription
from tagweave.models.network import NetworkParameters
from tagweave.models.packing import Arrays, unnested
from tagweave.models.schema import ChainDescription, LayeredDescription, ModelDescription, TreeDescription
from tagweave.models.scorer import Parameters, ScorerParameters
from tagweave.structures import CHAIN, TREE

if TYPE_CHECKING:
    from tagweave.models.tree import TreeModel

SCORERS: dict[str, type[ScorerParameters]] = {scorer.kind: scorer for scorer in (ChainParameters, NetworkParameters)}
ENCODERS: dict[str, type[Encoder]] = {
    encoder.kind: encoder
    for encoder in (TemplateEncoder, AttributeEncoder, GuidedEncoder, DocumentEncoder, PieceEncoder)
}
C = TypeVar("C")


class _Kinds(Struct):
    kind: str
    scorer: str = ""


class _EncoderKind(Struct):
    kind: str


def described(value: Any, where: str = "") -> ModelDescription | LayeredDescription:
    """Return the description of a model as the schema of its scorer says; models inside it stay as they are."""
    kinds = checked(value, _Kinds, where)
    if kinds.kind == LAYERS:
        return checked(value, LayeredDescription, where)
    scorers: Mapping[str, type[Parameters]] = SCORERS
    if kinds.kind == TREE:
        from tagweave.models.tree import ARC_SCORERS  # taggers start without the kernels of trees

        scorers = ARC_SCORERS
    elif kinds.kind != CHAIN:
        refuse(kinds.kind, f"{where}kind", f"{CHAIN!r}, {TREE!r} or {LAYERS!r}")
    return checked(value, chosen(scorers, kinds.scorer, f"{where}scorer").schema, where)


def chosen(classes: Mapping[str, C], name: str, where: str) -> C:
    """Return what has this name. Raises ValueError if nothing has it."""
    if name not in classes:
        refuse(name, where, f"one of {', '.join(map(repr, classes))}")
    return classes[name]


def encoder_of(
    description: ChainDescription | LayeredDescription, where: str = ""
) -> tuple[type[Encoder], EncoderDescription]:
    """Return the encoder of a model: its class and its description."""
    value = description.encoder
    kind = chosen(ENCODERS, checked(value, _EncoderKind, f"{where}encoder").kind, f"{where}encoder.kind")
    return kind, checked(value, kind.schema, f"{where}encoder")


def check(value: Any, where: str = "") -> None:
    """Raise ValueError unless a value describes a model, with all models inside it."""
    description = described(value, where)
    if isinstance(description, LayeredDescription):
        _check_layers(description)
        return
    if isinstance(description, TreeDescription):
        if description.guide is not UNSET:
            guide = described(description.guide, f"{where}guide.")
            if not isinstance(guide, TreeDescription) or guide.guideline != description.guided_by:
                refuse(description.guided_by, f"{where}guided_by", "the guideline of a parser, the guide")
            check(description.guide, f"{where}guide.")
        return
    assert isinstance(description, ChainDescription)  # noqa: S101 - there are two kinds
    kind, encoder = encoder_of(description, where)
    for prefix, inner in kind.models_in(encoder).items():
        check(inner, f"{where}{prefix}.")
        if inner["kind"] != CHAIN:
            refuse(inner["kind"], f"{where}{prefix}.kind", f"{CHAIN!r}")
        if "taggers" in inner["encoder"] or (prefix.startswith("taggers") and inner["coding"] != description.coding):
            refuse(inner["coding"], f"{where}{prefix}", "a model of the same tokens, and none of pieces")


def _check_layers(description: LayeredDescription) -> None:
    """Raise ValueError unless all chains have the templates, the task and the coding of the model, and its types."""
    kind, _ = encoder_of(description)
    if kind is not TemplateEncoder:
        refuse(kind.kind, "encoder.kind", f"{TemplateEncoder.kind!r}")
    for number, types in enumerate(description.types):
        where = f"chains.{number}."
        check(description.chain(number), where)
        one = described(description.chain(number), where)
        if not isinstance(one, LinearDescription) or (one.task, one.coding) != (description.task, description.coding):
            refuse(number, "chains", f"linear models of spans in {description.coding}")
        kinds = sorted({name[2:] for name in one.space.names if name[1:2] == "-"})
        if len(one.space.views) != 1 or sorted(kind for of_layer in types.values() for kind in of_layer) != kinds:
            refuse(sorted(types), f"types of the chain {number}", f"the types {' '.join(kinds)}, each in one layer")


def _layered(description: LayeredDescription, arrays: Arrays) -> LayeredModel:
    prefixes = [f"chains.{number}" for number in range(len(description.chains))]
    outer = _outside(arrays, prefixes)
    kind, of_encoder = encoder_of(description)
    check_arrays(outer, kind.array_rules(outer))
    chains, encoder = [], None
    for number, prefix in enumerate(prefixes):
        one = described(description.chain(number))
        assert isinstance(one, ChainDescription)  # noqa: S101 - checked
        space, arrays_of_chain = LabelSpace.from_json(description.chains[number]["space"]), unnested(arrays, prefix)
        scorer = SCORERS[one.scorer]
        check_arrays(
            arrays_of_chain, {"weights": ArrayRule(FLOATS, (None,)), **scorer.array_rules(one, arrays_of_chain)}
        )
        parameters = scorer.of_parts(one, space, arrays_of_chain)
        encoder = encoder or kind.of_parts(of_encoder, space, outer, ())
        chains.append(_chain(one, parameters, encoder, arrays_of_chain["weights"]))
    types = tuple({name: tuple(kinds) for name, kinds in of_chain.items()} for of_chain in description.types)
    return LayeredModel(tuple(chains), types, description.about)


def _chain(
    description: ChainDescription, parameters: ScorerParameters, encoder: Encoder, weights: NDArray[Any]
) -> ChainModel:
    """Return the chain model of parts, after checks that need several of them."""
    parameters.check_encoder(encoder.windows)
    weights_of((parameters.size,)).check(weights, "weights")
    return ChainModel(parameters, encoder, weights, description.task, description.coding, description.about)


def assemble(value: Any, arrays: Arrays) -> ChainModel | TreeModel | LayeredModel:
    """Return the model whose checked description and unchecked arrays these are, with the models inside it."""
    description = described(value)
    if isinstance(description, LayeredDescription):
        return _layered(description, arrays)
    if isinstance(description, TreeDescription):
        from tagweave.models import tree  # taggers start without the kernels of trees

        has_guide = description.guide is not UNSET
        guide = assemble(description.guide, unnested(arrays, "guide")) if has_guide else None
        return tree.of_parts(description, _outside(arrays, ["guide"] if has_guide else []), guide)
    assert isinstance(description, ChainDescription)  # noqa: S101 - there are two kinds
    scorer, (kind, encoder) = SCORERS[description.scorer], encoder_of(description)
    inner = kind.models_in(encoder)
    outer = _outside(arrays, inner)
    of_weights = ArrayRule(FLOATS, (None,))  # checked when their number is known
    check_arrays(outer, {"weights": of_weights, **kind.array_rules(outer), **scorer.array_rules(description, outer)})
    space = LabelSpace.from_json(value["space"])
    parameters = scorer.of_parts(description, space, outer)
    models = [assemble(model, unnested(arrays, prefix)) for prefix, model in inner.items()]
    parts = kind.of_parts(encoder, space, outer, models)
    return _chain(description, parameters, parts, arrays["weights"])


def _outside(arrays: Arrays, parts: Any) -> Arrays:
    """Return the arrays of a model without those of the models inside it."""
    prefixes = tuple(f"{prefix}." for prefix in parts)
    return {name: array for name, array in arrays.items() if not name.startswith(prefixes)}
