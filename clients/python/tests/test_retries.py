"""When a call is retried, against a server that fails on demand."""

import threading
import time
import types
from concurrent import futures

import grpc
import pytest
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2

import utterd
from utterd import _calls
from utterd._channel import endpoint
from utterd._proto import memory_service_pb2 as memory


class Failing:
    """Fails the first calls with what is in `failures`, then answers."""

    def __init__(self):
        self.failures = []
        self.requests = []
        self.forgotten = memory.ForgetResponse()
        self.gate = threading.Event()

    def answer(self, request, context, response):
        self.requests.append(request)
        if self.failures:
            code, *details = self.failures.pop(0)
            packed = [any_pb2.Any() for _ in details]
            for any, detail in zip(packed, details):
                any.Pack(detail)
            status = status_pb2.Status(code=code.value[0], message="told to", details=packed)
            context.set_trailing_metadata([("grpc-status-details-bin", status.SerializeToString())])
            context.abort(code, "told to")
        return response

    def memorize(self, request, context):
        return self.answer(request, context, memory.MemorizeResponse(conversation_id="c", revision=1))

    def forget(self, request, context):
        return self.answer(request, context, self.forgotten)

    def watch(self, request, context):
        for utterances in (1, 2):
            yield self.answer(request, context, self.capacity(utterances))
            self.gate.wait()
        context.abort(grpc.StatusCode.NOT_FOUND, "deleted")

    def capacity(self, utterances):
        response = memory.WatchCapacityResponse()
        response.capacity.utterance_count = utterances
        return response


@pytest.fixture
def failing():
    server, it = grpc.server(futures.ThreadPoolExecutor(4)), Failing()
    kinds = {
        "Memorize": grpc.unary_unary_rpc_method_handler(it.memorize, memory.MemorizeRequest.FromString, _bytes),
        "Forget": grpc.unary_unary_rpc_method_handler(it.forget, memory.ForgetRequest.FromString, _bytes),
        "WatchCapacity": grpc.unary_stream_rpc_method_handler(it.watch, memory.WatchCapacityRequest.FromString, _bytes),
    }
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("utterd.v1.MemoryService", kinds)])
    it.port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield it
    it.gate.set()
    server.stop(None)


class Lost(grpc.RpcError):
    """A connection that is lost, or not made."""

    def __init__(self, details="connection reset"):
        self._details = details

    def code(self):
        return grpc.StatusCode.UNAVAILABLE

    def details(self):
        return self._details

    def trailing_metadata(self):
        return None


def _bytes(message):
    return message.SerializeToString()


@pytest.fixture
def chat(failing):
    with utterd.connect(f"127.0.0.1:{failing.port}", timeout=20) as client:
        yield client.conversation("c")


SAID = {"role": "user", "content": "hi"}
UNAVAILABLE = (grpc.StatusCode.UNAVAILABLE,)
STALE = (grpc.StatusCode.ABORTED, error_details_pb2.ErrorInfo(reason="STALE_REVISION", metadata={"actual": "7"}))


def soon(seconds):
    return error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(nanos=int(seconds * 1e9)))


def test_an_attempt_is_repeated_under_its_request_id(failing, chat):
    failing.failures = [UNAVAILABLE, UNAVAILABLE]
    assert chat.add(SAID).revision == 1
    assert len(failing.requests) == 3
    assert len({request.request_id for request in failing.requests}) == 1 and failing.requests[0].request_id


def test_the_deadline_ends_it(failing, chat):
    failing.failures = [UNAVAILABLE] * 1000
    start = time.monotonic()
    with pytest.raises(utterd.UnavailableError) as error:
        chat.with_timeout(1).add(SAID)
    assert time.monotonic() - start < 1.5 and len(failing.requests) > 1
    assert {error.value.request_id} == {request.request_id for request in failing.requests}


def test_only_the_deadline_ends_it(failing, chat, monkeypatch, caplog):
    monkeypatch.setattr(_calls, "LONGEST_PAUSE", 0.01)
    failing.failures = [UNAVAILABLE] * 30
    assert chat.add(SAID).revision == 1
    assert len(failing.requests) == 31 and len({request.request_id for request in failing.requests}) == 1
    (entry,) = caplog.messages
    assert entry.startswith("told to (UNAVAILABLE); trying again for up to")


def test_pauses_grow_to_a_limit_and_differ(monkeypatch):
    attempts = attempts_at(endpoint("127.0.0.1:1"), None)
    most = []
    monkeypatch.setattr(_calls.random, "uniform", lambda least, longest: most.append((least, longest)) or longest)
    for _ in range(2000):
        attempts.pause_after(Lost())
    assert most[:5] == [(0, 0.1), (0, 0.2), (0, 0.4), (0, 0.8), (0, 1.6)] and set(most[5:]) == {(0, 2.0)}


def attempts_at(endpoint, timeout):
    return _calls.Attempts(_calls.Call("", memory.MemorizeRequest(), memory.MemorizeResponse), timeout, endpoint)


