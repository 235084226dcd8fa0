"""A registry with one small package, in the protocols of several clients, just complete enough for them.

All functions are pure. Absolute addresses are built from the base that the client used.
"""

import base64
import gzip
import hashlib
import io
import json
import tarfile
import zipfile

NAME = "sample"
VERSION = "1.0.0"
# Incompressible, so half a body also ends inside a file.
FILLER = b"".join(hashlib.sha256(b"%d" % number).digest() for number in range(4096))


def sha(name, data):
    """Returns the hex digest of the data."""
    return hashlib.new(name, data).hexdigest()


def tar(files, mode="w:gz"):
    """Returns a tar archive of the files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def zipped(files):
    """Returns a zip archive of the files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data)
    return buffer.getvalue()


def pack(value):
    """Returns JSON as bytes."""
    return json.dumps(value).encode()


NPM_PACKAGE = pack({"name": NAME, "version": VERSION})
NPM_TARBALL = tar({"package/package.json": NPM_PACKAGE, "package/filler": FILLER})

WHEEL = zipped(
    {
        "sample.py": b"",
        "filler": FILLER,
        "sample-1.0.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: sample\nVersion: 1.0.0\n",
        "sample-1.0.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "sample-1.0.0.dist-info/RECORD": b"sample.py,,\nfiller,,\n",
    }
)
CRATE = tar(
    {
        "sample-1.0.0/Cargo.toml": b'[package]\nname = "sample"\nversion = "1.0.0"\nedition = "2021"\n',
        "sample-1.0.0/src/lib.rs": b"",
        "sample-1.0.0/filler": FILLER,
    }
)
GO_MODULE = zipped(
    {
        "example.org/sample@v1.0.0/go.mod": b"module example.org/sample\n",
        "example.org/sample@v1.0.0/sample.go": b"package sample\n",
        "example.org/sample@v1.0.0/filler": FILLER,
    }
)
PHP_PACKAGE = zipped({"composer.json": b'{"name": "sample/sample"}', "filler": FILLER})
LAYER = tar({"filler": FILLER})
IMAGE_CONFIG = pack(
    {
        "architecture": "amd64",
        "os": "linux",
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + sha("sha256", gzip.decompress(LAYER))]},
    }
)
DOCKER_V2 = "application/vnd.docker.distribution.manifest.v2+json"


def descriptor(media, data):
    """Returns a manifest's reference to a blob."""
    return {"mediaType": media, "size": len(data), "digest": "sha256:" + sha("sha256", data)}


MANIFEST = pack(
    {
        "schemaVersion": 2,
        "mediaType": DOCKER_V2,
        "config": descriptor("application/vnd.docker.container.image.v1+json", IMAGE_CONFIG),
        "layers": [descriptor("application/vnd.docker.image.rootfs.diff.tar.gzip", LAYER)],
    }
)


def deb():
    """Returns a Debian package."""
    control = b"Package: sample\nVersion: 1.0.0\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: a\n"
    members = {
        "debian-binary": b"2.0\n",
        "control.tar.gz": tar({"./control": control}),
        "data.tar.gz": tar({"./usr/share/sample/filler": FILLER}),
    }
    archive = b"!<arch>\n"
    for name, data in members.items():
        archive += b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name.encode(), 0, 0, 0, b"100644", len(data))
        archive += data + b"\n" * (len(data) % 2)
    return archive


DEB = deb()
PACKAGES = (
    "Package: sample\nVersion: 1.0.0\nArchitecture: all\nMaintainer: a <a@example.org>\n"
    f"Filename: pool/sample_1.0.0_all.deb\nSize: {len(DEB)}\nSHA256: {sha('sha256', DEB)}\nDescription: a\n\n"
).encode()
RELEASE = (
    "Origin: sample\nSuite: stable\nCodename: stable\nArchitectures: amd64 arm64 all\nComponents: main\n"
    "Date: Wed, 01 Jan 2020 00:00:00 UTC\nSHA256:\n"
    + "".join(
        f" {sha('sha256', PACKAGES)} {len(PACKAGES)} main/binary-{arch}/Packages\n" for arch in ("amd64", "arm64", "all")
    )
).encode()

