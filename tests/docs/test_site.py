"""The site of the documentation is built without a warning, with what its hooks add; `make docs` builds it, too."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import fields
from html import unescape
from pathlib import Path

import pytest
import typer
from pages import ROOT, text_of

from tagweave.cli.main import application
from tagweave.training.fit.recipe import LEARNERS
from tagweave.training.methods import METHODS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


def test_the_reference_has_the_names_that_users_write(site: Path) -> None:
    page = (site / "reference.html").read_text("utf-8")
    assert re.search(r'<h3 id="tagweave[\w.]+\.load" class="doc doc-heading">\s*tw\.load\b', page)


def test_every_option_of_every_command_and_method_is_on_the_site(site: Path) -> None:
    page = unescape((site / "cli.html").read_text("utf-8"))
    for name in re.findall(r"^## `tagweave ([\w ]+)`$", text_of("docs/cli.md"), re.MULTILINE):
        described = page.partition(f'<h2 id="tagweave-{name.replace(" ", "-")}"')[2].partition("<h2 ")[0]
        command = typer.main.get_command(application([name.split()[0]]))
        for word in name.split():
            command = command.get_command(typer.Context(command), word)
        for each in command.params:
            if each.param_type_name == "option":
                assert f"<td><code>{each.opts[0]}" in described, (name, each.opts)
    methods = (site / "guidelines.html").read_text("utf-8")
    assert all(f"<td><code>{name}</code></td>" in methods for name in METHODS)
    assert "<code>--set views=both|joint|separate</code>" in methods


def test_every_setting_of_every_learner_is_on_the_site(site: Path) -> None:
    page = unescape((site / "learners.html").read_text("utf-8"))
    for name, learner in LEARNERS.items():
        described = page.partition(f'<h3 id="{name}"')[2].partition("<h3 ")[0]
        rows = re.findall(r"<td><code>(\w+)</code></td>\s*<td><code>(.*?)</code></td>\s*<td>.+?</td>", described)
        assert rows == [(each.name, str(each.default)) for each in fields(learner) if each.name != "seed"]
