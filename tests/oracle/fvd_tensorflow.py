"""The TensorFlow original's preprocessing and distance on the clips of `fvd_clips`, for the protocol google-tf.

    TF/bin/python tests/oracle/fvd_tensorflow.py COMMON_METRICS feed /tmp/fed.npz            # needs tensorflow-cpu, six
    python tests/oracle/fvd_tensorflow.py - run /tmp/fed.npz I3D.pt /tmp/features.npz
    TF/bin/python tests/oracle/fvd_tensorflow.py - distance /tmp/features.npz tests/goldens/fvd_tensorflow.npz
                                                               # and: pip install --no-deps tensorflow-gan==2.1.0

COMMON_METRICS is a checkout of common_metrics_on_video_quality, which holds the original file. Its network is a
TensorFlow Hub module that is not to be had; our own I3D (plain, not the quick path) stands in between the two steps.
"""

from __future__ import annotations

import sys
from pathlib import Path
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.oracle.fvd_clips import SETS, frames, sample

NOT_USED = ("tensorflow_gan", "tensorflow_hub")
FILE = "tensorflow_gan/python/eval/classifier_metrics.py"


def feed(checkout: str, target: str) -> None:
    """What the original feeds its network."""
    import tensorflow as tf

    sys.path.insert(0, checkout)
    for module in NOT_USED:
        sys.modules[module] = mock.MagicMock()
    from fvd.tensorflow.fvd import preprocess

    arrays = {}
    for side in ("gen", "gt"):
        for number, look in enumerate(SETS["mixed"][side]):
            video = tf.constant(frames(*look)[None].astype(np.float32))
            arrays[f"{side}{number}"] = preprocess(video, (224, 224)).numpy()[0]
    np.savez(target, **arrays)


def run(source: str, weights: str, target: str) -> None:
    """Features of each clip, the generated ones first."""
    import torch

    from rushes.instruments.distribution.networks.i3d import I3D

    network = I3D(bn_eps=1e-3, pool_frames=2)
    network.load_state_dict(torch.load(weights, weights_only=True))
    network.eval()
    fed = np.load(source)
    with torch.no_grad():
        features = [network(torch.from_numpy(fed[name]).permute(3, 0, 1, 2)[None])[0].numpy() for name in fed.files]
    np.savez(target, features=np.stack(features), fed=np.stack([sample(fed[name]) for name in fed.files]))


def distance(source: str, target: str) -> None:
    """TensorFlow GAN's distance between the two halves."""
    import importlib.util

    import tensorflow as tf

    for module in (*NOT_USED, "tensorflow_gan.python", "tensorflow_gan.python.eval"):  # its package wants an old one
        sys.modules[module] = mock.MagicMock()

    def covariance(x: tf.Tensor) -> tf.Tensor:
        """TensorFlow Probability's, which divides by N."""
        centred = x - tf.reduce_mean(x, axis=0)
        return tf.matmul(centred, centred, transpose_a=True) / tf.cast(tf.shape(x)[0], x.dtype)

    sys.modules["tensorflow_probability"] = mock.MagicMock(stats=mock.MagicMock(covariance=covariance))
    place = next(Path(folder) / FILE for folder in sys.path if (Path(folder) / FILE).is_file())
    spec = importlib.util.spec_from_file_location("classifier_metrics", place)
    assert spec and spec.loader
    classifier_metrics = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(classifier_metrics)
    found = np.load(source)
    half = len(found["features"]) // 2
    gen, gt = (tf.constant(part) for part in (found["features"][:half], found["features"][half:]))
    value = classifier_metrics.frechet_classifier_distance_from_activations(gt, gen).numpy()
    print(value)
    np.savez_compressed(target, value=np.float64(value), features=found["features"], fed=found["fed"])


if __name__ == "__main__":
    checkout, step, *places = sys.argv[1:]
    if step == "feed":
        feed(checkout, *places)
    else:
        {"run": run, "distance": distance}[step](*places)
