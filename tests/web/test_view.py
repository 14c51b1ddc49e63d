"""`rushes view` over HTTP: who gets in, what is shown, what is refused; and the command as a user starts it."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.cli.workbench.discovering import discovery_of
from rushes.cli.workbench.view import _show
from rushes.compare.board.board import board_page
from rushes.core.machine.installing import extra_command
from rushes.storage.runs import Entry, RunWriter
from rushes.study import StudyPlan
from rushes.study.service import open_service
from rushes.web.home.discovery import Served
from rushes.web.http.access import may
from rushes.web.runs import summary
from rushes.web.runs.shared_clips import shares_clips
from rushes.web.view_app import view_app

from .livesite import Client, Site
from .runsite import SETTINGS, entry, measured_runs, owner, suite_of, write_run

TOKEN = "a-token-that-only-the-terminal-shows"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs with clips, a board over them, a study, and a sweep."""
    here = tmp_path_factory.mktemp("evaluations")
    runs = measured_runs(here / "models")
    suite_of(here / "boards" / "takes", dict(zip(("amber", "birch"), runs, strict=True)))
    (here / "sweep" / "runs" / "one").mkdir(parents=True)
    (here / "sweep" / "sweep_manifest.json").write_text(json.dumps({"axes": {"blur": [0]}, "runs": [{}]}))
    with open_service(here / "people.db") as service:
        service.create_study(StudyPlan(name="bars", title="Bars that cross"), training=False)
    return here


@pytest.fixture(scope="module")
def viewed(folder: Path) -> Iterator[Site]:
    site = Site(view_app([folder], token=TOKEN))  # type: ignore[arg-type]
    yield site
    site.close()


@pytest.fixture
def sites() -> Iterator[list[Site]]:
    made: list[Site] = []
    yield made
    for site in made:
        site.close()


def inside(site: Site) -> Client:
    """A browser that has opened the link."""
    client = site.client()
    assert client.get(f"/?token={TOKEN}").status_code == 200
    return client


# --- who gets in ------------------------------------------------------------------------------------------------------


def test_without_the_link_nothing_is_shown(viewed: Site) -> None:
    stranger = viewed.client()
    for path in ("/", "/home.json", "/runs/models/runs/model_a", "/home/stamp.json", "/static/home.js", "/clips/x"):
        answer = stranger.get(path)
        assert answer.status_code == 403, path
        assert "rushes view printed" in answer.text and "model_a" not in answer.text
    assert stranger.get("/?token=wrong").status_code == 403 and stranger.get("/?token=").status_code == 403
    assert stranger.post(f"/runs/models/runs/model_a/triage?token={TOKEN}").status_code == 403, "a link opens, no more"
    assert stranger.get("/home.json").json()["code"] == "link"
    assert stranger.get("/static/rushes.css").status_code == 200, "the refusal may look decent"


def test_the_link_sets_a_strict_cookie_and_the_token_goes_no_further(viewed: Site) -> None:
    client = viewed.client()
    answer = client.get(f"/?token={TOKEN}&x=1")
    cookie = next(text for text in answer.headers.get_list("set-cookie") if "rushes_view" in text)
    assert TOKEN in cookie and "HttpOnly" in cookie and "SameSite=strict" in cookie and "Max-Age" not in cookie
    assert TOKEN not in answer.text and "/static/landed.js" in answer.text
    again = client.get("/")
    assert again.status_code == 200 and "landed.js" not in again.text
    assert not any("rushes_view" in text for text in again.headers.get_list("set-cookie"))


def test_two_servers_on_one_machine_keep_their_cookies_apart(viewed: Site, folder: Path, sites: list[Site]) -> None:
    sites.append(Site(view_app([folder], token="another token")))  # type: ignore[arg-type]
    client = inside(viewed)
    names = {cookie.name for cookie in client.cookies.jar}
    other = httpx.Client(base_url=sites[0].url, cookies=client.cookies)
    assert other.get("/").status_code == 403, "the cookie of one does not open the other"
    assert other.get("/?token=another%20token").status_code == 200
    assert {cookie.name for cookie in other.cookies.jar} > names and client.get("/").status_code == 200
    other.close()


def test_another_host_name_or_origin_gets_nothing(viewed: Site) -> None:
    client = inside(viewed)
    assert client.get("/", headers={"host": "evil.example"}).status_code == 421
    assert viewed.client().get(f"/?token={TOKEN}", headers={"host": "evil.example"}).status_code == 421
    answer = client.post("/runs/models/runs/model_a/triage", headers={"origin": "http://evil.example"})
    assert answer.status_code in (403, 404, 405)


