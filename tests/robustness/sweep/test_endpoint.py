"""A vision model behind an OpenAI-compatible endpoint, against a local stub server."""

from __future__ import annotations

import base64
import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cv2
import numpy as np
import pytest

from rushes.errors import InputError
from rushes.robustness.sweep.endpoint import EndpointJudge, sampled_jpegs

QUESTION = "Is the clip sharp?"


def completion(text):
    return 200, json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode(), {}


class Stub:
    """A server that gives these replies in turn, the last one for ever, and keeps what it was asked."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                stub.asked.append((self.path, dict(self.headers), json.loads(body)))
                reply = stub.replies.pop(0) if len(stub.replies) > 1 else stub.replies[0]
                if reply == "silence":
                    time.sleep(1.5)
                    return
                code, content, headers = reply
                self.send_response(code)
                for name, value in ({"Content-Length": str(len(content))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST

            def log_message(self, *arguments):
                """Keep quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


@contextmanager
def serving(*replies):
    stub = Stub(*replies)
    thread = threading.Thread(target=stub.server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        stub.server.shutdown()
        stub.server.server_close()
        thread.join()


def judge(stub, **options):
    settings = {"model": "eye-1", "base_url": stub.url, "question": QUESTION, "timeout": 10.0, "pause_s": 0.0}
    return EndpointJudge(**(settings | options))


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_frames_and_question_go_out_and_the_answer_comes_back(clip):
    with serving(completion('{"output": "yes", "justification": "fine edges"}')) as stub:
        verdict = judge(stub, frames=3).judge(clip, seed=5)
    assert (verdict.output, verdict.justification, verdict.failed) == ("yes", "fine edges", False)
    (path, headers, body) = stub.asked[0]
    assert path == "/v1/chat/completions"
    assert "Authorization" not in headers
    assert (body["model"], body["temperature"], body["seed"]) == ("eye-1", 0, 5)
    text, *images = body["messages"][0]["content"]
    assert QUESTION in text["text"] and "JSON" in text["text"]
    assert len(images) == 3
    data = base64.b64decode(images[0]["image_url"]["url"].removeprefix("data:image/jpeg;base64,"))
    assert cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR).shape == (48, 64, 3)


def test_the_key_comes_from_the_environment_and_is_written_nowhere(clip, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret-123")
    with serving(completion('{"output": "yes"}')) as stub:
        asked = judge(stub, api_key_env="MY_KEY")
        asked.judge(clip, seed=1)
    assert stub.asked[0][1]["Authorization"] == "Bearer secret-123"
    assert "secret" not in json.dumps(asked.describe())


@pytest.mark.parametrize(
    ("text", "output", "justification"),
    [
        ('```json\n{"output": "no", "justification": "soft"}\n```', "no", "soft"),
        ("No.\nThe picture is soft.", "No.", "The picture is soft."),
        ("No", "No", ""),
    ],
)
def test_models_that_do_not_keep_to_the_form(clip, text, output, justification):
    with serving(completion(text)) as stub:
        verdict = judge(stub).judge(clip, seed=1)
    assert (verdict.output, verdict.justification) == (output, justification)


def test_a_busy_endpoint_is_asked_again(clip):
    with serving((503, b"busy", {}), (429, b"slow down", {}), completion('{"output": "yes"}')) as stub:
        assert judge(stub).judge(clip, seed=1).output == "yes"
    assert len(stub.asked) == 3


@pytest.mark.parametrize(
    ("reply", "reason", "asked"),
    [
        ((401, b"", {}), "the endpoint answered 401 Unauthorized", 1),
        ((500, b"", {}), "the endpoint answered 500 Internal Server Error", 3),
        ((200, b"<html>", {}), "the endpoint's reply is no chat completion", 1),
        ((200, b'{"choices": []}', {}), "the endpoint's reply is no chat completion", 1),
        (completion(""), "the model answered nothing", 1),
        (completion(None), "the model answered nothing", 1),
    ],
)
def test_failures_are_verdicts(clip, reply, reason, asked):
    with serving(reply) as stub:
        verdict = judge(stub).judge(clip, seed=1)
    assert (verdict.failed, verdict.justification, len(stub.asked)) == (True, reason, asked)


def test_a_redirect_does_not_carry_the_key_elsewhere(clip, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret-123")
    with serving(completion('{"output": "yes"}')) as other:
        with serving((302, b"", {"Location": other.url + "/chat/completions"})) as stub:
            verdict = judge(stub).judge(clip, seed=1)
    assert verdict.failed and "302" in verdict.justification
    assert other.asked == []


def test_an_endpoint_that_never_answers(clip):
    with serving("silence") as stub:
        verdict = judge(stub, timeout=0.2, attempts=1).judge(clip, seed=1)
    assert verdict.justification == "timed out after 0.2 s"


def test_nobody_there(clip):
    with serving(completion("x")) as stub:
        url = stub.url
    verdict = EndpointJudge(model="m", base_url=url, question="q", attempts=1).judge(clip, seed=1)
    assert verdict.failed and "cannot be reached" in verdict.justification


def test_a_clip_that_cannot_be_read(tmp_path):
    path = tmp_path / "clip.mp4"
    path.write_bytes(b"no clip")
    verdict = EndpointJudge(model="m", base_url="http://x", question="q").judge(path, seed=1)
    assert verdict.failed and str(tmp_path) not in verdict.justification


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"base_url": "file:///etc/passwd"}, "reads http"),
        ({"base_url": "ftp://host"}, "reads http"),
        ({"base_url": "http://"}, "reads http"),
        ({"base_url": "https://me:secret@host/v1"}, "no user name or password"),
        ({"model": ""}, "needs --judge openai:MODEL"),
        ({"question": " "}, "--question TEXT"),
        ({"frames": 0}, "at least one frame"),
    ],
)
def test_settings_refused(changes, message):
    with pytest.raises(InputError, match=message):
        EndpointJudge(**({"model": "m", "base_url": "http://host/v1", "question": "q"} | changes)).check()


def test_frames_come_from_the_middles_of_equal_stretches(clip):
    assert len(sampled_jpegs(clip, 4)) == 4
    assert len(sampled_jpegs(clip, 64)) == 10  # the clip has no more
