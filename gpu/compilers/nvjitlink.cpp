// libnvJitLink: the public functions of nvJitLink.h. PTX is returned as the 'linked cubin'. LTO-IR
// is passed to NVIDIA's own linker, which converts it to PTX.
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "gpu/compilers/link_inputs.hpp"
#include "gpu/compilers/link_options.hpp"
#include "gpu/compilers/original.hpp"
#include "gpu/compilers/register_limit.hpp"
#include "gpu/cuda/core/base/guard.hpp"
#include "gpu/cuda/core/base/handles.hpp"
#include "gpu/cuda/image/link_check.hpp"
#include "gpu/cuda/image/linked.hpp"
#include "gpu/cuda/image/source.hpp"

namespace inflight::compilers {
namespace {

using Handle = void*;  // nvJitLinkHandle
constexpr int success = 0;

Original& original() {
  static auto* library =
      new Original("libnvJitLink.so." INFLIGHT_SOVERSION,
                   INFLIGHT_SOVERSION[1] == '2' ? "nvidia-nvjitlink-cu12" : "nvidia-nvjitlink");
  return *library;
}

template <class F, class... Arguments>
int ask(const char* name, Arguments... arguments) {
  F* function = original().function<F>(name);
  return function ? function(arguments...) : int(LinkStatus::internal);
}

// Links LTO-IR with NVIDIA's own library. The result is PTX.
class LtoLink {
 public:
  int create(const LinkOptions& options) {
    std::vector<const char*> words;
    for (const std::string& word : options.words) {
      if (word != "-r") words.push_back(word.c_str());  // of machine code only; PTX is never final
    }
    if (!options.ptx) words.push_back("-ptx");
    return ask<int(Handle*, std::uint32_t, const char**)>(
        "nvJitLinkCreate", &handle_, std::uint32_t(words.size()), words.data());
  }
  ~LtoLink() {
    if (handle_) ask<int(Handle*)>("nvJitLinkDestroy", &handle_);
  }
  int add(int type, cuda::Bytes bytes, const char* name) {
    return ask<int(Handle, int, const void*, std::size_t, const char*)>(
        "nvJitLinkAddData", handle_, type, bytes.data(), bytes.size(), name);
  }
  int complete(std::string& ptx) {
    const int status = ask<int(Handle)>("nvJitLinkComplete", handle_);
    if (status != success) return status;
    return text("nvJitLinkGetLinkedPtxSize", "nvJitLinkGetLinkedPtx", ptx);
  }
  int ltoir(std::string& bytes) {
    return this->bytes("nvJitLinkGetLinkedLTOIRSize", "nvJitLinkGetLinkedLTOIR", bytes);
  }
  std::string error_log() { return log("nvJitLinkGetErrorLogSize", "nvJitLinkGetErrorLog"); }
  std::string info_log() { return log("nvJitLinkGetInfoLogSize", "nvJitLinkGetInfoLog"); }

