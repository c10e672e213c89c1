"""INCEpTION's exports: UIMA CAS XMI and CAS JSON, read and written through dkpro-cassis, and WebAnno TSV.

An argument is `PATH[#LAYER]`: a file, a folder or a zip, and if there are several layers, `Layer`, `feature` or
`Layer.feature`. In the export of a project, `annotation/DOCUMENT/ANNOTATOR.xmi` (or a zip of it, or `.json`, `.tsv`)
tells who annotated what, and so does `curation`; sources and texts that nobody has opened (`INITIAL_CAS`) are not read.
A span is an annotation with a text in the feature; a feature `score` between 0 and 1 is its probability.

The way back is a zip of XMI files, with tokens, sentences, and spans as named entities with `value` and `score`.
INCEpTION drops the scores unless the layer of the project has a feature `score`.

dkpro-cassis generates Python classes from the types and features of a file, so names are checked first: no name in a
file may become code. It compiles a class again for every feature, and makes two tables of all characters of a text, so
hundreds of features take minutes, and megabytes of text take gigabytes. Both are limited; real type systems have a few
hundred types with five to twenty features each.
"""

from __future__ import annotations

import io
import json
import keyword
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import IO, Any, NamedTuple

from tagweave.corpus.sentence import Location
from tagweave.errors import CorpusError, ExchangeError, shortened
from tagweave.exchange import webanno_tsv
from tagweave.exchange.document import Document, Mark, Tool
from tagweave.exchange.json_exports import parsed
from tagweave.exchange.members import ExportFile, library, members, packed_names, refuse_link, write_zip
from tagweave.exchange.tokens import Offsets
from tagweave.exchange.webanno_tsv import ENTITY, LayeredText, documents, is_annotated, short, split_argument

_TYPES = "TypeSystem.xml"
_TOTAL_WEIGHT = 300_000  # of all different type systems of an export


def read(argument: str) -> Iterator[Document]:
    """Return the documents of `PATH[#LAYER]`."""
    path, layer = split_argument(argument)
    return documents(_texts(path), layer, path)


def _texts(path: str) -> Iterator[tuple[ExportFile, LayeredText]]:
    systems = _Systems(path)
    for member in members(path, ".xmi", ".json", ".tsv"):
        if not is_annotated(member.name):
            continue
        if member.name.suffix == ".tsv":
            yield member, webanno_tsv.layered(member)
        elif member.name.suffix == ".json":
            content = _json(member)
            if isinstance(content, dict) and CONTENT in content:
                declared = json.dumps(content.get(TYPES)).encode()
                systems.count(declared, member, content)
                yield member, _from_json(member, content)
            elif not systems.in_export:  # such as the settings of a project
                raise CorpusError("no CAS", f'an object with "{CONTENT}"', member.place)
        else:
            types = systems.beside(member)
            systems.count(types.data, types)
            yield member, text_of(load_xmi(member, types), member)


class _Systems:
    """The type systems of an export, or the one beside a file. Of equal ones, one is kept."""

    def __init__(self, path: str) -> None:
        self.in_export = Path(path).is_dir() or zipfile.is_zipfile(path)
        beside = Path(path).with_name(_TYPES)
        given: Iterable[ExportFile] = ()
        if self.in_export:
            given = (member for member in members(path, ".xml") if member.name.name == _TYPES)
        elif beside.is_file():
            refuse_link(beside)
            given = members(str(beside))
        same: dict[bytes, ExportFile] = {}
        self._of = {member.name.parent: same.setdefault(member.data, member) for member in given}
        self._known: set[int] = set()
        self._left = _TOTAL_WEIGHT

    def beside(self, member: ExportFile) -> ExportFile:
        folder = next((each for each in (member.name.parent, *member.name.parents) if each in self._of), None)
        if folder is None:
            raise CorpusError(f"no {_TYPES}", "the type system beside the XMI, as INCEpTION exports both", member.place)
        return self._of[folder]

    def count(self, declared: bytes, member: ExportFile, content: object = None) -> None:
        """Count a type system, as `_types_of` takes it. Raises CorpusError if all together take too long to load."""
        if hash(declared) not in self._known:
            self._known.add(hash(declared))
            self._left -= _types_of(member, content).weight
            if self._left < 0:
                raise CorpusError("too many different type systems", "fewer: import the files in parts", member.place)


def _json(member: ExportFile) -> object:
    text = member.text()
    objects = text.count("{") + text.count("[")
    if objects > 2 * _ANNOTATIONS:
        raise CorpusError(f"{objects:,} objects and lists", f"at most {2 * _ANNOTATIONS:,}: cut it", member.place)
    return parsed(text, Location(member.place), "CAS JSON")


