// Three threads of a C++ program that wait, each in its own way, or compute in functions that call themselves: `wait`, `spin`.
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <future>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

namespace {

struct Queue {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<int> jobs;

  int take() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !jobs.empty(); });
    return jobs.front();
  }
};

template <typename Value>
[[gnu::noinline]] Value sum(const std::vector<Value> &values, int depth) {
  if (depth == 0) return std::accumulate(values.begin(), values.end(), Value());
  return sum(values, depth - 1) + 1;
}

[[noreturn]] void compute() {
  std::vector<long> values(1000, 1);
  volatile long total = 0;
  for (int depth = 0;; depth = (depth + 1) % 20) total = total + sum(values, depth);
}

}  // namespace

int main(int count, char **words) {
  std::puts("ready");
  std::fflush(stdout);
  if (count > 1 && std::strcmp(words[1], "spin") == 0) compute();
  Queue queue;
  std::promise<int> promise;
  std::thread worker([&] { queue.take(); });
  std::thread other([&] { promise.get_future().get(); });
  worker.join();
}
