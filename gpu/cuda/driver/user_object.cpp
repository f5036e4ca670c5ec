// Driver API: user objects.
#include "gpu/cuda/core/graph/user_object.hpp"

#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {

INFLIGHT_CU_INIT(cuUserObjectCreate,
                 (Handle * object, void* data, void (*destroy)(void*), unsigned references,
                  unsigned flags),
                 { return make_user_object(object, data, destroy, references, flags); })
INFLIGHT_CU_INIT(cuUserObjectRetain, (Handle object, unsigned count),
                 { return retain_user_object(object, count); })
INFLIGHT_CU_INIT(cuUserObjectRelease, (Handle object, unsigned count),
                 { return release_user_object(object, count); })
INFLIGHT_CU_INIT(cuGraphRetainUserObject,
                 (Handle graph, Handle object, unsigned count, unsigned flags),
                 { return retain_in_graph(graph, object, count, flags); })
INFLIGHT_CU_INIT(cuGraphReleaseUserObject, (Handle graph, Handle object, unsigned count),
                 { return release_from_graph(graph, object, count); })

}  // namespace inflight::cuda::driver
