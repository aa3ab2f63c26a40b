"""Random train.yaml files that somebody might have written: the same seed gives the same file.

Every part of the schema is there or not, in each spelling and each style of YAML: quotes, block
texts, flow maps, anchors, merge keys, comments. What PyYAML cannot read is thrown away.
"""
import random

import yaml

PLAIN = [
    "1", "0", "-1", "007", "08", "0o7", "1_000", "0x1F", "0b101", "190:20:30", "12:30:45", "1:2.5", "1.0", "-0.0",
    "1e3", "1.5e3", "1.5e+3", "1e+20", "6.02e+23", ".5", "5.", "-.5", ".inf", "-.INF", ".nan", "99999999999999999999",
    "123456789012345678.5", "1e-7", "1.0e-5", "yes", "No", "on", "OFF", "True", "false", "y", "n", "null", "~", "Null",
    "2026-07-30", "2026-1-2 3:04:05", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.1 +5:30", "2026-07-30T10:00:00Z",
    "oci://bucket@ns/a/b", "http://host:80/p?q=1#x", "a:b", "x#y", "-x", "--flag", "?x", ":x", "=", "<", "a=b", "$HOME",
    "${X}/y", "$$x", "name with words", "caf\u00e9", "\u65e5\u672c\u8a9e", "\U0001f600", "a\\b", "a'b", 'a"b', "a,b", "train.py",
    "iad.ocir.io/ns/img:1.0", "localhost:5000/img", "x%y", "a  b", "@image", "1.2.3", "1,000", "None", "nan", "inf",
]
# `@` and a colon at the end begin or end no plain scalar.
PLAIN = [text for text in PLAIN if not text.startswith("@")]
TEXTS = [
    "", " ", "  two", "end ", "a\nb", "a\n", "\na", "a\n\nb", " a\nb", "a\n b", "tab\there", "it's", 'say "hi"', "a: b",
    "a #b", "# a", "- a", "[x", "{x", "&a", "*a", "!a", "|", ">", "%a", "@a", "`a", "---", "...", "--- a", "yes", "3", "1.0",
    "null", "~", "2026-07-30", "<<", "=", "\u00e9t\u00e9", "\u2028", "\x85", "\xa0", "\U0001f600 smile", "\x07", "\\n", "'", "''", "'\"",
    "a " * 45, "word " * 30 + "end", "x" * 90 + " y z", "two  spaces " * 12, "it's: " * 20, "\u00e9 " * 60, "a\nb " * 30,
    "--lr 0.1 --name 'a b'", "x" * 200, "\ufeff", "trailing:", "a:\tb", "\u0100" * 90 + " b",
]
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
INFRASTRUCTURE = [
    ("projectId", "project_id"), ("compartmentId", "compartment_id"), ("displayName", "display_name"),
    ("logGroupId", "log_group_id"), ("logId", "log_id"), ("subnetId", "subnet_id"), ("shapeName", "shape_name"),
    ("blockStorageSize", "block_storage_size"), ("jobType", "job_type"),
    ("jobInfrastructureType", "job_infrastructure_type"),
]


