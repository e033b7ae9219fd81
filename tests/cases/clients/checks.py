"""Checks of a running server with only grpcio: messages are built by reflection (v1alpha).

Usage: checks.py ADDRESS CHECK
"""

import collections
import os
import sys

import grpc
from google.protobuf import json_format, message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from grpc_status import rpc_status

MEMORY = "utterd.v1.MemoryService"
TIMEOUT = 30  # seconds; for a call that should answer at once


class Client:
    """Calls methods by name, with requests as dictionaries."""

    def __init__(self, address, interceptor=None, **options):
        self.channel = grpc.insecure_channel(address, **options)
        if interceptor:
            self.channel = grpc.intercept_channel(self.channel, interceptor)
        self.pool = DescriptorPool(ProtoReflectionDescriptorDatabase(self.channel))

    def method(self, name, service=MEMORY):
        """The method's callable, and a function that makes its request."""
        method = self.pool.FindServiceByName(service).FindMethodByName(name)
        request = message_factory.GetMessageClass(method.input_type)
        response = message_factory.GetMessageClass(method.output_type)
        kinds = {(False, False): "unary_unary", (False, True): "unary_stream", (True, True): "stream_stream"}
        kind = kinds[method.client_streaming, method.server_streaming]
        path = f"/{service}/{name}"
        call = getattr(self.channel, kind)(path, request.SerializeToString, response.FromString)
        return call, lambda fields: json_format.ParseDict(fields, request())

    def call(self, name, fields, service=MEMORY):
        call, request = self.method(name, service)
        return call(request(fields), timeout=TIMEOUT)


def said(content, role="ROLE_USER", **more):
    return {"role": role, "content": content, **more}


def refusal(call):
    """The error of a call that must fail."""
    try:
        call()
    except grpc.RpcError as error:
        return error
    raise AssertionError("the call was not refused")


def detail(error, kind):
    """The detail of a type, from a rich status."""
    for packed in rpc_status.from_call(error).details:
        message = kind()
        if packed.Unpack(message):
            return message
    raise AssertionError(f"no {kind.DESCRIPTOR.full_name} in {error}")


def memorize_by_reflection(address):
    client = Client(address)
    response = client.call("Memorize", {"conversation_id": "py-1", "utterances": [said("hi")]})
    assert response.memorized[0].sequence == 1, response
    assert response.capacity.token_count == 5, response
    capacity = client.call("GetCapacityInfo", {"conversation_id": "py-1"}).capacity
    assert capacity.HasField("soft_deleted_count") and capacity.soft_deleted_count == 0, capacity
    assert not capacity.HasField("max_turns"), capacity


