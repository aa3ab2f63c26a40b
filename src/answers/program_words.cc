#include "answers/program_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "answers/has_any.h"
#include "answers/rank_number.h"
#include "answers/symptoms.h"
#include "base/strings.h"

namespace answers {
namespace {

// Whether a number follows soon after one of `words`: "step 10", "Epoch [3/10]", "'loss': 1.2"; not
// "batch_size: 4" in a list of settings.
bool HasCount(std::string_view text, std::span<const std::string_view> words) {
  constexpr std::string_view kBetween = " :=[(#'\"\t";
  for (const std::string_view word : words) {
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
      const size_t digit = text.find_first_not_of(kBetween, at + word.size());
      if (digit != std::string_view::npos && base::IsDigit(text[digit])) return true;
    }
  }
  return false;
}

// Reads "gpu-1:311:402 [1] init.cc:521 NCCL WARN ..."; the oldest versions omit "NCCL", and copied
// lines may lack the beginning.
bool IsOfNccl(std::string_view line) {
  const size_t at = line.find("WARN ");
  if (at == std::string_view::npos) return false;
  const std::string_view before = base::Trim(line.substr(0, at));
  const std::string_view file = before.substr(0, before.rfind(':'));
  const size_t bracket = before.rfind('[');  // of "gpu-1:311:402 [1]"
  if (before.empty()) return true;
  if (before.ends_with(']') && bracket > 4 && bracket != std::string_view::npos) {
    const std::string_view process = base::Trim(before.substr(0, bracket));
    const size_t thread = process.rfind(':');
    if (thread != std::string_view::npos && process.rfind(':', thread - 1) != thread &&
        base::ParseInt(process.substr(thread + 1))) {
      return true;
    }
  }
  return before.ends_with("NCCL") || file.ends_with(".cc") || file.ends_with(".cu") ||
         file.ends_with(".h");
}

// Reads "W0302 10:11:04.120000 4711 x.cc:12] ...", but not of PyTorch's launchers, whose warnings
// may be their last words.
bool IsWarningOfGlog(std::string_view line) {
  constexpr size_t kDay = 4;
  return line.size() > kDay + 1 && line[0] == 'W' && line[kDay + 1] == ' ' &&
         std::all_of(line.begin() + 1, line.begin() + 1 + kDay, base::IsDigit) &&
         !IsOfLauncher(line);
}

// "xla_bridge.py:660", "numa.cpp:12"
bool IsPlaceOfSource(std::string_view text) {
  const size_t colon = text.rfind(':');
  return colon != text.npos && text.substr(0, colon).find('.') != text.npos &&
         base::ParseInt(text.substr(colon + 1)).has_value();
}

// Reads glog's prefix of a record of its lowest levels, as glog, absl for Python, whose threads
// have numbers of up to twenty digits, TensorFlow and c10 write it: "I0302 10:11:04.120000
// 140638609667136 x.py:12] ", "I x/y.cc:12] ", "[I302 10:11:04.120000000 x.cpp:12] ". Not of
// PyTorch's launchers, whose information may be their last words.
bool IsInformationOfGlog(std::string_view line) {
  constexpr std::string_view kLevels = "IVD";
  const size_t end = line.find(']');
  if (end == line.npos) return false;
  std::string_view prefix = line.substr(0, end);
  if (prefix.starts_with('[')) prefix.remove_prefix(1);
  if (prefix.empty() || kLevels.find(prefix[0]) == kLevels.npos) return false;
  const std::vector<std::string> fields = base::Split(base::Trim(prefix.substr(1)), ' ');
  return IsPlaceOfSource(fields.back()) &&
         std::all_of(fields.begin(), fields.end() - 1,
                     [](std::string_view field) {
                       return field.find_first_not_of("0123456789:.") == field.npos;
                     }) &&
         !IsOfLauncher(line);
}

// "INFO:root:...", "[INFO] ...": not what torchfrtrace, whose words are all information, has found
// in the flight recorder's files (torch/distributed/flight_recorder), nor what the kernel says of a
// task that hangs ("INFO: task python:4711 blocked", as `dmesg -t` prints it).
bool IsInformationOfPython(std::string_view line) {
  static constexpr auto kOfTraces = std::to_array<std::string_view>(
      {"Not all ranks joining collective", "missing ranks: {", "ulprit rank", "Error type: "});
  const bool is_information = line.starts_with("INFO:") || line.starts_with("[INFO]");
  return is_information && !line.starts_with("INFO: task ") && !HasAny(line, kOfTraces) &&
         !IsOfLauncher(line);
}

// Whether this is what a library prints of a call that its caller may survive. libjpeg counts a
// warning and decodes on (jerror.c, emit_message); the text of dlopen's failure is all that is seen
// where a program tries libraries in turn. What an exception or ld.so carries ends a program.
bool IsOfSurvivedCall(std::string_view line) {
  static constexpr auto kOfLibjpeg =
      std::to_array<std::string_view>({"Corrupt JPEG data: ", "Premature end of JPEG file"});
  static constexpr auto kExceptions = std::to_array<std::string_view>({"rror: ", "xception: "});
  static constexpr auto kFatal =
      std::to_array<std::string_view>({"rror: ", "xception: ", "what(): ", "FATAL", "Fatal",
                                       "error while loading shared libraries: "});
  constexpr std::string_view kOfDlopen = ": cannot open shared object file: ";
  for (const std::string_view words : kOfLibjpeg) {
    const size_t at = line.find(words);
    if (at != line.npos) return !HasAny(line.substr(0, at), kExceptions);
  }
  return line.find(kOfDlopen) != line.npos && !HasAny(line, kFatal);
}

// Without the word in "best error: 0.101" and "val_error=0.119": a metric, which has a fraction.
std::string WithoutErrorRates(std::string_view lower) {
  constexpr std::string_view kError = "error";
  std::string kept(lower);
  for (size_t at = kept.find(kError); at != kept.npos; at = kept.find(kError, at)) {
    const std::string_view rest = std::string_view(kept).substr(at + kError.size());
    const size_t digit = std::min(rest.find_first_not_of(" :="), rest.size());
    const size_t dot = std::min(rest.find_first_not_of("0123456789", digit), rest.size());
    const bool is_rate = digit > 0 && dot > digit && rest.substr(dot).starts_with('.') &&
                         dot + 1 < rest.size() && base::IsDigit(rest[dot + 1]);
    if (is_rate) kept.erase(at, kError.size());
    if (!is_rate) at += kError.size();
  }
  return kept;
}

}  // namespace

