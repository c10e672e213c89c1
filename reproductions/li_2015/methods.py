"""The methods that are compared, by the names that they have in the tables."""

from __future__ import annotations

from dataclasses import dataclass

SYSTEMS = ("baseline", "merged", "two-stage", "coupled", "converted")


@dataclass(frozen=True)
class Method:
    """A way to learn from corpora of two guidelines.

    | system | |
    |---|---|
    | `baseline` | the target corpus alone |
    | `merged` | both, as if they had one guideline |
    | `two-stage` | guide features: a tagger of the source guideline labels the target corpus |
    | `coupled` | the coupled model |
    | `converted` | the target corpus, and the source corpus as converted by a coupled model |

    Attributes:
        name: in the tables.
        system: one of the above.
        mapping: of a coupled model: `tight`, `relaxed` or `automatic`.
        joint, separate: which weights a coupled model has.
        narrow: the probability from which a tag that a corpus lacks comes into question (`Narrowing`); 0: all do.
        guided: whether the two-stage tagger that narrows has the share in a coupled model that is best on dev.
        average_seeds: how many trainings the weights of the model are the average of.
        converter: of a converted corpus, the name of the coupled method that converts it.
    """

    name: str
    system: str
    mapping: str = ""
    joint: bool = True
    separate: bool = True
    narrow: float = 0.0
    guided: bool = False
    average_seeds: int = 1
    converter: str = "coupled"


BASELINE = Method("baseline", "baseline")
MERGED = Method("merged", "merged")
TWO_STAGE = Method("two-stage", "two-stage")
COUPLED = Method("coupled", "coupled", "automatic")
TIGHT = Method("coupled, tight mapping", "coupled", "tight")
RELAXED = Method("coupled, relaxed mapping", "coupled", "relaxed")
SEPARATE = Method("coupled, separate features only", "coupled", "automatic", joint=False)
JOINT = Method("coupled, joint features only", "coupled", "automatic", separate=False)
NARROWED = Method("coupled, narrowed", "coupled", "automatic", narrow=0.01)
NARROWED_SEPARATE = Method(
    "coupled, narrowed, separate features only", "coupled", "automatic", joint=False, narrow=0.01
)
GUIDED = Method("coupled, narrowed, two-stage shared", "coupled", "automatic", narrow=0.01, guided=True)
TWO_STAGE_AVERAGED = Method("two-stage, three seeds in one", "two-stage", average_seeds=3)
AVERAGED = Method("coupled, narrowed, three seeds in one", "coupled", "automatic", narrow=0.01, average_seeds=3)
CONVERTED = Method("baseline + converted", "converted")
NARROWED_CONVERTED = Method("baseline + converted, narrowed", "converted", converter=NARROWED.name)
AVERAGED_CONVERTED = Method("baseline + converted, three seeds in one", "converted", converter=AVERAGED.name)

CONVERTERS = {method.name: method for method in (COUPLED, NARROWED, AVERAGED)}
"""The methods by which a source corpus may be converted."""
