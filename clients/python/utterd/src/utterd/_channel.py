"""The address of a server, and how to connect to it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, get_args
from urllib.parse import urlsplit

import grpc

from utterd._oversize import Oversize

DEFAULT = "127.0.0.1:50051"
"""The default address of a server."""

_OPTIONS: tuple[tuple[str, int | str], ...] = (
    # A context is bounded by its budget, which can exceed gRPC's default limit.
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    # Reconnects soon to a server that restarts.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2000),
)


@dataclass(frozen=True, slots=True)
class Tls:
    """How server and client authenticate over TLS. The files are PEM."""

    ca: str | os.PathLike[str] | None = None
    """The authority that signed the server's certificate; by default those that come with gRPC."""
    cert: str | os.PathLike[str] | None = None
    """This client's certificate, with `key`, if the server asks for one."""
    key: str | os.PathLike[str] | None = None

    def credentials(self) -> grpc.ChannelCredentials:
        ca, key, cert = (None if file is None else Path(file).read_bytes() for file in (self.ca, self.key, self.cert))
        return grpc.ssl_channel_credentials(ca, key, cert)


@dataclass(slots=True)
class Contact:
    """Whether the server was ever reached. From then on, it may be restarting, and calls wait for it."""

    made: bool = False


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What a channel to a server needs."""

    target: str
    options: Sequence[tuple[str, int | str]]
    credentials: grpc.ChannelCredentials | None
    metadata: tuple[tuple[str, str], ...]
    """Sent with every call."""
    oversize: Oversize | None = None
    contact: Contact = field(default_factory=Contact)


class Owned(Protocol):
    """Something that ends with a client."""

    def close(self) -> None:
        """Ends it."""


def endpoint(
    address: str | None,
    token: str | None = None,
    namespace: str | None = None,
    tls: Tls | None = None,
    oversize: Oversize | None = None,
) -> Endpoint:
    """Reads an address: `HOST:PORT`, `http://…`, `https://…` or `unix:PATH`.

    The default is `UTTERD_SERVER`, or else the default address of a server. The default token is `UTTERD_TOKEN`, or
    the content of the file `UTTERD_TOKEN_FILE`. Raises ValueError for any other address, and for a token that would go
    to another machine in the clear.
    """
    if oversize not in (None, *get_args(Oversize)):
        raise ValueError(f"oversize: {oversize!r}; accepted: {', '.join(get_args(Oversize))}")
    address = address or os.environ.get("UTTERD_SERVER") or DEFAULT
    token = token or _token_of_the_environment()
    target, encrypted = _target(address, tls)
    if token and not encrypted and not _is_local(target):
        raise ValueError(f"token: it would go to {address} in the clear; accepted: an https:// address")
    metadata = [("authorization", f"Bearer {token}")] if token else []
    if namespace:
        metadata.append(("utterd-namespace", namespace))
    options = [*_OPTIONS]
    if target.startswith("unix:"):
        options.append(("grpc.default_authority", "localhost"))
    credentials = (tls or Tls()).credentials() if encrypted else None
    return Endpoint(target, options, credentials, tuple(metadata), oversize)


def _token_of_the_environment() -> str | None:
    if token := os.environ.get("UTTERD_TOKEN"):
        return token
    file = os.environ.get("UTTERD_TOKEN_FILE")
    return Path(file).read_text().strip() if file else None


def _target(address: str, tls: Tls | None) -> tuple[str, bool]:
    if address.startswith("unix:"):
        path = address.removeprefix("unix:").removeprefix("//")
        if not path:
            raise ValueError("address: unix: without a path; accepted: unix:PATH")
        return f"unix:{path}", False
    if "://" not in address:
        _check_host(address, address)
        return address, tls is not None
    url = urlsplit(address)
    if url.scheme not in ("http", "https") or not url.hostname or url.path.strip("/") or url.query:
        raise ValueError(f"address: {address!r}; accepted: HOST:PORT, http://…, https://… and unix:PATH")
    default = ":443" if url.scheme == "https" else ":80"
    target = url.netloc if url.port else url.netloc + default
    return target, url.scheme == "https"


def _check_host(host: str, address: str) -> None:
    name, _, port = host.rpartition(":")
    if not name or not port.isdigit():
        raise ValueError(f"address: {address!r}; accepted: HOST:PORT, http://…, https://… and unix:PATH")


def _is_local(target: str) -> bool:
    host = target.rpartition(":")[0].strip("[]")
    return target.startswith("unix:") or host in ("localhost", "::1") or host.startswith("127.")
