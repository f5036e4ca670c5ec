#!/usr/bin/env python3
"""Makes a bare Debian system from this machine's packages: the essential ones, the named ones and all dependencies.

bare_system.py FOLDER PACKAGE...: the exit status is 77 if one is not installed.
"""
import os
import re
import shutil
import subprocess
import sys

INFO = "/var/lib/dpkg/info"
LEFT_OUT = re.compile(r"/usr/share/(doc|man|info|locale|lintian)/")


def installed():
    """Returns the fields of each package by its name, and the providers of each provided name."""
    packages, providers = {}, {}
    with open("/var/lib/dpkg/status", encoding="utf-8") as status:
        for text in status.read().split("\n\n"):
            fields = dict(re.findall(r"^(\S+): ?(.*(?:\n[ \t].*)*)", text, re.M))
            if fields.get("Status") != "install ok installed":
                continue
            packages[fields["Package"]] = {**fields, "text": text}
            for provided in names(fields.get("Provides", "")):
                providers.setdefault(provided[0], fields["Package"])
    return packages, providers


def names(field):
    """Parses a field such as Depends into a list of alternatives per entry, without versions and architectures."""
    return [[re.split(r"[\s(:\[]", one.strip())[0] for one in entry.split("|")] for entry in field.split(",") if entry.strip()]


def with_dependencies(packages, providers, wanted):
    """Returns the named packages and all that they depend on."""
    chosen, waiting = set(), [[name] for name in wanted]
    while waiting:
        alternatives = waiting.pop()
        here = [each if each in packages else providers.get(each) for each in alternatives]
        found = next((each for each in here if each), None)
        if not found:
            print(f"not installed here: {' | '.join(alternatives)}")
            sys.exit(77)
        if found in chosen:
            continue
        chosen.add(found)
        for field in ("Pre-Depends", "Depends"):
            waiting += names(packages[found].get(field, ""))
    return sorted(chosen)


def copy(path, folder):
    """Copies a directory, link or file to its place in the other system."""
    to = folder + path
    if os.path.lexists(to):
        return
    if os.path.islink(path):
        os.makedirs(os.path.dirname(to), exist_ok=True)
        os.symlink(os.readlink(path), to)
    elif os.path.isdir(path):
        os.makedirs(to)
        shutil.copystat(path, to)
    elif os.path.isfile(path):
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copy2(path, to)


def copy_alternatives(folder):
    """Copies the links that update-alternatives made to the copied files."""
    for name in os.listdir("/etc/alternatives"):
        link = f"/etc/alternatives/{name}"
        if os.path.islink(link) and os.path.exists(folder + os.readlink(link)):
            copy(link, folder)
    for name in os.listdir("/var/lib/dpkg/alternatives"):
        with open(f"/var/lib/dpkg/alternatives/{name}", encoding="utf-8") as lines:
            for path in lines.read().splitlines():
                if os.path.islink(path) and os.path.lexists(folder + os.readlink(path)):
                    copy(path, folder)


def main(folder, *wanted):
    packages, providers = installed()
    essential = [name for name, fields in packages.items() if fields.get("Essential") == "yes"]
    chosen = with_dependencies(packages, providers, [*essential, *wanted])
    for path in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(path):
            os.makedirs(folder + os.path.realpath(path), exist_ok=True)
            copy(path, folder)
    for path in ("/dev", "/proc", "/tmp", "/run", "/root", "/etc/apt/apt.conf.d", "/var/lib/dpkg/updates", "/var/lib/dpkg/triggers", "/var/log", INFO):
        os.makedirs(folder + path, exist_ok=True)
    for name in chosen:
        for stem in (name, f"{name}:{packages[name]['Architecture']}"):
            if not os.path.exists(f"{INFO}/{stem}.list"):
                continue
            with open(f"{INFO}/{stem}.list", encoding="utf-8") as files:
                for path in files.read().splitlines():
                    if path != "/." and not LEFT_OUT.match(path):
                        copy(path, folder)
            for part in os.listdir(INFO):
                if part.rpartition(".")[0] == stem:
                    copy(f"{INFO}/{part}", folder)
    for path in ("/var/lib/dpkg/info/format", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf"):
        copy(path, folder)
    copy_alternatives(folder)
    with open(f"{folder}/var/lib/dpkg/status", "w", encoding="utf-8") as status:
        status.write("\n\n".join(packages[name]["text"] for name in chosen) + "\n")
    for name in ("available", "diversions", "statoverride", "triggers/File", "triggers/Unincorp"):
        open(f"{folder}/var/lib/dpkg/{name}", "a", encoding="utf-8").close()
    subprocess.run(["ldconfig", "-r", folder], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
