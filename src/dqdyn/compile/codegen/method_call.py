"""The call of a compiled method in IR: from arguments to the compiled function of an object, without Python code."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, auto

from dqdyn.compile.codegen.python_objects import ObjectEmitter
from dqdyn.compile.runtime import python_abi as abi
from dqdyn.compile.runtime.method_table import CONTENT, HELD, HELD_ROW, ITEMS, KEYS, ROW, ROWS

MOST_INPUTS, MOST_FRAMES = 8, 2


class Word(IntEnum):
    """Words of a compiled method behind the fields that every object of a Python class has."""

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[int]) -> int:
        return count

    VECTORCALL = auto()
    """Address of the emitted code; it and the next five are all that most calls read."""
    PLAIN = auto()
    """How many arguments there are, with the object, where all inputs and no option are given by place."""
    KNOWN = auto()
    """The class of the last object."""
    TABLE = auto()
    """The class of tables."""
    ROW = auto()
    """The number of the method's row in a table."""
    USUAL = auto()
    """The default of the option."""
    OWNER = auto()
    """The class with the slot in which tables are."""
    NAME = auto()
    PYTHON = auto()
    """The method that takes over."""
    FRAMES = auto()
    """How many frames it takes; so the next three: inputs, those without default, and all arguments at most."""
    INPUTS = auto()
    REQUIRED = auto()
    MOST = auto()
    OUT = auto()
    """Keywords that are understood, here and in the next three, 0 where the method does not take them."""
    CHECK = auto()
    OPTION = auto()
    LAST = auto()
    """That of the last input."""
    DEFAULT_INPUT = auto()
    """That of the last input."""


def entry_name(frames: int) -> str:
    """The emitted function for methods that take so many frames."""
    return f"call_method{frames}"


def entry(offset: int, frames: int) -> str:
    """``ptr call_method…(ptr method, ptr args, i64 nargsf, ptr kwnames)``, a vectorcall for methods with those frames.

    Where all arguments are given by place, and frames and class are those of the last call, it jumps to the code of the
    compiled function. Kernels of functions push this code and its data out of the caches, so both are kept short.
    """
    code = ObjectEmitter(1)

    def word(index: int, kind: str = "ptr") -> str:
        return code.field("%method", offset + 8 * index, kind)

    nargs = code.op(f"and i64 %nargsf, {(1 << 63) - 1}")
    plain = code.op(f"icmp eq i64 {nargs}, {word(Word.PLAIN, 'i64')}")
    code.require(code.op(f"and i1 {plain}, {code.op('icmp eq ptr %kwnames, null')}"))
    instance = code.argument(0)
    code.require_equal("ptr", code.field(instance, abi.TYPE), word(Word.KNOWN))
    row = _row(code, code.field(instance, abi.SLOT), word(Word.TABLE), word(Word.ROW, "i64"), otherwise="slow")
    target = code.load(code.at(row, KEYS, "ptr"), "ptr")
    good = code.op(f"icmp ne ptr {target}, null")
    given = [*(code.argument(1 + i) for i in range(frames)), word(Word.USUAL)]
    for i, key in zip([*range(frames), KEYS - 1], given, strict=True):
        noted = code.load(code.at(row, i, "ptr"), "ptr")
        good = code.op(f"and i1 {good}, {code.op(f'icmp eq ptr {noted}, {key}')}")
    code.require(good)
    first, inputs = code.load(code.at(row, KEYS + 1, "ptr"), "ptr"), code.at("%args", 1 + frames, "ptr")
    count = code.op(f"sub i64 {nargs}, {1 + frames}")
    # The table holds the function, whatever happens to the row meanwhile.
    answer = code.op(f"musttail call ptr {target}(ptr {first}, ptr {inputs}, i64 {count}, ptr null)")
    code.lines.append(f"  ret ptr {answer}")
    code.label("slow")
    answer = code.op("musttail call ptr @call_method(ptr %method, ptr %args, i64 %nargsf, ptr %kwnames)")
    head = f"define ptr @{entry_name(frames)}(ptr %method, ptr %args, i64 %nargsf, ptr %kwnames) align 64 {{"
    return "\n".join([head, "entry:", *code.lines, f"  ret ptr {answer}", "}", ""])


