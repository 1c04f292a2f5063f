"""A scene, and what joins it to a robot, as elements of MJCF.

Bodies at rest become geoms of the world; those that physics moves, bodies with a free joint or a hinge. A body that
follows a function of time gets a free joint too, with a mass beside which all forces are small: its position and
velocity are set at every step. As MuJoCo's mocap body it would have no velocity, and carry nothing along by friction.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np

from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array
from dqdyn.errors import Error
from dqdyn.formats.mjcf.geoms import COLLISION
from dqdyn.formats.mjcf.inertia import write_inertial
from dqdyn.formats.mjcf.shapes import SIZES
from dqdyn.formats.xml_text import element, numbers
from dqdyn.model.inertia import ORIGIN, Inertia, as_tensor
from dqdyn.robot import Robot
from dqdyn.robot.edit import locate
from dqdyn.scenes.body import SceneBody
from dqdyn.scenes.scene import Scene
from dqdyn.simulate.engine_options import EngineOptions
from dqdyn.simulate.restitution import IMPEDANCE, solref

PREFIX = "scene:"
"""Before the names of scene bodies in the engine, where links have names too."""
GROUND = "dqdyn:ground"

HEAVY = 1e6
"""kg, and kg m² about all axes, of bodies that follow a function of time."""
_DRIVEN = Inertia(HEAVY, ORIGIN, as_tensor(HEAVY * np.eye(3)))
_SOLID = {"contype": "1", "conaffinity": "1"}
_SLIDING, _TWISTING, _ROLLING = "3", "4", "6"  # MuJoCo's condim
_COUNTS = "1e6"  # the weight of a geom whose hardness counts, beside 1 of others
_SMALL = 1e-5  # MuJoCo's least coefficient of friction


def add_to(root: ET.Element, robot: Robot, options: EngineOptions, timestep: float, q0: Array) -> None:
    """Write the ground, the scene, contacts of links, and what is joined at the configuration q0."""
    world = next(root.iter("worldbody"))
    bodies = {"world": world, **{str(item.get("name")): item for item in world.iter("body")}}
    if options.robot_friction is not None:
        for geom in _touching(world):
            geom.set("friction", numbers((max(options.robot_friction, _SMALL), 0.005, 0.0001)))
            geom.set("priority", "2")
    _self_contacts(root, bodies, options)
    if options.ground is not None:
        element(world, "geom", name=GROUND, type="plane", size="0 0 1", pos=f"0 0 {options.ground!r}")
    if options.scene is not None:
        for body in options.scene:
            bodies[PREFIX + body.name] = _body(world, body)
    for kind, pairs in (("weld", options.welds), ("connect", options.connects)):
        for i, (frame, partner) in enumerate(pairs):
            equality = _section(root, "equality")
            link, *names = _sites(robot, bodies, options.scene, frame, partner, f"{kind}{i}", q0)
            hardness = {"solref": numbers(options.solref_of_joints(timestep)), "solimp": numbers(options.joint_solimp)}
            element(equality, kind, name=f"{kind}{i}", site1=names[0], site2=names[1], **hardness)
            joined = {"body1": link, "body2": PREFIX + partner}
            if bodies.get(PREFIX + partner, world) is not world:
                contact = _section(root, "contact")  # what is joined does not touch
                if all(item.attrib != joined for item in contact):
                    element(contact, "exclude", **joined)


def _body(world: ET.Element, body: SceneBody) -> ET.Element:
    """The element that carries what is fixed to the body."""
    start, name = body.at(0.0), PREFIX + body.name
    if body.motion == "fixed":
        _geom(world, body, start)
        return world
    if body.shape == "plane":
        raise Error(f"MuJoCo has no planes that move: make {body.name!r} a large box.", body=body.name)
    place = _pose(start)
    item = element(world, "body", name=name, gravcomp="1" if body.motion == "driven" else None, **place)
    if body.hinge is None:
        element(item, "freejoint", name=name)
    else:
        inverse = start.inverse()
        point = (inverse * Pose(translation=body.hinge.point)).translation
        axis = inverse.rotation_matrix @ body.hinge.axis
        damping = numbers(body.hinge.damping)
        element(item, "joint", name=name, type="hinge", pos=numbers(point), axis=numbers(axis), damping=damping)
    write_inertial(item, _DRIVEN if body.motion == "driven" else body.inertia)
    _geom(item, body, Pose())
    return item


def _geom(parent: ET.Element, body: SceneBody, pose: Pose) -> None:
    rolling, twisting = body.rolling_friction, body.torsional_friction
    condim = _ROLLING if rolling else _TWISTING if twisting else _SLIDING
    friction = numbers((max(body.friction, _SMALL), max(twisting, _SMALL), max(rolling, _SMALL)))
    factors = SIZES[body.shape]
    size = "0 0 1" if body.shape == "plane" else numbers(c / f for c, f in zip(body.size, factors, strict=True))
    about = {"type": body.shape, "size": size, "friction": friction, "condim": condim, "priority": "1"}
    if body.restitution:
        hard = numbers((IMPEDANCE, IMPEDANCE, 0.001))
        about |= {"solref": numbers(solref(body.restitution)), "solimp": hard, "solmix": _COUNTS}
    element(parent, "geom", name=PREFIX + body.name, **about, **_pose(pose), **_SOLID)


def _self_contacts(root: ET.Element, bodies: dict[str, ET.Element], options: EngineOptions) -> None:
    mu = 1.0 if options.robot_friction is None else max(options.robot_friction, _SMALL)
    for pair in options.self_contact:
        geoms = []
        for link in pair:
            own = [geom for geom in bodies.get(link, ()) if geom.tag == "geom" and _is_collision(geom)]
            if not own:
                remedy = f"add some by robot.with_collisions({{{link!r}: [Shape(...)]}})"
                raise Error(f"link {link!r} has no collision shapes to touch with: {remedy}.", link=link)
            for k, geom in enumerate(own):
                if geom.get("name") is None:
                    geom.set("name", f"link:{link}:{k}")
            geoms.append([str(geom.get("name")) for geom in own])
        contact = _section(root, "contact")
        for a in geoms[0]:
            for b in geoms[1]:
                element(contact, "pair", geom1=a, geom2=b, friction=numbers((mu, mu, 0.005, 0.0001, 0.0001)))


def _sites(
    robot: Robot, bodies: dict[str, ET.Element], scene: Scene | None, frame: str, partner: str, name: str, q0: Array
) -> tuple[str, str, str]:
    """The link that carries the frame, and sites at the frame, on the link and on the body that it is joined to."""
    link, on_link = locate(robot.model, frame)
    if link not in bodies:
        raise Error(f"link {link!r} has no mass, so MuJoCo cannot join it: choose a frame on another.", frame=frame)
    x = robot.pose(frame, q0)
    if partner == "world":
        carrier, at = bodies["world"], x
    else:
        assert scene is not None
        carrier = bodies[PREFIX + partner]
        at = x if scene[partner].motion == "fixed" else scene[partner].at(0.0).inverse() * x
    ours, theirs = f"robot:{name}", f"{PREFIX}{name}"
    element(bodies[link], "site", name=ours, **_pose(Pose.of(on_link)))
    element(carrier, "site", name=theirs, **_pose(Pose.of(at.dq)))
    return link, ours, theirs


def _section(root: ET.Element, tag: str) -> ET.Element:
    found = root.find(tag)
    return element(root, tag) if found is None else found


def _touching(world: ET.Element) -> list[ET.Element]:
    return [geom for geom in world.iter("geom") if _is_collision(geom)]


def _is_collision(geom: ET.Element) -> bool:
    return geom.get("group") == COLLISION["group"]


def _pose(x: Pose) -> dict[str, str]:
    return {"pos": numbers(x.translation.tolist()), "quat": numbers(x.rotation.tolist())}