POM = """<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId>
<artifactId>{}</artifactId><version>1.0.0</version><packaging>{}</packaging></project>"""

PRIMARY = b"""<?xml version="1.0"?><metadata xmlns="http://linux.duke.edu/metadata/common" packages="0"></metadata>"""
REPOMD = (
    '<?xml version="1.0"?><repomd xmlns="http://linux.duke.edu/metadata/repo"><revision>1</revision>'
    f'<data type="primary"><checksum type="sha256">{sha("sha256", PRIMARY)}</checksum>'
    f'<location href="repodata/primary.xml"/><size>{len(PRIMARY)}</size></data></repomd>'
).encode()


def npm_metadata(base):
    """Returns what the npm registry says about the package."""
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(NPM_TARBALL).digest()).decode()
    dist = {"tarball": f"{base}/sample/-/sample-1.0.0.tgz", "shasum": sha("sha1", NPM_TARBALL), "integrity": integrity}
    version = {"name": NAME, "version": VERSION, "dist": dist}
    return pack({"name": NAME, "dist-tags": {"latest": VERSION}, "versions": {VERSION: version}, "filler": "x" * 9000})


def pypi_page(base):
    """Returns the page of the simple index."""
    href = f"{base}/files/sample-1.0.0-py3-none-any.whl#sha256={sha('sha256', WHEEL)}"
    return f'<!DOCTYPE html><html><body><a href="{href}">sample-1.0.0-py3-none-any.whl</a></body></html>'.encode()


def composer_packages(base):
    """Returns the root of a Composer repository."""
    dist = {"type": "zip", "url": f"{base}/files/sample.zip", "shasum": sha("sha1", PHP_PACKAGE)}
    version = {"name": "sample/sample", "version": VERSION, "dist": dist}
    return pack({"packages": {"sample/sample": {VERSION: version}}})


# Marshal.dump([["sample", Gem::Version.new("1.0.0"), "ruby"]])
GEM_INDEX = (
    "04085b065b0849220b73616d706c65063a064554553a1147656d3a3a56657273696f6e5b0649220a312e302e30063b005449220972756279063b0054"
)
CRATES_INDEX = pack(
    {"name": NAME, "vers": VERSION, "deps": [], "cksum": sha("sha256", CRATE), "features": {}, "yanked": False}
)

CHARTS = b"apiVersion: v1\nentries: {sample: [{apiVersion: v2, name: sample, version: 1.0.0, urls: [sample-1.0.0.tgz]}]}\n"
CHART = tar({"sample/Chart.yaml": b"apiVersion: v2\nname: sample\nversion: 1.0.0\n", "sample/filler": FILLER})
# A Netlify project.
SITE = "00000000-0000-4000-8000-000000000000"

HTML = "text/html"
JSON = "application/json"
BINARY = "application/octet-stream"


