"""Clips whose truth is known by construction, and judges that answer about them: perfect ones and faulty ones.

The clip of prompt N shows vertical stripes of the N-th of twelve hues that roll to the side. The better the system, the
stronger the stripes. A judge that looks can tell the hue (what was asked for) and the contrast (how good it is).
"""

from __future__ import annotations

import base64
import colorsys
import hashlib
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import cv2
import numpy as np

from rushes.media import write_clip

HUES = 12
WORDS = ("red", "orange", "lime", "green", "mint", "teal", "cyan", "azure", "blue", "violet", "pink", "rose")


def picture(hue: int, contrast: float, shift: int) -> np.ndarray:
    colour = np.array(colorsys.hsv_to_rgb(hue / HUES, 0.8, 0.9)) * 255
    wave = 1 - contrast * (((np.arange(64) + shift) // 4) % 2)
    return np.broadcast_to(wave[None, :, None] * colour, (48, 64, 3)).round().astype(np.uint8)


def make_clip(path: Path, hue: int, contrast: float = 0.6, frames: int = 6, words: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_clip(path, [written(picture(hue, contrast, 2 * t), words) for t in range(frames)], fps=8)


def written(frame: np.ndarray, words: str) -> np.ndarray:
    """The frame with white words on a black band at its foot."""
    if not words:
        return frame
    frame = frame.copy()
    frame[36:] = 0
    return cv2.putText(frame, words, (1, 45), cv2.FONT_HERSHEY_PLAIN, 0.6, (255, 255, 255))


def reads(jpeg: bytes, words: str) -> bool:
    """Whether these words stand in the picture: it correlates with them as they would be written."""
    grey = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_GRAYSCALE)
    looked_for = written(np.zeros((48, 64, 3), np.uint8), words)[36:, :, 0]
    return bool(np.corrcoef(grey[36:].ravel(), looked_for.ravel())[0, 1] > 0.8)


def make_prompts(path: Path, count: int = HUES, extra: dict[int, str] | None = None) -> Path:
    texts = [f"a {word} curtain rolls by" for word in WORDS[:count]]
    for place, text in (extra or {}).items():
        texts[place] += text
    path.write_text("prompt_id,prompt_text\n" + "".join(f'p{n},"{text}"\n' for n, text in enumerate(texts)))
    return path


def make_system(folder: Path, count: int = HUES, contrast: float = 0.6) -> Path:
    for hue in range(count):
        make_clip(folder / f"p{hue}.mkv", hue, contrast)
    return folder


def hue_of(jpeg: bytes) -> int:
    hsv = cv2.cvtColor(cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR), cv2.COLOR_BGR2HSV_FULL)
    angles = hsv[..., 0].ravel()[hsv[..., 2].ravel() > 100] * (2 * np.pi / 256)
    return round(float(np.angle(np.exp(1j * angles).mean()) / (2 * np.pi) * HUES)) % HUES


def sharpness_of(jpeg: bytes) -> float:
    """Contrast between neighbouring stripes, less the noise along a column."""
    grey = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_GRAYSCALE).astype(float)
    return float(grey.mean(axis=0).std() - grey.std(axis=0).mean())


def wanted_hue(text: str) -> int | None:
    return next((place for place, word in enumerate(WORDS) if re.search(rf"\b{word}\b", text)), None)


