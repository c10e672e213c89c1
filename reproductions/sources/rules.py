"""Nine of ten labelling functions for the names of CoNLL-2003, from knowledge and the text of its training part.

They know lists of first names, countries and cities from PyPI packages (`word_lists`), and what stands below; the tenth
is a lexicon of countries (`country_names`). None was fitted to labels, and none has seen the development or test data.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from tagweave.corpus.sentence import Sentence
from tagweave.sources.functions import PythonFunction

Found = Iterator[tuple[int, int, str]]

_CAPITAL = re.compile(r"[A-Z][\w'’-]*\.?|[A-Z]\.-?[A-Z]?\.?")
_NUMBER = re.compile(r"[\d.,:/+-]*\d[\d.,:/+-]*")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MORE_PLACES = _words(
    "U.S. U.S.A. USA U.K. UK Britain England Scotland Wales Russia Iran Syria Vietnam Yugoslavia Burma Zaire"
    " Bosnia Holland Macedonia Taiwan Palestine Chechnya Moldova Laos Bolivia Venezuela Tanzania Europe Asia"
    " Africa America Kashmir Kurdistan Siberia Scandinavia"
) | {"South Korea", "North Korea", "Czech Republic", "Ivory Coast", "West Indies", "Middle East", "West Bank"}
"""Countries under the names that newspapers give them, and parts of the world."""

TITLES = _words(
    "Mr Mr. Mrs Mrs. Ms Ms. Dr Dr. Sir Lord Lady President Minister Premier Chancellor Senator Sen. Rep. Gov."
    " Governor Gen. General Col. Colonel Lt. Capt. Captain Judge Justice Prince Princess King Queen Pope"
    " Archbishop Bishop Mayor Ambassador Secretary Commissioner Professor coach manager captain striker midfielder"
    " defender goalkeeper spokesman spokeswoman chairman champion skipper"
)
"""What stands before the name of a person."""

COMPANIES = _words(
    "Inc Inc. Corp Corp. Co Co. Ltd Ltd. Plc PLC AG SA NV AB Group Holdings Holding Bank Industries Airlines"
    " Airways Motors Securities Brothers Partners Newsroom Telecom Pharmaceuticals Stores Systems Technologies"
)
"""The last words of names of companies."""

INSTITUTIONS = _words(
    "Ministry University College School Party Union Council Committee Commission Agency Association Federation"
    " Institute Court Parliament Senate Congress Assembly Army Department Bureau Exchange Organisation"
    " Organization Board Front Movement Reserve Treasury Foundation Hospital Authority Society Club Times"
)
"""Words in names of institutions."""

ACRONYMS = _words(
    "U.N. UN EU NATO OPEC IMF FBI CIA PLO IRA OSCE WTO UNHCR UNICEF UEFA FIFA NBA NFL NHL ANC KDP PUK GATT ASEAN"
    " Reuters Reuter Interfax Xinhua Itar-Tass Hamas Hizbollah Taleban Taliban Unita Sinn Nasdaq NASA SEC CNN BBC"
)
"""Short names of institutions."""

DEMONYMS = _words(
    "American British English Scottish Welsh Irish French German Dutch Belgian Spanish Portuguese Italian Swiss"
    " Austrian Danish Swedish Norwegian Finnish Icelandic Polish Czech Slovak Hungarian Romanian Bulgarian Greek"
    " Turkish Cypriot Russian Ukrainian Belarussian Estonian Latvian Lithuanian Chechen Georgian Armenian Azeri"
    " Serb Serbian Croat Croatian Bosnian Slovenian Macedonian Albanian Yugoslav Israeli Palestinian Jordanian"
    " Syrian Lebanese Iraqi Iranian Kurdish Kurd Saudi Kuwaiti Yemeni Egyptian Libyan Tunisian Algerian Moroccan"
    " Sudanese Ethiopian Somali Kenyan Ugandan Tanzanian Rwandan Burundian Zairean Angolan Zambian Nigerian"
    " Ghanaian Liberian Afghan Pakistani Indian Bangladeshi Nepali Burmese Thai Vietnamese Cambodian Malaysian"
    " Indonesian Filipino Philippine Chinese Taiwanese Japanese Korean Mongolian Australian Canadian Mexican Cuban"
    " Haitian Colombian Venezuelan Peruvian Bolivian Chilean Argentine Brazilian Uruguayan Paraguayan European"
    " Asian African Arab Western Islamic Muslim Moslem Christian Catholic Protestant Jewish Jew Hutu Tutsi Tamil"
    " Basque Soviet Democrat Republican Democratic Conservative Labour Communist Socialist"
)
"""Adjectives and nouns of peoples, faiths and parties."""

EVENTS = _words(
    "Cup Open Championship Championships Prix Games Olympics Olympic League Series Trophy Masters Classic Tour"
    " War Bowl Marathon Tournament Shield Award Prize Festival"
)
"""Words in names of events."""

CALENDAR = _words(
    "January February March April June July August September October November December Monday Tuesday Wednesday"
    " Thursday Friday Saturday Sunday Jan Feb Mar Apr Jun Jul Aug Sept Oct Nov Dec"
)
NO_FIRST_NAMES = _words("Hong Major May Le Los San St Royal Crystal Miss Prince Princess Queen Louis Diego Angeles")
"""What the list of first names has, and names mostly something else."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
INSIDE = _words("of the de la le du van von der den del di da bin al and for &") | {"'s", "'", "-", "/", "."}
"""What may stand inside a name without a capital letter."""
STARTS = _words(
    "The A An In On At He She It They We I You But And If When While After Before As For From By With This That"
    " These Those There His Her Its Their Our My No Not What Who How One Two Three Some All Most Many More Other"
    " Last Next"
)
"""Common words that begin sentences."""