def _row(code: ObjectEmitter, table: str, kind: str, number: str, otherwise: str) -> str:
    """The row of that number in a table, where there is such a table."""
    code.require(code.op(f"icmp ne ptr {table}, null"), otherwise)
    code.require_equal("ptr", code.field(table, abi.TYPE), kind, otherwise)
    rows = code.field(table, ROWS)
    code.require(code.op(f"icmp ne ptr {rows}, null"), otherwise)
    content = code.op(f"ptrtoint ptr {rows} to i64")
    line = code.op(f"and i64 {code.op(f'add i64 {content}, {CONTENT + ROW - 1}')}, {-ROW}")
    start = code.op(f"add i64 {line}, {code.op(f'mul i64 {number}, {ROW}')}")
    return code.op(f"inttoptr i64 {start} to ptr")


def method_call(offset: int) -> str:
    """``ptr call_method(ptr method, ptr args, i64 nargsf, ptr kwnames)``, a vectorcall; ``args[0]`` is the object.

    ``offset`` is that of the words in a method. ``counted`` is to say whether references can be replaced without others
    reading them meanwhile. In front of it are the entries for methods with and without frames, which leave to it all
    but the plainest calls.
    """
    code = ObjectEmitter(1)

    def word(index: int, kind: str = "ptr") -> str:
        return code.field("%method", offset + 8 * index, kind)

    nargs = code.op(f"and i64 %nargsf, {(1 << 63) - 1}")
    frames, inputs = word(Word.FRAMES, "i64"), word(Word.INPUTS, "i64")
    before = code.op(f"add i64 {frames}, 1")
    least = code.op(f"add i64 {before}, {word(Word.REQUIRED, 'i64')}")
    enough = code.op(f"icmp uge i64 {nargs}, {least}")
    few = code.op(f"icmp ule i64 {nargs}, {word(Word.MOST, 'i64')}")
    code.require(code.op(f"and i1 {enough}, {few}"))
    instance = code.argument(0)
    kind = code.field(instance, abi.TYPE)
    code.branch(code.op(f"icmp eq ptr {kind}, {word(Word.KNOWN)}"), "fits", "derived")
    code.label("derived")
    is_subtype = code.call("is_subtype", f"ptr {kind}, ptr {word(Word.OWNER)}", "i32")
    code.require(code.op(f"icmp ne i32 {is_subtype}, 0"))
    code.branch(code.op(f"icmp ne i64 {code.load('@counted', 'i64')}, 0"), "know", "fits")
    code.label("know")
    code.replace(code.at("%method", offset + 8 * Word.KNOWN, "i8"), kind)
    code.jump("fits")
    code.label("fits")
    usual = word(Word.USUAL)
    code.store("null", "%out", "ptr")
    code.store("null", "%check", "ptr")
    code.store(usual, "%option", "ptr")
    plain = code.op(f"icmp eq i64 {nargs}, {code.op(f'add i64 {before}, {inputs}')}")
    without = code.op("icmp eq ptr %kwnames, null")
    code.store(code.at("%args", before, "ptr"), "%given", "ptr")
    code.branch(code.op(f"and i1 {plain}, {without}"), "look_up", "sort")
    code.label("sort")
    _sort_arguments(code, word, nargs, before, inputs)
    code.jump("look_up")
    code.label("look_up")
    table = code.field(instance, abi.SLOT)
    code.require(code.op(f"icmp ne ptr {table}, null"))
    code.store("null", "%row", "ptr")
    keywords = _words(code)
    call = f"i64 {inputs}, ptr {keywords}"
    number = word(Word.ROW, "i64")
    row = _row(code, table, word(Word.TABLE), number, otherwise="search")
    code.store(row, "%row", "ptr")
    target, first = _recent(code, row, frames)
    # The table holds the function, whatever happens to the row meanwhile.
    answer = code.op(f"call ptr {target}(ptr {first}, ptr {code.load('%given', 'ptr')}, {call})")
    code.lines.append(f"  ret ptr {answer}")
    code.label("search")
    top = code.call("get_item", f"ptr {table}, ptr {word(Word.NAME)}")
    has_option = code.op(f"zext i1 {code.op(f'icmp ne ptr {usual}, null')} to i64")
    function = _look_up(code, top, frames, code.op(f"add i64 {frames}, {has_option}"))
    code.branch(code.op(f"icmp eq ptr {code.load('%row', 'ptr')}, null"), "found", "note")
    code.label("note")
    _note(code, table, number, frames, function)
    code.jump("found")
    code.label("found")
    result = code.call("vectorcall", f"ptr {function}, ptr {code.load('%given', 'ptr')}, {call}")
    code.run("decrease", f"ptr {function}")
    code.lines.append(f"  ret ptr {result}")
    code.label("clear")  # not compiled yet, or not a key at all: the Python method handles it
    code.run("clear_error", "")
    code.jump("slow")
    code.label("slow")
    python, vectorcall = word(Word.PYTHON), code.context("vectorcall")
    answer = code.op(f"musttail call ptr {vectorcall}(ptr {python}, ptr %args, i64 %nargsf, ptr %kwnames)")
    head = "define ptr @call_method(ptr %method, ptr %args, i64 %nargsf, ptr %kwnames) {"
    memory = {"inputs": MOST_INPUTS + 2, "given": 1, "out": 1, "check": 1, "option": 1, "last": 1, "row": 1}
    memory |= {f"{loop}_number": 1 for loop in ("keyword", "input", "level")}
    places = ["entry:", *(f"  %{name} = alloca [{size} x i64]" for name, size in memory.items())]
    whole = [head, *places, *code.lines, f"  ret ptr {answer}", "}", ""]
    entries = [entry(offset, number) for number in range(MOST_FRAMES + 1)]
    return "\n".join(["@counted = dso_local global i64 0", *entries, *whole])