bool IsElasticsSuccess(std::string_view text) {
  return text.find("\"torchelastic.worker.status.SUCCEEDED\"") != std::string_view::npos;
}

bool ReportsSuccess(std::string_view text) {
  constexpr size_t kLongest = 160;
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"training finished", "training complete", "training is finished", "training is complete",
       "training has finished", "training done", "training is done", "finished training",
       "completed training", "successfully finished"});
  static constexpr auto kTrouble =
      std::to_array<std::string_view>({"error", "exception", "fail", "exit", "not ", "abort",
                                       "signal", "before ", "after ", "until ", "when ", "if "});
  if (IsElasticsSuccess(text)) return true;
  if (text.size() > kLongest) return false;
  if (text.starts_with("`Trainer.fit` stopped: `max_") && text.ends_with(" reached.")) return true;
  const std::string lower = base::ToLower(text);
  return HasAny(lower, kWords) && !HasAny(WithoutErrorRates(lower), kTrouble);
}

bool IsProgress(std::string_view text) {
  static constexpr auto kCounts = std::to_array<std::string_view>(
      {"step", "Step", "epoch", "Epoch", "iter", "Iter", "iteration", "Iteration", "loss", "Loss",
       "batch", "Batch", "EPOCH"});
  static constexpr auto kRates = std::to_array<std::string_view>({"it/s", "s/it"});
  static constexpr auto kTrouble = std::to_array<std::string_view>(
      {"rror", "xception", "ailed", "imeout", "imed out", "File \"", "WARN", "nan", "NaN", "inf,",
       " inf", "was killed", "not found", "No such ", "ermission denied"});
  static constexpr auto kNoRates = std::to_array<std::string_view>({"?it/s", "?s/it"});
  if (HasAny(text, kNoRates)) return false;
  // rsl_rl centres this line.
  if (ReportsSuccess(text) || base::Trim(text).starts_with("Learning iteration ")) return true;
  // wandb prints its summary even if the run has failed.
  return text.size() < 400 && !text.starts_with(' ') && !text.starts_with("wandb:") &&
         !text.starts_with("frame #") && (HasCount(text, kCounts) || HasAny(text, kRates)) &&
         std::any_of(text.begin(), text.end(), base::IsDigit) &&
         !HasAny(WithoutErrorRates(text), kTrouble) && !IsOfLauncher(text);
}

bool BeginsWork(std::string_view text) {
  static constexpr auto kBegins =
      std::to_array<std::string_view>({"Successfully loaded ", "Successfully initialized ",
                                       "Successfully opened ", "Successfully connected "});
  return std::any_of(kBegins.begin(), kBegins.end(),
                     [text](std::string_view begin) { return text.starts_with(begin); });
}

