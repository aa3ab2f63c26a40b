// `secret`: values that jobs get by `run --secret` and `submit --env-from-secret`.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>

#include "api/names.h"
#include "api/object.h"
#include "arena/app/complete_names.h"
#include "arena/submit/job/files.h"
#include "arena/submit/job/refusal.h"
#include "arena/verbs.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/table.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr size_t kMaxSecretBytes = 1 << 20;

struct SecretFlags {
  std::vector<std::string> env_files;
  bool replaces = false;
};

constexpr const char* kEmpty = "it would be empty: give KEY=-, KEY=@FILE or --env-file";

base::Status SecretMisuse(std::string message) {
  return Fail(Code::kInvalidArgument, std::move(message));
}

base::Result<std::string> ReadInput() {
  std::string text;
  char buffer[64 << 10];
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Fail(base::Errno(errno, "read standard input"));
    if (count == 0) break;
    text.append(buffer, static_cast<size_t>(count));
    if (text.size() > kMaxSecretBytes) {
      return Fail(Code::kInvalidArgument, "standard input is larger than a Secret may be (1 MiB)");
    }
  }
  return text;
}

// Removes the newline that `echo` or an editor appends to a value of one line.
std::string WithoutNewline(std::string text) {
  if (!text.empty() && text.find('\n') == text.size() - 1) text.pop_back();
  return text;
}

base::Status CheckEntries(const std::vector<std::string>& entries) {
  size_t inputs = 0;
  for (const std::string& entry : entries) {
    const size_t equals = entry.find('=');
    const std::string key = entry.substr(0, equals);
    if (equals == std::string::npos || !api::IsVariableName(key)) {
      return SecretMisuse(
          fmt::format("\"{}\" is invalid: write KEY=- (from standard input) or KEY=@FILE", key));
    }
    const std::string value = entry.substr(equals + 1);
    if (value == "-") ++inputs;
    if (value == "-" || value.starts_with('@')) continue;
    return SecretMisuse(fmt::format(
        "{0}: values on the command line are seen by others and kept by shells: write {0}=- and "
        "pass it on standard input, or {0}=@FILE",
        key));
  }
  if (inputs > 1) return SecretMisuse("only one KEY can be read from standard input");
  return {};
}

using SecretValues = std::map<std::string, std::string>;

base::Result<SecretValues> ReadValues(const std::vector<std::string>& entries,
                                      const SecretFlags& flags,
                                      const base::Environment& environment) {
  SecretValues values;
  std::vector<std::string> warnings;
  for (const std::string& file : flags.env_files) {
    TRY_ASSIGN(const std::string text, ReadSecretFile("--env-file", file, environment, warnings));
    auto pairs = ParseEnvFile(text, environment);
    if (!pairs) return Fail(pairs.error().Wrap("--env-file " + file));
    for (const std::string& pair : *pairs) {
      const size_t equals = pair.find('=');
      values[pair.substr(0, equals)] = pair.substr(equals + 1);
    }
  }
  for (const std::string& entry : entries) {
    const size_t equals = entry.find('=');
    const std::string key = entry.substr(0, equals);
    const std::string from = entry.substr(equals + 1);
    auto text =
        from == "-" ? ReadInput() : ReadSecretFile(key, from.substr(1), environment, warnings);
    if (!text) return Fail(text.error());
    values[key] = WithoutNewline(std::move(*text));
  }
  for (const std::string& warning : warnings) base::LogWarn("{}", warning);
  if (values.empty()) return Fail(Code::kInvalidArgument, kEmpty);
  return values;
}

base::Status CheckMadeHere(cluster::Client& client, const Context& context,
                           const std::string& name) {
  TRY_ASSIGN(const text::Json secret, client.Get(api::kSecrets, context.Namespace(), name));
  if (!api::Label(secret, api::kSecretLabel).empty()) return {};
  return Fail(
      Code::kInvalidArgument,
      fmt::format("the secret {} was not created by `{} secret create`: it may be a job's, and "
                  "is deleted with it",
                  name, context.program));
}

