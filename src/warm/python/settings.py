# Variables that a program sets before it imports the modules that read them: in a fork the imports
# are done already (resident.py). Libraries are told again if that is possible; a script in which
# this can be seen in advance is executed; for any other, one line reports it.
import ast
import os
import re
import sys
import types

from muster_warm_rank import Refused

TOLD_AGAIN = {"TORCH_DISTRIBUTED_DEBUG": ("torch.distributed", "set_debug_level_from_env"),
              "TORCH_LOGS": ("torch._logging", "_init_logs")}
# Read in C, while torch and what it brings are loaded.
READ_IN_C = ("ATEN_", "BLIS_", "C10_", "DNNL", "GOMP_", "GOTO", "KMP_", "MKL_", "NPY_", "OMP_",
             "ONEDNN", "OPENBLAS", "TORCH_CPP_", "TORCH_SHOW_CPP_")
SETS = re.compile(rb"environ\s*\[[^]]*\]\s*=[^=]|environ\.(setdefault|update)")


class Readers:
    """Which package read a variable while it was imported."""

    def __init__(self, of_python):
        self.of_python = of_python

    def of(self, name):
        found = self.of_python.get(name, set())
        return found | {"torch"} if name in TOLD_AGAIN or name.startswith(READ_IN_C) else found


def top(name):
    return name.split(".")[0] if isinstance(name, str) else ""


def teller(name):
    module, function = TOLD_AGAIN.get(name, ("", ""))
    return getattr(sys.modules.get(module), function, None)


# -- before the fork: what the script says -----------------------------------------------------------

def is_environ(node):
    return getattr(node, "attr", getattr(node, "id", None)) == "environ"


def text_of(node):
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def settings_in(node):
    """Name, value if it is plain, and whether only where there is none."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and is_environ(target.value):
                key = getattr(target.slice, "value", None)  # before 3.9 a node stands between
                yield text_of(key) if isinstance(key, ast.AST) else key, text_of(node.value), False
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "setdefault" and is_environ(node.func.value) and len(node.args) == 2:
            yield text_of(node.args[0]), text_of(node.args[1]), True
        elif node.func.attr == "update" and is_environ(node.func.value):
            for given in node.args[:1]:
                if isinstance(given, ast.Dict):
                    yield from ((text_of(key), text_of(value), False)
                                for key, value in zip(given.keys, given.values))
            yield from ((word.arg, text_of(word.value), False) for word in node.keywords)


class Script(ast.NodeVisitor):
    """Notes what is set before the first import of its reader, in the order of the lines."""

    def __init__(self, readers, given):
        self.readers, self.given = readers, given
        self.imported = set()
        self.is_in_function = False
        self.found = None

    def visit_Import(self, node):
        if not self.is_in_function:
            self.imported.update(top(alias.name) for alias in node.names)

    def visit_ImportFrom(self, node):
        if not self.is_in_function:
            self.imported.add(top(node.module))

    def visit_FunctionDef(self, node):
        was, self.is_in_function = self.is_in_function, True
        self.generic_visit(node)
        self.is_in_function = was

    def generic_visit(self, node):
        for name, value, is_default in settings_in(node):
            is_same = name in self.given and (is_default or self.given[name] == value)
            readers = self.readers.of(name) if isinstance(name, str) else set()
            if readers - self.imported and not is_same and not teller(name):
                self.found = self.found or (node.lineno, name)
        super().generic_visit(node)


def source_of(kind, argv):
    if kind == "script":
        return argv[0]
    if kind == "module":
        words = argv[0].split(".")
        for folder in [os.getcwd()] + sys.path:
            for end in (words[-1] + ".py", os.path.join(words[-1], "__main__.py")):
                path = os.path.join(folder, *words[:-1], end)
                if os.path.isfile(path):
                    return path
    return None


def check_script(path, readers, given):
    """Refuses one that is known to want other imports."""
    try:
        with open(path, "rb") as file:
            text = file.read()
        if not SETS.search(text):
            return
        script = Script(readers, given)
        script.visit(ast.parse(text))
    except (OSError, SyntaxError, ValueError, RecursionError, TypeError):
        return
    if script.found is not None:
        raise Refused("%s:%d sets %s before the import that reads it" % (path, *script.found))


# -- in the fork: what it does -----------------------------------------------------------------------

def is_imported(package, frame):
    """Whether an import of `package` is under way, in the module that sets a variable or in a caller."""
    while frame is not None:
        if top(frame.f_globals.get("__name__")) == package:
            return True
        for value in [*frame.f_globals.values(), *frame.f_locals.values()]:
            if isinstance(value, types.ModuleType) and top(value.__name__) == package:
                return True
            if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
                if top(value.__module__) == package:
                    return True
        frame = frame.f_back
    return False


class Settings(dict):
    """What os.environ keeps its values in."""

    readers = None
    # modules that were imported before the fork and set and restore variables know the values
    # themselves
    libraries = set()
    first = {}
    said = set()

    def __setitem__(self, key, value):
        is_new = self.get(key) != value
        super().__setitem__(key, value)
        if is_new:
            self.note(os.fsdecode(key))

    def __delitem__(self, key):
        super().__delitem__(key)
        self.note(os.fsdecode(key))

    def note(self, name):
        frame = sys._getframe(2)
        while frame is not None and frame.f_globals.get("__name__") in ("os", "collections.abc"):
            if frame.f_code.co_name == "clear":
                return  # a program that clears it all usually restores it
            frame = frame.f_back
        if frame is None or top(frame.f_globals.get("__name__")) in self.libraries:
            return
        if all(is_imported(package, frame) for package in self.readers.of(name)):
            return
        try:
            if teller(name):
                teller(name)()
                return
        except Exception:
            pass
        key = os.fsencode(name)
        if name not in self.said and self.get(key) != self.first.get(key):
            self.said.add(name)
            os.write(2, ("muster-launch: warm start: %s:%d sets %s, which the imports have read already; "
                         "without --warm it holds\n" % (frame.f_code.co_filename, frame.f_lineno, name)
                         ).encode(errors="replace"))


def watch(readers, libraries):
    Settings.readers, Settings.libraries = readers, libraries
    Settings.first = dict(os.environ._data)
    os.environ._data = os.environb._data = Settings(os.environ._data)
