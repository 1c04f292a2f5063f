"""A root folder of another Debian release, made by debootstrap, kept, and entered by chroot.

Everything is mounted in a mount namespace of its own, which ends with the last process in it: nothing stays mounted,
however the run ends. The mirror, the proxy and pip's settings are those of this machine, read when they are needed.
"""

from __future__ import annotations

import ast
import fcntl
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

RECIPE = 1  # a number that changes when roots have to be made anew
STAMP = "made-by.txt"
ALONE = ("unshare", "--mount", "--propagation", "private")  # what a command mounts is gone when it ends
PASSED_ON = ("http_proxy", "https_proxy", "no_proxy", "ssl_cert_file", "requests_ca_bundle")


class RootError(Exception):
    """Why there is no root folder, in one sentence."""


@dataclass(frozen=True)
class DebianRoot:
    """A folder with a Debian release and some of its packages. ``make`` it, then ``run`` commands in it."""

    folder: Path
    suite: str
    packages: tuple[str, ...]
    mirror: str
    script: str = ""  # a shell script that completes the folder, run in it with MIRROR set

    @property
    def recipe(self) -> str:
        """What this root is made of, without where it came from."""
        return f"{RECIPE} {self.suite} {' '.join(self.packages)}\n{self.script}"

    def beside(self, ending: str) -> Path:
        """A file or folder beside this one, such as 3.14.log."""
        return self.folder.with_name(f"{self.folder.name}.{ending}")

    def fault(self) -> str | None:
        """Why the folder cannot be used as it is, or None: missing, of another recipe, or files changed."""
        stamp = self.folder / STAMP
        if not self.folder.is_dir():
            return "is missing"
        if not stamp.is_file() or stamp.read_text(encoding="utf-8") != self.recipe:
            return "was made by another recipe"
        log = self.beside("log")
        done = self.run(["dpkg", "--verify"], {}, log=log)
        return "is damaged" if done.returncode or log.stat().st_size else None

    def make(self) -> None:
        """Make the folder under another name, and rename it when it is complete."""
        part, log = self.beside("part"), self.beside("log")
        removed(part)
        part.parent.mkdir(parents=True, exist_ok=True)
        include = f"--include={','.join(self.packages)}"
        # The script of "sid" is that of every newer release; an older debootstrap does not know them all by name.
        command = [*ALONE, "debootstrap", "--force-check-gpg", "--variant=minbase", include, self.suite]
        if _ended([*command, str(part), self.mirror, "sid"], log, {**os.environ, **passed_on()}).returncode:
            raise RootError(f"debootstrap failed: {_last_line(log)} (all of it: {log})")
        root = DebianRoot(part, self.suite, self.packages, self.mirror)
        if self.script:
            done = root.run(["sh", "-euc", self.script], {"MIRROR": self.mirror, **passed_on()}, log=log)
            if done.returncode:
                raise RootError(f"{self.folder.name} could not be completed: {_last_line(log)} (all of it: {log})")
        (part / STAMP).write_text(self.recipe, encoding="utf-8")
        removed(self.folder)
        part.rename(self.folder)

    def run(
        self,
        command: Sequence[str],
        variables: Mapping[str, str],
        visible: Mapping[Path, str] | None = None,
        log: Path | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command in the root. What it prints goes to ``log``, or to where our own output goes."""
        return _ended(self.command(command, variables, visible or {}), log)

    def command(self, command: Sequence[str], variables: Mapping[str, str], visible: Mapping[Path, str]) -> list[str]:
        """The command line that runs a command in the root, with these variables alone and a /tmp of its own.

        ``visible`` maps folders and files of this machine to their names in there, where they can be read.
        """
        mounts = [["mount", "--rbind", f"/{name}", f"{self.folder}/{name}"] for name in ("proc", "dev", "sys")]
        mounts += [["mount", "-t", "tmpfs", "tmpfs", f"{self.folder}/tmp"]]
        network = {Path(file): file for file in ("/etc/resolv.conf", "/etc/hosts")}
        settings = {path: str(path) for path in local_paths(variables)}
        for here, there in {**network, **settings, **visible}.items():
            if here.exists():
                point = self.folder / there.lstrip("/")
                _mount_point(point, here.is_dir())
                mounts.append(["mount", "--bind", "-o", "ro", str(here.resolve()), str(point)])
        inside = {"PATH": "/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin", "HOME": "/root", "LC_ALL": "C.UTF-8"}
        words = [f"{name}={value}" for name, value in {**inside, **variables}.items()]
        enter = ["exec", "chroot", str(self.folder), "/usr/bin/env", "-i", "-C", "/tmp", *words, *command]
        script = " && ".join(shlex.join(line) for line in [*mounts, enter])
        return [*ALONE, "sh", "-c", script]


def _ended(
    command: Sequence[str], log: Path | None, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    with log.open("wb") if log else nullcontext() as file:  # close_fds: the lock of a root is handed on
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=variables, close_fds=False
        )


def _mount_point(point: Path, folder: bool) -> None:
    if folder:
        point.mkdir(parents=True, exist_ok=True)
    elif not point.exists():
        point.parent.mkdir(parents=True, exist_ok=True)
        point.unlink(missing_ok=True)  # a link that leads nowhere in there
        point.touch()


def removed(folder: Path) -> None:
    """Remove a root folder. Mounts of other runs are not seen from here, so nothing behind them is touched."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """One run at a time in a root. Commands inherit the lock: it lasts until the last of them has ended."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as handle:
        os.set_inheritable(handle.fileno(), True)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for another run that holds {file} …", flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def missing_rights() -> str | None:
    """Why roots cannot be made or entered here, or None."""
    if os.geteuid() != 0:
        return "making and entering a Debian root needs the rights of root: run this with sudo -E"
    for tool in ("debootstrap", "unshare", "chroot"):
        if shutil.which(tool) is None:
            return f"the command {tool} is missing: apt-get install debootstrap util-linux coreutils"
    if subprocess.run([*ALONE, "true"], capture_output=True).returncode:
        return "this machine does not allow a mount namespace of our own, as in a container without that right"
    return None


# --- the settings of this machine ------------------------------------------------------------------------------------
def debian_mirror() -> str:
    """The address from which apt takes Debian on this machine."""
    fields = "$(ORIGIN)|$(RELEASE)|$(REPO_URI)"
    listed = _output(["apt-get", "indextargets", "--format", fields, "Created-By: Packages"])
    return mirror_among(listed.splitlines())


def mirror_among(lines: Sequence[str]) -> str:
    """The first address with whole releases of Debian among lines ``origin|release|address``.

    The origin is known only after ``apt-get update``; before, any address counts.
    """
    for line in lines:
        origin, release, address = line.split("|", 2)
        partial = release.endswith(("-security", "-updates", "-backports"))
        if (origin == "Debian" or origin.startswith("$(")) and not partial:
            return address.rstrip("/")
    raise RootError("apt has no Debian mirror among its sources on this machine: name one by --mirror")


def passed_on() -> dict[str, str]:
    """The variables that say how the network is reached, with the proxy of apt where the environment names none."""
    passed_on = {name: value for name, value in os.environ.items() if name.lower() in PASSED_ON}
    for kind in ("http", "https") if shutil.which("apt-config") else ():
        proxy = _output(["apt-config", "shell", "found", f"Acquire::{kind}::Proxy"]).strip()
        if proxy and not {f"{kind}_proxy", f"{kind}_proxy".upper()} & passed_on.keys():
            passed_on[f"{kind}_proxy"] = shlex.split(proxy)[0].partition("=")[2]
    return passed_on


def pip_settings() -> dict[str, str]:
    """The configuration of pip on this machine as variables ``PIP_…``, and how the network is reached."""
    return {**passed_on(), **pip_variables(_output([sys.executable, "-m", "pip", "config", "list"]))}


def pip_variables(listed: str) -> dict[str, str]:
    """Lines of ``pip config list``, such as ``global.index-url='…'``, as variables; the environment comes last."""
    variables = {}
    for line in listed.splitlines():
        name, _, value = line.partition("=")
        section, _, option = name.rpartition(".")
        if section in ("global", "install", ":env:"):
            variables[f"PIP_{option.upper().replace('-', '_')}"] = " ".join(str(ast.literal_eval(value)).split())
    return variables


def local_paths(variables: Mapping[str, str]) -> list[Path]:
    """What pip's settings name on this machine. An index links to files beside it, so its parent folder counts."""
    paths = []
    settings = [value for name, value in variables.items() if name.startswith("PIP_") or name.lower() in PASSED_ON]
    for word in " ".join(settings).split():
        if word.startswith("file://"):
            path = Path(unquote(urlparse(word).path))
            paths.append(path.parent if len(path.parts) > 2 else path)
        elif word.startswith("/"):
            paths.append(Path(word))
    return [path for path in dict.fromkeys(paths) if path.exists()]


def _output(command: Sequence[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise RootError(f"{shlex.join(command)} does not work here: {error}") from None
