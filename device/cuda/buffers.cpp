#include "device/cuda/buffers.h"

#include <cuda_runtime_api.h>

#include "core/units.h"
#include "device/cuda/errors.h"

namespace sonde::cuda {
namespace {

/// The old memory goes first: both at once might not fit.
template <class Buffer>
bool grow(Buffer& buffer, std::int64_t bytes) {
  if (buffer.size() >= bytes) return false;
  { const Buffer old = std::move(buffer); }
  buffer = Buffer(bytes);
  return true;
}

}  // namespace

DeviceBuffer::DeviceBuffer(std::int64_t bytes) {
  check(cudaMalloc(&data_, static_cast<std::size_t>(bytes)),
        format_size(Bytes(bytes)) + " of the card's memory");
  size_ = bytes;
}

DeviceBuffer::~DeviceBuffer() {
  if (data_ != nullptr) static_cast<void>(cudaFree(data_));  // a lost context has freed it already
}

bool DeviceBuffer::reserve(std::int64_t bytes) { return grow(*this, bytes); }

PinnedBuffer::PinnedBuffer(std::int64_t bytes) {
  check(cudaHostAlloc(&data_, static_cast<std::size_t>(bytes), cudaHostAllocMapped),
        format_size(Bytes(bytes)) + " of locked host memory");
  size_ = bytes;
}

PinnedBuffer::~PinnedBuffer() {
  if (data_ != nullptr) static_cast<void>(cudaFreeHost(data_));
}

bool PinnedBuffer::reserve(std::int64_t bytes) { return grow(*this, bytes); }

}  // namespace sonde::cuda
