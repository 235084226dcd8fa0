#!/usr/bin/env python3
"""Loopback servers, each of which fails in one way.

usage: faults.py FOLDER     Prints a port for each fault as one line of JSON, and serves until standard input ends.
FOLDER receives certificates (ca.pem) and a Git repository. Each port speaks HTTP and HTTPS, depending on the first
byte. A fault whose name ends in "-file" applies only to artifacts, while indexes and metadata are served.
"""

import json
import os
import socket
import ssl
import struct
import subprocess
import sys
import threading

import site_of_packages as site

REASONS = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    407: "Proxy Authentication Required",
    422: "Unprocessable Entity",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}
CERTIFICATES = {"self-signed": "untrusted", "wrong-host": "wrong", "expired": "expired"}
FAULTS = (
    ["serve", "refused", "reset", "closed", "cut", "hang", "tls-cut", *CERTIFICATES]
    + ["reset-file", "closed-file", "cut-file", "hang-file"]
    + [f"{status}{where}" for status in REASONS if status != 200 for where in ("", "-file")]
)
# The first bytes of a TLS handshake and of HTTP methods.
TLS_OR_HTTP = tuple(bytes([byte]) for byte in b"\x16GHPOD")
# Hosts that some tools contact whatever their configuration says, through a proxy. Each server is also a proxy.
FIXED_HOSTS = ("api.launchpad.net", "sentry.io")
# What a container registry says besides the status.
REGISTRY_ERRORS = {401: "UNAUTHORIZED", 403: "DENIED", 404: "MANIFEST_UNKNOWN", 429: "TOOMANYREQUESTS"}


