"""The mutants of ext/: small changes of the C source, each of them a bug that a test should see.

A mutant changes one token: a comparison, a logical, arithmetic or bit operator, an assignment with
one, a constant, or the sense of an if, a while or a ?:. The source is in clang-format's style, so
an operator with a space on both sides has two operands, and one without has not.
"""

import collections
import hashlib
import os
import re

TOKEN = re.compile(
    r"(?P<skip>/\*.*?\*/|//[^\n]*|^[ \t]*#(?:[^\n\\]|\\.)*|\"(?:[^\"\\\n]|\\.)*\"|\s+)"
    r"|(?P<char>'(?:[^'\\\n]|\\.)+')"
    r"|(?P<real>\d+\.\d*(?:e-?\d+)?f?|\d+e-?\d+f?)"
    r"|(?P<integer>0[xX][0-9a-fA-F]+|\d+)[uUlL]*"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<operator><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)",
    re.MULTILINE | re.DOTALL)

BETWEEN = {  # operators with two operands
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
    "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"],
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"],
    "&": ["|"], "|": ["&"], "^": ["|"], "<<": [">>"], ">>": ["<<"],
    "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="],
    "|=": ["&="], "&=": ["|="], "^=": ["|="], "<<=": [">>="], ">>=": ["<<="],
    "?": ["== 0 ?"],
}
ONE_SIDED = {"!": [""], "++": ["--"], "--": ["++"]}
MOST_OF_A_LINE = 8  # a table of numbers is no more code than another line
NAMES = {"true": ["false"], "false": ["true"]}
# Functions and enumerators that change no result.
ADVICE = ("large_pages", "bloom_layer_prefetch", "AHEAD", "AHEAD_BYTES", "MERGE_AHEAD")


class Mutant:
    """File, function, the line before and after; (start, end, text) is the change in the file."""

    def __init__(self, file, function, source, start, end, text):
        self.file, self.function, self.source = file, function, source
        self.start, self.end, self.text = start, end, text
        first = source.rfind("\n", 0, start) + 1
        last = source.find("\n", start)
        self.line = source.count("\n", 0, start) + 1
        self.before = " ".join(source[first:last].split())
        after = source[first:start] + text + (source[end:last] if end < last else "")
        self.after = " ".join(after.split())
        self.digest = ""  # of the function's text: what a result was found for

    @property
    def key(self):
        return "%s %s\n- %s\n+ %s" % (self.file, self.function, self.before, self.after)

    def changed(self):
        """The text of the file with the change."""
        return self.source[:self.start] + self.text + self.source[self.end:]


def tokens_of(source):
    """(kind, text, start, end) of what the compiler reads; no directives, no prefetches."""
    tokens = [(m.lastgroup, m.group(m.lastgroup), m.start(m.lastgroup), m.end(m.lastgroup))
              for m in TOKEN.finditer(source) if m.lastgroup != "skip"]
    kept, at = [], 0
    while at < len(tokens):
        if tokens[at][1] == "BLOOM_PREFETCH":  # it changes no result
            at = closing(tokens, at + 1)
        else:
            kept.append(tokens[at])
        at += 1
    return kept


def closing(tokens, at):
    """Index of the parenthesis that closes the one at `at`."""
    depth = 0
    while True:
        depth += (tokens[at][1] == "(") - (tokens[at][1] == ")")
        if depth == 0:
            return at
        at += 1


def changed_constant(kind, text):
    if kind == "integer":
        number = int(text, 0)
        shown = "0x%x" if text[:2] in ("0x", "0X") else "%d"
        return [shown % n for n in (number + 1, number - 1) if n >= 0]
    if kind == "real":
        suffix = "f" if text.endswith("f") else ""
        number = float(text.rstrip("f"))
        return [repr(n) + suffix for n in ((number * 2, number / 2) if number else (1.0,))]
    if len(text) == 3 and text[1] < "~":
        return ["'%s'" % chr(ord(text[1]) + 1)] if chr(ord(text[1]) + 1) not in "'\\" else []
    return []


def opening(tokens, at):
    """Index of the bracket around what stands at `at`, or None in no bracket of the statement."""
    depth = 1
    while at > 0 and tokens[at - 1][1] not in (";", "{", "}"):
        at -= 1
        depth += (tokens[at][1] == "]") - (tokens[at][1] == "[")
        if depth == 0:
            return at
    return None


