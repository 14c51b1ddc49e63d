"""What a browser waits for when `rushes view` shows a run in shards, and the most memory its server held.

`bench_shards.py` runs it; by itself: python benchmarks/shard_server.py FOLDER_WITH_A_RUN_CALLED_run
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

_FILTER = "badge=pass&max.blur_score=20"


def look(folder: Path, clip: str) -> dict[str, float]:
    """Seconds of each page of a fresh server over a folder with a run called `run`, in the order a person asks.

    `memory` is in MB, `clips that match` a count.
    """
    command = [sys.executable, "-m", "rushes", "view", str(folder), "--json", "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    figures: dict[str, float] = {}
    try:
        assert server.stdout is not None
        told = json.loads(server.stdout.readline())
        browser = build_opener(HTTPCookieProcessor(CookieJar()))

        def get(path: str, name: str = "") -> bytes:
            began = time.perf_counter()
            with browser.open(told["link"] if not path else told["address"].rstrip("/") + path) as answer:
                body: bytes = answer.read()
            if name:
                figures[name] = time.perf_counter() - began
            return body

        get("")  # by the link, which signs in
        time.sleep(3)  # the rest of the server is imported meanwhile
        get("/", "home")
        get("/home/cards?run=run", "home: counts and worst clips, filled in afterwards")
        get("/runs/run", "the run's page, first time (all distributions)")
        get("/runs/run", "the run's page again")
        found = json.loads(get(f"/runs/run.json?{_FILTER}", "first filter"))
        figures["clips that match"] = found["matching"]
        get("/runs/run.json?q=take0000", "search by name")
        get("/runs/run.json?sort=sharpness&order=desc", "sort by a metric")
        get(f"/runs/run/clip?id={clip}", "a clip's page")
        assert get(f"/runs/run/selection.txt?{_FILTER}", "list of the filter's clips").count(b"\n") == found["matching"]
        status = Path(f"/proc/{server.pid}/status").read_text()
        figures["memory"] = int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024
    finally:
        server.terminate()
        server.wait()
    return figures


if __name__ == "__main__":
    print(json.dumps(look(Path(sys.argv[1]), sys.argv[2]), indent=2))
