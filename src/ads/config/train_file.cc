#include "ads/config/train_file.h"

#include <fmt/format.h>

#include "ads/config/job_spec.h"
#include "ads/yaml/ordered_env.h"
#include "ads/yaml/yaml.h"
#include "base/file.h"
#include "cli/pipe_advice.h"
#include "net/socket/url.h"

namespace ads {
namespace {

constexpr size_t kMaxTrainBytes = 4 << 20;
constexpr std::chrono::minutes kFetchTimeout{1};

base::Result<std::string> FromStorage(const std::string& uri, const Context& context,
                                      const LoginFlags& login) {
  const size_t slash = uri.rfind('/');
  if (!context.oci || slash <= std::string_view("oci://").size()) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("\"{}\" is not oci://bucket@namespace/object", uri));
  }
  const auto services = context.oci(login);
  TRY_ASSIGN(const auto storage, services->OpenStorage(uri.substr(0, slash)));
  return storage->Get(uri.substr(slash + 1));
}

base::Result<std::string> FromFile(const std::string& path, const Context& context) {
  std::string file = path == "-" ? "/dev/stdin" : ExpandHome(path, context.environment);
  if (file.starts_with("file://")) file = file.substr(std::string_view("file://").size());
  auto text = base::ReadFile(file, kMaxTrainBytes);
  if (text || text.error().code != base::Code::kNotFound) return text;
  return base::Fail(base::Code::kNotFound,
                    fmt::format("FileNotFoundError: No such file: '{}'", path));
}

}  // namespace

std::string ShownTrainFile(const std::string& path) {
  return net::IsWebUrl(path) ? net::ShownUrl(path) : path;
}

base::Result<PyValue> ReadTrainFile(const std::string& path, const Context& context,
                                    const LoginFlags& login) {
  const bool is_url = net::IsWebUrl(path) && context.fetch_url;
  TRY_ASSIGN(const std::string text,
             IsOciUri(path) ? FromStorage(path, context, login)
             : is_url ? cli::WithPipeAdvice(context.fetch_url(path, kMaxTrainBytes, kFetchTimeout))
                      : FromFile(path, context));
  auto document = ReadPyYaml(text);
  if (!document) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("{} {}", ShownTrainFile(path), document.error().message));
  }
  OrderedEnv env;
  for (const auto& [name, value] : context.environment.values()) env.Set(name, value);
  for (PyValue::Member& member : document->members) {
    if (!member.value.is_string()) continue;
    member.value.text = SubstituteName(member.value.text, env, {});
  }
  return document;
}

std::string KindOf(const PyValue& document) {
  const PyValue* kind = document.Find("kind");
  return kind == nullptr || kind->is_none() ? "" : PyStr(*kind);
}

}  // namespace ads
