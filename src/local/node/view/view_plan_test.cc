#include "local/node/view/view_plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/strings.h"

namespace local::node {
namespace {

// A modelled machine: paths, their kinds, and directories whose entries the user cannot see.
class FakeHost final : public HostTree {
 public:
  FakeHost() { Directory("/"); }
  FakeHost& Directory(const std::string& path) { return Put(path, HostKind::kDirectory, ""); }
  FakeHost& File(const std::string& path) { return Put(path, HostKind::kFile, ""); }
  FakeHost& Link(const std::string& path, const std::string& target) {
    return Put(path, HostKind::kSymlink, target);
  }
  FakeHost& Closed(const std::string& path) {
    closed_.insert(path);
    return Directory(path);
  }

  HostKind Kind(const std::string& path) const override {
    for (const std::string& closed : closed_) {
      if (path.starts_with(closed + "/")) return HostKind::kForbidden;
    }
    const auto found = entries_.find(path);
    return found == entries_.end() ? HostKind::kAbsent : found->second.first;
  }
  std::string LinkTarget(const std::string& path) const override {
    return entries_.at(path).second;
  }
  bool CanSearch(const std::string& path) const override { return !closed_.contains(path); }
  std::vector<HostEntry> List(const std::string& path) const override {
    std::vector<HostEntry> listed;
    const std::string prefix = path == "/" ? "/" : path + "/";
    for (const auto& [name, entry] : entries_) {
      if (!name.starts_with(prefix) || name == path) continue;
      const std::string rest = name.substr(prefix.size());
      if (rest.find('/') == std::string::npos) listed.push_back({rest, entry.first, entry.second});
    }
    return listed;
  }

