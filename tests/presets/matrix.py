#!/usr/bin/env python3
"""Runs real tools against servers that fail, and records what they print and how they end.

usage: matrix.py record [-t NAME]... [-o FILE]      runs tools, and merges the recorded cells into the table
       matrix.py compare [-t NAME]...               runs tools, and shows what differs from the table
       matrix.py judge BINARY [-t NAME]... [--live]  judges the table, or with --live new runs, with a build of backoff;
                                                    -o FILE keeps the new runs in a table of their own
       matrix.py install [-t NAME]...               installs tools: packages of Debian, the others into $PRESET_TOOLS
       matrix.py tools                              lists the tools, their versions, and those that are missing
options: -t NAME   a tool of tools.py, or a preset
         -f FAULT  only this fault      -m MODE  only this mode: plain, color or pty
Tools are looked for in $PRESET_TOOLS (target/preset-tools) and in PATH. The table has runs with colors and on terminals only of
the tools in tools.COLORFUL; `judge --live` runs all tools in all modes.
"""

import argparse
import concurrent.futures
import datetime
import fcntl
import functools
import getpass
import glob
import json
import os
import pty
import re
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time

import install
import samples
import tools

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PREFIX = os.environ.get("PRESET_TOOLS", f"{ROOT}/target/preset-tools")
LONGEST_RUN = 60
MODES = ("plain", "color", "pty")


class Servers:
    """The servers of faults.py and their folder."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="presets-")
        # Some servers do not run as root.
        os.chmod(self.folder, 0o711)
        self.process = subprocess.Popen(
            [sys.executable, f"{HERE}/faults.py", self.folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.ports = json.loads(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)


def words_of(tool, fault, servers, home):
    """Returns the values for the names in braces of a recipe."""
    server, only_tls = tools.SERVER_OF.get(fault, ("serve" if tool.only else fault, False))
    scheme = "https" if only_tls or tool.only_https else "http"
    host = "127.0.0.1"
    port = servers.ports[server]
    if fault == "unknown-name":
        host = "missing.invalid"
    name = "localhost" if host == "127.0.0.1" else host
    return {
        "host": host, "name": name, "port": port, "scheme": scheme, "base": f"{scheme}://{host}:{port}", "home": home,
        "ca": f"{servers.folder}/ca.pem", "served": servers.ports["serve"],
        "proxy": f"http://{host}:{port}", "refused": servers.ports["refused"], "free": free_port(), "user": getpass.getuser(),
        "keyserver": f"{'hkps' if scheme == 'https' else 'hkp'}://{name}:{port}", "tls": "true" if scheme == "https" else "false",
    }


def free_port():
    """Returns a port that is free now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def search_path(tool):
    """Returns the PATH for the programs of a recipe."""
    own = [os.path.join(PREFIX, place) for place in tool.paths]
    servers = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1:]
    return ":".join([*own, os.environ.get("PATH", ""), "/usr/sbin", *servers])


def environment(tool, mode, values):
    """Returns the environment of a run, which has nothing of ours except the paths of tools."""
    result = {
        "PATH": search_path(tool), "HOME": values["home"], "LANG": "C.UTF-8",
        "TMPDIR": values["home"] + "/tmp", "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0",
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", os.path.expanduser("~/.rustup")), "GIT_CONFIG_GLOBAL": "/dev/null", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_CONFIG_FILE": "/dev/null",
        "npm_config_update_notifier": "false", "npm_config_audit": "false", "npm_config_fund": "false",
    }
    for name in tools.CA_VARIABLES:
        result[name] = values["ca"]
    if mode == "pty":
        result["TERM"] = "xterm-256color"
    if mode == "color":
        result.update(tools.COLOR)
    for name, value in tool.environment.items():
        result[name] = value.format(**values)
    return result


def in_pipes(command, directory, variables):
    """Runs a command with its output in two pipes. Returns (exit status, stdout, stderr), or None after a timeout."""
    process = subprocess.Popen(
        command, cwd=directory, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=LONGEST_RUN)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    return process.returncode, out, err


