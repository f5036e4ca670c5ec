// State of a host thread that is kept between calls.
#pragma once
#include <pthread.h>

namespace inflight::host {

// The calling thread's T, made at first use and deleted when the thread ends. The thread that ends
// the process keeps its T, because atexit functions and destructors of static objects call CUDA
// after C++ has destroyed that thread's thread_local objects. A T that is first used while the
// thread ends, by what is deleted then, is deleted too. The destructor of a thread_local object
// would not run, so no such object has one.
template <class T>
T& of_this_thread() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, [](void* each) { delete static_cast<T*>(each); });
    return made;
  }();
  auto* mine = static_cast<T*>(pthread_getspecific(key));
  if (!mine) pthread_setspecific(key, mine = new T);
  return *mine;
}

}  // namespace inflight::host
