"""The scorers of arcs, by their names in model files."""

from __future__ import annotations

from tagweave.models.arc_features import ArcFeatures
from tagweave.models.arc_scorer import ArcScorerParameters

ARC_SCORERS: dict[str, type[ArcScorerParameters]] = {ArcFeatures.kind: ArcFeatures}
