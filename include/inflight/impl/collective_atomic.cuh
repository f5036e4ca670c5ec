// One thread's atomic update, with any operator, of a variable that other threads also update. The
// variable is plain, or an object with atomic members such as cuda::atomic and cuda::atomic_ref.
#pragma once
#include <inflight/impl/collective.cuh>

namespace inflight::impl {

// memory_order_relaxed of whichever enumeration an object's members take: 0 in all of them.
struct relaxed_order {
  template <class Order, class = std::enable_if_t<std::is_enum<Order>::value>>
  INFLIGHT_DEVICE constexpr operator Order() const {
    return Order(0);
  }
};

// The type that an object with atomic members holds: its value_type, or the type that it loads
// (cuda::atomic of CUDA 12.4 has no value_type).
template <class Target>
INFLIGHT_DEVICE typename Target::value_type value_in(int);
template <class Target>
INFLIGHT_DEVICE std::decay_t<decltype(declval<Target&>().load(relaxed_order{}))> value_in(long);
template <class Target>
using value_held = std::remove_cv_t<decltype(value_in<Target>(0))>;

// Objects with atomic members of their own: they hold a value and have fetch_add.
template <class Target, class = void>
struct updates_itself : std::false_type {};
template <class Target>
struct updates_itself<Target, std::void_t<decltype(declval<Target&>().fetch_add(
                                  declval<const value_held<Target>&>(), relaxed_order{}))>>
    : std::true_type {};

// The type of the value in a target.
template <class Target, bool = updates_itself<Target>::value>
struct held_by {
  using type = Target;
};
template <class Target>
struct held_by<Target, true> {
  using type = value_held<Target>;
};
template <class Target>
using held = typename held_by<Target>::type;

template <class Target>
INFLIGHT_DEVICE constexpr void require_target() {
  static_assert(sizeof(held<Target>) == 4 || sizeof(held<Target>) == 8,
                "an atomic update needs a variable of 4 or 8 bytes");
}

// The operation of a library operator on a target: plus<float> adds to a double as doubles.
template <class Held, class Op>
struct operation_on : operation_of<Held, Op> {};
template <class Held, template <class> class Name>
struct operation_on<Held, Name<void>> : operation_of<Held, Name<void>> {};
template <class Held, template <class> class Name, class T>
struct operation_on<Held, Name<T>> : operation_of<T, Name<T>> {};

// Each of these replaces the target's value by op(old value, value), and returns the old value.

// Compare-and-swap until no other thread has intervened.
template <class Word, class Target, class Op>
INFLIGHT_DEVICE Target exchange(Target& target, const Target& value, Op& op) {
  Word* at = reinterpret_cast<Word*>(&target);
  Word seen = *const_cast<volatile Word*>(at), expected;
  Target before;
  do {
    expected = seen;
    memcpy(&before, &expected, sizeof(Target));
    const Target next = op(before, value);
    Word wanted;
    memcpy(&wanted, &next, sizeof(Target));
    seen = atomicCAS(at, expected, wanted);
  } while (seen != expected);
  return before;
}
template <class Target, class Op>
INFLIGHT_DEVICE held<Target> update_by_exchange(Target& target, const held<Target>& value, Op& op) {
  if constexpr (updates_itself<Target>::value) {
    held<Target> before = target.load(relaxed_order{});
    while (!target.compare_exchange_weak(before, op(before, value), relaxed_order{})) {
    }
    return before;
  } else if constexpr (sizeof(Target) == 4) {
    return exchange<unsigned>(target, value, op);
  } else {
    return exchange<unsigned long long>(target, value, op);
  }
}

// By the target's own atomic members.
template <operation Does, class Target, class Held>
INFLIGHT_DEVICE Held update_itself(Target& target, const Held& value) {
  if constexpr (Does == operation::plus) return target.fetch_add(value, relaxed_order{});
  if constexpr (Does == operation::bit_and) return target.fetch_and(value, relaxed_order{});
  if constexpr (Does == operation::bit_or) return target.fetch_or(value, relaxed_order{});
  if constexpr (Does == operation::bit_xor) return target.fetch_xor(value, relaxed_order{});
}

// An integer of 4 or 8 bytes.
template <operation Does, class Held>
INFLIGHT_DEVICE Held update_integer(Held& target, const Held& value) {
  using Bits = std::conditional_t<sizeof(Held) == 4, unsigned, unsigned long long>;
  using Signed = std::conditional_t<sizeof(Held) == 4, int, long long>;
  using Number = std::conditional_t<std::is_signed_v<Held>, Signed, Bits>;
  Bits* bits = reinterpret_cast<Bits*>(&target);
  Number* number = reinterpret_cast<Number*>(&target);
  if constexpr (Does == operation::plus) return Held(atomicAdd(bits, Bits(value)));
  if constexpr (Does == operation::less) return Held(atomicMin(number, Number(value)));
  if constexpr (Does == operation::greater) return Held(atomicMax(number, Number(value)));
  if constexpr (Does == operation::bit_and) return Held(atomicAnd(bits, Bits(value)));
  if constexpr (Does == operation::bit_or) return Held(atomicOr(bits, Bits(value)));
  if constexpr (Does == operation::bit_xor) return Held(atomicXor(bits, Bits(value)));
}

template <class Target, class Op>
INFLIGHT_DEVICE held<Target> update(Target& target, const held<Target>& value, Op& op) {
  require_target<Target>();
  using Held = held<Target>;
  constexpr bool number = is_number<Held>;
  constexpr operation does =
      number ? operation_on<Held, std::remove_cv_t<Op>>::value : operation::other;
  constexpr bool extremal = does == operation::less || does == operation::greater;
  if constexpr (updates_itself<Target>::value && does != operation::other && !extremal) {
    return update_itself<does>(target, value);
  } else if constexpr (std::is_integral_v<Target> && does != operation::other) {
    return update_integer<does>(target, value);
  } else if constexpr (std::is_floating_point_v<Target> && does == operation::plus) {
    return atomicAdd(&target, value);
  } else if constexpr (is_real<Held> && extremal) {
    extreme<Held, does == operation::greater> apply;
    return update_by_exchange(target, value, apply);
  } else if constexpr (extremal) {
    std::conditional_t<does == operation::less, less<Held>, greater<Held>> apply;
    return update_by_exchange(target, value, apply);
  } else {
    return update_by_exchange(target, value, op);
  }
}

template <class Target>
INFLIGHT_DEVICE void store_relaxed(Target& target, const held<Target>& value) {
  require_target<Target>();
  if constexpr (updates_itself<Target>::value) {
    target.store(value, relaxed_order{});
  } else {
    std::conditional_t<sizeof(Target) == 4, std::uint32_t, std::uint64_t> bits;
    memcpy(&bits, &value, sizeof(Target));
    if constexpr (sizeof(Target) == 4)
      asm volatile("st.relaxed.gpu.b32 [%0], %1;" ::"l"(&target), "r"(bits) : "memory");
    else
      asm volatile("st.relaxed.gpu.b64 [%0], %1;" ::"l"(&target), "l"(bits) : "memory");
  }
}

// Broadcasts the value of the group's last thread.
struct right_of_two {
  template <class T>
  INFLIGHT_DEVICE T operator()(const T&, const T& right) const {
    return right;
  }
};
template <class Group, class V>
INFLIGHT_DEVICE V from_last(const Group& group, const V& value) {
  if constexpr (has_scratch<Group>::value) {
    right_of_two last;
    return collective<result::reduction>(group, value, last);
  } else {
    return group.shfl(value, group.num_threads() - 1);
  }
}

// A scan combined with the target's value from before the last thread combined the group's total
// into it.
template <result Wanted, class Group, class Target, class V, class Op>
INFLIGHT_DEVICE V scan_update(const Group& group, Target& target, const V& value, Op& op) {
  const V own = collective<Wanted>(group, value, op);
  const unsigned rank = group.thread_rank();
  constexpr bool inclusive = Wanted == result::inclusive;
  decltype(auto) apply = applied<V>(op);
  V before{};
  if (rank == group.num_threads() - 1) {
    const V total = inclusive ? own : rank == 0 ? value : apply(own, value);
    before = V(update(target, held<Target>(total), op));
  }
  before = from_last(group, before);
  return inclusive || rank != 0 ? V(apply(before, own)) : before;
}

}  // namespace inflight::impl
