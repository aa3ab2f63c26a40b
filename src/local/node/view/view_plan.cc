#include "local/node/view/view_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "base/strings.h"

namespace local::node {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel

// A place in the view.
struct Node {
  enum class Kind {
    kHost,       // shows the host's `source` unchanged
    kSynthetic,  // a directory of ours that contains the entries of `source`, if that is not ""
    kFile,       // an empty file of ours, over which something is bound
    kLink,       // a link to `source`
    kOwn,        // a directory made inside the pod's own directory or a volume
    kMemory,     // a requested tmpfs
  };
  Kind kind = Kind::kHost;
  std::string source;
  HostKind host_kind = HostKind::kDirectory;  // of `source`, when kHost
  bool read_only = false;
  bool is_mount = false;     // requested; otherwise an entry of the host
  bool is_in_mount = false;  // lies in a requested mount
  bool is_mirrored = false;  // kSynthetic: the children include the entries of `source`
  int64_t memory = 0;        // kMemory: bytes
  std::map<std::string, std::unique_ptr<Node>> children;
};

std::string Join(const std::string& parent, std::string_view name) {
  return (parent == "/" ? "/" : parent + "/") + std::string(name);
}

bool IsInside(const std::string& path, const std::string& directory) {
  return path == directory || path.starts_with(directory + "/");
}

base::Error Refuse(const std::string& target, std::string_view why) {
  return {base::Code::kInvalidArgument, fmt::format("mount {}: {}", target, why), 0};
}

class Planner {
 public:
  Planner(const std::string& own_directory, const HostTree& host)
      : own_directory_(own_directory), host_(host) {
    root_.kind = Node::Kind::kSynthetic;
    root_.source = "/";
  }

  base::Status Add(const Mount& mount) {
    const HostKind kind = mount.memory ? HostKind::kDirectory : host_.Kind(mount.source);
    if (kind == HostKind::kAbsent || kind == HostKind::kForbidden) {
      return base::Fail(Refuse(
          mount.target, fmt::format("{} does not exist or is not accessible", mount.source)));
    }
    TRY_ASSIGN(Node* const node, Walk(mount.target, kind == HostKind::kDirectory));
    if (node == &root_) return base::Fail(Refuse(mount.target, "cannot be a mount point"));
    const bool is_directory = node->kind == Node::Kind::kHost
                                  ? node->host_kind == HostKind::kDirectory
                                  : node->kind != Node::Kind::kFile;
    if (is_directory != (kind == HostKind::kDirectory)) {
      return base::Fail(Refuse(
          mount.target, is_directory ? mount.source + " is a file, but this is a directory"
                                     : mount.source + " is a directory, but this is a file"));
    }
    // The mount hides what lies below; the place itself is unchanged.
    auto bound = std::make_unique<Node>();
    bound->source = mount.source;
    bound->host_kind = kind;
    bound->read_only = mount.read_only;
    bound->is_mount = true;
    bound->is_in_mount = true;
    if (mount.memory) {
      bound->kind = Node::Kind::kMemory;
      bound->source.clear();
      bound->memory = *mount.memory;
    }
    node->children.clear();
    node->children[""] = std::move(bound);
    return {};
  }

  base::Status AddDirectory(const std::string& path) {
    TRY_ASSIGN(Node* const node, Walk(path, true));
    const bool is_covered = &Top(*node) != node;
    if (!is_covered && node->kind == Node::Kind::kHost && !host_.CanSearch(node->source)) {
      return MakeSynthetic(*node, path);
    }
    return {};
  }

  base::Result<std::vector<ViewStep>> Plan() {
    TRY(Mirror(root_, "/"));
    EmitChildren(root_, "");
    return std::move(steps_);
  }