base::Result<int> CreateSecret(Context& context, const SecretFlags& flags, cli::Invocation& call) {
  const std::string& name = call.args[0];
  TRY_ASSIGN(const SecretValues values,
             ReadValues({call.args.begin() + 1, call.args.end()}, flags, context.environment));
  text::Object data;
  for (const auto& [key, value] : values) data[key] = base::Base64Encode(value);
  // First: the cluster's context may name the namespace.
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  const text::Json secret = text::Object{
      {"apiVersion", "v1"},
      {"kind", "Secret"},
      {"type", "Opaque"},
      {"metadata", text::Object{{"name", name},
                                {"namespace", context.Namespace()},
                                {"labels", text::Object{{api::kSecretLabel, "true"}}}}},
      {"data", std::move(data)}};
  auto made = client->Create(api::kSecrets, context.Namespace(), secret);
  if (!made && made.error().code == Code::kAlreadyExists && flags.replaces) {
    TRY(CheckMadeHere(*client, context, name));
    made = client->Update(api::kSecrets, secret);
  }
  if (!made && made.error().code == Code::kAlreadyExists) {
    return Fail(Code::kAlreadyExists,
                fmt::format("the secret {0} exists: --replace puts these values in its place, `{1} "
                            "secret delete {0}` removes it",
                            name, context.program));
  }
  if (!made) return Fail(made.error());
  TRY(call.out.Write(fmt::format("secret/{} created ({} key{})\n", name, values.size(),
                                 values.size() == 1 ? "" : "s")));
  return 0;
}

base::Result<int> ListSecrets(Context& context, cli::Invocation& call) {
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  cluster::ListOptions options;
  options.namespace_name = context.Namespace();
  options.label_selector = api::kSecretLabel;
  TRY_ASSIGN(const cluster::ObjectList secrets, client->List(api::kSecrets, options));
  cli::Table table;
  table.Row({"NAME", "AGE", "KEYS"});
  for (const text::Json& secret : secrets.items) {
    std::string keys;
    if (const text::Json* const data = text::Find(secret, {"data"}); data && data->is_object()) {
      for (const auto& pair : data->as_object()) {
        keys += (keys.empty() ? "" : ", ") + std::string(pair.key());
      }
    }
    const base::Time created = api::CreationTime(secret).value_or(context.clock.Now());
    table.Row(
        {std::string(api::Name(secret)), base::ShortDuration(context.clock.Now() - created), keys});
  }
  TRY(call.out.Write(table.Render()));
  return 0;
}

base::Status DeleteSecret(cluster::Client& client, const Context& context,
                          const std::string& name) {
  TRY(CheckMadeHere(client, context, name));
  return client.Delete(api::kSecrets, context.Namespace(), name);
}

base::Result<int> DeleteSecrets(Context& context, cli::Invocation& call) {
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  int exit_code = 0;
  for (const std::string& name : call.args) {
    if (const base::Status deleted = DeleteSecret(*client, context, name); !deleted) {
      base::LogError("{}", deleted.error().message);
      exit_code = cli::kExitFailure;
      continue;
    }
    TRY(call.out.Write(fmt::format("secret/{} deleted\n", name)));
  }
  return exit_code;
}

}  // namespace

void AddSecret(cli::Command& root, Context& context) {
  cli::Command& verb = root.Add("secret", "Manage passwords and tokens for jobs");
  verb.Add("list", "List the secrets: their keys, never their values")
      .Aliases({"ls"})
      .Args(cli::NoArgs())
      .Help("arena/objects/secret_list", context.program)
      .Run([&context](cli::Invocation& call) { return ListSecrets(context, call); });
  cli::Command& create = verb.Add("create NAME [KEY=-|KEY=@FILE...]", "Keep values under a name")
                             .Args(cli::MinArgs(1))
                             .Help("arena/objects/secret", context.program);
  auto flags = std::make_shared<SecretFlags>();
  create.flags().StringArray(&flags->env_files, "env-file",
                             "`FILE` of NAME=VALUE lines, in docker's format; repeatable");
  create.flags().Bool(&flags->replaces, "replace", false, "replace an existing secret");
  create.Check([flags](cli::Invocation& call) -> base::Status {
    if (!api::IsObjectName(call.args[0])) {
      return SecretMisuse(fmt::format(
          "the name \"{}\" is invalid: use lower case letters, digits, '-' and '.'", call.args[0]));
    }
    if (call.args.size() == 1 && flags->env_files.empty()) return SecretMisuse(kEmpty);
    return CheckEntries({call.args.begin() + 1, call.args.end()});
  });
  create.Run(
      [&context, flags](cli::Invocation& call) { return CreateSecret(context, *flags, call); });
  verb.Add("delete NAME [NAME...]", "Remove secrets")
      .Aliases({"del"})
      .Args(cli::MinArgs(1))
      .Help("arena/objects/secret_delete", context.program)
      .CompleteArgs(
          [&context](cli::Invocation&, std::string_view) { return CompleteSecretNames(context); })
      .Run([&context](cli::Invocation& call) { return DeleteSecrets(context, call); });
}

}  // namespace arena
