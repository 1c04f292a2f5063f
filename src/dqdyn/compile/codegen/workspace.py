"""Functions in LLVM IR that need more memory than a stack should give."""

from __future__ import annotations

from collections.abc import Sequence


def in_workspace(
    name: str, parameters: Sequence[str], size: int, failed: str, lines: Sequence[str], fail: Sequence[str] = ()
) -> list[str]:
    """The function ``name`` of some lines, which have ``size`` bytes at ``%scratch``.

    Where there is no memory, ``fail`` is done and ``failed`` returned.
    """
    names = [parameter.split()[-1] for parameter in parameters]
    given = ", ".join(f"{parameter.split()[0]} {own}" for parameter, own in zip(parameters, names, strict=True))
    linkage = "internal " if name.endswith("_block") else ""
    return [
        f"@{name}_memory = internal global [{max(size, 8)} x i8] zeroinitializer, align 64",
        f"@{name}_taken = internal global i32 0",
        f"define internal i64 @{name}_rolled({', '.join(parameters)}, ptr noalias %scratch) noinline {{",
        "entry:",
        *lines,
        "stop:",
        "  ret i64 0",
        "}",
        f"define {linkage}i64 @{name}({', '.join(parameters)}) {{",
        "entry:",
        f"  %before = atomicrmw xchg ptr @{name}_taken, i32 1 acquire",
        "  %free = icmp eq i32 %before, 0",
        "  br i1 %free, label %own, label %other",
        "own:",
        f"  %flag = call i64 @{name}_rolled({given}, ptr @{name}_memory)",
        f"  store atomic i32 0, ptr @{name}_taken release, align 4",
        "  ret i64 %flag",
        "other:",
        "  %allocate = load ptr, ptr @allocate_at",
        f"  %new = call ptr %allocate(i64 {size + 64})",
        "  %some = icmp ne ptr %new, null",
        "  br i1 %some, label %there, label %none",
        "there:",
        "  %word = ptrtoint ptr %new to i64",
        "  %up = add i64 %word, 63",
        "  %even = and i64 %up, -64",
        "  %memory = inttoptr i64 %even to ptr",
        f"  %answer = call i64 @{name}_rolled({given}, ptr %memory)",
        "  %release = load ptr, ptr @release_at",
        "  call void %release(ptr %new)",
        "  ret i64 %answer",
        "none:",
        *fail,
        f"  ret i64 {failed}",
        "}",
    ]
