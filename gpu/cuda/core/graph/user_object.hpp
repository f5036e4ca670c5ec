// User objects: the program's own resources, kept as long as graphs need them.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

class Graph;

// Counts references. The release of the last one calls the program's destructor.
class UserObject {
 public:
  UserObject(void* data, void (*destroy)(void*), unsigned references)
      : data_(data), destroy_(destroy), references_(references) {}
  // invalid_value: more than the count holds, or nobody holds the object any more.
  Status retain(unsigned count);
  Status release(unsigned count);  // invalid_value: more than are held

 private:
  void* data_;
  void (*destroy_)(void*);
  std::mutex mutex_;
  unsigned references_;
};

// References that a graph and its copies hold together.
struct UserReferences {
  UserReferences(std::shared_ptr<UserObject> held, unsigned n)
      : object(std::move(held)), count(n) {}
  ~UserReferences() { object->release(count); }
  UserReferences(const UserReferences&) = delete;
  UserReferences& operator=(const UserReferences&) = delete;
  std::shared_ptr<UserObject> object;
  unsigned count;
};

// Operations on the handles of user objects and graphs (invalid_value: also if a call retains or
// releases more than INT_MAX references).
Status make_user_object(void** place, void* data, void (*destroy)(void*), unsigned references,
                        unsigned flags);
Status retain_user_object(const void* handle, unsigned count);
Status release_user_object(const void* handle, unsigned count);
Status retain_in_graph(const void* graph, const void* handle, unsigned count, unsigned flags);
Status release_from_graph(const void* graph, const void* handle, unsigned count);

// Gives the graph `count` references: new ones, or, if `move`, the caller's.
Status retain(Graph& graph, const std::shared_ptr<UserObject>& object, unsigned count, bool move);
Status release(Graph& graph, const std::shared_ptr<UserObject>& object, unsigned count);

}  // namespace inflight::cuda
