"""`deploy/ray-cluster.yaml` by Ray's own validation, which `ray up` begins with."""

from __future__ import annotations

from typing import Any

import pytest
from deployment import documents, mappings

from tagweave import __version__

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed (pip install '.[ray]')")
util = pytest.importorskip("ray.autoscaler._private.util", reason="Ray is not installed (pip install '.[ray]')")


def prepared(**changes: object) -> dict[str, Any]:
    """The file as `ray up` reads it, with the defaults of its provider."""
    (config,) = documents("ray-cluster.yaml")
    return dict(util.prepare_config({**config, **changes}))


def test_ray_accepts_the_file() -> None:
    util.validate_config(prepared())


def test_the_image_is_of_this_version_and_nothing_is_installed_over_it() -> None:
    config = prepared()
    assert config["docker"]["image"] == f"registry.example.org/tagweave:{__version__}"
    lists = ("initialization_commands", "setup_commands", "head_setup_commands", "worker_setup_commands")
    assert [config[each] for each in lists] == [[], [], [], []]


def test_the_head_starts_workers_and_tags_nothing() -> None:
    config = prepared()
    head = config["head_start_ray_commands"][-1]
    assert "--num-cpus=0" in head
    assert "--autoscaling-config=~/ray_bootstrap_config.yaml" in head
    assert config["available_node_types"]["head"]["resources"] == {"CPU": 0}
    assert config["available_node_types"]["worker"]["max_workers"] <= config["max_workers"]


def test_credentials_are_roles_of_machines() -> None:
    types = prepared()["available_node_types"].values()
    assert all(each["node_config"]["IamInstanceProfile"].keys() == {"Name"} for each in types)
    (config,) = documents("ray-cluster.yaml")
    assert not [key for each in mappings(config) for key in each if "secret" in key.lower() or "token" in key.lower()]