def rules(lists: Mapping[str, Sequence[str]]) -> list[PythonFunction]:
    """The functions that are not just a list; lists are those of `word_lists`."""
    people, countries = {*lists["first_names"]}, {*lists["countries"], *MORE_PLACES}
    cities = {name for name in lists["cities"] if name not in people | countries | STARTS | CALENDAR | INSTITUTIONS}
    names = people - countries - {*lists["cities"]} - CALENDAR - STARTS - DEMONYMS - EVENTS - NO_FIRST_NAMES

    def cities_alone(sentence: Sentence) -> Found:
        """A city that is no part of a longer name, outside of results of games; in capitals before a date."""
        forms, is_result = sentence.forms, _is_result(sentence.forms)
        for start, stop in () if is_result else _runs(forms, set()):
            first = start + (forms[start] in STARTS)
            if " ".join(forms[first:stop]) in cities:
                yield first, stop, "LOC"
            elif _DATE.fullmatch("".join(forms[stop : stop + 1])) and " ".join(forms[start:stop]).title() in cities:
                yield start, stop, "LOC"

    def first_names(sentence: Sentence) -> Found:
        """A first name, and up to three capitalised words behind it."""
        for start, form in enumerate(sentence.forms):
            stop = _run(sentence.forms, start)
            if form in names and 2 <= stop - start <= 4:
                yield start, stop, "PER"

    def person_contexts(sentence: Sentence) -> Found:
        """Capitalised words behind a title or a function, and those before a country in brackets: athletes."""
        forms = sentence.forms
        for at, form in enumerate(forms):
            if form in TITLES and at + 1 < (stop := _run(forms, at + 1)) <= at + 4:
                yield at + 1, stop, "PER"
            if (
                form == "("
                and (country := _country(forms, at + 1, countries))
                and forms[country : country + 1] == (")",)
            ):
                start = _run_before(forms, at)
                if 2 <= at - start <= 4:
                    yield start, at, "PER"

    with_lists = (cities_alone, first_names, person_contexts)
    found = (*with_lists, companies, institutions, demonyms, events, scores, plain)
    return [PythonFunction(each, each.__name__) for each in found]


def companies(sentence: Sentence) -> Found:
    """Capitalised words that end like the name of a company."""
    for start, stop in _runs(sentence.forms, {"&"}):
        first = start + (sentence.forms[start] in STARTS)
        last = max((at for at in range(first + 1, stop) if sentence.forms[at] in COMPANIES), default=None)
        if last is not None and sentence.forms[first : last + 1] != ("West", "Bank"):
            yield first, last + 1, "ORG"


