#include "ads/oci/bucket.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace ads::oci {
namespace {

using base::Code;
using base::Fail;

constexpr const char* kBinary = "application/octet-stream";

ApiRequest OnObject(const char* operation, const char* method, std::string target) {
  return {.operation = operation, .method = method, .target = std::move(target)};
}

}  // namespace

base::Result<BucketUri> ParseBucketUri(std::string_view uri) {
  const auto refuse = [&] {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("\"{}\" is not a URI of object storage: oci://bucket@namespace/prefix", uri));
  };
  constexpr std::string_view kScheme = "oci://";
  if (!uri.starts_with(kScheme)) return refuse();
  const std::string_view rest = uri.substr(kScheme.size());
  const size_t slash = rest.find('/');
  const std::string_view place = rest.substr(0, slash);
  const size_t at = place.find('@');
  if (at == std::string_view::npos || at == 0) return refuse();
  BucketUri parsed;
  parsed.bucket = place.substr(0, at);
  parsed.name_space = place.substr(at + 1);
  if (slash == std::string_view::npos) return parsed;
  std::string_view prefix = rest.substr(slash);
  while (prefix.starts_with('/')) prefix.remove_prefix(1);
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  parsed.prefix = prefix;
  return parsed;
}

uint64_t PartSizeOf(uint64_t file_size) {
  return std::max(kPartBytes, (file_size + kMaxParts - 1) / kMaxParts);
}

std::string Bucket::FullName(const std::string& name) const {
  return uri_.prefix.empty() ? name : uri_.prefix + "/" + name;
}

std::string Bucket::UriOf(const std::string& name) const {
  return fmt::format("oci://{}@{}/{}", uri_.bucket, uri_.name_space, FullName(name));
}

std::string Bucket::ObjectPath(const std::string& name) const {
  return fmt::format("/n/{}/b/{}/o/{}", net::PercentEncode(uri_.name_space),
                     net::PercentEncode(uri_.bucket), net::PercentEncode(FullName(name)));
}

std::string Bucket::UploadPath(const std::string& name) const {
  return fmt::format("/n/{}/b/{}/u/{}", net::PercentEncode(uri_.name_space),
                     net::PercentEncode(uri_.bucket), net::PercentEncode(FullName(name)));
}

base::Result<std::string> OwnNamespace(Api& object_storage) {
  TRY_ASSIGN(const text::Json name, object_storage.Ask(OnObject("get_namespace", "GET", "/n/")));
  if (const auto* text = name.if_string(); text != nullptr && !text->empty()) {
    return std::string(text->data(), text->size());
  }
  return Fail(Code::kUnavailable, "get_namespace: the answer is not a name");
}

ApiRequest Bucket::PutRequest(const std::string& name, std::string content) const {
  ApiRequest request = OnObject("put_object", "PUT", ObjectPath(name));
  if (std::string md5 = Md5Base64(content); !md5.empty()) {
    request.headers.emplace_back("content-md5", std::move(md5));
  }
  request.body = std::move(content);
  request.content_type = kBinary;
  request.signed_body = SignedBody::kNo;
  return request;
}

base::Status Bucket::Put(const std::string& name, std::string content) {
  TRY(api_.Send(PutRequest(name, std::move(content))));
  return {};
}

base::Result<std::string> Bucket::Get(const std::string& name) {
  TRY_ASSIGN(net::HttpResponse answer, api_.Send(OnObject("get_object", "GET", ObjectPath(name))));
  return std::move(answer.body);
}

base::Result<Bucket::Head> Bucket::Look(const std::string& name) {
  TRY_ASSIGN(const net::HttpResponse answer,
             api_.Send(OnObject("head_object", "HEAD", ObjectPath(name))));
  const auto size = base::ParseInt(net::FindHeader(answer.headers, "content-length"));
  if (!size || *size < 0) {
    return Fail(Code::kUnavailable,
                fmt::format("head_object of {}: the answer names no size", UriOf(name)));
  }
  return Head{
      static_cast<uint64_t>(*size), std::string(net::FindHeader(answer.headers, "etag")),
      ParseHttpDate(net::FindHeader(answer.headers, "last-modified")).value_or(base::Time())};
}

base::Status Bucket::Remove(const std::string& name) {
  const auto answer = api_.Send(OnObject("delete_object", "DELETE", ObjectPath(name)));
  if (!answer && answer.error().code != Code::kNotFound) return Fail(answer.error());
  return {};
}

base::Result<std::vector<Bucket::Object>> Bucket::List(const std::string& prefix) {
  const std::string full = FullName(prefix);
  const std::string target =
      fmt::format("/n/{}/b/{}/o?prefix={}&fields=name%2Csize", net::PercentEncode(uri_.name_space),
                  net::PercentEncode(uri_.bucket), net::PercentEncode(full));
  const size_t cut = uri_.prefix.empty() ? 0 : uri_.prefix.size() + 1;
  std::vector<Object> objects;
  std::string start;
  do {
    ApiRequest request = OnObject("list_objects", "GET", target);
    if (!start.empty()) request.target += "&start=" + net::PercentEncode(start);
    TRY_ASSIGN(const text::Json page, api_.Ask(request));
    for (const text::Json& one : text::Items(page, {"objects"})) {
      const std::string_view name = text::GetString(one, {"name"});
      if (name.size() < cut) continue;
      objects.push_back({std::string(name.substr(cut)),
                         static_cast<uint64_t>(text::GetInt(one, {"size"}).value_or(0))});
    }
    const std::string next(text::GetString(page, {"nextStartWith"}));
    if (next == start && !next.empty()) {
      return Fail(Code::kUnavailable, "list_objects: the list does not go on");
    }
    start = next;
  } while (!start.empty());
  std::sort(objects.begin(), objects.end(),
            [](const Object& a, const Object& b) { return a.name < b.name; });
  return objects;
}

}  // namespace ads::oci
