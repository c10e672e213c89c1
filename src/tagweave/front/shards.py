"""Folders of files (shards) through a model or a harvest, on many processes or machines."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tagweave.cluster.executor import executor_at
from tagweave.cluster.shared_file import SharedFile
from tagweave.errors import ShardError
from tagweave.front.harvest import harvest_markup_files, lexicon_matcher, paths, write_partial
from tagweave.front.model import File, Model
from tagweave.front.options import TO_CONVERT, TO_LABEL, ConvertOptions, LabelOptions, Place, options_of
from tagweave.harvest.options import HarvestOptions, LexiconOptions, MarkupOptions
from tagweave.options import declared, taking
from tagweave.shards.listing import ShardFolder, scheme_of, split_url
from tagweave.shards.run import Counts, prepare, run

if TYPE_CHECKING:
    from tagweave.cluster.executor import Executor
    from tagweave.harvest.matching import LexiconMatcher
    from tagweave.shards.run import Work

_PLACE = declared({"": Place})
Command = Literal["tag", "complete", "convert"]


@taking(_PLACE + TO_LABEL)
def label_files(model: Model | File, inputs: File | Iterable[File], output: File, **options: Any) -> Counts:
    """Label files, folders and patterns of files, as `tagweave tag --cluster` does.

    Every input file (shard) becomes a file of the same name below `output`, with a manifest in `output/_tagweave`. A
    run that was interrupted continues where it stood.

    Args:
        model: the model, or its file, a path or URL.
        inputs: files, folders, or patterns (`in/*.txt.gz`), also by URL (`s3://BUCKET/in/*`). Text, any format of
            corpora, and tables with a column of text: Parquet and JSON Lines. PATTERN#LAYER names a layer.
        output: the folder, a path or URL.
        options: where to work, the `threads` of a worker, `progress`, which is called whenever a shard is done, and how
            to label; the models of `then` are files.

    Returns:
        the counts of the run.

    Raises:
        ShardError: no shards, an output folder of other work, or a bad shard (unless `skip_bad`).
        ClusterError: the cluster cannot be reached, or workers died.
        StreamError: options that do not go together.
        TypeError: an unknown option.
    """
    return _through_model("tag", model, inputs, output, options)


@taking(_PLACE + TO_LABEL)
def complete_files(model: Model | File, inputs: File | Iterable[File], output: File, **options: Any) -> Counts:
    """Fill in the unknown positions of corpora, as `tagweave complete --cluster` does: see `label_files`."""
    return _through_model("complete", model, inputs, output, options)


@taking(_PLACE + TO_CONVERT)
def convert_files(
    model: Model | File, inputs: File | Iterable[File], output: File, to: str | None = None, **options: Any
) -> Counts:
    """Convert corpora to another guideline, as `tagweave convert --cluster` does: see `label_files`.

    `options` may not have `review`; `inputs` are `[GUIDELINE=]PATTERN[#LAYER]`.
    """
    return _through_model("convert", model, inputs, output, {**options, "to": to})


@taking(_PLACE + declared({"": LexiconOptions}))
def harvest_lexicon_shards(
    inputs: File | Iterable[File], lexicons: File | Iterable[File], output: File, **options: Any
) -> Counts:
    """Mark words of lexicons in folders of raw text, as `tagweave harvest lexicon --cluster` does: see `label_files`.

    `options` may not have `like` and `sample`, which choose among all sentences.
    """
    place, own = _divided(options)
    settings = options_of(LexiconOptions, "tw.harvest_lexicon_shards", own)
    return _harvest(place, settings, tuple(map(SharedFile.of, paths(lexicons))), inputs, output)


@taking(_PLACE + declared({"": MarkupOptions}))
def harvest_markup_shards(pages: File | Iterable[File], output: File, **options: Any) -> Counts:
    """Turn the markup of folders of pages into partial annotation, as `tagweave harvest markup --cluster` does.

    Every page becomes a file; sentences that occur twice are left out of a page, but not of all pages. See
    `label_files`; `options` may not have `like` and `sample`.
    """
    place, own = _divided(options)
    return _harvest(place, options_of(MarkupOptions, "tw.harvest_markup_shards", own), (), pages, output)


def _harvest(
    place: Place, options: HarvestOptions, lexicons: tuple[SharedFile, ...], inputs: File | Iterable[File], output: File
) -> Counts:
    if options.like or options.sample is not None:
        raise ShardError("found `like` or `sample` with `cluster`, expected it without: a shard is read on its own")
    return _carried_out(place, _HarvestWork(lexicons, options), paths(inputs), output)


def _carried_out(place: Place, work: Work, inputs: Iterable[str], output: File) -> Counts:
    """Do the work; workers are started only if there is something to do."""
    prepared = prepare(work, inputs, fspath(output), place.text_column)
    if not prepared.waiting:
        return Counts.before_run(prepared)
    with executor_at(place.cluster, place.workers, place.threads) as executor:
        return run(executor, prepared, place.skip_bad, place.progress)


def _divided(options: Mapping[str, Any]) -> tuple[Place, dict[str, Any]]:
    """Separate the options on where to work from all others."""
    names = Place.__dataclass_fields__
    place = {name: value for name, value in options.items() if name in names}
    return Place(**place), {name: value for name, value in options.items() if name not in names}


def _patterns(inputs: File | Iterable[File], has_guideline: bool) -> tuple[list[str], str | None, str | None]:
    """Return the patterns of `[GUIDELINE=]PATTERN[#LAYER]`, and the guideline and layer that all of them name."""
    parsed = [_parsed(each, has_guideline) for each in paths(inputs)]
    names = {(guideline, layer) for _, guideline, layer in parsed}
    if len(names) > 1:
        raise ShardError("found inputs of several guidelines or layers, expected one: a run is of one kind")
    [(guideline, layer)] = names or {(None, None)}
    return [pattern for pattern, *_ in parsed], guideline, layer


def _parsed(argument: str, has_guideline: bool) -> tuple[str, str | None, str | None]:
    """Return pattern, guideline and layer of an argument; a folder may be called `year=2026` or `a#b`."""
    if Path(argument).exists():
        return argument, None, None
    pattern, sign, layer = argument.rpartition("#")
    if not sign or not pattern or "/" in layer:
        pattern, layer = argument, ""
    guideline, sign, rest = pattern.partition("=")
    if not has_guideline or not sign or "/" in guideline:
        return pattern, None, layer or None
    return rest, guideline, layer or None


def _through_model(
    command: Command, model: Model | File, inputs: File | Iterable[File], output: File, options: Mapping[str, Any]
) -> Counts:
    place, own = _divided(options)
    then = paths(own.pop("then", ()))
    settings = _settings(command, own)
    patterns, guideline, layer = _patterns(inputs, command == "convert")
    with ExitStack() as stack:
        models = tuple(SharedFile.of(stack.enter_context(_file_of(each))) for each in (model, *then))
        work = _ModelWork(command, models, settings, place.threads, guideline, layer)
        return _carried_out(place, work, patterns, output)


def _settings(command: Command, options: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return the options that differ from their defaults, checked before anything is started."""
    if options.get("review"):
        raise ShardError("found `review` with `cluster`, expected it without: shards are reviewed one by one")
    own = {name: value for name, value in options.items() if name != "to" or command != "convert"}
    kind = ConvertOptions if command == "convert" else LabelOptions
    values, usual = kind(**own), kind()
    changed = [(name, tuple(v) if isinstance(v := getattr(values, name), list) else v) for name in own]
    settings = [(name, value) for name, value in changed if value != getattr(usual, name)]
    return tuple(sorted(settings + ([("to", options["to"])] if command == "convert" and options.get("to") else [])))