def on_pty(command, directory, variables):
    """Runs a command on an 80-column pseudo-terminal. Returns (exit status, output, b""), or None after a timeout."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        command, cwd=directory, env=variables, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(slave)
    timer = time.monotonic() + LONGEST_RUN
    os.set_blocking(master, False)
    output = b""
    while True:
        try:
            chunk = os.read(master, 1 << 16)
        except BlockingIOError:
            if time.monotonic() > timer:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                os.close(master)
                return None
            time.sleep(0.02)
            continue
        except OSError:
            break
        if not chunk:
            break
        output += chunk
    os.close(master)
    return process.wait(timeout=LONGEST_RUN), output, b""


def prepare(tool, values, variables):
    """Creates the files of a recipe and runs its preparation. Returns the session of the preparation, if any."""
    home = values["home"]
    os.makedirs(home + "/tmp")
    os.makedirs(home + "/work")
    for name, content in tool.files.items():
        path = os.path.join(home, "work", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(content, str):
            content = tools.filled(content, values).encode()
        with open(path, "wb") as file:
            file.write(content)
    if not tool.before:
        return None
    with open(home + "/preparation", "wb") as log:
        # A separate session, so that background processes end with the run.
        process = subprocess.Popen(
            ["sh", "-ec", tools.filled(tool.before, values)], cwd=home + "/work", env=variables, stdin=subprocess.DEVNULL,
            stdout=log, stderr=log, start_new_session=True,
        )
    try:
        status = process.wait(timeout=LONGEST_RUN)
    except subprocess.TimeoutExpired:
        status = "time"
    if status:
        end_session(process.pid)
        with open(home + "/preparation", "rb") as log:
            raise RuntimeError(f"preparation failed ({status}): {log.read().decode(errors='replace')[-300:]}")
    return process.pid


def end_session(leader):
    """Kills what is left of a preparation's session."""
    listed = subprocess.run(["ps", "-o", "pid=", "-s", str(leader)], stdout=subprocess.PIPE, check=False).stdout.split()
    for pid in listed:
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass


def end_leftovers(base):
    """Kills daemons that a tool started. Their arguments contain the folder of the run."""
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as words:
                is_ours = base.encode() in words.read()
            if is_ours:
                os.kill(int(path.split("/")[2]), signal.SIGKILL)
        except OSError:
            pass


def command_of(tool, fault, mode, values):
    """Returns the command line of a run."""
    text = tool.syntax if fault == "syntax" else tool.command
    words = [tools.filled(word, values) for word in shlex.split(text)]
    if mode == "color" and fault != "syntax" and tool.color:
        words += shlex.split(tool.color)
    return words


def run(tool, fault, mode, servers):
    """Runs one cell, and returns its sample, or a reason why there is none."""
    base = tempfile.mkdtemp(prefix="cell-", dir=servers.folder)
    os.chmod(base, 0o711)
    values = words_of(tool, "serve" if fault == "syntax" else fault, servers, base + "/home")
    variables = environment(tool, mode, values)
    command = command_of(tool, fault, mode, values)
    session = None
    try:
        session = prepare(tool, values, variables)
        runner = on_pty if mode == "pty" else in_pipes
        done = runner(command, values["home"] + "/work", variables)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        return f"{tool.name} {fault} {mode}: {error}"
    finally:
        if session is not None:
            end_session(session)
        end_leftovers(base)
        subprocess.run(["chmod", "-R", "u+w", base], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(base, ignore_errors=True)
    if done is None:
        return f"{tool.name} {fault} {mode}: did not end within {LONGEST_RUN} s"
    status, out, err = done
    if status == 0:
        return f"{tool.name} {fault} {mode}: ended with 0"
    if status < 0:
        status = 128 - status
    return samples.Sample(
        tools.verdict(tool, fault), tool.preset, tool.name, fault, mode, status, version(tool),
        datetime.date.today().isoformat(), samples.told(shlex.join(command).encode(), values).decode(),
        samples.told(out, values), samples.told(err, values),
    )


VERSIONS = {}


def version(tool):
    """Returns the version that a tool prints."""
    if tool.name not in VERSIONS:
        command, _, expression = tool.version.partition(" | ")
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
            variables = environment(tool._replace(environment={}), "plain", {"home": home, "ca": "/dev/null"})
            os.makedirs(home + "/tmp")
            try:
                done = subprocess.run(
                    shlex.split(command), cwd=home, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT, timeout=LONGEST_RUN, check=False,
                )
                found = re.search(expression or r"(\d+(\.\d+)+(p\d+)?)", done.stdout.decode(errors="replace"))
                VERSIONS[tool.name] = found[1] if found and done.returncode == 0 else "-"
            except (OSError, subprocess.TimeoutExpired):
                VERSIONS[tool.name] = "-"
    return VERSIONS[tool.name]


def is_there(tool):
    """Returns true if the tool and what its recipe needs are installed."""
    return all(shutil.which(program, path=search_path(tool)) for program in (shlex.split(tool.command)[0], *tool.needs))


def cells(chosen, in_all_modes=False):
    """Returns the cells of the chosen tools: (tool, fault, mode)."""
    for tool in chosen:
        modes = MODES if in_all_modes or tool.name in tools.COLORFUL else ("plain",)
        for fault in tools.faults(tool):
            for mode in modes:
                yield tool, fault, mode


def record(chosen, arguments, save=None):
    """Runs the cells. Returns the samples, and reasons for cells without one. `save` gets the samples in batches."""
    def is_chosen(cell):
        return arguments.fault in (None, cell[1]) and arguments.mode in (None, cell[2])

    there = [tool for tool in chosen if is_there(tool)]
    missing = [f"{tool.name}: not installed" for tool in chosen if tool not in there]
    found, reasons, unsaved = [], [], []
    with Servers() as servers, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(version, {tool.name: tool for tool in there}.values()))
        for done in pool.map(lambda cell: run(*cell, servers), filter(is_chosen, cells(there, arguments.live))):
            (reasons if isinstance(done, str) else found).append(done)
            if not isinstance(done, str):
                unsaved.append(done)
            if save and len(unsaved) >= 50:
                save(unsaved)
                unsaved = []
    if save:
        save(unsaved)
    return found, reasons + missing