def _sort_arguments(code: ObjectEmitter, word: Callable[..., str], nargs: str, before: str, inputs: str) -> None:
    """Put inputs, ``%out`` and ``%check``, as far as given, into ``%inputs``, to which ``%given`` points.

    Set ``%option``.
    """
    known = {f"%{one.name.lower()}": word(one) for one in (Word.OUT, Word.CHECK, Word.OPTION, Word.LAST)}
    for place in known:
        code.store("null", place, "ptr")
    code.branch(code.op("icmp eq ptr %kwnames, null"), "sorted", "keywords")
    code.label("keywords")
    count = code.call("tuple_size", "ptr %kwnames", "i64")
    code.require(code.op(f"icmp ule i64 {count}, {len(known)}"))
    with code.loop("keyword", count) as k:
        name = code.call("tuple_item", f"ptr %kwnames, i64 {k}")
        value, good = code.argument(code.op(f"add i64 {nargs}, {k}")), "false"
        for place, keyword in known.items():
            same = code.op(f"icmp eq ptr {name}, {keyword}")
            code.store(code.op(f"select i1 {same}, ptr {value}, ptr {code.load(place, 'ptr')}"), place, "ptr")
            good = code.op(f"or i1 {good}, {same}")
        code.require(good)
    code.jump("sorted")
    code.label("sorted")
    positional = code.op(f"sub i64 {nargs}, {before}")
    taken = code.op(f"call i64 @llvm.umin.i64(i64 {positional}, i64 {inputs})")
    with code.loop("input", taken) as k:
        code.store(code.argument(code.op(f"add i64 {before}, {k}")), code.at("%inputs", k, "ptr"), "ptr")
    last, all_given = code.load("%last", "ptr"), code.op(f"icmp eq i64 {taken}, {inputs}")
    named = code.op(f"icmp ne ptr {last}, null")
    code.require_equal("i1", code.op(f"and i1 {all_given}, {named}"), "false")  # given twice
    end = code.at("%inputs", code.op(f"sub i64 {inputs}, 1"), "ptr")
    chosen = code.op(f"select i1 {named}, ptr {last}, ptr {word(Word.DEFAULT_INPUT)}")
    code.store(code.op(f"select i1 {all_given}, ptr {code.load(end, 'ptr')}, ptr {chosen}"), end, "ptr")
    out, check = code.load("%out", "ptr"), code.load("%check", "ptr")
    behind = code.op(f"select i1 {code.op(f'icmp eq ptr {out}, null')}, ptr {check}, ptr {out}")
    code.store(behind, code.at("%inputs", inputs, "ptr"), "ptr")
    code.store(check, code.at("%inputs", code.op(f"add i64 {inputs}, 1"), "ptr"), "ptr")
    code.store("%inputs", "%given", "ptr")
    option, by_place = code.load("%option", "ptr"), code.op(f"icmp ugt i64 {positional}, {inputs}")
    named = code.op(f"icmp ne ptr {option}, null")
    code.require_equal("i1", code.op(f"and i1 {by_place}, {named}"), "false")
    chosen = code.op(f"select i1 {named}, ptr {option}, ptr {word(Word.USUAL)}")
    behind = code.argument(code.op(f"sub i64 {nargs}, 1"))
    code.store(code.op(f"select i1 {by_place}, ptr {behind}, ptr {chosen}"), "%option", "ptr")


