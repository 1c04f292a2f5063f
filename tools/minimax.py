"""Coefficients of the sine and cosine polynomials in dqdyn.compile.codegen.sincos, by Remez exchange in 60 digits.

sin r = r + r³ P(r²) and cos r = 1 − r²/2 + r⁴ Q(r²) on |r| ≤ π/4 and a little more: for |x| up to 10¹⁵ the
rounding of 2/π takes the reduced argument up to 0.0394 · π/2 further.
Run ``python tools/minimax.py`` to print them with their error in units of 2⁻⁵³.
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp

mp.mp.dps = 60
REACH = mp.mpf("0.848")


def remez(f: Callable, weight: Callable, degree: int) -> tuple[list, object]:
    """Polynomial in z = r² that minimises max |weight(z) (f(z) − P(z))| on [0, REACH²]."""
    top = REACH**2
    n = degree + 2
    points = [top * (1 - mp.cos(mp.pi * (2 * i + 1) / (2 * n))) / 2 for i in range(n)]
    for _ in range(12):
        rows = [[x**k for k in range(degree + 1)] + [(-1) ** i / weight(x)] for i, x in enumerate(points)]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([f(x) for x in points]))
        coefficients = [solution[k] for k in range(degree + 1)]

        def error(x: object, c: list = coefficients) -> object:
            return weight(x) * (f(x) - mp.polyval(c[::-1], x))

        grid = [top * i / 4000 for i in range(1, 4001)]
        values = [error(x) for x in grid]
        extrema: list[tuple[object, object]] = []
        for x, value in zip(grid, values, strict=True):
            if extrema and (value > 0) == (extrema[-1][1] > 0):
                if abs(value) > abs(extrema[-1][1]):
                    extrema[-1] = (x, value)
            else:
                extrema.append((x, value))
        if len(extrema) < n:
            break
        while len(extrema) > n:
            extrema.pop(0 if abs(extrema[0][1]) < abs(extrema[-1][1]) else -1)
        points = [x for x, _ in extrema]
    return coefficients, max(abs(v) for v in values)


def main() -> None:
    def sine(z: object) -> object:
        r = mp.sqrt(z)
        return (mp.sin(r) / r - 1) / z if z > mp.mpf("1e-12") else -mp.mpf(1) / 6 + z / 120

    def cosine(z: object) -> object:
        return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2 if z > mp.mpf("1e-6") else mp.mpf(1) / 24 - z / 720

    for name, f, weight, degree in (("SIN", sine, lambda z: z, 5), ("COS", cosine, lambda z: z**2, 5)):
        weighted = lambda z, w=weight: w(max(z, mp.mpf("1e-6")))
        coefficients, error = remez(f, weighted, degree)
        print(f"{name} = (")
        for c in coefficients:
            print(f"    {float(c)!r},")
        print(f")  # largest error {mp.nstr(error * 2**53, 3)} · 2⁻⁵³")
    first = mp.mpf(float(mp.pi / 2))
    second = mp.mpf(float(mp.pi / 2 - first))
    third = mp.mpf(float(mp.pi / 2 - first - second))
    print("HALF_PI =", (float(first), float(second), float(third)))


if __name__ == "__main__":
    main()
