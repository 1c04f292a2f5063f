"""Errors carry their data, survive pickling and name a remedy."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest

from dqdyn import errors
from dqdyn.errors import (
    Error,
    MissingExtraError,
    ModelWarning,
    UnknownNameError,
    install_command,
    missing_extra,
    unknown_name,
)

KINDS = [e for _, e in inspect.getmembers(errors, inspect.isclass) if issubclass(e, Error)]


@pytest.mark.parametrize("kind", KINDS)
def test_data_become_attributes(kind: type[Error]) -> None:
    error = kind("A sentence.", joint="elbow", row=3)
    assert str(error) == "A sentence."
    assert error.joint == "elbow"
    assert error.row == 3
    assert error.data == {"joint": "elbow", "row": 3}
    assert isinstance(error, ValueError)
    with pytest.raises(AttributeError, match=r"no attribute 'frame'; its data are \['joint', 'row'\]"):
        _ = error.frame


@pytest.mark.parametrize("kind", KINDS)
def test_pickling(kind: type[Error]) -> None:
    error = kind("A sentence.", joint="elbow", row=3)
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(twin) is kind
        assert str(twin) == str(error)
        assert twin.data == error.data
        assert twin.row == 3


def test_close_matches() -> None:
    error = unknown_name("joint", "shoulder_pna", ["shoulder_pan", "shoulder_lift", "elbow"])
    assert isinstance(error, UnknownNameError)
    assert error.name == "shoulder_pna"
    assert error.matches[0] == "shoulder_pan"
    assert "elbow" not in error.matches
    assert str(error).startswith("There is no joint named 'shoulder_pna': did you mean 'shoulder_pan'")


def test_no_match_lists_what_is_known() -> None:
    error = unknown_name("frame", "zzz", (f"link{i}" for i in range(20)))
    assert error.matches == []
    assert "known: link0, link1" in str(error)
    assert str(error).endswith("link11, ….")
    assert str(unknown_name("frame", "zzz", ["hand"])).endswith("known: hand.")
    assert str(unknown_name("frame", "zzz", [])).endswith("there is none.")


def test_a_guess_comes_with_the_list_where_it_is_short() -> None:
    few, many = ["auto", "gauss", "kane"], [f"link{i}" for i in range(13)]
    assert str(unknown_name("method", "Gauss", few)).endswith("did you mean 'gauss'? Known: auto, gauss, kane.")
    assert str(unknown_name("frame", "lnk1", many)).endswith("?")


def test_no_guess_for_what_is_no_text() -> None:
    error = unknown_name("method", None, ["None", "kane"])
    assert error.matches == []
    assert str(error) == "There is no method named None: known: None, kane."


def test_missing_extra_is_an_import_error_too() -> None:
    error = missing_extra("mujoco", "mjcf", "Loading MJCF")
    assert isinstance(error, ImportError)
    assert isinstance(error, MissingExtraError)
    assert (error.package, error.extra) == ("mujoco", "mjcf")
    assert install_command("mujoco", "mjcf") in str(error)
    assert pickle.loads(pickle.dumps(error)).extra == "mjcf"


def test_warnings_are_user_warnings() -> None:
    assert issubclass(ModelWarning, UserWarning)
