#include "answers/log/pods/described_pod.h"

#include <algorithm>
#include <utility>

#include "answers/rank_number.h"
#include "base/strings.h"
#include "text/lenient_json.h"

namespace answers {
namespace {

using KubectlText = std::vector<std::string_view>;

std::string_view WithoutMarks(std::string_view text) {
  text = base::Trim(text);
  if (text.ends_with(',')) text.remove_suffix(1);
  if (text.size() > 1 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0]) {
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

// "key: value" of YAML, also as the first one of an item, and of JSON.
struct YamlField {
  size_t indent = 0;
  std::string_view key, value;
};

std::optional<YamlField> ReadYamlField(std::string_view line) {
  const size_t indent = std::min(line.find_first_not_of(" \t-"), line.size());
  const size_t colon = line.find(':', indent);
  if (colon == std::string_view::npos) return std::nullopt;
  return YamlField{indent, WithoutMarks(line.substr(indent, colon - indent)),
                   WithoutMarks(line.substr(colon + 1))};
}

// The value of a label: "training.kubeflow.org/replica-index=2", in YAML and JSON with ":".
std::optional<std::string_view> LabelValue(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(at + key.size());
  if (rest.starts_with('"')) rest.remove_prefix(1);
  if (!rest.starts_with('=') && !rest.starts_with(": ")) return std::nullopt;
  rest = base::Trim(rest.substr(rest.starts_with('=') ? 1 : 2));
  return WithoutMarks(rest.substr(0, rest.find_first_of(" ,\t")));
}

// The value of a variable: "RANK:  2" or, in YAML and JSON, "name: RANK" with "value: 2" below it.
std::optional<std::string_view> VariableAt(const KubectlText& lines, size_t at,
                                           std::string_view name) {
  if (FieldValue(lines[at], "name") == name) {
    return at + 1 < lines.size() ? FieldValue(lines[at + 1], "value") : std::nullopt;
  }
  const auto field = ReadYamlField(lines[at]);
  return field && field->key == name ? std::optional(field->value) : std::nullopt;
}

// Whether the line has torchrun's option for several processes: "--nproc_per_node=8", or with the
// number in the line below.
bool HasOptionForSeveral(const KubectlText& lines, size_t at) {
  for (const std::string_view option : {"--nproc_per_node", "--nproc-per-node"}) {
    const size_t begin = lines[at].find(option);
    if (begin == std::string_view::npos) continue;
    std::string_view value = lines[at].substr(begin + option.size());
    value = value.substr(std::min(value.find_first_not_of("= \",'"), value.size()));
    if (value.empty() && at + 1 < lines.size()) {
      value = lines[at + 1];
      value = value.substr(std::min(value.find_first_not_of("- \"'"), value.size()));
    }
    return value.substr(0, value.find_first_of(" \",'")) != "1";
  }
  return false;
}

// Whether the line gives a pod several GPUs, or says that it starts several processes.
bool HasSeveralProcesses(const KubectlText& lines, size_t at) {
  for (const std::string_view variable : {"PET_NPROC_PER_NODE", "NPROC_PER_NODE"}) {
    const auto count = VariableAt(lines, at, variable);
    if (count && !count->empty() && *count != "1") return true;  // or "auto"
  }
  if (HasOptionForSeveral(lines, at)) return true;
  const auto field = ReadYamlField(lines[at]);
  if (!field) return false;
  for (const std::string_view begin : {"nvidia.com/", "amd.com/gpu", "gpu.intel.com/", "habana.ai/",
                                       "aws.amazon.com/neuron", "huawei.com/Ascend"}) {
    if (field->key.starts_with(begin) && base::ParseInt(field->value).value_or(0) > 1) return true;
  }
  return false;
}

// Sets the pod's exit code: that of its last attempt's container or, if it was started again and
// has not ended since, of the one before.
void FindEnd(const KubectlText& lines, DescribedPod& pod) {
  struct End {
    int code = 0;
    std::optional<base::Time> time;
    bool is_last_state = false;  // of the attempt before
  };
  std::vector<End> ends;
  bool is_other = false, is_last_state = false, is_running = false;
  for (size_t i = pod.begin; i < pod.end; ++i) {
    const auto field = ReadYamlField(lines[i]);
    if (!field) continue;
    const std::string_view key = field->key;
    if (key == "containerStatuses" || key == "Containers") is_other = false;
    if (key == "initContainerStatuses" || key == "Init Containers" ||
        key == "ephemeralContainerStatuses" || key == "Ephemeral Containers") {
      is_other = true;
    }
    if (key == "state" || key == "State") is_last_state = false;
    if (key == "lastState" || key == "Last State") is_last_state = true;
    if (is_other) continue;
    is_running = is_running || key == "running" || (key == "State" && field->value == "Running");
    const bool is_code = key == "exitCode" || key == "Exit Code";
    const auto code = is_code ? RankOfDigits(field->value) : std::nullopt;
    if (code) ends.push_back({*code, std::nullopt, is_last_state});
    if (key == "finishedAt" && !ends.empty()) {
      if (const auto time = base::ParseRfc3339(field->value)) ends.back().time = *time;
    }
  }
  const auto keep = [&ends](auto is_kept) {
    if (std::any_of(ends.begin(), ends.end(), is_kept)) {
      std::erase_if(ends, [&](const End& end) { return !is_kept(end); });
    }
  };
  keep([](const End& end) { return !end.is_last_state; });
  // It has been started again.
  if (is_running && !ends.empty() && ends[0].is_last_state) return;
  if (ends.size() > 1) keep([](const End& end) { return end.code != 0; });
  const bool is_start_again = ends.size() == 1 && ends[0].is_last_state && ends[0].code == 0;
  if (ends.size() != 1 || is_start_again) return;
  pod.exit_code = ends[0].code;
  pod.ended = ends[0].time;
}

// Sets the pod's rank by what its lines say.
void FindRank(const KubectlText& lines, const KubeflowPods& of_job, bool is_pod,
              DescribedPod& pod) {
  std::optional<int> index, variable;
  bool is_worker = false, is_unknown = false;
  for (size_t i = pod.begin; i < pod.end; ++i) {
    const std::string_view line = lines[i];
    for (const std::string_view key :
         {"batch.kubernetes.io/job-completion-index", "training.kubeflow.org/replica-index"}) {
      if (const auto value = LabelValue(line, key)) index = RankNumber(*value);
    }
    // Kubeflow's PyTorchJob sets it (pkg/controller.v1/pytorch/envvar.go).
    if (const auto rank = VariableAt(lines, i, "RANK"); rank && !rank->empty()) {
      variable = RankNumber(*rank);
    }
    for (const std::string_view key :
         {"jobset.sigs.k8s.io/job-index", "jobset.sigs.k8s.io/job-global-index"}) {
      const auto value = LabelValue(line, key);
      if (value && *value != "0") is_unknown = true;  // the jobs before it have pods, too
    }
    if (const auto type = LabelValue(line, "training.kubeflow.org/replica-type")) {
      is_worker = base::EqualsIgnoreCase(*type, "worker");
      if (!is_worker && !base::EqualsIgnoreCase(*type, "master")) is_unknown = true;
    }
    if (HasSeveralProcesses(lines, i)) pod.may_have_several = true;
  }
  if (!is_pod && !index) pod.may_have_several = false;  // a program has printed "Name:"
  if (is_unknown || pod.may_have_several || (!is_pod && !index)) return;
  pod.rank = variable ? variable : index;
  // Without a master worker 0 is rank 0; whether there is one, other pods say.
  if (!variable && index && is_worker) {
    pod.rank = of_job.has_master ? std::optional(*index + 1) : std::nullopt;
  }
  if (pod.rank || index || !is_pod) return;
  if (of_job.has_master) pod.rank = RankOfPod(pod.name, true);
  if (!pod.rank && !of_job.has_launcher) pod.rank = RankOfNode(pod.name);
}

// Reads what `kubectl describe` prints: the names of objects begin lines.
void ReadDescriptions(const KubectlText& lines, const KubeflowPods& of_job,
                      std::vector<DescribedPod>& pods) {
  constexpr std::string_view kName = "Name:";
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with(kName)) continue;
    DescribedPod pod;
    pod.name = base::Trim(lines[i].substr(kName.size()));
    pod.begin = i;
    pod.end = i + 1;
    bool is_pod = false;  // and not a Service or a Job of this name
    for (; pod.end < lines.size() && !lines[pod.end].starts_with(kName); ++pod.end) {
      const std::string_view line = lines[pod.end];
      if (line.starts_with("Containers:")) is_pod = true;
      if (line.starts_with("Node:")) {
        const std::string_view node = base::Trim(line.substr(5));
        if (node != "<none>") pod.node = node.substr(0, node.find('/'));
      }
    }
    FindRank(lines, of_job, is_pod, pod);
    if (is_pod) FindEnd(lines, pod);
    pods.push_back(std::move(pod));
  }
}

// The line after the last one of the object whose kind is in this line.
size_t EndOfObject(const KubectlText& lines, size_t kind, size_t indent) {
  size_t end = kind + 1;
  for (; end < lines.size() && !lines[end].starts_with("---"); ++end) {
    const auto field = ReadYamlField(lines[end]);
    if (field && field->indent <= indent && (field->key == "apiVersion" || field->key == "kind")) {
      break;
    }
  }
  return end;
}

// Reads the objects of YAML and JSON, whose keys kubectl sorts: apiVersion, kind, metadata.
void ReadObjects(const KubectlText& lines, const KubeflowPods& of_job,
                 std::vector<DescribedPod>& pods) {
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto kind = ReadYamlField(lines[i]);
    if (!kind || kind->key != "kind" || kind->value != "Pod") continue;
    // A reference to a pod, as in an event, has no metadata beside its kind.
    const auto next = i + 1 < lines.size() ? ReadYamlField(lines[i + 1]) : std::nullopt;
    if (!next || next->key != "metadata" || next->indent != kind->indent) continue;
    DescribedPod pod;
    pod.begin = i;
    pod.end = EndOfObject(lines, i, kind->indent);
    std::optional<size_t> of_metadata;
    for (size_t at = i + 2; at < pod.end; ++at) {
      const auto field = ReadYamlField(lines[at]);
      if (!field) continue;
      if (!of_metadata) of_metadata = field->indent;
      const bool is_own = field->indent == *of_metadata;
      if (is_own && field->key == "name" && pod.name.empty()) pod.name = field->value;
      if (is_own && field->key == "nodeName") pod.node = field->value;
    }
    FindRank(lines, of_job, true, pod);
    FindEnd(lines, pod);
    i = pod.end - 1;
    pods.push_back(std::move(pod));
  }
}

