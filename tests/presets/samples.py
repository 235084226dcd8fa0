"""Reads, writes, compares and judges the table of recorded samples."""

import collections
import concurrent.futures
import os
import re
import shlex
import socket
import subprocess
import tempfile

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "samples.tsv")
MISSES = os.path.join(os.path.dirname(TABLE), "misses.tsv")
FIELDS = ["verdict", "preset", "tool", "fault", "mode", "exit", "version", "date", "command", "stdout", "stderr"]
Sample = collections.namedtuple("Sample", FIELDS)
HEADER = """\
# What real tools printed when a server failed, byte by byte, but for names: hosts are example.org, addresses 192.0.2.1, ports
# 8080 and 8443, and the folder of a run is /home/ci. `matrix.py record` makes this table, `matrix.py compare` shows what
# has changed. In the last two columns \\n, \\r, \\t, \\e and \\\\ are escapes, \\xNN is a byte that is not UTF-8, and - is nothing.
"""


def name_servers():
    """Returns the addresses of this machine's name servers, which some tools print."""
    try:
        with open("/etc/resolv.conf", "rb") as file:
            return re.findall(rb"(?m)^nameserver\s+(\S+)", file.read())
    except OSError:
        return []


def told(data, values):
    """Replaces what depends on this machine: the address, ports and folder of a run."""
    port = str(values["port"]).encode()
    home = values["home"].encode()
    for prefix in (os.environ.get("PRESET_TOOLS"), os.path.expanduser("~/.pyenv/versions")):
        if prefix:
            data = data.replace(prefix.encode(), b"/opt")
    data = data.replace(home, b"/home/ci").replace(os.path.dirname(os.path.dirname(home)), b"/home")
    data = data.replace(b"missing.invalid", b"missing.example.org")
    data = re.sub(rb"((?:://|host=['\"]|Host: |server |host |to |@|name:? ?['\"]?)(?:\x1b\[[0-9;]*m)*)127\.0\.0\.1", rb"\1example.org", data)
    data = data.replace(b"127.0.0.1", b"192.0.2.1").replace(b"localhost", b"example.org")
    fixed = b"8443" if values["scheme"] == "https" else b"8080"
    data = re.sub(rb"(?<!\d)" + port + rb"(?!\d)", fixed, data)
    own = re.escape(socket.gethostname().encode())
    data = re.sub(rb"(?<=[@ ])" + own + rb"(?![\w.-])", b"example.org", data)
    for server in name_servers():
        data = data.replace(server, b"192.0.2.53")
    for name in ("served", "free", "refused"):
        data = re.sub(rb"(?<!\d)" + str(values[name]).encode() + rb"(?!\d)", b"8080", data)
    return data


ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\e", "\\": "\\\\"}


def escaped(data):
    """Returns bytes as the text of a column."""
    if not data:
        return "-"
    text = ""
    for char in data.decode("utf-8", "surrogateescape"):
        code = ord(char)
        if char in ESCAPES:
            text += ESCAPES[char]
        elif 0xDC80 <= code <= 0xDCFF:
            text += f"\\x{code - 0xDC00:02x}"
        elif code < 32 or code == 127 or char in "\x85\u2028\u2029":
            text += "".join(f"\\x{byte:02x}" for byte in char.encode())
        else:
            text += char
    return text


def unescaped(text):
    """Returns the bytes of a column."""
    if text == "-":
        return b""
    single = {"n": b"\n", "r": b"\r", "t": b"\t", "e": b"\x1b", "\\": b"\\"}
    parts = re.split(r"\\(x[0-9a-f]{2}|.)", text)
    data = b""
    for number, part in enumerate(parts):
        if number % 2 == 0:
            data += part.encode()
        elif part[0] == "x" and len(part) == 3:
            data += bytes([int(part[1:], 16)])
        else:
            data += single[part]
    return data


