"""The files that GitHub, pre-commit and mkdocs read: they are well-formed, and what they name is there."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tadoru.config.options import JOB_SETTINGS

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = [path for path in sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")) if path.name != "config.yml"]
ACTION, HOOKS = ROOT / "action.yml", ROOT / ".pre-commit-hooks.yaml"
YAML_FILES = [*sorted((ROOT / ".github").rglob("*.yml")), ROOT / ".pre-commit-config.yaml", ROOT / "mkdocs.yml", ACTION]
PATH = re.compile(
    r"(?<![\w./-])(?:\./)?((?:\.ci|\.github|tests|deploy|scripts|docs)/[\w./-]+|(?<=\./)test\b|requirements[\w-]*\.lock|mkdocs\.yml)"
)
FIELDS = {"checkboxes", "dropdown", "input", "markdown", "textarea"}


def load(path: Path) -> dict[Any, Any]:
    document = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(document, dict)
    return document


def jobs(workflow: Path) -> dict[str, dict[str, Any]]:
    return load(workflow)["jobs"]


@pytest.mark.parametrize("path", YAML_FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_path_of_the_repository_that_a_file_names_exists(path: Path) -> None:
    load(path)
    named = {name.rstrip(".") for name in PATH.findall(path.read_text("utf-8"))}
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_a_path_that_is_missing_is_found() -> None:
    assert PATH.findall("run: ./test tests/none && .ci/run; pip install -r requirements-dev.lock") == [
        "test",
        "tests/none",
        ".ci/run",
        "requirements-dev.lock",
    ]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_few_rights_limited_time_and_versioned_actions(workflow: Path) -> None:
    assert load(workflow)["permissions"]["contents"] == "read"
    for name, job in jobs(workflow).items():
        assert set(job.get("needs", [])) <= jobs(workflow).keys()
        if "uses" in job:
            assert (ROOT / job["uses"]).is_file()
            continue
        assert job["timeout-minutes"] <= 90, name
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+|[0-9a-f]{40})", step.get("uses", "a/b@v1"))


def test_every_supported_python_is_tested_on_linux_and_macos() -> None:
    matrix = jobs(ROOT / ".github/workflows/ci.yml")["pythons"]["strategy"]["matrix"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    supported = {text.rpartition(" ")[2] for text in project["classifiers"] if re.search(r":: 3\.\d+$", text)}
    assert supported <= set(matrix["python"])
    assert project["requires-python"] == f">={matrix['python'][0]}"
    assert matrix["os"] == ["ubuntu-latest", "macos-latest"]


def test_only_the_job_that_publishes_may_ask_pypi_for_a_token() -> None:
    release = jobs(ROOT / ".github/workflows/release.yml")
    assert [name for name, job in release.items() if "id-token" in job.get("permissions", {})] == ["publish"]
    assert set(release["publish"]["needs"]) == {"test", "build"}
    assert "secrets" not in str(release["publish"])


def test_a_release_compares_its_tag_with_the_version_of_the_code() -> None:
    steps = jobs(ROOT / ".github/workflows/release.yml")["build"]["steps"]
    command = next(step["run"] for step in steps if "GITHUB_REF_NAME" in step.get("run", ""))
    version = re.search(r'VERSION = "(.+)"', (ROOT / "src/tadoru/version.py").read_text("utf-8"))
    assert version
    folder = str(Path(sys.executable).parent)

    def status(tag: str) -> int:
        environment = {"GITHUB_REF_NAME": tag, "PATH": f"{folder}:/usr/bin:/bin"}
        return subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, check=False).returncode

    assert status(f"v{version[1]}") == 0
    assert status("v0.0.0") == 1


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.name)
def test_an_issue_form_has_known_fields_with_labels(form: Path) -> None:
    document = load(form)
    assert {"name", "description", "body"} <= document.keys()
    ids = [field["id"] for field in document["body"]]
    assert len(set(ids)) == len(ids)
    assert {field["type"] for field in document["body"]} <= FIELDS
    assert all(field["attributes"]["label"] for field in document["body"])


def test_pre_commit_runs_the_tools_of_the_environment() -> None:
    hooks = [hook for repo in load(ROOT / ".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    assert {hook["entry"].split()[0] for hook in hooks} == {".venv/bin/ruff", ".venv/bin/python"}
    assert {hook["language"] for hook in hooks} == {"system"}


def test_the_documentation_builds_without_a_warning(tmp_path: Path) -> None:
    site = tmp_path / "site"
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", site],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    pages = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    missing = [
        page
        for page in sorted(pages)
        if not (site / (page.parent if page.stem == "README" else page.with_suffix("")) / "index.html").is_file()
    ]
    assert missing == []
    text = (site / "how-to/deploy/index.html").read_text("utf-8")
    assert 'href="https://github.com/tadoru/tadoru/blob/main/deploy/nginx.conf"' in text
    assert 'href="https://github.com/tadoru/tadoru/tree/main/deploy"' in text


def test_the_action_gives_its_inputs_to_the_command_as_variables_and_never_as_code() -> None:
    action = load(ACTION)
    steps = action["runs"]["steps"]
    assert action["runs"]["using"] == "composite"
    assert all(set(given) == {"description", "default"} for given in action["inputs"].values())
    used = set(re.findall(r"inputs\.([a-z-]+)", ACTION.read_text("utf-8")))
    assert used == set(action["inputs"])
    assert all("${{" not in step.get("run", "") for step in steps)
    assert all(re.fullmatch(r"[\w/-]+@v\d+", step["uses"]) for step in steps if "uses" in step)
    known = {f"TADORU_{setting.name.upper()}" for setting in JOB_SETTINGS["links"]}
    assert {name for name in steps[-1]["env"] if name.startswith("TADORU_")} <= known


def test_the_action_checks_the_files_and_options_that_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "a b.md").write_text("[fine](c.md) [gone](gone.md) [new](new.md)\n", "utf-8")
    (tmp_path / "c.md").write_text("[missing](missing.md)\n", "utf-8")
    command = tmp_path / "bin" / "tadoru"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m tadoru "$@"\n', "utf-8")
    command.chmod(0o755)
    step = load(ACTION)["runs"]["steps"][-1]
    inputs = {
        "TARGET": "a b.md\n\nc.md\n",
        "ARGS": "--ignore\ngone\n--quiet",
        "TADORU_FAIL_ON": "broken",
        "TADORU_REPORT": "out.md\nout.sarif",
        "PATH": f"{command.parent}:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT / "src"),
    }
    environment = dict.fromkeys(step["env"], "") | inputs
    script = ["bash", "-e", "-c", step["run"]]
    done = subprocess.run(script, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 10, done.stderr
    text = (tmp_path / "out.md").read_text("utf-8")
    assert "new.md" in text
    assert "missing.md" in text
    assert "gone.md" not in text
    assert (tmp_path / "out.sarif").is_file()


def test_each_hook_for_other_projects_is_a_command_that_exists() -> None:
    hooks = yaml.safe_load(HOOKS.read_text("utf-8"))
    assert [hook["id"] for hook in hooks] == ["tadoru-links", "tadoru-external-links"]
    known = {flag for setting in JOB_SETTINGS["links"] for flag in setting.flags} | {"--quiet"}
    for hook in hooks:
        program, command, *words = hook["entry"].split()
        assert (program, command, hook["language"]) == ("tadoru", "links", "python")
        assert {word for word in words if word.startswith("-")} <= known