// At least the beginning of the value, if it is larger.
constexpr size_t kMostPrinted = 64 << 20;
void Print(const text::Json& value, size_t indent, std::string& printed) {
  if (printed.size() > kMostPrinted) return;
  const std::string margin(indent + 4, ' ');
  const auto add_all = [&](const auto& items, char begin, char end, auto add_key) {
    printed += begin;
    bool is_first = true;
    for (const auto& item : items) {
      if (printed.size() > kMostPrinted) return;
      printed += (is_first ? "\n" : ",\n") + margin;
      is_first = false;
      add_key(item);
    }
    printed += "\n" + std::string(indent, ' ') + end;
  };
  if (const auto* const object = value.if_object(); object != nullptr && !object->empty()) {
    add_all(*object, '{', '}', [&](const auto& member) {
      printed += text::ToJson(text::Json(member.key())) + ": ";
      Print(member.value(), indent + 4, printed);
    });
  } else if (const auto* const array = value.if_array(); array != nullptr && !array->empty()) {
    add_all(*array, '[', ']', [&](const auto& item) { Print(item, indent + 4, printed); });
  } else {
    printed += text::ToJson(value);
  }
}

bool HasPodsKind(std::string_view text) { return text.find("\"kind\": \"Pod\"") != text.npos; }