def health(address):
    with grpc.insecure_channel(address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        for service in ["", MEMORY]:
            request = health_pb2.HealthCheckRequest(service=service)
            response = stub.Check(request, timeout=TIMEOUT)
            assert response.status == health_pb2.HealthCheckResponse.SERVING, (service, response)
        unknown = health_pb2.HealthCheckRequest(service="unknown")
        error = refusal(lambda: stub.Check(unknown, timeout=TIMEOUT))
        assert error.code() == grpc.StatusCode.NOT_FOUND, error


def unix_socket(address):
    """Over a Unix socket, grpcio sends the path as the authority, which HTTP/2 does not accept: it must be given one."""
    assert address.startswith("unix:/"), address
    client = Client(address, options=[("grpc.default_authority", "localhost")])
    response = client.call("Memorize", {"utterances": [said("hi")]})
    assert response.memorized[0].sequence == 1, response


def rich_status(address):
    client = Client(address)
    orphan = said("42", role="ROLE_TOOL", tool_call_id="c9")
    fields = {"conversation_id": "py-2", "utterances": [said("?"), orphan]}
    error = refusal(lambda: client.call("Memorize", fields))
    assert error.code() == grpc.StatusCode.FAILED_PRECONDITION, error
    info = detail(error, error_details_pb2.ErrorInfo)
    assert (info.reason, info.domain) == ("NO_OPEN_CALL", "utterd"), info
    bad = detail(error, error_details_pb2.BadRequest)
    assert bad.field_violations[0].field == "utterances[1].tool_call_id", bad
    # Nothing of the batch was stored: there is no such conversation.
    error = refusal(lambda: client.call("GetCapacityInfo", {"conversation_id": "py-2"}))
    assert error.code() == grpc.StatusCode.NOT_FOUND, error
    assert detail(error, error_details_pb2.ResourceInfo).resource_name == "py-2", error


def gzip_channel(address):
    client = Client(address, compression=grpc.Compression.Gzip)
    utterances = [said("compress me " * 100)]
    response = client.call("Memorize", {"conversation_id": "py-3", "utterances": utterances})
    assert response.memorized[0].sequence == 1, response
    stub = health_pb2_grpc.HealthStub(client.channel)
    assert stub.Check(health_pb2.HealthCheckRequest(), timeout=TIMEOUT).status == 1


def deadline(address):
    """A call that outlives its deadline is DEADLINE_EXCEEDED, and the channel keeps working."""
    client = Client(address)
    client.call("Memorize", {"conversation_id": "py-4", "utterances": [said("hi")]})
    watch, request = client.method("WatchCapacity")
    stream = watch(request({"conversation_id": "py-4"}), timeout=0.5)
    assert next(stream).capacity.utterance_count == 1
    error = refusal(lambda: next(stream))
    assert error.code() == grpc.StatusCode.DEADLINE_EXCEEDED, error
    count, request = client.method("CountTokens", "utterd.v1.ContextService")
    error = refusal(lambda: count(request({"texts": ["how many tokens? " * 50_000] * 10}), timeout=0.005))
    assert error.code() == grpc.StatusCode.DEADLINE_EXCEEDED, error
    assert client.call("GetCapacityInfo", {"conversation_id": "py-4"}).capacity.revision == 1


def memorize_stream(address):
    """One refused message does not end the stream."""
    client = Client(address)
    stream, request = client.method("MemorizeStream")
    contents = ["one", "", "three"]
    memorize = [{"conversation_id": "py-5", "utterances": [said(content)]} for content in contents]
    responses = list(stream((request({"memorize": one}) for one in memorize), timeout=TIMEOUT))
    kinds = [response.WhichOneof("result") for response in responses]
    assert kinds == ["memorized", "error", "memorized"], responses
    assert responses[1].error.code == grpc.StatusCode.INVALID_ARGUMENT.value[0], responses[1]
    assert responses[2].memorized.memorized[0].sequence == 2, responses[2]


def watch_events(address):
    """A stream is resumed after the last event seen."""
    client = Client(address)
    watch, request = client.method("WatchEvents", "utterd.v1.TraceService")
    only = {"conversation_id": "py-6"}
    stream = watch(request(only), timeout=TIMEOUT)
    assert next(stream).WhichOneof("message") == "started"
    client.call("Memorize", {"conversation_id": "py-6", "utterances": [said("one")]})
    first = next(stream).event
    assert (first.revision, first.started_conversation) == (1, True), first
    stream.cancel()
    client.call("Memorize", {"conversation_id": "py-6", "utterances": [said("two")]})
    stream = watch(request({**only, "after_event": first.event_id}), timeout=TIMEOUT)
    events = (message.event for message in stream if message.WhichOneof("message") == "event")
    assert next(events).revision == 2
    stream.cancel()


def too_large(address):
    """A message beyond the limit is RESOURCE_EXHAUSTED and names the limit."""
    client = Client(address)
    utterances = [said("x" * (1 << 20))] * 20
    error = refusal(lambda: client.call("Memorize", {"utterances": utterances}))
    assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED, error
    assert "max_message_bytes" in error.details(), error


class Details(
    collections.namedtuple("Details", "method timeout metadata credentials wait_for_ready compression"),
    grpc.ClientCallDetails,
):
    """The options of a call."""


class Bearer(
    grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor, grpc.StreamStreamClientInterceptor
):
    """Adds a token to each call."""

    def __init__(self, token):
        self.pair = ("authorization", f"Bearer {token}")

    def with_token(self, go_on, call, request):
        metadata = [*(call.metadata or []), self.pair]
        rest = (call.timeout, metadata, call.credentials, call.wait_for_ready, call.compression)
        return go_on(Details(call.method, *rest), request)

    intercept_unary_unary = intercept_unary_stream = intercept_stream_stream = with_token


def guarded(address):
    """A server that requires credentials: for reflection, for a call, and for a stream."""
    health(address)
    capacity = "/utterd.v1.MemoryService/GetCapacityInfo"
    with grpc.insecure_channel(address) as channel:
        error = refusal(lambda: channel.unary_unary(capacity)(b"", timeout=TIMEOUT))
        assert error.code() == grpc.StatusCode.UNAUTHENTICATED, error
        assert detail(error, error_details_pb2.ErrorInfo).reason == "MISSING_CREDENTIALS", error
        wrong = grpc.intercept_channel(channel, Bearer("utterd_token_x"))
        error = refusal(lambda: wrong.unary_unary(capacity)(b"", timeout=TIMEOUT))
        assert detail(error, error_details_pb2.ErrorInfo).reason == "INVALID_CREDENTIALS", error
    client = Client(address, interceptor=Bearer(os.environ["UTTERD_TOKEN"]))
    response = client.call("Memorize", {"conversation_id": "py-7", "utterances": [said("hi")]})
    assert response.memorized[0].sequence == 1, response
    watch, request = client.method("WatchCapacity")
    stream = watch(request({"conversation_id": "py-7"}), timeout=TIMEOUT)
    assert next(stream).capacity.utterance_count == 1
    stream.cancel()


CHECKS = [
    memorize_by_reflection,
    health,
    rich_status,
    gzip_channel,
    deadline,
    memorize_stream,
    watch_events,
    too_large,
    guarded,
    unix_socket,
]

if __name__ == "__main__":
    address, name = sys.argv[1:]
    {check.__name__: check for check in CHECKS}[name](address)
