"""The options of `tagweave train` for all methods, and those that several commands share: names, values and help."""

from __future__ import annotations

from typing import Annotated

import typer

Corpora = Annotated[
    list[str] | None, typer.Argument(metavar="[G=]TRAIN", help="Training corpora of the guideline G that is wanted.")
]
ModelOutput = Annotated[str | None, typer.Option("-o", "--output", metavar="MODEL", help="Where the model goes.")]
TaskName = Annotated[
    str, typer.Option(metavar="tag|segment|segtag|parse", help="What the model does.", rich_help_panel="Corpora")
]
Method = Annotated[
    str | None,
    typer.Option(
        metavar="single|coupled|stacked|merged|subword|transform|iterate",
        help="How corpora are combined. Default: coupled (parsers: stacked) with a --source of another guideline, else"
        " ordinary.",
        rich_help_panel="Corpora",
    ),
]
Source = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[G=]FILE",
        help="A training corpus of another guideline, or a further one (repeatable).",
        rich_help_panel="Corpora",
    ),
]
Dev = Annotated[
    str | None, typer.Option(metavar="FILE", help="Development corpus: the iteration that does best is kept.")
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="W,W,...", help="How often a sentence of each corpus counts, in their order.", rich_help_panel="Corpora"
    ),
]
Sample = Annotated[
    str | None,
    typer.Option(
        metavar="N,M,...",
        help="How many sentences of each corpus an iteration visits, or all. Default: all of TRAIN; coupled and merged"
        " of each --source so many that they have as many words.",
        rich_help_panel="Corpora",
    ),
]
Preset = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Feature templates: words and characters, the defaults, or those of a paper, as li-2015, tsuboi-2008,"
        " liu-2014, liu-2014-lexicon, jiang-2015, sun-wan-2012 (repeatable).",
        rich_help_panel="Features",
    ),
]
TemplateText = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT", help="A feature template, as 'form[-1] form[0]' (repeatable).", rich_help_panel="Features"
    ),
]
Lexicons = Annotated[
    list[str] | None,
    typer.Option(
        "--lexicon",
        metavar="FILE",
        help="Words, one a line, as features of characters: where words of the lexicon stand (repeatable). Default of"
        " --preset with it: characters-lexicon.",
        rich_help_panel="Features",
    ),
]
Learner = Annotated[
    str, typer.Option(metavar="NAME", help="adagrad, lbfgs, sgd, rprop, cg, perceptron.", rich_help_panel="Learning")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A setting of the learner (repeatable).", rich_help_panel="Learning"
    ),
]
Features = Annotated[
    str | None,
    typer.Option(
        metavar="all|observed",
        help="Weights of features for all labels, or for those that evidence has seen. Default: by the number of"
        " labels.",
        rich_help_panel="Features",
    ),
]
MinimumCount = Annotated[
    int, typer.Option(min=1, metavar="N", help="Drop features that occur less often.", rich_help_panel="Features")
]
DropColumns = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        metavar="SHARE",
        help="Parsers: of so many sentences training sees a copy without tags and FEATS, so that text without them is"
        " parsed, too. Default: 0.5.",
        rich_help_panel="Features",
    ),
]
Coding = Annotated[
    str,
    typer.Option(metavar="BMES|BI|boundary", help="How labels of characters code words.", rich_help_panel="Features"),
]
Iterations = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="The largest number of iterations; by default the learner's, or 100 with --dev."
    ),
]
Patience = Annotated[
    int, typer.Option(min=1, metavar="N", help="Stop after so many iterations without a better development score.")
]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Of everything random.")]
Precision = Annotated[
    str, typer.Option(metavar="float32|float64", help="Of weights and sums.", rich_help_panel="Learning")
]
Resume = Annotated[bool, typer.Option(help="Go on from MODEL.checkpoint if there is one.", rich_help_panel="The run")]
Plan = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="A training plan in JSON, instead of corpora and options.", rich_help_panel="Plans"
    ),
]
Like = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL", help="Train as this model was trained, on the corpora that are given.", rich_help_panel="Plans"
    ),
]
PrintPlan = Annotated[
    bool, typer.Option("--print-plan", help="Write the plan in JSON, and train nothing.", rich_help_panel="Plans")
]
Log = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write iterations as JSON lines.", rich_help_panel="The run")
]

Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model of `tagweave train`.")]
Output = Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="- is standard output.")]
Guideline = Annotated[str | None, typer.Option(metavar="G", help="The guideline to label under.")]
Guidelines = Annotated[list[str] | None, typer.Option(metavar="G", help="The guideline to label under (repeatable).")]
Threads = Annotated[int, typer.Option(min=1, metavar="N", help="How many threads share the work.")]
SplitRuns = Annotated[
    bool,
    typer.Option(
        "--split-runs", help="Let the model split Latin words, numbers, URLs and e-mail addresses of raw text."
    ),
]
NonProjective = Annotated[
    bool, typer.Option("--non-projective", help="Parsers: choose among all trees, also those whose arcs cross.")
]
InputFormat = Annotated[
    str | None, typer.Option("--format", metavar="FORMAT", help="The format of the input, where its name hides it.")
]
OutputFormat = Annotated[
    str | None, typer.Option(metavar="FORMAT", help="The format of the output; default: by its name, or the input's.")
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON instead of tables.")]
