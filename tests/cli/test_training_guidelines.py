"""Whose guideline a training corpus follows: names tell, then the method, then the tags; what was guessed is said."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest
from model_files import write

from loaded_sources import loaded_file
from tagweave.errors import CorpusError, PlanError
from tagweave.training.corpora import TrainingData
from tagweave.training.guidelines import development_data, overlap_lines, training_data
from tagweave.training.inspection import unknown_labels
from tagweave.training.methods import METHODS


@pytest.fixture
def files(tmp_path):
    """Corpora `a` and `b` of one tag set, `c` of another, `d` of both, `e` without tags, and more formats."""
    lines = {"a": "x/N y/V", "b": "z/V w/A v/N", "c": "x/n y/v z/N", "d": "x_n|N y_v|V", "e": "x y"}
    found = {name: write(tmp_path / f"{name}.txt", [line]) for name, line in lines.items()}
    found["kytea"] = write(tmp_path / "k.kytea", ["我|们", "他"])
    found["conllu"] = write(tmp_path / "u.conllu", ["1\tx\t_\tN\tn" + "\t_" * 5, ""])
    found["both"] = write(tmp_path / "t.tsv", ["# columns = form ctb pd", "x\tN\tn", ""])
    return SimpleNamespace(**found)


@dataclass(frozen=True)
class Data(TrainingData):
    """Training data with the name of their method."""

    method: str = ""

    @classmethod
    def of(cls, told, method):
        return cls(**vars(told), method=method.name)


def data(training, sources=(), method=None, task="tag"):
    def read(arguments):
        return [loaded_file(str(argument), task) for argument in arguments]

    return Data.of(*training_data(read(training), read(sources), method))


def names(told):
    return [file.guideline for file in told.files]


def test_one_guideline_is_ordinary(files):
    told = data([files.a, files.b])
    assert (told.method, names(told), told.notes) == ("single", ["tag", "tag"], ())
    named = data([f"g={files.a}"], [f"g={files.c}"])
    assert (named.method, names(named), named.notes) == ("single", ["g", "g"], ())


def test_another_name_is_another_guideline(files):
    told = data([f"ctb={files.a}"], [f"pd={files.c}", f"ctb={files.b}"])
    assert told.method == "coupled" and names(told) == ["ctb", "pd", "ctb"]
    assert told.guidelines == ("ctb", "pd")
    assert [each.path for each in told.targets] == [str(files.a), str(files.b)]
    assert [each.path for each in told.sources] == [str(files.c)]
    assert told.notes == ("method coupled, for corpora of ctb and pd",)


def test_a_name_on_one_side_tells_it_from_a_file_without(files):
    assert names(data([f"ctb={files.a}"], [files.c])) == ["ctb", "tag"]
    assert names(data([files.a], [f"pd={files.b}"])) == ["tag", "pd"]
    assert names(data([files.a], [f"{files.both}#pd"])) == ["tag", "pd"]
    assert names(data([f"{files.conllu}#upos"], [f"{files.conllu}#xpos"])) == ["upos", "xpos"]


@pytest.mark.parametrize(("source", "foreign"), [("b", False), ("c", True), ("d", False), ("e", False)], ids=str)
def test_without_names_and_method_the_tags_tell(files, source, foreign):
    file = vars(files)[source]
    told = data([files.a], [file])
    if foreign:
        assert told.method == "coupled" and names(told) == ["target", "source"]
        assert told.notes == (
            f"{file} is taken as of another guideline: its labels are not {files.a}'s",
            "the guidelines are called 'target' and 'source' (corpora can be named: GUIDELINE=FILE)",
            "method coupled, for corpora of target and source",
        )
    else:
        assert told.method == "single" and names(told) == ["tag", "tag"]
        how = " (corpora can be named: GUIDELINE=FILE)"
        if source in "bd":
            strange = {"b": "A, 33 %", "d": "n v, 50 %"}[source]
            how = f", which has no label {strange} of its labels; it is another guideline with `sources=NAME={file}`"
        assert told.notes == (f"{file} is taken as of the guideline of {files.a}{how}",)


def test_relations_of_trees_tell_as_tags_do(tmp_path):
    own, other = tree_rows(("x", "N"), deprel="nsubj"), tree_rows(("x", "N"), deprel="subj")
    trees = {"own": own, "other": other, "both": own + other}
    own, other, both = (write(tmp_path / f"{name}.conllu", rows) for name, rows in trees.items())
    assert names(data([own], [other], task="parse")) == ["target", "source"]
    told = data([own], [both], task="parse")
    assert names(told) == ["head", "head"]
    assert f" of {own}, which has no label subj, 50 % of its labels; it is another" in told.notes[0]


def test_other_types_of_spans_are_another_guideline_unless_it_is_told_what_was_looked_for(tmp_path):
    paths = [tmp_path / "a.conll", tmp_path / "b.conll"]
    for path, name in zip(paths, ("PER", "ORG"), strict=True):
        write(path, ["in\tO", "at\tO", f"Ann\tB-{name}", ""])
    assert names(data(paths[:1], paths[1:], task="spans")) == ["target", "source"]
    target, source = (loaded_file(str(path), "spans") for path in paths)
    source = replace(source, corpus=source.corpus.covering("ORG"))
    assert names(training_data([target], [source], None)[0]) == ["tag", "tag"]


def test_a_source_of_each_kind(files):
    told = data([files.a], [files.b, files.c, f"ud={files.d}"])
    assert names(told) == ["target", "target", "source", "ud"]
    assert told.corpora[2].sentences[0].layers == {"source": (("n",), ("v",), ("N",))}


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.several])
def test_a_method_for_several_guidelines_tells_that_a_source_is_of_another(files, method):
    told = data([files.a, files.b], [files.b], method)
    assert (told.method, names(told)) == (method, ["target", "target", "source"])
    assert told.notes == ("the guidelines are called 'target' and 'source' (corpora can be named: GUIDELINE=FILE)",)
    assert data([f"x={files.a}"], [f"y={files.b}"], method).notes == ()


def test_the_method_ordinary_tells_that_it_is_of_the_same(files):
    told = data([files.a], [files.c], "single")
    assert (names(told), told.notes) == (["tag", "tag"], ())


def test_boundaries_are_of_the_same_guideline_unless_tags_differ(files):
    assert names(data([files.a], [files.kytea], task="segment")) == ["segmentation"] * 2
    told = data([files.a], [files.c], task="segment")
    assert (told.method, names(told)) == ("coupled", ["target", "source"])
    coupled = data([files.a], [files.kytea], "coupled", "segment")
    assert set(coupled.corpora[1].sentences[0].layers) >= {"source"}


@pytest.mark.parametrize(
    ("training", "sources", "method", "line"),
    [
        (["g={a}", "h={b}"], [], None, "expected 'g' as in {a}; corpora of other guidelines are given by `sources`"),
        (["g={a}", "{b}"], [], None, "{b}: found the guideline 'tag', expected 'g' as in {a}"),
        (["g={a}"], ["h={b}"], "single", "found the guideline 'h', expected 'g' as in {a}, for `method=single`"),
        (["{a}"], [], "coupled", "found corpora of 'tag', expected `sources` of another guideline, for `method=coupl"),
        (["g={a}"], ["g={b}"], "merged", "found corpora of 'g', expected `sources` of another guideline"),
        (["g={a}"], ["h={b}", "i={c}"], "stacked", "'g' and 'h' and 'i', expected `sources` of one other guideline"),
    ],
)
def test_what_a_method_cannot_use(files, training, sources, method, line):
    arguments = [[each.format(**vars(files)) for each in group] for group in (training, sources)]
    with pytest.raises(PlanError) as error:
        data(*arguments, method)
    assert line.format(**vars(files)) in str(error.value)
    assert str(error.value).endswith("(corpora can be named: GUIDELINE=FILE)")


def test_a_layer_in_the_way_of_a_name(files, tmp_path):
    table = write(tmp_path / "x.tsv", ["# columns = form source tag", "x\tN\tn", ""])
    with pytest.raises(CorpusError, match="found a layer 'source' beside 'tag', expected a name for the guideline"):
        data([files.a], [table])


# Development data


def dev_name(told, training, dev):
    first, file = (loaded_file(str(each), "tag") for each in (training, dev))
    return development_data(told, METHODS[told.method], file, first).guideline


def test_development_data_without_a_name_are_of_the_target(files):
    assert dev_name(data([files.a]), files.a, files.b) == "tag"
    assert dev_name(data([f"g={files.a}"]), f"g={files.a}", files.b) == "g"
    assert dev_name(data([files.a], [files.c]), files.a, files.b) == "target"


def test_development_data_of_a_source_serve_a_coupled_model_alone(files):
    corpora = [f"g={files.a}"], [f"h={files.c}"]
    assert dev_name(data(*corpora), f"g={files.a}", f"h={files.c}") == "h"
    for method in ("stacked", "merged"):
        with pytest.raises(PlanError, match="development data of the guideline 'h', expected 'g' "):
            dev_name(data(*corpora, method), f"g={files.a}", f"h={files.c}")


def test_development_data_of_a_guideline_that_the_model_lacks(files):
    with pytest.raises(PlanError, match="found development data of the guideline 'x', expected 'g' or 'h'"):
        dev_name(data([f"g={files.a}"], [f"h={files.c}"]), f"g={files.a}", f"x={files.b}")


@pytest.mark.parametrize("method", ["single", "stacked"])
def test_development_data_of_a_plain_model_are_of_its_guideline(files, method):
    told = data([f"g={files.a}"], [f"h={files.c}"] if method == "stacked" else [], method)
    with pytest.raises(PlanError, match=r"guideline 'x', expected 'g' as in .*a.txt: say g=.*b.txt if it is that"):
        dev_name(told, f"g={files.a}", f"x={files.b}")


@pytest.mark.parametrize("name", ["", "g="])
def test_development_data_of_another_field_are_refused(files, tmp_path, name):
    rows = ["1\tx\t_\tN\tn" + "\t_" * 5, ""]
    dev, other = write(tmp_path / "dev.conllu", rows), write(tmp_path / "d.txt", ["x/N"])
    training = f"{name}{dev}#xpos"
    told = data([training])
    with pytest.raises(PlanError, match=rf"the guideline 'upos'.*expected '(xpos|g)' as in .*: say {dev}#xpos"):
        dev_name(told, training, dev)
    assert dev_name(told, training, f"{dev}#xpos") == told.target
    if not name:
        with pytest.raises(PlanError, match=rf"the guideline 'tag', expected 'xpos' as in .*: say xpos={other}"):
            dev_name(told, training, other)
        assert dev_name(told, training, f"xpos={other}") == "xpos"


def test_labels_of_development_data_that_training_lacks_are_told_where_they_are_many(files, tmp_path):
    told = data([files.a], [files.c])
    strange = write(tmp_path / "dev.txt", ["x/N y/V z/N x/Q y/R z/R v"])
    file = development_data(
        told, METHODS[told.method], loaded_file(str(strange), "tag"), loaded_file(str(files.a), "tag")
    )
    assert [*unknown_labels(told, file)] == [
        f"warning: {strange}: the training corpora lack labels at 50.0 % of its positions, which count as wrong: R Q"
    ]
    assert [*unknown_labels(told, told.files[0])] == []


def test_a_model_of_spans_has_o_and_every_letter_of_its_types(tmp_path):
    marked = write(tmp_path / "marked.conll", ["Ann\tB-PER", "left\t_", "", "Bo\tB-PER", ""])
    rows = ["Ann\tB-PER", "Bo\tI-PER", "left\tO", "York\tB-LOC", ""]
    dev = loaded_file(str(write(tmp_path / "dev.conll", rows)), "spans")
    told = data([marked], task="spans")
    [line] = unknown_labels(told, development_data(told, METHODS[told.method], dev, told.files[0]), "spans")
    assert line.endswith("at 25.0 % of its positions, which count as wrong: B-LOC")


def test_what_is_assumed_of_a_format_is_told(tmp_path):
    plain = write(tmp_path / "plain.txt", ["he/she said and/or 3/4 km/h"])
    told = loaded_file(str(plain), "segment").note
    assert told.startswith(f"{plain} is read as words: 4 of its first 5 have a / in them, and what is behind it is not")
    told = loaded_file(str(plain), "tag", "tagged").note
    assert told == f"{plain} is read as tagged, layer tag; first row: form=he tag=she"
    partial = write(tmp_path / "partial.txt", ["x/N y z/V w"])
    told = loaded_file(str(partial), "tag").note
    what = "words with labels, which 2 of its first 4 words have"
    assert told == f"{partial} is read as {what}, layer tag; first row: form=x tag=N"


# What few tokens share


def overlap(tmp_path, task, first, second, method=None):
    paths = [write(tmp_path / name, text) for name, text in (("a.conllu", first), ("b.conllu", second))]
    arguments = [f"{path.stem}={path}" for path in paths]
    told = data(arguments[:1], arguments[1:], method, task)
    found = overlap_lines(told, METHODS[told.method], task)
    return [line.replace(f"{tmp_path}/", "") for line in found]


def tree_rows(*tokens, deprel="dep"):
    return [*(f"{n}\t{form}\t_\t{tag}\t_\t_\t{n - 1}\t{deprel}\t_\t_" for n, (form, tag) in enumerate(tokens, 1)), ""]


@pytest.mark.parametrize(
    ("task", "method", "line"),
    [
        ("parse", "stacked", "tags of upos with TRAIN, 33 % of its tokens': its trees come with tags that"),
        ("tag", "merged", "labels with TRAIN, 33 % of its tokens': `method=coupled` tells them apart"),
        ("segment", "merged", "words with TRAIN, 33 % of its tokens': it is segmented in another style"),
    ],
)
def test_what_few_tokens_share_is_told(tmp_path, task, method, line):
    own = tree_rows(("ab", "N"), ("c", "V"), ("d", "V"))
    (found,) = overlap(tmp_path, task, own, tree_rows(("ab", "N"), ("cd", "verb")), method)
    assert found.startswith(f"b.conllu shares few {line}")
    assert overlap(tmp_path, task, own, tree_rows(("ab", "N"), ("c", "V")), method) == []


def test_labels_of_two_guidelines_differ_as_a_matter_of_course(tmp_path):
    assert overlap(tmp_path, "tag", tree_rows(("ab", "N")), tree_rows(("cd", "noun"))) == []