 private:
  FakeHost& Put(const std::string& path, HostKind kind, const std::string& target) {
    entries_[path] = {kind, target};
    return *this;
  }
  std::map<std::string, std::pair<HostKind, std::string>> entries_;
  std::set<std::string> closed_;
};

// "bind /usr on /usr", one step per line, without top-level entries that are bound unchanged.
std::string Show(const base::Result<std::vector<ViewStep>>& plan, bool is_whole = false) {
  if (!plan) return plan.error().message;
  std::string text;
  for (const ViewStep& step : *plan) {
    const bool is_top = base::Split(step.target, '/').size() == 2 && step.is_optional;
    if (is_top && !is_whole) continue;
    switch (step.kind) {
      case ViewStep::Kind::kTmpfs:
        text += "tmpfs " + step.target;
        break;
      case ViewStep::Kind::kDirectory:
        text += "mkdir " + step.target;
        break;
      case ViewStep::Kind::kFile:
        text += "touch " + step.target;
        break;
      case ViewStep::Kind::kSymlink:
        text += fmt::format("link {} -> {}", step.target, step.source);
        break;
      case ViewStep::Kind::kMemory:
        text += fmt::format("memory {} on {}", step.memory, step.target);
        break;
      case ViewStep::Kind::kBind:
        text += fmt::format("bind {} on {}", step.source, step.target);
        break;
    }
    if (step.read_only) text += " ro";
    if (step.is_optional) text += " optional";
    text += '\n';
  }
  return text;
}

FakeHost Machine() {
  FakeHost host;
  host.Directory("/usr").Link("/bin", "usr/bin").Directory("/etc").File("/etc/hosts");
  host.Directory("/var").Directory("/var/lib").Directory("/data");
  host.Directory("/pods").Directory("/pods/1").Directory("/pods/1/code").File("/pods/1/hosts");
  return host;
}

TEST(ViewPlan, ShowsTheTopLevelOfTheMachine) {
  FakeHost host;
  host.Directory("/usr").Link("/bin", "usr/bin").File("/vmlinuz");
  EXPECT_EQ(Show(PlanView({}, {}, "/pods/1", host), true),
            "link /bin -> usr/bin optional\n"
            "mkdir /usr optional\n"
            "bind /usr on /usr optional\n"
            "touch /vmlinuz optional\n"
            "bind /vmlinuz on /vmlinuz optional\n");
}

TEST(ViewPlan, BindsOverWhatExists) {
  const FakeHost host = Machine();
  EXPECT_EQ(Show(PlanView({{"/pods/1/hosts", "/etc/hosts"}, {"/data", "/var/lib", true}}, {},
                          "/pods/1", host)),
            "bind /pods/1/hosts on /etc/hosts\n"
            "bind /data on /var/lib ro\n");
}

TEST(ViewPlan, MountsMemoryAndWhatLiesInIt) {
  FakeHost host = Machine();
  host.Directory("/dev").Directory("/dev/shm");
  EXPECT_EQ(Show(PlanView({{"dshm", "/dev/shm", false, 4096}, {"/data", "/dev/shm/data"}}, {},
                          "/pods/1", host)),
            "memory 4096 on /dev/shm\nmkdir /dev/shm/data\nbind /data on /dev/shm/data\n");
  EXPECT_EQ(Show(PlanView({{"ram", "/ram/disk", false, 0}}, {}, "/pods/1", host)),
            "mkdir /ram\nmkdir /ram/disk\nmemory 0 on /ram/disk\n");
}

TEST(ViewPlan, MakesAMissingTopLevelMountPoint) {
  EXPECT_EQ(Show(PlanView({{"/data", "/mnist_data"}}, {}, "/pods/1", Machine())),
            "mkdir /mnist_data\nbind /data on /mnist_data\n");
  EXPECT_EQ(Show(PlanView({{"/data", "/a/b/c"}}, {}, "/pods/1", Machine())),
            "mkdir /a\nmkdir /a/b\nmkdir /a/b/c\nbind /data on /a/b/c\n");
}

TEST(ViewPlan, MirrorsTheHomeThatLacksTheMountPoint) {
  FakeHost host = Machine();
  host.Directory("/root").Directory("/root/.venv").File("/root/.bashrc").Link("/root/x", "/data");
  EXPECT_EQ(Show(PlanView({{"/pods/1/code", "/root/code"}}, {"/root"}, "/pods/1", host)),
            "mkdir /root\n"
            "touch /root/.bashrc optional\n"
            "bind /root/.bashrc on /root/.bashrc optional\n"
            "mkdir /root/.venv optional\n"
            "bind /root/.venv on /root/.venv optional\n"
            "mkdir /root/code\n"
            "bind /pods/1/code on /root/code\n"
            "link /root/x -> /data optional\n");
}

TEST(ViewPlan, AHomeThatTheUserCannotReadIsEmpty) {
  FakeHost host = Machine();
  host.Closed("/root").Directory("/root/.ssh");
  EXPECT_EQ(Show(PlanView({{"/pods/1/code", "/root/code"}}, {"/root"}, "/pods/1", host)),
            "mkdir /root\nmkdir /root/code\nbind /pods/1/code on /root/code\n");
  EXPECT_EQ(Show(PlanView({}, {"/root"}, "/pods/1", host)), "mkdir /root\n");
}

TEST(ViewPlan, MirrorsDeeperDirectoriesInATmpfsOfTheirOwn) {
  FakeHost host = Machine();
  host.Directory("/home").Directory("/home/ann").Directory("/home/ann/work");
  host.File("/home/ann/work/train.py");
  EXPECT_EQ(Show(PlanView({{"/pods/1/code", "/home/ann/work/code"}}, {"/home/ann/work"}, "/pods/1",
                          host)),
            "tmpfs /home/ann/work\n"
            "mkdir /home/ann/work/code\n"
            "bind /pods/1/code on /home/ann/work/code\n"
            "touch /home/ann/work/train.py optional\n"
            "bind /home/ann/work/train.py on /home/ann/work/train.py optional\n");
}

TEST(ViewPlan, TwoMountsShareAMirroredDirectory) {
  FakeHost host = Machine();
  host.Directory("/root").Directory("/root/data");
  EXPECT_EQ(Show(PlanView({{"/pods/1/code", "/root/code"}, {"/data", "/root/data"}}, {}, "/pods/1",
                          host)),
            "mkdir /root\n"
            "mkdir /root/code\n"
            "bind /pods/1/code on /root/code\n"
            "mkdir /root/data\n"
            "bind /data on /root/data\n");
}

TEST(ViewPlan, FollowsLinksOfTheMachine) {
  FakeHost host = Machine();
  host.Directory("/srv").Directory("/srv/disk").Link("/datasets", "/srv/disk");
  host.Link("/srv/loop", "/srv/loop").Link("/srv/up", "../var/lib");
  EXPECT_EQ(Show(PlanView({{"/data", "/datasets"}}, {}, "/pods/1", host)),
            "bind /data on /srv/disk\n");
  EXPECT_EQ(Show(PlanView({{"/data", "/srv/up/x"}}, {}, "/pods/1", host)),
            "tmpfs /var/lib\nmkdir /var/lib/x\nbind /data on /var/lib/x\n");
  EXPECT_EQ(Show(PlanView({{"/data", "/srv/loop/x"}}, {}, "/pods/1", host)),
            "mount /srv/loop/x: too many symbolic links");
}

TEST(ViewPlan, PlacesAnInnerMountInWhatTheOuterOneShows) {
  FakeHost host = Machine();
  host.Directory("/data/sets").File("/data/readme");
  EXPECT_EQ(
      Show(PlanView({{"/data", "/w/code/data"}, {"/pods/1/code", "/w/code"}}, {}, "/pods/1", host)),
      "mkdir /w\nmkdir /w/code\nbind /pods/1/code on /w/code\n"
      "mkdir /w/code/data\nbind /data on /w/code/data\n");
  EXPECT_EQ(
      Show(PlanView({{"/data", "/w", true}, {"/pods/1/code", "/w/code"}}, {}, "/pods/1", host)),
      "mkdir /w\ntmpfs /w\nmkdir /w/code\nbind /pods/1/code on /w/code\n"
      "touch /w/readme optional\nbind /data/readme on /w/readme ro optional\n"
      "mkdir /w/sets optional\nbind /data/sets on /w/sets ro optional\n");
  // The pod's writes to /w must reach /data, so the place of the inner mount is created there.
  EXPECT_EQ(Show(PlanView({{"/data", "/w"}, {"/var", "/w/x"}, {"/var", "/w/sets/a/b"}}, {},
                          "/pods/1", host)),
            "mkdir /w\nbind /data on /w\nmkdir /w/sets/a\nmkdir /w/sets/a/b\n"
            "bind /var on /w/sets/a/b\nmkdir /w/x\nbind /var on /w/x\n");
  EXPECT_EQ(Show(PlanView({{"/data", "/w"}, {"/var", "/w/sets"}}, {}, "/pods/1", host)),
            "mkdir /w\nbind /data on /w\nbind /var on /w/sets\n");
}

TEST(ViewPlan, MakesAWorkingDirectoryThatIsMissing) {
  EXPECT_EQ(Show(PlanView({}, {"/workspace/run"}, "/pods/1", Machine())),
            "mkdir /workspace\nmkdir /workspace/run\n");
  EXPECT_EQ(Show(PlanView({}, {"/usr"}, "/pods/1", Machine())), "");
}

TEST(ViewPlan, MountsAFileWhereThereIsNone) {
  EXPECT_EQ(Show(PlanView({{"/pods/1/hosts", "/cfg/hosts"}}, {}, "/pods/1", Machine())),
            "mkdir /cfg\ntouch /cfg/hosts\nbind /pods/1/hosts on /cfg/hosts\n");
}

TEST(ViewPlan, RefusesWhatCannotBe) {
  const FakeHost host = Machine();
  EXPECT_EQ(Show(PlanView({{"/nowhere", "/x"}}, {}, "/pods/1", host)),
            "mount /x: /nowhere does not exist or is not accessible");
  EXPECT_EQ(Show(PlanView({{"/data", "/"}}, {}, "/pods/1", host)),
            "mount /: cannot be a mount point");
  EXPECT_EQ(Show(PlanView({{"/data", "/etc/hosts"}}, {}, "/pods/1", host)),
            "mount /etc/hosts: /data is a directory, but this is a file");
  EXPECT_EQ(Show(PlanView({{"/data", "/etc/hosts/x"}}, {}, "/pods/1", host)),
            "mount /etc/hosts/x: /etc/hosts is not a directory");
  EXPECT_EQ(Show(PlanView({{"/pods/1/hosts", "/data"}}, {}, "/pods/1", host)),
            "mount /data: /pods/1/hosts is a file, but this is a directory");
}

TEST(ViewPlan, RefusesToMirrorAHugeDirectory) {
  FakeHost host = Machine();
  for (size_t i = 0; i <= kMaxSyntheticEntries; ++i) host.File(fmt::format("/data/{}", i));
  EXPECT_EQ(Show(PlanView({{"/var", "/data/x"}}, {}, "/pods/1", host)),
            "mount /data: /data has 4097 entries, too many to show beside a mount that is missing "
            "there; create the mount's directory on this machine");
}

}  // namespace
}  // namespace local::node