def chosen_tools(arguments):
    """Returns the tools that the command line names, or all."""
    if not arguments.tool:
        return tools.TOOLS
    named = set(arguments.tool)
    chosen = [t for t in tools.TOOLS if t.name in named or t.preset in named]
    unknown = named - {t.name for t in tools.TOOLS} - {t.preset for t in tools.TOOLS}
    if unknown:
        sys.exit(f"matrix.py: unknown tool {', '.join(sorted(unknown))}")
    return chosen


def report(reasons):
    """Prints why cells have no sample."""
    for reason in reasons:
        print(f"none: {reason}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("action", choices=["record", "compare", "judge", "install", "tools"])
    parser.add_argument("binary", nargs="?")
    parser.add_argument("-t", "--tool", action="append")
    parser.add_argument("-f", "--fault")
    parser.add_argument("-m", "--mode", choices=MODES)
    parser.add_argument("-o", "--output", default=samples.TABLE)
    parser.add_argument("-j", "--jobs", type=int, default=4)
    parser.add_argument("--live", action="store_true")
    arguments = parser.parse_args()
    chosen = chosen_tools(arguments)
    if arguments.action == "tools":
        for name, tool in {tool.name: tool for tool in chosen}.items():
            print(f"{name:<20} {tool.preset:<16} {version(tool) if is_there(tool) else 'missing'}")
        return 0
    if arguments.action == "install":
        return install.install(PREFIX, chosen)
    if arguments.action == "record":
        found, reasons = record(chosen, arguments, functools.partial(samples.merge, arguments.output))
        report(reasons)
        samples.prune(arguments.output, {(tool.preset, tool.name, fault, mode) for tool, fault, mode in cells(tools.TOOLS)})
        print(f"{len(found)} cells recorded, {len(reasons)} without a sample")
        return 0
    if arguments.action == "compare":
        found, reasons = record(chosen, arguments)
        report(reasons)
        return samples.compare(samples.read(arguments.output), found)
    names = {tool.name for tool in chosen}
    if arguments.live:
        save = None
        if arguments.output != samples.TABLE:
            save = functools.partial(samples.merge, arguments.output)
        judged, reasons = record(chosen, arguments, save)
        report(reasons)
        missing = [tool.name for tool in chosen if not is_there(tool)]
        if missing and os.environ.get("REQUIRE_TEST_TOOLS"):
            sys.exit(f"matrix.py: missing {', '.join(missing)}: `matrix.py install` installs tools")
    else:
        judged = [sample for sample in samples.read(arguments.output) if sample.tool in names]
    return samples.judge(os.path.abspath(arguments.binary), judged)


if __name__ == "__main__":
    sys.exit(main())
