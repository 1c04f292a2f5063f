"""Random MJCF files with many features at once: default classes, frames, chains, actuators, equalities, keyframes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

OFF = 'gravity="disable"'


class RandomMjcf:
    """One file; the same seed gives the same text. Nothing in it needs a mesh."""

    def __init__(self, seed: int, bodies: int = 6) -> None:
        self.rng = np.random.default_rng(seed)
        self.degrees = self.chance(0.5)
        self.joints: list[tuple[str, str]] = []  # name, type
        self.bodies: list[str] = []
        self.sites: list[str] = []
        tree = self.body("b0", 0)
        while len(self.bodies) < bodies:
            tree += self.body(f"b{len(self.bodies)}", 0)
        self.text = f"""<mujoco model="m{seed}">
  <compiler angle="{"degree" if self.degrees else "radian"}" {self.pick(("", 'eulerseq="zyx"', 'autolimits="true"'))}/>
  <option gravity="{self.numbers(3, 10.0)}"><flag contact="disable" {self.pick(("", OFF))}/></option>
  {self.defaults()}
  <worldbody><site name="w0" pos="{self.numbers(3)}"/>{tree}</worldbody>
  {self.actuators()}{self.equalities()}{self.contacts()}{self.sensors()}{self.keyframes()}</mujoco>"""

    def chance(self, p: float) -> bool:
        return bool(self.rng.uniform() < p)

    def pick(self, choices: Sequence[str]) -> str:
        return str(choices[int(self.rng.integers(len(choices)))])

    def numbers(self, count: int, size: float = 0.4) -> str:
        return " ".join(repr(float(x)) for x in self.rng.uniform(-size, size, count).round(4))

    def above(self, size: float = 1.0) -> str:
        return repr(round(float(self.rng.uniform(0.1, 1.0) * size), 4))

    def defaults(self) -> str:
        return f"""<default><joint damping="{self.above()}"/>
    <default class="stiff">
      <joint stiffness="{self.above(30)}" armature="{self.above(0.1)}" {self.interval("range", 2)}/>
      <motor gear="{self.above(20)}" {self.interval("ctrlrange", 3)}/>
      <default class="dry"><joint frictionloss="{self.above(0.3)}"/></default></default>
    <default class="heavy"><geom density="{self.above(3000)}" type="box" size=".1 .05 .08"/></default></default>"""

    def interval(self, name: str, size: float, even: float = 0.8) -> str:
        high = round(float(self.rng.uniform(0.2, 1.0)) * size, 3)
        if name in ("range", "ref", "springref") and self.degrees:
            high *= 57.0
        return f'{name}="{-high if self.chance(even) else -0.5 * high} {high}"'

    def rotation(self) -> str:
        kinds = ("", "quat", "euler", "axisangle", "xyaxes", "zaxis")
        kind = self.pick(kinds)
        count = {"": 0, "quat": 4, "euler": 3, "axisangle": 4, "xyaxes": 6, "zaxis": 3}[kind]
        return f'{kind}="{self.numbers(count, 1.0)}"' if kind else ""

    def body(self, name: str, depth: int) -> str:
        self.bodies.append(name)
        count = int(self.rng.choice([0, 1, 1, 1, 2, 3]))
        inside = ""
        if depth == 0 and self.chance(0.3):
            inside += self.joint(name, 0, "free")
        elif self.chance(0.15):
            inside += self.joint(name, 0, "ball")
        else:
            inside += "".join(self.joint(name, k, self.pick(("hinge", "hinge", "slide"))) for k in range(count))
        inside += self.mass()
        for k in range(int(self.rng.integers(0, 3))):
            self.sites.append(f"{name}s{k}")
            inside += f'<site name="{name}s{k}" pos="{self.numbers(3)}" {self.rotation()}/>'
        if self.chance(0.3):
            inside += f'<camera name="{name}cam" pos="{self.numbers(3)}" {self.rotation()}/>'
        while depth < 3 and len(self.bodies) < 12 and self.chance(0.55):
            child = self.body(f"b{len(self.bodies)}", depth + 1)
            inside += f'<frame pos="{self.numbers(3)}" {self.rotation()}>{child}</frame>' if self.chance(0.2) else child
        defaults = self.pick(("", "", 'childclass="stiff"', 'childclass="dry"'))
        return f'<body name="{name}" pos="{self.numbers(3)}" {self.rotation()} {defaults}>{inside}</body>'

    def mass(self) -> str:
        geom = f'<geom class="heavy" pos="{self.numbers(3, 0.1)}" {self.rotation()}/>'
        ball = f'<geom type="sphere" size="{self.above(0.1)}" mass="{self.above()}" pos="{self.numbers(3, 0.1)}"/>'
        inertial = f'<inertial pos="{self.numbers(3, 0.1)}" mass="{self.above(3)}"'
        full = f'{inertial} fullinertia="0.05 0.06 0.07 0.01 0.005 -0.004"/>'
        flat = f'{inertial} diaginertia="0.03 0.04 0.05" {self.rotation()}/>'
        return self.pick((geom, ball, geom + ball, full, flat, flat + ball))

    def joint(self, body: str, k: int, kind: str) -> str:
        name = f"{body}j{k}"
        self.joints.append((name, kind))
        if kind == "free":
            return self.pick((f'<freejoint name="{name}"/>', f'<joint name="{name}" type="free" damping="0"/>'))
        more = [f'axis="{self.numbers(3, 1.0)}"', f'pos="{self.numbers(3)}"']
        if kind == "ball":
            return f'<joint name="{name}" type="ball" pos="{self.numbers(3)}" stiffness="0" range="0 0"/>'
        turn = 57.0 if self.degrees and kind == "hinge" else 1.0
        for what, probability in (("ref", 0.2), ("springref", 0.3)):
            if self.chance(probability):
                more.append(f'{what}="{self.numbers(1, turn)}"')
        if self.chance(0.3):
            more.append(f'stiffness="{self.above(20)}"')
        if self.chance(0.1):
            more.append('springdamper="0.3 0.9"')
        if self.chance(0.3):
            more.append(self.interval("range", 2))
        if self.chance(0.3):
            more.append(self.interval("actuatorfrcrange", 50))
        if self.chance(0.2):
            more.append(f'armature="{self.above(0.1)}" frictionloss="{self.above(0.2)}"')
        classes = self.pick(("", "", 'class="stiff"', 'class="dry"'))
        return f'<joint name="{name}" type="{kind}" {classes} {" ".join(more)}/>'

    @property
    def scalar(self) -> list[str]:
        return [name for name, kind in self.joints if kind in ("hinge", "slide")]

    def actuators(self) -> str:
        self.controls = 0
        result = ""
        for name in self.scalar if self.chance(0.8) else ():
            for k in range(int(self.rng.choice([0, 1, 1, 1, 2]))):
                kind = self.pick(("motor", "motor", "motor", "general", "position", "velocity"))
                more = [f'gear="{self.pick(("1", "-3", "20"))}"'] if self.chance(0.6) else []
                more += [self.interval("ctrlrange", 2)] if self.chance(0.5) else []
                more += [self.interval("forcerange", 30)] if self.chance(0.4) else []
                more += [f'gainprm="{self.above(20)}"'] if kind == "general" else []
                more += ['class="stiff"'] if kind == "motor" and self.chance(0.3) else []
                result += f'<{kind} name="a{name}{k}" joint="{name}" {" ".join(more)}/>'
                self.controls += 1
        return f"<actuator>{result}</actuator>" if result else ""

    def equalities(self) -> str:
        kinds = []
        for k in range(int(self.rng.integers(0, 4))):
            off = 'active="false"' if self.chance(0.1) else ""
            kind = self.pick(("connect", "weld", "joint", "joint", "held", "sites", "welded"))
            bodies = list(self.rng.permutation([*self.bodies, "world"])[:2])
            if kind in ("connect", "weld"):
                relative = (
                    f'relpose="{self.numbers(3)} {self.numbers(4, 1.0)}"' if kind == "weld" and self.chance(0.5) else ""
                )
                ends = f'body1="{bodies[0]}"' + (f' body2="{bodies[1]}"' if bodies[1] != "world" else "")
                if bodies[0] != "world":
                    kinds.append(f'<{kind} name="e{k}" {ends} anchor="{self.numbers(3)}" {relative} {off}/>')
            elif kind in ("sites", "welded") and len(self.sites) > 1:
                one, two = self.rng.permutation([*self.sites, "w0"])[:2]
                tag = "connect" if kind == "sites" else "weld"
                kinds.append(f'<{tag} name="e{k}" site1="{one}" site2="{two}" {off}/>')
            elif kind in ("joint", "held") and len(self.scalar) > 1:
                one, two = self.rng.permutation(self.scalar)[:2]
                other = f'joint2="{two}"' if kind == "joint" else ""
                kinds.append(
                    f'<joint name="e{k}" joint1="{one}" {other} polycoef="{self.numbers(2, 1.0)} 0 0 0" {off}/>'
                )
        return f"<equality>{''.join(kinds)}</equality>" if kinds else ""

    def contacts(self) -> str:
        if len(self.bodies) < 2 or self.chance(0.6):
            return ""
        one, two = self.rng.permutation(self.bodies)[:2]
        return f'<contact><exclude body1="{one}" body2="{two}"/></contact>'

    def sensors(self) -> str:
        result = "".join(f'<gyro name="g{site}" site="{site}"/>' for site in self.sites if self.chance(0.2))
        result += "".join(
            f'<framepos name="f{b}" objtype="{self.pick(("body", "xbody"))}" objname="{b}"/>' for b in self.bodies[:2]
        )
        return f"<sensor>{result}</sensor>" if self.chance(0.4) else ""

    def keyframes(self) -> str:
        size = sum({"free": 7, "ball": 4}.get(kind, 1) for _, kind in self.joints)
        if size == 0 or self.chance(0.4):
            return ""
        keys = ""
        for k in range(int(self.rng.integers(1, 3))):
            named = f'name="k{k}"' if self.chance(0.8) else ""
            more = f'ctrl="{self.numbers(self.controls)}"' if self.controls and self.chance(0.3) else ""
            keys += f'<key {named} qpos="{self.numbers(size, 1.0)}" {more}/>'
        return f"<keyframe>{keys}</keyframe>"