bool StartsSeveral(std::string_view line) {
  constexpr std::string_view kWarning = "Setting OMP_NUM_THREADS environment variable for each ";
  constexpr std::string_view kList = "local_ranks=[";
  if (line.find(kWarning) != line.npos) return line.find("UserWarning") == line.npos;
  const size_t list = line.find(kList);
  return list != line.npos && line.substr(list, line.find(']', list) - list).find(',') != line.npos;
}

std::string_view CounterOfBar(std::string_view text) {
  const size_t end = text.find(" [");
  if (text.find("%|") == std::string_view::npos || end == std::string_view::npos) return "";
  return text.substr(text.rfind(' ', end - 1) + 1, end - text.rfind(' ', end - 1) - 1);
}

std::string_view CarriedException(std::string_view line) {
  static constexpr auto kWords =
      std::to_array<std::string_view>({"what():  ", "watchdog thread terminated with exception: ",
                                       "ERROR: Could not install packages due to an "});
  for (const std::string_view words : kWords) {
    const size_t at = line.find(words);
    if (at != std::string_view::npos) return line.substr(at + words.size());
  }
  constexpr std::string_view kOfXla = "Exception in device=";  // torch_xla prints it for a process
  if (const size_t at = line.find(kOfXla); at != std::string_view::npos) {
    const size_t message = line.find(": ", at);
    return message == std::string_view::npos ? "" : line.substr(message + 2);
  }
  // libc++'s words: "libc++abi: terminating due to uncaught exception of type c10::Error: boom"
  constexpr std::string_view kOfMac = "ncaught exception of type ";
  if (const size_t at = line.find(kOfMac); at != std::string_view::npos) {
    const size_t message = line.find(": ", at);
    return message == std::string_view::npos ? "" : line.substr(message + 2);
  }
  // torchrun prints the content of a worker's error file when another one takes its place.
  constexpr std::string_view kMessage = "\"message\": \"";
  const std::string_view trimmed = base::Trim(line);
  if (!trimmed.starts_with(kMessage)) return "";
  return trimmed.substr(kMessage.size(), trimmed.rfind('"') - kMessage.size());
}

std::string ShownException(std::string_view text) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  for (size_t open = text.find('('); open != std::string_view::npos;
       open = text.find('(', open + 1)) {
    const std::string_view before = text.substr(0, open);
    const std::string_view type = before.substr(before.find_last_not_of(kLetters) + 1);
    const bool is_type = type.ends_with("Error") || type.ends_with("Exception");
    std::string_view message = text.substr(open + 1);
    // Of an OSError: "FileNotFoundError(2, 'No such file or directory')".
    const size_t digits = message.find_first_not_of(kDigits);
    const std::string_view number = message.substr(0, digits);
    const bool has_errno = !number.empty() && message.substr(number.size()).starts_with(", ");
    if (has_errno) message.remove_prefix(number.size() + 2);
    const char quote = message.empty() ? ' ' : message[0];
    if (!is_type || (quote != '\'' && quote != '"')) continue;
    message.remove_prefix(1);
    const size_t close = message.find(std::string({quote, ')'}));
    return fmt::format("{}: {}{}", type, has_errno ? fmt::format("[Errno {}] ", number) : "",
                       message.substr(0, close));
  }
  return "";
}

bool IsAside(std::string_view text) {
  static constexpr auto kAsides = std::to_array<std::string_view>(
      {"info ", "info:", "[info", "note:", "[note", "[notice",
       "notice:", "hint:", "tip:", "tips:", "prompt:", "example:", "wandb: run", "wandb: you",
       "wandb: upgrade", "wandb: wandb version", "wandb: $", "$ "});
  const std::string lower = base::ToLower(base::Trim(text));
  return std::any_of(kAsides.begin(), kAsides.end(),
                     [&lower](std::string_view aside) { return lower.starts_with(aside); });
}

std::string WithoutQuotedErrors(std::string_view text) {
  static constexpr auto kErrors = std::to_array<std::string_view>({"rror", "xception"});
  if (IsAside(text)) return "";
  std::string kept;
  size_t from = 0;  // where the text that is not kept yet begins
  size_t open = text.find_first_of("\"'`");
  while (open != std::string_view::npos) {
    const size_t close = text.find(text[open], open + 1);
    if (close == std::string_view::npos) break;
    const bool begins_word =
        open == 0 || std::string_view(" ([{:=,").find(text[open - 1]) != std::string_view::npos;
    const std::string_view before = base::Trim(text.substr(0, open));
    const bool is_value = before.ends_with("\":") || before.ends_with("':");
    const bool is_key = text.substr(close + 1).starts_with(':');
    const bool is_quoted =
        begins_word && !is_value && !is_key && HasAny(text.substr(open, close - open), kErrors);
    if (is_quoted) {
      kept.append(text.substr(from, open - from));
      from = close + 1;
    }
    open = text.find_first_of("\"'`", is_quoted ? from : open + 1);
  }
  return kept.append(text.substr(from));
}

