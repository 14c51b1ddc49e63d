"""`make compat` and `make package`: both ends of what pyproject.toml allows are tried, and no failure is hidden.

The Pythons and the index are stand-ins here; the script itself is run by hand, with real ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]

PYTHON = """#!/bin/sh
[ "$1" = -c ] && exit 0
mkdir -p "$3/bin"
cat >"$3/bin/python" <<'END'
#!/bin/sh
case $1 in *oldest.py) echo 'av==18.0.0' ;; *) echo "digest of the numbers: $DIGEST" ;; esac
END
cat >"$3/bin/pip" <<'END'
#!/bin/sh
echo "pip $(cat "$4")" >>"$CALLS"
END
cat >"$3/bin/rushes" <<'END'
#!/bin/sh
echo "a clip does not work"
grep -q av "$(dirname "$0")/../pins.txt" && exit "$OLD_DOCTOR" || exit 0
END
chmod +x "$3"/bin/*
"""


def compat(folder: Path, stub: str = PYTHON, **environment: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    program, calls = folder / "python3.12", folder / "calls"
    program.write_text(stub)
    program.chmod(0o755)
    asked = {"PATH": f"{folder}:{os.environ['PATH']}", "CALLS": str(calls), "DIGEST": "same", "OLD_DOCTOR": "0"}
    asked["INDEX"] = str(folder)
    command = ["sh", str(ROOT / "scripts" / "try-pythons.sh"), "3.12"]
    done = subprocess.run(command, env=os.environ | asked | environment, capture_output=True, text=True, timeout=240)
    return done, calls.read_text().splitlines()


def test_the_newest_and_the_oldest_are_tried(tmp_path: Path) -> None:
    done, calls = compat(tmp_path)
    assert done.returncode == 0, done.stderr
    assert calls == ["pip ", "pip av==18.0.0"], "without pins, then with those of oldest.py"
    assert done.stdout.count("== Python 3.12") == 2


def test_one_that_fails_is_named_with_its_pins_and_what_doctor_said(tmp_path: Path) -> None:
    done, _ = compat(tmp_path, OLD_DOCTOR="1")
    assert done.returncode == 1 and "a clip does not work" in done.stdout
    assert "Python 3.12, the oldest of everything: FAILED" in done.stderr and "av==18.0.0" in done.stderr


def test_numbers_that_differ_fail(tmp_path: Path) -> None:
    done, _ = compat(tmp_path, PYTHON.replace("$DIGEST", "$$"))  # the number of the process
    assert done.returncode == 1 and "different numbers" in done.stderr


def test_only_the_age_that_was_asked_for(tmp_path: Path) -> None:
    done, calls = compat(tmp_path, AGES="oldest")
    assert done.returncode == 0 and calls == ["pip av==18.0.0"]


BUILD = """#!/bin/sh
[ "$1" = -c ] && exit 0
[ "$1" = - ] && exec "$REAL" "$@"
for word; do [ "$before" = --outdir ] && out=$word; before=$word; done
mkdir -p "$out"
[ "$3" = --wheel ] && name=$LATER || touch "$out/rushes-9.tar.gz"
"$REAL" -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1], "w").writestr("rushes/" + sys.argv[2], "text")' \
  "$out/rushes-9-py3-none-any.whl" "${name:-a.py}"
"""


@pytest.mark.parametrize("later", ["a.py", "b.py"])
def test_the_wheel_of_the_sdist_holds_what_the_checkout_does(tmp_path: Path, later: str) -> None:
    builder = tmp_path / "python"
    builder.write_text(BUILD)
    builder.chmod(0o755)
    asked = {"PYTHON": str(builder), "REAL": sys.executable, "LATER": later}
    command = ["sh", str(ROOT / "scripts" / "local-index.sh"), str(tmp_path / "index")]
    done = subprocess.run(command, env=os.environ | asked, capture_output=True, text=True, timeout=240)
    if later == "b.py":
        assert done.returncode == 1 and "differ in: rushes/a.py, rushes/b.py" in done.stderr
        return
    page = (tmp_path / "index" / "simple" / "rushes" / "index.html").read_text()
    assert done.returncode == 0 and page.count("<a href") == 2, done.stderr
    assert '<a href="rushes-9-py3-none-any.whl">rushes-9-py3-none-any.whl</a>' in page


def test_the_oldest_is_the_first_within_bounds_that_has_a_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    script = run_path(str(ROOT / "scripts" / "oldest.py"))
    listed = "Available versions: 20.0.0, 19.0.2, 18.1.0, 18.0.0, 18.0.0rc1, 17.1.0, 2004d"
    tried: list[str] = []

    def pip(*words: str) -> object:
        if words[0] == "index":
            return SimpleNamespace(stdout=listed, returncode=0)
        tried.append(words[-1])
        return SimpleNamespace(stdout="", returncode=int(words[-1].endswith("18.0.0")))

    monkeypatch.setitem(script["oldest"].__globals__, "pip", pip)
    (av,) = [one for one in script["wanted"]([]) if one.name == "av"]
    assert str(script["oldest"](av)) == "18.1.0" and tried == ["av==18.0.0", "av==18.1.0"]


def test_extras_of_extras_are_taken_along() -> None:
    names = {one.name for one in run_path(str(ROOT / "scripts" / "oldest.py"))["wanted"](["web"])}
    assert {"av", "fastapi", "altair"} <= names and "rushes" not in names
