"""Generates the types of the TypeScript client from the published schemas.

Usage: client_types.py ROOT [--check]. Writes ROOT/clients/typescript/src/types.ts from ROOT/schema.
With --check it writes nothing and exits with 1 if the file differs from what it would write.
"""

import json
import pathlib
import re
import sys

UNION_COLUMNS_MAX = 64  # a longer union has one line per part
OUTPUT = "clients/typescript/src/types.ts"
HEAD = """// Generated from schema/ by tools/client_types.py; change the schemas instead.
//
// The types name the members that this version of agentrt knows. A newer daemon may send further
// members and event types; the client passes them on unchanged.
"""


def pascal(name):
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[._]", name))


def reference(target):
    if "#" not in target:
        return "AgentrtEvent"
    return pascal(target.rpartition("/")[2])


def indented(text):
    return text.replace("\n", "\n  ")


def object_type(schema):
    properties = schema.get("properties")
    if not properties:
        return "Record<string, unknown>"
    required = set(schema.get("required", []))
    lines = []
    for name, member in properties.items():
        key = name if re.fullmatch(r"[A-Za-z_]\w*", name) else json.dumps(name)
        mark = "" if name in required else "?"
        lines.append(f"  {key}{mark}: {indented(type_of(member))};")
    return "{\n" + "\n".join(lines) + "\n}"


def union(parts):
    one = " | ".join(parts)
    return one if len(one) <= UNION_COLUMNS_MAX else "\n  | " + "\n  | ".join(parts)


def scalar(kind):
    return {"string": "string", "integer": "number", "number": "number", "boolean": "boolean",
            "null": "null"}[kind]


def type_of(schema):
    """The TypeScript type of a schema; a schema without constraints is `unknown`."""
    if schema is True or not isinstance(schema, dict):
        return "unknown"
    if "$ref" in schema:
        return reference(schema["$ref"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return union([json.dumps(value) for value in schema["enum"]])
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return union([type_of(each) for each in schema[word]])
    kind = schema.get("type")
    if isinstance(kind, list):
        return union([scalar(each) for each in kind])
    if kind == "object":
        return object_type(schema)
    if kind == "array":
        inner = type_of(schema.get("items", True))
        return f"Array<{inner}>" if re.search(r"[|\n]", inner) else f"{inner}[]"
    return scalar(kind) if kind else "unknown"


def declaration(name, schema):
    body = type_of(schema)
    if body.startswith("{"):
        return f"export interface {name} {body}\n"
    return f"export type {name} ={'' if body[0] == chr(10) else ' '}{body};\n"


def load(root, name):
    return json.loads((root / "schema" / f"{name}.schema.json").read_text(encoding="utf-8"))


def definitions(schemas):
    """Every definition once, by its TypeScript name. Two different ones with one name are a defect
    of the schemas."""
    found = {}
    for schema in schemas:
        for name, body in schema["$defs"].items():
            text = declaration(pascal(name), body)
            if found.setdefault(pascal(name), text) != text:
                raise SystemExit(f"schema/ defines {name} twice, differently")
    return found


def events_of(events):
    names = [rule["if"]["properties"]["type"]["const"] for rule in events["allOf"]]
    envelope = {key: value for key, value in events["properties"].items()
                if key not in ("type", "payload")}
    required = [key for key in events["required"] if key in envelope]
    out = ["// The members that all events have, and the ids of what an event concerns.\n"
           + declaration("Envelope", {"type": "object", "properties": envelope,
                                      "required": required})]
    rows = "\n".join(f"  {json.dumps(name)}: {pascal(name)};" for name in names)
    out.append("// The payload of each event type.\n"
               f"export interface EventPayloads {{\n{rows}\n}}\n")
    out.append("""export type EventType = keyof EventPayloads;

export type EventOf<T extends EventType> = Envelope & { type: T; payload: EventPayloads[T] };

// One event, told apart by `type`. Handle unknown types in a default branch: a newer daemon may
// send some.
export type AgentrtEvent = { [T in EventType]: EventOf<T> }[EventType];
""")
    return out


def commands_of(commands):
    table = commands["x-commands"]
    params = "\n".join(f"  {name}: {pascal(name + '.params')};" for name in table)
    replies = "\n".join(f"  {name}: {pascal(name + '.reply')};" for name in table)
    repeatable = [name for name in table if "idempotencyKey" in
                  commands["$defs"][name + ".params"].get("properties", {})]
    rows = "\n".join(f"  {json.dumps(name)}," for name in repeatable)
    codes = commands["$defs"]["error"]["properties"]["error"]["properties"]["code"]["enum"]
    return [
        f"export interface CommandParams {{\n{params}\n}}\n",
        f"export interface CommandReplies {{\n{replies}\n}}\n",
        "export type CommandName = keyof CommandParams;\n",
        "// The commands that take an idempotencyKey.\n"
        f"export const repeatableCommands: ReadonlySet<string> = new Set([\n{rows}\n]);\n",
        "export type ErrorCode ="
        + "".join(f"\n  | {json.dumps(code)}" for code in codes) + ";\n",
    ]


def generate(root):
    commands, events = load(root, "commands"), load(root, "events")
    snapshots = load(root, "snapshots")
    named = definitions([commands, events, snapshots])
    parts = [HEAD, *commands_of(commands), *events_of(events), *named.values()]
    return "\n".join(parts)


def main(arguments):
    root = pathlib.Path(arguments[0])
    path, text = root / OUTPUT, generate(root)
    if "--check" not in arguments:
        path.write_text(text, encoding="utf-8")
        return 0
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return 0
    print(f"{OUTPUT} does not match schema/: run ./dev clients and commit it", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
