"""The options of `tagweave train`, and those that several commands share: names, values and help."""

from __future__ import annotations

from typing import Annotated

import typer

Corpora = Annotated[
    list[str], typer.Argument(metavar="[G=]TRAIN", help="Training corpora of the guideline G that is wanted.")
]
ModelOutput = Annotated[str, typer.Option("-o", "--output", metavar="MODEL", help="Where the model goes.")]
TaskName = Annotated[str, typer.Option(metavar="tag|segment|segtag|parse", help="What the model does.")]
Method = Annotated[
    str | None,
    typer.Option(
        metavar="ordinary|coupled|guided|merged|subword|transform|iterate",
        help="How corpora are combined. Default: coupled (parsers: guided) with a --source of another guideline, else"
        " ordinary.",
    ),
]
Source = Annotated[
    list[str] | None,
    typer.Option(metavar="[G=]FILE", help="A training corpus of another guideline, or a further one (repeatable)."),
]
Dev = Annotated[
    str | None, typer.Option(metavar="FILE", help="Development corpus: the iteration that does best is kept.")
]
Weights = Annotated[
    str | None, typer.Option(metavar="W,W,...", help="How often a sentence of each corpus counts, in their order.")
]
Sample = Annotated[
    str | None,
    typer.Option(
        metavar="N,M,...",
        help="How many sentences of each corpus an iteration visits, or all. Default: all of TRAIN; coupled and merged"
        " of each --source so many that they have as many words.",
    ),
]
Mappings = Annotated[
    list[str] | None,
    typer.Option(
        metavar="automatic|complete|FILE",
        help="Coupled: which labels of two guidelines may meet: those that do where a model of TRAIN labels the other"
        " corpora (default), all, or those of a file; ctb-pd has one (repeatable).",
    ),
]
MappingMinimum = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Leave out pairs that met less often, but for the most frequent one of a label. Default: once in 10,000"
        " tokens, for the automatic mapping.",
    ),
]
MappingTight = Annotated[
    bool, typer.Option("--mapping-tight", help="Keep the most frequent pairs only, nine tenths of each label's.")
]
Views = Annotated[
    str | None,
    typer.Option(
        metavar="both|joint|separate",
        help="Coupled: whether pairs of labels have weights (joint), the labels of each guideline (separate), or both.",
    ),
]
Prune = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        metavar="PROBABILITY",
        help="Coupled: of all pairs of labels only those of labels that models of one guideline each give at least this"
        " probability at a token come into question there: faster where pairs are many.",
    ),
]
Folds = Annotated[
    int | None,
    typer.Option(
        min=2,
        metavar="N",
        help="Subword: taggers of so many folds label the training text that they have not seen. Default: 10.",
    ),
]
Retrain = Annotated[
    bool, typer.Option("--retrain", help="Subword: train again, on the corpora of each --source too, relabelled.")
]
Guide = Annotated[
    str | None,
    typer.Option(
        metavar="window|joined",
        help="Guided, transform, iterate: what is seen of the other guideline's labels: those around a token, or its"
        " own joined to every feature. Default: joined for the perceptron, else window.",
    ),
]
Rounds = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Iterate: at most so many rounds of transformation. Default: 5. Guided: so many. Default: 1, which"
        " suits text without labels; 2 suit conversion.",
    ),
]
PredictSelfShares = Annotated[
    str | None,
    typer.Option(
        metavar="LAMBDA,...",
        help="Iterate: how much it counts that a transformation leads back to the annotation of --source, from 0 to 1;"
        " of several the best on --dev. Default: 0,0.3.",
    ),
]
Filter = Annotated[
    bool,
    typer.Option("--filter", help="Iterate: drop sentences whose transformation does not lead back, instead."),
]
Incomplete = Annotated[
    str,
    typer.Option(
        metavar="STRATEGY",
        help="What incomplete annotation means: marginal (all that it allows); baselines: argmax, pointwise, random,"
        " first, frequent, discard.",
    ),
]
Preset = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Feature templates: words and characters, the defaults, or those of a paper, as li-2015, tsuboi-2008,"
        " liu-2014, liu-2014-lexicon, jiang-2015, sun-wan-2012 (repeatable).",
    ),
]
TemplateText = Annotated[
    list[str] | None, typer.Option(metavar="TEXT", help="A feature template, as 'form[-1] form[0]' (repeatable).")
]
Lexicons = Annotated[
    list[str] | None,
    typer.Option(
        "--lexicon",
        metavar="FILE",
        help="Words, one a line, as features of characters: where words of the lexicon stand (repeatable). Default of"
        " --preset with it: characters-lexicon.",
    ),
]
Learner = Annotated[str, typer.Option(metavar="NAME", help="adagrad, lbfgs, sgd, rprop, cg, perceptron.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the learner (repeatable).")
]
Features = Annotated[
    str | None,
    typer.Option(
        metavar="all|observed",
        help="Weights of features for all labels, or for those that evidence licenses. Default: by the number of"
        " labels.",
    ),
]
MinimumCount = Annotated[int, typer.Option(min=1, metavar="N", help="Drop features that occur less often.")]
DropColumns = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        metavar="SHARE",
        help="Parsers: of so many sentences training sees a copy without tags and FEATS, so that text without them is"
        " parsed, too. Default: 0.5.",
    ),
]
Coding = Annotated[str, typer.Option(metavar="BMES|BI|boundary", help="How labels of characters code words.")]
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
Precision = Annotated[str, typer.Option(metavar="float32|float64", help="Of weights and sums.")]
Resume = Annotated[bool, typer.Option(help="Go on from MODEL.checkpoint if there is one.")]
Log = Annotated[str | None, typer.Option(metavar="FILE", help="Write iterations as JSON lines.")]

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