def test_a_form_from_elsewhere_is_refused_before_a_run_is_touched(viewed: Site) -> None:
    """Every route that takes something has the Origin check and the token in front of it, in view as in serve."""
    from starlette.routing import Route

    from rushes.web.app import routed

    for route in routed(viewed.app.state.workbench).routes:
        methods = getattr(route, "methods", None) or set()
        if isinstance(route, Route) and methods & {"POST", "PUT", "DELETE", "PATCH"}:
            assert may("view", "POST", route.path) and route.path.startswith("/runs/"), route.path


def test_the_role_may_note_and_may_not_touch_studies() -> None:
    assert may("view", "POST", "/runs/demo/clip/triage")
    for path in ("/studies/new", "/studies/takes/invite", "/accounts", "/login", "/setup", "/rate/vote", "/join/x"):
        assert not may("view", "POST", path) and not may("view", "GET", path), path
    assert may("view", "GET", "/compare/runs") and not may("view", "POST", "/compare/runs")


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_home_shows_what_lies_below_with_paths_for_names(viewed: Site, folder: Path) -> None:
    client = inside(viewed)
    data = client.get("/home.json").json()
    assert [run["name"] for run in data["runs"]] == ["models/runs/model_b", "models/runs/model_a"]
    first = data["runs"][1]
    assert first["subjects"] == 3 and sum(first["badges"].values()) == 3 and first["noun"] == "clips"
    assert first["question"] and first["status"] == "complete" and first["date_text"]
    assert [board["name"] for board in data["boards"]] == ["boards/takes"]
    assert data["databases"][0]["studies"][0]["title"] == "Bars that cross"
    assert data["sweeps"][0]["axes"] == ["blur"]
    page = html.unescape(client.get("/").text)
    assert 'href="/runs/models/runs/model_a"' in page and f"rushes serve --db {folder}/people.db" in page
    assert f"rushes robust {folder}/sweep" in page and "Sign out" not in page and "New study" not in page
    assert (
        page.index("boards/takes") < page.index('id="comparisons"') < page.index('id="runs"') < page.index("people.db")
    )


def test_every_page_of_a_run_has_the_run_in_its_address(viewed: Site, folder: Path) -> None:
    client = inside(viewed)
    name = "models/runs/model_a"
    page = client.get(f"/runs/{name}")
    assert page.status_code == 200 and "Send these" in page.text or "take_1" in page.text
    links = set(re.findall(rf'href="(/runs/{name}/clip\?[^"]+)"', html.unescape(page.text)))
    assert links and all(client.get(link).status_code == 200 for link in links)
    assert client.get(f"/runs/{name}.json").json()["run"]["name"] == name
    assert client.get(f"/runs/{name}/clip.json?id=take_1").json()["clip"]["id"] == "take_1"
    assert client.get(f"/runs/{name}/timeline.json?id=take_1").json()["timeline"]
    both = client.get("/compare.json", params={"a": f"{name}/take_1", "b": "models/runs/model_b/take_1"}).json()
    assert (both["a"]["run"], both["b"]["run"]) == (name, "models/runs/model_b")
    assert client.get("/compare/runs", params={"a": name, "b": "models/runs/model_b"}).status_code == 200
    video = client.get(client.get(f"/runs/{name}/clip.json?id=take_1").json()["clip"]["video"])
    assert video.content == (folder / "models/takes/model_a/take_1.mp4").read_bytes()
    assert client.get("/boards/boards/takes").status_code == 200
    for unknown in ("/runs/models/runs", "/runs/models/runs/model_c", "/boards/boards", "/runs/models%2F..%2Fsecret"):
        assert client.get(unknown).status_code == 404, unknown


def test_verdicts_come_after_the_page(viewed: Site, folder: Path) -> None:
    client = inside(viewed)
    address = re.search(r'data-verdict="([^"]+board=[^"]+)"', client.get("/").text)
    assert address is not None
    told = client.get(html.unescape(address[1])).json()["verdict"]
    assert told == board_page(folder / "boards" / "takes").opening.headline, "the answer; the rest is on its page"
    pair = client.get("/home.json").json()["comparisons"]
    assert [(one["a"], one["b"], one["common"]) for one in pair] == [("models/runs/model_a", "models/runs/model_b", 3)]
    found = client.get("/home/verdict.json", params={"a": pair[0]["a"], "b": pair[0]["b"]}).json()["verdict"]
    assert found == client.get("/home/verdict.json", params={"a": pair[0]["a"], "b": pair[0]["b"]}).json()["verdict"]
    assert found.startswith("B: 0 of 3 clips flagged, A: 1 of 3 (glitch); not significant. No significant")


