"""Triton kernels against the plain operations, in Triton's interpreter on a CPU; skipped where Triton is not there."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from rushes.core.errors import MissingDependency
from rushes.vision import no_triton


@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed here (it comes with torch for CUDA)")
def test_every_kernel_does_the_plain_operations_work() -> None:
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    script = Path(__file__).with_name("check_kernels.py")
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=False)
    if "only 0-dimensional arrays can be converted" in done.stderr:
        pytest.skip("Triton's interpreter does not work with this numpy; with numpy 2.2 it does")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" ok") == 22


def test_without_triton_a_launch_says_what_is_missing() -> None:
    kernel = no_triton.jit(lambda x: x)
    with pytest.raises(MissingDependency, match="pip install triton"):
        kernel[(1,)]
    assert isinstance(no_triton.jit(do_not_specialize=["M"])(lambda x: x), type(kernel))
