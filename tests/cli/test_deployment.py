"""The page about deployment: its lines for nginx and systemd, in front of the real server and as its options."""

from __future__ import annotations

import re
import shlex
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from configparser import ConfigParser
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from httpx2 import Client, HTTPTransport
from serving import serving

NGINX, OPENSSL = (shutil.which(name) or shutil.which(name, path="/usr/sbin") for name in ("nginx", "openssl"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NGINX is None, reason="nginx is not installed"),
    pytest.mark.skipif(OPENSSL is None, reason="openssl is not installed"),
]

PAGE = (Path(__file__).parents[2] / "docs" / "deployment.md").read_text("utf-8")
NAME = "annotate.example.org"
PASSWORD = "correct horse"  # noqa: S105
MAIN = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""


class Deployed(NamedTuple):
    """Ports of nginx, and who believes its certificate."""

    plain: int
    encrypted: int
    certificate: ssl.SSLContext

    def person(self, address: str = "127.0.0.1", **headers: str) -> Client:
        """A browser at an address, all of which are our own."""
        way = HTTPTransport(verify=self.certificate, local_address=address)
        base = f"https://127.0.0.1:{self.encrypted}"
        return Client(base_url=base, transport=way, headers={"host": NAME, **headers})


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return str(found)


def free_ports(number: int) -> list[int]:
    """Ports that were free just now."""
    opened = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in opened]
    for each in opened:
        each.close()
    return ports


def certify(folder: Path) -> ssl.SSLContext:
    """A certificate signed by itself, as files; who believes it."""
    words = f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN={NAME}"
    names = f"-addext subjectAltName=DNS:{NAME},IP:127.0.0.1"
    files = ["-out", str(folder / "fullchain.pem"), "-keyout", str(folder / "privkey.pem")]
    assert OPENSSL
    subprocess.run([OPENSSL, *words.split(), *names.split(), *files], check=True, capture_output=True)
    return ssl.create_default_context(cafile=str(folder / "fullchain.pem"))


@contextmanager
def nginx(folder: Path, behind: int) -> Iterator[Deployed]:
    """Nginx as the page has it, but for ports and the folder of the certificate."""
    plain, encrypted = free_ports(2)
    site = block("nginx")
    for old, new in {
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ssl;": f"listen 127.0.0.1:{encrypted} ssl;",
        f"/etc/letsencrypt/live/{NAME}": str(folder),
        "127.0.0.1:8765": f"127.0.0.1:{behind}",
    }.items():
        assert old in site
        site = site.replace(old, new)
    certificate = certify(folder)
    (folder / "site.conf").write_text(site)
    (folder / "nginx.conf").write_text(MAIN.format(folder=folder))
    assert NGINX
    with subprocess.Popen([NGINX, "-c", folder / "nginx.conf", "-e", folder / "error.log"]) as process:
        try:
            deployed = Deployed(plain, encrypted, certificate)
            wait(deployed)
            assert process.poll() is None, (folder / "error.log").read_text()
            yield deployed
        finally:
            process.terminate()


def wait(deployed: Deployed) -> None:
    """Until nginx listens."""
    way = HTTPTransport(verify=deployed.certificate, retries=10)
    with Client(transport=way) as client:
        client.get(f"https://127.0.0.1:{deployed.encrypted}/static/icon.svg")


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory, corpora: Path, tagger: Path, run: Any) -> Iterator[Deployed]:
    """The service, with the options of its unit, and nginx in front."""
    folder = tmp_path_factory.mktemp("deployed")
    unit = ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(block("ini"))
    _, *words = shlex.split(unit["Service"]["ExecStart"])
    assert words[:2] == ["annotate", "serve"]
    places = {"first.model": tagger, "raw.seg": corpora / "dev.seg", "sqlite:///answers.db": f"sqlite:///{folder}/a.db"}
    assert {*places} < {*words}
    run(
        "annotate", "adduser", "--store", f"sqlite:///{folder}/a.db", "--name", "cur", "--role", "curator",
        "--password", PASSWORD,
    )  # fmt: skip
    with (
        serving(*(places.get(word, word) for word in words[2:])) as server,
        nginx(folder, int(server.address.rstrip("/").rpartition(":")[2])) as found,
    ):
        yield found


def hidden(page: str, name: str) -> str:
    return unescape(page.partition(f'name="{name}" value="')[2].partition('"')[0])


def test_who_signs_in_gets_a_cookie_for_https_and_links_that_others_can_open(deployed: Deployed) -> None:
    with deployed.person() as browser:
        form = {"csrf": hidden(browser.get("/sign-in").text, "csrf"), "name": "cur", "password": PASSWORD}
        entered = browser.post("/sign-in", data=form)
        assert entered.status_code == 303
        assert "; Secure" in entered.headers["set-cookie"]
        assert entered.headers["strict-transport-security"] == "max-age=31536000"
        page = browser.get("/dashboard")
        assert page.headers["content-security-policy"].startswith("default-src 'none'")
        csrf = hidden(page.text, "csrf")
        invited = browser.post("/dashboard/people", data={"csrf": csrf, "name": "ada", "role": "annotator"}).text
        link = unescape(invited.partition('readonly value="')[2].partition('"')[0])
        assert link.startswith(f"https://{NAME}/invited?token=")
    with deployed.person("127.0.0.2") as other:
        form = {"csrf": hidden(other.get(link.removeprefix(f"https://{NAME}")).text, "csrf"), "password": PASSWORD}
        token = link.partition("=")[2]
        assert other.post("/invited", data={**form, "token": token}).headers["location"] == "/task"
        assert other.get("/task").status_code == 200


def test_plain_http_leads_to_https(deployed: Deployed) -> None:
    with Client() as browser:
        told = browser.get(f"http://127.0.0.1:{deployed.plain}/invited?token=x", headers={"host": NAME})
    assert (told.status_code, told.headers["location"]) == (301, f"https://{NAME}/invited?token=x")


def failures(browser: Client, number: int, **headers: str) -> list[int]:
    """What comes of so many links that are none."""
    csrf = hidden(browser.get("/invited").text, "csrf")
    found = []
    for at in range(number):
        form = {"csrf": csrf, "token": f"{headers} {at}", "password": PASSWORD}
        forged = {name: value.format(at) for name, value in headers.items()}
        found.append(browser.post("/invited", data=form, headers=forged).status_code)
    return found


def test_attempts_are_counted_by_the_address_of_who_makes_them(deployed: Deployed) -> None:
    with deployed.person("127.0.0.3") as browser:
        told = failures(browser, 102, **{"x-forwarded-for": "198.51.100.{}", "forwarded": "for=198.51.100.{}"})
    assert told == [400] * 100 + [429] * 2
    with deployed.person("127.0.0.4") as browser:
        assert failures(browser, 2) == [400] * 2


def test_what_is_too_large_ends_at_nginx_or_behind_it(deployed: Deployed) -> None:
    with deployed.person("127.0.0.5") as browser:
        assert browser.post("/sign-in", content=b"x" * 70_000).status_code == 413
        assert browser.get("/sign-in", headers={f"a{n}": "a" * 6_000 for n in range(4)}).status_code == 431
        assert browser.get("/sign-in").status_code == 200
