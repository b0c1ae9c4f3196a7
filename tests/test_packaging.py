"""What is released: the sdist, the wheel made from it, and their metadata."""

import email
import importlib.util
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("simulator", "kernels", "host", "tools")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def build(kind, source, target):
    """Call the build backend as a front end does, in a process and folder of its own."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; from hatchling import build; print(build.build_{kind}(sys.argv[1]))",
            str(target),
        ],
        cwd=source,
        env={**os.environ, "PYTHONPATH": ""},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    return build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    unpacked = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        # Named, since leaving it out warns on Python 3.12 and 3.13.
        archive.extractall(unpacked, filter="data")
    (source,) = unpacked.iterdir()
    with zipfile.ZipFile(build("wheel", source, tmp_path_factory.mktemp("wheel"))) as archive:
        yield archive


def files_of(*folders):
    return {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
    }


def test_wheel_holds_every_file_of_the_packages_and_no_other(wheel):
    found = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert found == files_of(*PACKAGES)


def test_wheel_marks_every_package_as_typed(wheel):
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(wheel.namelist())


def test_sdist_holds_packages_tests_docs_and_examples(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert files_of(*PACKAGES, "tests", "docs", "examples") <= names
    assert {"README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", ".ci/run"} <= names


def test_wheel_metadata_names_command_license_and_python(wheel):
    def read(name):
        (path,) = (p for p in wheel.namelist() if p.endswith(f".dist-info/{name}"))
        return wheel.read(path).decode()

    metadata = email.message_from_string(read("METADATA"))
    assert metadata["Name"] == "ascsim"
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert "Apache License" in read("licenses/LICENSE")
    assert read("entry_points.txt").split() == [
        "[console_scripts]",
        "ascsim",
        "=",
        "tools.cli:main",
        "[pytest11]",
        "ascsim",
        "=",
        "tools.pytest_plugin",
    ]


def test_run_time_dependencies_are_the_agreed_ones():
    names = {Requirement(text).name for text in PROJECT["dependencies"]}
    assert names == {
        "numpy",
        "ml_dtypes",
        "greenlet",
        "rich",
        "typer",
        "jinja2",
        "textual",
        "tomli",
    }


@pytest.mark.parametrize("module", ["simulator", "kernels", "host"])
def test_importing_below_tools_loads_no_terminal_library(module):
    script = (
        f"import importlib, pkgutil, sys, {module} as top\n"
        "for found in pkgutil.walk_packages(top.__path__, top.__name__ + '.'):\n"
        "    importlib.import_module(found.name)\n"
        "print(*sorted({'rich', 'typer', 'jinja2'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr, done.stdout.split()) == (0, "", [])


def test_every_python_file_lies_in_a_package():
    folders = {path.parent for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert [str(f.relative_to(ROOT)) for f in folders if not (f / "__init__.py").exists()] == []


def test_changelog_has_a_section_for_this_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(PROJECT['version'])}\]", changelog, re.MULTILINE)


@pytest.fixture
def lowest():
    if sys.version_info < (3, 11):
        pytest.skip("the script runs on Python 3.11 or newer")
    spec = importlib.util.spec_from_file_location("lowest", ROOT / ".ci" / "lowest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("requirement", "constraint"),
    [
        ("numpy>=2.0.0", "numpy==2.0.0"),
        ("ruff~=0.17.0", "ruff==0.17.0"),
        ("tomli>=2.0.1; python_version < '3.11'", 'tomli==2.0.1; python_version < "3.11"'),
    ],
)
def test_lowest_pins_a_requirement_to_its_bound(lowest, requirement, constraint):
    assert lowest.lowest(requirement) == constraint


@pytest.mark.parametrize("requirement", ["numpy", "numpy<3", "numpy>=1.0,>=2.0"])
def test_lowest_refuses_a_requirement_without_one_bound(lowest, requirement):
    with pytest.raises(ValueError, match="lower bounds, not one"):
        lowest.lowest(requirement)


def test_every_dependency_of_the_project_has_a_lower_bound(lowest):
    pinned = {text.partition("==")[0] for text in lowest.constraints()}
    assert {"numpy", "ml_dtypes", "greenlet", "rich", "typer", "pytest", "hypothesis"} <= pinned
