"""Faults of a provider, one function each.

The function's name is the model name of the request. `title` is its name in docs/models.md;
`models_test.py` runs every fault on every wire and compares the results with that page.
"""

import dataclasses
import os
import socket
import struct
import time

from wires import frame

FAULTS = {}


@dataclasses.dataclass
class Fault:
    title: str
    act: callable
    settings: dict  # of the model, in addition to its address


def fault(name, title, **settings):
    def keep(act):
        FAULTS[name] = Fault(title, act, settings)
        return act
    return keep


def begin(exchange, text="Half an "):
    """Sends the beginning of a good answer."""
    exchange.begin_stream()
    exchange.send_piece(frame(exchange.wire.a_piece(text)))


def refuse(name, title, status, kind, message, code=None, **headers):
    @fault(name, title)
    def act(exchange, body):
        exchange.answer_json(status, exchange.wire.error(kind, message, code), **headers)


refuse("refused_key", "refuses the key", 401, "authentication_error", "invalid key",
       "invalid_api_key")
refuse("unknown_model", "does not know the model", 404, "not_found_error", "no such model",
       "model_not_found")
refuse("bad_request", "does not like the request", 400, "invalid_request_error", "wrong shape")
refuse("context_full", "finds the conversation too long", 400, "invalid_request_error",
       "prompt is too long: 9000 tokens, at most 8192", "context_length_exceeded")
refuse("rate_limit", "wants to be asked less often (`Retry-After: 1`)", 429, "rate_limit_error",
       "slow down", "rate_limit_exceeded", Retry_After="1")
refuse("no_credit", "has an account without credit", 429, "insufficient_quota",
       "insufficient_quota: check your plan", "insufficient_quota")
refuse("server_error", "fails (500)", 500, "api_error", "something broke")
refuse("overloaded", "is overloaded (529)", 529, "overloaded_error", "overloaded")


@fault("redirect", "replies with a redirect (302)")
def redirect(exchange, body):
    exchange.answer_json(302, {}, Location="http://127.0.0.1:1/")


@fault("error_inside", "answers 200, then tells of an error in the stream")
def error_inside(exchange, body):
    begin(exchange)
    described = exchange.wire.error("overloaded_error", "try again later")
    exchange.send_piece(frame(exchange.wire.error_event(described)))
    exchange.end_stream()


@fault("error_as_json", "answers 200 with an error and no stream")
def error_as_json(exchange, body):
    exchange.answer_json(200, exchange.wire.error("rate_limit_error", "slow down"))


@fault("web_page", "answers 200 with a web page")
def web_page(exchange, body):
    page = b"<html><body>Please log in.</body></html>"
    exchange.send_response(200)
    exchange.send_header("Content-Type", "text/html")
    exchange.send_header("Content-Length", str(len(page)))
    exchange.end_headers()
    exchange.wfile.write(page)


@fault("no_body", "answers 200 with no body")
def no_body(exchange, body):
    exchange.send_response(200)
    exchange.send_header("Content-Type", "application/json")
    exchange.send_header("Content-Length", "0")
    exchange.end_headers()


@fault("no_events", "answers 200 with a stream of nothing")
def no_events(exchange, body):
    exchange.begin_stream()
    exchange.end_stream()


@fault("empty_answer", "ends an answer in which nothing was said")
def empty_answer(exchange, body):
    exchange.play({"text": "", "usage": {"input": 1, "output": 0}}, body)


@fault("cut_off", "ends the stream in the middle of the answer")
def cut_off(exchange, body):
    begin(exchange)
    exchange.end_stream()


@fault("reset", "resets the connection in the middle of the answer")
def reset(exchange, body):
    begin(exchange)
    time.sleep(0.1)  # a reset would discard data that was not read yet
    exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(exchange.connection.detach())
    exchange.close_connection = True


@fault("short_body", "sends less than its Content-Length says")
def short_body(exchange, body):
    data = frame(exchange.wire.a_piece("Half an "))
    exchange.send_response(200)
    exchange.send_header("Content-Type", "text/event-stream")
    exchange.send_header("Content-Length", str(len(data) + 1000))
    exchange.end_headers()
    exchange.wfile.write(data)
    exchange.close_connection = True


@fault("long_body", "sends more than its Content-Length says")
def long_body(exchange, body):
    data = b"".join(frame(exchange.wire.a_piece(text)) for text in ("Half an ", "answer"))
    exchange.send_response(200)
    exchange.send_header("Content-Type", "text/event-stream")
    exchange.send_header("Content-Length", str(len(data) // 2))
    exchange.send_header("Connection", "close")  # the rest must not be taken as the next request
    exchange.end_headers()
    exchange.wfile.write(data)
    exchange.close_connection = True


@fault("garbage", "sends events that are not JSON")
def garbage(exchange, body):
    begin(exchange)
    exchange.send_piece(b"data: {{{ nonsense\n\n")
    exchange.end_stream()


@fault("broken_utf8", "splits a character between two events")
def broken_utf8(exchange, body):
    begin(exchange)
    whole = frame(exchange.wire.a_piece("\u00e4"))
    exchange.send_piece(whole.replace("\u00e4".encode(), b"\xc3"))
    exchange.end_stream()


@fault("huge_event", "sends one event of more than 4 MiB")
def huge_event(exchange, body):
    exchange.begin_stream()
    exchange.send_piece(b"data: " + b"x" * (5 << 20))
    exchange.wait_for_close()


@fault("not_http", "speaks no HTTP")
def not_http(exchange, body):
    exchange.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n" * 3)
    exchange.close_connection = True


@fault("hangs_up", "hangs up without a word")
def hangs_up(exchange, body):
    exchange.close_connection = True


@fault("silent", "takes the request and says nothing", first_byte_timeout_ms=400)
def silent(exchange, body):
    exchange.wait_for_close()


@fault("stalls", "stops in the middle of the answer", idle_timeout_ms=400)
def stalls(exchange, body):
    begin(exchange)
    exchange.wait_for_close()


@fault("endless", "never stops answering", answer_timeout_ms=800)
def endless(exchange, body):
    begin(exchange)
    until = time.monotonic() + 10
    try:
        while time.monotonic() < until:
            exchange.send_piece(b": still here\n\n")
            time.sleep(0.05)
    except OSError:
        exchange.server.double.closed(True)
    exchange.close_connection = True


# Not listed in docs/models.md: the first request fails, the next one is answered.
def at_first(name, wrong):
    def act(exchange, body):
        asked = sum(each["body"]["model"] == name for each in exchange.server.double.requests)
        if asked == 1:
            return wrong(exchange, body)
        return exchange.play({"text": "Now it works.", "usage": {"input": 3, "output": 3}}, body)
    return act


def warming_up(exchange, body):
    exchange.answer_json(503, exchange.wire.error("api_error", "warming up"))


UNLISTED = {"fails_once": at_first("fails_once", warming_up),
            "stalls_once": at_first("stalls_once", stalls)}