def test_a_clip_in_several_runs_counts_once_with_its_newest_signal(tmp_path: Path, sites: list[Site]) -> None:
    def clip(name: str, digest: str, badge: str) -> Entry:
        one = entry(name, 0.4, badge=badge)
        return replace(one, subject=replace(one.subject, sha256=digest * 32))

    older = [clip("a", "01", "reject"), clip("b", "02", "pass"), clip("c", "03", "flagged")]
    newer = [clip("x", "01", "pass"), clip("y", "04", "pass")]
    for name, clips in (("older", older), ("newer", newer)):
        write_run(tmp_path / name, clips)
    dated = tmp_path / "older" / "run.json"
    info = json.loads(dated.read_text(encoding="utf-8"))
    dated.write_text(json.dumps(info | {key: f"2020{info[key][4:]}" for key in ("started", "finished")}))
    sites.append(Site(view_app([tmp_path], token=TOKEN)))  # type: ignore[arg-type]
    client = inside(sites[0])
    data = client.get("/home.json").json()
    # Four files; the one in both runs passes by the newer: 3 pass, 1 flagged, and the reject of before is gone.
    assert data["totals"] == {"runs": 2, "judged": 4, "reject": 0, "flagged": 1, "pass": 3}
    assert "4 different clips judged" in client.get("/").text
    assert data["comparisons"] == [], "no clip is in both by name"


def test_only_finished_runs_of_mostly_the_same_clips_are_compared_unasked(tmp_path: Path, sites: list[Site]) -> None:
    def shared(count: int) -> list[Entry]:
        return [entry(f"p{n}", 0.1) for n in range(count)]

    write_run(tmp_path / "all", shared(9))
    write_run(tmp_path / "few", shared(4))
    sites.append(Site(view_app([tmp_path], token=TOKEN)))  # type: ignore[arg-type]
    client = inside(sites[0])
    assert client.get("/home.json").json()["comparisons"] == [], "4 of 9"
    write_run(tmp_path / "most", shared(5))
    sites.append(Site(view_app([tmp_path], token=TOKEN)))  # type: ignore[arg-type]
    pairs = inside(sites[1]).get("/home.json").json()["comparisons"]
    assert len(pairs) == 1 and {pairs[0]["a"], pairs[0]["b"]} <= {"all", "few", "most"} and pairs[0]["common"] >= 4
    page = inside(sites[1]).get("/").text
    assert page.count('form="compare-two"') == 3, "each run can be ticked"


def test_more_than_two_ticked_runs_are_shown_prompt_by_prompt(viewed: Site) -> None:
    names = ["models/runs/model_a", "models/runs/model_b", "models/runs/model_a"]
    answer = inside(viewed).get("/home/compare", params={"run": names})
    assert answer.status_code == 303 and answer.headers["location"].startswith("/grid?runs=models%2Fruns%2Fmodel_a%2C")


def test_two_ticked_runs_are_compared_the_older_first(viewed: Site) -> None:
    client = inside(viewed)
    a, b = "models/runs/model_a", "models/runs/model_b"
    assert client.get("/home/shares.json", params={"run": a}).json()["runs"] == [b]
    answer = client.get("/home/compare", params={"run": [b, a]})
    assert answer.status_code == 303 and answer.headers["location"].startswith(
        "/compare/runs?a=models%2Fruns%2Fmodel_a"
    )
    assert client.get("/home/compare", params={"run": [a]}).status_code == 400
    assert client.get("/home/compare").status_code == 400
    assert client.get("/home/compare", params={"run": [a, "x"]}).status_code == 404
    assert client.get("/home/shares.json?run=x").status_code == 404


def test_studies_are_named_and_not_opened(viewed: Site) -> None:
    client = inside(viewed)
    for path in ("/studies/new", "/studies/bars", "/login", "/setup", "/account"):
        answer = client.get(path)
        assert answer.status_code == 403 and "rushes serve --db" in html.unescape(answer.text), path
    for path in ("/rate", "/i/x", "/join/x", "/media/x", "/accounts"):
        assert client.get(path).status_code in (403, 404), path


