"""Exit with status 0 if `/readyz` returns 200, otherwise with 1. For containers without curl."""

from __future__ import annotations

import http.client
import os
import sys


def is_ready(port: int, timeout: float = 4.0) -> bool:
    """Whether the service on this machine is ready."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(0 if is_ready(int(os.environ.get("TADORU_PORT", "8000"))) else 1)
