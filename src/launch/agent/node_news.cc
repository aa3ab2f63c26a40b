#include "launch/agent/node_news.h"

#include <map>
#include <set>
#include <utility>

#include "base/strings.h"
#include "text/json.h"

namespace launch {
namespace {

using answers::KernelSleep;
using answers::RankLook;
using Testimony = answers::StallWatch::Testimony;

// As JSON, of all ranks of a node, so that all of them fit into Rendezvous::kLongestTold.
constexpr size_t kMostDumps = 768 << 10;
constexpr size_t kMostTraces = 2 << 20;
constexpr size_t kMostOthers = 128 << 10;  // of each other kind of text
constexpr size_t kLongestLine = 16 << 10;

text::Array Encode(const RankLook& look) {
  const answers::Activity& of = look.activity;
  return {look.rank, look.pid,    look.has_ended, std::string(1, of.state),
          of.ticks,  of.switches, of.transfers,   of.dumped};
}

std::optional<RankLook> DecodeLook(const text::Json& value) {
  if (!value.is_array() || value.get_array().size() != 8) return std::nullopt;
  const text::Array& fields = value.get_array();
  const auto number = [&](size_t at) {
    return fields[at].is_int64() ? fields[at].get_int64() : int64_t{0};
  };
  if (!fields[2].is_bool() || !fields[3].is_string() || fields[3].get_string().size() != 1) {
    return std::nullopt;
  }
  RankLook look;
  look.rank = static_cast<int>(number(0));
  look.pid = static_cast<int>(number(1));
  look.has_ended = fields[2].get_bool();
  look.activity.state = fields[3].get_string()[0];
  look.activity.ticks = static_cast<uint64_t>(number(4));
  look.activity.switches = static_cast<uint64_t>(number(5));
  look.activity.transfers = static_cast<uint64_t>(number(6));
  look.activity.dumped = static_cast<uint64_t>(number(7));
  return look;
}

// A character that is no UTF-8 would make the whole message useless.
std::string ToAscii(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) > '~') c = '?';
  }
  return text;
}

// Adds ranks whose text does not fit to `left_out`.
text::Array Encode(const std::map<int, std::string>& texts, size_t most, std::set<int>& left_out) {
  text::Array list;
  size_t bytes = 0;
  for (const auto& [rank, text] : texts) {
    std::string ascii = ToAscii(text);
    const size_t size = text::QuoteJson(ascii).size();
    if (bytes + size > most) {
      left_out.insert(rank);
      continue;
    }
    bytes += size;
    list.push_back(text::Array{rank, std::move(ascii)});
  }
  return list;
}

std::map<int, std::string> DecodeTexts(const text::Json& value, std::string_view key) {
  std::map<int, std::string> texts;
  for (const text::Json& item : text::Items(value, {key})) {
    if (!item.is_array() || item.get_array().size() != 2) continue;
    const text::Array& pair = item.get_array();
    if (!pair[0].is_int64() || !pair[1].is_string()) continue;
    texts[static_cast<int>(pair[0].get_int64())] = std::string(pair[1].get_string());
  }
  return texts;
}

text::Array Encode(const std::set<int>& ranks) {
  text::Array list;
  for (const int rank : ranks) list.push_back(rank);
  return list;
}

std::set<int> DecodeRanks(const text::Json& value, std::string_view key) {
  std::set<int> ranks;
  for (const text::Json& item : text::Items(value, {key})) {
    if (item.is_int64()) ranks.insert(static_cast<int>(item.get_int64()));
  }
  return ranks;
}

text::Object Encode(const Testimony& testimony) {
  text::Array kernel;
  for (const auto& [rank, sleep] : testimony.kernel) {
    kernel.push_back(text::Object{{"rank", rank},
                                  {"pid", sleep.pid},
                                  {"text", ToAscii(sleep.text)},
                                  {"rest", sleep.is_rest},
                                  {"server", sleep.is_server}});
  }
  std::set<int> cut = testimony.cut;
  std::set<int> mute = testimony.mute;
  std::set<int> unsaid;
  text::Array dumps = Encode(testimony.dumps, kMostDumps, cut);
  text::Array traces = Encode(testimony.traces, kMostTraces, mute);
  return {{"dumps", std::move(dumps)},
          {"cut", Encode(cut)},
          {"traces", std::move(traces)},
          {"unanswered", Encode(testimony.unanswered, kMostOthers, unsaid)},
          {"lines", Encode(testimony.lines, kMostOthers, unsaid)},
          {"lacks_traces", testimony.lacks_traces},
          {"mute", Encode(mute)},
          {"with_work", Encode(testimony.with_work)},
          {"kernel", std::move(kernel)}};
}

Testimony DecodeTestimony(const text::Json& value) {
  Testimony testimony;
  testimony.dumps = DecodeTexts(value, "dumps");
  testimony.cut = DecodeRanks(value, "cut");
  testimony.traces = DecodeTexts(value, "traces");
  testimony.unanswered = DecodeTexts(value, "unanswered");
  testimony.lines = DecodeTexts(value, "lines");
  testimony.lacks_traces = text::GetBool(value, {"lacks_traces"}).value_or(false);
  testimony.mute = DecodeRanks(value, "mute");
  testimony.with_work = DecodeRanks(value, "with_work");
  for (const text::Json& item : text::Items(value, {"kernel"})) {
    KernelSleep sleep;
    sleep.pid = static_cast<int>(text::GetInt(item, {"pid"}).value_or(0));
    sleep.text = std::string(text::GetString(item, {"text"}));
    sleep.is_rest = text::GetBool(item, {"rest"}).value_or(false);
    sleep.is_server = text::GetBool(item, {"server"}).value_or(false);
    testimony.kernel[static_cast<int>(text::GetInt(item, {"rank"}).value_or(-1))] =
        std::move(sleep);
  }
  return testimony;
}

}  // namespace

std::string EncodeNews(const NodeNews& news) {
  text::Object object{{"node", news.node}};
  text::Array looks;
  for (const RankLook& look : news.looks) looks.push_back(Encode(look));
  if (!looks.empty()) object["looks"] = std::move(looks);
  if (news.testimony) object["testimony"] = Encode(*news.testimony);
  if (news.question) object["question"] = *news.question;
  if (!news.line.empty()) object["line"] = ToAscii(base::OneLine(news.line, kLongestLine));
  if (news.is_over) object["over"] = true;
  if (news.killed) object["killed"] = Encode(*news.killed);
  if (news.is_final) object["final"] = true;
  return text::ToJson(object);
}

base::Result<NodeNews> DecodeNews(std::string_view text) {
  TRY_ASSIGN(const text::Json value, text::ParseJson(text));
  NodeNews news;
  news.node = static_cast<int>(text::GetInt(value, {"node"}).value_or(-1));
  for (const text::Json& item : text::Items(value, {"looks"})) {
    if (const auto look = DecodeLook(item)) news.looks.push_back(*look);
  }
  if (const auto* testimony = text::Find(value, {"testimony"})) {
    news.testimony = DecodeTestimony(*testimony);
  }
  news.question = text::GetInt(value, {"question"});
  news.line = std::string(text::GetString(value, {"line"}));
  news.is_over = text::GetBool(value, {"over"}).value_or(false);
  if (const auto* killed = text::Find(value, {"killed"})) news.killed = DecodeLook(*killed);
  news.is_final = text::GetBool(value, {"final"}).value_or(false);
  return news;
}

}  // namespace launch