 private:
  // The place at `path`, following links; created if the host lacks it.
  base::Result<Node*> Walk(const std::string& path, bool wants_directory) {
    std::deque<std::string> rest;
    for (std::string& part : base::Split(path, '/')) rest.push_back(std::move(part));
    std::vector<std::pair<std::string, Node*>> trail{{"", &root_}};
    int links = 0;
    while (!rest.empty()) {
      const std::string name = std::move(rest.front());
      rest.pop_front();
      if (name.empty() || name == ".") continue;
      if (name == "..") {
        if (trail.size() > 1) trail.pop_back();
        continue;
      }
      const bool is_last =
          std::all_of(rest.begin(), rest.end(), [](const auto& part) { return part.empty(); });
      TRY_ASSIGN(Node* const child,
                 Step(*trail.back().second, trail.back().first, name, wants_directory || !is_last));
      if (child->kind != Node::Kind::kLink) {
        trail.emplace_back(trail.back().first + "/" + name, child);
        continue;
      }
      if (++links > kMaxLinks) return base::Fail(Refuse(path, "too many symbolic links"));
      if (child->source.starts_with('/')) trail.resize(1);
      std::vector<std::string> target = base::Split(child->source, '/');
      rest.insert(rest.begin(), target.begin(), target.end());
    }
    return trail.back().second;
  }

  // The entry `name` of `parent`, whose path is `path`; created if it does not exist.
  base::Result<Node*> Step(Node& parent, const std::string& path, const std::string& name,
                           bool wants_directory) {
    Node& directory = Top(parent);
    if (const auto found = directory.children.find(name); found != directory.children.end()) {
      return found->second.get();
    }
    const bool is_shown = !directory.source.empty() && (directory.kind == Node::Kind::kHost ||
                                                        directory.kind == Node::Kind::kSynthetic);
    if (directory.kind == Node::Kind::kFile ||
        (directory.kind == Node::Kind::kHost && directory.host_kind != HostKind::kDirectory)) {
      return base::Fail(Refuse(path + "/" + name, path + " is not a directory"));
    }
    auto child = std::make_unique<Node>();
    if (is_shown && host_.CanSearch(directory.source)) {
      child->source = Join(directory.source, name);
      child->host_kind = host_.Kind(child->source);
      child->read_only = directory.read_only;
      child->is_in_mount = directory.is_in_mount;
      if (child->host_kind == HostKind::kSymlink) {
        child->kind = Node::Kind::kLink;
        child->source = host_.LinkTarget(child->source);
      }
      if (child->host_kind != HostKind::kAbsent && child->host_kind != HostKind::kForbidden) {
        return (directory.children[name] = std::move(child)).get();
      }
    }
    // Also in a volume, as container runtimes do: in a mirror of the volume, the pod's writes would
    // be lost.
    const bool is_own = directory.kind == Node::Kind::kOwn ||
                        (directory.kind == Node::Kind::kHost && !directory.read_only &&
                         (directory.is_in_mount || IsInside(directory.source, own_directory_)));
    if (directory.kind == Node::Kind::kHost && !is_own) TRY(MakeSynthetic(directory, path));
    child->source.clear();
    child->kind = !wants_directory ? Node::Kind::kFile
                  : is_own         ? Node::Kind::kOwn
                                   : Node::Kind::kSynthetic;
    return (directory.children[name] = std::move(child)).get();
  }

  // The topmost mount on a place, or the place itself.
  static Node& Top(Node& node) {
    const auto mount = node.children.find("");
    return mount == node.children.end() ? node : *mount->second;
  }

  base::Status MakeSynthetic(Node& node, const std::string& path) {
    node.kind = Node::Kind::kSynthetic;
    return Mirror(node, path);
  }

  // Gives a synthetic directory the entries of its source.
  base::Status Mirror(Node& node, const std::string& path) {
    if (node.is_mirrored) return {};
    node.is_mirrored = true;
    if (!host_.CanSearch(node.source)) return {};
    const std::vector<HostEntry> entries = host_.List(node.source);
    if (entries.size() > kMaxSyntheticEntries) {
      return base::Fail(
          Refuse(path, fmt::format("{} has {} entries, too many to show beside a mount that is "
                                   "missing there; create the mount's directory on this machine",
                                   node.source, entries.size())));
    }
    for (const HostEntry& entry : entries) {
      if (node.children.contains(entry.name)) continue;
      auto child = std::make_unique<Node>();
      child->source = Join(node.source, entry.name);
      child->host_kind = entry.kind;
      child->read_only = node.read_only;
      if (entry.kind == HostKind::kSymlink) {
        child->kind = Node::Kind::kLink;
        child->source = entry.link_target;
      }
      node.children[entry.name] = std::move(child);
    }
    return {};
  }

