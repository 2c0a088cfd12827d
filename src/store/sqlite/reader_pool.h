// store/sqlite/reader_pool.h: a pool of read connections, shared by all reading threads.
//
// Connections are opened on first use and kept. If all are in use, a read waits for one and fails
// with `overloaded` after a timeout: reads are short, so a timeout indicates a stuck disk.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "store/sqlite/reader.h"

namespace agentrt::store {

class ReaderPool {
 public:
  using OpenConnection = std::function<Result<Connection>()>;

  ReaderPool(OpenConnection open, std::size_t readers_max, std::chrono::milliseconds wait_max)
      : open_(std::move(open)), readers_max_(readers_max), wait_max_(wait_max) {}

 private:
  struct Member {
    explicit Member(Connection opened) : connection(std::move(opened)), reader(connection) {}
    Connection connection;
    Reader reader;
  };

 public:
  // Exclusive use of a reader until it is destroyed.
  class Lease {
   public:
    Lease(ReaderPool& pool, std::unique_ptr<Member> member)
        : pool_(&pool), member_(std::move(member)) {}
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (member_) pool_->give_back(std::move(member_));
    }

    Reader* operator->() { return &member_->reader; }

   private:
    ReaderPool* pool_;
    std::unique_ptr<Member> member_;
  };

  Result<Lease> take();

 private:
  void give_back(std::unique_ptr<Member> member);

  OpenConnection open_;
  std::size_t readers_max_;
  std::chrono::milliseconds wait_max_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Member>> idle_;
  std::size_t opened_ = 0;  // idle or leased
};

}  // namespace agentrt::store
