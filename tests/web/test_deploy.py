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


@pytest.fixture
def proxied(tmp_path: Path, clip_table: Path) -> Iterator[Proxied]:
    nginx = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if nginx is None or shutil.which("openssl") is None:
        pytest.skip("the proxy's test needs nginx and openssl (apt install nginx openssl)")
    with open_service(tmp_path / "studies.db") as service:
        service.create_study(StudyPlan(name="bars", gold_every=0, repeat_every=0), training=False)
        service.import_csv("bars", clip_table)
        token = service.invite("bars")[0].token
    names = ("-keyout", f"{tmp_path}/privkey.pem", "-out", f"{tmp_path}/fullchain.pem", "-subj", "/CN=127.0.0.1")
    new = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1")
    subprocess.run([*new, *names], check=True, capture_output=True)
    server, tls, plain = free_port(), free_port(), free_port()
    conf = sample_conf(tmp_path, server=server, tls=tls, plain=plain)
    url = f"https://127.0.0.1:{tls}"
    serve = (sys.executable, "-m", "rushes", "serve", "--db", str(tmp_path / "studies.db"), "--port", str(server))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [
        subprocess.Popen([*serve, "--public-url", url], env=environment, **quiet),
        subprocess.Popen([nginx, "-c", str(conf), "-p", str(tmp_path)], **quiet),
    ]
    try:
        until(
            lambda: (listens(server) and listens(tls)) or any(one.poll() is not None for one in started),
            "server and proxy listen",
        )
        assert all(one.poll() is None for one in started), (tmp_path / "error.log").read_text()
        yield Proxied(url=url, plain=f"http://127.0.0.1:{plain}", invitation=f"/i/{token}")
    finally:
        for one in started:
            one.terminate()
            one.wait(timeout=60)


def test_a_raters_path_through_nginx(proxied: Proxied, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx

    plain = httpx.get(f"{proxied.plain}/rate?x=1", follow_redirects=False)
    assert plain.status_code == 301 and plain.headers["location"] == f"{proxied.url}/rate?x=1"
    make = httpx.Client.__init__
    monkeypatch.setattr(httpx.Client, "__init__", lambda self, **more: make(self, verify=False, **more))
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
    large = client.post("/rate/vote", content=b"x" * 300_000, headers={"content-type": "application/json"})
    assert large.status_code == 413


def test_the_proxies_set_the_callers_address_themselves() -> None:
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in (DEPLOY / "nginx.conf").read_text()
    assert "header_up X-Forwarded-For {remote_host}" in (DEPLOY / "Caddyfile").read_text()


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
