#include "arena/jobs/job_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "api/names.h"
#include "api/object.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/table.h"
#include "text/yaml.h"

namespace arena {
namespace {

constexpr size_t kShownLastLines = 10;  // a cluster may have kept more

text::Json JsonNumber(double value) {
  const auto whole = static_cast<int64_t>(value);
  return static_cast<double>(whole) == value ? text::Json(whole) : text::Json(value);
}

// By index; what is not known is 0, as a missing sample is in Arena.
text::Json MetricsToJson(const std::vector<GpuMetric>& metrics) {
  text::Object object;
  for (const GpuMetric& metric : metrics) {
    object[metric.id] =
        text::Object{{"gpuDutyCycle", JsonNumber(metric.duty_cycle.value_or(0))},
                     {"usedGPUMemory", JsonNumber(metric.memory_used.value_or(0))},
                     {"totalGPUMemory", JsonNumber(metric.memory_total.value_or(0))}};
  }
  return object;
}

std::string Age(base::Time since, base::Time now) { return base::ShortDuration(now - since); }

int64_t UnixSeconds(base::Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

std::string SecondsText(base::Duration duration) {
  return fmt::format("{}s", std::chrono::duration_cast<std::chrono::seconds>(duration).count());
}

std::string_view Label(const TrainingJob& job, std::string_view label) {
  return text::GetString(job.job, {"metadata", "labels", label});
}

void AddHead(cli::Table& table, const TrainingJob& job, const StatePainter& painted) {
  const api::TrainingSummary& summary = job.summary;
  table.Row({"Name:", summary.name});
  table.Row({"Status:", painted(summary.status)});
  table.Row({"Namespace:", summary.namespace_name});
  table.Row({"Priority:", summary.priority});
  table.Row({"Trainer:", base::ToUpper(summary.trainer)});
  table.Row({"Duration:", base::ShortDuration(summary.duration)});
  table.Row({"CreateTime:", LocalTime(summary.created)});
  table.Row({"EndTime:",
             api::IsFinished(summary.status) ? LocalTime(summary.created + summary.duration) : ""});
  const std::pair<const char*, const char*> models[] = {{"ModelName:", "modelName"},
                                                        {"ModelVersion:", "modelVersion"},
                                                        {"ModelSource:", "modelSource"}};
  for (const auto& [title, label] : models) {
    if (!Label(job, label).empty()) table.Row({title, std::string(Label(job, label))});
  }
  if (!summary.reason.empty()) table.Row({"Reason:", ReasonToShow(summary)});
}

std::string GpusOfJob(const api::TrainingSummary& summary) {
  return fmt::format("  Allocated/Requested GPUs of Job: {}/{}\n", Number(summary.allocated_gpus),
                     Number(summary.requested_gpus));
}

// The cells that say how busy an instance's GPUs are, one row per GPU; N/A if that is not known.
// `head`, which describes the instance, stands in the first row only.
void AddGpuRows(cli::Table& table, const TrainingJob& job, const api::InstanceSummary& instance,
                const std::vector<GpuMetric>& metrics, std::vector<std::string> head) {
  auto found = MetricsOfPod(metrics, job.summary.namespace_name, instance.name);
  if (found.empty()) {
    head.insert(head.end(), {"N/A", "N/A", "N/A"});
    table.Row(std::move(head));
    return;
  }
  for (const GpuMetric& metric : found) {
    std::vector<std::string> row = head;
    row.insert(row.end(), {metric.id, DutyCycleText(metric), MemoryText(metric)});
    table.Row(std::move(row));
    for (std::string& cell : head) cell.clear();
  }
}

std::string NodeIpOf(const api::InstanceSummary& instance) {
  return instance.node_ip.empty() ? "N/A" : instance.node_ip;
}

std::string RenderGpus(const TrainingJob& job, const std::vector<GpuMetric>& metrics) {
  if (job.summary.status == "SUCCEEDED" || job.summary.requested_gpus <= 0) return "";
  cli::Table table("  ");
  table.Row({"INSTANCE", "NODE(IP)", "GPU(Requested)", "GPU(IndexId)", "GPU(DutyCycle)",
             "GPU Memory(Used/Total)"});
  table.Row({"--------", "--------", "--------------", "------------", "--------------",
             "----------------------"});
  for (const api::InstanceSummary& instance : job.summary.instances) {
    AddGpuRows(table, job, instance, metrics,
               {instance.name, NodeIpOf(instance), Number(instance.requested_gpus)});
  }
  return "\nGPUs:\n" + table.Render() + "\n" + GpusOfJob(job.summary);
}

// Keeps the order of each source's events, and that of the first of each.
void GroupBySource(std::vector<JobEvent>& events) {
  for (auto begin = events.begin(); begin != events.end();) {
    begin = std::stable_partition(
        begin, events.end(),
        [source = begin->source](const JobEvent& event) { return event.source == source; });
  }
}

std::string RenderEvents(const GetExtras& extras) {
  if (!extras.events) return "";
  if (extras.event_rows.empty()) return "\nEvents:\n  No events for resources\n";
  cli::Table table("  ");
  table.Row({"SOURCE", "TYPE", "AGE", "MESSAGE"});
  table.Row({"------", "----", "---", "-------"});
  std::vector<JobEvent> events = extras.event_rows;
  if (extras.is_arenas_page) GroupBySource(events);
  for (size_t i = 0; i < events.size(); ++i) {
    const JobEvent& event = events[i];
    table.Row({event.source, event.type, event.age, event.message});
    const bool ends_group = i + 1 == events.size() || events[i + 1].source != event.source;
    if (extras.is_arenas_page && ends_group) table.Row({});
  }
  return "\nEvents:\n" + table.Render();
}

std::string RenderTensorboardProblem(const GetExtras& extras, std::string_view indent) {
  if (extras.tensorboard_problem.empty()) return "";
  return fmt::format("{}It is not running yet: {}\n", indent, extras.tensorboard_problem);
}

std::string RenderProgress(const GetExtras& extras) {
  std::string out;
  for (const std::string& line : extras.progress) out += fmt::format("Progress: {}\n", line);
  return out;
}

// The last output of the instance that failed first. "" under Arena's name, and if it is not known.
std::string RenderLastLines(const api::TrainingSummary& summary, const GetExtras& extras) {
  if (extras.logs_command.empty() || summary.last_lines.empty()) return "";
  std::string out = fmt::format("\nThe last lines of {} (`{}` prints its whole log):\n",
                                summary.first_failure.instance, extras.logs_command);
  const std::vector<std::string> lines = base::Split(summary.last_lines, '\n');
  for (size_t i = lines.size() - std::min(lines.size(), kShownLastLines); i < lines.size(); ++i) {
    out += "  " + lines[i] + "\n";
  }
  return out;
}

// The instances whose output is not complete.
std::string RenderLogLosses(const TrainingJob& job) {
  std::string out;
  for (const text::Json& pod : job.pods) {
    const std::string_view message = text::GetString(pod, {"status", "message"});
    if (message.find("log truncated: ") == std::string_view::npos) continue;
    out += fmt::format("\nLog of {}: {}\n", api::Name(pod), message);
  }
  return out;
}

std::string RenderWide(const TrainingJob& job, const GetExtras& extras,
                       const StatePainter& painted) {
  cli::Table head;
  AddHead(head, job, painted);
  std::string out = head.Render();
  out += "\nInstances:\n";
  cli::Table instances("  ");
  instances.Row({"NAME", "STATUS", "AGE", "IS_CHIEF", "GPU(Requested)", "NODE"});
  instances.Row({"----", "------", "---", "--------", "--------------", "----"});
  for (const api::InstanceSummary& instance : job.summary.instances) {
    const base::Duration age = extras.is_arenas_page ? job.summary.duration : instance.age;
    instances.Row({instance.name, painted(instance.status), base::ShortDuration(age),
                   instance.is_chief ? "true" : "false", Number(instance.requested_gpus),
                   instance.node});
  }
  out += instances.Render();
  out += RenderProgress(extras) + RenderLastLines(job.summary, extras);
  if (extras.gpus) out += RenderGpus(job, extras.gpu_metrics);
  if (extras.tensorboard) {
    out += fmt::format("\nTensorboard:\n  Your tensorboard will be available on: \n  {}\n",
                       *extras.tensorboard);
    out += RenderTensorboardProblem(extras, "  ");
  }
  return out + RenderLogLosses(job) + RenderEvents(extras);
}

bool IsToEnd(const text::Json& pod) {
  return api::IsDeleting(pod) || !api::Annotation(pod, api::kEndAnnotation).empty();
}

// The instance's phase, as the documents print it.
std::string PhaseOf(const api::TrainingSummary& job, const text::Json* pod) {
  const std::string_view phase = pod != nullptr ? text::GetString(*pod, {"status", "phase"}) : "";
  if (phase == "Running" &&
      (api::IsDeleting(*pod) || (api::IsFinished(job.status) && IsToEnd(*pod)))) {
    return "TERMINATING";
  }
  return phase.empty() ? "PENDING" : base::ToUpper(phase);
}

std::string RenderDocument(const TrainingJob& job, const GetExtras& extras, base::Time now,
                           const StatePainter& painted) {
  const api::TrainingSummary& summary = job.summary;
  std::string out = fmt::format("STATUS: {}\nNAMESPACE: {}\nPRIORITY: {}\nTRAINING DURATION: {}\n",
                                painted(summary.status), summary.namespace_name, summary.priority,
                                base::ShortDuration(summary.duration));
  if (!summary.reason.empty()) {
    out += fmt::format("REASON: {}\n", ReasonToShow(summary));
  }
  if (!extras.starts.empty()) out += fmt::format("STARTS: {}\n", extras.starts);
  out += "\n";
  std::unordered_map<std::string_view, const text::Json*> pods;
  for (const text::Json& pod : job.pods) pods.emplace(api::Name(pod), &pod);
  cli::Table table;
  table.Row({"NAME", "STATUS", "TRAINER", "AGE", "INSTANCE", "NODE"});
  for (const api::InstanceSummary& instance : summary.instances) {
    table.Row({summary.name, painted(PhaseOf(summary, pods[instance.name])),
               base::ToUpper(summary.trainer), Age(summary.created, now), instance.name,
               instance.node_ip.empty() ? "N/A" : instance.node_ip});
  }
  out += table.Render();
  out += RenderProgress(extras) + RenderLastLines(summary, extras);
  if (extras.tensorboard) {
    out += fmt::format("\nYour tensorboard will be available on:\n{}\n", *extras.tensorboard);
    out += RenderTensorboardProblem(extras, "");
  }
  if (extras.gpus) out += RenderGpus(job, extras.gpu_metrics);
  return out + RenderLogLosses(job) + RenderEvents(extras);
}

// A text of several lines continues below the key or dash that it follows.
void AppendScalar(const text::Json& value, size_t indent, std::string& out) {
  const std::string yaml = text::ToYaml(value);
  for (size_t i = 0; i < yaml.size(); ++i) {
    out += yaml[i];
    const bool has_more = i + 1 < yaml.size() && yaml[i + 1] != '\n';
    if (yaml[i] == '\n' && has_more) out.append(indent, ' ');
  }
}

bool IsScalarToYaml(const text::Json& value) {
  if (const text::Object* object = value.if_object()) return object->empty();
  const text::Array* array = value.if_array();
  return array == nullptr || array->empty();
}

// A key that would be read as a number or the like, such as a GPU's index, is quoted.
std::string YamlKey(std::string name) {
  if (name.starts_with("model")) name = base::ToLower(name);
  std::string yaml = text::ToYaml(text::Json(name));
  yaml.pop_back();  // the end of the line
  return yaml;
}

// Block style, keys in their order, lists not indented, as yaml.v2 prints structs.
void AppendYaml(const text::Json& value, size_t indent, bool is_after_dash, std::string& out) {
  const std::string margin(indent, ' ');
  if (const text::Object* object = value.if_object(); object != nullptr && !object->empty()) {
    bool is_first = is_after_dash;
    for (const auto& [key, child] : *object) {
      out += is_first ? "" : margin;
      is_first = false;
      out += YamlKey(std::string(key)) + ":";
      if (IsScalarToYaml(child)) {
        out += " ";
        AppendScalar(child, indent, out);
      } else {
        out += "\n";
        AppendYaml(child, child.is_object() ? indent + 2 : indent, false, out);
      }
    }
  } else if (const text::Array* array = value.if_array(); array != nullptr && !array->empty()) {
    bool is_first = is_after_dash;
    for (const text::Json& child : *array) {
      out += is_first ? "- " : margin + "- ";
      is_first = false;
      if (IsScalarToYaml(child)) {
        AppendScalar(child, indent, out);
      } else {
        AppendYaml(child, indent + 2, true, out);
      }
    }
  } else {
    AppendScalar(value, 0, out);
  }
}

// Why the job is in its state; for a failed one also which replica failed first, and how.
void AddReason(const api::TrainingSummary& summary, text::Object& json) {
  if (summary.reason.empty()) return;
  json["reason"] = summary.reason;
  const api::FailedReplica& failed = summary.first_failure;
  if (failed.instance.empty()) return;
  json["failedInstance"] = failed.instance;
  if (failed.rank) json["rank"] = *failed.rank;
  if (failed.exit_code) json["exitCode"] = *failed.exit_code;
}

// What the job asks for and this machine cannot provide, in submit's words.
void AddWarnings(const TrainingJob& job, text::Object& json) {
  text::Array warnings;
  for (const std::string& line :
       base::Split(api::Annotation(job.job, api::kUnmetAnnotation), '\n')) {
    if (!line.empty()) warnings.emplace_back(line);
  }
  if (!warnings.empty()) json["warnings"] = std::move(warnings);
}

}  // namespace

ListRow ToListRow(const api::TrainingSummary& summary, base::Time now) {
  return {summary.name,
          summary.namespace_name,
          summary.status,
          base::ToUpper(summary.trainer),
          Age(summary.created, now),
          base::ShortDuration(summary.duration),
          Number(summary.requested_gpus),
          Number(summary.allocated_gpus),
          summary.chief_host_ip,
          summary.status == "RUNNING" ? summary.reason : ""};
}

base::Result<Format> ParseFormat(std::string_view text) {
  if (text.empty()) return Format::kDocument;
  if (text == "wide") return Format::kWide;
  if (text == "json") return Format::kJson;
  if (text == "yaml") return Format::kYaml;
  return base::Fail(base::Code::kInvalidArgument,
                    "unknown output format,only support:[wide|json|yaml]");
}

void AddDocumentFlag(cli::FlagSet& set, std::string* to) {
  set.String(to, "output", "", "json or yaml").Short('o').Choices({"json", "yaml"});
}

base::Result<Format> FormatOf(const std::string& output, const cli::Invocation& call) {
  // An empty --output is a word that Arena does not know; without the flag, the format is the
  // documents' columns.
  return ParseFormat(output.empty() && call.command.Changed("output") ? " " : output);
}

StatePainter PainterFor(const Context& context, const cli::Invocation& call) {
  if (context.program == "arena") return [](const std::string& state) { return state; };
  return [&call](const std::string& state) { return cli::PaintedState(call.out, state); };
}

base::Status Print(const Context& context, const cli::Invocation& call, const std::string& table) {
  const int width = call.out.Width();
  if (width > 0 && call.err.IsTerminal() && context.program != "arena") {
    size_t widest = 0;
    for (const std::string& line : base::Split(table, '\n')) {
      widest = std::max(widest, cli::TextWidth(line));
    }
    if (widest > static_cast<size_t>(width)) {
      base::LogInfo("this is {} columns wide and the terminal {}: `-o json` has all of it, {}",
                    widest, width, "and `| less -S` does not break its lines");
    }
  }
  return call.out.Write(table);
}

std::string RenderList(const std::vector<ListRow>& rows, Format format, bool with_namespace,
                       const StatePainter& painted) {
  cli::Table table;
  const auto add = [&](std::vector<std::string> cells, const std::string& namespace_name) {
    if (with_namespace) cells.insert(cells.begin(), namespace_name);
    table.Row(std::move(cells));
  };
  if (format == Format::kWide) {
    add({"NAME", "STATUS", "TRAINER", "DURATION", "GPU(Requested)", "GPU(Allocated)", "NODE"},
        "NAMESPACE");
    for (const ListRow& row : rows) {
      add({row.name, painted(row.status), row.trainer, row.duration, row.requested_gpus,
           api::IsFinished(row.status) ? "N/A" : row.allocated_gpus, row.node},
          row.namespace_name);
    }
  } else {
    add({"NAME", "STATUS", "TRAINER", "AGE", "NODE"}, "NAMESPACE");
    for (const ListRow& row : rows) {
      // In the documents a job that does not run is on no node.
      add({row.name, painted(row.status), row.trainer, row.age,
           row.status == "RUNNING" ? row.node : "N/A"},
          row.namespace_name);
    }
  }
  return table.Render();
}

void SortByGpus(std::vector<TrainingJob>& jobs) {
  std::stable_sort(jobs.begin(), jobs.end(), [](const TrainingJob& a, const TrainingJob& b) {
    return a.summary.requested_gpus > b.summary.requested_gpus;
  });
}

std::string RenderTopJobs(const std::vector<TrainingJob>& jobs, Format format, bool with_namespace,
                          base::Time now, const StatePainter& painted) {
  const bool is_wide = format == Format::kWide;
  cli::Table table;
  const auto add = [&](std::vector<std::string> cells, const std::string& namespace_name) {
    if (with_namespace) cells.insert(cells.begin(), namespace_name);
    table.Row(std::move(cells));
  };
  if (is_wide) {
    add({"NAME", "STATUS", "TRAINER", "AGE", "GPU(Requested)", "GPU(Allocated)", "NODE"},
        "NAMESPACE");
  } else {
    add({"NAME", "GPU(Requests)", "GPU(Allocated)", "STATUS", "TRAINER", "AGE", "NODE"},
        "NAMESPACE");
  }
  double requested = 0;
  double allocated = 0;
  for (const TrainingJob& job : jobs) {
    const api::TrainingSummary& summary = job.summary;
    const ListRow row = ToListRow(summary, now);
    if (is_wide) {
      add({row.name, painted(row.status), row.trainer, row.duration, row.requested_gpus,
           row.allocated_gpus, row.node},
          row.namespace_name);
    } else {
      add({row.name, row.requested_gpus, row.allocated_gpus, painted(row.status), summary.trainer,
           row.age, row.status == "RUNNING" ? row.node : "N/A"},
          row.namespace_name);
    }
    // v0.15 counts what runs; the documents count every job.
    if (is_wide && summary.status != "RUNNING") continue;
    requested += summary.requested_gpus;
    allocated += summary.allocated_gpus;
  }
  if (is_wide) {
    return table.Render() +
           fmt::format("\nTotal Allocated/Requested GPUs of Training Jobs: {}/{}\n",
                       Number(allocated), Number(requested));
  }
  return table.Render() + fmt::format(
                              "\n\nTotal Allocated GPUs of Training Job:\n{}\n\nTotal Requested "
                              "GPUs of Training Job:\n{}\n",
                              Number(allocated), Number(requested));
}

std::string RenderTopJob(const TrainingJob& job, const std::vector<GpuMetric>& metrics,
                         const StatePainter& painted) {
  cli::Table head;
  AddHead(head, job, painted);
  cli::Table instances("  ");
  instances.Row({"NAME", "STATUS", "GPU(Request)", "NODE", "GPU(DeviceIndex)", "GPU(DutyCycle)",
                 "GPU_MEMORY(Used/Total)"});
  instances.Row({"----", "------", "------------", "----", "----------------", "--------------",
                 "---------------"});
  for (const api::InstanceSummary& instance : job.summary.instances) {
    AddGpuRows(instances, job, instance, metrics,
               {instance.name, painted(instance.status), Number(instance.requested_gpus),
                NodeIpOf(instance)});
  }
  return head.Render() + "\nInstances:\n" + instances.Render() + "\nGPUs:\n" +
         GpusOfJob(job.summary);
}

std::string RenderGet(const TrainingJob& job, Format format, const GetExtras& extras,
                      base::Time now, const StatePainter& painted) {
  return format == Format::kWide ? RenderWide(job, extras, painted)
                                 : RenderDocument(job, extras, now, painted);
}

text::Json JobToJson(const TrainingJob& job, const std::optional<std::string>& tensorboard,
                     const std::vector<GpuMetric>& metrics, Keys keys) {
  const api::TrainingSummary& summary = job.summary;
  text::Array instances;
  for (const api::InstanceSummary& instance : summary.instances) {
    instances.push_back(text::Object{
        {"ip", instance.pod_ip},
        {"status", instance.status},
        {"name", instance.name},
        {"age", SecondsText(instance.age)},
        {"node", instance.node},
        {"nodeIP", instance.node_ip},
        {"chief", instance.is_chief},
        {"requestGPUs", JsonNumber(instance.requested_gpus)},
        {"gpuMetrics", MetricsToJson(MetricsOfPod(metrics, summary.namespace_name, instance.name))},
        {"creationTimestamp", UnixSeconds(instance.created)}});
  }
  text::Object json{{"uuid", summary.uid},
                    {"name", summary.name},
                    {"namespace", summary.namespace_name},
                    {"duration", SecondsText(summary.duration)},
                    {"status", summary.status},
                    {"trainer", summary.trainer},
                    {"tensorboard", tensorboard.value_or("")},
                    {"chiefName", summary.chief_name},
                    {"instances", std::move(instances)},
                    {"priority", summary.priority},
                    {"requestGPUs", JsonNumber(summary.requested_gpus)},
                    {"allocatedGPUs", JsonNumber(summary.allocated_gpus)},
                    {"creationTimestamp", UnixSeconds(summary.created)},
                    {"modelName", Label(job, "modelName")},
                    {"modelVersion", Label(job, "modelVersion")},
                    {"modelSource", Label(job, "modelSource")}};
  if (keys == Keys::kAll) {
    AddReason(summary, json);
    AddWarnings(job, json);
  }
  return json;
}

std::string RenderJson(const text::Json& value) { return text::ToPrettyJson(value, 4); }

std::string RenderYaml(const text::Json& value) {
  std::string out;
  AppendYaml(value, 0, false, out);
  return out;
}

std::string RenderDocument(const text::Json& value, Format format) {
  return format == Format::kJson ? RenderJson(value) + "\n" : RenderYaml(value);
}

}  // namespace arena
