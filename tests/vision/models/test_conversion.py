"""Conversion: pickled arrays become plain ones, the same bytes each time, and nothing that a pickle asks for is run."""

from __future__ import annotations

import io
import os
import pickle
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
from tests.vision.models.conftest import pickled, wheel

from rushes.core.errors import WeightsError
from rushes.vision.models.conversion import converted, i3d_state, npz_bytes, read_arrays, read_torch


def arrays(content: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def test_nested_arrays_become_flat() -> None:
    found = arrays(converted(pickled(kernel=[[1, 2], [3, 4]], bias=[5]), "arrays", "net"))
    assert sorted(found) == ["params/bias", "params/kernel"]
    assert found["params/kernel"].tolist() == [[1, 2], [3, 4]] and found["params/bias"].dtype == np.float32


def test_the_bytes_depend_on_names_and_values_alone() -> None:
    one = npz_bytes({"b": np.arange(3), "a": np.ones((2, 2), order="F")})
    assert one == npz_bytes({"a": np.ones((2, 2)), "b": np.arange(3, dtype=">i8")})
    assert one != npz_bytes({"a": np.ones((2, 2)), "b": np.arange(1, 4)})


class Trap:
    def __init__(self, call: object, *arguments: object) -> None:
        self._reduced = (call, arguments)

    def __reduce__(self) -> tuple[object, ...]:
        return self._reduced


@pytest.mark.parametrize("how", ["arrays", "i3d", "torch"])
def test_a_pickle_that_wants_to_run_something(tmp_path: Path, how: str) -> None:
    for trap in (Trap(os.system, f"touch {tmp_path / 'ran'}"), Trap(eval, "1"), Trap(getattr, 1, "real")):
        content = pickle.dumps({"weights": trap})
        if how == "torch":
            content = wheel({"archive/data.pkl": content})
        with pytest.raises(
            WeightsError, match=r"net: expected pickled arrays and nothing else \(it needs .*nothing was run"
        ):
            converted(content, how, "net")  # type: ignore[arg-type]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "content", [b"", b"text", b"PK\x03\x04cut", b"\x80\x04\x95", pickle.dumps({}), pickle.dumps([1])]
)
@pytest.mark.parametrize("how", ["arrays", "i3d", "torch"])
def test_junk_is_one_line(content: bytes, how: str) -> None:
    with pytest.raises(WeightsError, match="net: expected pickled arrays"):
        converted(content, how, "net")  # type: ignore[arg-type]


def test_object_arrays_are_refused() -> None:
    with pytest.raises(WeightsError, match="net: expected pickled arrays"):
        converted(pickle.dumps({"a": np.array([{}, []], dtype=object)}), "arrays", "net")


def test_torch_checkpoints_are_read_without_torch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    base = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
    state = OrderedDict(
        whole=base, turned=base.permute(2, 0, 1), part=base[1, 1:], half=base.half(), count=torch.tensor(7),
        empty=torch.zeros(0, 3), weight=torch.nn.Parameter(base[0]), flags=torch.tensor([True, False]),
    )  # fmt: skip
    content = {"state_dict": state, "trunk": [base, {"x": base}], "epoch": 3, "optimizer_state": {"step": base}}
    for legacy in (False, True):
        torch.save(content, tmp_path / "w.pt", _use_new_zipfile_serialization=not legacy)
        found = read_torch((tmp_path / "w.pt").read_bytes())
        assert sorted(found) == sorted([*(f"state_dict.{name}" for name in state), "trunk.0", "trunk.1.x"])
        for name, tensor in state.items():
            wanted = tensor.detach().numpy()
            assert found[f"state_dict.{name}"].dtype == wanted.dtype
            np.testing.assert_array_equal(found[f"state_dict.{name}"], wanted)


def test_a_torchscript_program_gives_its_state_dict_and_is_not_run(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *words, **options: None)
        torch.jit.save(torch.jit.trace(network.eval(), torch.zeros(1, 3, 8, 8)), tmp_path / "script.pt")
    found = read_torch((tmp_path / "script.pt").read_bytes())
    wanted = {name: value.numpy() for name, value in network.state_dict().items()}
    assert sorted(found) == sorted(wanted)
    for name, values in wanted.items():
        np.testing.assert_array_equal(found[name], values)


def test_a_tensor_beyond_its_storage_is_refused(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.save({"a": torch.arange(100.0)}, tmp_path / "w.pt")
    import zipfile

    with zipfile.ZipFile(tmp_path / "w.pt") as archive:
        short = {name: archive.read(name)[: 40 if name.endswith("/data/0") else None] for name in archive.namelist()}
    with pytest.raises(WeightsError, match="a tensor reaches beyond its storage"):
        converted(wheel(short), "torch", "net")


def test_i3d_takes_every_array_and_no_other() -> None:
    with pytest.raises(KeyError, match="Conv3d_1a_7x7"):
        i3d_state({})
    # DHWIO to OIDHW: a kernel of 7×7×7 with 3 channels in and 64 out
    names: dict[str, np.ndarray] = _Everything()  # type: ignore[assignment]
    state = i3d_state(names)
    assert len(state) == 287
    assert state["Conv3d_1a_7x7.conv3d.weight"].shape == (5, 4, 1, 2, 3)
    assert state["Mixed_5c.b3b.bn.weight"].tolist() == [1.0] * 6
    with pytest.raises(ValueError, match="1 arrays are not of this network, the first extra"):
        i3d_state({**names, "extra": np.zeros(1)})


class _Everything(dict[str, np.ndarray]):
    """Makes up each array that is asked for."""

    def __missing__(self, name: str) -> np.ndarray:
        self[name] = np.zeros((1, 2, 3, 4, 5) if name.endswith("kernel") else (6,))
        return self[name]


def test_read_arrays_of_both_numpys() -> None:
    for module in (b"numpy.core.multiarray", b"numpy._core.multiarray"):
        content = pickle.dumps({"a": np.arange(2.0)}, protocol=3).replace(b"numpy._core.multiarray", module)
        assert read_arrays(content)["a"].tolist() == [0.0, 1.0]
