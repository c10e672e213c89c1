"""UIMA's Common Analysis Structure, through dkpro-cassis: texts with layers, and back.

dkpro-cassis makes classes of the types of a file, and Python code of the names of their features. So these are checked
before: a name of a file that somebody sent is never code.
"""

from __future__ import annotations

import io
import json
import keyword
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tagweave.corpus.errors import CorpusError
from tagweave.exchange.document import Document, Mark
from tagweave.exchange.errors import ExchangeError
from tagweave.exchange.layered import ENTITY, LayeredText, short
from tagweave.exchange.members import Member
from tagweave.exchange.tokens import Offsets
from tagweave.exchange.uima_types import (
    CONTENT,
    TYPES,
    Types,
    check_json,
    check_xmi,
    checked_types,
    declared_in_json,
    declared_in_xml,
)

if TYPE_CHECKING:
    from types import ModuleType

_SEGMENTS = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type."
_TOKEN, _SENTENCE = f"{_SEGMENTS}Token", f"{_SEGMENTS}Sentence"
ANNOTATION, STRING, BOOLEAN = "uima.tcas.Annotation", "uima.cas.String", "uima.cas.Boolean"
NUMBERS = ("uima.cas.Float", "uima.cas.Double")
"""Types of UIMA: what stands in a text, and values of its features."""
_SCORE = "score"
_VIEWS = "%VIEWS"
_NOT_MARKED = (
    "uima.",
    "org.dkpro.",
    "de.tudarmstadt.ukp.dkpro.core.api.metadata.",
    "de.tudarmstadt.ukp.clarin.webanno.api.",
)
_FEATURE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TYPE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*(\[\])?")


def cassis() -> ModuleType:
    """The library. Raises ExchangeError if it is not installed."""
    try:
        return import_module("cassis")
    except ImportError:
        expected = "expected the extra inception: pip install '.[inception]' in a checkout of tagweave"
        raise ExchangeError(f"found no dkpro-cassis, {expected}") from None


def from_xmi(member: Member, types: Member) -> LayeredText:
    """The text of an XMI file with the type system beside it. Raises CorpusError if it is not one."""
    return _layered(member, lambda: load_xmi(member, types))


def load_xmi(member: Member, types: Member) -> Any:
    """The CAS of an XMI file with the type system beside it, as the library has it. Raises as `from_xmi`."""
    system, measure = _type_system(types)
    check_xmi(member, measure)
    return _read(member, lambda: cassis().load_cas_from_xmi(io.BytesIO(member.data), typesystem=system))


def text_of(cas: Any, member: Member) -> LayeredText:
    """The text of a CAS; `member` is its file. Raises CorpusError if it has none."""
    return _layered(member, lambda: cas)


def xmi_of(cas: Any, member: Member) -> str:
    """Write a CAS; `member` is its file. Raises CorpusError for values that its types or XML cannot hold."""
    found: str = _read(member, cas.to_xmi)
    return found


def from_json(member: Member, content: dict[str, Any]) -> LayeredText:
    """The text of a file of CAS JSON, whose content was parsed. Raises CorpusError if it is not one."""
    types = content.get(TYPES, {})
    for name, features in types.items() if isinstance(types, dict) else ():
        _check_name(name, _TYPE, member.place)
        for feature in features if isinstance(features, dict) else ():
            if not feature.startswith("%"):
                _check_name(feature, _FEATURE, member.place)
    check_json(content, types_of(member, content), member.place)
    system = _read(member, lambda: _json_types(json.dumps({**content, CONTENT: [], _VIEWS: {}})))
    whole = json.dumps(content)
    return _layered(member, lambda: cassis().load_cas_from_json(whole, typesystem=system, merge_typesystem=False))


@lru_cache(maxsize=2)
def _json_types(content: str) -> Any:
    return cassis().load_cas_from_json(content).typesystem


def types_of(member: Member, content: object = None) -> Types:
    """Return the measure of a type system: a file of XML, or the content of one of CAS JSON.

    Raises:
        CorpusError: it is none, or too large.
    """
    if isinstance(content, dict):
        return checked_types(dict(declared_in_json(content.get(TYPES))), member.place)
    found: Types = _read(member, lambda: checked_types(dict(declared_in_xml(member)), member.place))
    return found


@lru_cache(maxsize=2)
def _type_system(member: Member) -> tuple[Any, Types]:
    measure = types_of(member)
    system = _read(member, lambda: cassis().load_typesystem(io.BytesIO(member.data)))
    for each in system.get_types(built_in=True):
        _check_name(each.name, _TYPE, member.place)
        for feature in each.all_features:
            _check_name(feature.name, _FEATURE, member.place)
    return system, measure


