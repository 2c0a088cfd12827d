"""Validates the subset of JSON Schema that the published documents use; other keywords are errors.

A validator that skips unknown keywords would accept events that it never checked.
"""

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "null": lambda v: v is None,
}
IGNORED = {"$schema", "$id", "$defs", "title", "description", "format", "default", "examples"}


class Invalid(AssertionError):
    pass


def _words(words):
    return [words] if isinstance(words, str) else words


def validate(value, schema, root=None, path="$"):
    root = schema if root is None else root
    if schema is True:
        return
    for word, rule in schema.items():
        if word in IGNORED or word.startswith("x-") or word == "then" or word == "else":
            continue
        check = CHECKS.get(word)
        if check is None:
            raise NotImplementedError(f"JSON Schema word {word!r} at {path}")
        check(value, rule, schema, root, path)


def passes(value, schema, root, path):
    try:
        validate(value, schema, root, path)
        return True
    except Invalid:
        return False


def _ref(value, rule, schema, root, path):
    target = root
    for step in rule.removeprefix("#/").split("/"):
        target = target[step]
    validate(value, target, root, path)


def _type(value, rule, schema, root, path):
    if not any(TYPES[word](value) for word in _words(rule)):
        raise Invalid(f"{path} is not {rule}: {value!r:.80}")


def _required(value, rule, schema, root, path):
    if isinstance(value, dict):
        for name in rule:
            if name not in value:
                raise Invalid(f"{path} lacks {name}")


def _properties(value, rule, schema, root, path):
    if isinstance(value, dict):
        for name, part in rule.items():
            if name in value:
                validate(value[name], part, root, f"{path}.{name}")


def _additional(value, rule, schema, root, path):
    if not isinstance(value, dict):
        return
    for name in value.keys() - schema.get("properties", {}).keys():
        if rule is False:
            raise Invalid(f"{path} has {name}, which is not allowed")
        validate(value[name], rule, root, f"{path}.{name}")


def _items(value, rule, schema, root, path):
    if isinstance(value, list):
        for number, part in enumerate(value):
            validate(part, rule, root, f"{path}[{number}]")


def _const(value, rule, schema, root, path):
    if value != rule:
        raise Invalid(f"{path} is not {rule!r}")


def _enum(value, rule, schema, root, path):
    if value not in rule:
        raise Invalid(f"{path} is {value!r}, not one of {rule}")


def _all_of(value, rule, schema, root, path):
    for part in rule:
        validate(value, part, root, path)


def _any_of(value, rule, schema, root, path):
    if not any(passes(value, part, root, path) for part in rule):
        raise Invalid(f"{path} fits none of the alternatives: {value!r:.80}")


def _one_of(value, rule, schema, root, path):
    if sum(passes(value, part, root, path) for part in rule) != 1:
        raise Invalid(f"{path} does not fit exactly one alternative: {value!r:.80}")


def _if(value, rule, schema, root, path):
    branch = schema.get("then" if passes(value, rule, root, path) else "else")
    if branch is not None:
        validate(value, branch, root, path)


def _minimum(value, rule, schema, root, path):
    if isinstance(value, (int, float)) and value < rule:
        raise Invalid(f"{path} is {value}, below {rule}")


def _maximum(value, rule, schema, root, path):
    if isinstance(value, (int, float)) and value > rule:
        raise Invalid(f"{path} is {value}, above {rule}")


def _min_length(value, rule, schema, root, path):
    if isinstance(value, str) and len(value) < rule:
        raise Invalid(f"{path} is shorter than {rule}")


def _max_length(value, rule, schema, root, path):
    if isinstance(value, str) and len(value) > rule:
        raise Invalid(f"{path} is longer than {rule}")


def _max_items(value, rule, schema, root, path):
    if isinstance(value, list) and len(value) > rule:
        raise Invalid(f"{path} has more than {rule} items")


def _pattern(value, rule, schema, root, path):
    import re
    if isinstance(value, str) and not re.search(rule, value):
        raise Invalid(f"{path} does not match {rule}: {value!r:.80}")


CHECKS = {
    "$ref": _ref, "type": _type, "required": _required, "properties": _properties,
    "additionalProperties": _additional, "items": _items, "const": _const, "enum": _enum,
    "allOf": _all_of, "anyOf": _any_of, "oneOf": _one_of, "if": _if, "minimum": _minimum,
    "maximum": _maximum, "minLength": _min_length, "maxLength": _max_length, "pattern": _pattern,
    "maxItems": _max_items,
}
