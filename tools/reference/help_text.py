"""What `inflight --help` and its like say, taken apart: for the man page and the site's reference."""
import re
import subprocess
from dataclasses import dataclass, field

SECTION = re.compile(r"(Positionals|Options|Subcommands):$")
ENTRY = re.compile(r"  (\S.*?)(?:  +(\S.*))?$")
VARIABLE = re.compile(r" \[(INFLIGHT_[A-Z_]+)(?:=\w+)?\]$")


@dataclass
class Entry:
    name: str
    text: str

    @property
    def variable(self):
        found = VARIABLE.search(self.text)
        return found[1] if found else ""

    @property
    def meaning(self):
        return VARIABLE.sub("", self.text)


@dataclass
class Command:
    name: str
    summary: str
    usage: str
    sections: dict = field(default_factory=dict)
    notes: str = ""

    def entries(self, section):
        return self.sections.get(section, [])


def parse(name, text):
    lines = text.splitlines()
    command = Command(name, lines[0], lines[1].removeprefix("Usage: "))
    section, notes = None, []
    for line in lines[2:]:
        header = SECTION.match(line)
        if header:
            section = command.sections.setdefault(header[1], [])
        elif section is not None and line.startswith("   "):
            section[-1].text = (section[-1].text + " " + line.strip()).strip()
        elif section is not None and line.startswith("  "):
            section.append(Entry(*(part or "" for part in ENTRY.match(line).groups())))
        elif line.strip():
            notes.append(line.strip())
    command.notes = " ".join(notes)
    return command


def commands(program):
    """The command itself and its subcommands, in the order in which it lists them."""
    def ask(*words):
        return subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True).stdout

    whole = parse("inflight", ask())
    names = [each.name for each in whole.entries("Subcommands")]
    return whole, [parse(name, ask(name)) for name in names]
