"""Reading what pip and npm are set up with, and the pages of an index."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.vision.models.conftest import archive_of

from rushes.vision.models import settings as module
from rushes.vision.models.download import FetchError
from rushes.vision.models.fetching import links, places
from rushes.vision.models.settings import NPM, PYPI, IndexSettings, parse_pip_list, read_settings, settings_of

LIST = """\
global.extra-index-url='https://b.example/simple\\nhttps://c.example/simple'
global.index-url='https://a.example/simple'
install.index-url='https://i.example/simple'
freeze.timeout='9'
:env:.cert='/certs.pem'
broken line
global.find-links=not quoted
"""


def test_what_pip_lists() -> None:
    found = settings_of(parse_pip_list(LIST))
    assert found.indexes == ("https://i.example/simple", "https://b.example/simple", "https://c.example/simple")
    assert (found.cert, found.links, found.timeout_s) == ("/certs.pem", (), 30.0)


def test_the_public_indexes_are_the_default() -> None:
    assert settings_of({}) == IndexSettings(indexes=(PYPI,), npm=NPM)
    assert settings_of({"no-index": "true", "find-links": "wheels more"}).indexes == ()
    assert settings_of({"default-timeout": "7"}).timeout_s == 7.0 and settings_of({"timeout": "soon"}).timeout_s == 30.0


def test_without_pip_its_variables_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module.sys, "executable", str(tmp_path / "gone"))
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.example/simple")
    monkeypatch.setenv("npm_config_registry", "https://npm.example/")
    found = read_settings()
    assert found.indexes[0] == "https://mirror.example/simple" and found.npm == "https://npm.example/"


def test_npmrc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert module._npm_registry() == NPM
    (tmp_path / ".npmrc").write_text("fund=false\nregistry = https://npm.example/\n//npm.example/:_authToken=x\n")
    assert module._npm_registry() == "https://npm.example/"


def test_places_are_normalised() -> None:
    archive = archive_of("x.whl", b"")
    assert places(archive, IndexSettings(links=("wheels",))) == ("wheels", "https://pypi.org/simple/toy/")


def test_links_of_a_page() -> None:
    page = b'<base href="https://f.example/p/"><a href="a%2B1.whl?x=1#md5=0">a</a><a>none</a><A HREF="/b.whl">b</A>'
    assert [(link.file, link.url) for link in links(page, "text/html", "https://i.example/simple/toy/")] == [
        ("a+1.whl", "https://f.example/p/a%2B1.whl?x=1"),
        ("b.whl", "https://f.example/b.whl"),
    ]
    for junk in (b"{", b"[]", b'{"files": [1]}', b'{"files": [{}]}'):
        with pytest.raises(FetchError, match="is not an index page"):
            list(links(junk, "application/vnd.pypi.simple.v1+json", "https://me:word@i.example/"))
