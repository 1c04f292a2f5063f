"""Pictures as files: PNG by zlib alone, GIF by Pillow, MP4 by the system's ffmpeg."""

from __future__ import annotations

import contextlib
import io
import shutil
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import Error, FormatError, MissingExtraError, missing_extra
from dqdyn.formats.whole_file import checked_target


def checked_suffix(path: Any, kinds: Sequence[str], what: str) -> Path:
    """The path, if a file of one of these kinds can be written there; say so before anything is computed."""
    if not isinstance(path, str | Path):
        raise FormatError(f"{what} is written to a file: give its path; found {path!r}.", path=repr(path))
    target = Path(path)
    if target.suffix.lower().removeprefix(".") not in kinds:
        known = " or ".join(f".{kind}" for kind in kinds)
        raise FormatError(f"{what} is written as {known}, by the ending; found {target.name!r}.", path=str(path))
    checked_target(target)
    return target


def png(image: Array) -> bytes:
    """A PNG file of an image (height, width, 3) of bytes."""
    height, width, _ = image.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, -1)], axis=1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # eight bits per channel, red green blue
    packed = zlib.compress(rows.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def gif(images: Iterable[Array], rate: float) -> bytes:
    """A GIF that repeats for ever; ``rate`` in pictures per second, of which GIF knows those of whole 10 ms."""
    image_class = _pillow()
    frames = [image_class.fromarray(image) for image in images]
    colors = frames[len(frames) // 2].quantize(colors=255)  # one palette for all, so that colors do not flicker
    reduced = [frame.quantize(palette=colors, dither=0) for frame in frames]
    content = io.BytesIO()
    # Times of the pictures are rounded, not their differences: errors do not add up.
    times = np.round(100.0 * np.arange(len(frames) + 1) / rate)
    durations = (10 * np.diff(times)).astype(int).tolist()
    reduced[0].save(content, "GIF", save_all=True, append_images=reduced[1:], duration=durations, loop=0)
    return content.getvalue()


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise missing_extra("pillow", "plot", "writing a GIF") from None
    return Image


def ffmpeg() -> str:
    """Where the system's ffmpeg is."""
    found = shutil.which("ffmpeg")
    if found is None:
        remedy = "install it (apt install ffmpeg, brew install ffmpeg), or write a .gif instead"
        raise MissingExtraError(
            f"Writing an MP4 needs the program ffmpeg, which is not found: {remedy}.", package="ffmpeg"
        )
    return found


def mp4(images: Iterable[Array], rate: float, size: tuple[int, int]) -> bytes:
    """An MP4 file of images (height, width, 3); ``rate`` in pictures per second."""
    program = ffmpeg()
    with tempfile.TemporaryDirectory() as folder:
        target, log = Path(folder) / "run.mp4", Path(folder) / "log"
        source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", f"{rate:g}", "-i", "-"]
        settings = ["-an", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]  # what browsers and slides can play
        command = [program, "-y", "-loglevel", "error", *source, *settings, str(target)]
        with log.open("wb") as errors:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors)
            assert process.stdin is not None
            try:
                for image in images:
                    process.stdin.write(image.tobytes())
            except BrokenPipeError:
                pass  # it ended early; its own words follow
            except BaseException:
                process.kill()
                raise
            finally:
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.close()
                process.wait()
            code = process.returncode
        if code or not target.is_file():
            words = " ".join(log.read_text(errors="replace").split())[-300:] or f"exit code {code}"
            raise Error(f"ffmpeg could not write the video: {words}.", command=command)
        return target.read_bytes()


VIDEOS: dict[str, Callable[[Iterable[Array], float, tuple[int, int]], bytes]] = {
    "mp4": mp4,
    "gif": lambda images, rate, size: gif(images, rate),
}
"""Formats by ending."""


def require_writer(target: Path) -> None:
    """An error before the pictures are made, not after: a missing program or package."""
    if target.suffix.lower() == ".mp4":
        ffmpeg()
    else:
        _pillow()


def video(images: Iterable[Array], suffix: str, rate: float, size: tuple[int, int]) -> bytes:
    """A file in the format of the ending."""
    return VIDEOS[suffix.lower().removeprefix(".")](images, rate, size)
