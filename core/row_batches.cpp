#include "core/row_batches.h"

#include <algorithm>
#include <exception>
#include <system_error>

namespace sonde {
namespace {

// A batch takes about a millisecond to parse: far more than to hand it over, and its cells stay in
// the second level of a cache.
constexpr std::size_t kRowsInBatch = 512;
constexpr std::size_t kBytesInBatch = 1 << 20;
/// Reading the lines and adding the rows takes half of what parsing takes: more would wait.
constexpr unsigned kMostWorkers = 2;
constexpr std::size_t kWaitingPerWorker = 4;

}  // namespace

struct RowBatches::Batch {
  struct Line {
    std::int64_t number;
    std::size_t begin, size;
  };
  enum class State { waiting, claimed, parsed };

  bool full() const { return lines.size() >= kRowsInBatch || text.size() >= kBytesInBatch; }
  void clear() {
    text.clear();
    lines.clear();
    state = State::waiting;
  }
  void parse(const RowParser& parser);

  std::string text;
  std::vector<Line> lines;
  std::vector<RowCells> rows;        ///< by line, as is the next; both may be longer
  std::vector<std::string> reasons;  ///< why a row cannot be used
  std::string unquoted;
  RowParser::Scratch scratch;
  State state = State::waiting;
  std::exception_ptr failure;  ///< out of memory, most likely
};

void RowBatches::Batch::parse(const RowParser& parser) {
  if (rows.size() < lines.size()) rows.resize(lines.size());
  if (reasons.size() < lines.size()) reasons.resize(lines.size());
  unquoted.clear();
  unquoted.reserve(text.size());
  scratch.unprotected = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = std::string_view(text).substr(lines[i].begin, lines[i].size);
    reasons[i] = parser.parse(line, rows[i], unquoted, scratch);
  }
}

RowBatches::RowBatches(const RowParser& parser, Take take)
    : parser_(parser), take_(std::move(take)), filling_(std::make_unique<Batch>()) {}

RowBatches::~RowBatches() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void RowBatches::start_workers() {
  started_ = true;
  const unsigned further = std::max(1U, std::thread::hardware_concurrency()) - 1;
  try {
    while (workers_.size() < std::min(further, kMostWorkers)) {
      workers_.emplace_back([this] { work(); });
    }
  } catch (const std::system_error&) {  // no further thread: those there are do
  }
}

void RowBatches::work() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (Batch* batch = claim()) {
      parse(*batch, lock);
      changed_.notify_all();
    } else {
      changed_.wait(lock);
    }
  }
}

RowBatches::Batch* RowBatches::claim() {
  for (const auto& batch : begun_) {
    if (batch->state != Batch::State::waiting) continue;
    batch->state = Batch::State::claimed;
    return batch.get();
  }
  return nullptr;
}

void RowBatches::parse(Batch& batch, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  try {
    batch.parse(parser_);
  } catch (...) {
    batch.failure = std::current_exception();
  }
  lock.lock();
  batch.state = Batch::State::parsed;
}

void RowBatches::add(std::int64_t line, std::string_view text) {
  if (filling_->full()) begin();
  filling_->lines.push_back({line, filling_->text.size(), text.size()});
  filling_->text += text;
}

void RowBatches::drop_last() { filling_->lines.pop_back(); }

void RowBatches::begin() {
  if (!started_) start_workers();
  {
    const std::lock_guard lock(mutex_);
    begun_.push_back(std::move(filling_));
  }
  changed_.notify_all();
  take_down_to(kWaitingPerWorker * workers_.size());
  if (spare_.empty()) {
    filling_ = std::make_unique<Batch>();
  } else {
    filling_ = std::move(spare_.back());
    spare_.pop_back();
  }
}

void RowBatches::take_down_to(std::size_t most) {
  std::unique_lock lock(mutex_);
  while (!begun_.empty()) {
    if (begun_.front()->state == Batch::State::parsed) {
      std::unique_ptr<Batch> batch = std::move(begun_.front());
      begun_.pop_front();
      lock.unlock();
      if (batch->failure) std::rethrow_exception(batch->failure);
      for (std::size_t i = 0; i < batch->lines.size(); ++i) {
        take_(batch->lines[i].number, batch->rows[i], batch->reasons[i]);
      }
      unprotected_ += batch->scratch.unprotected;
      batch->clear();
      spare_.push_back(std::move(batch));
      lock.lock();
    } else if (begun_.size() <= most) {
      return;
    } else if (Batch* batch = claim()) {  // they are behind: one fewer for them
      parse(*batch, lock);
    } else {
      changed_.wait(lock);
    }
  }
}

void RowBatches::finish() {
  {
    const std::lock_guard lock(mutex_);
    begun_.push_back(std::move(filling_));
  }
  take_down_to(0);
  filling_ = std::move(spare_.back());
  spare_.pop_back();
}

}  // namespace sonde
