#include "device/host/stream.h"

#include <algorithm>
#include <bit>
#include <set>
#include <span>

#include "core/error.h"
#include "core/parse.h"
#include "core/rng.h"
#include "device/common/pattern.h"
#include "device/host/pin.h"
#include "device/host/windows.h"

namespace sonde::host {
namespace {

/// Arrays of one core begin so far apart within a page: loads and stores of the same page offset
/// wait for each other on many cores (4 KiB aliasing).
constexpr std::int64_t kStagger = std::int64_t{17} * 64;
constexpr int kShared = -1;
/// Before a run each target holds this, which no loop writes: a store left out is noticed.
constexpr double kUntouched = -1;

/// Word `i` of a source: whole numbers below 2^20, so that a triad of them is exact.
double source_word(std::uint64_t seed, std::uint64_t i) {
  return static_cast<double>(static_cast<std::int32_t>(pattern_word(seed, i) >> 44));
}

std::uint64_t second_seed(std::uint64_t seed) { return key_of({seed, 2}); }

std::span<double> doubles(std::byte* begin, std::int64_t bytes) {
  return {reinterpret_cast<double*>(begin), static_cast<std::size_t>(bytes / 8)};
}

std::span<const double> doubles(const std::byte* begin, std::int64_t bytes) {
  return {reinterpret_cast<const double*>(begin), static_cast<std::size_t>(bytes / 8)};
}

/// First byte of array `index` of a core; null when there is none.
std::byte* start(const Buffer& buffer, std::int64_t index) {
  return buffer.size() == 0 ? nullptr : buffer.data() + index * kStagger;
}

bool reads(const std::string& kind) { return kind != "write"; }
bool writes(const std::string& kind) { return kind != "read"; }

}  // namespace

StreamOffer stream_offer() {
  StreamOffer offer;
  offer.kinds = {"read", "write", "copy", "triad"};
  offer.stores = {"ordinary"};
  if (stream_kernels().front().nt_copy != nullptr) offer.stores.emplace_back("nt");
  for (const StreamKernels& kernels : stream_kernels()) {
    offer.request_bytes.push_back(kernels.request_bytes);
  }
  offer.requests = 1;
  return offer;
}

const StreamKernels& StreamEngine::kernels_for(const StreamWork& work) const {
  const StreamOffer offer = stream_offer();
  if (std::find(offer.kinds.begin(), offer.kinds.end(), work.kind) == offer.kinds.end()) {
    throw Skip("no " + work.kind + " stream here; there is " + join_names(offer.kinds));
  }
  if (std::find(offer.stores.begin(), offer.stores.end(), work.store) == offer.stores.end()) {
    throw Skip("no " + work.store + " stores here; there is " + join_names(offer.stores));
  }
  if (work.kind == "read" && work.store != offer.stores.front()) {
    throw Skip("a read has no " + work.store + " stores");
  }
  if (work.requests != 1) {
    throw Skip(format_count(work.requests) + " requests a command: an access of a core is one");
  }
  std::vector<std::string> widths;
  for (const StreamKernels& kernels : stream_kernels()) {
    if (kernels.request_bytes == work.request_bytes) return planted_ ? *planted_ : kernels;
    widths.push_back(std::to_string(kernels.request_bytes));
  }
  throw Skip("accesses of " + format_count(work.request_bytes) + " B: this processor has " +
             join_names(widths) + " B");
}

void StreamEngine::prepare(const StreamWork& work) {
  blocks_.clear();
  const std::vector<int> cpus = usable_cpus(machine_, work.cores);
  if (cpus.empty()) throw Skip("a stream on no core");
  const StreamKernels& kernels = kernels_for(work);
  if (work.bytes < work.request_bytes || work.bytes % work.request_bytes != 0 || work.passes < 1) {
    throw Skip(format_count(work.passes) + " passes over " + format_count(work.bytes) +
               " B in accesses of " + format_count(work.request_bytes) +
               " B: at least one pass and a whole number of accesses are needed");
  }
  const std::int64_t sets = work.shared ? 1 : static_cast<std::int64_t>(cpus.size());
  const std::int64_t most = description_.memory_bytes.value_or(std::int64_t{1} << 46);
  if (work.bytes > most / (sets * work.arrays())) {
    throw Skip(format_count(sets * work.arrays()) + " arrays of " + format_size(Bytes(work.bytes)) +
               " do not fit: a measurement may use " + format_count(most) + " B");
  }
  // What is kept for later must not stand in the way.
  std::int64_t held = 0;
  for (const auto& [cpu, arrays] : memory_) held += arrays.held_bytes();
  if (held > most - work.bytes * sets * work.arrays()) memory_.clear();

  work_ = work;
  pass_ = kernels.pass(work.kind, work.store);
  instructions_ = kernels.instructions;
  written_ += 1;
  std::vector<Block> blocks(cpus.size());
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    blocks[i].seat.cpu = cpus[i];
    blocks[i].memory = &memory_[work.shared ? kShared : cpus[i]];
  }
  const std::vector<int> owners(cpus.begin(), cpus.begin() + static_cast<std::ptrdiff_t>(sets));
  on_each_cpu(owners, [&](std::size_t i) {
    allocate(work, *blocks[i].memory);
    fill(work, *blocks[i].memory,
         key_of({work.seed, work.shared ? 0 : static_cast<std::uint64_t>(owners[i]) + 1}));
  });
  on_each_cpu(cpus, [&](std::size_t i) {
    Block& block = blocks[i];
    const Arrays& memory = *block.memory;
    block.arrays = {start(memory.target, 0), start(memory.source, 1), start(memory.second, 2),
                    work.bytes, written_};
    if (work.kind == "read") {
      for (const double word : doubles(block.arrays.source, work.bytes)) {
        block.source_sum += std::bit_cast<std::uint64_t>(word);
      }
    }
  });
  blocks_ = std::move(blocks);
}

