"""Every number on a page, with where it says it comes from, held against the run.

The rule that a page keeps to (docs/developing.md has it for writers of pages):

- A number of a metric names its definition. The element, or one around it in the same cell or sentence, has
  `data-signature`, `data-copy` or a `title` with the signature; or the head of its column has; or another cell of its
  row has. What is shown then must be a value, an end of an interval, a level or a count under that signature.
- "name=0.16" and "name +0.02" name their metric: a reason of a review signal, a change of a clip.
- "< 0.33" is a threshold, and must be one of the profile's.
- A plain whole number is a count, unless its own element or the head of its column has a signature. A number with a
  unit of time or size ("0.80 s", "25 fps") is a fact of the clip.
- The text of a definition is under `class="definitions"`.
- Anything else that is no metric says so: `data-kind="threshold"`, one of `KINDS`, on the element or around it.

Whatever is left has no provenance, and the page fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rushes.core import Measurement

KINDS = ("count", "time", "size", "page", "threshold", "setting", "level", "version", "name")
"""What a number may be that no metric gave."""

COLLECT = r"""() => {
  const SIGNATURE = /[a-z][a-z0-9_]*(?:\|[^|\s"]+)*\|v:\d+/g;
  const NUMBER = /(?<![\w.|:#\/@-])[-−+±]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?(?:\s?%)?(?![\w|]|[.:-]\d)/g;
  const SKIP = 'script, style, template, noscript, code, pre, kbd, .mono, time, input, textarea, select, svg, ' +
    'canvas, video, .unit, [aria-hidden=true], .signature, .copy, .definitions';
  const signatures = (e) => {
    const whole = [e.dataset.signature, e.dataset.copy].filter((text) => /^[a-z]\w*\|.*v:\d+$/s.test(text || ''));
    return whole.length ? whole : (e.getAttribute('title') || '').match(SIGNATURE) || [];
  };
  const inside = (e) => [e, ...e.querySelectorAll('[data-signature], [data-copy], [title]')].flatMap(signatures);
  const headOf = (cell) => {
    const rows = cell.closest('table').tHead?.rows || [];
    let at = 0;
    for (let e = cell.previousElementSibling; e; e = e.previousElementSibling) at += e.colSpan || 1;
    return rows.length ? rows[rows.length - 1].cells[at] : undefined;
  };
  const column = (cell) => (headOf(cell) ? inside(headOf(cell)) : []);
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!parent || parent.closest(SKIP) || !/\d/.test(node.data)) continue;
    if (!parent.checkVisibility({ visibilityProperty: true })) continue;
    const kind = parent.closest('[data-kind]')?.dataset.kind || '';
    let own = [];
    const cell = parent.closest('td, th');
    for (let e = parent, steps = 0; e && steps < 6 && !own.length; e = e.parentElement, steps += 1) {
      own = signatures(e);
      if (e === cell || /^(TR|LI|P|DD|SECTION|FIGURE|MAIN|BODY|HTML)$/.test(e.tagName)) break;
    }
    const head = cell && cell.tagName === 'TD' ? column(cell) : [];
    const near = cell && cell.tagName === 'TD' ? [...inside(cell), ...inside(cell.parentElement)] : [];
    const above = cell && cell.tagName === 'TD' ? headOf(cell)?.textContent || '' : '';
    const words = parent.closest('td, th, li, p, dd, figcaption, button, a, div')?.textContent || node.data;
    const group = (e) => e && e.closest('tbody') ? inside(e.closest('tbody')) : [];
    for (const match of node.data.matchAll(NUMBER)) {
      found.push({
        text: match[0], before: node.data.slice(Math.max(0, match.index - 60), match.index),
        after: node.data.slice(match.index + match[0].length, match.index + match[0].length + 30),
        own, head, near: near.length ? near : group(cell), kind, above,
        words: words.replace(/\s+/g, ' ').trim().slice(0, 160),
      });
    }
  }
  return found;
}"""
"""Run on the page: every number in sight, its surroundings, and the signatures that it can be said to stand under."""

_NAMED = re.compile(r"([a-z][a-z0-9_]*)(?: \([^()]*\))?(=| (?=⟨[+−-]))⟨")
_LIMIT = re.compile(r"[<>≤≥] ?$")
_SURE = 0.05
"""Below it a change is told: docs/compare.md."""
_UNIT = re.compile(
    r"^[  ]?(?:[–-] ?\d+(?:\.\d+)? )?(?:s|ms|min|h|fps|Hz|kHz|px|kB|MB|GB|frames?|kbit/s)\b"
    r"|^ ?×|^[–-]\d+(?:\.\d+)? m?s\b"
)
_SAYS_SO = re.compile(
    r"⟨\d+ %⟩ (?:interval|rater)|Intervals: ⟨\d+ %⟩|(?:rubric|rushes|version) ⟨[\d.]+⟩|is ⟨0\.05⟩ or less"
    r"|0 to ⟨[\d.]+⟩\.?$|means that ⟨75 %⟩ prefer"
)
"""Words that say what a number is: the level of an interval, a version, the limit of a test, a range, a scale."""
_VERSIONS = re.compile(r"rubric|version", re.IGNORECASE)
_WHOLE = re.compile(r"\d+(?:,\d{3})*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A number on a page."""

    text: str
    before: str
    after: str
    own: tuple[str, ...]
    """Signatures on the element or around it, in the same cell or sentence."""
    head: tuple[str, ...]
    """On the head of its column."""
    near: tuple[str, ...]
    """In another cell of its row, or of its group of rows."""
    kind: str
    above: str
    """The words of the head of its column."""
    words: str

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Shown:
        lists = {name: tuple(dict.fromkeys(found[name])) for name in ("own", "head", "near")}
        return cls(**lists, **{name: found[name] for name in ("text", "before", "after", "kind", "above", "words")})


@dataclass(slots=True)
class Pool:
    """Every number that may be shown, by signature and by the metric's name."""

    by_signature: dict[str, set[float]] = field(default_factory=dict)
    by_name: dict[str, set[float]] = field(default_factory=dict)
    """Differences and the like under the name of the metric that they are of, too."""
    limits: set[float] = field(default_factory=lambda: {_SURE})
    """Thresholds of the profile's rules."""

    def add_all(self, measurements: Iterable[Measurement]) -> None:
        for m in measurements:
            self.add(m.as_dict() | {"signature": m.signature})

    def add(self, row: Mapping[str, Any]) -> None:
        """One measurement as plain data: its value, count, and the ends and level of its interval."""
        interval = row.get("interval") or {}
        numbers = [row.get("value"), row.get("count"), *(interval.get(key) for key in ("low", "high", "level"))]
        numbers = [float(number) for number in numbers if isinstance(number, (int, float))]
        signature = str(row["signature"])
        self.by_signature.setdefault(signature, set()).update(numbers)
        for name in (signature.partition("|")[0], *re.findall(r"\bof:([a-z]\w*)", signature)):
            self.by_name.setdefault(name, set()).update(numbers)

    def plus(self, data: Any) -> Pool:
        """A copy that knows this JSON as well."""
        tables = ({key: set(numbers) for key, numbers in table.items()} for table in (self.by_signature, self.by_name))
        more = Pool(*tables, limits=self.limits)
        more.add_json(data)
        return more

    def add_json(self, data: Any) -> None:
        """Every measurement in a page's JSON twin: what is computed for the page, such as a difference."""
        if isinstance(data, dict):
            if isinstance(data.get("signature"), str) and "value" in data:
                self.add(data)
            for value in data.values():
                self.add_json(value)
        elif isinstance(data, list):
            for value in data:
                self.add_json(value)


def numbers_on(tab: Any) -> list[dict[str, Any]]:
    """Every number that a reader can bring into sight: with what is folded open, and the first row of a report."""
    for row in tab.locator(".subjects button.open").all()[:1]:
        row.click()
    tab.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true })")
    tab.wait_for_timeout(100)
    found: list[dict[str, Any]] = tab.evaluate(COLLECT)
    return found


