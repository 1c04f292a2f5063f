"""The strategy of Quiroz, section 4.5, as a state machine [Quiroz, fig. 4.13] [Quiroz, fig. 6.19] [Quiroz, table 6.3].

State 1 tries to reach the ball on both feet; 2 leans on the surface with the left hand, and tries with that hand
fixed; 3 maximises the support polygon, and tries; 4 slides on the surface and tries at once; 5 is done; 6 has failed.
The arrows of success lead to 5, those of failure to the next state. An attempt has failed where the squared distance
falls by less than 0.5 % in 0.8 s, or after two minutes. After state 1 the robot stands up again, from where the way to
the surface is known to be free; the paper does not say.

The law is (3.1) with the tasks, rates and constraints of table 6.2 [Quiroz, table 6.2]. It differs from the print in
the feet, whose poses are held: (4.58) and (4.59) would let both slide together; and, while the hand slides, in the
planes around the center of mass, which move with the hand.
"""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn import control as ct
from dqdyn.analysis.experiments.multi_contact.setting import BODY, HAND, MARGIN, OTHER_HAND, REACH, TORSO, Setting
from dqdyn.analysis.experiments.multi_contact.sliding_support import SlidingSupport
from dqdyn.contacts import Contact, face
from dqdyn.control.core.term import ControlPart
from dqdyn.robots.multi_contact import PALM

TRY_ON_FEET, STAND_UP, CONTACT, TRY_FIXED = "1 try", "2 stand up", "2 make contact", "2 try"
MAXIMISE, TRY_MAXIMISED, SLIDE = "3 maximise the area", "3 try", "4 slide and try"
DONE, FAILED = "5 done", "6 failed"
STRATEGY = (TRY_ON_FEET, STAND_UP, CONTACT, TRY_FIXED, MAXIMISE, TRY_MAXIMISED, SLIDE)
"""States in the order in which a failure leads from one to the next."""
ATTEMPTS = {
    "without contact": (TRY_ON_FEET,),
    "with contact": (CONTACT, TRY_FIXED),
    "maximised": (CONTACT, MAXIMISE, TRY_MAXIMISED),
    "sliding": (CONTACT, MAXIMISE, SLIDE),
}
"""Each of the four attempts by itself."""
ON_HAND = (TRY_FIXED, MAXIMISE, TRY_MAXIMISED, SLIDE)
"""States in which the hand is part of the support."""

RATES = {"contact": (2.0, 0.05), "maximise": (-0.5, 0.1), "try": (1.0, 0.08)}
"""η in 1/s and λ of each step [Quiroz, table 6.2]."""
ZONE = 2.0  # 1/s, η of all inequalities
HOLD = 5.0  # 1/s, at which what is held returns to its place
FLAT, TOUCHING = 5e-3, 1e-3  # rad and m: of a palm that lies on the surface
STALL = ct.Stall(window=0.8, fall=0.005)
FULL = ct.Stall(window=0.8, fall=0.005)  # of an area that no longer grows
INSIDE = 5e-3  # m inside of the region in which the palm touches first
UPRIGHT = 0.05  # rad and m: of a posture that is that of the start
LIMIT = 120.0  # s for a state