def fixed():
    """Returns the paths whose responses do not depend on the base: (type, body, is an artifact)."""
    digest = {data: "sha256:" + sha("sha256", data) for data in (IMAGE_CONFIG, LAYER, MANIFEST)}
    return {
        "/file": (BINARY, FILLER, True),
        "/bucket/file": (BINARY, FILLER, True),
        "/sample/-/sample-1.0.0.tgz": (BINARY, NPM_TARBALL, True),
        "/files/sample-1.0.0-py3-none-any.whl": (BINARY, WHEEL, True),
        "/index/sa/mp/sample": (JSON, CRATES_INDEX, False),
        "/crates/sample/1.0.0/download": (BINARY, CRATE, True),
        "/go/example.org/sample/@v/list": ("text/plain", b"v1.0.0\n", False),
        "/go/example.org/sample/@v/v1.0.0.info": (JSON, b'{"Version":"v1.0.0","Time":"2020-01-01T00:00:00Z"}', False),
        "/go/example.org/sample/@v/v1.0.0.mod": ("text/plain", b"module example.org/sample\n", False),
        "/go/example.org/sample/@v/v1.0.0.zip": (BINARY, GO_MODULE, True),
        "/gems/versions": ("text/plain", b"created_at: 2020-01-01T00:00:00Z\n---\nsample 1.0.0 " + b"0" * 32 + b"\n", False),
        "/gems/info/sample": ("text/plain", b"---\n1.0.0 |checksum:" + b"0" * 64 + b"\n", False),
        "/gems/quick/Marshal.4.8/sample-1.0.0.gemspec.rz": (BINARY, FILLER, True),
        "/gems/specs.4.8.gz": (BINARY, gzip.compress(bytes.fromhex(GEM_INDEX), mtime=0), False),
        "/gems/gems/sample-1.0.0.gem": (BINARY, FILLER, True),
        "/files/sample.zip": (BINARY, PHP_PACKAGE, True),
        "/v2/": (JSON, b"{}", False),
        "/v2/sample/manifests/latest": (DOCKER_V2, MANIFEST, False),
        f"/v2/sample/manifests/{digest[MANIFEST]}": (DOCKER_V2, MANIFEST, False),
        f"/v2/sample/blobs/{digest[IMAGE_CONFIG]}": (BINARY, IMAGE_CONFIG, False),
        f"/v2/sample/blobs/{digest[LAYER]}": (BINARY, LAYER, True),
        "/debian/dists/stable/Release": ("text/plain", RELEASE, False),
        "/debian/dists/stable/main/binary-amd64/Packages": ("text/plain", PACKAGES, False),
        "/debian/dists/stable/main/binary-arm64/Packages": ("text/plain", PACKAGES, False),
        "/debian/dists/stable/main/binary-all/Packages": ("text/plain", PACKAGES, False),
        "/debian/pool/sample_1.0.0_all.deb": (BINARY, DEB, True),
        "/maven/org/example/parent/1.0.0/parent-1.0.0.pom": ("text/xml", POM.format("parent", "pom").encode(), False),
        "/maven/org/example/sample/1.0.0/sample-1.0.0.pom": ("text/xml", POM.format("sample", "jar").encode(), False),
        "/maven/org/example/sample/1.0.0/sample-1.0.0.jar": (BINARY, zipped({"filler": FILLER}), True),
        "/rpm/repodata/repomd.xml": ("text/xml", REPOMD, False),
        "/rpm/repodata/primary.xml": ("text/xml", PRIMARY, True),
        "/charts/index.yaml": ("text/yaml", CHARTS, False),
        "/charts/sample-1.0.0.tgz": (BINARY, CHART, True),
        f"/api/v1/sites/{SITE}": (JSON, pack({"id": SITE, "name": NAME, "url": "http://example.org", "account_slug": "a"}), False),
        f"/api/v1/sites/{SITE}/deploys": (JSON, b"{}", True),
        "/pacman/sample.db": (BINARY, tar({"sample-1.0.0-1/filler": FILLER}), True),
        "/pacman/sample.db.sig": (BINARY, b"", False),
    }


FIXED = fixed()


def answer(path, base):
    """Returns (type, body, is an artifact) for a path without its query, or None if there is no such path."""
    if path in ("/sample", "/sample/1.0.0", "/sample/latest"):
        return JSON, npm_metadata(base), False
    if path == "/simple/sample/":
        return HTML, pypi_page(base), False
    if path == "/index/config.json":
        return JSON, pack({"dl": f"{base}/crates", "api": base}), False
    if path == "/composer/packages.json":
        return JSON, composer_packages(base), False
    return FIXED.get(path)
