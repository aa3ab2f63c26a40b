#include "text/packing.h"

#include <lz4.h>

#include <cstdint>
#include <cstring>
#include <utility>

namespace text {

using Length = int32_t;  // as LZ4 counts

Packing::Packing(std::string dictionary)
    : dictionary_(std::move(dictionary)), after_dictionary_(std::make_unique<LZ4_stream_t>()) {
  LZ4_initStream(after_dictionary_.get(), sizeof *after_dictionary_);
  LZ4_loadDict(after_dictionary_.get(), dictionary_.data(),
               static_cast<Length>(dictionary_.size()));
}

Packing::~Packing() = default;

std::string Packing::Pack(std::string_view text) const {
  LZ4_stream_t stream = *after_dictionary_;
  const auto length = static_cast<Length>(text.size());
  const Length limit = LZ4_compressBound(length);
  std::string out(sizeof length + static_cast<size_t>(limit), '\0');
  std::memcpy(out.data(), &length, sizeof length);
  const Length packed = LZ4_compress_fast_continue(&stream, text.data(), out.data() + sizeof length,
                                                   length, limit, /*acceleration=*/1);
  return {out.data(), sizeof length + static_cast<size_t>(packed)};  // without spare capacity
}

std::string Packing::Unpack(std::string_view packed) const {
  Length length = 0;
  std::memcpy(&length, packed.data(), sizeof length);
  packed.remove_prefix(sizeof length);
  std::string text(static_cast<size_t>(length), '\0');
  LZ4_decompress_safe_usingDict(packed.data(), text.data(), static_cast<Length>(packed.size()),
                                length, dictionary_.data(),
                                static_cast<Length>(dictionary_.size()));
  return text;
}

}  // namespace text
