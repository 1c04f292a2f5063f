"""Numbers of operations that the papers print, and nothing else: (multiplications, additions) by line."""

from __future__ import annotations

QUIROZ_5_1 = {
    "quaternions, C(λa)": ("4", "0"),
    "quaternions, C(Ad(a) b)": ("35", "24"),
    "dual quaternions, C(λa)": ("8", "0"),
    "dual quaternions, C(Ad(a) b)": ("102", "80"),
    "C(λA), A m×p": ("mp", "0"),
    "C(A + B), m×p": ("0", "mp"),
    "C(AB), m×p and p×r": ("mpr", "mpr − mr"),
    "C(S(c))": ("3", "0"),
    "C(S(ω, Ψ)), (5.13)": ("18", "6"),
}
QUIROZ_5_2 = {
    "C(J_x) of body i": ("189i − 48", "142i − 40"),
    "C(J̇_x) of body i": ("312i", "268i − 8"),
    "C(J_ξ) of body i": ("237i − 40", "184i − 40"),
    "C(J̇_ξ) of body i": ("408i + 8", "358i − 8"),
    "C(J_ξ) of all bodies": ("118.5n² + 78.5n", "92n² + 52n"),
    "C(J̇_ξ) of all bodies": ("204n² + 212n", "179n² + 171n"),
}
QUIROZ_5_3 = {
    "C(M_i)": ("6i² + 36i", "5i² + 30i"),
    "C(C_i)": ("6i² + 72i + 18", "5i² + 66i + 6"),
    "C(g_i)": ("3i + 35", "2i + 24"),
    "C(M_GP)": ("2n³ + 21n² + 19n", "8/3 n³ + 33/2 n² + 95/6 n"),
    "C(C_GP)": ("2n³ + 39n² + 55n", "8/3 n³ + 69/2 n² + 239/6 n"),
    "C(g_GP)": ("1.5n² + 36.5n", "2n² + 24n"),
}
_GAUSS = ("4n³ + 386n² + 401n", "16/3 n³ + 326n² + 908/3 n")
_NEWTON_EULER = ("882n − 48", "724n − 40")
_CLASSIC_NEWTON_EULER = ("150n − 48", "131n − 48")
_CLASSIC_LAGRANGE = ("412n − 277", "320n − 201")
QUIROZ_5_4 = {
    "Gauss's principle": _GAUSS,
    "classic Euler-Lagrange (Hollerbach)": _CLASSIC_LAGRANGE,
    "dual-quaternion Newton-Euler": _NEWTON_EULER,
    "classic Newton-Euler (Balafoutis)": _CLASSIC_NEWTON_EULER,
}
SILVA_3 = {
    "dual-quaternion Newton-Euler": _NEWTON_EULER,
    "classic Newton-Euler (Balafoutis)": _CLASSIC_NEWTON_EULER,
    "Gauss's principle": _GAUSS,
    "classic Euler-Lagrange (Hollerbach)": _CLASSIC_LAGRANGE,
}
