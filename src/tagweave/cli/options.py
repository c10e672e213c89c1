"""The options of `tagweave train` for all methods, and those shared by several commands.

Options of commands that write the card of a model.
"""

from __future__ import annotations

from typing import Annotated

import typer

Corpora = Annotated[
    list[str] | None, typer.Argument(metavar="[G=]TRAIN", help="Training corpora of the target guideline G.")
]
ModelOutput = Annotated[str | None, typer.Option("-o", "--output", metavar="MODEL", help="The file of the model.")]
TaskName = Annotated[
    str | None,
    typer.Option(
        metavar="tag|segment|segtag|spans|parse",
        help="The task of the model; by default tag, or spans if the labels of TRAIN are like B-PER I-PER O.",
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
    str | None, typer.Option(metavar="FILE", help="Development corpus: the iteration with the best score is kept.")
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
        help="How many sentences of each corpus an iteration visits, or all. Default: all of TRAIN and, for coupled and"
        " merged, as many words of each --source.",
        rich_help_panel="Corpora",
    ),
]
Preset = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Feature templates: the defaults, words, spans and characters, or those of a paper: li-2015, tsuboi-2008,"
        " liu-2014, liu-2014-lexicon, jiang-2015, sun-wan-2012, sun-wan-2012-subword; types, gazetteer and clusters,"
        " beside others (repeatable).",
        rich_help_panel="Features",
    ),
]
TemplateText = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT", help="A feature template such as 'form[-1] form[0]' (repeatable).", rich_help_panel="Features"
    ),
]
Lexicons = Annotated[
    list[str] | None,
    typer.Option(
        "--lexicon",
        metavar="FILE",
        help="Words, one per line; their occurrences are features of characters (repeatable). Default of --preset with"
        " it: characters-lexicon.",
        rich_help_panel="Features",
    ),
]
Gazetteers = Annotated[
    list[str] | None,
    typer.Option(
        "--gazetteer",
        metavar="FILE",
        help="Phrases, one per line, as TYPE TAB phrase; their occurrences are features of words (repeatable). Without"
        " --preset and --template, the preset gazetteer is added.",
        rich_help_panel="Features",
    ),
]
Clusters = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Word clusters, as harvest clusters writes them; the bit strings of words are features. Without --preset"
        " and --template, the preset clusters is added.",
        rich_help_panel="Features",
    ),
]
Learner = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="adagrad, lbfgs, sgd, rprop, cg, perceptron, pa, arow.", rich_help_panel="Learning"
    ),
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
        help="Weights of features for all labels, or only for labels observed in the evidence. Default: by the number"
        " of labels.",
        rich_help_panel="Features",
    ),
]
MinimumCount = Annotated[
    int, typer.Option(min=1, metavar="N", help="Drop features that occur less often.", rich_help_panel="Features")
]
SoftLabels = Annotated[
    str,
    typer.Option(
        metavar="KIND",
        help="What numbers of candidates (NN:0.7|VV:0.3) are: posterior, of a label given what was said; or likelihood,"
        " of what was said given the label.",
        rich_help_panel="Features",
    ),
]
DropColumns = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        metavar="SHARE",
        help="Parsers: train also on copies of this share of sentences without tags and FEATS, to parse text without"
        " them. Default: 0.5.",
        rich_help_panel="Features",
    ),
]
NonProjectiveTraining = Annotated[
    bool,
    typer.Option(
        "--non-projective",
        help="Parsers: arcs may cross, in training as in use. By default trees whose arcs cross are made projective.",
        rich_help_panel="Features",
    ),
]
Coding = Annotated[
    str,
    typer.Option(
        metavar="BMES|BI|boundary|BIOES|IOB2|IOB1",
        help="How labels encode words of characters, or spans of words; by default BMES, or BIOES.",
        rich_help_panel="Features",
    ),
]
Iterations = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="The maximum number of iterations; by default the learner's, or 100 with --dev."
    ),
]
Patience = Annotated[
    int, typer.Option(min=1, metavar="N", help="Stop after this many iterations without a better development score.")
]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="The seed of everything random.")]
AverageSeeds = Annotated[
    int,
    typer.Option(
        min=1,
        metavar="N",
        help="Train with N seeds side by side, and keep the mean of their weights.",
        rich_help_panel="Learning",
    ),
]
Precision = Annotated[
    str, typer.Option(metavar="float32|float64", help="The precision of weights and sums.", rich_help_panel="Learning")
]
Resume = Annotated[
    bool, typer.Option(help="Continue from MODEL.checkpoint if there is one.", rich_help_panel="The run")
]
Checkpoint = Annotated[
    bool,
    typer.Option(
        help="Save the state in MODEL.checkpoint every half a minute and on an interrupt.", rich_help_panel="The run"
    ),
]
Plan = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="A training plan in JSON, instead of corpora and options.", rich_help_panel="Plans"
    ),
]
Like = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL", help="Train as this model was trained, on the given corpora.", rich_help_panel="Plans"
    ),
]
PrintPlan = Annotated[
    bool, typer.Option("--print-plan", help="Write the plan in JSON without training.", rich_help_panel="Plans")
]
Log = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write iterations as JSON lines.", rich_help_panel="The run")
]

Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model of `tagweave train`, or hf:OWNER/NAME.")]
Output = Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="- is standard output.")]
Guideline = Annotated[str | None, typer.Option(metavar="G", help="The guideline to label under.")]
Guidelines = Annotated[list[str] | None, typer.Option(metavar="G", help="The guideline to label under (repeatable).")]
Threads = Annotated[int, typer.Option(min=1, metavar="N", help="How many threads share the work.")]
SplitRuns = Annotated[
    bool,
    typer.Option(
        "--split-runs", help="Let the model split Latin words, numbers, URLs and e-mail addresses in raw text."
    ),
]
NonProjective = Annotated[
    bool,
    typer.Option(
        "--non-projective",
        help="Parsers of projective trees: choose among all trees, including those with crossing arcs.",
    ),
]
InputFormat = Annotated[
    str | None,
    typer.Option("--format", metavar="FORMAT", help="The format of the input, if its name does not imply it."),
]
OutputFormat = Annotated[
    str | None, typer.Option(metavar="FORMAT", help="The format of the output. Default: by its name, or the input's.")
]
Sources = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMNS|files",
        help="What is a source of annotation: columns by number (3: is the third to the last, 2,4:6 some of them) or by"
        " name; or every file, of the same text.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON instead of tables.")]

Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="local|auto|ADDRESS",
        help="Work on many processes of this machine (local) or on Ray: at RAY_ADDRESS, on a cluster that runs, or one"
        " started here (auto), or at an address.",
        rich_help_panel="Many workers",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="With --cluster: the number of workers. Default: all.", rich_help_panel="Many workers"
    ),
]
OnError = Annotated[
    str,
    typer.Option(
        metavar="skip|fail",
        help="With --cluster: set a bad file aside and go on, or stop.",
        rich_help_panel="Many workers",
    ),
]
TextColumn = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="With --cluster: the column of Parquet and JSON Lines that holds text.",
        rich_help_panel="Many workers",
    ),
]


Tests = Annotated[
    list[str] | None,
    typer.Option("--test", metavar="[G=]TEST", help="Measure the model on this corpus: scores, speed (repeatable)."),
]
Licence = Annotated[
    str | None, typer.Option("--licence", metavar="ID", help="Of the model, as the hub names it: mit, cc-by-sa-4.0.")
]
Languages = Annotated[
    list[str] | None, typer.Option("--language", metavar="CODE", help="A language of the model, as zh (repeatable).")
]
Use = Annotated[str | None, typer.Option("--use", metavar="TEXT", help="What the model is for.")]
Title = Annotated[str | None, typer.Option("--title", metavar="TEXT", help="By default the name of the file.")]
