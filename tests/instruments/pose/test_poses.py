"""Files of poses, good and bad. Every refusal names the file, and the frame, line or image where there is one."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushes.core.errors import InputError
from rushes.instruments.pose.files.poses import read_poses

POSE = [[1.0, 2.0], [3.0, 4.0]]


def coco(**annotation: object) -> dict[str, object]:
    return {"image_id": 1, "category_id": 1, "keypoints": [1, 2, 2, 3, 4, 0]} | annotation


def write(folder: Path, name: str, data: object) -> Path:
    path = folder / name
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def refused(path: Path, message: str, **options: object) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_poses(path, **options)  # type: ignore[arg-type]
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_npy_of_two_and_four_columns(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((5, 17, 2), dtype=np.float32))
    np.save(tmp_path / "b.npy", np.arange(5 * 17 * 4).reshape(5, 17, 4))
    flat, deep = read_poses(tmp_path / "a.npy"), read_poses(tmp_path / "b.npy")
    assert (len(flat), flat.joints, flat.visibility, flat.ids, flat.sequence) == (5, 17, None, None, True)
    assert isinstance(flat.points, np.memmap)  # not read until used
    assert deep.points.shape == (5, 17, 3) and deep.visibility is not None
    assert deep.visibility[0, 1] == 7


def test_three_columns_must_be_named(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.arange(51.0).reshape(1, 17, 3))
    refused(path, "columns='xyz' or columns='xyv'")
    assert read_poses(path, columns="xyz").points.shape == (1, 17, 3)
    seen = read_poses(path, columns="xyv")
    assert seen.points.shape == (1, 17, 2) and seen.visibility is not None and seen.visibility[0, 0] == 2


@pytest.mark.parametrize("shape", [(17, 2), (5, 17, 5), (5, 17, 1), (2, 2, 2, 2), ()])
def test_npy_of_another_shape(tmp_path: Path, shape: tuple[int, ...]) -> None:
    np.save(tmp_path / "a.npy", np.zeros(shape))
    refused(tmp_path / "a.npy", "got shape")


def test_npy_that_is_none(tmp_path: Path) -> None:
    refused(write(tmp_path, "a.npy", "not an array"), "cannot be read as a numpy array")
    refused(write(tmp_path, "b.npy", ""), "cannot be read as a numpy array")
    np.save(tmp_path / "c.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    refused(tmp_path / "c.npy", "cannot be read as a numpy array")
    np.save(tmp_path / "d.npy", np.zeros((1, 17, 2), dtype=complex))
    refused(tmp_path / "d.npy", "real numbers")
    np.save(tmp_path / "e.npy", np.zeros((0, 17, 2)))
    refused(tmp_path / "e.npy", "has no poses")


def test_npz_with_everything(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(
        path,
        keypoints=np.zeros((2, 33, 2)),
        visibility=np.ones((2, 33)),
        ids=np.array(["a", "b"]),
        areas=np.array([1, 2]),
        skeleton=np.array("mediapipe-33"),
        size=np.array([640, 360]),
        unit=np.array("px"),
        other=np.zeros(9),
    )
    found = read_poses(path)
    assert (found.ids, found.skeleton, found.size, found.unit) == (("a", "b"), "mediapipe-33", (640, 360), "px")
    assert found.areas is not None and found.areas.tolist() == [1.0, 2.0]
    assert (found.frame_name(1), found.estimator) == ("image b", None)


def test_npz_with_one_array_of_any_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", arr_0=np.zeros((2, 17, 4)))
    found = read_poses(tmp_path / "a.npz")
    assert found.points.shape == (2, 17, 3) and found.visibility is not None
    assert found.frame_name(1) == "frame 1"


def test_npz_that_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, a=np.zeros((2, 17, 2)), b=np.zeros(3))
    refused(path, "an array called keypoints; got a, b")
    np.savez(path, keypoints=np.zeros((2, 17, 2)), visibility=np.zeros((2, 16)))
    refused(path, r"visibility has shape \(2, 16\)")
    np.savez(path, keypoints=np.zeros((2, 17, 2)), ids=np.array([7, 7]))
    refused(path, "frame 1 repeats the id 7")
    np.savez(path, keypoints=np.zeros((2, 17, 2)), ids=np.array([7]))
    refused(path, "need 2 ids")
    np.savez(path, keypoints=np.zeros((2, 17, 2)), areas=np.zeros(3))
    refused(path, "need 2 areas")
    np.savez(path, keypoints=np.zeros((2, 17, 2)), visibility=np.full((2, 17), "x"))
    refused(path, "visibility should be numbers")
    np.savez(path, keypoints=np.zeros((2, 17, 2)), size=np.array([np.nan, 1]))
    assert read_poses(path).size is None
    refused(
        write(tmp_path, "b.npz", "no zip"), "b.npz: expected arrays as numpy.savez writes them; this is not a numpy"
    )


def test_coco_annotations(tmp_path: Path) -> None:
    data = {
        "annotations": [coco(image_id=7, area=50.5), coco(image_id=3), coco(image_id=9, iscrowd=1), {"image_id": 4}],
        "categories": [{"name": "person", "keypoints": ["nose", "chin"]}],
    }
    found = read_poses(write(tmp_path, "gt.json", data))
    assert found.ids == (7, 3) and found.joint_names == ("nose", "chin")
    assert found.points.tolist() == [POSE, POSE]
    assert found.visibility is not None and found.visibility.tolist() == [[2, 0], [2, 0]]
    assert found.areas is not None and found.areas[0] == 50.5 and math.isnan(found.areas[1])
    assert found.warnings == ("2 annotations without key points or marked as crowds left out",)
    assert (found.sequence, found.unit) == (False, "px")


def test_coco_results_and_duplicates(tmp_path: Path) -> None:
    better = coco(score=0.9, area=1, keypoints=[5, 5, 1, 5, 5, 1])
    path = write(tmp_path, "pred.json", [coco(score=0.1, area=90), better, coco(image_id=2)])
    refused(path, "image 1 has two poses.*duplicates='match' scores all of them, keep-best the largest person")
    everybody = read_poses(path, duplicates="keep-best")
    assert everybody.ids == (1, 1, 2) and everybody.points[1].tolist() == [[5, 5], [5, 5]]
    assert everybody.scores is not None and everybody.scores[:2].tolist() == [0.1, 0.9]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("{", "not JSON"),
        ({"images": []}, "expected COCO annotations"),
        ([1, 2], "expected COCO annotations"),
        ({"annotations": []}, "has no poses"),
        ([coco(keypoints=[1, 2])], "x, y, v for each joint"),
        ([coco(keypoints="abc")], "x, y, v for each joint"),
        ([coco(keypoints=[1, 2, "v"])], "image 1: expected a number; got 'v'"),
        ([coco(), coco(image_id=8, keypoints=[1, 2, 2])], "image 8 has 1 joints × 2 coordinates; the first has 2 × 2"),
        ([{"keypoints": [1, 2, 2]}], "has no image_id"),
        ([coco(image_id=[1])], "an image id is a number or text"),
    ],
)
def test_coco_that_is_not(tmp_path: Path, data: object, message: str) -> None:
    refused(write(tmp_path, "a.json", data), message)


def test_json_lines(tmp_path: Path) -> None:
    lines = [
        {"frame": 4, "keypoints": POSE, "visibility": [1, 0], "area": 9},
        {"frame": 5, "keypoints": None},
        {"frame": 6, "keypoints": [None, [3, float("nan")]], "visibility": [1, 1]},
    ]
    text = "\n\n".join(json.dumps(line) for line in lines) + "\n"
    found = read_poses(write(tmp_path, "a.jsonl", text))
    assert found.ids == (4, 5, 6) and found.sequence
    assert np.isnan(found.points[1]).all() and np.isnan(found.points[2, 0]).all()
    assert found.points[2, 1, 0] == 3 and math.isnan(found.points[2, 1, 1])
    assert found.visibility is not None and found.visibility.tolist() == [[1, 0], [0, 0], [1, 1]]


def test_json_lines_without_ids_in_three_dimensions_and_flat(tmp_path: Path) -> None:
    deep = read_poses(write(tmp_path, "a.jsonl", '{"keypoints": [[1, 2, 3], [4, 5, 6]]}\n'))
    assert deep.ids is None and deep.points.shape == (1, 2, 3) and deep.visibility is None
    flat = read_poses(write(tmp_path, "b.jsonl", '{"image_id": "x", "keypoints": [1, 2, 2, 3, 4, 0]}\n'))
    assert flat.ids == ("x",) and flat.points[0].tolist() == POSE
    assert flat.visibility is not None and flat.visibility[0].tolist() == [2, 0]
    huge = read_poses(write(tmp_path, "c.jsonl", '{"keypoints": [[1' + "0" * 400 + ", 2], [3, 4]]}\n"))
    assert math.isinf(huge.points[0, 0, 0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"keypoints": [[1, 2]]}\n{', "line 2: not JSON"),
        ("[1]", "line 1: expected an object with keypoints"),
        ('{"keypoints": [[1, 2], [1]]}', "line 1: a joint is"),
        ('{"keypoints": [[1, 2], "x"]}', "line 1: a joint is"),
        ('{"keypoints": []}', "line 1: keypoints are a list"),
        ('{"keypoints": [[1, true]]}', "line 1: expected a number"),
        ('{"keypoints": [[1, 2]], "visibility": [1, 1]}', "line 1: 1 joints need 1 visibilities"),
        ('{"keypoints": [[1, 2]], "visibility": 1}', "line 1: visibility is a list"),
        ('{"id": 1, "keypoints": [[1, 2]]}\n{"keypoints": [[1, 2]]}', "line 2 has no id"),
        ('{"id": 1, "keypoints": [[1, 2]]}\n{"id": 1, "keypoints": [[1, 2]]}', "image 1 has two poses"),
        ('{"keypoints": [[1, 2]], "visibility": [1]}\n{"keypoints": [[1, 2]]}', "line 2 has no visibility"),
        ('{"keypoints": null}', "has no poses"),
        ("", "has no poses"),
    ],
)
def test_json_lines_that_are_not(tmp_path: Path, text: str, message: str) -> None:
    refused(write(tmp_path, "a.jsonl", text), message)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["keypoints", "image_id", "id", "visibility", "area", "annotations"]), inner)
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=50)
@given(ANY_JSON)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_whatever_is_in_the_file_is_poses_or_one_clear_line(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: object
) -> None:
    path = write(tmp_path_factory.getbasetemp(), name, data)
    try:
        assert len(read_poses(path)) > 0
    except InputError as error:
        assert str(path) in str(error) and "\n" not in str(error)


def test_files_that_are_not_there_or_not_poses(tmp_path: Path) -> None:
    refused(tmp_path / "none.npz", "no such file")
    refused(write(tmp_path, "a.txt", "x"), "expected poses as .json, .jsonl, .npy, .npz or a video; got .txt")
    (tmp_path / "a.jsonl").write_bytes(b"\xff\xfe")
    refused(tmp_path / "a.jsonl", "not UTF-8")
