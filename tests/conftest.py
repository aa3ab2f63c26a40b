"""The suites have conftests, helpers and tests of the same names: one runs at a time."""
import pathlib

import pytest

HERE = pathlib.Path(__file__).resolve().parent


def _suites_of(argument):
    path = pathlib.Path(argument.split("::")[0]).resolve()
    suites = [conftest.parent for conftest in HERE.glob("*/**/conftest.py")]
    return {suite for suite in suites if path in (suite, *suite.parents) or suite in path.parents}


def pytest_configure(config):
    suites = set().union(*map(_suites_of, config.args))
    if len(suites) > 1:
        names = sorted(str(suite.relative_to(HERE.parent)) for suite in suites)
        raise pytest.UsageError(
            f"one suite at a time: {', '.join(names)}; `make test` runs them all")