def openssl(folder, *words):
    """Runs openssl in the folder."""
    subprocess.run(["openssl", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_certificates(folder):
    """Makes a CA, its certificate for the loopback, and three certificates that a client must reject."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    loopback = ",".join(["subjectAltName=IP:127.0.0.1,DNS:localhost", *(f"DNS:{host}" for host in FIXED_HOSTS)])
    openssl(folder, "req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "3650", "-subj", "/CN=Test authority")
    openssl(folder, "req", "-x509", *key, "-keyout", "untrusted.key", "-out", "untrusted.pem", "-days", "3650",
            "-subj", "/CN=localhost", "-addext", loopback)
    other = "subjectAltName=DNS:other.example.org"
    for name, names, days in (("good", loopback, "3650"), ("wrong", other, "3650"), ("expired", loopback, "-1")):
        common = "other.example.org" if name == "wrong" else "localhost"
        openssl(folder, "req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={common}")
        with open(f"{folder}/{name}.ext", "w", encoding="ascii") as extensions:
            extensions.write(names + "\n")
        openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", days, "-extfile", f"{name}.ext", "-out", f"{name}.pem")


def make_repository(folder):
    """Makes a bare Git repository with one commit larger than a pipe."""
    work = f"{folder}/work"
    os.mkdir(work)
    with open(f"{work}/filler", "wb") as filler:
        filler.write(site.FILLER * 4)
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "filler"], [*identity, "commit", "-q", "-m", "Add a file"],
                  ["clone", "-q", "--bare", ".", f"{folder}/repo.git"],
                  ["-C", f"{folder}/repo.git", "config", "http.receivepack", "true"]):
        subprocess.run(["git", *words], cwd=work, check=True)


class Request:
    """A request: method, path, headers, and the body."""

    def __init__(self, reader):
        words = reader.readline().decode("latin-1").split()
        if len(words) != 3:
            raise ConnectionError("no request")
        self.method, target, _ = words
        self.path, _, self.query = target.partition("?")
        self.headers = {}
        for line in iter(reader.readline, b""):
            if not line.strip():
                break
            name, _, value = line.decode("latin-1").partition(":")
            self.headers[name.lower()] = value.strip()
        if self.headers.get("expect", "").lower() == "100-continue":
            reader.raw_connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.body = self.read_body(reader)

    def read_body(self, reader):
        """Reads a body of known length or in chunks."""
        if self.headers.get("transfer-encoding", "") != "chunked":
            return reader.read(int(self.headers.get("content-length", 0)))
        chunks = []
        while size := int(reader.readline().split(b";")[0] or b"0", 16):
            chunks.append(reader.read(size))
            reader.readline()
        reader.readline()
        return b"".join(chunks)


def git_answer(folder, request, is_served):
    """Returns the response of Git's smart protocol, or None for any other path. A push takes effect only if served."""
    if not request.path.startswith("/repo.git/"):
        return None
    environment = dict(os.environ, GIT_PROTOCOL=request.headers.get("git-protocol", ""))
    repository = f"{folder}/repo.git"
    if request.path.endswith("/info/refs"):
        service = request.query.partition("=")[2]
        words = ["git", service.removeprefix("git-"), "--stateless-rpc", "--advertise-refs", repository]
        body = subprocess.run(words, env=environment, stdout=subprocess.PIPE, check=True).stdout
        line = f"# service={service}\n"
        head = f"{len(line) + 4:04x}{line}0000".encode()
        return f"application/x-{service}-advertisement", head + body, False
    service = request.path.rpartition("/")[2]
    body = request.body
    if request.headers.get("content-encoding") == "gzip":
        body = site.gzip.decompress(body)
    if service == "git-receive-pack" and not is_served:
        return f"application/x-{service}-result", b"", True
    words = ["git", service.removeprefix("git-"), "--stateless-rpc", repository]
    done = subprocess.run(words, input=body, env=environment, stdout=subprocess.PIPE, check=False)
    # Clients request the list of references from the same path.
    return f"application/x-{service}-result", done.stdout, b"command=ls-refs" not in body


def head(status, kind, length, more=""):
    """Returns the head of a response."""
    return (
        f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n"
        f"Docker-Distribution-Api-Version: registry/2.0\r\n{more}Connection: close\r\n\r\n"
    ).encode()


# What S3 says besides the status.
S3_ERRORS = {401: "AuthorizationHeaderMalformed", 403: "AccessDenied", 404: "NoSuchKey", 429: "TooManyRequests", 500: "InternalError", 503: "SlowDown"}


def more_headers(path, body):
    """Returns headers that clients require for this path."""
    if "/manifests/" in path:
        return f"Docker-Content-Digest: sha256:{site.sha('sha256', body)}\r\n"
    if path.startswith("/bucket"):
        return f'Last-Modified: Wed, 01 Jan 2020 00:00:00 GMT\r\nETag: "{site.sha("md5", body)}"\r\n'
    return ""


def status_answer(status, path):
    """Returns a complete error response."""
    more = {401: 'WWW-Authenticate: Basic realm="sample"\r\n', 429: "Retry-After: 1\r\n"}.get(status, "")
    if path.startswith("/v2/"):
        code = REGISTRY_ERRORS.get(status, "UNKNOWN")
        body, kind = site.pack({"errors": [{"code": code, "message": REASONS[status].lower()}]}), site.JSON
    elif path.startswith(("/_ping", "/v1.")):
        body, kind = site.pack({"message": REASONS[status]}), site.JSON
    elif path.startswith("/bucket"):
        code = S3_ERRORS.get(status, "ServiceUnavailable")
        body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{REASONS[status]}</Message></Error>'
        body, kind = body.encode(), "application/xml"
    else:
        title = f"{status} {REASONS[status]}"
        body = f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<h1>{title}</h1>\r\n</body>\r\n</html>\r\n"
        body, kind = body.encode(), site.HTML
    return head(status, kind, len(body), more) + body


def open_tunnel(connection):
    """Answers like a proxy that has connected to the requested host."""
    asked = b""
    while not asked.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            raise ConnectionError("no request")
        asked += byte
    connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")


def reset(connection):
    """Closes a connection with a TCP reset."""
    raw = connection
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raw.close()


class Server:
    """One fault on one port."""

    def __init__(self, fault, folder):
        self.fault = fault
        self.folder = folder
        certificate = CERTIFICATES.get(fault, "good")
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(f"{folder}/{certificate}.pem", f"{folder}/{certificate}.key")
        self.listener = self.bind()
        self.port = self.listener.getsockname()[1]

    def bind(self):
        """Binds a port without digits that a tool may take for an HTTP status in a message."""
        while True:
            listener = socket.socket()
            listener.bind(("127.0.0.1", 0))
            port = str(listener.getsockname()[1])
            if "40" not in port and "50" not in port and "42" not in port and len(port) == 5:
                return listener

    def run(self):
        """Serves forever. A port that is bound but does not listen refuses connections."""
        if self.fault == "refused":
            return
        self.listener.listen(64)
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        """Serves one connection. A client that goes away is not an error."""
        try:
            scheme = "http"
            first = self.first_byte(connection)
            # CONNECT
            if first == b"C":
                open_tunnel(connection)
                first = self.first_byte(connection)
            if first not in TLS_OR_HTTP and self.fault in ("reset", "closed"):
                (reset if self.fault == "reset" else socket.socket.close)(connection)
                return
            if self.fault == "tls-cut":
                connection.recv(1 << 16)
                connection.close()
                return
            if first == b"\x16":
                connection = self.tls.wrap_socket(connection, server_side=True)
                scheme = "https"
            reader = connection.makefile("rb")
            # A buffered reader accepts no new attributes, but a class of ours does.
            request = Request(Reader(reader, connection))
            self.answer(connection, request, f"{scheme}://{request.headers.get('host', '')}")
            reader.close()
            connection.close()
        except (OSError, ValueError):
            connection.close()

    def first_byte(self, connection):
        """Returns the first byte, or nothing if the client waits for a greeting that the fault withholds."""
        if self.fault in ("reset", "closed"):
            connection.settimeout(1)
        try:
            return connection.recv(1, socket.MSG_PEEK)
        except TimeoutError:
            return b""
        finally:
            connection.settimeout(None)

    def answer(self, connection, request, base):
        """Answers a request according to the fault."""
        found = git_answer(self.folder, request, self.fault == "serve") or site.answer(request.path, base)
        fault = self.fault
        if fault.endswith("-file"):
            fault = fault.removesuffix("-file") if found and found[2] else "serve"
        elif fault in CERTIFICATES:
            fault = "serve"
        if fault == "reset":
            reset(connection)
        elif fault == "closed":
            connection.shutdown(socket.SHUT_RDWR)
        elif fault == "hang":
            connection.recv(1)
        elif fault.isdigit():
            connection.sendall(status_answer(int(fault), request.path))
        elif not found:
            connection.sendall(status_answer(404, request.path))
        else:
            kind, body, _ = found
            sent = body[: len(body) // 2] if fault == "cut" else body
            if request.method == "HEAD":
                sent = b""
            connection.sendall(head(200, kind, len(body), more_headers(request.path, body)) + sent)
            connection.shutdown(socket.SHUT_RDWR)


class Reader:
    """A buffered reader that knows its connection."""

    def __init__(self, reader, connection):
        self.read = reader.read
        self.readline = reader.readline
        self.raw_connection = connection


def start(folder):
    """Starts all servers, and returns a port for each fault."""
    make_certificates(folder)
    make_repository(folder)
    servers = {fault: Server(fault, folder) for fault in FAULTS}
    for server in servers.values():
        threading.Thread(target=server.run, daemon=True).start()
    return {fault: server.port for fault, server in servers.items()}


if __name__ == "__main__":
    print(json.dumps(start(os.path.abspath(sys.argv[1]))), flush=True)
    sys.stdin.read()
