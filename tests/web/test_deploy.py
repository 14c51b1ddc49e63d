"""The samples in deploy/: a rater's whole path through nginx with TLS, and the Compose file and Caddyfile as text."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.processes import until

from rushes.study import StudyPlan
from rushes.study.service import open_service

from .livesite import LONGEST_MS, Client, filled, key_of, stretches

DEPLOY = Path(__file__).parents[2] / "deploy"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@dataclass
class Proxied:
    url: str
    plain: str
    invitation: str


def sample_conf(folder: Path, *, server: int, tls: int, plain: int) -> Path:
    """The sample as it is, with this machine's ports, a certificate of its own and nginx's folders in `folder`."""
    text = (DEPLOY / "nginx.conf").read_text()
    changes = {
        r"server 127\.0\.0\.1:8000;": f"server 127.0.0.1:{server};",
        r"listen 80;\n    listen \[::\]:80;": f"listen 127.0.0.1:{plain};",
        r"listen 443 ssl http2;\n    listen \[::\]:443 ssl http2;": f"listen 127.0.0.1:{tls} ssl http2;",
        r"/etc/letsencrypt/live/study\.example\.org/": f"{folder}/",
        r"https://study\.example\.org\$request_uri": f"https://127.0.0.1:{tls}$request_uri",
        r"server_name study\.example\.org;": "server_name 127.0.0.1;",
        r"/var/log/nginx/rushes\.log": f"{folder}/access.log",
    }
    for pattern, there in changes.items():
        text, count = re.subn(pattern, lambda _, there=there: there, text)
        assert count, pattern
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;\n" if os.getuid() == 0 else ""
    around = f"{user}daemon off;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
    path = folder / "nginx.conf"
    path.write_text(f"{around}http {{\naccess_log off;\n{temporary}{text}\n}}\n")
    return path


def invitation_to_bars(folder: Path, clip_table: Path) -> str:
    with open_service(folder / "studies.db") as service:
        service.create_study(StudyPlan(name="bars", gold_every=0, repeat_every=0), training=False)
        service.import_csv("bars", clip_table)
        return f"/i/{service.invite('bars')[0].token}"


@contextmanager
def running(
    folder: Path, proxy: list[str], *, server: int, tls: int, url: str, **environment: str
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Rushes and a proxy in front of it, both listening."""
    serve = (sys.executable, "-m", "rushes", "serve", "--db", str(folder / "studies.db"), "--port", str(server))
    around = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment
    with open(folder / "proxy.log", "w") as log:
        started = [
            subprocess.Popen([*serve, "--public-url", url], env=around, stdout=log, stderr=log),
            subprocess.Popen(proxy, env=around, stdout=log, stderr=log),
        ]
    try:
        until(
            lambda: (listens(server) and listens(tls)) or any(one.poll() is not None for one in started),
            "server and proxy listen",
        )
        assert all(one.poll() is None for one in started), (folder / "proxy.log").read_text()
        yield started
    finally:
        for one in started:
            one.terminate()
            one.wait(timeout=60)


def program(name: str) -> str:
    """A proxy's program; the test is skipped where it is not installed."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        pytest.skip(f"the proxy's test needs {name} (apt install {name})")
    return found


@pytest.fixture
def proxied(tmp_path: Path, clip_table: Path) -> Iterator[Proxied]:
    nginx, openssl = program("nginx"), program("openssl")
    invitation = invitation_to_bars(tmp_path, clip_table)
    names = ("-keyout", f"{tmp_path}/privkey.pem", "-out", f"{tmp_path}/fullchain.pem", "-subj", "/CN=127.0.0.1")
    new = (openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1")
    subprocess.run([*new, *names], check=True, capture_output=True)
    server, tls, plain = free_port(), free_port(), free_port()
    conf = sample_conf(tmp_path, server=server, tls=tls, plain=plain)
    url = f"https://127.0.0.1:{tls}"
    with running(tmp_path, [nginx, "-c", str(conf), "-p", str(tmp_path)], server=server, tls=tls, url=url):
        yield Proxied(url=url, plain=f"http://127.0.0.1:{plain}", invitation=invitation)


@pytest.fixture
def behind_caddy(tmp_path: Path, clip_table: Path) -> Iterator[Proxied]:
    """The sample as it is, on a port of its own and with a certificate that Caddy makes itself."""
    caddy = program("caddy")
    invitation = invitation_to_bars(tmp_path, clip_table)
    server, tls = free_port(), free_port()
    text = (DEPLOY / "Caddyfile").read_text()
    here = "{\n\tauto_https disable_redirects\n\tskip_install_trust\n\tadmin off\n\tdefault_bind 127.0.0.1\n"
    assert text.count("\n{\n") == 1
    (tmp_path / "Caddyfile").write_text(text.replace("\n{\n", f"\n{here}"))
    command = [caddy, "run", "--config", str(tmp_path / "Caddyfile"), "--adapter", "caddyfile"]
    url = f"https://localhost:{tls}"
    around = {
        "STUDY_HOST": url,
        "RUSHES_UPSTREAM": f"127.0.0.1:{server}",
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }
    with running(tmp_path, command, server=server, tls=tls, url=url, **around):
        yield Proxied(url=url, plain="", invitation=invitation)


@pytest.fixture
def unverified(monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificates here are nobody's."""
    import httpx

    make = httpx.Client.__init__
    monkeypatch.setattr(httpx.Client, "__init__", lambda self, **more: make(self, **{**more, "verify": False}))


