"""`tagweave why`: what speaks for a model's answer, and what against it."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.console import OptionError, check_outputs
from tagweave.cli.options import argument, flag


def why(
    model: options.Model,
    text: Annotated[str, argument("TEXT", "A sentence.")],
    token: Annotated[
        int | None,
        flag("N", "Explain token N, from 1, or its span. Default: all spans, or the least sure tokens.", least=1),
    ] = None,
    corpus: Annotated[
        str | None, flag("FILE", "The training corpus, for the three sentences that share most of the reasons.")
    ] = None,
    html: Annotated[str | None, flag("FILE", "Write a page instead of tables.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Explain what a model says of a sentence: what speaks for it, and what for the best other answer.

    Scores are sums, so the features, the transitions between labels and the network contribute numbers that add up to
    the difference between both answers. Of a parser, the head of a token is explained.
    """
    from tagweave.front.loading import load_model

    if not (sentence := " ".join(text.split())):
        raise OptionError("found no text, expected a sentence")
    check_outputs([html], [model, corpus])
    explanations = load_model(model).why(sentence, None if token is None else token - 1, corpus)
    if html is not None:
        explanations.write(html)
    elif as_json:
        typer.echo(json.dumps(explanations.to_json(), ensure_ascii=False))
    else:
        explanations.render()
