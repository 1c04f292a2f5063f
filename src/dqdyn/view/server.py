"""A page in the browser, served by viser: the robot with a slider per joint, or a trajectory to play."""

from __future__ import annotations

import contextlib
import errno
import socket
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array, RealArray
from dqdyn.errors import Error, LibraryWarning, missing_extra, one_line
from dqdyn.robot import Robot
from dqdyn.scenes.scene import Scene
from dqdyn.view.joint_sliders import JointSliders
from dqdyn.view.markers import Marker, Markers
from dqdyn.view.motion import body_poses, checked, require_same_joints
from dqdyn.view.overlays import acting_wrenches, contact_arrows, overlays
from dqdyn.view.playback import Playback
from dqdyn.view.scene_bodies import setting_of
from dqdyn.view.shapes import appearance_of
from dqdyn.view.sweep import resting
from dqdyn.view.viser_scene import ViserScene

HOST = "127.0.0.1"
"""Only this machine can open the page unless another host is given."""
PORT = 8080
_PORTS_TRIED = 64
Around = tuple[Scene | Markers | None, Markers | None]
"""What is shown besides the robot: a scene, and markers."""


class PortWarning(LibraryWarning):
    """The requested port is busy; another one serves the page."""


def serve(
    robot: Robot,
    *,
    trajectory: Any = None,
    scene: Scene | Markers | None = None,
    markers: Markers | None = None,
    q: RealArray | None = None,
    host: str = HOST,
    port: int = PORT,
) -> Viewer:
    """Serve a page that shows the robot at ``q`` with sliders, or plays a trajectory; ``.url`` says where.

    ``scene``: bodies around the robot, which move as the trajectory recorded it; ``markers``: points, lines, arrows, ….
    The server runs in threads of its own until :meth:`Viewer.stop`. A busy port is replaced by the next free one with
    a warning; ``port=0`` takes any. ``host="0.0.0.0"`` lets other machines open the page and move the sliders.
    """
    if trajectory is not None:
        require_same_joints(checked(trajectory), robot)
    start = resting(robot) if q is None else np.array(real_array(q, "q"))
    if robot.nq:
        robot.center_of_mass(start)  # an error for a bad q before anything is served
    taken = free_port(host, port)
    if port and taken != port:
        warnings.warn(f"port {port} is busy; the page is at port {taken} instead.", PortWarning, stacklevel=2)
    return Viewer(robot, trajectory, (scene, markers), start, host, taken)


def free_port(host: str, port: int) -> int:
    """The port, or the next one that is free."""
    if not 0 <= port <= 65535:
        raise Error(f"A port is a number from 0 to 65535; found {port}.", port=port)
    for candidate in [port] if port == 0 else range(port, min(port + _PORTS_TRIED, 65536)):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, candidate))
                return int(probe.getsockname()[1])
            except OSError as problem:
                if problem.errno not in (errno.EADDRINUSE, errno.EACCES):
                    what = f"The host {host!r} cannot be served from ({problem.strerror or problem})"
                    remedy = "use 127.0.0.1 for this machine only, or 0.0.0.0 for all networks"
                    raise Error(f"{what}: {remedy}.", host=host) from None
    raise Error(f"All ports from {port} to {port + _PORTS_TRIED - 1} are busy: choose another.", port=port)


class Viewer:
    """A running page. ``show(q)`` moves the robot; ``stop()`` or the end of a ``with`` block ends it."""

    def __init__(self, robot: Robot, trajectory: Any, around: Around, q: Array, host: str, port: int) -> None:
        try:
            import viser
        except ImportError:
            raise missing_extra("viser", "view", "showing a robot in the browser") from None
        self.robot, self.host = robot, host
        with _silent():
            self.server: Any = viser.ViserServer(host=host, port=port, label=one_line(robot.name), verbose=False)
        self.port = int(self.server.get_port())
        self._stopped = False
        self._playback: Playback | None = None
        self._sliders: JointSliders | None = None
        try:
            self._build(trajectory, around, q)
        except BaseException:
            self.stop()
            raise

    def _build(self, trajectory: Any, around: Around, q: Array) -> None:
        """Fill the page."""
        robot = self.robot
        time = np.zeros(1) if trajectory is None else np.asarray(trajectory.time, dtype=float)
        self.setting = setting_of(*around, len(robot.bodies), time, getattr(trajectory, "extra", None))
        self.server.gui.configure_theme(control_width="large", show_logo=False, show_share_button=False)
        appearance = appearance_of(robot)
        self.notes = appearance.notes
        poses = self.setting.beside(body_poses(robot, q[None] if trajectory is None else trajectory.q))
        bounds = self.setting.bounds(appearance, poses)
        self.stage = stage = ViserScene(self.server, robot, appearance, bounds, self.setting)
        if trajectory is None:
            self._sliders = JointSliders(self.server, robot, q, self._place)
            stage.offer(self._posed(q, 0), 1)
            self._place(q, 0)
        else:
            own = overlays(robot, trajectory.q, trajectory.v, trajectory.tau, acting_wrenches(trajectory))
            own += contact_arrows(trajectory)
            self._playback = Playback(self.server, trajectory, lambda i: stage.place(poses[i], own, i))
            stage.offer(own, len(trajectory.time))
            stage.place(poses[0], own, 0)

    @property
    def url(self) -> str:
        """Where a browser on this machine finds the page."""
        shown = "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else self.host
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}"

    @property
    def q(self) -> Array:
        """The configuration on show, (nq,)."""
        if self._sliders is not None:
            return self._sliders.q.copy()
        assert self._playback is not None
        return np.array(self._playback.trajectory.q[self._playback.sample])

    def show(self, q: RealArray) -> None:
        """Move the robot to q (nq,); the sliders follow."""
        if self._sliders is None:
            raise Error("This page plays a trajectory; move its time slider, or serve the robot without a trajectory.")
        self._sliders.show(np.array(real_array(q, "q")))

    def _place(self, q: Array, moved: int) -> None:
        self.stage.place(self.setting.beside(body_poses(self.robot, q)[None])[0], self._posed(q, moved), 0)

    def _posed(self, q: Array, moved: int) -> list[Marker]:
        """Without a motion: twists are those of the joint moved last at unit speed, efforts hold the weight."""
        v, holding = np.zeros(self.robot.nv), None
        v[moved : moved + 1] = 1.0
        with contextlib.suppress(Error):  # a robot without inertia has no weight
            holding = self.robot.gravity_forces(q)
        return overlays(self.robot, q[None], v[None], None if holding is None else holding[None])

    def wait(self) -> None:
        """Serve until Ctrl-C."""
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
        self.stop()

    def stop(self) -> None:
        """End the page; a second call does nothing."""
        if self._stopped:
            return
        self._stopped = True
        if self._playback is not None:
            self._playback.stop()
        with _silent():
            self.server.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """viser prints to stdout at start and stop, and no option prevents it."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
