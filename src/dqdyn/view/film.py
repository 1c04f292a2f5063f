"""The 3-D view as pictures and videos, on machines without a screen: no browser, no graphics card."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array, real_number
from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array, RealArray
from dqdyn.errors import Error
from dqdyn.formats.whole_file import write_whole
from dqdyn.robot import Robot
from dqdyn.scenes.scene import Scene
from dqdyn.view.camera import AZIMUTH, ELEVATION, Camera, camera_of
from dqdyn.view.image_files import checked_suffix, png, require_writer, video
from dqdyn.view.markers import Markers
from dqdyn.view.motion import body_poses, checked, continuous
from dqdyn.view.overlays import placed
from dqdyn.view.painter import ground_of, picture
from dqdyn.view.scene_bodies import setting_of
from dqdyn.view.shapes import appearance_of
from dqdyn.view.surfaces import BodySurfaces, Surface, marker_surface
from dqdyn.view.sweep import Sweep, resting

SIZE = (960, 540)
"""Width and height in pixels."""
RATE = 30.0
"""Pictures per second of a video."""
MOST_FACES = 40_000
"""Of a robot; finer meshes are coarsened: a picture has few pixels for each."""
_LARGEST = 4096
_MOST_PICTURES = 36_000  # twenty minutes at 30 per second


@dataclass(frozen=True)
class Look:
    """``size`` (width, height) in pixels; ``azimuth``, ``elevation`` in rad; ``zoom`` 2 shows all twice as large.

    ``follow``: the camera moves along with the first body.
    """

    size: tuple[int, int] = SIZE
    azimuth: float = AZIMUTH
    elevation: float = ELEVATION
    zoom: float = 1.0
    follow: bool = False

    def __post_init__(self) -> None:
        size = real_array(self.size, "The size of a picture")
        if size.shape != (2,) or not ((size >= 16) & (size <= _LARGEST) & (size == np.round(size))).all():
            needed = f"The size of a picture is (width, height), whole numbers of pixels from 16 to {_LARGEST}"
            raise Error(f"{needed}; found {self.size!r}.", size=self.size)
        object.__setattr__(self, "size", (int(size[0]), int(size[1])))
        for name in ("azimuth", "elevation", "zoom"):
            number = real_number(getattr(self, name), f"The {name} of a picture")
            if not np.isfinite(number) or (name == "zoom" and not number > 0.0):
                raise Error(
                    f"The {name} of a picture is a {'positive' if name == 'zoom' else 'finite'} number; found {number}."
                )
            object.__setattr__(self, name, number)


class Film:
    """A run before a camera; ``at(seconds)`` is a picture (height, width, 3) of bytes."""

    def __init__(
        self, run: Any, look: Look, scene: Scene | Markers | None = None, markers: Markers | None = None
    ) -> None:
        run = checked(run)
        self.robot, self.time, self.look = run.robot, np.asarray(run.time, dtype=float), look
        appearance = appearance_of(self.robot, MOST_FACES)
        self.notes = appearance.notes
        setting = setting_of(scene, markers, len(self.robot.bodies), self.time, getattr(run, "extra", None))
        self.poses = continuous(setting.beside(body_poses(self.robot, run.q)))
        self.markers = [placed(self.robot, marker, len(self.time)) for marker in setting.markers]
        self.bodies = BodySurfaces((*appearance.meshes, *setting.meshes))
        self.bounds = setting.bounds(appearance, self.poses)
        self.camera = camera_of(self.bounds, look.size, look.azimuth, look.elevation, look.zoom)
        self.ground = ground_of(self.camera, self.bounds)

    def at(self, seconds: float) -> Array:
        """The picture at a time; bodies move straight between samples, markers stay as at the last sample."""
        sample = int(np.clip(np.searchsorted(self.time, seconds, side="right") - 1, 0, len(self.time) - 1))
        poses = self._between(sample, seconds)
        surface = Surface.joined([self.bodies.at(poses), *self._marked(poses, sample)])
        if not self.look.follow or not len(poses):
            return picture(surface, self.camera, self.bounds, self.ground)
        shift = poses[0, 4:] - self.poses[0, 0, 4:]
        camera = Camera(self.camera.eye + shift, self.camera.axes, self.camera.size)
        x, y, z = (np.array(self.bounds.center) + shift).tolist()
        return picture(surface, camera, replace(self.bounds, center=(x, y, z)))

    def _between(self, sample: int, seconds: float) -> Array:
        if sample + 1 >= len(self.time):
            return np.array(self.poses[sample])
        share = np.clip((seconds - self.time[sample]) / (self.time[sample + 1] - self.time[sample]), 0.0, 1.0)
        poses: Array = (1.0 - share) * self.poses[sample] + share * self.poses[sample + 1]
        poses[:, :4] /= np.linalg.norm(poses[:, :4], axis=1, keepdims=True)
        return poses

    def _marked(self, poses: Array, sample: int) -> Iterator[Surface]:
        for body, marker in self.markers:
            base = np.eye(4)
            if body >= 0:
                base[:3, :3], base[:3, 3] = Pose(rotation=poses[body, :4]).rotation_matrix, poses[body, 4:]
            yield from marker_surface(marker, sample, base)


def write_png(
    run: Any,
    path: str | Path,
    *,
    at: float | None = None,
    scene: Scene | Markers | None = None,
    markers: Markers | None = None,
    **look: Any,
) -> Path:
    """Write a .png of a run at a time ``at`` in s, default: its end; ``look`` as :class:`Look` has it."""
    target, chosen = checked_suffix(path, ["png"], "A picture"), _look(look)
    film = Film(run, chosen, scene, markers)
    seconds = float(film.time[-1]) if at is None else real_number(at, "The time of a picture")
    if not film.time[0] <= seconds <= film.time[-1]:
        span = f"from {film.time[0]:g} to {film.time[-1]:g} s"
        raise Error(f"The run lasts {span}; there is no picture at {seconds:g} s: choose a time within.", at=seconds)
    return write_whole(target, png(film.at(seconds)))


def write_robot_png(robot: Robot, path: str | Path, q: RealArray | None = None, **look: Any) -> Path:
    """Write a .png of a robot at q (nq,), default: neutral, within its limits; options as :func:`write_png`."""
    return write_png(posed(robot, q), path, **look)


def posed(robot: Robot, q: RealArray | None = None) -> Sweep:
    """A robot that stands still, as a run of one sample."""
    row = resting(robot) if q is None else np.array(real_array(q, "q"))
    if robot.nq:
        robot.center_of_mass(row)  # an error for a bad q
    if row.ndim != 1:
        raise Error(f"A picture shows one configuration q ({robot.nq},); found shape {row.shape}.", found=row.shape)
    return Sweep(robot, np.zeros(1), row[None], np.zeros((1, robot.nv)), "at rest")


def write_video(
    run: Any,
    path: str | Path,
    *,
    rate: float = RATE,
    speed: float = 1.0,
    scene: Scene | Markers | None = None,
    markers: Markers | None = None,
    **look: Any,
) -> Path:
    """Write a .mp4 (by the system's ffmpeg) or .gif (by Pillow) of a run; ``look`` as :class:`Look` has it.

    ``rate``: pictures per second; ``speed``: seconds of the run per second of the video.
    """
    target, chosen = checked_video(path, **look), _look(look)
    rate, speed = (_positive(value, name) for value, name in ((rate, "rate"), (speed, "speed")))
    times = picture_times(checked(run), rate, speed)
    film = Film(run, chosen, scene, markers)
    return write_whole(target, video((film.at(t) for t in times), target.suffix, rate, chosen.size))


def checked_video(path: str | Path, **look: Any) -> Path:
    """The path, if a video can be written there: its ending, its folder, ffmpeg or Pillow, and the size."""
    target, size = checked_suffix(path, ["mp4", "gif"], "A video"), _look(look).size
    require_writer(target)
    if target.suffix.lower() == ".mp4" and (size[0] % 2 or size[1] % 2):
        raise Error(f"Width and height of an MP4 are even; found {size[0]} × {size[1]}: add or take one.", size=size)
    return target


def picture_times(run: Any, rate: float, speed: float) -> Array:
    """Times in s of the pictures of a video; the last is the end of the run or just before."""
    first, last = float(run.time[0]), float(run.time[-1])
    count = int((last - first) * rate / speed + 1e-9) + 1
    if count > _MOST_PICTURES:
        text = f"The video would have {count} pictures; at most {_MOST_PICTURES}: raise speed or lower rate."
        raise Error(text, count=count)
    times: Array = np.minimum(first + np.arange(count) * speed / rate, last)
    return times


def _look(options: dict[str, Any]) -> Look:
    known = list(Look.__dataclass_fields__)
    for name in options:
        if name not in known:
            raise TypeError(f"unexpected option {name!r}; the options of a picture are {', '.join(known)}")
    return Look(**options)


def _positive(value: Any, name: str) -> float:
    number = real_number(value, f"The {name} of a video")
    if not (np.isfinite(number) and number > 0.0):
        raise Error(f"The {name} of a video is a positive number; found {number}.", **{name: number})
    return number
