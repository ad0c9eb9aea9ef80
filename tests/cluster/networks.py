"""A machine of its own on the same computer: a network namespace with one wire to the sites and another to the database, which
can be cut."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.planted_server import ProxiedSite


class OpenTown(ProxiedSite):
    """A town that other machines reach, too."""

    def __init__(self, folder: Path, *hosts: str) -> None:
        super().__init__(folder, *hosts)
        self._host = "0.0.0.0"


@dataclass(frozen=True)
class Network:
    """The namespace, and our ends of its two wires."""

    name: str
    site: str
    """Our address on the wire to the sites."""
    database: str
    wire: str
    """Our end of the wire to the database."""

    @property
    def inside(self) -> list[str]:
        """What a command begins with to be run over there."""
        return [_ip(), "netns", "exec", self.name]

    def cut(self) -> None:
        _run("link", "set", self.wire, "down")

    def heal(self) -> None:
        _run("link", "set", self.wire, "up")


def _ip() -> str:
    return shutil.which("ip") or "/usr/sbin/ip"


def _run(*arguments: str) -> None:
    subprocess.run([_ip(), *arguments], check=True, capture_output=True)


@contextmanager
def separate_network() -> Iterator[Network]:
    """Skips the test where namespaces are not allowed."""
    if sys.platform != "linux" or os.geteuid() != 0 or not Path(_ip()).exists():
        pytest.skip("network namespaces need Linux, root and ip")
    number = os.getpid() % 250
    network = Network(f"tadoru-{os.getpid()}", f"10.201.{number}.1", f"10.202.{number}.1", f"tdb{os.getpid()}")
    try:
        _run("netns", "add", network.name)
    except subprocess.CalledProcessError:
        pytest.skip("network namespaces are not allowed here")
    try:
        _wire(network, f"tds{os.getpid()}", network.site)
        _wire(network, network.wire, network.database)
        yield network
    finally:
        _run("netns", "delete", network.name)  # Its ends of the wires go with it, and ours with them.


def _wire(network: Network, name: str, address: str) -> None:
    """One wire: our end has the address, theirs the next one."""
    there = f"{address.removesuffix('.1')}.2"
    _run("link", "add", name, "type", "veth", "peer", "name", f"{name}p", "netns", network.name)
    _run("address", "add", f"{address}/24", "dev", name)
    _run("link", "set", name, "up")
    _run("-n", network.name, "address", "add", f"{there}/24", "dev", f"{name}p")
    _run("-n", network.name, "link", "set", f"{name}p", "up")
