"""A suite of programs of others, as a table: SUITE.tsv, whose form README.md describes."""
import re
import shlex
from dataclasses import dataclass

COLUMNS = ("program", "version", "arguments", "expectation", "result", "commit")
WORDS = {"pass": "as expected", "fail": "not as expected", "refused": "refused by name", "slow": "not done in the limit",
         "waived": "the program leaves itself out", "no-input": "a file or a device of its own is missing",
         "not-built": "could not be built", "not-run": "built, and not run"}
EXPECTATION = re.compile(r"pass|fails|status \d+|prints .+|nothing found|finds( [a-z-]+(, [a-z-]+)*)?")
RESULT = re.compile(r"(?P<word>[a-z-]+)( (?P<count>\d+)( of (?P<all>\d+))?)?(: (?P<note>.+))?")
KEYS = ("title", "source", "built", "limit", "note")


class Malformed(Exception):
    pass


@dataclass
class Row:
    program: str
    version: str
    arguments: str
    expectation: str
    result: str
    commit: str

    @property
    def alone(self):
        """Whether the row is of one program, and not of several that it does not name."""
        return not self.program.endswith("*")

    @property
    def checked(self):
        return self.expectation.startswith(("finds", "nothing found"))

    @property
    def parts(self):
        """The result's word, how many programs or tests it holds for, of how many, and its note."""
        found = RESULT.fullmatch(self.result)
        count = int(found["count"] or 1)
        return found["word"], count, int(found["all"] or count), found["note"] or ""

    def options(self):
        """Inflight's options and the program's arguments, which stand behind a `--` if there are both."""
        words = shlex.split(self.arguments)
        behind = words.index("--") + 1 if "--" in words else 0
        return words[:max(behind - 1, 0)], words[behind:]


def row_of(line, where):
    cells = line.split("\t")
    if len(cells) != len(COLUMNS):
        raise Malformed(f"{where}: {len(cells)} columns, not {len(COLUMNS)}")
    row = Row(*cells)
    if not row.program:
        raise Malformed(f"{where}: no program")
    try:
        row.options()
    except ValueError as wrong:
        raise Malformed(f"{where}: the arguments: {wrong}") from None
    if not EXPECTATION.fullmatch(row.expectation):
        raise Malformed(f"{where}: the expectation '{row.expectation}'")
    result = RESULT.fullmatch(row.result)
    if row.result and (not result or result["word"] not in WORDS):
        raise Malformed(f"{where}: the result '{row.result}'")
    return row


class Suite:
    """The table's lines, so that writing it back changes nothing but the rows."""

    def __init__(self, path):
        self.path, self.lines, self.rows, self.facts = path, [], [], {key: [] for key in KEYS}
        with open(path) as file:
            for number, line in enumerate(file.read().splitlines(), 1):
                where = f"{path}:{number}"
                if line.startswith("# "):
                    key, _, value = line[2:].partition(": ")
                    if key not in KEYS:
                        raise Malformed(f"{where}: '{key}' is none of {', '.join(KEYS)}")
                    self.facts[key].append(value)
                elif line and line.split("\t") != list(COLUMNS):
                    line = row_of(line, where)
                    self.rows.append(line)
                self.lines.append(line)

    def fact(self, key, otherwise=""):
        return " ".join(self.facts[key]) or otherwise

    def write(self):
        with open(self.path, "w") as file:
            for line in self.lines:
                file.write(("\t".join(getattr(line, each) for each in COLUMNS) if isinstance(line, Row) else line) + "\n")