bool IsWarning(std::string_view text) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"Warning:", "WARNING", "[W", "<warn>", " WARN ", "[WARN", "warnings.warn", "DEBUG", " INFO ",
       "muster-launch: warning: ", "Retrying (Retry(total=", "] Could not load dynamic library '",
       "rror caught was: ", ": warning: ", "libGL error: ",
       "Failed to load image Python extension: "});
  // ROCr's of a library that it can do without, too.
  static constexpr auto kBegins = std::to_array<std::string_view>(
      {"warning: ", "[warn", "LoadLib(", "ERROR: pip's dependency resolver does not currently "});
  static constexpr auto kEnds = std::to_array<std::string_view>(
      {" death signal, shutting down workers", " closing signal SIGINT", " closing signal SIGHUP",
       " are waiting for remainder of ranks "});
  const bool is_marked = std::any_of(kBegins.begin(), kBegins.end(), [text](std::string_view each) {
    return text.starts_with(each);
  });
  // torchrun's agent logs as a warning what ends it, and Horovod what may be its last word.
  // NCCL goes on without its service that others ask for its state (src/ras).
  const bool is_decisive = IsOfNccl(text) && text.find(" ras/") == std::string_view::npos;
  const bool is_warning = is_marked || IsWarningOfGlog(text) || IsInformationOfGlog(text) ||
                          IsInformationOfPython(text) || IsOfSurvivedCall(text) ||
                          HasAny(text, kWords);
  return is_warning && !HasAny(text, kEnds) && !is_decisive;
}

bool IsHandled(std::string_view before) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"etrying", "retry ", "Retry ", "ill retry", "gnoring", "gnored", "kipping", "alling back",
       "aught exception", "aught error", "non-fatal", "ecover"});
  static constexpr auto kCaught =
      std::to_array<std::string_view>({"rror caught", "xception caught"});
  static constexpr auto kUncaught = std::to_array<std::string_view>(
      {"ncaught exception", "ncaught error", "NCAUGHT EXCEPTION", "irrecover", "nrecover"});
  if (HasAny(before, kUncaught)) return false;
  // "Caught X in DataLoader worker" is the text of an exception, and DeepSpeed skips steps without
  // an error.
  const bool is_handled = HasAny(before, kCaught) ||
                          (HasAny(before, kWords) && before.find("kipping step") == before.npos);
  static constexpr auto kGivenUp = std::to_array<std::string_view>({"ave up", "iving up"});
  return is_handled && !HasAny(before, kGivenUp) &&
         before.find("in DataLoader worker") == std::string_view::npos && !IsOfLauncher(before);
}

bool IsSameButNumbers(std::string_view one, std::string_view other) {
  const auto take = [](std::string_view& text) {
    const size_t size = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(size);
    return size > 0;
  };
  while (!one.empty() && !other.empty()) {
    const bool is_number = take(one);
    if (is_number != take(other)) return false;
    if (is_number) continue;
    if (one[0] != other[0]) return false;
    one.remove_prefix(1);
    other.remove_prefix(1);
  }
  return one.empty() && other.empty();
}

bool SaysItRetries(std::string_view text) {
  static constexpr auto kWords =
      std::to_array<std::string_view>({"etrying", "ill retry", "ill be retried", "rying again"});
  static constexpr auto kGivenUp = std::to_array<std::string_view>(
      {"ave up", "iving up", "ave been exceeded", "etries exceeded", "after retrying",
       "ot retrying", "without retrying", "topped retrying"});
  return HasAny(text, kWords) && !HasAny(text, kGivenUp) && !IsOfLauncher(text);
}

bool GoesOnAnyway(std::string_view text) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"sing ", "nstead", "reating", "ontinu", "rom scratch", "witched off", "isabl", "oing on",
       "ot stopping", "y default", "kipp", "gnor", "all back", "alling back", "will be ",
       "roceeding", "f you want to "});
  return IsAside(text) || IsHandled(text) || HasAny(text, kWords);
}

bool IsDoubtful(std::string_view before) {
  static constexpr auto kWords = std::to_array<std::string_view>({"WARN", "Warning"});
  return HasAny(before, kWords) && !IsOfLauncher(before);
}

}  // namespace answers