def institutions(sentence: Sentence) -> Found:
    """Capitalised words with one of institutions among them, and short names."""
    for start, stop in _runs(sentence.forms, {"of", "for"}):
        own = sentence.forms[start:stop]
        if len(own) > 1 and not INSTITUTIONS.isdisjoint(own):
            yield start + (own[0] in STARTS), stop, "ORG"
    for at, form in enumerate(sentence.forms):
        if form in ACRONYMS:
            yield at, at + 1, "ORG"


def demonyms(sentence: Sentence) -> Found:
    """Peoples, faiths and parties, in singular and plural."""
    for at, form in enumerate(sentence.forms):
        if form in DEMONYMS or form.removesuffix("s") in DEMONYMS:
            yield at, at + 1, "MISC"


def events(sentence: Sentence) -> Found:
    """Capitalised words with one of events among them."""
    for start, stop in _runs(sentence.forms, set()):
        own = sentence.forms[start + (sentence.forms[start] in STARTS) : stop]
        if len(own) > 1 and not EVENTS.isdisjoint(own):
            yield stop - len(own), stop, "MISC"


def scores(sentence: Sentence) -> Found:
    """Teams: in a line of capitalised words and numbers alone, which begins with a word."""
    for start, stop in _runs(sentence.forms, set()) if _is_result(sentence.forms) else ():
        if stop - start <= 3:
            yield start, stop, "ORG"


def plain(sentence: Sentence) -> list[str | None]:
    """No name: words without a capital letter, numbers, punctuation, dates, common words that begin sentences."""
    return [_outside(sentence.forms, at) for at in range(len(sentence))]


def docstrings() -> dict[str, str]:
    """What each function finds."""
    nothing: Mapping[str, Sequence[str]] = {"first_names": (), "countries": (), "cities": ()}
    found = {each.name: (each.function.__doc__ or "").rstrip(".") for each in rules(nothing)}
    return {"countries": "A lexicon: countries, and parts of the world, as they stand and in capitals", **found}


def country_names(lists: Mapping[str, Sequence[str]]) -> list[str]:
    """The phrases of the function that is a lexicon; in headlines and datelines they stand in capitals."""
    names = {*lists["countries"], *MORE_PLACES}
    return sorted({*names, *(name.upper() for name in names)})


def _is_result(forms: Sequence[str]) -> bool:
    """Whether a line begins with a capitalised word, and has nothing but these and two numbers or more."""
    numbers = sum(_NUMBER.fullmatch(form) is not None for form in forms)
    return _is_capital(forms[0]) and numbers >= 2 and numbers + sum(map(_is_capital, forms)) == len(forms)


def _is_capital(form: str) -> bool:
    return _CAPITAL.fullmatch(form) is not None and form not in CALENDAR


def _run(forms: Sequence[str], start: int) -> int:
    """Where the capitalised words end that begin at a token."""
    stop = start
    while stop < len(forms) and _is_capital(forms[stop]):
        stop += 1
    return stop


def _run_before(forms: Sequence[str], stop: int) -> int:
    start = stop
    while start and _is_capital(forms[start - 1]):
        start -= 1
    return start


def _runs(forms: Sequence[str], inside: Collection[str]) -> Iterator[tuple[int, int]]:
    """Runs of capitalised words, perhaps with some of these words inside."""
    at = 0
    while at < len(forms):
        stop = _run(forms, at)
        while stop > at and stop + 1 < len(forms) and forms[stop] in inside and _is_capital(forms[stop + 1]):
            stop = _run(forms, stop + 1)
        if stop > at:
            yield at, stop
        at = max(stop, at + 1)


def _country(forms: Sequence[str], start: int, countries: Collection[str]) -> int | None:
    """Where a country ends that begins at a token."""
    stops = (stop for stop in range(start + 3, start, -1) if " ".join(forms[start:stop]) in countries)
    return next(stops, None)


def _outside(forms: Sequence[str], at: int) -> str | None:
    form = forms[at]
    if form in INSIDE:
        around = (*forms[max(at - 1, 0) : at], *forms[at + 1 : at + 2])
        return None if len(around) == 2 and all(each[0].isupper() for each in around) else "O"
    is_start = at == 0 and form in STARTS
    return "O" if is_start or form in CALENDAR or not any(character.isupper() for character in form) else None