def write(found: Iterable[Document], stream: IO[bytes]) -> None:
    """Write a zip of XMI files with their type system: tokens, sentences, and named entities with a score."""
    system = _cassis().TypeSystem()
    for name in (_TOKEN, _SENTENCE, ENTITY):
        system.create_type(name, supertypeName=ANNOTATION)
    entity = system.get_type(ENTITY)
    system.create_feature(entity, "value", STRING)
    system.create_feature(entity, _SCORE, NUMBERS[0])
    named = packed_names(found, ".xmi")
    texts = ((name, _xmi(document, marks, system)) for document, marks, name in named)
    write_zip(stream, chain(texts, [(_TYPES, system.to_xml())]))


def _xmi(document: Document, marks: Sequence[Mark], system: Any) -> str:
    cas = _cassis().Cas(typesystem=system)
    cas.sofa_string, cas.sofa_mime = document.text, "text/plain"
    for name, places in ((_TOKEN, document.tokens), (_SENTENCE, document.sentences)):
        cas.add_all(system.get_type(name)(begin=start, end=stop) for start, stop in places or ())
    entity = system.get_type(ENTITY)
    cas.add_all(entity(begin=mark.start, end=mark.stop, value=mark.label, score=mark.probability) for mark in marks)
    try:
        return str(cas.to_xmi())
    except ValueError as error:
        raise document.error(f"a text that XML cannot hold ({error})", "no control characters") from None


TOOL = Tool("inception", read, write, ".zip", binary=True)
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


def _cassis() -> ModuleType:
    return library("cassis", "dkpro-cassis", "inception")


def load_xmi(member: ExportFile, types: ExportFile) -> Any:
    """Return the library's CAS of an XMI file with the type system beside it. Raises CorpusError if it is none."""
    system, measure = _type_system(types)
    _check_xml(member)
    characters = sum(map(len, _TEXT.findall(member.data)))
    _check_size(member.data.count(b"<"), member.data.count(b":Sofa"), characters, measure, member.place)
    with _refused(member):
        return _cassis().load_cas_from_xmi(io.BytesIO(member.data), typesystem=system)


def text_of(cas: Any, member: ExportFile) -> LayeredText:
    """Return the text of a CAS; `member` is its file. Raises CorpusError if it has none."""
    with _refused(member):
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


def xmi_of(cas: Any, member: ExportFile) -> str:
    """Write a CAS; `member` is its file. Raises CorpusError for values that its types or XML cannot hold."""
    with _refused(member):
        return str(cas.to_xmi())


def _from_json(member: ExportFile, content: dict[str, Any]) -> LayeredText:
    types = content.get(TYPES, {})
    for name, features in types.items() if isinstance(types, dict) else ():
        _check_name(name, _TYPE, member.place)
        for feature in features if isinstance(features, dict) else ():
            if not feature.startswith("%"):
                _check_name(feature, _FEATURE, member.place)
    _check_json(content, _types_of(member, content), member.place)
    with _refused(member):
        types = _json_types(json.dumps({**content, CONTENT: [], _VIEWS: {}}))
        cas = _cassis().load_cas_from_json(json.dumps(content), typesystem=types, merge_typesystem=False)
    return text_of(cas, member)


@lru_cache(maxsize=2)
def _json_types(content: str) -> Any:
    return _cassis().load_cas_from_json(content).typesystem


def _types_of(member: ExportFile, content: object = None) -> Types:
    """Measure a type system in XML, or in the content of a file of CAS JSON. Raises CorpusError if it is too large."""
    if isinstance(content, dict):
        return _checked_types(dict(_declared_in_json(content.get(TYPES))), member.place)
    with _refused(member):
        return _checked_types(dict(_declared_in_xml(member)), member.place)


@lru_cache(maxsize=2)
def _type_system(member: ExportFile) -> tuple[Any, Types]:
    measure = _types_of(member)
    with _refused(member):
        system = _cassis().load_typesystem(io.BytesIO(member.data))
    for each in system.get_types(built_in=True):
        _check_name(each.name, _TYPE, member.place)
        for feature in each.all_features:
            _check_name(feature.name, _FEATURE, member.place)
    return system, measure


def _check_name(name: str | None, pattern: re.Pattern[str], place: str) -> None:
    if name is None or not pattern.fullmatch(name) or keyword.iskeyword(name):
        raise CorpusError(f"the name {name!r} of a type or feature", "letters, digits and underscores", place)


