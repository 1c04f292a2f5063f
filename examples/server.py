"""On a server without a screen: simulate, then keep a table, pictures, a video and a page.

Run ``python examples/server.py``; look at the files, or open waves.html at home. MP4 needs ffmpeg, GIF does not.
"""

import shutil

import dqdyn as dq
from dqdyn import references as ref
from dqdyn.view import Markers

robot = dq.robots.arm7()
q0 = robot.q({"joint2": 0.5, "joint4": 1.2})
follow = ref.ComputedTorque(robot, ref.waves(robot, q0.tolist()))
run = dq.simulate(robot, follow, 1.0, 1e-3, q0=q0, every=10)
print(run)

# Everything for dqdyn, and a table for other programs: columns such as "q joint1 [rad]".
run.save("waves.npz")
run.save("waves.csv")
assert dq.Trajectory.load("waves.npz") == run
with open("waves.csv") as table:
    print(table.readline()[:60], "…")

# Pictures and a video by the library's own renderer: no browser, no graphics card.
way = Markers().path(robot.pose("tool", run.q).translation, name="way of the tool")
run.to_png("waves.png", markers=way, size=(640, 480))
robot.to_png("arm7.png", q0, size=(640, 480), azimuth=0.6)
video = run.to_video(f"waves.{'mp4' if shutil.which('ffmpeg') else 'gif'}", size=(320, 240), rate=10, markers=way)
print("wrote", video, video.stat().st_size // 1000, "kB")

# Mistakes are told before the work: here an ending that is no video.
try:
    run.to_video("waves.avi")
except dq.Error as problem:
    print(problem)

# One page to take home; for a live page, `dqdyn view arm7` prints the command that forwards its port through SSH.
print("wrote", run.to_html("waves.html", markers=way))