def test_a_raters_path_through_caddy(behind_caddy: Proxied, tmp_path: Path, unverified: None) -> None:
    with Client(behind_caddy.url) as client:
        walk(client, behind_caddy)
        forged = [
            client.send_form("/login", {"password": "wrong"}, headers={"x-forwarded-for": f"10.1.1.{number}"})
            for number in range(6)
        ]
        assert [one.status_code for one in forged] == [401] * 5 + [429]  # a made-up address counts for nothing
        assert int(forged[-1].headers["retry-after"]) > 200
    log = (tmp_path / "proxy.log").read_text()
    assert behind_caddy.invitation[3:] not in log


def test_caddy_takes_the_sample_as_it_is(tmp_path: Path) -> None:
    command = [program("caddy"), "validate", "--config", str(DEPLOY / "Caddyfile"), "--adapter", "caddyfile"]
    done = subprocess.run(command, env=os.environ | {"HOME": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_systemd_takes_the_unit_as_it_is(tmp_path: Path) -> None:
    analyze = program("systemd-analyze")
    unit = tmp_path / "rushes.service"
    unit.write_text((DEPLOY / "rushes.service").read_text().replace("/opt/rushes/bin/rushes", sys.executable))
    done = subprocess.run([analyze, "verify", "--man=no", str(unit)], capture_output=True, text=True)
    said = [line for line in done.stderr.splitlines() if "rushes.service" in line]
    if done.returncode and not said:
        pytest.skip(f"systemd-analyze cannot verify units here ({done.stderr.strip()[-200:]})")
    assert not said, said


def test_a_raters_path_through_nginx(proxied: Proxied, tmp_path: Path, unverified: None) -> None:
    import httpx

    plain = httpx.get(f"{proxied.plain}/rate?x=1", follow_redirects=False)
    assert plain.status_code == 301 and plain.headers["location"] == f"{proxied.url}/rate?x=1"
    with Client(proxied.url) as client:
        walk(client, proxied)
        client.get("/join/secret-link?PROLIFIC_PID=5f3a00000000beef")
    log = (tmp_path / "access.log").read_text()
    assert " GET /i/- 200 " in log and " GET /media/- 206 " in log and " POST /rate/- 200 " in log
    assert proxied.invitation[3:] not in log and "5f3a" not in log and "secret" not in log


def walk(client: Client, proxied: Proxied) -> None:
    assert "max-age" in client.get(proxied.invitation).headers["strict-transport-security"]
    assert client.send_form(proxied.invitation).headers["location"] == "/rate"
    assert all(cookie.secure and cookie.name.startswith("__Host-") for cookie in client.cookies.jar)
    client.send_form("/rate/consent")
    task = client.get("/rate.json").json()
    for side in ("A", "B"):
        address = task["clips"][side]["address"]
        whole = client.get(address)
        part = client.get(address, headers={"range": "bytes=100-299"})
        assert (whole.status_code, part.status_code) == (200, 206)
        assert part.headers["content-range"] == f"bytes 100-299/{len(whole.content)}"
        assert part.content == whole.content[100:300]
        assert client.get(address, headers={"range": "bytes=99999999-"}).status_code == 416
    page = client.get("/rate").text
    time.sleep(2 * LONGEST_MS / 1000)  # credit runs by the server's clock
    watched = client.send_json("/rate/watch", {"assignment": task["assignment"], "events": stretches(task)})
    assert watched.json()["complete"], watched.text
    voted = client.send_quietly("/rate/vote", filled(task, key_of(page)))
    assert voted.status_code == 200, voted.text
    assert client.get("/rate.json").json()["number"] == 2
    headers = {"content-type": "application/json", "x-csrf-token": client.token()}
    for size in (300_000, 5_000_000):
        assert client.post("/rate/watch", content=b"x" * size, headers=headers).status_code == 413, size


def test_the_proxies_set_the_callers_address_themselves() -> None:
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in (DEPLOY / "nginx.conf").read_text()
    assert "header_up X-Forwarded-For {remote_host}" in (DEPLOY / "Caddyfile").read_text()
    assert 'proxy_set_header X-Remote-User "";' in (DEPLOY / "nginx.conf").read_text()
    assert "header_up -X-Remote-User" in (DEPLOY / "Caddyfile").read_text()


def test_the_caddyfile_is_balanced_and_has_its_limits() -> None:
    text = re.sub(r"#.*|\{\$?[\w:.]+\}|\{[\$\w:.]+\}", "", (DEPLOY / "Caddyfile").read_text())
    assert text.count("{") == text.count("}") >= 6
    for word in ("read_header", "read_body", "reverse_proxy"):
        assert word in text


def test_a_stop_has_the_time_that_a_half_sent_request_takes() -> None:
    assert "stop_grace_period: 30s" in (DEPLOY / "compose.yaml").read_text()
    unit = (DEPLOY / "rushes.service").read_text()
    assert "TimeoutStopSec=30" in unit and "--log json" in unit


def test_the_compose_file_has_three_services_and_no_secret() -> None:
    yaml = pytest.importorskip("yaml", reason="the Compose file's test needs pyyaml")
    text = (DEPLOY / "compose.yaml").read_text()
    found = yaml.safe_load(text)
    assert set(found["services"]) == {"database", "rushes", "caddy"}
    used = {v.partition(":")[0] for one in found["services"].values() for v in one["volumes"]}
    assert set(found["volumes"]) <= used
    assert [name for name, one in found["services"].items() if "ports" in one] == ["caddy"]
    for name in ("POSTGRES_PASSWORD", "RUSHES_ADMIN_PASSWORD", "STUDY_HOST"):
        assert f"${{{name}:?" in text
    settings = [str(v) for one in found["services"].values() for v in one["environment"].items()]
    assert not [one for one in settings if "PASSWORD'" in one and "${" not in one]
    assert (DEPLOY.parent / found["services"]["rushes"]["build"]["dockerfile"]).is_file()