class Strategy:
    """Tasks and constraints of all states, and machines made of them.

    ``ball``: where it is, to be moved between runs by its ``update``. Without ``balance`` the center of mass is free:
    what is reached then was not out of the arms' reach. ``reach`` in m at which the ball is reached.
    """

    def __init__(self, setting: Setting, *, balance: bool = True, reach: float = REACH) -> None:
        self.setting, self.reach = setting, reach
        robot, q0 = setting.robot, setting.q0
        self.ball = ct.Measured(setting.ball)
        self.held = ct.Measured(robot.pose(HAND, q0))
        self.planes = ct.CenterOfMassRegion(setting.polygon(), MARGIN, gain=ZONE, name="center of mass", edges=8)
        self.support = (*setting.standing.soles, ct.point(HAND))
        palm_at = robot.pose(HAND, q0).translation
        self.moving = SlidingSupport(setting.soles, HAND, palm_at, MARGIN, gain=ZONE, name="center of mass")
        self.always: list[ControlPart] = [
            *(ct.PoseTask(foot, robot.pose(foot, q0), gain=HOLD) for foot in setting.standing.feet),
            ct.JointLimits(gain=ZONE),
            ct.VelocityLimits(),
            *(
                ct.TorsoArm(
                    ct.line("chest"), f"{side}_forearm", f"{side}_hand", TORSO, gain=ZONE, name=f"torso, {side}"
                )
                for side in ("left", "right")
            ),
            *(ct.KeepAbove(point, setting.furniture, away, gain=ZONE) for point, away in BODY.items()),
        ]
        # The planes stand still, or move with the hand.
        self.still, self.sliding = ([*self.always, p] if balance else self.always for p in (self.planes, self.moving))
        palm = palm_contact()
        self.on_surface = ct.SurfaceTask(HAND, setting.surface, gain=HOLD, name="palm on the surface")
        self.fixed = ct.PoseTask(HAND, self.held, gain=HOLD, name="palm held")
        self.in_region = ct.Region(HAND, setting.region, 0.0, gain=ZONE, name="region")
        # a little inside, so that a palm that drifts while it is held is still in the region
        self.well_inside = ct.Region(HAND, setting.region, INSIDE, gain=ZONE, name="well inside the region")
        self.above = ct.ContactRegion(palm, surface=setting.surface, gain=ZONE, name="palm above the surface")

    # --- the machine --------------------------------------------------------------------------------------------------

    def machine(self, route: Sequence[str] = STRATEGY) -> ct.StateMachine:
        """The states of a route, in which failure leads to the next, and success of an attempt to 5.

        A route that ends before an attempt is done when its last state is.
        """
        last = DONE if route[-1] in (STAND_UP, CONTACT, MAXIMISE) else FAILED
        after = dict(zip(route, [*route[1:], last], strict=True))
        states = [self._state(name, after[name]) for name in route]
        used = {transition.to for state in states for transition in state.transitions}  # type: ignore[union-attr]
        final = [ct.State(name, ends=ends) for name, ends in ((DONE, "done"), (FAILED, "failed")) if name in used]
        return ct.StateMachine(self.setting.robot, [*states, *final], start=route[0], stall=STALL)

    def _state(self, name: str, following: str) -> ct.State:
        if name == CONTACT:
            return self._contact(following)
        if name == MAXIMISE:
            return self._maximise(following)
        if name == STAND_UP:
            return self._stand_up(following)
        constraints: dict[str, list[ControlPart]] = {
            TRY_ON_FEET: self.still,
            TRY_FIXED: [*self.still, self.fixed],
            TRY_MAXIMISED: [*self.still, self.fixed],
            SLIDE: [*self.sliding, self.on_surface, self.in_region],
        }
        eta, damping = RATES["try"]
        task = ct.DistanceTask(OTHER_HAND, self.ball, 0.0, gain=eta, name="ball")
        return ct.State(
            name,
            [task],
            constraints[name],
            transitions=[
                ct.Transition(DONE, ct.guards.reached("ball", self.reach**2), f"within {100 * self.reach:g} cm"),
                ct.Transition(following, ct.guards.stalled("ball"), "stalled", kind="failure"),
            ],
            time_limit=LIMIT,
            on_time_limit=following,
            enter=self._feet_alone if name == TRY_ON_FEET else self._with_hand,
            during=self._follow_hand if name == SLIDE else None,
            options={"damping": damping},
        )

    def _contact(self, following: str) -> ct.State:
        """Step I: the palm on the surface, inside of the region, no corner below it."""
        eta, damping = RATES["contact"]
        task = ct.SurfaceTask(HAND, self.setting.surface, gain=eta, name="palm to the surface")
        flat = ct.guards.reached(task.name, [FLAT, FLAT, TOUCHING])
        return ct.State(
            CONTACT,
            [task],
            [*self.still, self.well_inside, self.above],
            transitions=[
                ct.Transition(following, flat, "touching"),
                ct.Transition(FAILED, ct.guards.stalled(task.name), "stalled"),
            ],
            time_limit=LIMIT,
            enter=self._feet_alone,
            options={"damping": damping},
        )

    def _maximise(self, following: str) -> ct.State:
        """Step II: the area grows until the region or the center of mass stops it."""
        eta, damping = RATES["maximise"]
        task = ct.SupportAreaTask(self.support, gain=eta, name="area")
        full = ct.guards.stalled("area", FULL)
        return ct.State(
            MAXIMISE,
            [task],
            [*self.sliding, self.on_surface, self.in_region],
            transitions=[ct.Transition(following, full, "grows no more", kind="success")],
            time_limit=LIMIT,
            on_time_limit=following,
            enter=self._with_hand,
            during=self._follow_hand,
            options={"damping": damping},
        )

    def _stand_up(self, following: str) -> ct.State:
        task = ct.PostureTask(self.setting.q0, gain=RATES["contact"][0], name="posture")
        return ct.State(
            STAND_UP,
            [task],
            self.still,
            transitions=[
                ct.Transition(following, ct.guards.reached("posture", UPRIGHT), "upright", kind=""),
                ct.Transition(FAILED, ct.guards.stalled("posture"), "stalled"),
            ],
            time_limit=LIMIT,
            enter=self._feet_alone,
            options={"damping": RATES["contact"][1]},
        )

    # --- planes that follow the contacts ------------------------------------------------------------------------------

    def _feet_alone(self, moment: ct.Moment) -> None:
        self.planes.update(self.setting.polygon())

    def _with_hand(self, moment: ct.Moment) -> None:
        """The palm holds where it is, and the planes go around it and the feet [Quiroz, fig. 4.17]."""
        palm = moment.robot.pose(HAND, moment.q)
        self.held.update(palm)
        self.planes.update(self.setting.polygon(palm.translation))
        self.moving.update(palm.translation)

    def _follow_hand(self, moment: ct.Moment) -> None:
        self.moving.update(moment.robot.pose(HAND, moment.q).translation)


def palm_contact(friction: float = 0.6, border: float = 0.0) -> Contact:
    """The left palm without a ``border`` in m."""
    return face(HAND, half_length=PALM[0] - border, half_width=PALM[1] - border, friction=friction)
