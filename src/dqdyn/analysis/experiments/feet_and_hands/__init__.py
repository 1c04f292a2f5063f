"""Postures on feet and hands, up to a handstand, by one whole-body controller: Bouyarmane, section VI."""

from dqdyn.analysis.experiments.feet_and_hands.report import NAME, TITLE, experiment

__all__ = ["NAME", "TITLE", "experiment"]
