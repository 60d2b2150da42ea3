#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/row_parser.h"

namespace sonde {

/// The lines of a file, parsed in batches: where the machine has further CPUs, threads of their own
/// help the one that reads. Where no thread can be had the same happens one after the other.
class RowBatches {
 public:
  /// Called on the thread of the calls below, in the order of the lines: the line's number, its
  /// cells, and why they cannot be used (empty: they can).
  using Take = std::function<void(std::int64_t, const RowCells&, const std::string&)>;

  RowBatches(const RowParser& parser, Take take);
  ~RowBatches();
  RowBatches(const RowBatches&) = delete;
  RowBatches& operator=(const RowBatches&) = delete;

  void add(std::int64_t line, std::string_view text);
  /// Forgets the line that was added last, which is never parsed before the next one comes.
  void drop_last();
  /// All that was added has been taken when it returns.
  void finish();
  /// Rows without a check, of those that were taken.
  std::int64_t unprotected() const { return unprotected_; }

 private:
  struct Batch;
  void begin();
  void start_workers();
  void work();
  /// Parses what was claimed. `lock` is held before and after, not meanwhile.
  void parse(Batch& batch, std::unique_lock<std::mutex>& lock);
  /// The oldest batch that nobody has claimed, now claimed; nullptr: there is none.
  Batch* claim();
  /// Takes the rows of the oldest batches until no more than `most` are left.
  void take_down_to(std::size_t most);

  const RowParser& parser_;
  Take take_;
  std::int64_t unprotected_ = 0;
  std::unique_ptr<Batch> filling_;
  std::vector<std::unique_ptr<Batch>> spare_;  ///< kept for their memory

  std::mutex mutex_;  ///< of what follows
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Batch>> begun_;  ///< oldest first
  bool stop_ = false;
  bool started_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace sonde
