#include "launcher/questions/errands.h"

#include <pthread.h>

#include <atomic>

namespace agentrt::launcher {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;

std::atomic<unsigned> under_way = 0;

void* run_errand(void* errand) {
  std::unique_ptr<Errand>(static_cast<Errand*>(errand))->run();
  --under_way;
  return nullptr;
}

}  // namespace

bool send_off(std::unique_ptr<Errand> errand) {
  if (under_way.load() >= kErrandsMax) return false;
  pthread_attr_t attributes;
  pthread_t thread;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ++under_way;
  const bool started = ::pthread_create(&thread, &attributes, run_errand, errand.get()) == 0;
  if (started)
    (void)errand.release();
  else
    --under_way;
  ::pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace agentrt::launcher
