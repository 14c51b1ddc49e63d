"""A table's cells are the same wherever they are shown."""

from __future__ import annotations

from rushes.core import Definition, Interval, Measurement
from rushes.core.table import COUNT, INTERVAL, NUMBER, SIGNATURE, TEXT, Cell, Kind, Table, interval_cell, number

D = Definition(name="x", unit="1", lowest=None, highest=None, better="neither", summary="s", formula="f")
THIRD = Measurement(definition=D, value=1 / 3, count=2, interval=Interval(low=0, high=1, level=0.9, method="m"))
NONE = Measurement.missing(D, "no frame")
TABLE = Table(
    title="t",
    columns=(*TEXT("who"), *NUMBER("x"), *INTERVAL("interval")),
    rows=[
        (Cell("=1+1"), number(THIRD), interval_cell(THIRD, digits=1)),
        (Cell("b"), number(NONE), interval_cell(NONE)),
    ],
)


def test_as_text() -> None:
    assert str(TABLE).splitlines() == ["who   x       interval", "=1+1  0.3333  0.0 to 1.0", "b     –       –"]


def test_as_csv_numbers_are_as_stored_and_nothing_runs_in_a_spreadsheet() -> None:
    assert TABLE.csv() == "who,x,interval\n'=1+1,0.33333333,0.0 to 1.0\nb,,–\n"


def test_as_data_a_number_brings_its_signature() -> None:
    cells = TABLE.as_dict()["rows"][0]  # type: ignore[index]
    assert cells[0] == {"text": "=1+1"}
    assert cells[1]["signature"] == "x|v:1" and cells[1]["value"] == 0.33333333 and cells[1]["interval"]["high"] == 1.0


def test_a_column_is_set_by_its_kind() -> None:
    assert [kind for kind in Kind if kind.right] == [NUMBER, INTERVAL, COUNT]
    assert not TEXT.right and not SIGNATURE.right
    assert TABLE.header == ("who", "x", "interval") and [column.keep for column in TEXT("a", keep=True)] == [True]


def test_footnotes_name_each_signature_once() -> None:
    found = TABLE.footnoted(["x|v:1", "x|v:1"], ["y|v:2"])
    assert [row[0].raised for row in found.rows] == ["1", "1"]
    assert [(note.mark, note.signature) for note in found.footnotes] == [(1, "x|v:1"), (2, "y|v:2")]