def _words(code: ObjectEmitter) -> str:
    """The names of the words that are passed on."""
    has_out, has_check = (code.op(f"icmp ne ptr {code.load(place, 'ptr')}, null") for place in ("%out", "%check"))
    both, out, check = (code.context(name) for name in ("out_and_check", "out_alone", "check_alone"))
    with_out = code.op(f"select i1 {has_check}, ptr {both}, ptr {out}")
    without = code.op(f"select i1 {has_check}, ptr {check}, ptr null")
    return code.op(f"select i1 {has_out}, ptr {with_out}, ptr {without}")


def _keys(code: ObjectEmitter, row: str, frames: str) -> list[str]:
    """Where the frames and the option are; what the method does not have is in the row itself."""
    has = [code.op(f"icmp ugt i64 {frames}, {i}") for i in range(KEYS - 1)]
    places = [code.at("%args", i + 1, "ptr") for i in range(KEYS - 1)]
    has.append(code.op(f"icmp ne ptr {code.load('%option', 'ptr')}, null"))
    places.append("%option")
    own = [code.at(row, i, "ptr") for i in range(KEYS)]
    return [code.op(f"select i1 {h}, ptr {p}, ptr {o}") for h, p, o in zip(has, places, own, strict=True)]


def _recent(code: ObjectEmitter, row: str, frames: str) -> tuple[str, str]:
    """What to call, and its first argument, where the keys in a row are those of this call; else go to ``search``."""
    target = code.load(code.at(row, KEYS, "ptr"), "ptr")
    good = code.op(f"icmp ne ptr {target}, null")
    for i, key in enumerate(_keys(code, row, frames)):
        noted, given = code.load(code.at(row, i, "ptr"), "ptr"), code.load(key, "ptr")
        good = code.op(f"and i1 {good}, {code.op(f'icmp eq ptr {noted}, {given}')}")
    code.require(good, otherwise="search")
    return target, code.load(code.at(row, KEYS + 1, "ptr"), "ptr")


def _note(code: ObjectEmitter, table: str, number: str, frames: str, function: str) -> None:
    """Write the keys of this call and its function into ``%row``, and hold them.

    A built-in function like those that we emit is called at its own address, all others by CPython. The former contents
    go last: what dies with them may run Python code, which may call this method.
    """
    row, none = code.load("%row", "ptr"), code.context("none")
    items = code.field(code.field(table, HELD), ITEMS)
    held = code.at(items, code.op(f"mul i64 {number}, {HELD_ROW}"), "i8")
    given = [code.load(key, "ptr") for key in _keys(code, row, frames)]
    former = [code.load(code.at(held, i, "ptr"), "ptr") for i in range(KEYS + 1)]
    for i, key in enumerate([*given, function]):
        reference = code.op(f"select i1 {code.op(f'icmp eq ptr {key}, null')}, ptr {none}, ptr {key}")
        code.run("increase", f"ptr {reference}")
        code.store(reference, code.at(held, i, "ptr"), "ptr")
    for i, word in enumerate((*given, code.context("vectorcall"), function)):
        code.store(word, code.at(row, i, "ptr"), "ptr")
    is_built_in = code.op(f"icmp eq ptr {code.field(function, abi.TYPE)}, {code.context('function_type')}")
    code.branch(is_built_in, "built_in", "noted")
    code.label("built_in")
    flags = code.call("flags_of", f"ptr {function}", "i32")
    code.branch(code.op(f"icmp eq i32 {flags}, {abi.FASTCALL_KEYWORDS}"), "ours", "noted")
    code.label("ours")
    for i, what in enumerate(("code_of", "self_of")):
        code.store(code.call(what, f"ptr {function}"), code.at(row, KEYS + i, "ptr"), "ptr")
    code.jump("noted")
    code.label("noted")
    for object_ in former:
        code.run("decrease", f"ptr {object_}")


def _look_up(code: ObjectEmitter, first: str, frames: str, levels: str) -> str:
    """A new reference to what stands in nested dictionaries under the frames and ``%option``.

    Where it is absent, go to ``clear``.
    """
    code.require(code.op(f"icmp ne ptr {first}, null"), otherwise="clear")
    code.store(first, "%last", "ptr")
    with code.loop("level", levels) as k:
        here = code.load("%last", "ptr")
        frame = code.at("%args", code.op(f"add i64 {k}, 1"), "ptr")
        key = code.op(f"select i1 {code.op(f'icmp ult i64 {k}, {frames}')}, ptr {frame}, ptr %option")
        there = code.call("get_item", f"ptr {here}, ptr {code.load(key, 'ptr')}")
        code.run("decrease", f"ptr {here}")
        code.require(code.op(f"icmp ne ptr {there}, null"), otherwise="clear")
        code.store(there, "%last", "ptr")
    return code.load("%last", "ptr")
