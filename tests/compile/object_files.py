"""What object files ask the loader for: the undefined symbols of ELF, COFF and Mach-O, 64-bit and little-endian."""

from __future__ import annotations

import struct


def undefined_symbols(data: bytes) -> set[str]:
    """Names that an object file refers to and does not define, as its format spells them."""
    if data[:4] == b"\x7fELF":
        return _elf(data)
    if data[:4] == struct.pack("<I", 0xFEEDFACF):
        return _mach_o(data)
    return _coff(data)


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def _elf(data: bytes) -> set[str]:
    start, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    # name, type, flags, address, offset, size, link, …
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + size * k) for k in range(count)]
    names: set[str] = set()
    for section in sections:
        if section[1] == 2:  # a table of symbols; its link is the table of names
            for at in range(section[4] + 24, section[4] + section[5], 24):  # the first is empty
                name, _, _, where = struct.unpack_from("<IBBH", data, at)
                if where == 0:
                    names.add(_text(data, sections[section[6]][4] + name))
    return names


def _coff(data: bytes) -> set[str]:
    table, count = struct.unpack_from("<II", data, 8)
    texts, names, k = table + 18 * count, set(), 0
    while k < count:
        at = table + 18 * k
        _, section, _, kind, more = struct.unpack_from("<IhHBB", data, at + 8)
        if section == 0 and kind == 2:  # external
            zeros, offset = struct.unpack_from("<II", data, at)
            names.add(_text(data, texts + offset) if zeros == 0 else data[at : at + 8].rstrip(b"\0").decode())
        k += 1 + more
    return names


def _mach_o(data: bytes) -> set[str]:
    commands, at, names = struct.unpack_from("<I", data, 16)[0], 32, set()
    for _ in range(commands):
        command, size = struct.unpack_from("<II", data, at)
        if command == 2:  # LC_SYMTAB
            symbols, count, texts, _ = struct.unpack_from("<IIII", data, at + 8)
            for k in range(count):
                name, kind, _, _, value = struct.unpack_from("<IBBHQ", data, symbols + 16 * k)
                if kind & 0x0E == 0 and value == 0:  # undefined, not common
                    names.add(_text(data, texts + name))
        at += size
    return names
