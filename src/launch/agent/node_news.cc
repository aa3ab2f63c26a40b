#include "launch/agent/node_news.h"

#include <algorithm>
#include <climits>
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
constexpr size_t kLongestWords = 500;  // of one rank, for the user

text::Array Encode(const RankLook& look) {
  const answers::Activity& of = look.activity;
  return {look.rank, look.pid,    look.has_ended, std::string(1, of.state),
          of.ticks,  of.switches, of.transfers,   of.dumped};
}

// These return false for a value of another kind. What is absent stays as it is.
bool Read(const text::Json& value, int& to) {
  const bool fits = value.is_int64() && value.get_int64() >= 0 && value.get_int64() <= INT_MAX;
  if (fits) to = static_cast<int>(value.get_int64());
  return fits;
}

bool Read(const text::Json& value, uint64_t& to) {
  if (value.is_uint64()) to = value.get_uint64();
  if (value.is_int64()) to = static_cast<uint64_t>(value.get_int64());
  return value.is_uint64() || (value.is_int64() && value.get_int64() >= 0);
}

bool Read(const text::Json& value, bool& to) {
  if (value.is_bool()) to = value.get_bool();
  return value.is_bool();
}

bool Read(const text::Json& value, std::string& to) {
  if (value.is_string()) to = std::string(value.get_string());
  return value.is_string();
}

bool Read(const text::Json& value, char& to) {
  const bool fits = value.is_string() && value.get_string().size() == 1;
  if (fits) to = value.get_string()[0];
  return fits;
}

bool Read(const text::Json& value, RankLook& to) {
  if (!value.is_array() || value.get_array().size() != 8) return false;
  const text::Array& fields = value.get_array();
  answers::Activity& of = to.activity;
  return Read(fields[0], to.rank) && Read(fields[1], to.pid) && Read(fields[2], to.has_ended) &&
         Read(fields[3], of.state) && Read(fields[4], of.ticks) && Read(fields[5], of.switches) &&
         Read(fields[6], of.transfers) && Read(fields[7], of.dumped);
}

bool Read(const text::Json& value, std::map<int, std::string>& to) {
  return value.is_array() && std::all_of(value.get_array().begin(), value.get_array().end(),
                                         [&to](const text::Json& item) {
                                           int rank = 0;
                                           return item.is_array() && item.get_array().size() == 2 &&
                                                  Read(item.get_array()[0], rank) &&
                                                  Read(item.get_array()[1], to[rank]);
                                         });
}

bool Read(const text::Json& value, std::set<int>& to) {
  return value.is_array() && std::all_of(value.get_array().begin(), value.get_array().end(),
                                         [&to](const text::Json& item) {
                                           int rank = 0;
                                           const bool is_rank = Read(item, rank);
                                           to.insert(rank);
                                           return is_rank;
                                         });
}

bool Read(const text::Json& value, std::map<int, KernelSleep>& to);
bool Read(const text::Json& value, Testimony& to);
bool Read(const text::Json& value, std::vector<RankLook>& to);
template <typename T>
bool Read(const text::Json& value, std::optional<T>& to) {
  return Read(value, to.emplace());
}

template <typename T>
bool ReadMember(const text::Json& value, std::string_view key, T& to) {
  const text::Json* const member = text::Find(value, {key});
  return member == nullptr || Read(*member, to);
}

// A character that is no UTF-8 would make the whole message useless.
std::string ToAscii(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) > '~') c = '?';
  }
  return text;
}