class Writer:
    def __init__(self, seed):
        self.pick = random.Random(seed)
        self.anchors = 0

    def chance(self, share):
        return self.pick.random() < share

    # A scalar as (style, text): style "" is plain.
    def scalar(self, plain_share=0.7):
        if self.chance(plain_share):
            return self.pick.choice(PLAIN)
        return self.quoted(self.pick.choice(TEXTS))

    def quoted(self, text):
        style = self.pick.random()
        if style < 0.4 and not any(ord(c) < 32 or c in "\x85\u2028\ufeff" for c in text):
            return "'" + text.replace("'", "''") + "'"
        if style < 0.6 and text.strip() and text[0] not in " \n" and all(c == "\n" or ord(c) >= 32 for c in text) and not any(
                c in "\x85\u2028\ufeff" for c in text):
            return ("block", self.pick.choice(["|", ">", "|-", ">-", "|+", ">+"]), text)
        return '"' + "".join({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}.get(
            c, c if 32 <= ord(c) < 127 or 0xa1 <= ord(c) < 0x2000 else "\\U%08x" % ord(c)) for c in text) + '"'

    def word(self):
        return self.pick.choice(WORDS) + self.pick.choice(["", "-1", "_2", ".x", " y"])

    def any(self, depth=0):
        kind = self.pick.random()
        if depth > 2 or kind < 0.7:
            return self.scalar()
        if kind < 0.85:
            return [self.any(depth + 1) for _ in range(self.pick.randrange(4))]
        return {self.word(): self.any(depth + 1) for _ in range(self.pick.randrange(4))}

    def env(self):
        names = ["A", "B", "OCI__WORK_DIR", "OCI__MODE", "RANK", "NCCL_DEBUG", "OCI__ENTRY_SCRIPT", "X_1"]
        return [{"name": self.pick.choice(names), "value": self.any(2) if self.chance(0.9) else self.any()}
                for _ in range(self.pick.randrange(5))]

    def config(self):
        config = {}
        if self.chance(0.7):
            config["env"] = self.env() if self.chance(0.9) else "null"
        if self.chance(0.5):
            config["startOptions"] = [self.quoted(self.pick.choice(TEXTS + ["--port 8786", "--x"]))
                                      for _ in range(self.pick.randrange(4))]
        return config

    def role(self):
        role = {}
        if self.chance(0.7):
            role["name"] = self.pick.choice(["node", "w-${RANK}", "'3'", '""', '"a b"', "null"])
        if self.chance(0.7):
            role["replicas"] = self.pick.choice(["1", "2", "3", "0", "null", "010", "1_1"])
        if self.chance(0.2):
            role["image"] = "a/b:c"
        if self.chance(0.4):
            role["config"] = self.config() if self.chance(0.9) else "null"
        return role

    def infrastructure(self):
        spec = {}
        for camel, snake in INFRASTRUCTURE:
            if not self.chance(0.6):
                continue
            spelling = self.pick.choice([camel, camel, camel, snake, snake.upper(), snake.title()])
            usual = "50" if camel == "blockStorageSize" else self.pick.choice(["ocid1.x.oc1..a", "VM.GPU2.1", "name"])
            value = self.scalar() if self.chance(0.2) else usual
            spec[spelling] = value
            if self.chance(0.08):
                spec[self.pick.choice([camel, snake])] = self.scalar()
        if self.chance(0.2):
            spec[self.pick.choice(["block_storage_size_in_GBs", "blockStorageSizeGB", "block_storage_size_in_gbs"])] = (
                self.pick.choice(["60", "50GB"]))
        if self.chance(0.3):
            spec[self.pick.choice(["shapeConfigDetails", "shape_config_details", "job_shape_config_details"])] = {
                self.pick.choice(["ocpus", "OCPUs"]): self.pick.choice(["1", "2.0", "'4'"]),
                self.pick.choice(["memoryInGBs", "memory_in_gbs", "memory_in_GBs"]): self.pick.choice(["16", "22.5"])}
        if self.chance(0.3):
            tags = {self.word(): self.any(2) for _ in range(self.pick.randrange(4))}
            if self.chance(0.3):
                tags[self.pick.choice(["1", "yes", "null", "2.5", "project_id"])] = self.scalar()
            spec[self.pick.choice(["freeformTags", "freeform_tags"])] = tags
        if self.chance(0.2):
            spec[self.pick.choice(["definedTags", "defined_tags"])] = {self.word(): {self.word(): self.scalar()}}
        if self.chance(0.2):
            mounts = [{"src": self.pick.choice(["oci://b@n/p", "10.0.0.1:/share", "ocid1.mounttarget.a:ocid1.export.b"]),
                       "dest": self.pick.choice(["/mnt/x", "data"])} for _ in range(self.pick.randrange(3))]
            spec[self.pick.choice(["storageMount", "storage_mount"])] = mounts if self.chance(0.7) or not mounts else mounts[0]
        for _ in range(self.pick.randrange(3) if self.chance(0.4) else 0):
            spec[self.word()] = self.any()
        if self.chance(0.05):
            spec[self.pick.choice(["memory_in_gbs", "ocpus"])] = self.scalar()
        return self.shuffled(spec)

    def shuffled(self, mapping):
        items = list(mapping.items())
        if self.chance(0.5):
            self.pick.shuffle(items)
        return dict(items)

    def cluster(self):
        spec = {"image": self.pick.choice(["iad.ocir.io/ns/img:1.0", "iad.ocir.io/ns/img", "img", "a/b/c:latest"])}
        if self.chance(0.8):
            spec["workDir"] = self.pick.choice(["oci://b@n/p", '"oci://b@n/p/"', "file:///tmp/x", "null", "3"])
        if self.chance(0.3):
            spec["name"] = self.scalar()
        if self.chance(0.3):
            spec["ephemeral"] = self.pick.choice(["True", "no", "null", "'x'", "1"])
        if self.chance(0.6):
            spec["config"] = self.config()
        spec["main"] = self.role()
        if self.chance(0.7):
            spec["worker"] = self.role()
            if self.chance(0.3):
                spec["ps"] = self.role()
        if self.chance(0.15):
            certificate = {"caCert": {"id": "ca"}, "cert": {"id": "c"}}
            if self.chance(0.5):
                certificate["caCert"]["downloadLocation"] = self.quoted("ca.pem")
            if self.chance(0.5):
                certificate["cert"]["keyDownloadLocation"] = self.quoted("a b")
            if self.chance(0.2):
                certificate = {"caCert": {**certificate["caCert"], "cert": certificate["cert"]}}
            spec["certificate"] = certificate
        return self.shuffled(spec)

    def runtime(self):
        spec = {}
        if self.chance(0.9):
            spec["entryPoint"] = self.pick.choice(["train.py", '"a b.py"', "null", "/code/x.py"])
        if self.chance(0.6):
            spec["args"] = [self.any(1) for _ in range(self.pick.randrange(8))] if self.chance(0.8) else self.any(2)
        if self.chance(0.2):
            spec["kwargs"] = self.any()
        if self.chance(0.4):
            spec["env"] = self.env()
        for key in ("uri", "branch", "commit", "gitSecretId", "codeDir", "pythonPath"):
            if self.chance(0.2):
                spec[key] = self.scalar()
        return self.shuffled(spec)

    def document(self):
        runtime = {"kind": "python", "apiVersion": "v1.0", "spec": self.runtime()}
        if self.chance(0.3):
            runtime["type"] = self.pick.choice(["git", "remote", "other"])
        infrastructure = {"kind": "infrastructure", "type": "dataScienceJob", "spec": self.infrastructure()}
        if self.chance(0.1):
            infrastructure["displayName"] = self.scalar()
        cluster = {"kind": self.pick.choice(["pytorch", "PyTorch", "dask", "horovod", "tensorflow", "ray", "mine"]),
                   "spec": self.cluster()}
        spec = self.shuffled({"infrastructure": infrastructure, "cluster": cluster, "runtime": runtime})
        return {"kind": "distributed", "apiVersion": "v1.0", "spec": spec}

    # --- the text -----------------------------------------------------------------------------
    def text(self, node):
        self.known = []
        return self.block(node, 0, True).lstrip("\n")

    def comment(self):
        return self.pick.choice(["  # why", " #"]) if self.chance(0.03) else ""

    def anchored(self, node, inner):
        """Names the node, so that a later one of its kind may stand for it."""
        if isinstance(node, (dict, list)) and node and self.chance(0.15):
            self.anchors += 1
            name = f"a{self.anchors}"
            self.known.append((name, type(node), node))
            return f" &{name}" + inner
        return inner

    def alias(self, node):
        """Another name for what was there before."""
        if self.chance(0.1):
            same = [name for name, kind, known in self.known if known == node]
            if same:
                return f" *{self.pick.choice(same)}"
        return None

    def merge(self, node, indent):
        """A merge key with some of its members before the map's own."""
        maps = [name for name, kind, known in self.known if kind is dict and set(known) & set(node)]
        if not maps or not self.chance(0.5):
            return ""
        names = self.pick.sample(maps, min(len(maps), self.pick.choice([1, 1, 2])))
        joined = f"*{names[0]}" if len(names) == 1 else "[" + ", ".join(f"*{name}" for name in names) + "]"
        return "\n" + " " * indent + f"<<: {joined}"

    def block(self, node, indent, is_root=False):
        """What follows `key:` or `-`."""
        if isinstance(node, (dict, list)):
            again = self.alias(node)
            if again:
                return again
            if not node or (not is_root and indent > 6 and self.chance(0.1) and not self.has_block_text(node)):
                return " " + self.flow(node)
            if isinstance(node, dict):
                inner = self.merge(node, indent)
                for key, value in node.items():
                    inner += "\n" + " " * indent + f"{key}:" + self.block(value, indent + self.pick.choice([1, 2, 2, 2, 4]))
            else:
                inner = "".join("\n" + " " * indent + "-" + self.block(value, indent + 2) for value in node)
            return inner if is_root else self.anchored(node, inner)
        if isinstance(node, tuple):
            _, header, text = node
            lines = text.split("\n")
            return f" {header}\n" + "\n".join(" " * (indent + 2) + line if line else "" for line in lines)
        return " " + node + self.comment()

    def has_block_text(self, node):
        if isinstance(node, tuple):
            return True
        children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
        return any(self.has_block_text(child) for child in children)

    def flow(self, node):
        if isinstance(node, dict):
            return "{" + ", ".join(f"{key}: {self.flow(value)}" for key, value in node.items()) + "}"
        if isinstance(node, list):
            return "[" + ", ".join(self.flow(value) for value in node) + "]"
        return node


def train_file(seed):
    """A text that PyYAML reads as a map with `kind: distributed`."""
    for attempt in range(1000):
        writer = Writer(f"{seed}/{attempt}")
        text = writer.text(writer.document()) + "\n"
        try:
            read = yaml.safe_load(text)
        except (yaml.YAMLError, ValueError):
            continue
        if isinstance(read, dict) and read.get("kind") == "distributed":
            return text
    raise AssertionError(f"no file of seed {seed}")
