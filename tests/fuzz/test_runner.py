"""The tool itself: planted faults are each reported, made small and reproduced; sound cases are not."""

from __future__ import annotations

import json
import sys

import pytest

from . import report
from .areas import area_named
from .cases import FINE, REFUSED, VIOLATION, blanked, case_of, judge
from .minimise import minimised
from .runner import AreaResult, AreaRun

PLANTED = f"{__package__}.planted"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the watchdog rests on POSIX")


def run(monkeypatch: pytest.MonkeyPatch, fault: str, inputs: int = 3) -> AreaResult:
    monkeypatch.setenv("PLANTED", fault)
    return AreaRun(PLANTED, seed=1, seconds=120.0, inputs=inputs, jobs=1, shrink=1.0).run()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("wrong answer", "wrong answer: two is not #"),
        ("raw exception", "KeyError"),
        ("warning", "warning RuntimeWarning: of another library"),
        ("two lines", "not one printable line"),
        ("exit", "SystemExit"),
        pytest.param(
            "memory", "MemoryError", marks=pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
        ),
    ],
)
def test_a_fault_is_reported_and_made_small(monkeypatch: pytest.MonkeyPatch, fault: str, words: str) -> None:
    result = run(monkeypatch, fault)
    assert result.tried == 3
    assert sum(result.of(VIOLATION).values()) == 3
    (finding,) = result.findings
    assert words in finding.kind
    assert finding.case == {"fault": fault, "text": "X"}
    kept = json.loads(report.as_regression(finding))
    assert judge(area_named(PLANTED), kept["case"]).kind == finding.kind
    assert judge(area_named(PLANTED), case_of(area_named(PLANTED), finding.seed)).kind == finding.kind
    assert f"--case {finding.seed}" in report.summary(result)


@pytest.mark.parametrize(("fault", "how"), [("crash", "crash by SIGABRT"), ("hang", "hang")])
@pytest.mark.long
def test_a_process_that_dies_names_its_case(monkeypatch: pytest.MonkeyPatch, fault: str, how: str) -> None:
    result = run(monkeypatch, fault, inputs=1)
    assert result.tried == 1
    (finding,) = result.findings
    assert (finding.kind, finding.seed) == (how, 10_000_000)
    assert finding.case["fault"] == fault
    assert "X" in finding.case["text"]


def test_sound_cases_and_refusals_are_no_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    fine, refused = run(monkeypatch, "none", 9), run(monkeypatch, "refusal", 9)
    assert (fine.tried, fine.findings, fine.of(FINE)) == (9, [], {"as it should be": 9})
    assert (refused.findings, refused.of(REFUSED)) == ([], {"Error: joint '…' has # axes; found …": 9})


def test_kinds_have_neither_names_nor_numbers() -> None:
    assert blanked("joint 'a \\' b' has (0.1, -2e5) in row 3: give nan") == "joint '…' has (#) in row #: give #"
    assert blanked("of float64; found [1, 2\n3]") == "of float64; found …"


def test_minimised_keeps_what_matters() -> None:
    case = {"text": "aaaa<x>bbbb", "list": [1, 2, 3, 40], "flag": True}
    small = minimised(case, lambda c: "<" in c.get("text", "") and 3 in c.get("list", ()))
    assert small == {"text": "<", "list": [3]}
