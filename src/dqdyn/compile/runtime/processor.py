"""The processor that code is compiled for, told from what LLVM says about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# The feature that stands for fused multiply-add in hardware. None: every processor of the kind has it, and LLVM lists
# no feature for it, or, as on macOS, none at all. A kind is here only once its code was run: where LLVM's loader does
# not know what an object file asks for, it ends the whole process.
_FUSES: dict[str, str | None] = {"x86_64": "fma", "amd64": "fma", "aarch64": None, "arm64": None}
_X86 = ("x86_64", "amd64")
_WHOLE = ("znver5",)  # on which it was measured what 512-bit instructions that are executed as a whole cost
_LONG_ROW = 48  # numbers: of six vectors of eight; with fewer, too many lanes stay empty


@dataclass(frozen=True)
class Machine:
    """The processor that code is compiled for; ``triple`` is LLVM's name of its kind, system and object format."""

    triple: str
    cpu: str
    features: str
    width: int
    fma: bool
    version: str

    @property
    def is_x86(self) -> bool:
        return self.triple.partition("-")[0].lower() in _X86

    @property
    def width_for_one(self) -> int:
        """The vector width in code for one state.

        Processors slow down for some 200 µs when 512-bit instructions come after a pause of a millisecond: a batch
        is hardly affected, but one call in a control loop would take two to three times as long.
        """
        return min(self.width, 4)

    def width_for_rows(self, columns: int) -> int:
        """The vector width in code for one state with rows of so many results: wider vectors are shorter code.

        Calls with 512-bit instructions take no longer after a pause where these are executed as a whole.
        """
        return self.width if self.has_whole_vectors and columns >= _LONG_ROW else self.width_for_one

    @property
    def has_whole_vectors(self) -> bool:
        """Whether two vectors of eight are multiplied and added at a time, and one is stored."""
        return self.width == 8 and self.cpu in _WHOLE

    @property
    def registers(self) -> int:
        """Vector registers, each of which may hold one double."""
        return 16 if self.is_x86 and self.width < 8 else 32

    def features_for(self, width: int) -> str:
        """Features that LLVM may use in code with vectors of this width."""
        return self.features if self.width < 8 else f"{self.features},{'-' if width == 8 else '+'}prefer-256-bit"


def described(triple: str, cpu: str, features: Mapping[str, bool], version: str) -> Machine:
    """The machine of a triple, such as "aarch64-unknown-linux-gnu"; ``version`` is that of the compiler.

    Raises OSError for kinds of processors for which no code is emitted.
    """
    kind = triple.partition("-")[0].lower()
    if kind not in _FUSES:
        raise OSError(f"code is emitted for x86_64 and aarch64, not for {kind or 'an unnamed kind of processor'}")
    fuses = _FUSES[kind]
    width = 8 if features.get("avx512f") else 4 if features.get("avx") else 2  # two doubles: SSE2, NEON
    flat = ",".join(f"{'+' if has else '-'}{name}" for name, has in sorted(features.items()))
    return Machine(triple, cpu, flat, width, fuses is None or bool(features.get(fuses)), version)