void StreamEngine::allocate(const StreamWork& work, Arrays& memory) const {
  auto grow = [&](Buffer& buffer, std::int64_t index) {
    const std::int64_t needed = work.bytes + index * kStagger;
    if (buffer.size() >= needed) return;
    buffer = Buffer();
    buffer = Buffer(needed, machine_.huge_page_bytes);
    memory.seed.reset();
  };
  if (writes(work.kind)) grow(memory.target, 0);
  if (reads(work.kind)) grow(memory.source, 1);
  if (work.kind == "triad") grow(memory.second, 2);
}

void StreamEngine::fill(const StreamWork& work, Arrays& memory, std::uint64_t seed) const {
  auto fill_words = [](std::span<double> words, std::uint64_t key) {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = source_word(key, i);
  };
  if (reads(work.kind) && (memory.seed != seed || memory.filled_bytes < work.bytes)) {
    fill_words(doubles(start(memory.source, 1), work.bytes), seed);
    memory.filled_bytes = work.bytes;
    memory.seed = seed;
  }
  if (work.kind == "triad") {
    fill_words(doubles(start(memory.second, 2), work.bytes), second_seed(seed));
  }
  if (writes(work.kind)) {
    const std::span<double> words = doubles(start(memory.target, 0), work.bytes);
    std::fill(words.begin(), words.end(), kUntouched);
  }
}

Sample StreamEngine::run(const Trial&) {
  if (blocks_.empty()) throw PointFailure("run() without a prepare() that succeeded");
  std::vector<int> cpus;
  for (const Block& block : blocks_) cpus.push_back(block.seat.cpu);
  TeamWindow window(blocks_.size());
  double elapsed_ns = 0;
  std::optional<Hertz> clock;  // of the first block's core
  on_each_cpu(cpus, [&](std::size_t index) noexcept {
    Block& block = blocks_[index];
    block.seat.before = current_cpu();
    const double each_ns = time_of_one_ns([&](std::int64_t count) {
      std::uint64_t sum = 0;
      const std::int64_t taken = window.time_ns(index, [&] {
        for (std::int64_t left = count * work_.passes; left > 0; --left) sum += pass_(block.arrays);
      });
      block.read_sum += sum;
      block.passes += static_cast<std::uint64_t>(count * work_.passes);
      return taken;
    });
    if (index == 0) {
      elapsed_ns = each_ns;
      clock = measure_core_clock();
    }
    block.seat.after = current_cpu();
  });
  require_time(elapsed_ns, "the stream");
  Sample sample;
  sample.elapsed = Seconds(elapsed_ns * 1e-9);
  sample.clock = clock;
  std::set<std::string> kinds;
  for (const Block& block : blocks_) {
    sample.placement.push_back(block.seat.core());
    const Buffer& buffer = writes(work_.kind) ? block.memory->target : block.memory->source;
    kinds.insert(buffer.page_kind());
  }
  for (const std::string& kind : kinds) sample.note += kind + ", ";
  sample.note += instructions_;
  return sample;
}

std::optional<std::string> StreamEngine::first_wrong(const Block& block) const {
  if (work_.kind == "read") {
    const std::uint64_t expected = block.source_sum * block.passes;
    if (block.read_sum == expected) return std::nullopt;
    return "the sum of the words read is " + std::to_string(block.read_sum) + ", expected " +
           std::to_string(expected);
  }
  const std::span<const double> found = doubles(block.arrays.target, work_.bytes);
  const std::span<const double> source = doubles(block.arrays.source, work_.bytes);
  const std::span<const double> second = doubles(block.arrays.second, work_.bytes);
  auto compare = [&](const auto& expected) -> std::optional<std::string> {
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i] == expected(i)) continue;
      return "byte " + format_count(static_cast<std::int64_t>(i) * 8) + " begins " +
             format_number(found[i]) + ", expected " + format_number(expected(i));
    }
    return std::nullopt;
  };
  if (work_.kind == "write") return compare([this](std::size_t) { return written_; });
  if (work_.kind == "copy") return compare([&](std::size_t i) { return source[i]; });
  return compare([&](std::size_t i) { return source[i] + kTriadFactor * second[i]; });
}

Check StreamEngine::verify() {
  if (blocks_.empty()) return {false, "nothing was streamed"};
  std::vector<int> cpus;
  std::vector<std::optional<std::string>> problems(blocks_.size());
  for (const Block& block : blocks_) cpus.push_back(block.seat.cpu);
  on_each_cpu(cpus, [&](std::size_t i) { problems[i] = first_wrong(blocks_[i]); });
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::string name = "block " + std::to_string(i);
    if (const auto problem = blocks_[i].seat.misplaced(name)) return {false, *problem};
    if (problems[i]) return {false, name + ": " + *problems[i]};
  }
  return {};
}

}  // namespace sonde::host
