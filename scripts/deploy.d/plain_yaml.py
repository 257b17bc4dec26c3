"""Reads the plain YAML of deploy/: mappings, lists, texts, `|` blocks, anchors of mappings. What it does not know it refuses,
with the line, rather than guess: the files stay so plain that any reader agrees on them.
"""

import json
import re

KEY = re.compile(r'([A-Za-z0-9_./-]+|<<):(?: (.*))?$')


class NotPlain(Exception):
    def __init__(self, number, why):
        super().__init__(f"{number}: {why}")


def read(text):
    """The one document of a file."""
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        if "\t" in line or line != line.rstrip():
            raise NotPlain(number, "a tab, or blanks at the end")
        lines.append((number, len(line) - len(line.lstrip(" ")), line.strip()))
    reader = Reader(lines)
    value = reader.block(0)
    if reader.look() is not None:
        raise NotPlain(reader.look()[0], "this is further left than what it belongs to")
    return value


class Reader:
    def __init__(self, lines):
        self.lines, self.at, self.anchors = lines, 0, {}

    def look(self):
        """The next line that says something."""
        while self.at < len(self.lines) and (not self.lines[self.at][2] or self.lines[self.at][2].startswith("#")):
            self.at += 1
        return self.lines[self.at] if self.at < len(self.lines) else None

    def block(self, indent):
        _, _, text = self.look()
        return self.items(indent) if text == "-" or text.startswith("- ") else self.members(indent)

    def items(self, indent):
        found = []
        while (line := self.look()) and line[1] == indent and line[2].startswith("- "):
            number, _, text = line
            inner = text[2:]
            if KEY.match(inner):
                # A mapping that begins behind the dash: as if it stood alone, two further in.
                self.lines[self.at] = (number, indent + 2, inner)
                found.append(self.members(indent + 2))
            else:
                self.at += 1
                found.append(plain(number, inner))
        return self.ended(found, indent)

    def members(self, indent):
        found = {}
        while (line := self.look()) and line[1] == indent:
            number, _, text = line
            match = KEY.match(text)
            if not match:
                raise NotPlain(number, f"expected `key: value`, found `{text}`")
            key, rest = match[1], match[2] or ""
            self.at += 1
            if key == "<<":
                if not rest.startswith("*") or rest[1:] not in self.anchors:
                    raise NotPlain(number, "expected the name of an anchor above")
                found = {**self.anchors[rest[1:]], **found}
                continue
            if key in found and key not in self.merged(found):
                raise NotPlain(number, f"{key} is there already")
            found[key] = self.value(number, indent, rest)
        return self.ended(found, indent)

    def merged(self, found):
        return {key for anchor in self.anchors.values() for key, value in anchor.items() if found.get(key) is value}

    def value(self, number, indent, rest):
        if rest == "|":
            return self.literal(indent)
        if rest and not rest.startswith("&"):
            return plain(number, rest)
        line = self.look()
        is_list = line and line[2].startswith("- ") and line[1] == indent
        if line is None or (line[1] <= indent and not is_list):
            raise NotPlain(number, "nothing follows; write {} or \"\"")
        value = self.block(line[1])
        if rest:
            self.anchors[rest[1:]] = value
        return value

    def literal(self, indent):
        kept = []
        while self.at < len(self.lines) and (self.lines[self.at][1] > indent or not self.lines[self.at][2]):
            kept.append(self.lines[self.at])
            self.at += 1
        least = min(inner for _, inner, text in kept if text)
        return "\n".join(" " * (inner - least) + text if text else "" for _, inner, text in kept).rstrip("\n") + "\n"

    def ended(self, found, indent):
        line = self.look()
        if line and line[1] > indent:
            raise NotPlain(line[0], "this is further right than what it belongs to")
        return found


def plain(number, text):
    """A text, number, yes or no, or a list of them in brackets."""
    if text.startswith('"'):
        try:
            return json.loads(text)
        except ValueError:
            raise NotPlain(number, f"{text} is not closed, or more follows it") from None
    if text == "{}":
        return {}
    if text.startswith("[") and text.endswith("]"):
        inside = text[1:-1]
        parts = re.findall(r'"[^"]*"|[^,"]+', inside)
        return [plain(number, part.strip()) for part in parts if part.strip()]
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"-?(0|[1-9]\d*)", text):
        return int(text)
    if re.fullmatch(r"(?i)yes|no|on|off|null|~|[\d.:]+", text) or re.search(r"^[\[{&*!|>'%@`]| #|: |:$", text):
        raise NotPlain(number, f"put {text} between \"\"")
    return text
