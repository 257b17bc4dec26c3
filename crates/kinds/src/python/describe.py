"""Tells what a function of a script takes, from its source alone: nothing of the script is run.

Arguments: the file, and the function's name or nothing. Prints one JSON object.
"""

import ast
import inspect
import json
import re
import sys

PLAIN = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean", "None": "null",
    "list": "array", "List": "array", "tuple": "array", "Tuple": "array", "set": "array", "Set": "array",
    "Sequence": "array", "Iterable": "array",
    "dict": "object", "Dict": "object", "Mapping": "object", "TypedDict": "object",
}
# What the script itself gives a name to: other names of types, and its own TypedDicts.
named = {}


class Unknown(Exception):
    """An annotation that JSON does not know. Nothing would make such a value of what a caller gives."""


def note_names(tree):
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            named[last_name(node.targets[0])] = node.value
        elif isinstance(node, ast.AnnAssign) and last_name(node.annotation) == "TypeAlias":
            named[last_name(node.target)] = node.value
        elif isinstance(node, ast.ClassDef):
            named.update({node.name: base for base in node.bases if last_name(base) in PLAIN})


def last_name(node):
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant):
        return "None" if node.value is None else str(node.value)
    return ""


def schema(node):
    """The JSON schema of an annotation; {} where anything will do."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return schema(ast.parse(node.value, mode="eval").body)
        except SyntaxError:
            raise Unknown(node.value) from None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return either([node.left, node.right])
    if isinstance(node, ast.Subscript):
        name = last_name(node.value)
        inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Optional":
            return either(inside + [ast.Constant(None)])
        if name == "Union":
            return either(inside)
        if name == "Annotated":
            found = schema(inside[0])
            notes = [n.value for n in inside[1:] if isinstance(n, ast.Constant) and isinstance(n.value, str)]
            return {**found, "description": notes[0]} if notes else found
        if name == "Literal":
            try:
                return {"enum": [ast.literal_eval(n) for n in inside]}
            except ValueError:
                raise Unknown(ast.unparse(node)) from None
        kind = PLAIN.get(name)
        if name.lower() == "tuple" and last_name(inside[-1]) != "Ellipsis":
            return {"type": "array", "minItems": len(inside), "maxItems": len(inside)}
        if kind == "array" and schema(inside[0]):
            return {"type": "array", "items": schema(inside[0])}
        if kind == "object" and len(inside) == 2 and schema(inside[1]):
            return {"type": "object", "additionalProperties": schema(inside[1])}
        return plain(kind, node)
    if isinstance(node, ast.Name) and node.id in named:
        return schema(named[node.id])
    if last_name(node) in ("Any", "object"):
        return {}
    return plain(PLAIN.get(last_name(node)), node)


def plain(kind, node):
    if kind is None:
        raise Unknown(ast.unparse(node))
    return {"type": kind}


def either(nodes):
    found = [schema(node) for node in nodes]
    if any(not one for one in found):
        return {}
    types = []
    for one in found:
        if set(one) != {"type"}:
            return {"anyOf": found}
        types += one["type"] if isinstance(one["type"], list) else [one["type"]]
    return {"type": types}


def described(text):
    """The description, and what it says of each argument (Google's, Sphinx's and NumPy's way)."""
    arguments = {}
    for name, about in re.findall(r"^\s*:param\s+(?:[\w\[\], .|]+\s+)?(\w+):\s*(.+)$", text, re.M):
        arguments[name] = about.strip()
    section = re.search(r"^(?:Args|Arguments|Parameters):\s*\n((?:[ \t]+.*\n?|\n)+)", text, re.M)
    if section:
        lines = inspect.cleandoc("\n" + section.group(1)).split("\n")
        name = None
        for line in lines:
            found = re.match(r"(\w+)\s*(?:\([^)]*\))?:\s*(.*)", line)
            if found:
                name = found.group(1)
                arguments[name] = found.group(2).strip()
            elif name and line.strip():
                arguments[name] = (arguments[name] + " " + line.strip()).strip()
    numpy = re.search(r"^Parameters\n-+\n((?:.+\n?)+)", text, re.M)
    if numpy:
        for name, about in re.findall(r"^(\w+)\s*:.*\n((?:[ \t]+.*\n?)+)", numpy.group(1), re.M):
            arguments[name] = " ".join(about.split())
    head = re.split(
        r"^\s*(?::param|:return|:rtype|:raises|Args:|Arguments:|Parameters:?$|Returns:?$|Raises:?$|Yields:?$|Examples?:?$)",
        text, maxsplit=1, flags=re.M)[0]
    return " ".join(head.split()), arguments


def fail(message):
    print(json.dumps({"error": message}))
    sys.exit(0)


def chosen(tree, name):
    functions = {n.name: n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
    public = [n for n in functions if not n.startswith("_")]
    if name:
        return functions.get(name) or fail(f"there is no function '{name}' in it; it has {', '.join(public) or 'none'}")
    if "execute" in functions:
        return functions["execute"]
    if len(public) == 1:
        return functions[public[0]]
    fail(f"say which function with --function; it has {', '.join(public) or 'none'}")


def annotated(argument):
    try:
        return schema(argument.annotation) if argument.annotation else {}
    except Unknown as error:
        found = str(error)
    except RecursionError:
        found = ast.unparse(argument.annotation)
    fail(f"line {argument.lineno}: '{argument.arg}' is annotated with '{found}', but a function is given only what JSON "
         "knows; use str, int, float, bool, list, dict, Literal, a TypedDict or Any, and make the rest of it yourself")


def parameters(function, about):
    properties, required = {}, []
    given = function.args
    if given.posonlyargs:
        fail("arguments are passed by name, and '/' in its signature forbids that")
    if not given.args and not given.kwonlyargs and (given.vararg or given.kwarg):
        fail(f"line {function.lineno}: '{function.name}' names none of its arguments, so nobody could tell what to give; "
             "write them out, or the definition by hand")
    defaults = [None] * (len(given.args) - len(given.defaults)) + given.defaults
    for argument, default in list(zip(given.args, defaults)) + list(zip(given.kwonlyargs, given.kw_defaults)):
        one = annotated(argument)
        if argument.arg in about:
            one["description"] = about[argument.arg]
        if default is None:
            required.append(argument.arg)
        else:
            try:
                value = ast.literal_eval(default)
                json.dumps(value, allow_nan=False)
                if value is not None:
                    one["default"] = value
                elif isinstance(one.get("type"), str):
                    one["type"] = [one["type"], "null"]
            except (ValueError, TypeError):
                pass
        properties[argument.arg] = one
    found = {"type": "object", "properties": properties}
    if required:
        found["required"] = required
    if not given.kwarg:
        found["additionalProperties"] = False
    return found


def main():
    path, name = sys.argv[1], sys.argv[2]
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read(), path)
    except SyntaxError as error:
        fail(f"line {error.lineno}, column {error.offset}: {error.msg}")
    except (OSError, ValueError) as error:
        fail(str(error))
    note_names(tree)
    function = chosen(tree, name)
    text = ast.get_docstring(function) or ast.get_docstring(tree) or ""
    description, about = described(text)
    print(json.dumps({
        "function": function.name,
        "description": description,
        "input_schema": parameters(function, about),
    }))


main()