def test_the_first_page_of_a_run_finds_all_of_it_imported_and_compiled(tmp_path: Path) -> None:
    """In a process of its own: what another test has opened would be there already."""
    write_run(tmp_path / "run", [entry("a", 0.4, badge="flagged"), entry("b", 0.9)])
    code = """
import sys
from pathlib import Path
from jinja2 import Environment
from starlette.testclient import TestClient
from rushes.web.runs.ready import prepare
from rushes.web.view_app import view_app
from rushes.web.app import routed

app = view_app([Path(sys.argv[1])], token="open")
client = TestClient(app, base_url="http://127.0.0.1")
client.get("/?token=open")
routed(app.state.workbench)
prepare(app.state.workbench)
compiled, before, bare = [], set(sys.modules), Environment.compile
Environment.compile = lambda self, source, *rest, **more: compiled.append(rest) or bare(self, source, *rest, **more)
assert client.get("/runs/run").status_code == 200
late = sorted(name for name in set(sys.modules) - before if name.startswith(("rushes.instruments", "numpy.")))
print(compiled, late)
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "[] []\n"


def test_ids_are_read_where_there_is_a_run_to_share_them_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(summary, "read_ids", lambda folder: read.append(folder.name) or frozenset({"a"}))
    write_run(tmp_path / "one", [entry("a", 0.4)])
    bench = view_app([tmp_path], token=TOKEN).state.workbench
    bench.discovery._every_s = 0
    assert shares_clips(bench, "one") == [] and read == []
    write_run(tmp_path / "two", [entry("a", 0.5)])
    assert shares_clips(bench, "one") == ["two"] and sorted(read) == ["one", "two"]


def test_new_runs_and_runs_under_way_show_without_a_restart(tmp_path: Path, sites: list[Site]) -> None:
    small = view_app([tmp_path], token=TOKEN)
    small.state.workbench.discovery._every_s = 0
    sites.append(Site(small))  # type: ignore[arg-type]
    client = inside(sites[0])
    page = html.unescape(client.get("/").text)
    assert "No run here yet" in page and "rushes clip CLIPS" in page and "sweep_manifest.json" in page
    before = client.get("/home/stamp.json").json()["stamp"]
    with RunWriter(tmp_path / "new" / "run", instrument="clip", settings=SETTINGS, inputs=["a.mp4", "b.mp4"]) as run:
        run.add(entry("a", 0.4, badge="flagged"))
        assert client.get("/home/stamp.json").json()["stamp"] != before
        shown = client.get("/home.json").json()["runs"]
        assert [(one["name"], one["status"], one["subjects"], one["asked"]) for one in shown] == [
            ("new/run", "running", 1, 2)
        ]
        assert "<progress" in client.get("/").text and "Still going" in client.get("/runs/new/run").text
        run.finish(["a"])
    assert client.get("/home.json").json()["runs"][0]["status"] == "complete"


def test_large_runs_are_counted_after_the_page(
    tmp_path: Path, sites: list[Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rushes.web.home.data.AT_ONCE", 0)
    write_run(tmp_path / "large", [entry("a", 0.5, badge="reject"), entry("b", 0.1)])
    sites.append(Site(view_app([tmp_path], token=TOKEN)))  # type: ignore[arg-type]
    client = inside(sites[0])
    page = client.get("/").text
    assert "data-uncounted" in page and "1</b> reject" not in page
    card = client.get("/home/cards", params={"run": ["large", "gone"]}).text
    assert "1</b> reject" in card and "data-uncounted" not in card
    assert "1</b> reject" in client.get("/").text, "known now"


def test_markup_in_names_stays_text(tmp_path: Path, sites: list[Site]) -> None:
    write_run(tmp_path / "<img src=x onerror=hit()>", [entry("a", 0.5)])
    sites.append(Site(view_app([tmp_path], token=TOKEN)))  # type: ignore[arg-type]
    page = inside(sites[0]).get("/").text
    assert "<img src=x" not in page and "onerror=hit()" in html.unescape(page)


def test_the_first_page_needs_none_of_the_heavy_packages() -> None:
    """What makes the first page wait: a second or more on a slow machine."""
    heavy = ("numpy", "scipy", "sqlalchemy", "fastapi", "pydantic", "av", "pandas")
    script = (
        f"import sys, rushes.cli.main, rushes.web.view_app; print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=_environment()
    )
    assert done.stdout.strip() == "[]"


def test_served_with_a_sign_in_the_same_page_asks_for_it(make_site: Callable[..., Site], folder: Path) -> None:
    runs = [folder / "models" / "runs" / name for name in ("model_a", "model_b")]
    site = make_site(runs=runs)
    assert site.client().get("/home/stamp.json").status_code == 401
    data = owner(site).get("/home.json").json()
    assert [run["name"] for run in data["runs"]] == ["model_b", "model_a"] and data["databases"] == []


# --- the command ------------------------------------------------------------------------------------------------------


def _environment(**more: str) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | more


def test_the_command_prints_a_link_that_opens_the_run(folder: Path) -> None:
    run = folder / "models" / "runs" / "model_a"
    process = subprocess.Popen(
        [sys.executable, "-m", "rushes", "view", str(run), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=_environment(BROWSER="false"),
    )
    try:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/runs/model_a\?token=[\w-]{43}", link)
        with httpx.Client(timeout=60) as client:
            home = client.get(re.sub(r"/runs/\w+", "/", link))
            assert home.status_code == 200 and 'href="/runs/model_a"' in home.text
        assert httpx.get(link.partition("?")[0]).status_code == 403
    finally:
        process.terminate()
        said = process.communicate(timeout=120)[1]
    assert said.splitlines()[0] == f"Below {run}: 1 run. Ctrl-C stops."


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("view", "modles"), "modles: expected a folder to look below; there is none. Did you mean `models`?"),
        (("view", "people.db"), "people.db: expected a folder to look below; this is a file"),
        (("view", ".", "--host", "0.0.0.0"), "for other machines: rushes serve --host 0.0.0.0"),
        (("serve", "--run", "modles/runs"), "--run modles/runs: expected a run directory, or a folder with runs below"),
        (("serve", "--run", "boards"), "no run.json was found in it or below"),
        (("serve", "--suite", "boards/taks"), "there is none. Did you mean `boards/takes`?"),
        (("serve", "--suite", "models"), "it has no suite.json"),
    ],
)
def test_a_typo_is_one_line_before_anything_starts(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], says: str
) -> None:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1 and done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith("rushes: ") and says in done.stderr
    assert not (folder / "studies.db").exists()


def test_the_browser_is_not_told_the_token_on_its_command_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every user of a machine can list the arguments of every program."""
    link = f"http://127.0.0.1:1/?token={TOKEN}"
    opened: list[tuple[str, int, str]] = []

    def browser(address: str) -> bool:
        file = Path(address.removeprefix("file://"))
        opened.append((address, file.stat().st_mode & 0o777, file.read_text()))
        return False

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", browser)
    _show(link)
    ((address, mode, text),) = opened
    assert TOKEN not in address and mode == 0o600 and f"url={link}" in text
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_said(folder: Path, viewed: Site) -> None:
    port = viewed.url.rpartition(":")[2]
    done = CliRunner().invoke(app, ["view", str(folder), "--port", port])
    assert done.exit_code == 1 and done.stderr.startswith(f"rushes: --port {port}: expected a free port")