// As kubectl prints its kind.
bool IsPod(const text::Json& value) {
  const std::string_view kind = text::GetString(value, {"kind"});
  return (kind.empty() || kind == "Pod") && !text::GetString(value, {"metadata", "name"}).empty() &&
         (text::FindArray(value, {"spec", "containers"}) != nullptr ||
          text::FindArray(value, {"status", "containerStatuses"}) != nullptr);
}

}  // namespace

std::optional<std::string_view> FieldValue(std::string_view line, std::string_view key) {
  const auto field = ReadYamlField(line);
  return field && base::EqualsIgnoreCase(field->key, key) ? std::optional(field->value)
                                                          : std::nullopt;
}

std::vector<DescribedPod> ReadDescribedPods(const KubectlText& lines, const KubeflowPods& of_job) {
  KubeflowPods known = of_job;
  known.has_master =
      known.has_master || std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
        const auto type = LabelValue(line, "training.kubeflow.org/replica-type");
        return type && base::EqualsIgnoreCase(*type, "master");
      });
  std::vector<DescribedPod> pods;
  ReadDescriptions(lines, known, pods);
  ReadObjects(lines, known, pods);
  return pods;
}

const DescribedPod* DescribedAt(const std::vector<DescribedPod>& pods, size_t line) {
  const auto of = std::find_if(pods.begin(), pods.end(), [line](const DescribedPod& pod) {
    return pod.begin <= line && line < pod.end;
  });
  return of == pods.end() ? nullptr : &*of;
}

bool IsPodsJson(std::string_view text) {
  return base::Trim(text).starts_with('{') && (HasPodsKind(text) || !AsKubectlPrints(text).empty());
}

std::string AsKubectlPrints(std::string_view text) {
  constexpr size_t kMost = 16 * 1024 * 1024;
  text = base::Trim(text);
  const bool may_be = text.starts_with('{') && text.ends_with('}') && text.size() <= kMost &&
                      text.find("\"metadata\"") != text.npos && !HasPodsKind(text);
  if (!may_be) return "";
  const auto parsed = text::ParseJsonLeniently(text);
  if (!parsed || !parsed->is_object()) return "";
  const text::Array* const items = text::FindArray(*parsed, {"items"});
  text::Array alone;
  if (items == nullptr) alone.push_back(*parsed);
  std::string printed;
  for (const text::Json& pod : items == nullptr ? alone : *items) {
    if (!IsPod(pod)) continue;
    printed += "\"apiVersion\": \"v1\",\n\"kind\": \"Pod\",\n";
    for (const std::string_view key : {"metadata", "spec", "status"}) {
      const text::Json* const part = text::Find(pod, {key});
      if (part == nullptr) continue;
      printed.append("\"").append(key).append("\": ");
      Print(*part, 0, printed);
      printed += ",\n";
    }
  }
  return printed;
}

}  // namespace answers