def faults(found: Iterable[Mapping[str, Any]], pool: Pool) -> Iterator[str]:
    """What is wrong with the numbers of a page, a line each."""
    for shown in map(Shown.of, found):
        fault = _fault(shown, pool)
        if fault:
            yield f"{shown.text!r} in {shown.words!r}: {fault}"


def _fault(shown: Shown, pool: Pool) -> str:
    if shown.kind:
        return "" if shown.kind in KINDS else f"data-kind is one of {', '.join(KINDS)}; got {shown.kind!r}"
    named = _NAMED.search(f"{shown.before}⟨{shown.text}")
    if named and (named[2] == "=" or named[1] in pool.by_name):
        known = pool.by_name.get(named[1], set())
        return "" if _agrees(shown.text, known) else f"{named[1]} has no such value in the run"
    if _LIMIT.search(shown.before):
        return "" if _agrees(shown.text, pool.limits) else "no rule of the profile has this threshold"
    if shown.own:
        return _under(shown, shown.own, pool)
    if _UNIT.match(shown.after):
        return ""
    if shown.head:
        return _under(shown, shown.head, pool)
    if _VERSIONS.fullmatch(shown.above.strip()):
        return ""
    if _WHOLE.fullmatch(shown.text) or _SAYS_SO.search(f"{shown.before}⟨{shown.text}⟩{shown.after}"):
        return ""
    if shown.near:
        return _under(shown, shown.near, pool)
    return "no provenance: expected data-signature, a signed column or row, or data-kind"


def _under(shown: Shown, signatures: tuple[str, ...], pool: Pool) -> str:
    known = set().union(*(pool.by_signature.get(signature, set()) for signature in signatures))
    if _agrees(shown.text, known):
        return ""
    if not known:
        return f"no number of the run has the signature {signatures[0]}"
    return f"not a number under {signatures[0]}" + (f" or {len(signatures) - 1} more" if signatures[1:] else "")


def _agrees(text: str, known: Iterable[float]) -> bool:
    """Whether the text is one of these numbers, rounded to the digits that it shows; either sign where it shows none.

    >>> _agrees("0.16", [0.1581]), _agrees("0.17", [0.1581]), _agrees("42 %", [0.4217]), _agrees("1,204", [1204.0])
    (True, False, True, True)
    """
    plain = text.replace("−", "-").replace("±", "").replace(",", "").replace("+", "").strip()
    scale = 100.0 if plain.endswith("%") else 1.0
    plain = plain.rstrip("% ").strip()
    mantissa, _, exponent = plain.partition("e")
    digits = len(mantissa.partition(".")[2])
    half = 0.5000001 * 10.0 ** (int(exponent or 0) - digits)
    value = float(plain)
    near = [abs(value - scale * number) <= half for number in known]
    if not plain.startswith("-"):
        near += [abs(value - abs(scale * number)) <= half for number in known]
    return any(near)