def test_a_server_looks_through_a_folder_of_runs(make_site: Callable[..., Site], folder: Path) -> None:
    """`rushes serve --run models --run models/runs/model_a`: a run by its name, the rest by their paths."""
    found = discovery_of([folder / "models" / "runs"], [])
    assert list(Served(found, "runs")) == ["model_a", "model_b"]
    found = discovery_of([folder / "models", folder / "models" / "runs" / "model_a"], [folder / "boards" / "takes"])
    assert list(Served(found, "runs")) == ["model_a", "models/runs/model_b"]
    client = owner(make_site(runs=Served(found, "runs"), suites=Served(found, "suites"), discovery=found))
    assert client.get("/runs/models/runs/model_b").status_code == 200 and client.get("/boards/takes").status_code == 200


def test_a_folder_of_a_bad_name_and_its_neighbours_are_served(tmp_path: Path, sites: list[Site]) -> None:
    """Bytes that are no UTF-8 stopped every page that names another run."""
    for name in (b"good", b"bad\xff"):
        write_run(Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)), [entry("take1", 0.1)])
    (tmp_path / "loop").symlink_to("loop")
    sites.append(Site(view_app([tmp_path], token=TOKEN)))  # type: ignore[arg-type]
    with Client(sites[-1].url) as client:
        client.get(f"/?token={TOKEN}")
        for page in ("/", "/home.json", "/runs/good", "/runs/bad_"):
            assert client.get(page).status_code == 200, page


@pytest.mark.parametrize(("command", "package"), [("view", "starlette"), ("serve", "uvicorn"), ("view", "sqlalchemy")])
def test_a_core_install_says_which_packages_it_needs(
    command: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    done = CliRunner().invoke(app, [command])
    assert done.exit_code == 1 and not done.stdout
    assert done.stderr == f"rushes: rushes {command} needs {package}; run: {extra_command('web')}\n"
