"""The call path for batches: where the first array has two axes, on one thread or shared between several."""

from __future__ import annotations

from dqdyn.compile.call import ALIGNED, C_CONTIGUOUS, DIMS, NDIM, TUPLE_ITEM, TUPLE_SIZE, TYPE, CallEmitter
from dqdyn.compile.threads import GRAIN


class ManyEmitter(CallEmitter):
    """IR of ``ptr call_many(ptr self, ptr args, i64 nargs, ptr kwnames)``: batches of rows without gaps.

    The kernel is compiled when it is first needed: ``@many`` holds its address once it is there. It notices unfit
    inputs itself, and computes while other threads of Python run. ``@shared`` holds the address of what shares a batch
    between threads (:mod:`~dqdyn.compile.mailbox`), where the addresses of the kernel for each of them are, and how
    many there are.
    """

    def text(self) -> str:
        kernel = self.op("load ptr, ptr @many")
        self.require(self.op(f"icmp ne ptr {kernel}, null"))
        if len(self.numbers) == len(self.program.inputs):  # no array tells how many rows there are
            self.rows = "1"
            self.require("false")
        data = self.arguments()
        strides = ["0" if i in self.numbers else str(size) for i, (_, size) in enumerate(self.program.inputs)]
        self.answer(data, lambda where: self.compute(kernel, data, strides, where))
        head = [
            "@many = dso_local global ptr null",
            "@shared = dso_local global [3 x i64] zeroinitializer",
            "define internal ptr @call_many(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {",
            *self.entry(),
            f"  %words = alloca [{2 * len(data) + 1} x i64]",
            "  %overflow = alloca i32",
        ]
        return "\n".join([*head, *self.lines, "}", ""])

    def compute(self, kernel: str, data: list[str], strides: list[str], where: str) -> str:
        """On this thread, or shared."""
        pairs = [word for d, stride in zip(data, strides, strict=True) for word in (f"ptr {d}", f"i64 {stride}")]
        given = [*pairs, f"ptr {where}"]
        share, codes = (self.op(f"load ptr, ptr {p}") for p in self.shared()[:2])
        thread = self.op(f"call ptr {self.context('unlock')}()")
        self.lines += ["  %alone = icmp eq i64 %threads, 1", "  br i1 %alone, label %one, label %several", "one:"]
        alone = self.op(f"call i64 {kernel}({', '.join([*given, f'i64 {self.rows}'])})")
        self.lines += ["  br label %computed", "several:"]
        for k, word in enumerate(given):
            self.lines.append(f"  store {word}, ptr {self.op(f'getelementptr i64, ptr %words, i64 {k}')}")
        words = f"ptr {codes}, i64 %threads, ptr %words, i64 {self.rows}, i64 {GRAIN}"
        together = self.op(f"call i64 {share}({words})")
        self.lines += ["  br label %computed", "computed:"]
        flag = self.op(f"phi i64 [ {alone}, %one ], [ {together}, %several ]")
        self.lines.append(f"  call void {self.context('lock')}(ptr {thread})")
        return flag

    def shared(self) -> list[str]:
        return [self.op(f"getelementptr [3 x i64], ptr @shared, i64 0, i64 {k}") for k in range(3)]

    def keywords(self) -> None:
        """``%out`` or null, and ``%threads``; any other keyword is for Python."""
        self.lines += [
            "  br label %named",
            "named:",
            "  %unnamed = icmp eq ptr %kwnames, null",
            "  br i1 %unnamed, label %parsed, label %first",
            "first:",
        ]
        count = self.field("%kwnames", TUPLE_SIZE, "i64")
        self.require(self.op(f"icmp ne i64 {count}, 0"))
        out1, threads1 = self.keyword(0, "null", "null")
        self.lines += ["  br label %next", "next:", f"  %single = icmp eq i64 {count}, 1"]
        self.lines += ["  br i1 %single, label %parsed, label %second", "second:"]
        self.require(self.op(f"icmp eq i64 {count}, 2"))
        out2, threads2 = self.keyword(1, out1, threads1)
        self.lines += [
            "  br label %both",
            "both:",
            "  br label %parsed",
            "parsed:",
            f"  %out = phi ptr [ null, %named ], [ {out1}, %next ], [ {out2}, %both ]",
            f"  %number = phi ptr [ null, %named ], [ {threads1}, %next ], [ {threads2}, %both ]",
            "  %default = icmp eq ptr %number, null",
            "  br i1 %default, label %counted, label %count",
            "count:",
        ]
        self.require(self.op(f"icmp eq ptr {self.field('%number', TYPE, 'ptr')}, {self.context('int_type')}"))
        threads = self.op(f"call i64 {self.context('whole')}(ptr %number, ptr %overflow)")  # −1 where it is too large
        most = self.op(f"load i64, ptr {self.shared()[2]}")
        alone = self.op(f"icmp eq i64 {threads}, 1")
        positive, possible = self.op(f"icmp sgt i64 {threads}, 0"), self.op(f"icmp sle i64 {threads}, {most}")
        self.require(self.op(f"or i1 {alone}, {self.op(f'and i1 {positive}, {possible}')}"))
        self.lines += [
            "  br label %fits",
            "fits:",
            "  br label %counted",
            "counted:",
            f"  %threads = phi i64 [ 1, %parsed ], [ {threads}, %fits ]",
            "  %positional = icmp eq ptr %out, null",
        ]

    def keyword(self, k: int, out: str, threads: str) -> tuple[str, str]:
        """``out`` and ``threads``, one of them as the keyword of that number gives it."""
        name = self.field("%kwnames", TUPLE_ITEM + 8 * k, "ptr")
        at = self.op(f"getelementptr ptr, ptr %args, i64 {len(self.program.inputs) + k}")
        value = self.op(f"load ptr, ptr {at}")
        is_out = self.op(f"icmp eq ptr {name}, {self.context('out')}")
        is_threads = self.op(f"icmp eq ptr {name}, {self.context('threads')}")
        self.require(self.op(f"or i1 {is_out}, {is_threads}"))
        out = self.op(f"select i1 {is_out}, ptr {value}, ptr {out}")
        return out, self.op(f"select i1 {is_threads}, ptr {value}, ptr {threads}")

    def out_argument(self) -> str:
        return "%out"

    rows = ""

    def leading(self) -> list[str]:
        return [self.rows]

    def array(self, array: str, size: int) -> str:
        self.require(self.op(f"icmp eq ptr {self.field(array, TYPE, 'ptr')}, {self.context('array_type')}"))
        self.require(self.op(f"icmp eq i32 {self.field(array, NDIM, 'i32')}, 2"))
        if not self.rows:
            self.rows = self.field(self.field(array, DIMS, "ptr"), 0, "i64")
            self.require(self.op(f"icmp sgt i64 {self.rows}, 0"))
        return self.gapless(array, [*self.leading(), str(size)], C_CONTIGUOUS | ALIGNED)

    def length(self, size: int) -> str:
        return self.op(f"mul i64 {self.rows}, {size}")
