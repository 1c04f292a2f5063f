"""The progress bar of simulations: that of the package."""

from dqdyn.progress import Progress as Progress