def _check_name(name: str | None, pattern: re.Pattern[str], place: str) -> None:
    if name is None or not pattern.fullmatch(name) or keyword.iskeyword(name):
        raise CorpusError(f"the name {name!r} of a type or feature", "letters, digits and underscores", place)


def _read(member: Member, load: Callable[[], Any]) -> Any:
    """What the library reads; whatever it raises says that the file is none."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", "Not mapping")  # an offset beyond the text, which takes time for each
        try:
            return load()
        except (CorpusError, ExchangeError, MemoryError):
            raise
        except UserWarning as error:
            found = f"an annotation beyond the text ({error})"
            raise CorpusError(found, "characters of the text", member.place) from None
        except Exception as error:
            found = f"no CAS ({type(error).__name__}: {error})"
            raise CorpusError(found, "UIMA CAS, as INCEpTION exports it", member.place) from None


def _layered(member: Member, load: Callable[[], Any]) -> LayeredText:
    found: LayeredText = _read(member, lambda: _of_cas(load(), member))
    return found


def _of_cas(cas: Any, member: Member) -> LayeredText:
    if not isinstance(cas.sofa_string, str):
        raise CorpusError("no text", "a CAS with a text", member.place)
    found = LayeredText(cas.sofa_string)
    tokens: list[Offsets] = []
    sentences: list[Offsets] = []
    for each in cas.select_all_annotations():
        name = each.type.name
        place = (each.begin, each.end)
        if type(place[0]) is not int or type(place[1]) is not int:
            raise CorpusError(f"an annotation from {place[0]!r} to {place[1]!r}", "whole numbers", member.place)
        if name in (_TOKEN, _SENTENCE):
            (tokens if name == _TOKEN else sentences).append(place)
        elif not name.startswith(_NOT_MARKED):
            _add(each, place, cas.typesystem, found)
    found.tokens = sorted(tokens) if tokens else None
    found.sentences = sorted(sentences) if sentences else None
    return found


def _add(annotation: Any, place: tuple[int, int], types: Any, found: LayeredText) -> None:
    name = short(annotation.type.name)
    features = [each for each in annotation.type.all_features if each.name not in ("sofa", "begin", "end")]
    if any(types.is_instance_of(each.rangeType.name, ANNOTATION) for each in features):
        found.left_out[f"relations {name}"] += 1
    elif place[0] == place[1]:
        found.left_out["spans without characters"] += 1
    else:
        texts = [each.name for each in features if types.is_instance_of(each.rangeType.name, STRING)]
        values = {f"{name}.{each}": annotation[each] for each in texts if annotation[each]}
        number = _number(annotation, [each.name for each in features if each.rangeType.name in NUMBERS])
        for layer, label in values.items() if features else [(name, name)]:
            found.layers.setdefault(layer, []).append(Mark(*place, label, number))
        if features and not values:
            found.left_out[f"spans of {name} without a value"] += 1
        if any(each.rangeType.name.endswith("Array") and annotation[each.name] for each in features):
            found.left_out[f"slots of {name}"] += 1


def _number(annotation: Any, names: Sequence[str]) -> float:
    """The feature `score`, if it can be a probability."""
    value = annotation[_SCORE] if _SCORE in names else None
    return value if isinstance(value, float) and 0 < value <= 1 else 1.0


def type_system() -> Any:
    """The types that are written: tokens, sentences, and named entities with a score."""
    system = cassis().TypeSystem()
    for name in (_TOKEN, _SENTENCE, ENTITY):
        system.create_type(name, supertypeName=ANNOTATION)
    entity = system.get_type(ENTITY)
    system.create_feature(entity, "value", STRING)
    system.create_feature(entity, _SCORE, NUMBERS[0])
    return system


def to_xmi(document: Document, marks: Sequence[Mark], system: Any) -> str:
    """The XMI of a document. Raises CorpusError for characters that XML cannot hold."""
    cas = cassis().Cas(typesystem=system)
    cas.sofa_string, cas.sofa_mime = document.text, "text/plain"
    cas.add_all(_annotations(document, marks, system))
    try:
        return str(cas.to_xmi())
    except ValueError as error:
        raise document.error(f"a text that XML cannot hold ({error})", "no control characters") from None


def _annotations(document: Document, marks: Sequence[Mark], system: Any) -> Iterator[Any]:
    for name, places in ((_TOKEN, document.tokens), (_SENTENCE, document.sentences)):
        for start, stop in places or ():
            yield system.get_type(name)(begin=start, end=stop)
    for mark in marks:
        yield system.get_type(ENTITY)(begin=mark.start, end=mark.stop, value=mark.label, score=mark.probability)
