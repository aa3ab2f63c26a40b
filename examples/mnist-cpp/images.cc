#include "images.h"

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

constexpr int64_t kSize = 28;
constexpr size_t kMaxBytes = 256 << 20;
constexpr int kShifts[][2] = {{0, 0}, {1, 0}, {0, 1}, {-1, 0}, {0, -1}};

[[noreturn]] void Refuse(const std::string& path, const std::string& why) {
  throw std::runtime_error(path + ": " + why);
}

// Gzipped or not.
std::vector<uint8_t> ReadWhole(const std::string& path) {
  const std::unique_ptr<gzFile_s, decltype(&gzclose)> file(gzopen(path.c_str(), "rb"), &gzclose);
  if (file == nullptr) Refuse(path, std::strerror(errno));
  std::vector<uint8_t> content;
  std::vector<uint8_t> piece(1 << 20);
  int count = 0;
  while ((count = gzread(file.get(), piece.data(), static_cast<unsigned>(piece.size()))) > 0) {
    content.insert(content.end(), piece.begin(), piece.begin() + count);
    if (content.size() > kMaxBytes) Refuse(path, "is larger than any IDX file of images");
  }
  int error = Z_OK;
  const char* const words = gzerror(file.get(), &error);
  if (count < 0 || error != Z_OK) Refuse(path, words);
  return content;
}

at::Tensor ReadIdx(const std::string& path, uint8_t dimensions) {
  const std::vector<uint8_t> content = ReadWhole(path);
  const uint8_t magic[] = {0, 0, 8, dimensions};  // 8: unsigned bytes
  const size_t head = 4 + size_t{4} * dimensions;
  if (content.size() < head || std::memcmp(content.data(), magic, sizeof magic) != 0) {
    Refuse(path, "is not an IDX file of bytes in " + std::to_string(dimensions) + " dimension(s)");
  }
  std::vector<int64_t> shape;
  size_t expected = 1;
  for (size_t at = 4; at < head; at += 4) {
    const uint32_t extent = static_cast<uint32_t>(content[at]) << 24 | content[at + 1] << 16 |
                            content[at + 2] << 8 | content[at + 3];
    if (extent == 0 || extent > kMaxBytes / expected) Refuse(path, "its head names no such size");
    expected *= extent;
    shape.push_back(extent);
  }
  if (content.size() - head != expected) {
    Refuse(path, "holds " + std::to_string(content.size() - head) + " bytes, its head says " +
                     std::to_string(expected));
  }
  at::Tensor tensor = at::empty(shape, at::kByte);
  std::memcpy(tensor.data_ptr<uint8_t>(), content.data() + head, expected);
  return tensor;
}

Images ReadPair(const std::string& images_path, const std::string& labels_path) {
  at::Tensor pixels = ReadIdx(images_path, 3).unsqueeze(1);
  at::Tensor labels = ReadIdx(labels_path, 1);
  if (pixels.size(0) != labels.size(0)) {
    Refuse(images_path, "has another count than " + labels_path);
  }
  if (pixels.size(2) != kSize || pixels.size(3) != kSize) {
    const double brightest = std::max(1.0, pixels.max().item<double>());
    pixels = at::upsample_bilinear2d(pixels.to(at::kFloat) * (255.0 / brightest), {kSize, kSize},
                                     /*align_corners=*/false)
                 .round()
                 .to(at::kByte);
  }
  return {pixels, labels};
}

DataSet LoadSmallSet() {
  const std::string folder = SMALL_SET;
  const Images all =
      ReadPair(folder + "/digits-images-idx3-ubyte.gz", folder + "/digits-labels-idx1-ubyte.gz");
  const int64_t count = all.labels.size(0);
  const int64_t train = count * 4 / 5;
  std::vector<at::Tensor> pixels;
  std::vector<at::Tensor> labels;
  for (const auto& shift : kShifts) {
    pixels.push_back(at::roll(all.pixels.slice(0, 0, train), {shift[0], shift[1]}, {2, 3}));
    labels.push_back(all.labels.slice(0, 0, train));
  }
  return {{at::cat(pixels), at::cat(labels)},
          {all.pixels.slice(0, train), all.labels.slice(0, train)}};
}

}  // namespace

DataSet LoadImages(const std::string& directory) {
  if (directory.empty()) return LoadSmallSet();
  const auto pair = [&](const std::string& name) {
    return ReadPair(directory + "/" + name + "-images-idx3-ubyte",
                    directory + "/" + name + "-labels-idx1-ubyte");
  };
  return {pair("train"), pair("t10k")};
}