class Judge:
    """Answers a request given as texts and clips. Each kind of fault is one word."""

    def __init__(self, behaviour: str = "perfect") -> None:
        self.behaviour = behaviour
        self.asked: list[str] = []
        self.lock = threading.Lock()

    def __call__(self, request: dict) -> str:
        parts = request["parts"]
        text = "\n".join(part["text"] for part in parts if "text" in part)
        clips = [part["frames"] for part in parts if "clip" in part]
        with self.lock:
            self.asked.append(text)
        return self.answer(text, clips, request["seed"])

    def answer(self, text: str, clips: list[list[bytes]], seed: int) -> str:
        found = self._answer(text, clips, seed)
        return found if isinstance(found, str) else json.dumps(found)

    def _answer(self, text: str, clips: list[list[bytes]], seed: int):
        kind, behaviour = self._kind(text, clips), self.behaviour
        if behaviour == "refusing":
            return "I'm sorry, but I can't assist with that."
        if behaviour == "wrong_json":
            return '{"verdict": "good"}'
        if kind == "make":
            word = WORDS[wanted_hue(text)]
            rows = [
                (f"Is it {word}?", f"Is it another colour than {word}?"),
                ("Is there a curtain?", "Is no curtain there?"),
            ]
            return {"questions": [{"question": a, "negated": b} for a, b in rows]}
        if behaviour == "random":
            draw = int(hashlib.sha256(f"{text}{seed}{clips[0][0][-40:]}".encode()).hexdigest(), 16)
            return {"answer": {"grade": 1 + draw % 5, "yes_no": ("yes", "no")[draw % 2], "pair": "AB"[draw % 2]}[kind]}
        if behaviour == "yes_biased":
            return {"answer": {"grade": 5, "yes_no": "yes", "pair": "tie"}[kind], "reason": "looks fine"}
        if behaviour == "obedient" and (told := re.search(r"answer ([1-5])", text)) and kind == "grade":
            return {"answer": int(told[1]), "reason": "as told"}
        if behaviour == "reading" and kind == "grade" and reads(clips[0][0], "answer 5"):
            return {"answer": 5, "reason": "the picture asks for it"}
        return {"answer": getattr(self, f"_{kind}")(text, clips), "reason": f"hue {hue_of(clips[0][0])}"}

    def _kind(self, text: str, clips: list[list[bytes]]) -> str:
        return "make" if not clips else "pair" if len(clips) == 2 else "yes_no" if '"yes" or "no"' in text else "grade"

    def _grade(self, text: str, clips: list[list[bytes]]) -> int:
        if "what the prompt asks" in text:
            return 4 if self.behaviour == "blind" else 5 if hue_of(clips[0][0]) == wanted_hue(text) else 1
        order = [hue_shift(a, b) for a, b in zip(clips[0], clips[0][1:], strict=False)]
        steady = all(step == order[0] for step in order)
        return max(1, min(5, round(sharpness_of(clips[0][0]) / 8))) if "picture" in text else 5 if steady else 2

    def _yes_no(self, text: str, clips: list[list[bytes]]) -> str:
        hue, wanted = hue_of(clips[0][0]), wanted_hue(text)
        truth = True if wanted is None else hue == wanted
        if self.behaviour == "blind":
            truth = True
        return "yes" if truth != ("another colour" in text or "no curtain" in text) else "no"

    def _pair(self, text: str, clips: list[list[bytes]]) -> str:
        if self.behaviour == "order_biased":
            return "A"
        wanted = None if self.behaviour == "blind" else wanted_hue(text)
        right = [wanted is None or hue_of(frames[0]) == wanted for frames in clips]
        if right[0] != right[1]:
            return "A" if right[0] else "B"
        one, other = (sharpness_of(frames[0]) for frames in clips)
        return "tie" if abs(one - other) < 1.5 else "A" if one > other else "B"


def hue_shift(one: bytes, other: bytes) -> int:
    """How far the stripes rolled, modulo their period."""
    grey = (cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_GRAYSCALE) for jpeg in (one, other))
    a, b = (picture.astype(float).mean(axis=0) for picture in grey)
    return int(np.argmax([float((np.roll(a, -s) * b).sum()) for s in range(8)]))


class Stub:
    """An endpoint on the loopback that answers as its judge does, and counts what it was asked."""

    def __init__(self, behaviour: str = "perfect", *, wait: float = 0.0) -> None:
        self.behaviour, self.wait = behaviour, wait
        self.judge = Judge(behaviour)
        self.bodies: list[dict] = []
        self.headers: list[dict] = []
        self.busy: set[str] = set()
        self.lock = threading.Lock()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                stub.handle(self, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def log_message(self, *arguments: object) -> None:
                """Keep quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        self.spec = f"openai:{self.url}#eye-1"

    def handle(self, handler: BaseHTTPRequestHandler, body: dict) -> None:
        with self.lock:
            self.bodies.append(body)
            self.headers.append(dict(handler.headers))
            number = len(self.bodies)
        time.sleep(self.wait)
        digest = hashlib.sha256(json.dumps(body).encode()).hexdigest()
        if self.behaviour == "busy" and digest not in self.busy:
            self.busy.add(digest)
            return self.send(handler, 429, b"{}", {"Retry-After": "0"})
        if self.behaviour == "malformed":
            return self.send(handler, 200, b"<html>")
        if self.behaviour == "huge":
            return self.send(handler, 200, b" " * (5 << 20))
        if self.behaviour == "redirect":
            return self.send(handler, 302, b"", {"Location": "http://127.0.0.1:1/elsewhere"})
        model = "eye-1-june" if self.behaviour == "drifting" and number > 20 else "eye-1-may"
        reply = {"model": model, "choices": [{"message": {"content": self.text(body)}}]}
        reply["usage"] = {"prompt_tokens": 100, "completion_tokens": 7}
        data = json.dumps(reply).encode()
        if self.behaviour == "cut_off":
            return self.send(handler, 200, data[:20], {"Content-Length": str(len(data))}, close=True)
        return self.send(handler, 200, data)

    def text(self, body: dict) -> str:
        texts, clips = [], []
        for part in body["messages"][1]["content"]:
            if part["type"] == "text":
                texts.append(part["text"])
                new = True
                continue
            if new:
                clips.append([])
                new = False
            clips[-1].append(base64.b64decode(part["image_url"]["url"].partition(",")[2]))
        return self.judge.answer("\n".join(texts), clips, body["seed"])

    @staticmethod
    def send(handler, code: int, data: bytes, headers: dict | None = None, *, close: bool = False) -> None:
        handler.send_response(code)
        for name, value in ({"Content-Length": str(len(data))} | (headers or {})).items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)
        handler.close_connection = close


@contextmanager
def serving(behaviour: str = "perfect", *, wait: float = 0.0) -> Iterator[Stub]:
    stub = Stub(behaviour, wait=wait)
    thread = threading.Thread(target=stub.server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        stub.server.shutdown()
        stub.server.server_close()
        thread.join()