std::string ForUser(const std::string& text, size_t most) {
  return base::OneLine(ToAscii(text), most);
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

text::Array Encode(const std::set<int>& ranks) {
  text::Array list;
  for (const int rank : ranks) list.push_back(rank);
  return list;
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

bool Read(const text::Json& value, std::map<int, KernelSleep>& to) {
  if (!value.is_array()) return false;
  return std::all_of(
      value.get_array().begin(), value.get_array().end(), [&to](const text::Json& item) {
        int rank = 0;
        if (text::Find(item, {"rank"}) == nullptr) return false;
        if (!ReadMember(item, "rank", rank)) return false;
        KernelSleep& sleep = to[rank];
        const bool is_sleep =
            ReadMember(item, "pid", sleep.pid) && ReadMember(item, "text", sleep.text) &&
            ReadMember(item, "rest", sleep.is_rest) && ReadMember(item, "server", sleep.is_server);
        sleep.text = ForUser(sleep.text, kLongestWords);
        return is_sleep;
      });
}

bool Read(const text::Json& value, Testimony& to) {
  if (!value.is_object() || !ReadMember(value, "dumps", to.dumps) ||
      !ReadMember(value, "cut", to.cut) || !ReadMember(value, "traces", to.traces) ||
      !ReadMember(value, "unanswered", to.unanswered) || !ReadMember(value, "lines", to.lines) ||
      !ReadMember(value, "lacks_traces", to.lacks_traces) || !ReadMember(value, "mute", to.mute) ||
      !ReadMember(value, "with_work", to.with_work) || !ReadMember(value, "kernel", to.kernel)) {
    return false;
  }
  // They reach terminals.
  for (auto* const texts : {&to.unanswered, &to.lines}) {
    for (auto& [rank, text] : *texts) text = ForUser(text, kLongestWords);
  }
  return true;
}

bool Read(const text::Json& value, std::vector<RankLook>& to) {
  if (!value.is_array()) return false;
  return std::all_of(value.get_array().begin(), value.get_array().end(),
                     [&to](const text::Json& item) { return Read(item, to.emplace_back()); });
}

bool Read(const text::Json& value, NodeNews& to) {
  return value.is_object() && ReadMember(value, "looks", to.looks) &&
         ReadMember(value, "testimony", to.testimony) &&
         ReadMember(value, "question", to.question) && ReadMember(value, "line", to.line) &&
         ReadMember(value, "over", to.is_over) && ReadMember(value, "killed", to.killed) &&
         ReadMember(value, "final", to.is_final);
}

}  // namespace

std::string EncodeNews(const NodeNews& news) {
  text::Object object;
  text::Array looks;
  for (const RankLook& look : news.looks) looks.push_back(Encode(look));
  if (!looks.empty()) object["looks"] = std::move(looks);
  if (news.testimony) object["testimony"] = Encode(*news.testimony);
  if (news.question) object["question"] = *news.question;
  if (!news.line.empty()) object["line"] = ForUser(news.line, kLongestLine);
  if (news.is_over) object["over"] = true;
  if (news.killed) object["killed"] = Encode(*news.killed);
  if (news.is_final) object["final"] = true;
  return text::ToJson(object);
}

base::Result<NodeNews> DecodeNews(std::string_view text) {
  TRY_ASSIGN(const text::Json value, text::ParseJson(text));
  NodeNews news;
  if (!Read(value, news)) {
    return base::Fail(base::Code::kInvalidArgument, "not the news of a node");
  }
  news.line = ForUser(news.line, kLongestLine);
  return news;
}

bool IsOf(const NodeNews& news, int first_rank, int nproc) {
  const auto is_own = [&](int rank) { return rank >= first_rank && rank - first_rank < nproc; };
  const auto has_own = [&](const auto& by_rank) {
    return std::all_of(by_rank.begin(), by_rank.end(),
                       [&](const auto& each) { return is_own(each.first); });
  };
  const auto are_own = [&](const std::set<int>& ranks) {
    return std::all_of(ranks.begin(), ranks.end(), is_own);
  };
  std::set<int> seen;
  for (const RankLook& look : news.looks) seen.insert(look.rank);
  if (!news.looks.empty() && seen.size() != static_cast<size_t>(nproc)) return false;
  if (news.looks.size() != seen.size() || !are_own(seen)) return false;
  if (!news.testimony) return true;
  const Testimony& by = *news.testimony;
  return has_own(by.dumps) && has_own(by.traces) && has_own(by.unanswered) && has_own(by.lines) &&
         has_own(by.kernel) && are_own(by.cut) && are_own(by.mute) && are_own(by.with_work);
}

}  // namespace launch
