"""What a report is about: the launches of an operator or a script, or a saved run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simulator.errors import ConfigError, SimulatorError
from simulator.platforms import load_platform
from simulator.run_file import is_run_file, load

if TYPE_CHECKING:
    import numpy as np

    from host.op_call import OpResult
    from simulator.platforms import Platform
    from simulator.run import Run
    from tools.operators import RunnableOperator
    from tools.script import ScriptOutcome

DEFAULT_PLATFORM: Final = "910b"


@dataclass(frozen=True)
class TargetRequest:
    """A target and its options as given; None is an option that was left out."""

    target: str
    args: tuple[str, ...] = ()
    shape: str | None = None
    dtype: str | None = None
    platform: str | None = None
    seed: int | None = None
    settings: tuple[str, ...] = ()

    @property
    def is_script(self) -> bool:
        """Whether the target is a Python file."""
        return self.target.endswith(".py")


@dataclass(frozen=True)
class Launches:
    """What a target launched, and how it ended.

    Attributes
    ----------
    runs : list of Run
        Launches in order, those before an error included.
    exit_code : int
    error : SimulatorError, optional
        The mistake that ended it; not yet shown to the user.
    """

    runs: list[Run]
    exit_code: int = 0
    error: SimulatorError | None = None


@dataclass(frozen=True)
class OperatorCall:
    """An operator with everything that one call of it takes."""

    operator: RunnableOperator
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    platform: Platform
    seed: int
    inputs: dict[str, Any]

    def run(self) -> OpResult:
        """Call the operator."""
        return self.operator.run(self.inputs, self.platform)


def launches(
    request: TargetRequest, *, stdout_to_stderr: bool = False, saved: bool = True
) -> Launches:
    """Run the target, or load it if it is a saved run, and return its launches.

    ``saved`` False refuses saved runs.

    Raises
    ------
    ConfigError
        If there is no such target, or an option does not fit it.
    """
    if request.is_script:
        outcome = run_target_script(request, stdout_to_stderr=stdout_to_stderr)
        return Launches(outcome.runs, outcome.exit_code, outcome.error)
    if saved and is_run_file(request.target):
        return _saved(request)
    call = operator_call(request, saved=saved)
    try:
        return Launches(list(call.run().runs))
    except SimulatorError as error:
        return Launches([], 1, error)


def run_target_script(request: TargetRequest, *, stdout_to_stderr: bool = False) -> ScriptOutcome:
    """Run a script on the platform that the request names, if it names one.

    Raises
    ------
    ConfigError
        If there is no such script, or an option is one of operators.
    """
    from tools.operators import unknown_target
    from tools.script import run_script

    if not Path(request.target).exists():
        raise unknown_target(request.target)
    for option in ("shape", "dtype", "seed"):
        if getattr(request, option) is not None:
            raise ConfigError(
                f"--{option} is for operators; a script makes its own inputs",
                fix="put it behind the script if it is an option of the script",
            )
    platform = _platform(request) if request.platform or request.settings else None
    return run_script(request.target, request.args, platform, stdout_to_stderr=stdout_to_stderr)


def operator_call(request: TargetRequest, *, saved: bool = False) -> OperatorCall:
    """Return the call of an operator that the request describes.

    ``saved`` says that the request might have named a saved run.

    Raises
    ------
    ConfigError
        If there is no such operator, or an option does not fit it.
    """
    import numpy as np

    from tools.operators import OPERATORS, unknown_target
    from tools.options import check_fits, parse_dtype, parse_shape

    if request.target not in OPERATORS:
        raise unknown_target(request.target, saved=saved)
    operator = OPERATORS[request.target]
    if request.args:
        raise ConfigError(
            f"{operator.name} takes no arguments, got {' '.join(request.args)}",
            fix="its inputs are set with --shape, --dtype and --seed",
        )
    shape = operator.default_shape if request.shape is None else parse_shape(request.shape)
    dtype = parse_dtype(request.dtype or operator.default_dtype)
    platform = _platform(request)
    seed = 0 if request.seed is None else request.seed
    if seed < 0:
        raise ConfigError(f"the seed cannot be {seed}", legal="a whole number >= 0")
    check_fits(shape, dtype, 2 + len(operator.outputs), platform)
    inputs = operator.inputs(np.random.default_rng(seed), shape, dtype)
    return OperatorCall(operator, shape, dtype, platform, seed, inputs)


def tell_unreached(request: TargetRequest, runs: list[Run]) -> None:
    """Say which launches ``--set`` did not reach, for their script names a platform."""
    from tools.console import show

    named = sorted({run.platform.name for run in runs if not run.platform.overridden})
    if request.settings and named:
        show(
            f"--set did not reach launches whose platform the script names ({', '.join(named)})",
            stderr=True,
        )


def _saved(request: TargetRequest) -> Launches:
    for option in ("shape", "dtype", "seed", "platform"):
        if getattr(request, option) is not None:
            raise ConfigError(f"--{option} cannot change a saved run")
    if request.settings:
        raise ConfigError("--set cannot change a saved run", fix="ascsim whatif can")
    return Launches([load(request.target)])


def _platform(request: TargetRequest) -> Platform:
    from tools.options import override_platform

    chosen = load_platform(request.platform or DEFAULT_PLATFORM)
    return override_platform(chosen, request.settings)