def is_length(tokens, at):
    """Whether a token is of the length in the declaration of an array: type name[LENGTH][LENGTH]. A
    longer one changes nothing, and of a shorter one the compiler or a sanitizer tells."""
    bracket = opening(tokens, at)
    while bracket and tokens[bracket - 1][1] == "]":
        bracket = opening(tokens, bracket - 1)
    return (bracket is not None and bracket >= 2 and tokens[bracket - 1][0] == "name" and
            (tokens[bracket - 2][0] == "name" or tokens[bracket - 2][1] == "*") and
            tokens[bracket - 2][1] != "return")


def changes(tokens, source, at):
    """(start, end, text) of every change of one token."""
    kind, text, start, end = tokens[at]
    if is_length(tokens, at):
        return []
    if kind in ("integer", "real", "char"):
        new = changed_constant(kind, text)
        if text == "1" and source[start - 1] == "-":
            new.remove("2")  # a -1 stands for any negative number
        return [(start, end, n) for n in new]
    if kind == "name":
        if text in ("if", "while") and tokens[at + 1][1] == "(":
            first, last = tokens[at + 1], tokens[closing(tokens, at + 1)]
            inner = source[first[3]:last[2]]
            return [(first[3], last[2], "!(%s)" % inner)]
        return [(start, end, n) for n in NAMES.get(text, [])]
    spaced = source[start - 1].isspace() and source[end].isspace()
    new = BETWEEN.get(text, []) if spaced else ONE_SIDED.get(text, [])
    return [(start, end, n) for n in new]


def functions_of(tokens):
    """For each token the name of its function, table or enum, and the first and last token of each
    of these."""
    names, spans = [], {}
    depth = first = 0
    name, is_function = "-", False
    for i, (kind, text, _, _) in enumerate(tokens):
        following = tokens[i + 1][1] if i + 1 < len(tokens) else ""
        if depth == 0 and name == "-" and kind == "name" and following in ("(", "=", "[", "{"):
            name = text
        if depth == 0 and text == "{":
            is_function = tokens[i - 1][1] == ")"
        names.append(name)
        spans[name] = (min(first, spans.get(name, (first, i))[0]), i)
        depth += (text == "{") - (text == "}")
        if depth == 0 and (text == ";" or (text == "}" and is_function)):
            first, name, is_function = i + 1, "-", False
    return names, spans


def enumerator(tokens, at):
    while tokens[at - 1][1] not in (",", "{"):
        at -= 1
    return tokens[at][1]


def mutants_of(file, source):
    tokens = tokens_of(source)
    names, spans = functions_of(tokens)
    seen, found = {}, []
    for at in range(len(tokens)):
        if names[at] in ADVICE or (names[at] == "enum" and enumerator(tokens, at) in ADVICE):
            continue
        for start, end, text in changes(tokens, source, at):
            mutant = Mutant(file, names[at], source, start, end, text)
            first, last = spans[names[at]]
            body = source[tokens[first][2]:tokens[last][3]]
            mutant.digest = hashlib.sha256(body.encode()).hexdigest()[:16]
            times = seen[mutant.key] = seen.get(mutant.key, 0) + 1
            if times > 1:  # the same line twice in a function
                mutant.function += "#%d" % times
            found.append(mutant)
    return found


def ordered(found, seed):
    """By a hash of seed and key: the place of one mutant does not depend on the others."""
    return sorted(found,
                  key=lambda m: hashlib.sha256(("%s %s" % (seed, m.key)).encode()).digest())


def all_mutants(directory, seed):
    """The mutants of the directory, in an order that the seed decides."""
    found, lines = [], collections.Counter()
    for name in sorted(os.listdir(directory)):
        if name.endswith((".c", ".h")):
            with open(os.path.join(directory, name), encoding="utf-8") as stream:
                found += mutants_of(name, stream.read())
    chosen = []
    for mutant in ordered(found, "of a line %d" % seed):
        line = (mutant.file, mutant.line)
        lines[line] += 1
        if lines[line] <= MOST_OF_A_LINE:
            chosen.append(mutant)
    return ordered(chosen, seed)