  // Whether it is a tmpfs of the view, empty at first.
  static bool IsFresh(const Node& node) {
    return node.kind == Node::Kind::kSynthetic || node.kind == Node::Kind::kMemory;
  }

  void EmitChildren(const Node& parent, const std::string& path) {
    for (const auto& [name, child] : parent.children) {
      if (!name.empty()) Emit(*child, path + "/" + name, IsFresh(parent));
    }
  }

  // `is_fresh`: the parent is a tmpfs directory, in which the place has to be created first.
  void Emit(const Node& node, const std::string& path, bool is_fresh) {
    const auto mount = node.children.find("");
    const bool is_covered = mount != node.children.end();
    const bool is_directory = node.kind == Node::Kind::kHost
                                  ? node.host_kind == HostKind::kDirectory
                                  : node.kind != Node::Kind::kFile;
    if (node.kind == Node::Kind::kLink) {
      if (is_fresh) Put(ViewStep::Kind::kSymlink, path, node.source, false, true);
      return;
    }
    if (is_fresh || node.kind == Node::Kind::kOwn || node.kind == Node::Kind::kFile) {
      Put(is_directory ? ViewStep::Kind::kDirectory : ViewStep::Kind::kFile, path, "", false,
          node.kind == Node::Kind::kHost && !is_covered);
    } else if (node.kind == Node::Kind::kSynthetic && !is_covered) {
      Put(ViewStep::Kind::kTmpfs, path, "", false, false);
    }
    if (is_covered) return EmitMount(*mount->second, path);
    if (is_fresh && node.kind == Node::Kind::kHost) {
      Put(ViewStep::Kind::kBind, path, node.source, node.read_only, true);
    }
    EmitChildren(node, path);
  }

  void EmitMount(const Node& mount, const std::string& path) {
    if (mount.kind == Node::Kind::kSynthetic) {
      Put(ViewStep::Kind::kTmpfs, path, "", false, false);
    } else if (mount.kind == Node::Kind::kMemory) {
      Put(ViewStep::Kind::kMemory, path, "", false, false);
      steps_.back().memory = mount.memory;
    } else {
      Put(ViewStep::Kind::kBind, path, mount.source, mount.read_only, false);
    }
    EmitChildren(mount, path);
  }

  void Put(ViewStep::Kind kind, const std::string& target, const std::string& source,
           bool read_only, bool is_optional) {
    steps_.push_back({kind, target, source, read_only, is_optional});
  }

  const std::string& own_directory_;
  const HostTree& host_;
  Node root_;
  std::vector<ViewStep> steps_;
};

size_t Depth(const std::string& path) {
  const std::vector<std::string> parts = base::Split(path, '/');
  return static_cast<size_t>(
      std::count_if(parts.begin(), parts.end(), [](const auto& part) { return !part.empty(); }));
}

}  // namespace

base::Result<std::vector<ViewStep>> PlanView(const std::vector<Mount>& mounts,
                                             const std::vector<std::string>& directories,
                                             const std::string& own_directory,
                                             const HostTree& host) {
  Planner planner(own_directory, host);
  std::vector<Mount> ordered = mounts;
  // Outer mounts first, so that inner ones are placed inside of them.
  std::stable_sort(ordered.begin(), ordered.end(), [](const Mount& a, const Mount& b) {
    return Depth(a.target) < Depth(b.target);
  });
  for (const Mount& mount : ordered) TRY(planner.Add(mount));
  for (const std::string& directory : directories) TRY(planner.AddDirectory(directory));
  return planner.Plan();
}

}  // namespace local::node
