"""Templates: parsing and errors, shifts of one another, and templates over the form alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.gazetteer import parse
from tagweave.features.columns import SCALAR_COLUMNS
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.lookups import Lookups
from tagweave.features.templates import Template, TemplateError, Templates, Term, seed_of


def spans(*texts: str) -> set[tuple[str, int, int]]:
    """The families of templates: terms relative to the anchor, lowest and highest offset."""
    return {(" ".join(map(str, family.terms)), family.low, family.high) for family in Templates(texts).families}


def inside(*texts: str) -> list[str]:
    return [str(template) for template in Templates(texts).inside]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("form[0]", (Term("form", 0),)),
        ("form[-1]  form[+2]", (Term("form", -1), Term("form", 2))),
        ("form[-2]==form[0]", (Term("form", -2, 2),)),
        ("form[0]==form[-1] type[1]", (Term("form", 0, -1), Term("type", 1))),
        ("user:my tag[0]".replace(" ", "-"), (Term("user:my-tag", 0),)),
        ("user:品詞[-1]", (Term("user:品詞", -1),)),
        ("prefix_4[0]", (Term("prefix_4", 0),)),
    ],
)
def test_terms_are_read(text: str, terms: tuple[Term, ...]) -> None:
    template = Template.parse(text)
    assert template.terms == terms
    assert Template.parse(str(template)) == template


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty template"),
        ("   ", "empty template"),
        ("form", r"found 'form' in template 'form', expected COLUMN\[OFFSET\]"),
        ("form[]", "expected COLUMN"),
        ("form[a]", "expected COLUMN"),
        ("form[1.5]", "expected COLUMN"),
        ("form[0]==type[0]", "expected COLUMN"),
        ("form[0]=form[1]", "expected COLUMN"),
        ("form[0]/form[1]", "expected COLUMN"),
        ("user:[0]", "expected COLUMN"),
        ("word[0]", "unknown column 'word' in 'word.0.', expected .*form"),
        ("prefix_5[0]", "unknown column 'prefix_5'"),
        ("inner[1]", "list column"),
        ("inner[0] form[1]", "list column"),
        ("inner[0] repeat[0]", "list column"),
        ("inner[0]==inner[1]", "list column"),
        ("inner[0] final[0]", "list column"),
        ("inner[0] user:x[0]", "list column"),
        ("inner[0] lexicon_ends[0]", "list column"),
        ("cluster_33[0]", r"unknown column 'cluster_33' .*cluster, cluster_N"),
        ("form[-2000000]", r"found the offset -2000000 in 'form\[-2000000\]', expected one from -32 to 32"),
        ("form[0]==form[33]", "found the offset 33"),
        (f"form[{'9' * 5000}]", "expected COLUMN"),
        ("form[0] " * 33, "found 33 terms"),
    ],
)
def test_malformed_templates_raise(text: str, message: str) -> None:
    with pytest.raises(TemplateError, match=message):
        Template.parse(text)


def test_too_many_templates_raise() -> None:
    columns = [f"user:{number}[0]" for number in range(1001)]
    assert len(Templates(tuple(columns[1:])).families) == 1000
    with pytest.raises(TemplateError, match="found 1,001 templates, expected 1,000 at most"):
        _ = Templates(tuple(columns)).parsed


def test_no_more_tokens_see_a_gram_than_its_code_can_represent() -> None:
    texts = [f"form[{offset}]" for offset in range(-16, 17)]
    assert spans(*texts) == {("form[0]", -16, -2), ("form[0]", -1, 13), ("form[0]", 14, 16)}


COLUMNS = sorted({*SCALAR_COLUMNS, "user:a"})
TERMS = st.builds(Term, st.sampled_from(COLUMNS), st.integers(-3, 3), st.sampled_from([0, 0, 1, 2, -1]))


@given(st.lists(TERMS, min_size=1, max_size=3))
def test_text_and_template_are_the_same(terms: list[Term]) -> None:
    template = Template(tuple(terms))
    assert Template.parse(str(template)) == template


@given(st.lists(TERMS, min_size=1, max_size=3), st.integers(-2, 2))
def test_shifted_templates_have_one_shape(terms: list[Term], by: int) -> None:
    template = Template(tuple(terms))
    moved = Template(tuple(Term(term.column, term.offset + by, term.reach) for term in terms))
    assert moved.shape == template.shape
    assert moved.shift == template.shift + by
    assert min(term.offset for term in template.shape) == 0


def test_shifts_are_one_family_and_a_gap_splits_it() -> None:
    assert spans("form[-1]", "form[0]", "form[1]") == {("form[0]", -1, 1)}
    assert spans("form[2]", "form[-1]", "form[1]", "form[-2]") == {("form[0]", -2, -1), ("form[0]", 1, 2)}
    assert spans("form[-1] form[0]", "form[0] form[1]") == {("form[0] form[1]", -1, 0)}
    assert spans("form[0] form[1]", "form[0] form[2]") == {("form[0] form[1]", 0, 0), ("form[0] form[2]", 0, 0)}
    assert spans("form[-2]==form[-1]", "form[-1]==form[0]") == {("form[0]==form[1]", -2, -1)}
    assert spans("form[-1] type[0]", "type[0] form[-1]") == {("form[0] type[1]", -1, -1), ("type[1] form[0]", -1, -1)}


def test_templates_of_the_form_alone_are_inside_unless_they_have_shifts() -> None:
    assert inside("form[0]", "suffix_1[0] prefix_1[0]", "inner[0]") == [
        "form[0]",
        "suffix_1[0] prefix_1[0]",
        "inner[0]",
    ]
    assert spans("form[0]", "suffix_1[0]") == set()
    assert inside("form[0]", "form[1]", "type[0]") == ["type[0]"]
    assert inside("form[0]", "form[2]") == ["form[0]"]  # no shift of it by one
    assert spans("form[0]", "form[2]") == {("form[0]", 2, 2)}


@pytest.mark.parametrize("text", ["final[0]", "user:a[0]", "form[1]", "form[0] type[1]", "form[0]==form[1]"])
def test_templates_over_more_than_the_form_are_never_inside(text: str) -> None:
    assert inside(text) == []
    assert len(Templates((text,)).families) == 1


@given(st.lists(st.lists(TERMS, min_size=1, max_size=2).map(lambda terms: str(Template(tuple(terms)))), max_size=8))
def test_every_template_is_inside_or_in_exactly_one_family(texts: list[str]) -> None:
    templates = Templates(tuple(texts))
    for template in templates.parsed:
        homes = [f for f in templates.families if f.terms == template.shape and f.low <= template.shift <= f.high]
        assert len(homes) == (template not in templates.inside)
    windows = sum(family.window for family in templates.families)
    assert windows + len(templates.inside) == len(templates.parsed) == len({str(t) for t in templates.parsed})


def test_repeats_are_dropped_and_user_columns_collected() -> None:
    templates = Templates(("form[0]", "form[+0]", "user:b[0] user:a[1]", "user:b[-1]"))
    assert [str(template) for template in templates.parsed] == ["form[0]", "user:b[0] user:a[1]", "user:b[-1]"]
    assert templates.user_columns == ("a", "b")


def test_seeds_differ_between_families_and_are_the_same_in_every_process() -> None:
    families = Templates(("form[-2]", "form[0] form[1]", "form[2]", "type[0] form[1]")).families
    assert len({family.seed for family in families}) == 4
    assert seed_of("form[0]") == 0x60FB79F3079C7B7B  # a saved model depends on it
    swapped = Templates(("type[0] form[1]", "form[2]", "form[0] form[1]", "form[-2]")).families
    assert {family.seed for family in swapped} == {family.seed for family in families}


@pytest.mark.parametrize(
    ("text", "has", "message"),
    [
        ("lexicon_ends[0]", (), "found templates over lexicon_ends, expected a lexicon with words of two characters"),
        ("form[0]", ("words",), "found a lexicon, expected templates that look at it, over lexicon_begins"),
        ("gazetteer_folded[1]", (), "found templates over gazetteer_folded, expected a gazetteer"),
        ("form[0]", ("gazetteer",), "found a gazetteer, expected templates that look at it, .*: the preset gazetteer"),
        ("cluster_4[0]", (), "found templates over cluster_4, expected clusters"),
        ("form[0]", ("clusters",), "found word clusters, expected templates that look at them"),
    ],
)
def test_templates_and_what_they_look_up_go_together(text: str, has: tuple[str, ...], message: str) -> None:
    lookups: dict[str, Any] = {"words": ("甲乙",), "gazetteer": parse(["a"]), "clusters": {"a": "1"}}
    with pytest.raises(TemplateError, match=message):
        TemplateEncoder(Templates((text,)), lookups=Lookups(**{name: lookups[name] for name in has}))
    others = [
        each for each in lookups if each not in has and (each[:7] in text or (each, text[:3]) == ("words", "lex"))
    ]
    TemplateEncoder(Templates((text,)), lookups=Lookups(**{name: lookups[name] for name in others}))
