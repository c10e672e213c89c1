"""Many files through a model or a harvest, each into a file of its name in a folder: on processes, or on Ray."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from os import fspath
from typing import TYPE_CHECKING, Any, Literal

from tagweave.corpus.files import read_lines
from tagweave.errors import ManyFilesError
from tagweave.front.corpora import paths
from tagweave.front.harvest import harvest_markup_files, lexicon_matcher, write_partial
from tagweave.front.loading import load_models
from tagweave.front.options import TO_CONVERT, TO_LABEL, ConvertOptions, LabelOptions, ManyFilesOptions, options_of
from tagweave.harvest.lexicon import read
from tagweave.harvest.matching import LexiconHarvest
from tagweave.harvest.options import HarvestOptions, LexiconOptions, MarkupOptions
from tagweave.models.hub import model_file
from tagweave.models.storage import describe_model
from tagweave.options import declared, taking
from tagweave.streams.many_files import FileCounts, Work, carry_out, file_tasks

if TYPE_CHECKING:
    from tagweave.front.model import File, Model
    from tagweave.harvest.matching import LexiconMatcher

_PLACE = declared({"": ManyFilesOptions})
Command = Literal["tag", "complete", "convert"]


@taking(_PLACE + TO_LABEL)
def label_files(model: File, inputs: File | Iterable[File], output: File, **options: Any) -> FileCounts:
    """Label many files, each into a file of its name below `output`, as `tagweave tag --processes` does.

    Files whose output is there are left out, so a call that was interrupted goes on when it is repeated. Every process
    reads the model from its file; the processes of a machine share the memory of its weights.

    Args:
        model: the file of the model.
        inputs: `PATH[#LAYER]`, where PATH is a file, a folder, or a pattern such as `in/*.txt.gz`.
        output: the folder.
        options: where the work is done, with `threads` for each file; `int8`, as for `load_model`; `progress(done,
            total)` and `tell(line)`; and how to label. The models of `then` are files.

    Returns:
        how many files were written, and how many were there before.

    Raises:
        ManyFilesError: no files, files that could not be finished (after all others), or no such Ray cluster.
        ModelFileError: not a model.
        StreamError: options that do not go together.
        TypeError: an unknown option.
    """
    return _through_model("tag", model, inputs, output, options)


@taking(_PLACE + TO_LABEL)
def complete_files(model: File, inputs: File | Iterable[File], output: File, **options: Any) -> FileCounts:
    """Fill in the unknown positions of many corpora, as `tagweave complete --processes` does: see `label_files`."""
    return _through_model("complete", model, inputs, output, options)


@taking(_PLACE + TO_CONVERT)
def convert_files(
    model: File, inputs: File | Iterable[File], output: File, to: str | None = None, **options: Any
) -> FileCounts:
    """Convert many corpora to another guideline, as `tagweave convert --processes` does: see `label_files`.

    `options` may not have `review`; `inputs` are `[GUIDELINE=]PATH[#LAYER]`.
    """
    return _through_model("convert", model, inputs, output, {**options, "to": to})


@taking(_PLACE + declared({"": LexiconOptions}))
def harvest_lexicon_folder(
    inputs: File | Iterable[File], lexicons: File | Iterable[File], output: File, **options: Any
) -> FileCounts:
    """Mark words of lexicons in many files of raw text, as `tagweave harvest lexicon --processes` does.

    See `label_files`. `options` may not have `like` and `sample`, which choose among all sentences.
    """
    place, work_options = _divided(options)
    settings = options_of(LexiconOptions, "tw.harvest_lexicon_folder", work_options)
    return _harvest(HarvestWork(tuple(paths(lexicons)), settings), inputs, output, place)


@taking(_PLACE + declared({"": MarkupOptions}))
def harvest_markup_folder(pages: File | Iterable[File], output: File, **options: Any) -> FileCounts:
    """Turn the markup of many pages into partial annotation, as `tagweave harvest markup --processes` does.

    Every page becomes a file; sentences that occur twice are left out of a page, but not of all pages. See
    `label_files`; `options` may not have `like` and `sample`.
    """
    place, work_options = _divided(options)
    return _harvest(
        HarvestWork((), options_of(MarkupOptions, "tw.harvest_markup_folder", work_options)), pages, output, place
    )


def _harvest(work: HarvestWork, inputs: File | Iterable[File], output: File, place: ManyFilesOptions) -> FileCounts:
    if work.options.like or work.options.sample is not None:
        raise ManyFilesError("found `like` or `sample` with many files, expected it without: a file is read by itself")
    return _carried_out(replace(work, options=replace(work.options, like=())), inputs, output, place)


def _through_model(
    command: Command, model: File, inputs: File | Iterable[File], output: File, options: Mapping[str, Any]
) -> FileCounts:
    place, work_options = _divided(options)
    if work_options.get("review"):
        raise ManyFilesError("found `review` with many files, expected it without: it lists the tokens of one file")
    models = tuple(model_file(fspath(path)) for path in (model, *paths(work_options.pop("then", ()))))
    checked = {name: value for name, value in work_options.items() if name != "to" or command != "convert"}
    (ConvertOptions if command == "convert" else LabelOptions)(**checked)
    for path in models:
        describe_model(path)  # a file that is no model is no fault of the inputs
    if place.int8:
        load_models(models, int8=True)  # or every process would convert them
    return _carried_out(
        ModelWork(command, models, place.threads, work_options, place.int8), inputs, output, place, command == "convert"
    )


def _carried_out(
    work: Work, inputs: File | Iterable[File], output: File, place: ManyFilesOptions, has_guideline: bool = False
) -> FileCounts:
    tasks = file_tasks(paths(inputs), fspath(output), has_guideline)
    return carry_out(work, tasks, place.processes, place.ray, place.threads, place.progress, place.tell)


def _divided(options: Mapping[str, Any]) -> tuple[ManyFilesOptions, dict[str, Any]]:
    """Separate the options on where to work from all others."""
    names = [field.name for field in fields(ManyFilesOptions)]
    place_values = {name: value for name, value in options.items() if name in names}
    return ManyFilesOptions(**place_values), {name: value for name, value in options.items() if name not in names}


@dataclass(frozen=True)
class ModelWork:
    """A file through models, as `Model.label_file` and its siblings take it."""

    command: Command
    models: tuple[str, ...]
    threads: int
    options: Mapping[str, Any]
    int8: bool = False

    def __call__(self, source: str, target: str) -> list[str]:
        notes: list[str] = []
        model, *then = _loaded(self.models, self.threads, self.int8)
        model.tell = notes.append
        if self.command == "convert":
            model.convert_file(source, target, **self.options)
        else:
            work = model.complete_file if self.command == "complete" else model.label_file
            work(source, target, then=then, **self.options)
        return notes


@cache
def _loaded(paths: tuple[str, ...], threads: int, int8: bool) -> list[Model]:
    return load_models(paths, threads, shared=True, int8=int8)


@dataclass(frozen=True)
class HarvestWork:
    """Raw text through lexicons or, without any, a page through its markup."""

    lexicons: tuple[str, ...]
    options: HarvestOptions

    def __call__(self, source: str, target: str) -> list[str]:
        if isinstance(self.options, LexiconOptions):
            harvest = LexiconHarvest(_matcher(self.lexicons, self.options), self.options.every)
            write_partial(harvest.of(read_lines(source), source), target)
        else:
            harvest_markup_files(source, target, **asdict(self.options))
        return []


@cache
def _matcher(lexicons: tuple[str, ...], options: LexiconOptions) -> LexiconMatcher:
    return lexicon_matcher(map(read, lexicons), options)
