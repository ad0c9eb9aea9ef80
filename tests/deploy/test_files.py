"""The examples of deploying: what they name is there, what they run works, and nothing in them is a secret.

No engine builds the image here. What can be held to is: every path that is copied, every command and option, the grammar of each
file, and the health check against a real service.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml

from tests.acceptance.command import Tadoru
from tests.acceptance.serving import serving

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
"""Where Debian puts it, which is not on everybody's path."""
needs_nginx = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"


def _steps() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n", " ", (DEPLOY / "Containerfile").read_text("utf-8"))
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines]


def _compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    return found


def test_everything_that_the_image_copies_is_there() -> None:
    copied = [given for step, given in _steps() if step == "COPY"]
    assert len(copied) >= 3
    for given in copied:
        *sources, _ = [word for word in given.split() if not word.startswith("--")]
        if "--from=" not in given:
            assert [one for one in sources if not (ROOT / one).exists()] == []


def test_the_image_is_small_and_its_program_is_nobody() -> None:
    steps = _steps()
    kinds = [step for step, _ in steps]
    assert [given for step, given in steps if step == "FROM"] == ["python:3.13-slim AS build", "python:3.13-slim"]
    last = kinds[len(kinds) - kinds[::-1].index("FROM") :]
    assert {"USER", "VOLUME", "HEALTHCHECK", "STOPSIGNAL", "ENTRYPOINT"} <= set(last)
    assert dict(steps)["USER"] == "tadoru"
    assert dict(steps)["VOLUME"] == "/data"
    assert all(
        "--require-hashes" in given or "--no-deps" in given for step, given in steps if step == "RUN" and "pip install" in given
    )


def test_the_driver_of_postgresql_is_pinned_by_the_lock() -> None:
    pinned = re.findall(r"^([a-z][a-z0-9-]*)(?:\[[a-z,]+\])?==", (ROOT / "requirements.lock").read_text("utf-8"), re.MULTILINE)
    assert {"fastapi", "psycopg", "psycopg-binary"} <= set(pinned)


def test_compose_has_no_password_and_waits_for_the_database() -> None:
    found = _compose()
    services = found["services"]
    assert set(services) == {"database", "service", "collector", "worker"}
    assert services["service"]["depends_on"]["database"]["condition"] == "service_healthy"
    assert all("healthcheck" in one for one in services.values())
    for one in services.values():
        for name, value in one["environment"].items():
            if "PASSWORD" in name or "://" in str(value):
                assert "${POSTGRES_PASSWORD:?" in value, name
    assert services["service"]["ports"] == ["127.0.0.1:8000:8000"]
    assert set(found["volumes"]) == {"data", "database"}
    assert (DEPLOY / services["service"]["build"]["context"] / services["service"]["build"]["dockerfile"]).is_file()
    wanted = set(re.findall(r"\$\{([A-Z_]+)", (DEPLOY / "compose.yaml").read_text("utf-8")))
    given = dict(
        line.split("=", 1)
        for line in (DEPLOY / "example.env").read_text("utf-8").splitlines()
        if "=" in line[:1] or line[:1].isupper()
    )
    assert wanted == set(given)
    assert given["POSTGRES_PASSWORD"] == ""


@pytest.mark.parametrize("place", ["image", "service", "collector", "worker", "unit", "worker unit"])
def test_every_command_line_is_one_that_the_command_knows(tadoru: Tadoru, place: str) -> None:
    if place == "image":
        arguments = [word.strip(' "') for word in dict(_steps())["CMD"].strip("[]").split(",")]
    elif place in ("unit", "worker unit"):
        unit = "tadoru.service" if place == "unit" else "tadoru-worker@.service"
        line = re.search(r"^ExecStart=\S+ (.*)$", (DEPLOY / unit).read_text("utf-8"), re.MULTILINE)
        assert line is not None
        arguments = shlex.split(line[1])
    else:
        arguments = [re.sub(r"\$\{[A-Z_]+:-([^}]*)\}", r"\1", word) for word in _compose()["services"][place]["command"]]
    done = tadoru(*arguments, "--help-all")
    assert done.code == 0, done.err
    for flag in (word for word in arguments if word.startswith("--")):
        assert flag in done.out


def test_every_variable_is_an_option_of_the_service(tadoru: Tadoru) -> None:
    texts = [(DEPLOY / name).read_text("utf-8") for name in ("Containerfile", "compose.yaml", "tadoru.service")]
    named = set(re.findall(r"\b(TADORU_[A-Z_]+)\b", "\n".join(texts))) - {"TADORU_PROXY"}
    shown = tadoru("serve", "--show-config").out
    assert sorted(name for name in named if name.removeprefix("TADORU_").lower() not in shown) == []


def test_the_health_check_tells_a_service_that_answers_from_one_that_does_not(tadoru: Tadoru) -> None:
    check = [sys.executable, str(DEPLOY / "healthcheck.py")]
    with serving(tadoru) as service:
        env = tadoru.environment({"TADORU_PORT": str(service.port)})
        assert service.ask("/readyz").status == 200
        assert subprocess.run(check, env=env, check=False).returncode == 0
        service.stop()
        assert subprocess.run(check, env=env, check=False).returncode == 1


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("name", ["tadoru.service", "tadoru-worker@.service"])
def test_the_unit_is_right_and_lets_the_service_do_little(name: str, tmp_path: Path) -> None:
    unit = tmp_path / name.replace("@", "@1")
    unit.write_text((DEPLOY / name).read_text("utf-8").replace("/opt/tadoru/bin/tadoru", "/bin/true"), "utf-8")
    verified = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert unit.name not in verified.stderr, verified.stderr
    judged = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--threshold=20", str(unit)], capture_output=True, text=True, check=False
    )
    assert judged.returncode == 0, judged.stdout[-400:]


@needs_nginx
def test_nginx_takes_the_example(tmp_path: Path) -> None:
    issued = trustme.CA().issue_cert("events.example")
    issued.private_key_pem.write_to_path(tmp_path / "privkey.pem")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "fullchain.pem")
    example = (DEPLOY / "nginx.conf").read_text("utf-8").replace("/etc/ssl/events.example", str(tmp_path))
    whole = f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ access_log off; {example} }}"
    (tmp_path / "nginx.conf").write_text(whole, "utf-8")
    tried = subprocess.run(
        [NGINX or "nginx", "-t", "-p", tmp_path, "-c", tmp_path / "nginx.conf"], capture_output=True, text=True, check=False
    )
    assert tried.returncode == 0, tried.stderr
    ours = example[example.index("location = /ws") :]
    assert "proxy_set_header Upgrade $http_upgrade;" in ours.partition("}")[0]
    # A visitor's own X-Forwarded-For must not get through.
    assert "$proxy_add_x_forwarded_for" not in example
