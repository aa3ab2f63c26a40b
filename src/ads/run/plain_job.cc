#include "ads/run/plain_job.h"

#include <fmt/format.h>

#include <string_view>

#include "base/strings.h"

namespace ads {
namespace {

const PyValue* Below(const PyValue& value, std::initializer_list<std::string_view> keys) {
  const PyValue* at = &value;
  for (const std::string_view key : keys) {
    at = at->Find(key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string TextAt(const PyValue& spec, std::string_view key, const std::string& otherwise) {
  const PyValue* const value = spec.Find(key);
  return value != nullptr && value->is_string() && !value->text.empty() ? value->text : otherwise;
}

// "main: {replicas: 1}, worker: {replicas: 3}" for the total number that the runtime needs.
std::string Nodes(const PyValue& spec) {
  const PyValue* const replicas = spec.Find("replicas");
  const int64_t count = replicas == nullptr ? 1 : base::ParseInt(PyStr(*replicas)).value_or(1);
  return count > 1 ? fmt::format("main: {{replicas: 1}}, worker: {{replicas: {}}}", count - 1)
                   : "main: {replicas: 1}";
}

std::string Advice(const std::string& type, const PyValue& spec) {
  if (type == "pyTorchDistributed") {
    const std::string command =
        TextAt(spec, "command", TextAt(spec, "scriptPathURI", "torchrun train.py"));
    return fmt::format(
        "write \"kind: distributed\" with spec.cluster: {{kind: pytorch, spec: {{image: one with "
        "PyTorch and the code (`opctl distributed-training init -f pytorch`), workDir: "
        "oci://bucket@namespace/prefix, {}}}}} and the script and its arguments of `{}` as "
        "spec.runtime.spec.entryPoint and args",
        Nodes(spec), command);
  }
  if (type == "container") {
    return fmt::format(
        "write \"kind: distributed\" with spec.cluster: {{kind: pytorch, spec: {{image: {}, "
        "workDir: "
        "oci://bucket@namespace/prefix, {}}}}} and the program as spec.runtime.spec.entryPoint",
        TextAt(spec, "image", "REGISTRY/NAME:TAG"), Nodes(spec));
  }
  return fmt::format(
      "its conda environment is the service's; write \"kind: distributed\" with the code in an "
      "image (`opctl distributed-training init -f pytorch`) and spec.runtime.spec.entryPoint: {}",
      TextAt(spec, "entrypoint", TextAt(spec, "scriptPathURI", "train.py")));
}

}  // namespace

std::string PlainJobAdvice(const PyValue& document, const std::string& path) {
  const PyValue none;
  const PyValue* const runtime = Below(document, {"spec", "runtime"});
  const PyValue* const type = runtime == nullptr ? nullptr : runtime->Find("type");
  const PyValue* const spec = runtime == nullptr ? nullptr : runtime->Find("spec");
  const std::string name = type == nullptr || type->is_none() ? "" : PyStr(*type);
  const PyValue* const at = type != nullptr ? type : document.Find("kind");
  std::string advice = fmt::format(
      "NotImplementedError: {} line {}: kind job{} is not run here: {}; --dry-run prints it", path,
      at == nullptr ? 1 : at->line, name.empty() ? "" : fmt::format(" of type {}", name),
      Advice(name, spec == nullptr ? none : *spec));
  for (char& c : advice) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return advice;
}

}  // namespace ads
