"""What the process of a crawl is started for. Apart from that process: it knows the whole engine, and the service need not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What a process is started for. It crosses to it as JSON."""

    database: str
    crawl_id: int
    operators: Mapping[str, Any]
    private: tuple[str, ...] = ()
    log_format: str = "text"
    log_level: str = "info"

    def dumped(self) -> bytes:
        fields = {name: getattr(self, name) for name in Errand.__dataclass_fields__}
        return json.dumps(fields).encode() + b"\n"

    @classmethod
    def loaded(cls, line: bytes) -> Errand:
        fields = json.loads(line)
        return cls(**fields | {"private": tuple(fields["private"])})
