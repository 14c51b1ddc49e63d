"""A vision model behind an OpenAI-compatible endpoint, against a local stub server."""

from __future__ import annotations

import base64
import json
import math
import threading
import time
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cv2
import numpy as np
import pytest

from rushes.core.errors import InputError
from rushes.instruments.robustness.sweep.endpoint import EndpointJudge, sampled_jpegs
from rushes.vision.judges.transport import asked_wait

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
                if reply == "drip":
                    self.send_response(200)
                    self.end_headers()
                    for _ in range(12):
                        self.wfile.write(b" ")
                        time.sleep(0.1)
                    return
                if isinstance(reply, bytes):
                    self.wfile.write(reply)
                    self.close_connection = True
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
        ((408, b"", {}), "the endpoint answered 408 Request Timeout", 1),
        ((500, b"", {}), "the endpoint answered 500 Internal Server Error (attempt 3 of 3)", 3),
        ((200, b"<html>", {}), "the endpoint's reply is not a chat completion", 1),
        ((200, b'{"choices": []}', {}), "the endpoint's reply is not a chat completion", 1),
        (completion(""), "the model gave an empty answer", 1),
        (completion(None), "the model gave an empty answer", 1),
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


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\nshort", "IncompleteRead"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nshort", "IncompleteRead"),
        (b"nonsense\r\n\r\n", "BadStatusLine"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000 + b"\r\n\r\n", "LineTooLong"),
        (b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: 1\r\n" % n for n in range(150)) + b"\r\n", "more than 100 headers"),
    ],
)
def test_a_broken_reply_is_a_verdict_too(clip, raw, reason):
    """Each of them ended the whole sweep with a traceback."""
    with serving(raw) as stub:
        verdict = judge(stub, attempts=2).judge(clip, seed=1)
    assert verdict.failed and reason in verdict.justification and "attempt 2 of 2" in verdict.justification
    assert len(stub.asked) == 2


def test_a_broken_reply_is_asked_for_again(clip):
    with serving(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nshort", completion('{"output": "yes"}')) as stub:
        assert judge(stub).judge(clip, seed=1).output == "yes"


def test_retry_after_is_honoured(clip, monkeypatch):
    waits = []
    monkeypatch.setattr("rushes.vision.judges.transport.sleep", waits.append)
    dates = {"Date": "Mon, 16 Nov 2026 08:00:00 GMT", "Retry-After": "Mon, 16 Nov 2026 08:00:04 GMT"}
    busy = [(429, b"", {"Retry-After": "7"}), (503, b"", dates), (503, b"", {"Retry-After": "soon"})]
    with serving(*busy, completion('{"output": "yes"}')) as stub:
        assert judge(stub, attempts=4, pause_s=0.5).judge(clip, seed=1).output == "yes"
    # Python's own server adds a Date before ours, so the second may count from today: it is 4 s or what is left.
    assert waits[0] == 7.0 and waits[2] == 0.5 * 2**2
    with serving((429, b"", {"Retry-After": "3600"})) as stub:
        verdict = judge(stub).judge(clip, seed=1)
    assert (verdict.justification, len(stub.asked)) == (
        "the endpoint answered 429 Too Many Requests, and asks to wait 3600 s: over the time limit",
        1,
    )


def test_a_date_to_wait_for_counts_from_the_replys_own():
    headers = Message()
    headers["Date"], headers["Retry-After"] = "Mon, 16 Nov 2026 08:00:00 GMT", "Mon, 16 Nov 2026 08:00:04 GMT"
    assert asked_wait(headers) == 4.0
    del headers["Date"]
    assert asked_wait(headers) is None


def test_log_probabilities_are_confidence_and_entropy(clip):
    """Two tokens of ½ and ⅛: confidence √(1/16) = ¼. Entropies: ½, ½ is ln 2; ⅛ and the ⅞ left over is 0.376770."""
    tokens = [
        {"logprob": math.log(1 / 2), "top_logprobs": [{"logprob": math.log(1 / 2)}, {"logprob": math.log(1 / 2)}]},
        {"logprob": math.log(1 / 8), "top_logprobs": [{"logprob": math.log(1 / 8)}]},
    ]
    content = '{"output": "yes", "confidence_score": 0.99}'
    reply = {"choices": [{"message": {"content": content}, "logprobs": {"content": tokens}}]}
    with serving((200, json.dumps(reply).encode(), {})) as stub:
        asked = judge(stub, logprobs=True)
        verdict = asked.judge(clip, seed=1)
    assert (stub.asked[0][2]["logprobs"], stub.asked[0][2]["top_logprobs"]) == (True, 5)
    assert asked.describe()["numbers"] == "logprobs-top5"
    assert verdict.numbers["confidence_score"] == pytest.approx(0.25)
    assert verdict.numbers["output_entropy"] == pytest.approx((math.log(2) + 0.376770161) / 2)


def test_an_endpoint_without_log_probabilities_says_so(clip):
    with serving(completion('{"output": "yes", "confidence_score": 0.99}')) as stub:
        verdict = judge(stub, logprobs=True).judge(clip, seed=1)
    assert (verdict.output, verdict.numbers) == ("yes", {})
    assert verdict.remarks == ("the endpoint gave no log-probabilities",)


def test_a_reply_that_drips_in_ends_with_the_time_limit(clip):
    with serving("drip") as stub:
        verdict = judge(stub, timeout=0.4, attempts=1).judge(clip, seed=1)
    assert verdict.justification == "timed out after 0.4 s (attempt 1 of 1)"


def test_an_endpoint_that_never_answers(clip):
    with serving("silence") as stub:
        verdict = judge(stub, timeout=0.2, attempts=1).judge(clip, seed=1)
    assert verdict.justification == "timed out after 0.2 s (attempt 1 of 1)"


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
        ({"base_url": "https://me:secret@host/v1"}, "not contain a user name or password"),
        ({"model": ""}, "needs judge='openai:MODEL'"),
        ({"question": " "}, "question="),
        ({"frames": 0}, "at least one frame"),
    ],
)
def test_settings_refused(changes, message):
    with pytest.raises(InputError, match=message):
        EndpointJudge(**({"model": "m", "base_url": "http://host/v1", "question": "q"} | changes)).check()


def test_frames_come_from_the_middles_of_equal_stretches(clip):
    assert len(sampled_jpegs(clip, 4)) == 4
    assert len(sampled_jpegs(clip, 64)) == 10  # the clip has no more