def read(path):
    """Returns the samples of a table."""
    with open(path, encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    rows = [dict(zip(lines[0], line)) for line in lines[1:]]
    return [
        Sample(**dict(row, exit=int(row["exit"]), stdout=unescaped(row["stdout"]), stderr=unescaped(row["stderr"])))
        for row in rows
    ]


def key(sample):
    """Returns the key of a sample's cell."""
    return sample.preset, sample.tool, sample.fault, sample.mode


def merge(path, found):
    """Replaces samples of the same cells in a table. A sample that says the same as the old one is dropped. If several
    versions of a program say the same, only the newest is kept."""
    kept = {key(sample): sample for sample in read(path)} if os.path.exists(path) else {}
    for sample in found:
        older = kept.get(key(sample))
        if older is None or not same(older, sample):
            kept[key(sample)] = sample
    newest = {saying(sample): numbers(sample) for sample in sorted(kept.values(), key=numbers)}
    write(path, {key(sample): sample for sample in kept.values() if numbers(sample) == newest[saying(sample)]})


def prune(path, cells):
    """Drops the samples of cells without a recipe."""
    write(path, {key(sample): sample for sample in read(path) if key(sample) in cells})


def write(path, kept):
    """Writes the samples in the order of their cells."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(HEADER + "\t".join(FIELDS) + "\n")
        for _, sample in sorted(kept.items()):
            row = sample._replace(stdout=escaped(sample.stdout), stderr=escaped(sample.stderr))
            file.write("\t".join(str(field) for field in row) + "\n")


def shape(data):
    """Returns the lines of a text without what differs between runs: numbers, times, digests, spinner frames."""
    data = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", data)
    data = re.sub(rb"[0-9a-f]{7,}|\d+([.:_-]\d+)*|tmp\w+|[\xe2][\xa0-\xa3][\x80-\xbf]", b"#", data)
    # How often a progress bar is drawn depends on time, and lines are padded to hide longer ones.
    lines = [line.strip() for line in re.split(rb"[\r\n]+| {3,}", data)]
    is_bar = re.compile("[\\s#/%.|=>\u2580-\u259f\u2500-\u257f\u2800-\u28ff-]*")
    return sorted({line for line in lines if not is_bar.fullmatch(line.decode(errors="replace"))})


def saying(sample):
    """Returns what a program says for a fault and mode, without its version and what differs between runs."""
    texts = (tuple(shape(sample.stdout)), tuple(shape(sample.stderr)))
    return sample.preset, program_of(sample), sample.fault, sample.mode, sample.exit, sample.verdict, texts


def numbers(sample):
    """Returns the numbers of a version, to sort samples from oldest to newest."""
    return [int(number) for number in re.findall(r"\d+", sample.version)]


def same(older, newer):
    """Returns true if two samples of a cell say the same."""
    return (older.version, older.command) == (newer.version, newer.command) and saying(older) == saying(newer)


def compare(table, found):
    """Prints how new samples differ from the table. Returns an exit status."""
    older = {key(sample): sample for sample in table}
    known = {saying(sample) for sample in table}
    changed = 0
    for sample in found:
        if saying(sample) in known:
            continue
        before = older.get(key(sample))
        changed += 1
        print(f"{' '.join(key(sample))}: {before.version if before else 'nothing'} -> {sample.version}")
        if before is not None:
            was = shape(before.stdout + b"\n" + before.stderr) + [b"exit %d" % before.exit]
            now = shape(sample.stdout + b"\n" + sample.stderr) + [b"exit %d" % sample.exit]
            for mark, lines, others in (("-", was, now), ("+", now, was)):
                for line in lines:
                    if line not in others:
                        print(f"  {mark} {line.decode(errors='replace')}")
    print(f"{changed} of {len(found)} cells changed")
    return 1 if changed else 0


STAND_IN = """#!/bin/sh
printf x >>"$SAMPLE/calls"
cat "$SAMPLE/stdout"
cat "$SAMPLE/stderr" >&2
exit "$(cat "$SAMPLE/exit")"
"""


def stand_ins(folder, chosen):
    """Writes a stand-in for each sample's program. All are written before any runs, as an open file cannot be run."""
    os.mkdir(f"{folder}/bin")
    for program in {program_of(sample) for sample in chosen}:
        with open(f"{folder}/bin/{program}", "w", encoding="ascii") as file:
            file.write(STAND_IN)
        os.chmod(f"{folder}/bin/{program}", 0o755)


def program_of(sample):
    """Returns the file name of a sample's program."""
    return os.path.basename(shlex.split(sample.command)[0])


def judged(binary, sample, folder):
    """Runs a stand-in that prints a sample under a build of backoff. Returns the verdict, or what went wrong."""
    place = tempfile.mkdtemp(dir=folder)
    for name, content in (("stdout", sample.stdout), ("stderr", sample.stderr), ("exit", b"%d" % sample.exit)):
        with open(f"{place}/{name}", "wb") as file:
            file.write(content)
    variables = {"PATH": f"{folder}/bin:" + os.environ["PATH"], "SAMPLE": place, "HOME": place, "XDG_STATE_HOME": place}
    # Keeps the arguments, as backoff examines those of some clients.
    command = [binary, "-q", "--for", "auto", "-n", "2", "-b", "1ms", "--", program_of(sample), *shlex.split(sample.command)[1:]]
    run = subprocess.run(
        command, cwd=place, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        timeout=60, check=False,
    )
    calls = os.path.getsize(f"{place}/calls") if os.path.exists(f"{place}/calls") else 0
    if calls not in (1, 2) or run.returncode != sample.exit:
        return f"broken: {calls} calls, status {run.returncode}: {run.stderr[-200:]}"
    return ("permanent", "transient")[calls - 1]


def known_misses(chosen):
    """Returns the cells that no rule can judge correctly: those in the list, and chosen ones that are not in the table
    because a newer version of their program says the same."""
    with open(MISSES, encoding="utf-8") as file:
        lines = [line.split("\t") for line in file if not line.startswith("#")]
    listed = {(line[0], line[1]) for line in lines}
    table = read(TABLE)
    recorded = {(sample.tool, sample.fault) for sample in table}
    programs = {(program_of(sample), sample.fault) for sample in table if (sample.tool, sample.fault) in listed}
    left_out = [sample for sample in chosen if (sample.tool, sample.fault) not in recorded]
    return listed | {(s.tool, s.fault) for s in left_out if (program_of(s), s.fault) in programs}


def judge(binary, chosen):
    """Judges samples with a build of backoff. Prints each wrong one, and how many are right, by tool and mode. Returns an
    exit status."""
    known = known_misses(chosen)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(4) as pool:
        stand_ins(folder, chosen)
        verdicts = list(pool.map(lambda sample: judged(binary, sample, folder), chosen))
    counts = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    wrong = 0
    for sample, verdict in zip(chosen, verdicts):
        right = verdict == sample.verdict
        for name in (sample.tool, "all"):
            counts[name][sample.mode][0] += right
            counts[name][sample.mode][1] += 1
        if not right:
            name = " ".join((sample.tool, sample.fault, sample.mode))
            is_known = (sample.tool, sample.fault) in known
            wrong += not is_known
            text = (sample.stderr or sample.stdout).decode(errors="replace").strip()[-150:]
            print(f"{'known miss' if is_known else 'wrong'}: {name}: {verdict}, should be {sample.verdict}: {sample.exit} {text!r}")
    for name, modes in sorted(counts.items(), key=lambda item: (item[0] == "all", item[0])):
        print(f"{name:<20}" + "".join(f"  {mode} {modes[mode][0]}/{modes[mode][1]}" for mode in ("plain", "color", "pty")))
    return 1 if wrong else 0


