#!/usr/bin/env python3
"""stage.py ROOT INFLIGHT LIBRARIES TO: lays out the site's pages. README.md is the first page, docs/ lies beside it, the
reference is made anew; docs/README.md gives the order and the groups. Links to the tree's other files lead to pages that
show them."""
import glob
import os
import posixpath
import re
import shutil
import sys

import reference

LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
LANGUAGES = {".cu": "cuda", ".cuh": "cuda", ".cpp": "cpp", ".hpp": "cpp", ".json": "json", ".py": "python"}
# Where a file of the tree is on the site, if not where it lies in docs/.
ELSEWHERE = {"README.md": "index.md", "docs/README.md": "contents.md", "tests/kernels/README.md": "tests.md",
             "tests/outside/README.md": "suites.md",
             "SECURITY.md": "security.md", "CONTRIBUTING.md": "contributing.md", "HACKING.md": "hacking.md",
             "CHANGELOG.md": "changelog.md"}
# A line for each page that has gone: its old address, and where its text is now.
MOVED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "moved.txt")


def place(path):
    """The page of a Markdown file of the tree."""
    return ELSEWHERE.get(path) or path.removeprefix("docs/")


def outside_code(text, change):
    """`change` of the parts of a page that are not code."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else change(part) for part in parts)


class Stage:
    def __init__(self, root, to):
        self.root, self.to, self.shown = root, to, set()

    def write(self, page, text):
        path = os.path.join(self.to, page)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def show(self, path):
        """The page that shows a file of the tree that is none itself."""
        page = f"files/{path}.md"
        if page not in self.shown:
            self.shown.add(page)
            with open(os.path.join(self.root, path)) as file:
                text = file.read()
            language = LANGUAGES.get(os.path.splitext(path)[1], "bash" if text.startswith("#!") else "text")
            self.write(page, f"---\norphan: true\n---\n# {path}\n\n````{language}\n{text.rstrip()}\n````\n")
        return page

    def move(self, moves):
        """Old addresses lead on: a browser goes to the new page after a second."""
        for old, new in moves:
            to = posixpath.relpath(place(new), posixpath.dirname(place(old)) or ".")
            self.write(place(old), f"---\norphan: true\nmyst:\n  html_meta:\n    \"http-equiv=refresh\": 1; url={to[:-3]}.html\n---\n"
                       f"# Moved\n\nThis page is now [here]({to}).\n")

    def relink(self, text, source, page):
        def link(found):
            words, target = found.groups()
            if re.match(r"\w+:|#", target):
                return found[0]
            file, _, anchor = target.partition("#")
            path = posixpath.normpath(posixpath.join(posixpath.dirname(source), file))
            if os.path.isdir(os.path.join(self.root, path)):
                return words
            new = place(path) if path.endswith(".md") else self.show(path)
            new = posixpath.relpath(new, posixpath.dirname(page) or ".")
            return f"[{words}]({new}{'#' + anchor if anchor else ''})"

        return outside_code(text, lambda part: LINK.sub(link, part))


def groups(contents):
    """The site's order, as docs/README.md gives it: a title and its pages."""
    for part in contents.split("\n## ")[1:]:
        title, _, rest = part.partition("\n")
        yield title, [posixpath.normpath(posixpath.join("docs", target)) for _, target in LINK.findall(rest)]


def trees(contents, pages, made):
    out, listed = [], set()
    for title, files in groups(contents):
        entries = [place(path) for path in files]
        listed.update(files)
        out.append(f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(entries) + "\n```\n")
    names = "\n".join(f"{title} <{page}>" for page, (title, _) in made.items())
    out.insert(2, f"```{{toctree}}\n:hidden:\n:caption: Reference\n\n{names}\n```\n")
    # The house's rule, not the site's: every page stands in docs/README.md.
    forgotten = sorted(set(pages) - listed)
    if forgotten:
        sys.exit("docs/README.md does not list " + ", ".join(forgotten))
    return "\n" + "\n".join(out)


def below(pages):
    return "\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n"


def main(root, program, libraries, to):
    shutil.rmtree(to, ignore_errors=True)
    stage = Stage(root, to)
    files = [os.path.relpath(each, root) for each in sorted(glob.glob(os.path.join(root, "docs/**/*.md"), recursive=True))]
    files += [path for path in ELSEWHERE if path not in files]
    texts = {}
    for path in files:
        with open(os.path.join(root, path)) as file:
            texts[path] = file.read()
    made = reference.pages(program, libraries, texts)
    for page, (_, text) in made.items():
        texts[page] = text
    # The pages of a folder stand below the page that introduces it, unless docs/README.md lists them itself.
    listed = {path for _, group in groups(texts["docs/README.md"]) for path in group}
    folders = {"docs/library/README.md": "docs/library/", "docs/notes/README.md": "docs/notes/",
               "docs/architecture.md": "docs/architecture/"}

    def under(folder):
        found = [path for path in files if path.startswith(folder) and path != folder + "README.md" and path not in listed]
        return sorted(found, key=lambda path: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path)])

    guides = [path for path in files if re.fullmatch(r"docs/[^/]+\.md", path) and path != "docs/README.md"]
    for path in files:
        page = place(path)
        text = stage.relink(texts[path], path, page)
        if page == "index.md":
            text += trees(texts["docs/README.md"], guides, made)
        if page == "contents.md":
            text = "---\norphan: true\n---\n" + text
        if path in folders:
            # As docs/README.md lists every guide, a folder's page lists its pages.
            named = {posixpath.normpath(posixpath.join(posixpath.dirname(path), target.partition("#")[0]))
                     for _, target in LINK.findall(texts[path])}
            forgotten = sorted(each for each in files if each.startswith(folders[path]) and each != path and each not in named)
            if forgotten:
                sys.exit(f"{path} does not list " + ", ".join(forgotten))
            text += below([posixpath.relpath(place(each), posixpath.dirname(page) or ".") for each in under(folders[path])])
        stage.write(page, text)
    for page in made:
        stage.write(page, stage.relink(texts[page], "docs/" + posixpath.basename(page), page))
    with open(MOVED) as file:
        stage.move(line.split() for line in file if line.strip())


main(*sys.argv[1:])
