#include "arena/objects/diff_program.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/file.h"
#include "base/strings.h"
#include "process/spawn.h"

namespace arena {
namespace {

bool IsPassedOn(std::string_view argument) {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-=";
  return !argument.empty() && argument.find_first_not_of(kAllowed) == std::string_view::npos;
}

base::Result<std::string> MakeFolder(const base::Environment& environment, const char* prefix) {
  std::string path = fmt::format("{}/{}XXXXXX", environment.GetOr("TMPDIR", "/tmp"), prefix);
  if (::mkdtemp(path.data()) == nullptr) {
    return base::Fail(base::Errno(errno, fmt::format("make a folder like \"{}\"", path)));
  }
  return path;
}

}  // namespace

std::vector<std::string> DiffCommand(const base::Environment& environment, const std::string& live,
                                     const std::string& merged) {
  const auto external = environment.Get("KUBECTL_EXTERNAL_DIFF");
  if (!external) return {"diff", "-u", "-N", live, merged};
  const std::vector<std::string> words = base::Split(*external, ' ');
  std::vector<std::string> argv = {words.front(), live, merged};
  std::copy_if(words.begin() + 1, words.end(), std::back_inserter(argv), IsPassedOn);
  return argv;
}

base::Result<DiffFolders> DiffFolders::Make(const base::Environment& environment) {
  DiffFolders folders;
  TRY_ASSIGN(folders.live_, MakeFolder(environment, "LIVE-"));
  TRY_ASSIGN(folders.merged_, MakeFolder(environment, "MERGED-"));
  return folders;
}

DiffFolders::DiffFolders(DiffFolders&& other) noexcept
    : live_(std::exchange(other.live_, "")), merged_(std::exchange(other.merged_, "")) {}

DiffFolders::~DiffFolders() {
  for (const std::string& folder : {live_, merged_}) {
    if (!folder.empty()) (void)base::RemoveTree(folder);
  }
}

base::Status DiffFolders::Add(const std::string& name, std::string_view live,
                              std::string_view merged) const {
  for (const auto& [folder, text] : {std::pair(&live_, live), std::pair(&merged_, merged)}) {
    TRY(base::WriteFileAtomic(*folder + "/" + name, text, 0600, base::Durability::kNone));
  }
  return {};
}

base::Result<bool> DiffFolders::Show(const base::Environment& environment) const {
  process::SpawnOptions options;
  options.argv = DiffCommand(environment, live_, merged_);
  const auto failed = [&](const std::string& reason) {
    return base::Fail(base::Code::kInternal,
                      fmt::format("failed to run \"{}\": {}", options.argv.front(), reason));
  };
  auto path =
      process::FindProgram(options.argv.front(), environment.GetOr("PATH", "/usr/bin:/bin"));
  if (!path) return failed(path.error().message);
  options.path = std::move(*path);
  options.env = environment.AsList();
  options.fds = {{0, 0}, {1, 1}, {2, 2}};
  const auto pid = process::Spawn(options);
  if (!pid) return failed(pid.error().message);
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return failed(fmt::format("signal {}", WTERMSIG(status)));
  const int code = WEXITSTATUS(status);
  if (code > 1) return failed(fmt::format("exit status {}", code));
  return code == 1;
}

}  // namespace arena