@contextmanager
def _file_of(model: Model | File) -> Iterator[str]:
    """A local file of a model, which may be in memory, or elsewhere by its URL. Raises ModelFileError if it is none."""
    from tagweave.models.hub import model_file
    from tagweave.models.storage import describe_model

    with tempfile.TemporaryDirectory(prefix="tagweave-") as folder:
        path = str(Path(folder) / "model")
        if isinstance(model, Model):
            model.save(path)
        elif scheme_of(fspath(model)):
            parent, name = split_url(fspath(model))
            with ShardFolder(parent).readable(name) as copy:
                shutil.copyfile(copy, path)
        else:
            path = model_file(fspath(model))
        describe_model(path)  # a file that is no model is no fault of the shards
        yield path


@dataclass(frozen=True)
class _ModelWork:
    """A shard through models, as `Model.label_file` and its siblings take a file."""

    command: Command
    models: tuple[SharedFile, ...]
    settings: tuple[tuple[str, Any], ...]
    threads: int
    guideline: str | None
    layer: str | None

    def describe(self) -> dict[str, Any]:
        return {
            "command": self.command,
            "models": [each.sha256 for each in self.models],
            "options": {name: list(value) if isinstance(value, tuple) else value for name, value in self.settings},
            "guideline": self.guideline,
            "layer": self.layer,
        }

    def shared(self, executor: Executor) -> _ModelWork:
        return replace(self, models=tuple(map(executor.share, self.models)))

    def carry_out(self, source: str, target: str) -> list[str]:
        notes: list[str] = []
        model = _loaded(self.models[0], self.threads)
        model.tell = notes.append
        name = "" if self.guideline is None else f"{self.guideline}="
        argument = name + source + ("" if self.layer is None else f"#{self.layer}")
        options = dict(self.settings)
        if self.command == "convert":
            model.convert_file(argument, target, options.pop("to", None), **options)
        else:
            then = [_loaded(each, self.threads) for each in self.models[1:]]
            work = model.complete_file if self.command == "complete" else model.label_file
            work(argument, target, then=then, **options)
        return notes


@cache
def _loaded(file: SharedFile, threads: int) -> Model:
    """A model, whose weights the workers of a machine share."""
    from tagweave.front.model import load_model

    return load_model(file.local(), threads, shared=True)


@dataclass(frozen=True)
class _HarvestWork:
    """Raw text through lexicons or, without any, a page through its markup, as from files to a file."""

    lexicons: tuple[SharedFile, ...]
    options: HarvestOptions

    def describe(self) -> dict[str, Any]:
        lexicons = [each.sha256 for each in self.lexicons]
        return {"command": "harvest", "lexicons": lexicons, "options": {**asdict(self.options), "like": []}}

    def shared(self, executor: Executor) -> _HarvestWork:
        return replace(self, lexicons=tuple(map(executor.share, self.lexicons)))

    def carry_out(self, source: str, target: str) -> list[str]:
        from tagweave.corpus.files import read_lines
        from tagweave.harvest.matching import LexiconHarvest

        if self.lexicons:
            harvest = LexiconHarvest(_matcher(self), self.options.every)
            write_partial(harvest.of(read_lines(source), source), target)
        else:
            harvest_markup_files(source, target, **asdict(self.options))
        return []


@cache
def _matcher(work: _HarvestWork) -> LexiconMatcher:
    from tagweave.harvest.lexicon import read

    assert isinstance(work.options, LexiconOptions)  # noqa: S101 - lexicons come with them
    return lexicon_matcher((read(each.local()) for each in work.lexicons), work.options)