def test_a_server_is_waited_for_that_was_reached_before(monkeypatch):
    now, there = [0.0], endpoint("127.0.0.1:1")
    monkeypatch.setattr(_calls, "time", types.SimpleNamespace(monotonic=lambda: now[0]))

    def waited():
        attempts, begun = attempts_at(there, 30), now[0]
        with pytest.raises(utterd.UnavailableError, match="127.0.0.1:1: start it with `utterd serve`"):
            while True:
                now[0] += attempts.pause_after(Lost("failed to connect to all addresses")) + 0.01
        return now[0] - begun

    assert waited() < 3
    assert waited() < 3, "nor is it at later calls"
    attempts_at(there, 30).pause_after(Lost())
    assert waited() > 25


def test_the_server_says_when(failing, chat):
    failing.failures = [(grpc.StatusCode.RESOURCE_EXHAUSTED, soon(0.2))]
    start = time.monotonic()
    chat.add(SAID)
    assert time.monotonic() - start >= 0.2


def test_a_limit_that_stays_is_told_at_once(failing, chat):
    failing.failures = [(grpc.StatusCode.RESOURCE_EXHAUSTED, error_details_pb2.ErrorInfo(reason="NAMESPACE_QUOTA"))]
    with pytest.raises(utterd.ExhaustedError) as error:
        chat.add(SAID)
    assert error.value.reason == "NAMESPACE_QUOTA" and len(failing.requests) == 1


def test_a_conflict_is_the_callers_who_pinned_a_revision(failing, chat):
    failing.failures = [STALE]
    with pytest.raises(utterd.ConflictError) as error:
        chat.add(SAID, expected_revision=3)
    assert error.value.metadata == {"actual": "7"} and len(failing.requests) == 1
    failing.failures = [STALE]
    chat.add(SAID)
    assert len(failing.requests) == 3


def test_a_conflict_is_the_callers_who_pinned_versions_of_the_state(failing, chat):
    failing.failures = [(grpc.StatusCode.ABORTED, error_details_pb2.ErrorInfo(reason="STALE_STATE"))]
    with pytest.raises(utterd.ConflictError):
        chat.add(SAID, state=utterd.StateChange(set={"step": 2}, expected_versions={"step": 1}))
    assert len(failing.requests) == 1


def test_a_pop_that_happened_while_the_server_was_lost(failing, chat):
    failing.failures = [UNAVAILABLE]
    failing.forgotten = memory.ForgetResponse(replayed=True)
    failing.forgotten.forgotten.add(sequence=7)
    with pytest.raises(utterd.UnavailableError, match="was removed"):
        chat.pop()
    assert len({request.request_id for request in failing.requests}) == 1 and len(failing.requests) == 2


def test_no_pause_outlasts_the_deadline(failing, chat):
    failing.failures = [(grpc.StatusCode.RESOURCE_EXHAUSTED, soon(0.9))] * 9
    with pytest.raises(utterd.ExhaustedError):
        chat.with_timeout(0.5).add(SAID)
    assert len(failing.requests) == 1


def test_a_watch_goes_on_after_a_failure_and_ends_with_the_conversation(failing, chat):
    failing.failures = [UNAVAILABLE]
    failing.gate.set()
    seen = []
    with pytest.raises(utterd.NotFoundError):
        for capacity in chat.watch():
            seen.append(capacity.utterances)
    assert seen == [1, 2] and len(failing.requests) == 3


def test_a_watch_that_was_long_silent_goes_on(failing, chat, monkeypatch):
    seen = chat.watch()
    assert next(seen).utterances == 1
    now = time.monotonic
    monkeypatch.setattr(_calls.time, "monotonic", lambda: now() + 1000)
    failing.failures = [UNAVAILABLE]
    failing.gate.set()
    assert next(seen).utterances == 1 and failing.failures == []
    seen.close()


async def test_the_same_for_asyncio(failing):
    failing.failures = [UNAVAILABLE, STALE]
    async with utterd.connect_async(f"127.0.0.1:{failing.port}") as client:
        assert (await client.conversation("c").add(SAID)).revision == 1
        assert len({request.request_id for request in failing.requests}) == 1


def test_a_server_that_is_not_there():
    with (
        pytest.raises(utterd.UnavailableError, match="no server at 127.0.0.1:1: start it with `utterd serve`"),
        utterd.connect("127.0.0.1:1") as client,
    ):
        client.conversation("c").capacity()


async def test_a_server_that_is_not_there_for_asyncio():
    async with utterd.connect_async("127.0.0.1:1") as client:
        with pytest.raises(utterd.UnavailableError, match="no server at 127.0.0.1:1: start it with `utterd serve`"):
            await client.conversation("c").capacity()


@pytest.mark.parametrize("address", ["", "unix:", "host", "ftp://host", "host:port", "http://host/path"])
def test_addresses_that_are_none(address, monkeypatch):
    monkeypatch.delenv("UTTERD_SERVER", raising=False)
    if address:
        with pytest.raises(ValueError, match="accepted"):
            utterd.connect(address)
    else:
        assert "127.0.0.1:50051" in repr(utterd.connect())


def test_a_token_stays_on_this_machine_unless_it_is_encrypted():
    with pytest.raises(ValueError, match="in the clear"):
        utterd.connect("10.0.0.1:50051", token="secret")
    utterd.connect("127.0.0.1:50051", token="secret").close()
    utterd.connect("https://10.0.0.1:50051", token="secret").close()
