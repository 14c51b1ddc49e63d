"""Nothing a user gives is run: no pickles, no shell, no evaluated text; and what we depend on is pinned and not GPL."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
OWN_PIPES = {"src/rushes/workers/wire.py", "src/rushes/instruments/clip/settings.py"}
"""Where pickle is read from a process of our own; both ends are this package, no file and no user between them."""
NEVER = {
    "eval": "evaluates text",
    "exec": "runs text",
    "os.popen": "runs a shell",
    "os.system": "runs a shell",
    "marshal.load": "reads code",
    "marshal.loads": "reads code",
    "shelve.open": "reads pickles",
    "joblib.load": "reads pickles",
    "yaml.load": "builds any object",
    "yaml.unsafe_load": "builds any object",
}
SUSPECT = re.compile(r"eval|exec|popen|system|marshal|shelve|joblib|yaml|pickle|Unpickler|dill|\bload\b|shell")
"""Without one of these words in it, a file holds none of the calls looked for."""
PICKLE = {"pickle.load", "pickle.loads", "pickle.Unpickler", "cPickle.load", "dill.load", "dill.loads"}


def dotted(node: ast.expr) -> str:
    """`a.b.c` of a called name; "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


def keyword(call: ast.Call, name: str) -> object:
    """The constant given for a keyword; None where it is absent or computed."""
    found = [word.value for word in call.keywords if word.arg == name]
    return found[0].value if found and isinstance(found[0], ast.Constant) else None


def dangers(source: str, *, own_pipe: bool = False) -> Iterator[str]:
    """Every call that would run what it is given."""
    if not SUSPECT.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module in ("pickle", "marshal", "shelve"):
            yield f"line {node.lineno}: from {node.module} import hides the call"
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func)
        if name in NEVER:
            yield f"line {node.lineno}: {name} {NEVER[name]}"
        if name in PICKLE and not own_pipe:
            yield f"line {node.lineno}: {name} runs what it reads"
        if name in ("np.load", "numpy.load") and keyword(node, "allow_pickle") is not False:
            yield f"line {node.lineno}: {name} without allow_pickle=False"
        if name == "torch.load" and keyword(node, "weights_only") is not True:
            yield f"line {node.lineno}: torch.load without weights_only=True"
        shell = [word.value for word in node.keywords if word.arg == "shell"]
        if shell and not (isinstance(shell[0], ast.Constant) and shell[0].value is False):
            yield f"line {node.lineno}: shell= may be true"


@pytest.mark.parametrize(
    "bad",
    [
        "pickle.load(f)",
        "pickle.Unpickler(f)",
        "from pickle import load",
        "np.load(f)",
        "np.load(f, allow_pickle=True)",
        "np.load(f, allow_pickle=wish)",
        "torch.load(f)",
        "torch.load(f, weights_only=False)",
        "yaml.load(f)",
        "eval(text)",
        "exec(text)",
        "subprocess.run(c, shell=True)",
        "subprocess.Popen(c, shell=wish)",
        "os.system(c)",
    ],
)
def test_the_walk_sees(bad: str) -> None:
    assert list(dangers(bad))


@pytest.mark.parametrize(
    "good",
    [
        "np.load(f, allow_pickle=False)",
        "torch.load(f, weights_only=True)",
        "network.eval()",
        "yaml.safe_load(f)",
        "subprocess.run(c, shell=False)",
    ],
)
def test_the_walk_lets_pass(good: str) -> None:
    assert not list(dangers(good))


def code() -> list[str]:
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "src").rglob("*.py"))


def test_nothing_given_is_run() -> None:
    found = [
        f"{name}, {danger}"
        for name in code()
        for danger in dangers((ROOT / name).read_text(encoding="utf-8"), own_pipe=name in OWN_PIPES)
    ]
    assert not found, "\n".join(found)


def test_the_list_of_own_pipes_is_no_longer_than_needed() -> None:
    for name in OWN_PIPES:
        assert list(dangers((ROOT / name).read_text(encoding="utf-8"))), f"{name} reads no pickle any more: take it off"


# What we depend on --------------------------------------------------------------------------------------------------
def stated(*extras: str) -> list[Requirement]:
    """Requirements in pyproject.toml: the core's, and those of these extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    return [Requirement(line) for line in lines]


def installed_closure(*extras: str) -> dict[str, metadata.Distribution]:
    """Every installed distribution that these extras bring, directly or not, by canonical name."""
    found: dict[str, metadata.Distribution] = {}
    seen: set[tuple[str, str]] = set()
    todo = stated(*extras)
    while todo:
        wanted = todo.pop()
        name = canonicalize_name(wanted.name)
        if name == "rushes":
            todo += stated(*wanted.extras)
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # another system's, or an extra that is not installed here
        for extra in {"", *wanted.extras} - {extra for n, extra in seen if n == name}:
            seen.add((name, extra))
            needs = [Requirement(line) for line in found[name].requires or []]
            todo += [need for need in needs if need.marker is None or need.marker.evaluate({"extra": extra})]
    return found


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line.strip() and not line.startswith("#")]
    assert all(len(pair) == 2 and re.fullmatch(r"[\w.!+-]+", pair[1]) for pair in pairs), "a pin is name==version"
    return {canonicalize_name(name): version for name, version in pairs}


def _of_cuda(name: str) -> bool:
    """Whether torch's GPU build brought the package: which ones, and which versions, depends on the machine."""
    return name == "triton" or name.startswith(("nvidia-", "cuda-"))


def test_constraints_pin_every_installed_package_exactly() -> None:
    pinned = pins()
    loose = {
        name: distribution.version
        for name, distribution in installed_closure("all", "dev").items()
        if not _of_cuda(name) and Version(pinned.get(name, "0")).public != Version(distribution.version).public
    }
    assert not loose, f"constraints.txt does not pin what is installed: {loose}"


def licence(distribution: metadata.Distribution) -> str:
    """The licence in the package's own short words: its expression, its classifiers, or the first line of its text."""
    about = distribution.metadata
    classifiers = [line for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
    text = (about.get("License") or "").strip().splitlines()
    return about.get("License-Expression") or "; ".join(classifiers) or (text[0] if text else "")


COPYLEFT = re.compile(r"(?<!L)GPL|(?<!Lesser )General Public License|Affero", re.IGNORECASE)


@pytest.mark.parametrize(
    ("words", "is_gpl"),
    [
        ("GPL-3.0-only", True),
        ("AGPL-3.0-or-later", True),
        ("License :: OSI Approved :: GNU General Public License v2 (GPLv2)", True),
        ("LGPL-3.0-only", False),
        ("GNU Lesser General Public License", False),
        ("BSD-3-Clause AND MIT", False),
    ],
)
def test_the_words_of_a_licence(words: str, is_gpl: bool) -> None:
    assert bool(COPYLEFT.search(words)) is is_gpl


def test_no_run_time_dependency_is_gpl() -> None:
    closure = installed_closure("all").items()
    licences = {name: licence(distribution) for name, distribution in closure if not _of_cuda(name)}
    assert len(licences) >= 10
    assert not {name: words for name, words in licences.items() if COPYLEFT.search(words)}
    assert not {name for name, words in licences.items() if not words}, "a package without a stated licence"


def test_every_nosec_says_why() -> None:
    for name in code():
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
            if "# nosec" in line:
                assert re.search(r"# \w.+  # nosec B\d{3}$", line), f"{name}:{number}: say why before the # nosec"


def test_the_threat_model_names_what_we_read() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8").casefold()
    for word in ("media", "run directories", "csv", "raters", "model files", "pickle", "sandbox"):
        assert word in text, word
