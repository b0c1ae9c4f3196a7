"""Reading of platform profiles from TOML."""

from __future__ import annotations

import difflib
import re
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simulator.errors import ConfigError
from simulator.platforms.profile import (
    CONFIDENCES,
    SECTIONS,
    Figure,
    Platform,
    field_rules,
    require_key,
    require_value,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_FOLDER: Final = Path(__file__).parent

_ALIASES: Final = {
    "910b": "910b1",
    "ascend910b": "910b1",
    "ascend910_9392": "910_93",
    "910_9392": "910_93",
    "910a": "910",
    "ascend910a": "910",
    "950": "950pr",
    "ascend950": "950pr",
    "950pr_958x": "950pr",
    "950dt_958x": "950dt",
}
_MEMBER: Final = re.compile(r"(950(?:pr|dt)_95[78])\d")
_FIGURE_KEYS: Final = ("value", "unit", "source", "confidence", "note")
_TOP_KEYS: Final = ("description", "base", "provisional_timing", *SECTIONS)


def platform_names() -> tuple[str, ...]:
    """Names of the profiles that come with the simulator, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def load_platform(name_or_path: str | Path | Platform) -> Platform:
    """Return the platform that a name, a SoC version or a profile file stands for.

    Parameters
    ----------
    name_or_path : str, Path or Platform
        A profile (``"910b3"``), an alias (``"910b"``, ``"950"``), a SoC version in any case
        (``"Ascend910B1"``, ``"Ascend950PR_9589"``), a short SoC version (``"Ascend910B"``), or a
        file that ends in ``.toml``. A Platform is returned as it is.

    Raises
    ------
    ConfigError
        If there is no such platform, or the file is not a legal profile; names the key at fault
        and what is legal.
    """
    if isinstance(name_or_path, Platform):
        return name_or_path
    text = str(name_or_path)
    if text.lower().endswith(".toml"):
        path = Path(text)
        try:
            stamp = path.stat().st_mtime_ns
        except OSError as error:
            raise ConfigError(
                f"the platform profile {text!r} cannot be read",
                got=str(error),
                fix="pass the path of a TOML profile or one of " + ", ".join(platform_names()),
            ) from error
        return _load(path.resolve(), stamp)
    return _load(_FOLDER / f"{_canonical(text)}.toml", 0)


def _canonical(text: str) -> str:
    wanted = text.strip().lower()
    names = platform_names()
    for key in (wanted, wanted.removeprefix("ascend")):
        for candidate in (key, _MEMBER.sub(r"\1x", key)):
            found = _ALIASES.get(candidate, candidate)
            if found in names:
                return found
    alike = difflib.get_close_matches(wanted.removeprefix("ascend"), [*names, *_ALIASES], n=3)
    raise ConfigError(
        f"there is no platform {text!r}",
        got=repr(text),
        legal=", ".join((*names, *sorted(_ALIASES))),
        fix=f"did you mean {alike[0]}?" if alike else "pass a name, a SoC version or a .toml file",
    )


@lru_cache(maxsize=64)
def _load(path: Path, _stamp: int) -> Platform:
    # The time stamp is part of the cache key only: an edited file is a new entry.
    top, figures = _collect(path, ())
    missing = [k for k, rule in field_rules().items() if k not in figures and not rule.optional]
    if missing:
        raise ConfigError(
            f"{missing[0]} is missing",
            got=f"{path.name} without " + ", ".join(missing),
            legal="every key, or a base profile that has it",
            fix='start the file with base = "910b1" and state only what differs',
            key=missing[0],
        )
    if "provisional_timing" not in top:
        raise ConfigError(
            "provisional_timing is missing",
            got=path.name,
            legal="true or false",
            key="provisional_timing",
        )
    ordered = {key: figures[key] for key in field_rules() if key in figures}
    return Platform.from_figures(
        path.stem, top.get("description", path.stem), top["provisional_timing"], ordered
    )


def _collect(path: Path, below: tuple[Path, ...]) -> tuple[dict[str, Any], dict[str, Figure]]:
    """Top-level values and figures of a profile, over those of its base."""
    if path in below:
        raise ConfigError(
            f"the base of {path.name} leads back to itself",
            got=" -> ".join(p.name for p in (*below, path)),
            key="base",
        )
    data = _parse(path)
    for key, value in data.items():
        if key not in _TOP_KEYS:
            raise ConfigError(
                f"{key!r} is not a key of a platform profile",
                got=f"{key} in {path.name}",
                legal=", ".join(difflib.get_close_matches(key, _TOP_KEYS) or _TOP_KEYS),
                key=key,
            )
        expected: type = dict if key in SECTIONS else bool if key == "provisional_timing" else str
        if not isinstance(value, expected):
            raise ConfigError(
                f"{key} cannot be {value!r}",
                got=f"{value!r} ({type(value).__name__}) in {path.name}",
                legal={dict: "a table", bool: "true or false", str: "a string"}[expected],
                key=key,
                value=value,
            )
    top: dict[str, Any] = {}
    figures: dict[str, Figure] = {}
    if "base" in data:
        base = data["base"]
        if base.lower().endswith(".toml"):
            parent = (path.parent / base).resolve()
        else:
            parent = _FOLDER / f"{_canonical(base)}.toml"
        top, figures = _collect(parent, (*below, path))
    top.update({key: value for key, value in data.items() if key not in SECTIONS})
    for section in SECTIONS:
        for name, entry in data.get(section, {}).items():
            figures[f"{section}.{name}"] = _figure(f"{section}.{name}", entry, path.name)
    return top, figures


def _figure(key: str, entry: object, where: str) -> Figure:
    rule = require_key(key, where)
    if not isinstance(entry, dict):
        raise ConfigError(
            f"{key} is not an entry with a source",
            got=f"{entry!r} in {where}",
            legal="{ value = …, unit = …, source = …, confidence = … }",
            key=key,
            value=entry,
        )
    for name in entry:
        if name not in _FIGURE_KEYS:
            raise ConfigError(
                f"{key}.{name} is not part of a figure",
                got=f"{name} in {where}",
                legal=", ".join(_FIGURE_KEYS),
                key=f"{key}.{name}",
            )
    for name in _FIGURE_KEYS:
        text = entry.get(name, "" if name == "note" else None)
        if text is None:
            raise ConfigError(
                f"{key}.{name} is missing",
                got=f"{entry!r} in {where}",
                legal=", ".join(_FIGURE_KEYS[:-1]),
                key=f"{key}.{name}",
            )
        if name != "value":
            _check_text(f"{key}.{name}", name, text, rule.unit, where)
    value = require_value(key, entry["value"], where)
    return Figure(value, entry["unit"], entry["source"], entry["confidence"], entry.get("note", ""))


def _check_text(key: str, name: str, text: object, unit: str, where: str) -> None:
    legal = {"unit": (unit,), "confidence": CONFIDENCES}.get(name, ())
    if isinstance(text, str) and (text in legal if legal else bool(text) or name == "note"):
        return
    raise ConfigError(
        f"{key} cannot be {text!r}",
        got=f"{text!r} in {where}",
        legal=", ".join(legal) or "a non-empty string",
        key=key,
        value=text,
    )


def _parse(path: Path) -> Mapping[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(
            f"the platform profile {path.name!r} is not readable TOML",
            got=str(error),
            fix="mend the file at the place named, or start from a profile in simulator/platforms",
        ) from error
