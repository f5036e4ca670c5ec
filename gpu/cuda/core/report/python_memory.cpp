// Looks up the interpreter's C functions in the process, and runs a small Python program with them.
#include "gpu/cuda/core/report/python_memory.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "gpu/host/awake_time.hpp"

namespace inflight::cuda {
namespace {

// Sets `found` to "OFFSET NAME". It makes no CUDA call and disables garbage collection, which would
// release memory in the middle of a launch. A tensor is named after the variable that holds it,
// directly or through an object, in the nearest frame outside packages.
constexpr const char* program = R"(
import gc, sys
def extent(thing):
    torch = sys.modules.get('torch')
    if torch is not None and issubclass(type(thing), torch.Tensor):
        if not thing.is_cuda: return None
        last = sum((n - 1) * s for n, s in zip(thing.shape, thing.stride())) if thing.numel() else -1
        return (thing.data_ptr(), (last + 1) * thing.element_size(), 'tensor',
                str(thing.dtype).replace('torch.', ''), tuple(thing.shape))
    if type(thing).__module__.partition('.')[0] not in ('numba', 'numba_cuda', 'cupy'): return None
    about = getattr(thing, '__cuda_array_interface__', None)
    if not isinstance(about, dict): return None
    size = int(about['typestr'][2:])
    for n in about['shape']: size *= n
    return (about['data'][0], size, 'array', about['typestr'][1:], tuple(about['shape']))
def name_of(thing):
    for frame in sys._current_frames().values():
        while frame is not None:
            if 'site-packages' not in frame.f_code.co_filename and frame.f_code.co_filename != '<string>':
                for name, value in list(frame.f_locals.items()):
                    if value is thing: return name
                    if type(value) is type(sys): continue
                    try: inside = object.__getattribute__(value, '__dict__')
                    except Exception: continue
                    if type(inside) is not dict: continue
                    for part, each in list(inside.items()):
                        if each is thing: return name + '.' + part
            frame = frame.f_back
    return ''
def find():
    best = None
    for thing in gc.get_objects():
        try: at = extent(thing)
        except Exception: continue
        if at is None or at[1] <= 0: continue
        behind = address - at[0]
        if behind < 0 or behind >= at[1] + 4096: continue
        past = max(0, behind - at[1] + 1)
        name = name_of(thing)
        rank = (past, not name, at[1])
        if best is None or rank < best[0]: best = (rank, behind, name, at)
    if best is None: return ''
    _, behind, name, (_, _, kind, element, shape) = best
    return '%d %s%s, %s %s' % (behind, kind, name and ' ' + name, element, shape)
collects = gc.isenabled()
gc.disable()
try: found = find()
except Exception: found = ''
finally:
    if collects: gc.enable()
)";

// The interpreter's functions that are called. Their names are the same in all versions.
struct Interpreter {
  int (*is_initialized)() = nullptr;
  int (*holds_lock)() = nullptr;
  int (*ensure)() = nullptr;
  void (*release)(int) = nullptr;
  void* (*new_dict)() = nullptr;
  void* (*builtins)() = nullptr;
  int (*set_item)(void*, const char*, void*) = nullptr;
  void* (*get_item)(void*, const char*) = nullptr;
  void* (*new_integer)(unsigned long long) = nullptr;
  void* (*run)(const char*, int, void*, void*) = nullptr;
  const char* (*utf8)(void*, std::ptrdiff_t*) = nullptr;
  void (*clear_error)() = nullptr;
  void (*forget)(void*) = nullptr;

  static const Interpreter* of_process() {
    static const Interpreter found;
    return found.complete_ && found.is_initialized() ? &found : nullptr;
  }

 private:
  template <class F>
  void find(F& function, const char* name) {
    function = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
    complete_ &= function != nullptr;
  }
  Interpreter() {
    find(is_initialized, "Py_IsInitialized");
    find(holds_lock, "PyGILState_Check");
    find(ensure, "PyGILState_Ensure");
    find(release, "PyGILState_Release");
    find(new_dict, "PyDict_New");
    find(builtins, "PyEval_GetBuiltins");
    find(set_item, "PyDict_SetItemString");
    find(get_item, "PyDict_GetItemString");
    find(new_integer, "PyLong_FromUnsignedLongLong");
    find(run, "PyRun_String");
    find(utf8, "PyUnicode_AsUTF8AndSize");
    find(clear_error, "PyErr_Clear");
    find(forget, "Py_DecRef");
  }
  bool complete_ = true;
};

// Call it in a thread that holds the interpreter's lock.
std::string ask(const Interpreter& python, std::uint64_t address) {
  constexpr int as_file = 257;  // Py_file_input
  std::string answer;
  void* const names = python.new_dict();
  void* const number = python.new_integer(address);
  python.set_item(names, "__builtins__", python.builtins());
  python.set_item(names, "address", number);
  void* const done = python.run(program, as_file, names, names);
  std::ptrdiff_t size = 0;
  if (void* const found = done ? python.get_item(names, "found") : nullptr)
    if (const char* const text = python.utf8(found, &size))
      answer.assign(text, static_cast<std::size_t>(size));
  python.clear_error();
  for (void* each : {done, number, names})
    if (each) python.forget(each);
  return answer;
}

struct Question {
  const Interpreter* python = nullptr;
  std::uint64_t address = 0;
  std::mutex mutex;
  std::condition_variable answered;
  std::optional<std::string> answer;
};

// Runs in its own thread, which nothing joins: it may never get the lock if the interpreter ends.
void* answer(void* of) {
  const std::unique_ptr<std::shared_ptr<Question>> own(static_cast<std::shared_ptr<Question>*>(of));
  Question& question = **own;
  const int state = question.python->ensure();
  std::string text = ask(*question.python, question.address);
  question.python->release(state);
  const std::lock_guard lock(question.mutex);
  question.answer = std::move(text);
  question.answered.notify_all();
  return nullptr;
}

std::optional<std::string> ask_on_new_thread(const Interpreter& python, std::uint64_t address) {
  static std::atomic<bool> in_vain{false};
  if (in_vain) return std::nullopt;
  const auto question = std::make_shared<Question>();
  question->python = &python;
  question->address = address;
  auto own = std::make_unique<std::shared_ptr<Question>>(question);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, &answer, own.get()) != 0) return std::nullopt;
  (void)own.release();  // the thread owns it
  pthread_detach(thread);
  std::unique_lock lock(question->mutex);
  if (!host::wait_awake(std::chrono::seconds(2), [&](auto deadline) {
        return question->answered.wait_until(lock, deadline,
                                             [&] { return question->answer.has_value(); });
      }))
    in_vain = true;
  return question->answer;
}

}  // namespace

std::optional<PythonMemory> python_memory_at(std::uint64_t address) {
  const Interpreter* const python = Interpreter::of_process();
  if (!python) return std::nullopt;
  const std::optional<std::string> text =
      python->holds_lock() ? ask(*python, address) : ask_on_new_thread(*python, address);
  PythonMemory memory;
  if (!text || text->empty()) return std::nullopt;
  const auto [end, error] =
      std::from_chars(text->data(), text->data() + text->size(), memory.offset);
  if (error != std::errc() || end == text->data() + text->size()) return std::nullopt;
  memory.name = end + 1;
  return memory;
}

}  // namespace inflight::cuda
