// Copies files to objects and back, large ones in parts.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "ads/oci/bucket.h"
#include "ads/oci/checksum.h"
#include "base/block_signals.h"
#include "base/defer.h"
#include "base/fd.h"
#include "base/guarded.h"
#include "base/uid.h"

namespace ads::oci {
namespace {

using base::Code;
using base::Fail;

constexpr size_t kSuffixLength = 8;
// How the service checks each part, in addition to TLS. MD5 would be slower than the network.
constexpr const char* kChecksumAlgorithm = "opc-checksum-algorithm";
constexpr const char* kCrc32c = "CRC32C";

base::Result<std::string> ReadPart(int fd, uint64_t offset, uint64_t size,
                                   const std::string& path) {
  std::string part(size, '\0');
  size_t used = 0;
  while (used < part.size()) {
    const ssize_t count =
        ::pread(fd, part.data() + used, part.size() - used, static_cast<off_t>(offset + used));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Fail(base::Errno(errno, fmt::format("read \"{}\"", path)));
    if (count == 0) {
      return Fail(Code::kConflict, fmt::format("\"{}\" became shorter while it was read", path));
    }
    used += static_cast<size_t>(count);
  }
  return part;
}

base::Status WritePart(int fd, uint64_t offset, std::string_view part, const std::string& path) {
  while (!part.empty()) {
    const ssize_t count = ::pwrite(fd, part.data(), part.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Fail(base::Errno(errno, fmt::format("write \"{}\"", path)));
    part.remove_prefix(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return {};
}

// Nullopt for a file that is not small.
base::Result<std::optional<std::string>> ReadSmallFile(const std::string& path) {
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about{};
  if (!fd || ::fstat(fd.get(), &about) != 0) {
    return Fail(base::Errno(errno, fmt::format("open \"{}\"", path)));
  }
  const auto size = static_cast<uint64_t>(about.st_size);
  if (!S_ISREG(about.st_mode) || size > kSmallFileBytes) return std::optional<std::string>();
  TRY_ASSIGN(std::string content, ReadPart(fd.get(), 0, size, path));
  return std::optional(std::move(content));
}

// Calls work(i) for each i below `count`, `at_once` at a time: on threads of its own and the
// caller's.
void ForEachAtOnce(size_t count, size_t at_once, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> threads;
  std::optional<base::BlockSignals> in_the_threads(std::in_place);
  for (size_t i = 0; i + 1 < std::min(count, at_once); ++i) {
    try {
      threads.emplace_back(run);
    } catch (const std::system_error&) {
      break;  // as many threads as the system permits
    }
  }
  in_the_threads.reset();
  run();  // on this thread, too, or only here if no thread could be started
}

base::Result<std::string> UploadIdOf(const text::Json& answer, const std::string& uri) {
  std::string id(text::GetString(answer, {"uploadId"}));
  if (!id.empty()) return id;
  return Fail(Code::kUnavailable,
              fmt::format("create_multipart_upload of {}: the answer has no uploadId", uri));
}

}  // namespace

base::Status Bucket::PutFile(const std::string& name, const std::string& path) {
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about{};
  if (!fd || ::fstat(fd.get(), &about) != 0) {
    return Fail(base::Errno(errno, fmt::format("open \"{}\"", path)));
  }
  if (!S_ISREG(about.st_mode)) {
    return Fail(Code::kInvalidArgument, fmt::format("\"{}\" is not a regular file", path));
  }
  const auto size = static_cast<uint64_t>(about.st_size);
  if (size > kPartBytes) return PutParts(name, path, fd.get(), size);
  TRY_ASSIGN(std::string content, ReadPart(fd.get(), 0, size, path));
  return Put(name, std::move(content));
}

std::vector<base::Status> Bucket::PutFiles(std::span<const FileToPut> files) {
  std::vector<base::Status> results(files.size());
  base::Guarded<std::vector<size_t>> large;
  ForEachAtOnce(files.size(), kSmallFilesAtOnce, [&](size_t i) {
    auto content = ReadSmallFile(files[i].path);
    if (!content) {
      results[i] = Fail(std::move(content.error()));
    } else if (*content) {
      results[i] = Put(files[i].name, std::move(**content));
    } else {
      large.Lock()->push_back(i);
    }
  });
  // One after another, because each uses the whole bandwidth.
  for (const size_t i : std::exchange(*large.Lock(), {}))
    results[i] = PutFile(files[i].name, files[i].path);
  return results;
}

base::Status Bucket::PutParts(const std::string& name, const std::string& path, int fd,
                              uint64_t size) {
  const text::Object create{{"object", FullName(name)}};
  TRY_ASSIGN(const text::Json upload,
             api_.Ask({.operation = "create_multipart_upload",
                       .method = "POST",
                       .target = fmt::format("/n/{}/b/{}/u", net::PercentEncode(uri_.name_space),
                                             net::PercentEncode(uri_.bucket)),
                       .body = text::ToJson(create),
                       .headers = {{kChecksumAlgorithm, kCrc32c}}}));
  TRY_ASSIGN(const std::string id, UploadIdOf(upload, UriOf(name)));
  const std::string target = UploadPath(name) + "?uploadId=" + net::PercentEncode(id);
  auto parts = SendParts(target, path, fd, size);
  base::Status committed;
  if (parts) {
    const text::Object commit{{"partsToCommit", std::move(*parts)}};
    const auto answer = api_.Send({.operation = "commit_multipart_upload",
                                   .method = "POST",
                                   .target = target,
                                   .body = text::ToJson(commit)});
    if (!answer) committed = Fail(answer.error());
  } else {
    committed = Fail(parts.error());
  }
  if (committed) return {};
  // The parts of an unfinished upload cost money.
  (void)api_.Send({.operation = "abort_multipart_upload", .method = "DELETE", .target = target});
  return committed;
}

base::Result<text::Array> Bucket::SendParts(const std::string& target, const std::string& path,
                                            int fd, uint64_t size) {
  const uint64_t part_size = PartSizeOf(size);
  const size_t count = (size + part_size - 1) / part_size;
  std::vector<std::string> etags(count);
  base::Guarded<base::Status> sent;
  std::atomic<bool> has_failed = false;
  const auto send_part = [&](size_t i) -> base::Status {
    const uint64_t offset = i * part_size;
    const net::FileRange range{fd, offset, std::min(part_size, size - offset)};
    // Reads ahead for the thread that sends.
    (void)::posix_fadvise(fd, static_cast<off_t>(offset), static_cast<off_t>(range.size),
                          POSIX_FADV_WILLNEED);
    TRY_ASSIGN(std::string crc, Crc32cOfFile(range, path));
    const ApiRequest part{
        .operation = "upload_part",
        .method = "PUT",
        .target = fmt::format("{}&uploadPartNum={}", target, i + 1),
        .content_type = "application/octet-stream",
        .headers = {{kChecksumAlgorithm, kCrc32c}, {"opc-content-crc32c", std::move(crc)}},
        .signed_body = SignedBody::kNo};
    TRY_ASSIGN(const net::HttpResponse answer, api_.SendFile(part, range));
    etags[i] = net::FindHeader(answer.headers, "etag");
    return {};
  };
  ForEachAtOnce(count, kPartsAtOnce, [&](size_t i) {
    if (has_failed) return;
    base::Status status = send_part(i);
    if (status || has_failed.exchange(true)) return;
    *sent.Lock() = std::move(status);
  });
  TRY(*sent.Lock());
  text::Array parts;
  for (size_t i = 0; i < count; ++i) {
    parts.push_back(text::Object{{"partNum", static_cast<int64_t>(i + 1)}, {"etag", etags[i]}});
  }
  return parts;
}

base::Status Bucket::GetFile(const std::string& name, const std::string& path) {
  TRY_ASSIGN(const Head head, Look(name));
  const std::string temporary = fmt::format("{}.{}", path, base::RandomName(kSuffixLength));
  const base::Fd fd(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd) return Fail(base::Errno(errno, fmt::format("create \"{}\"", temporary)));
  bool is_whole = false;
  const base::Defer clean([&] {
    if (!is_whole) ::unlink(temporary.c_str());
  });
  // A disk that is too small is noticed before anything is received.
  if (head.size > 0 && ::fallocate(fd.get(), 0, 0, static_cast<off_t>(head.size)) != 0 &&
      (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)) {
    return Fail(base::Errno(
        errno, fmt::format("download {} ({} bytes) to \"{}\"", UriOf(name), head.size, path)));
  }
  TRY(GetParts(name, head, fd.get(), path));
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    return Fail(base::Errno(errno, fmt::format("rename \"{}\" to \"{}\"", temporary, path)));
  }
  is_whole = true;
  return {};
}

base::Status Bucket::GetParts(const std::string& name, const Head& head, int fd,
                              const std::string& path) {
  uint64_t offset = 0;
  while (offset < head.size) {
    std::vector<ApiRequest> wave;
    std::vector<uint64_t> sizes;
    for (uint64_t at = offset; wave.size() < kPartsAtOnce && at < head.size; at += kPartBytes) {
      sizes.push_back(std::min(kPartBytes, head.size - at));
      ApiRequest part{.operation = "get_object", .method = "GET", .target = ObjectPath(name)};
      part.headers.emplace_back("range", fmt::format("bytes={}-{}", at, at + sizes.back() - 1));
      if (!head.etag.empty()) part.headers.emplace_back("if-match", head.etag);
      wave.push_back(std::move(part));
    }
    const auto answers = api_.SendAll(wave);
    for (size_t i = 0; i < answers.size(); ++i) {
      if (!answers[i]) return Fail(answers[i].error());
      if (answers[i]->body.size() != sizes[i]) {
        return Fail(Code::kUnavailable,
                    fmt::format("get_object of {}: {} bytes came where {} were asked for",
                                UriOf(name), answers[i]->body.size(), sizes[i]));
      }
      TRY(WritePart(fd, offset, answers[i]->body, path));
      offset += sizes[i];
    }
  }
  return {};
}

}  // namespace ads::oci
