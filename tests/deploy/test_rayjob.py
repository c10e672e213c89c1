"""`deploy/rayjob.yaml` against what KubeRay's types (ray.io/v1) require, and what a cluster must not be given."""

from __future__ import annotations

from typing import Any

import pytest
from deployment import documents, mappings, pinned

from tagweave import __version__

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed (pip install '.[ray]')")

_COUNT = {"type": "integer", "minimum": 0}
_PARAMETERS = {"type": "object", "additionalProperties": {"type": "string"}}
_POD = {"type": "object", "required": ["spec"]}


def _closed(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "required": required, "properties": properties}


_WORKERS = _closed(
    ["groupName", "minReplicas", "maxReplicas", "rayStartParams", "template"],
    groupName={"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
    replicas=_COUNT,
    minReplicas=_COUNT,
    maxReplicas=_COUNT,
    rayStartParams=_PARAMETERS,
    template=_POD,
)
_CLUSTER = _closed(
    ["rayVersion", "headGroupSpec", "workerGroupSpecs"],
    rayVersion={"type": "string"},
    enableInTreeAutoscaling={"type": "boolean"},
    autoscalerOptions=_closed(
        [], idleTimeoutSeconds=_COUNT, upscalingMode={"enum": ["Default", "Aggressive", "Conservative"]}
    ),
    headGroupSpec=_closed(["rayStartParams", "template"], rayStartParams=_PARAMETERS, template=_POD),
    workerGroupSpecs={"type": "array", "minItems": 1, "items": _WORKERS},
)
_RAYJOB = _closed(
    ["apiVersion", "kind", "metadata", "spec"],
    apiVersion={"const": "ray.io/v1"},
    kind={"const": "RayJob"},
    metadata={"type": "object", "required": ["name"]},
    spec=_closed(
        ["entrypoint", "rayClusterSpec"],
        entrypoint={"type": "string"},
        shutdownAfterJobFinishes={"type": "boolean"},
        ttlSecondsAfterFinished=_COUNT,
        backoffLimit=_COUNT,
        rayClusterSpec=_CLUSTER,
    ),
)
"""The part of KubeRay's RayJobSpec and RayClusterSpec that the file uses; a misspelt field is none of it. The whole
schema (two megabytes) is checked by `kubectl apply --dry-run=server` where the operator is installed."""

_ACCOUNT, _JOB = documents("rayjob.yaml")
_SPEC = _JOB["spec"]["rayClusterSpec"]
_PODS = [each["template"]["spec"] for each in (_SPEC["headGroupSpec"], *_SPEC["workerGroupSpecs"])]


def test_the_job_has_the_fields_of_kuberay() -> None:
    jsonschema.validate(_JOB, _RAYJOB)


def test_versions_are_those_of_the_image() -> None:
    assert _SPEC["rayVersion"] == pinned("ray")
    images = {each["image"] for each in mappings(_JOB) if "image" in each}
    assert images == {f"registry.example.org/tagweave:{__version__}"}


def test_the_retry_of_a_job_gets_a_new_cluster() -> None:
    """KubeRay refuses to delete a cluster after a while unless the job says that it is to be deleted."""
    assert _JOB["spec"]["shutdownAfterJobFinishes"]


def test_every_worker_has_the_processors_that_it_says() -> None:
    """KubeRay tells Ray the limit; tasks run on what is requested."""
    for group in _SPEC["workerGroupSpecs"]:
        resources = group["template"]["spec"]["containers"][0]["resources"]
        assert resources["limits"] == resources["requests"]
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]


@pytest.mark.parametrize("pod", _PODS)
def test_mounts_are_volumes_of_the_pod(pod: dict[str, Any]) -> None:
    volumes = {volume["name"] for volume in pod["volumes"]}
    mounted = {mount["name"] for each in mappings(pod) for mount in each.get("volumeMounts", [])}
    assert mounted == volumes


@pytest.mark.parametrize("pod", _PODS)
def test_nothing_runs_as_root(pod: dict[str, Any]) -> None:
    assert pod["securityContext"]["runAsNonRoot"]
    for container in [*pod.get("initContainers", []), *pod["containers"]]:
        assert not container["securityContext"]["allowPrivilegeEscalation"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_credentials_come_from_the_account_or_a_secret() -> None:
    assert {pod["serviceAccountName"] for pod in _PODS} == {_ACCOUNT["metadata"]["name"]}
    literals = {each["name"] for each in mappings(_JOB) if {"name", "value"} <= each.keys()}
    assert literals == {"AWS_DEFAULT_REGION"}
    sources = [source for each in mappings(_JOB) for source in each.get("envFrom", [])]
    assert sources
    assert all(source.keys() == {"secretRef"} for source in sources)
