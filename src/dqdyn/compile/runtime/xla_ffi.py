"""Calls from XLA into Python with the memory of its arrays, on the CPU: nothing is copied.

The layout is that of XLA's typed foreign function interface, version 0 (``xla/ffi/api/c_api.h``): structures that begin
with their size. What does not have the expected size is refused, not guessed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from functools import lru_cache
from typing import Any

import numpy as np

from dqdyn.arrays import Array

TARGET = "dqdyn_call"
_METADATA, _EXECUTE = 1, 3
_INTERNAL = 13
_DTYPES = {11: (np.float32, 4), 12: (np.float64, 8)}
_HEAD: list[Any] = [("struct_size", c_size_t), ("extension", c_void_p)]


class _Extension(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("type", c_int), ("next", c_void_p), ("metadata", c_void_p)]


class _Version(ctypes.Structure):
    _fields_ = [*_HEAD, ("major", c_int), ("minor", c_int)]


class _Metadata(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("version", _Version), ("traits", c_uint32)]


class _Api(ctypes.Structure):
    _fields_ = [*_HEAD, ("version", _Version), ("internal", c_void_p), ("create_error", c_void_p)]


class _Error(ctypes.Structure):
    _fields_ = [*_HEAD, ("message", c_char_p), ("code", c_int)]


class _Buffer(ctypes.Structure):
    _fields_ = [*_HEAD, ("dtype", c_int), ("data", c_void_p), ("rank", c_int64), ("dims", POINTER(c_int64))]


class _Buffers(ctypes.Structure):
    _fields_ = [*_HEAD, ("size", c_int64), ("types", c_void_p), ("items", POINTER(POINTER(_Buffer)))]


class _Scalar(ctypes.Structure):
    _fields_ = [("dtype", c_int), ("value", POINTER(c_int64))]


class _Attributes(ctypes.Structure):
    _fields_ = [
        *_HEAD,
        ("size", c_int64),
        ("types", c_void_p),
        ("names", c_void_p),
        ("items", POINTER(POINTER(_Scalar))),
    ]


class _Frame(ctypes.Structure):
    _fields_ = [
        *_HEAD,
        ("api", POINTER(_Api)),
        ("context", c_void_p),
        ("stage", c_int),
        ("inputs", _Buffers),
        ("results", _Buffers),
        ("attributes", _Attributes),
        ("future", c_void_p),
    ]


_FUNCTIONS: list[Callable[..., None]] = []
_HANDLER = ctypes.CFUNCTYPE(c_void_p, POINTER(_Frame))
_CREATE = ctypes.CFUNCTYPE(c_void_p, POINTER(_Error))


def number_of(function: Callable[..., None]) -> int:
    """A number for ``function(out, *arrays)``, by which XLA names it; it lives as long as the process."""
    _FUNCTIONS.append(function)
    return len(_FUNCTIONS) - 1


@lru_cache(maxsize=1)
def register() -> str:
    """The name of the target, registered with JAX once; the attribute ``number`` chooses the function."""
    import jax

    jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(_HANDLE), platform="cpu")
    return TARGET


def _handle(pointer: Any) -> Any:
    frame = pointer.contents
    if frame.extension:
        extension = _Extension.from_address(frame.extension)
        if extension.type == _METADATA:
            metadata = _Metadata.from_address(extension.metadata)
            metadata.version.major, metadata.version.minor = 0, 1  # what is used here has been there since
            metadata.traits = 0
            return None
    if frame.stage != _EXECUTE:
        return None
    try:
        _execute(frame)
    except BaseException as problem:  # no exception may pass through XLA
        return _error(frame, f"{type(problem).__name__}: {problem}")
    return None


_HANDLE = _HANDLER(_handle)


def _execute(frame: Any) -> None:
    sizes = frame.inputs.struct_size, frame.results.struct_size, frame.attributes.struct_size
    if sizes != (ctypes.sizeof(_Buffers), ctypes.sizeof(_Buffers), ctypes.sizeof(_Attributes)):
        raise RuntimeError("this version of XLA lays out its call frames in a way that dqdyn does not know")
    number = frame.attributes.items[0].contents.value[0]
    arrays = [_array(frame.inputs.items[k].contents) for k in range(frame.inputs.size)]
    _FUNCTIONS[number](_array(frame.results.items[0].contents), *arrays)


def _array(buffer: Any) -> Array:
    """The memory of a buffer of two axes as an array."""
    number, size = _DTYPES[buffer.dtype]
    rows, columns = buffer.dims[:2]
    if not rows * columns:
        return np.empty((rows, columns), number)
    memory: Any = (ctypes.c_char * (rows * columns * size)).from_address(buffer.data)
    return np.ndarray((rows, columns), number, memory)


def _error(frame: Any, message: str) -> Any:
    text = message.encode()
    error = _Error(ctypes.sizeof(_Error), None, text, _INTERNAL)
    return _CREATE(frame.api.contents.create_error)(ctypes.byref(error))
