"""The library of loops: made without a warning, refused with one line where it is missing or old."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

from rushes import native
from rushes.core.errors import RushesError
from rushes.native import sources

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "hatch_build.py"
SANITIZED = """
import sys
from pathlib import Path
import rushes.native
rushes.native.LIBRARY = Path(sys.argv[1])
import pytest
sys.exit(pytest.main(["-q", "--assert=plain", *sys.argv[2:]]))
"""
LOOPS = (
    "tests/instruments/clip/test_luma_sums.py",
    "tests/instruments/clip/picture/test_picture_grid.py",
    "tests/instruments/clip/picture/test_samples.py",
    "tests/instruments/clip/test_warping.py",
    "tests/instruments/fidelity/test_psnr.py",
    "tests/instruments/fidelity/test_ssim.py",
    "tests/instruments/fidelity/test_disco.py",
    "tests/media/test_alike.py",
    "tests/vision/landmarks/test_crop.py",
    "tests/instruments/clip/test_loudness.py",
    "tests/instruments/distribution/test_prdc.py",
    "tests/instruments/fidelity/test_stoi.py",
    "tests/instruments/pose/test_assignment.py",
    "tests/stats/special/test_normal.py",
)


@pytest.fixture
def fresh() -> Iterator[None]:
    """The library is loaded anew, before and after."""

    def forget() -> None:
        native._library.cache_clear()
        native.c_function.cache_clear()

    forget()
    yield
    forget()


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fresh: None) -> Path:
    """Where a library of the test's own is looked for."""
    place = tmp_path / "loops.so"
    monkeypatch.setattr(native, "LIBRARY", place)
    return place


def command(library: Path, *options: str) -> list[str]:
    pytest.importorskip("hatchling", reason="building the loops needs hatchling (pip install hatchling)")
    if not os.environ.get("CC") and not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("there is no C compiler")
    given: list[str] = run_path(str(BUILD))["command"](library)
    return [*given, *options]


@pytest.mark.parametrize("level", ["-O2", pytest.param("-O3", marks=pytest.mark.soak)])
def test_the_c_files_compile_without_a_warning(library: Path, level: str) -> None:
    """-O2 looks at the same flow of values as the -O3 of the package, in 40 % of the time."""
    done = subprocess.run(command(library, "-Wall", "-Wextra", "-Werror", level), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    native.c_function("sources_digest", "")()


def test_a_missing_library_is_one_line(library: Path) -> None:
    with pytest.raises(RushesError, match="compiled loops cannot be loaded.*hatch_build.py") as found:
        native.c_function("frame_sums", "")
    assert "\n" not in str(found.value)


def test_what_is_no_library_is_one_line(library: Path) -> None:
    library.write_bytes(b"text")
    with pytest.raises(RushesError, match="cannot be loaded"):
        native.c_function("frame_sums", "")


def test_a_library_of_other_sources_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fresh: None) -> None:
    for path in (*sources.FOLDER.glob("*.c"), *sources.FOLDER.glob("*.h")):
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(sources, "FOLDER", tmp_path)
    native.c_function("frame_sums", "")
    native._library.cache_clear()
    native.c_function.cache_clear()
    with (tmp_path / "loops.h").open("a") as header:
        header.write("\n")
    with pytest.raises(RushesError, match="made of other C files than those beside it; run `python hatch_build.py`"):
        native.c_function("frame_sums", "")
    for path in tmp_path.iterdir():
        path.unlink()
    native.c_function("frame_sums", "")  # a wheel has no C files


def test_a_library_that_says_nothing_of_its_sources_is_refused(library: Path) -> None:
    words = command(library)
    empty = library.with_name("empty.c")
    empty.write_text("int nothing;\n")
    subprocess.run([word for word in words if not word.endswith(".c")] + [str(empty)], check=True)
    with pytest.raises(RushesError, match="made of other C files"):
        native.c_function("frame_sums", "")


def test_without_a_compiler_building_says_what_helps(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="building the loops needs hatchling (pip install hatchling)")
    bare = {name: value for name, value in os.environ.items() if name != "CC"} | {"PATH": str(tmp_path)}
    done = subprocess.run([sys.executable, str(BUILD)], env=bare, capture_output=True, text=True)
    assert done.returncode == 1 and "needs a C compiler" in done.stderr and "ziglang" in done.stderr
    assert "Traceback" not in done.stderr


def test_c_that_does_not_compile_leaves_the_library_as_it_is() -> None:
    pytest.importorskip("hatchling", reason="building the loops needs hatchling (pip install hatchling)")
    before = native.LIBRARY.read_bytes()
    options = {"env": os.environ | {"CC": "false"}, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, str(BUILD)], **options) as building:
        _, said = building.communicate()
    assert building.returncode == 1 and "do not compile" in said and "Traceback" not in said
    assert native.LIBRARY.read_bytes() == before
    assert not native.LIBRARY.with_name(f"loops.{building.pid}.tmp").exists()  # a wheel's may be there at this moment


@pytest.mark.parametrize("view", [np.s_[:], np.s_[:, :3], np.s_[::-1], np.s_[::2, :4], np.s_[1:, 1:]])
def test_rows_are_taken_as_they_lie(view: tuple[slice, ...]) -> None:
    plane = np.arange(30, dtype=np.uint16).reshape(5, 6)[view]
    rows, line = native.in_rows(plane)
    assert rows is plane and line * 2 == plane.strides[0]


def test_rows_with_gaps_are_copied() -> None:
    plane = np.arange(30, dtype=np.uint16).reshape(5, 6)
    for gaps in (plane[:, ::2], plane.T, plane[:, ::-1], np.zeros((4, 9), np.uint8)[:, :8].view(np.uint16)):
        rows, line = native.in_rows(gaps)
        assert rows.tolist() == gaps.tolist() and line * rows.itemsize == rows.strides[0]


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_the_loops_stay_within_their_arrays(tmp_path: Path) -> None:
    """All tests of the loops, with a library that stops at the first address that is not theirs, and at what C leaves
    undefined."""
    library = tmp_path / "loops.so"
    checks = "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1"
    compiler, *rest = command(library, *checks)
    runtime = subprocess.run([compiler, "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    if not Path(runtime).is_absolute():
        pytest.skip("the compiler has no runtime of AddressSanitizer")
    subprocess.run([compiler, *rest], check=True)
    watched = {"LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"}
    done = subprocess.run(
        [sys.executable, "-c", SANITIZED, str(library), *LOOPS],
        cwd=ROOT,
        env=os.environ | watched | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "passed" in done.stdout or "[100%]" in done.stdout


def test_the_loops_are_bound_as_they_are_defined() -> None:
    """As many arguments as in C; ctypes would pass any number."""
    import re

    code = "\n".join(path.read_text(encoding="utf-8") for path in sorted(sources.FOLDER.glob("*.[ch]")))
    bound = 0
    for path in (ROOT / "src" / "rushes").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for name, pointers in re.findall(r'c_function\(\s*"(\w+)",\s*"([^"]*)"', text):
            found = re.search(rf"\b{name}\(([^)]*)\)\s*{{", code)
            if found is not None:
                given = 0 if found[1].strip() in ("", "void") else found[1].count(",") + 1
                assert len(pointers.split()) == given, name
                bound += 1
    assert bound > 5 and ctypes.sizeof(ctypes.c_void_p) == 8