 private:
  int bytes(const char* size_name, const char* name, std::string& to) {
    std::size_t size = 0;
    if (int status = ask<int(Handle, std::size_t*)>(size_name, handle_, &size); status != success)
      return status;
    to.resize(size);
    return size ? ask<int(Handle, char*)>(name, handle_, to.data()) : success;
  }
  int text(const char* size_name, const char* name, std::string& to) {
    const int status = bytes(size_name, name, to);
    to.resize(std::min(to.size(), to.find('\0')));
    return status;
  }
  std::string log(const char* size_name, const char* name) {
    std::string result;
    return handle_ && text(size_name, name, result) == success ? result : std::string();
  }
  Handle handle_ = nullptr;
};

// An nvJitLinkHandle. It exists even if its options are rejected, because it has the error log.
struct Link {
  std::mutex mutex;
  LinkOptions options;
  bool usable = false, complete = false;
  std::vector<cuda::NamedText> inputs;
  bool open = false;  // an omitted input may define missing symbols
  std::unique_ptr<LtoLink> lto;
  std::string errors, info;
  std::string image, ptx;  // including the terminator
};

cuda::Handles<Link>& links() {
  static auto* handles = new cuda::Handles<Link>;
  return *handles;
}

int refuse(Link& link, const LinkError& error) {
  link.errors += error.message + "\n";
  return int(error.status);
}

int add_to_original(Link& link, int type, cuda::Bytes bytes, const char* name) {
  if (!link.lto) {
    link.lto = std::make_unique<LtoLink>();
    if (int status = link.lto->create(link.options); status != success) return status;
  }
  return link.lto->add(type, bytes, name);
}

int add(Link& link, int type, cuda::Bytes bytes, const char* name) {
  if (!link.usable || link.complete) return int(LinkStatus::internal);
  auto input = read_link_input(InputType(type), bytes, link.options);
  if (!input) return refuse(link, input.error());
  link.open |= input->device_runtime;
  for (std::string& text : input->texts) {
    cuda::NamedText named{name ? name : "", std::move(text)};
    if (auto right = cuda::check_text(named); !right)
      return refuse(link, {LinkStatus::ptx_compile,
                           right.error() + "\nERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (" +
                               named.name + ")"});
    link.inputs.push_back(std::move(named));
  }
  return input->for_original ? add_to_original(link, type, bytes, name) : success;
}

// Inserts the PTX of the LTO-IR first, at the position that a single input would have.
int link_ltoir(Link& link) {
  if (!link.lto)
    return refuse(link,
                  {LinkStatus::nvvm_compile, "ERROR: -lto is given, but no input has LTO-IR"});
  if (link.options.ptx && !link.inputs.empty())
    return refuse(link, {LinkStatus::incorrect_input_type,
                         "ERROR: -ptx requires that all inputs have LTOIR"});
  std::string text;
  const int status = link.lto->complete(text);
  link.errors += link.lto->error_log();
  link.info += link.lto->info_log();
  if (status != success) return status;
  link.inputs.insert(link.inputs.begin(), cuda::NamedText{"LTO-IR", std::move(text)});
  return success;
}

// A single text is the image itself. Several are joined in the same way as the driver's linker
// does.
std::string image_of(const Link& link) {
  std::vector<std::string> texts;
  for (const cuda::NamedText& input : link.inputs)
    texts.push_back(limit_registers(input.text, link.options.registers));
  return texts.size() == 1 ? texts[0] + std::string(cuda::assembled_mark) + '\0'
                           : cuda::join_texts(texts);
}

int complete(Link& link) {
  if (!link.usable) return int(LinkStatus::internal);
  if (link.complete) return success;
  if (link.options.lto) {
    if (int status = link_ltoir(link); status != success) return status;
  }
  if (link.options.ptx) {
    link.ptx = link.inputs[0].text + '\0';
  } else {
    if (auto right = cuda::check_link(link.inputs, link.open); !right) {
      const int status = refuse(link, {LinkStatus::internal, right.error()});
      if (link.lto && link.inputs.size() > 1)
        link.errors +=
            "PTX that calls functions which only LTO-IR defines cannot be linked by the software "
            "GPU: give both as LTO-IR, or both as PTX\n";
      return status;
    }
    link.image = image_of(link);
  }
  link.complete = true;
  return success;
}

int store_size(std::size_t* size, const std::string& bytes) {
  if (!size) return int(LinkStatus::null_input);
  *size = bytes.size();
  return success;
}

int store(void* to, const std::string& bytes) {
  if (!to) return int(LinkStatus::null_input);
  std::memcpy(to, bytes.data(), bytes.size());
  return success;
}

// The status of requests for the results of a link.
int cubin_state(const Link& link) {
  return link.complete && !link.options.ptx ? success : int(LinkStatus::internal);
}
int ptx_state(const Link& link) {
  if (!link.options.ptx) return int(LinkStatus::invalid_input);
  return link.complete ? success : int(LinkStatus::internal);
}

// A log with its final NUL. An empty log has no NUL.
std::string ended(const std::string& log) { return log.empty() ? log : log + '\0'; }

// Returns body(), or an error code if it throws.
template <class Body>
int bounded(const char* call, Body&& body) {
  int result = int(LinkStatus::internal);
  cuda::guarded(call, [&] {
    result = body();
    return cuda::Status::success;
  });
  return result;
}

template <class Body>
int with_link(const char* call, Handle handle, Body&& body) {
  return bounded(call, [&] {
    auto link = links().find(handle);
    if (!link) return int(LinkStatus::null_input);
    const std::lock_guard lock(link->mutex);
    return body(*link);
  });
}

}  // namespace

// Each function has its own name and an alias for every minor version of the library, including
// future ones.
#define INFLIGHT_VERSIONED(name, minor) INFLIGHT_ALIAS(name, INFLIGHT_MAJOR, minor)
#define INFLIGHT_ALIAS(name, major, minor) INFLIGHT_ALIAS_(name, major, minor)
#define INFLIGHT_ALIAS_(name, major, minor)                                                     \
  extern "C"                                                                                    \
      [[gnu::visibility("default"), gnu::alias("nvJitLink" #name)]] __typeof__(nvJitLink##name) \
          __nvJitLink##name##_##major##_##minor;
#define INFLIGHT_ALL_VERSIONS(name) \
  INFLIGHT_VERSIONED(name, 0)       \
  INFLIGHT_VERSIONED(name, 1)       \
  INFLIGHT_VERSIONED(name, 2)       \
  INFLIGHT_VERSIONED(name, 3)       \
  INFLIGHT_VERSIONED(name, 4)       \
  INFLIGHT_VERSIONED(name, 5)       \
  INFLIGHT_VERSIONED(name, 6)       \
  INFLIGHT_VERSIONED(name, 7)       \
  INFLIGHT_VERSIONED(name, 8)       \
  INFLIGHT_VERSIONED(name, 9)       \
  INFLIGHT_VERSIONED(name, 10)      \
  INFLIGHT_VERSIONED(name, 11)      \
  INFLIGHT_VERSIONED(name, 12)      \
  INFLIGHT_VERSIONED(name, 13) INFLIGHT_VERSIONED(name, 14) INFLIGHT_VERSIONED(name, 15)
// INFLIGHT_NVJITLINK(NAME, (parameters), { body }): the function nvJitLinkNAME.
#define INFLIGHT_NVJITLINK(name, parameters, ...)                                      \
  extern "C" [[gnu::visibility("default")]] int nvJitLink##name parameters __VA_ARGS__ \
  INFLIGHT_ALL_VERSIONS(name)

INFLIGHT_NVJITLINK(Create, (Handle * handle, std::uint32_t count, const char** words), {
  return bounded(__func__, [&] {
    if (!handle || (count && !words)) return int(LinkStatus::null_input);
    auto link = std::make_shared<Link>();
    auto options = read_link_options({words, count});
    link->usable = options.has_value();
    int status = success;
    if (options)
      link->options = std::move(*options);
    else
      status = refuse(*link, options.error());
    *handle = links().add(std::move(link));
    return status;
  });
})
INFLIGHT_NVJITLINK(Destroy, (Handle * handle), {
  return bounded(__func__, [&] {
    if (!handle || !links().remove(*handle)) return int(LinkStatus::null_input);
    *handle = nullptr;
    return success;
  });
})
INFLIGHT_NVJITLINK(AddData,
                   (Handle handle, int type, const void* data, std::size_t size, const char* name),
                   {
                     return with_link(__func__, handle, [&](Link& link) {
                       cuda::ProcessMemory memory(data);
                       const auto bytes = data && size ? memory.take(0, size) : std::nullopt;
                       if (!bytes)
                         return refuse(link, {LinkStatus::invalid_input,
                                              "ERROR: not all of the input's bytes can be read"});
                       return add(link, type, *bytes, name);
                     });
                   })
INFLIGHT_NVJITLINK(AddFile, (Handle handle, int type, const char* path), {
  return with_link(__func__, handle, [&](Link& link) {
    if (!path) return int(LinkStatus::null_input);
    auto file = cuda::File::open(path);
    const auto bytes = file ? file->all() : tl::unexpected(file.error());
    if (!bytes)
      return refuse(link, {LinkStatus::invalid_input,
                           "no such file: " + std::string(path) + " (it " + bytes.error() + ")"});
    return add(link, type, cuda::bytes_of(*bytes), path);
  });
})
INFLIGHT_NVJITLINK(Complete, (Handle handle), {
  return with_link(__func__, handle, [](Link& link) { return complete(link); });
})
INFLIGHT_NVJITLINK(GetLinkedCubinSize, (Handle handle, std::size_t* size), {
  return with_link(__func__, handle, [&](Link& link) {
    const int state = cubin_state(link);
    return state == success ? store_size(size, link.image) : state;
  });
})
INFLIGHT_NVJITLINK(GetLinkedCubin, (Handle handle, void* cubin), {
  return with_link(__func__, handle, [&](Link& link) {
    const int state = cubin_state(link);
    return state == success ? store(cubin, link.image) : state;
  });
})
INFLIGHT_NVJITLINK(GetLinkedPtxSize, (Handle handle, std::size_t* size), {
  return with_link(__func__, handle, [&](Link& link) {
    const int state = ptx_state(link);
    return state == success ? store_size(size, link.ptx) : state;
  });
})
INFLIGHT_NVJITLINK(GetLinkedPtx, (Handle handle, char* ptx), {
  return with_link(__func__, handle, [&](Link& link) {
    const int state = ptx_state(link);
    return state == success ? store(ptx, link.ptx) : state;
  });
})
INFLIGHT_NVJITLINK(GetLinkedLTOIRSize, (Handle handle, std::size_t* size), {
  return with_link(__func__, handle, [&](Link& link) {
    std::string bytes;
    const int state = link.lto ? link.lto->ltoir(bytes) : int(LinkStatus::invalid_input);
    return state == success ? store_size(size, bytes) : state;
  });
})
INFLIGHT_NVJITLINK(GetLinkedLTOIR, (Handle handle, void* ltoir), {
  return with_link(__func__, handle, [&](Link& link) {
    std::string bytes;
    const int state = link.lto ? link.lto->ltoir(bytes) : int(LinkStatus::invalid_input);
    return state == success ? store(ltoir, bytes) : state;
  });
})
INFLIGHT_NVJITLINK(GetErrorLogSize, (Handle handle, std::size_t* size), {
  return with_link(__func__, handle,
                   [&](Link& link) { return store_size(size, ended(link.errors)); });
})
INFLIGHT_NVJITLINK(GetErrorLog, (Handle handle, char* log), {
  return with_link(__func__, handle, [&](Link& link) { return store(log, ended(link.errors)); });
})
INFLIGHT_NVJITLINK(GetInfoLogSize, (Handle handle, std::size_t* size), {
  return with_link(__func__, handle,
                   [&](Link& link) { return store_size(size, ended(link.info)); });
})
INFLIGHT_NVJITLINK(GetInfoLog, (Handle handle, char* log), {
  return with_link(__func__, handle, [&](Link& link) { return store(log, ended(link.info)); });
})

// Returns the version of NVIDIA's own library if it is installed, because that determines which
// LTO-IR can be linked.
extern "C" [[gnu::visibility("default")]] int nvJitLinkVersion(unsigned* major, unsigned* minor) {
  return bounded(__func__, [&] {
    if (!major || !minor) return int(LinkStatus::null_input);
    if (original().found()) return ask<int(unsigned*, unsigned*)>("nvJitLinkVersion", major, minor);
    *major = INFLIGHT_MAJOR;
    *minor = 0;
    return success;
  });
}

}  // namespace inflight::compilers