@contextmanager
def _refused(member: ExportFile) -> Iterator[None]:
    """Raise as `CorpusError` whatever the library raises: it says that the file is none."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", "Not mapping")  # an offset beyond the text, which takes time for each
        try:
            yield
        except (CorpusError, ExchangeError, MemoryError):
            raise
        except UserWarning as error:
            raise CorpusError(f"an annotation beyond the text ({error})", "offsets in it", member.place) from None
        except Exception as error:
            raise CorpusError(f"no CAS ({type(error).__name__}: {error})", "UIMA CAS", member.place) from None


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
        scored = any(each.name == _SCORE and each.rangeType.name in NUMBERS for each in features)
        score = annotation[_SCORE] if scored else None
        number = score if isinstance(score, float) and 0 < score <= 1 else 1.0
        for layer, label in values.items() if features else [(name, name)]:
            found.layers.setdefault(layer, []).append(Mark(*place, label, number))
        if features and not values:
            found.left_out[f"spans of {name} without a value"] += 1
        if any(each.rangeType.name.endswith("Array") and annotation[each.name] for each in features):
            found.left_out[f"slots of {name}"] += 1


CONTENT, TYPES = "%FEATURE_STRUCTURES", "%TYPES"
"""The keys of CAS JSON under which annotations and types stand."""
_FEATURES = 100  # of a type, inherited ones among them: compiling takes 0.2 s
_DEPTH = 50  # of types below each other
_WEIGHT = 100_000  # sum of the squares of features over all types: 2 s
_STEPS = 10_000_000  # annotations times features of the largest type
_ANNOTATIONS = 500_000
_CHARACTERS = 1 << 21
_SOFAS = 100  # texts of a document
_BUILT_IN = 3  # features of an annotation
_ENCODING = re.compile(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["'](?!utf-?8|us-ascii)""", re.IGNORECASE)
_TEXT = re.compile(rb"""sofaString\s*=\s*("[^"]*"|'[^']*')""")

Declared = Mapping[str, tuple[str, int]]
"""Types by name: the name of the type above, and the number of their own features."""


class Types(NamedTuple):
    """A type system: the features of its largest type, and a measure of the time to load it."""

    features: int
    weight: int


def _declared_in_xml(member: ExportFile) -> Iterator[tuple[str, tuple[str, int]]]:
    from lxml import etree

    _check_xml(member)
    for _, each in etree.iterparse(io.BytesIO(member.data), events=("end",), tag=("{*}typeDescription",)):
        features = sum(1 for _ in each.iterfind("{*}features/{*}featureDescription"))
        yield str(each.findtext("{*}name")).strip(), (str(each.findtext("{*}supertypeName")).strip(), features)
        each.clear()


def _declared_in_json(types: object) -> Iterator[tuple[str, tuple[str, int]]]:
    for name, each in types.items() if isinstance(types, dict) else ():
        if isinstance(each, dict):
            features = sum(1 for feature in each if not feature.startswith("%"))
            yield name, (str(each.get("%SUPER_TYPE"))[:1000], features)


def _checked_types(declared: Declared, place: str) -> Types:
    """Return the measure of a type system. Raises CorpusError if it is too large, or a type is above itself."""
    totals: dict[str, int] = {}
    for name in declared:
        chain, at = [name], declared[name][0]
        while at in declared and at not in totals:
            chain.append(at)
            at = declared[at][0]
            if len(chain) > _DEPTH:
                found = f"the type {shortened(name)} below more than {_DEPTH} others, or below itself"
                raise CorpusError(found, "types of an annotation tool", place)
        for below in reversed(chain):
            totals[below] = declared[below][1] + totals.get(declared[below][0], _BUILT_IN)
    measured = Types(max(totals.values(), default=_BUILT_IN), sum(each**2 for each in totals.values()))
    if measured.features > _FEATURES:
        raise CorpusError(f"a type with {measured.features:,} features", f"at most {_FEATURES}", place)
    if measured.weight > _WEIGHT:
        raise CorpusError(f"{len(totals):,} types of up to {measured.features} features", "fewer types", place)
    return measured


def _check_xml(member: ExportFile) -> None:
    """Raise CorpusError for XML that is not UTF-8, or has entities of its own."""
    member.text()
    if _ENCODING.match(member.data):
        raise CorpusError("an encoding of XML", "UTF-8", member.place)
    if b"<!DOCTYPE" in member.data:
        raise CorpusError("<!DOCTYPE", "XML without a document type, as UIMA writes it", member.place)


def _check_json(content: Mapping[str, Any], types: Types, place: str) -> None:
    given = content.get(CONTENT)
    found = list(given.values() if isinstance(given, dict) else given) if isinstance(given, dict | list) else []
    if not all(isinstance(each, dict) for each in found):
        raise CorpusError("a feature structure that is no object", "objects {...}", place)
    texts = [len(each["sofaString"]) for each in found if isinstance(each.get("sofaString"), str)]
    sofas = sum(each.get("%TYPE") == "uima.cas.Sofa" for each in found)
    _check_size(len(found), sofas, sum(texts), types, place)


def _check_size(annotations: int, sofas: int, characters: int, types: Types, place: str) -> None:
    most = min(_ANNOTATIONS, _STEPS // types.features)
    if annotations > most:
        found = f"{annotations:,} annotations with up to {types.features} features"
        raise CorpusError(found, f"at most {most:,}: cut the document, or export WebAnno TSV", place)
    if characters > _CHARACTERS:
        expected = f"at most {_CHARACTERS:,}: cut the document, or export WebAnno TSV"
        raise CorpusError(f"a text of {characters:,} characters", expected, place)
    if sofas > _SOFAS:
        raise CorpusError(f"{sofas:,} texts of a document", "one", place)
