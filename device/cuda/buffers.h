#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace sonde::cuda {

/// Memory of the card. Throws Skip naming the size when there is none.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::int64_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    swap(other);
    return *this;
  }

  template <class T = char>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::int64_t size() const { return size_; }
  /// At least `bytes`; true when it was made anew, its content lost.
  bool reserve(std::int64_t bytes);

 private:
  void swap(DeviceBuffer& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  void* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// Memory of the host that is locked and that kernels see at the same address.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::int64_t bytes);
  ~PinnedBuffer();
  PinnedBuffer(PinnedBuffer&& other) noexcept { swap(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    swap(other);
    return *this;
  }

  template <class T = char>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::int64_t size() const { return size_; }
  bool reserve(std::int64_t bytes);

 private:
  void swap(PinnedBuffer& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  void* data_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace sonde::cuda
