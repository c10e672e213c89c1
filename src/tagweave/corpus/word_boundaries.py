r"""Words of a text in any script, by Unicode's word boundaries (UAX 29), which the library `regex` knows.

Added to these are the tokens that no tagger wants in pieces: URLs, e-mail addresses, `@names`, `#tags`, abbreviations
with full stops (`U.S.`), initials, titles (`Dr.`), numbers with signs inside (`10:30`, `24/7`, `2001-02-03`), `AT&T`,
`C++`, emoticons, and the same sign several times (`...`, `--`, `!!!`). Any other sign is a token of its own.

A token never ends inside of a grapheme cluster, and always has a character that can be seen: combining marks, joiners,
variation selectors and other format characters belong to the characters around them, or, at its ends, to no token.
In scripts without blanks between words (Han, Hiragana, Thai, Lao, Khmer, Burmese) a token is a grapheme cluster.
"""

from __future__ import annotations

import re
from functools import lru_cache

import regex

from tagweave.corpus.characters import RAW_BLANKS

Offsets = tuple[int, int]

VERSION = 1
"""Goes up when other tokens come out; models remember it."""

_RUN = re.compile(f"[^{RAW_BLANKS}]+")
_LONGEST = 40  # characters of a run whose words are remembered
_REMEMBERED = 1 << 16

# Control and format characters; joiners, marks and variation selectors are not among them
_HIDDEN = r"\p{Grapheme_Cluster_Break=Control}"
_PREPENDED = r"\p{Prepended_Concatenation_Mark}"  # format characters that can be seen, such as the Arabic number sign
_VISIBLE = rf"(?={_PREPENDED}*+[^\p{{Cc}}\p{{Cf}}\p{{M}}])"
_REST = rf"(?:\B(?:{_HIDDEN}\B)*+(?!{_HIDDEN})\X)*+"  # grapheme clusters up to the next word boundary

# In an address there is no letter of a script without blanks, as these may follow it; and no full stop at its end
_LETTER = r"[\w--[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]"
_IN_ADDRESS = rf"(?:{_LETTER}|[\-~/\#@$&+=%|])"
_ADDRESS = rf"(?:{_IN_ADDRESS}|[.,;:!?'*]++(?={_IN_ADDRESS}|\()|\((?:{_IN_ADDRESS}|[.,;:!?'*])*+\))++"
_HOSTS = rf"(?:{_LETTER}[\w\-]{{0,62}}+\.){{1,10}}"

_REPEATED = r"[[\p{P}\p{S}]--[\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Pc}\p{Extended_Pictographic}]]"

# Groups are bounded where what they read would be read again from its second token on
_WORD = regex.compile(
    rf"""
    (?P<clusters>[[\p{{Han}}\p{{Hiragana}}]--\p{{M}}]+)(?![\p{{M}}\p{{Cf}}])
    | [[\p{{Cc}}\p{{Cf}}\p{{M}}]--{_PREPENDED}]*+ \K
    (?:
        (?:[a-zA-Z][a-zA-Z0-9+.\-]{{1,14}}://|www\.){_ADDRESS}
      | {_HOSTS}[a-zA-Z]{{2,}}+/{_ADDRESS}
      | {_LETTER}[\w.+%\-]{{0,63}}@(?:[\w\-]{{1,63}}\.){{1,10}}\p{{L}}{{2,63}}
      | (?<!\w)(?:@(?=\w)|\#(?=\w*\p{{L}}))\X{_REST}
      | (?:\p{{L}}\p{{M}}*\.){{2,12}}(?!\w)
      | \A(?!I\.)\p{{Lu}}\.\Z
      | (?:Mr|Mrs|Ms|Dr|Prof|Sr|Jr|St|vs|etc|Inc|Corp|Ltd|Co)\.
      | \d++(?:(?::\d++)+|(?:/\d++)+|(?:-\d++){{2,}}|-\p{{L}}++-\d++)(?!\w)
      | \d{{3}}-\d{{4}}(?!\w)
      | \p{{Lu}}++&\p{{Lu}}++(?!\w)
      | [A-Za-z](?:\+\+|\#)(?!\w)
      | \A(?:[:;=][\-o^']?[()\[\]DPp/\\|*]+|<3+)(?!\P{{P}})
      | [!?]{{2,}}+{_REST}
      | (?P<sign>{_REPEATED})(?P=sign)++{_REST}
      | {_VISIBLE}\X{_REST}
    )
    """,
    regex.VERBOSE | regex.WORD | regex.VERSION1,
)
_CLUSTER = regex.compile(rf"{_VISIBLE}\X\p{{M}}*+", regex.VERSION1)
_BETWEEN = regex.compile(
    rf"(?:\A[\p{{M}}\p{{Cf}}]*+)?(?:(?:[{RAW_BLANKS}]|{_HIDDEN}|{_PREPENDED})[\p{{M}}\p{{Cf}}]*+)*+", regex.VERSION1
)


def words(text: str) -> list[Offsets]:
    """Return the offsets of the words of a line of text, and of the signs between them."""
    offsets: list[Offsets] = []
    add = offsets.append
    for match in _RUN.finditer(text):
        run, start = match.group(), match.start()
        for first, last in _remembered(run) if len(run) <= _LONGEST else _words(run):
            add((start + first, start + last))
    if (
        offsets and text.endswith(".", *offsets[-1]) and _INITIAL.fullmatch(text, *offsets[-1])
    ):  # `plan B.`: the line's end
        start, stop = offsets.pop()
        offsets += [(start, stop - 1), (stop - 1, stop)]
    return offsets


_INITIAL = regex.compile(r"\p{Lu}\.")


def _words(run: str) -> tuple[Offsets, ...]:
    offsets: list[Offsets] = []
    for match in _WORD.finditer(run):
        start, stop = match.span()
        if match.lastgroup == "clusters":  # all at once, as there are many
            offsets += zip(range(start, stop), range(start + 1, stop + 1), strict=True)
        else:
            offsets.append((start, stop))
    return tuple(offsets)


_remembered = lru_cache(_REMEMBERED)(_words)


def runs(text: str) -> list[Offsets]:
    """Return the offsets of what stands between blanks."""
    return [match.span() for match in _RUN.finditer(text)]


def clusters(text: str) -> list[Offsets]:
    """Return the offsets of the characters as a reader counts them: grapheme clusters, without blanks."""
    return [match.span() for start, stop in runs(text) for match in _CLUSTER.finditer(text, start, stop)]


def next_visible(text: str, start: int) -> int:
    """Return where the next token of a text may begin: behind blanks, and marks and format characters among these."""
    match = _BETWEEN.match(text, start)
    return start if match is None else match.end()
