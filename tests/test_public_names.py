"""Public names change on purpose only: what is recorded in public_names.txt is what there is."""

from __future__ import annotations

import public_names


def test_public_names_are_those_on_record() -> None:
    recorded = public_names.RECORD.read_text(encoding="utf-8").splitlines()
    gone, new = sorted(set(recorded) - set(public_names.listing())), sorted(set(public_names.listing()) - set(recorded))
    assert (gone, new) == ([], []), (
        f"gone: {gone}; new: {new}. A name of the last release stays, or warns for one release (docs/releasing.md); "
        "then run python tests/public_names.py, and add a line to CHANGELOG.md."
    )
