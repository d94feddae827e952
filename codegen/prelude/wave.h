Work-item ids, barriers, atomics, and operations between the lanes of a wave.

//@ loom_item_x
LOOM_FN loom_i32 loom_item_x() {
#if defined(LOOM_AMDGPU)
  return (loom_i32)__builtin_amdgcn_workitem_id_x();
#elif defined(LOOM_CUDA)
  return (loom_i32)threadIdx.x;
#else
  return loom_host_item(0);
#endif
}
//@ loom_item_y
LOOM_FN loom_i32 loom_item_y() {
#if defined(LOOM_AMDGPU)
  return (loom_i32)__builtin_amdgcn_workitem_id_y();
#elif defined(LOOM_CUDA)
  return (loom_i32)threadIdx.y;
#else
  return loom_host_item(1);
#endif
}
//@ loom_item_z
LOOM_FN loom_i32 loom_item_z() {
#if defined(LOOM_AMDGPU)
  return (loom_i32)__builtin_amdgcn_workitem_id_z();
#elif defined(LOOM_CUDA)
  return (loom_i32)threadIdx.z;
#else
  return loom_host_item(2);
#endif
}
//@ loom_group_x
LOOM_FN loom_i32 loom_group_x() {
#if defined(LOOM_AMDGPU)
  return (loom_i32)__builtin_amdgcn_workgroup_id_x();
#elif defined(LOOM_CUDA)
  return (loom_i32)blockIdx.x;
#else
  return loom_host_group(0);
#endif
}
//@ loom_group_y
LOOM_FN loom_i32 loom_group_y() {
#if defined(LOOM_AMDGPU)
  return (loom_i32)__builtin_amdgcn_workgroup_id_y();
#elif defined(LOOM_CUDA)
  return (loom_i32)blockIdx.y;
#else
  return loom_host_group(1);
#endif
}
//@ loom_group_z
LOOM_FN loom_i32 loom_group_z() {
#if defined(LOOM_AMDGPU)
  return (loom_i32)__builtin_amdgcn_workgroup_id_z();
#elif defined(LOOM_CUDA)
  return (loom_i32)blockIdx.z;
#else
  return loom_host_group(2);
#endif
}
//@ loom_groups_x
// Workgroups along an axis. The dispatch packet holds items, not groups.
LOOM_FN loom_i32 loom_groups_x(loom_u32 size) {
#if defined(LOOM_AMDGPU)
  return (loom_i32)(__builtin_amdgcn_grid_size_x() / size);
#elif defined(LOOM_CUDA)
  return (void)size, (loom_i32)gridDim.x;
#else
  return (void)size, loom_host_groups(0);
#endif
}
//@ loom_groups_y
LOOM_FN loom_i32 loom_groups_y(loom_u32 size) {
#if defined(LOOM_AMDGPU)
  return (loom_i32)(__builtin_amdgcn_grid_size_y() / size);
#elif defined(LOOM_CUDA)
  return (void)size, (loom_i32)gridDim.y;
#else
  return (void)size, loom_host_groups(1);
#endif
}
//@ loom_groups_z
LOOM_FN loom_i32 loom_groups_z(loom_u32 size) {
#if defined(LOOM_AMDGPU)
  return (loom_i32)(__builtin_amdgcn_grid_size_z() / size);
#elif defined(LOOM_CUDA)
  return (void)size, (loom_i32)gridDim.z;
#else
  return (void)size, loom_host_groups(2);
#endif
}
//@ loom_barrier_local
// Rendezvous of the workgroup that orders workgroup memory and nothing else.
LOOM_FN void loom_barrier_local() {
#if defined(LOOM_AMDGPU)
#if __clang_major__ >= 19
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
#else
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
#endif
#elif defined(LOOM_CUDA)
  __syncthreads();
#else
  loom_host_barrier();
#endif
}
//@ loom_barrier_global
// Rendezvous of the workgroup that orders global memory and nothing else.
LOOM_FN void loom_barrier_global() {
#if defined(LOOM_AMDGPU)
#if __clang_major__ >= 19
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "global");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "global");
#else
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
#endif
#elif defined(LOOM_CUDA)
  __syncthreads();
#else
  loom_host_barrier();
#endif
}
//@ loom_wave_barrier_local loom_wave_barrier_global
LOOM_FN void loom_wave_barrier_local() {
#if defined(LOOM_AMDGPU)
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#elif defined(LOOM_CUDA)
  __syncwarp();
#else
  loom_host_wave_barrier();
#endif
}
LOOM_FN void loom_wave_barrier_global() { loom_wave_barrier_local(); }
//@ loom_assert
// Stops the program where a debug assertion fails.
LOOM_FN void loom_assert(bool ok) {
#if defined(LOOM_CUDA)
  if (!ok) __trap();
#else
  if (!ok) __builtin_trap();
#endif
}
//@ loom_to_word
// A payload narrower than a word, widened for exchange.
LOOM_FN loom_u32 loom_to_word(bool v) { return v; }
LOOM_FN loom_u32 loom_to_word(loom_u8 v) { return v; }
LOOM_FN loom_u32 loom_to_word(loom_u16 v) { return v; }
LOOM_FN loom_u32 loom_to_word(loom_f16 v) { return loom_f16_bits(v); }
LOOM_FN loom_u32 loom_to_word(loom_u32 v) { return v; }
LOOM_FN loom_u32 loom_to_word(loom_i32 v) { return (loom_u32)v; }
LOOM_FN loom_u32 loom_to_word(loom_f32 v) { return loom_f32_bits(v); }
//@ loom_from_word
template <class T> struct loom_word { LOOM_FN T from(loom_u32 w) { return loom_bitcast<T>(w); } };
template <> struct loom_word<bool> { LOOM_FN bool from(loom_u32 w) { return (w & 1) != 0; } };
template <> struct loom_word<loom_u8> { LOOM_FN loom_u8 from(loom_u32 w) { return (loom_u8)w; } };
template <> struct loom_word<loom_u16> { LOOM_FN loom_u16 from(loom_u32 w) { return (loom_u16)w; } };
template <> struct loom_word<loom_f16> { LOOM_FN loom_f16 from(loom_u32 w) { return loom_bits_f16((loom_u16)w); } };
template <class T> LOOM_FN T loom_from_word(loom_u32 w) { return loom_word<T>::from(w); }
//@ loom_each_word
// Applies a word operation to a payload of any size.
template <class F> LOOM_FN bool loom_each_word(bool v, F f) { return (f((loom_u32)v) & 1) != 0; }
template <class F> LOOM_FN loom_u8 loom_each_word(loom_u8 v, F f) { return (loom_u8)f(v); }
template <class F> LOOM_FN loom_u16 loom_each_word(loom_u16 v, F f) { return (loom_u16)f(v); }
template <class F> LOOM_FN loom_f16 loom_each_word(loom_f16 v, F f) { return loom_bits_f16((loom_u16)f(loom_f16_bits(v))); }
template <class F> LOOM_FN loom_u32 loom_each_word(loom_u32 v, F f) { return f(v); }
template <class F> LOOM_FN loom_i32 loom_each_word(loom_i32 v, F f) { return (loom_i32)f((loom_u32)v); }
template <class F> LOOM_FN loom_f32 loom_each_word(loom_f32 v, F f) { return loom_bits_f32(f(loom_f32_bits(v))); }
template <class F> LOOM_FN loom_u64 loom_each_word(loom_u64 v, F f) {
  const loom_u32 lo = f((loom_u32)v), hi = f((loom_u32)(v >> 32));
  return lo | ((loom_u64)hi << 32);
}
template <class F> LOOM_FN loom_i64 loom_each_word(loom_i64 v, F f) { return (loom_i64)loom_each_word((loom_u64)v, f); }
template <class F> LOOM_FN loom_f64 loom_each_word(loom_f64 v, F f) { return loom_bits_f64(loom_each_word(loom_f64_bits(v), f)); }
//@ loom_this_lane
LOOM_FN loom_i32 loom_this_lane() {
#if defined(LOOM_AMDGPU)
  return (loom_i32)__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
#elif defined(LOOM_CUDA)
  loom_u32 lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return (loom_i32)lane;
#else
  return loom_host_lane();
#endif
}
//@ loom_here
// A value computed at this place and no other: loop optimisation does not see what
// it is made of.
LOOM_FN loom_u32 loom_here(loom_u32 w) {
#if defined(LOOM_AMDGPU)
  asm volatile("" : "+v"(w));
#endif
  return w;
}
//@ loom_pin
// Keeps a cross-lane result where it was computed: clang 19 moves some permutes
// behind a branch, where the lanes they read have stopped.
LOOM_FN loom_u32 loom_pin(loom_u32 w) {
#if defined(LOOM_AMDGPU)
  asm volatile("" : "+v"(w));
#endif
  return w;
}
//@ loom_shuffle_word
// The word of another lane; the lane may differ per lane.
LOOM_FN loom_u32 loom_shuffle_word(loom_u32 w, loom_i32 lane) {
#if defined(LOOM_AMDGPU)
#if defined(__GFX11__) || defined(__GFX12__)
  // In wave64 the permute stays inside a half of the wave. Low lanes read the high
  // half swapped down. High lanes let their low twin read for them and swap the
  // result up: in a wave that is not full, a low value swapped up first could land
  // in a lane that does not exist.
  if (__builtin_amdgcn_wavefrontsize() == 64) {
    const int self = (int)__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
    const int at = ((lane & 31) | (self & 32)) << 2;
    const loom_u32 own = (loom_u32)__builtin_amdgcn_ds_bpermute(at, (int)w);
    const loom_u32 down = (loom_u32)__builtin_amdgcn_ds_bpermute(at, (int)loom_pin((loom_u32)__builtin_amdgcn_permlane64((int)w)));
    const int asked = (int)loom_pin((loom_u32)__builtin_amdgcn_permlane64(lane << 2)) & 124;
    const int twin = __builtin_amdgcn_ds_bpermute(asked | ((self & 32) << 2), (int)w);
    const loom_u32 up = loom_pin((loom_u32)__builtin_amdgcn_permlane64(twin));
    return ((lane ^ self) & 32) == 0 ? own : (self & 32) != 0 ? up : down;
  }
#endif
  return (loom_u32)__builtin_amdgcn_ds_bpermute(lane << 2, (int)w);
#elif defined(LOOM_CUDA)
  return __shfl_sync(0xffffffffu, w, lane);
#else
  return loom_host_shuffle(w, lane);
#endif
}
//@ loom_shuffle
template <class T> LOOM_FN T loom_shuffle(T v, loom_i32 lane) {
  return loom_each_word(v, [lane](loom_u32 w) { return loom_shuffle_word(w, lane); });
}
//@ loom_uniform
// Tells the compiler that a value is the same in the whole wave.
LOOM_FN loom_i32 loom_uniform(loom_i32 v) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_readfirstlane(v);
#else
  return v;
#endif
}
//@ loom_read_lane
// The value of one lane, the same for all.
template <class T> LOOM_FN T loom_read_lane(T v, loom_i32 lane) {
#if defined(LOOM_AMDGPU)
  return loom_each_word(v, [lane](loom_u32 w) { return (loom_u32)__builtin_amdgcn_readlane((int)w, lane); });
#else
  return loom_shuffle(v, lane);
#endif
}
//@ loom_first_lane
// The value of the first active lane.
template <class T> LOOM_FN T loom_first_lane(T v) {
#if defined(LOOM_AMDGPU)
  return loom_each_word(v, [](loom_u32 w) { return (loom_u32)__builtin_amdgcn_readfirstlane((int)w); });
#elif defined(LOOM_CUDA)
  const loom_i32 first = __ffs((int)__activemask()) - 1;
  return loom_each_word(v, [first](loom_u32 w) { return __shfl_sync(__activemask(), w, first); });
#else
  return loom_each_word(v, [](loom_u32 w) { return loom_host_first(w); });
#endif
}
//@ loom_ballot
// The mask of active lanes where p holds.
template <int W> LOOM_FN loom_u64 loom_ballot(bool p) {
#if defined(LOOM_AMDGPU)
  if constexpr (W == 64)
    return __builtin_amdgcn_ballot_w64(p);
  else
    return __builtin_amdgcn_ballot_w32(p);
#elif defined(LOOM_CUDA)
  return __ballot_sync(__activemask(), p);
#else
  return loom_host_ballot(p);
#endif
}
//@ loom_lane_xor
// The value of the lane whose number differs in bit M.
#if defined(LOOM_AMDGPU)
template <int M> LOOM_FN loom_u32 loom_lane_xor_word(loom_u32 w) {
#if defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
  if constexpr (M < 16)
    return (loom_u32)__builtin_amdgcn_update_dpp((int)w, (int)w, 0x160 | M, 0xf, 0xf, true);
  else if constexpr (M == 16)
    return loom_pin((loom_u32)__builtin_amdgcn_permlanex16((int)w, (int)w, 0x76543210, (int)0xfedcba98, true, false));
#if defined(__GFX11__) || defined(__GFX12__)
  else
    return loom_pin((loom_u32)__builtin_amdgcn_permlane64((int)w));
#else
  else
    return loom_shuffle_word(w, loom_this_lane() ^ M);
#endif
#else
  if constexpr (M == 1)
    return (loom_u32)__builtin_amdgcn_update_dpp((int)w, (int)w, 0xb1, 0xf, 0xf, true);
  else if constexpr (M == 2)
    return (loom_u32)__builtin_amdgcn_update_dpp((int)w, (int)w, 0x4e, 0xf, 0xf, true);
  else if constexpr (M < 32)
    return (loom_u32)__builtin_amdgcn_ds_swizzle((int)w, (M << 10) | 0x1f);
  else
    return loom_shuffle_word(w, loom_this_lane() ^ M);
#endif
}
#endif
template <int M, class T> LOOM_FN T loom_lane_xor(T v) {
#if defined(LOOM_AMDGPU)
  return loom_each_word(v, [](loom_u32 w) { return loom_lane_xor_word<M>(w); });
#elif defined(LOOM_CUDA)
  return loom_each_word(v, [](loom_u32 w) { return __shfl_xor_sync(0xffffffffu, w, M); });
#else
  return loom_shuffle(v, loom_this_lane() ^ M);
#endif
}
//@ loom_lane_up
// The value of the lane D below; undefined in the first D lanes.
template <int D, class T> LOOM_FN T loom_lane_up(T v) {
  const loom_i32 lane = loom_this_lane();
  return loom_shuffle(v, lane < D ? lane : lane - D);
}
//@ loom_lane_down
// The value of the lane D above; undefined in the last D lanes.
template <int D, class T> LOOM_FN T loom_lane_down(T v) {
  const loom_i32 lane = loom_this_lane();
#if defined(LOOM_HOST)
  return loom_shuffle(v, lane + D < loom_host_lanes() ? lane + D : lane);
#else
  return loom_shuffle(v, lane + D);
#endif
}
//@ loom_same
// Equality of bit patterns.
LOOM_FN bool loom_same(loom_f16 a, loom_f16 b) { return loom_f16_bits(a) == loom_f16_bits(b); }
LOOM_FN bool loom_same(loom_f32 a, loom_f32 b) { return loom_f32_bits(a) == loom_f32_bits(b); }
LOOM_FN bool loom_same(loom_f64 a, loom_f64 b) { return loom_f64_bits(a) == loom_f64_bits(b); }
LOOM_FN bool loom_same(loom_u32 a, loom_u32 b) { return a == b; }
LOOM_FN bool loom_same(loom_i32 a, loom_i32 b) { return a == b; }
LOOM_FN bool loom_same(loom_u64 a, loom_u64 b) { return a == b; }
LOOM_FN bool loom_same(loom_i64 a, loom_i64 b) { return a == b; }
LOOM_FN bool loom_same(loom_u16 a, loom_u16 b) { return a == b; }
LOOM_FN bool loom_same(loom_u8 a, loom_u8 b) { return a == b; }
LOOM_FN bool loom_same(bool a, bool b) { return a == b; }
//@ loom_match_any
// The mask of active lanes that hold the same value.
template <int W, class T> LOOM_FN loom_u64 loom_match_any(T v) {
#if defined(LOOM_HOST)
  loom_u64 mine = 0;
  for (loom_i32 i = 0; i < W; ++i) {
    const bool on = ((loom_ballot<W>(true) >> i) & 1) != 0;
    const T x = loom_shuffle(v, on ? i : loom_this_lane());
    if (on && loom_same(x, v)) mine |= (loom_u64)1 << i;
  }
  return mine;
#else
  loom_u64 mine = 0;
  bool open = true;
  while (loom_ballot<W>(open) != 0) {
    if (open) {
      const T x = loom_first_lane(v);
      const bool eq = loom_same(x, v);
      const loom_u64 m = loom_ballot<W>(eq);
      if (eq) {
        mine = m;
        open = false;
      }
    }
  }
  return mine;
#endif
}
//@ loom_uint_of
template <int N> struct loom_uint_of;
template <> struct loom_uint_of<4> { typedef loom_u32 type; };
template <> struct loom_uint_of<8> { typedef loom_u64 type; };
//@ LOOM_SCOPE_THREAD LOOM_SCOPE_WAVE LOOM_SCOPE_WORKGROUP LOOM_SCOPE_DEVICE LOOM_SCOPE_SYSTEM LOOM_ATOMIC_ADD LOOM_ATOMIC_SUB LOOM_ATOMIC_AND LOOM_ATOMIC_OR LOOM_ATOMIC_XOR LOOM_ATOMIC_MIN LOOM_ATOMIC_MAX LOOM_ATOMIC_XCHG loom_atomics
#if !defined(__ATOMIC_RELAXED)
#define __ATOMIC_RELAXED 0
#define __ATOMIC_ACQUIRE 2
#define __ATOMIC_RELEASE 3
#define __ATOMIC_ACQ_REL 4
#define __ATOMIC_SEQ_CST 5
#endif
#if defined(LOOM_AMDGPU)
#define LOOM_SCOPE_THREAD __HIP_MEMORY_SCOPE_SINGLETHREAD
#define LOOM_SCOPE_WAVE __HIP_MEMORY_SCOPE_WAVEFRONT
#define LOOM_SCOPE_WORKGROUP __HIP_MEMORY_SCOPE_WORKGROUP
#define LOOM_SCOPE_DEVICE __HIP_MEMORY_SCOPE_AGENT
#define LOOM_SCOPE_SYSTEM __HIP_MEMORY_SCOPE_SYSTEM
#define LOOM_ATOMIC_ADD(p, v, o, s) __hip_atomic_fetch_add(p, v, o, s)
#define LOOM_ATOMIC_SUB(p, v, o, s) __hip_atomic_fetch_add(p, 0 - (v), o, s)
#define LOOM_ATOMIC_AND(p, v, o, s) __hip_atomic_fetch_and(p, v, o, s)
#define LOOM_ATOMIC_OR(p, v, o, s) __hip_atomic_fetch_or(p, v, o, s)
#define LOOM_ATOMIC_XOR(p, v, o, s) __hip_atomic_fetch_xor(p, v, o, s)
#define LOOM_ATOMIC_MIN(p, v, o, s) __hip_atomic_fetch_min(p, v, o, s)
#define LOOM_ATOMIC_MAX(p, v, o, s) __hip_atomic_fetch_max(p, v, o, s)
#define LOOM_ATOMIC_XCHG(p, v, o, s) __hip_atomic_exchange(p, v, o, s)
#else
#define LOOM_SCOPE_THREAD 0
#define LOOM_SCOPE_WAVE 1
#define LOOM_SCOPE_WORKGROUP 2
#define LOOM_SCOPE_DEVICE 3
#define LOOM_SCOPE_SYSTEM 4
#define LOOM_ATOMIC_ADD(p, v, o, s) loom_atomic_any((p), (v), 0)
#define LOOM_ATOMIC_SUB(p, v, o, s) loom_atomic_any((p), (v), 1)
#define LOOM_ATOMIC_AND(p, v, o, s) loom_atomic_any((p), (v), 2)
#define LOOM_ATOMIC_OR(p, v, o, s) loom_atomic_any((p), (v), 3)
#define LOOM_ATOMIC_XOR(p, v, o, s) loom_atomic_any((p), (v), 4)
#define LOOM_ATOMIC_MIN(p, v, o, s) loom_atomic_any((p), (v), 5)
#define LOOM_ATOMIC_MAX(p, v, o, s) loom_atomic_any((p), (v), 6)
#define LOOM_ATOMIC_XCHG(p, v, o, s) loom_atomic_any((p), (v), 7)
// Other compilers get the strongest order: a compare-and-swap loop between full
// fences.
LOOM_FN bool loom_cas(loom_u32 *p, loom_u32 &want, loom_u32 next) {
#if defined(LOOM_CUDA)
  const loom_u32 old = atomicCAS(p, want, next);
  const bool ok = old == want;
  want = old;
  return ok;
#else
  return __atomic_compare_exchange_n(p, &want, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
#endif
}
LOOM_FN bool loom_cas(loom_u64 *p, loom_u64 &want, loom_u64 next) {
#if defined(LOOM_CUDA)
  const loom_u64 old = atomicCAS(p, want, next);
  const bool ok = old == want;
  want = old;
  return ok;
#else
  return __atomic_compare_exchange_n(p, &want, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
#endif
}
LOOM_FN void loom_full_fence() {
#if defined(LOOM_CUDA)
  __threadfence();
#endif
}
template <class P, class V> LOOM_FN auto loom_atomic_any(P *p, V v, int op) {
  typedef typename loom_uint_of<sizeof(P)>::type U;
  loom_full_fence();
  U *q = (U *)p;
  U old = *(volatile U *)q;
  for (;;) {
    V cur = loom_bitcast<V>(old);
    V next = cur;
    switch (op) {
    case 0: next = cur + v; break;
    case 1: next = cur - v; break;
    case 2: next = cur & v; break;
    case 3: next = cur | v; break;
    case 4: next = cur ^ v; break;
    case 5: next = cur < v ? cur : v; break;
    case 6: next = cur > v ? cur : v; break;
    default: next = v;
    }
    if (loom_cas(q, old, loom_bitcast<U>(next))) {
      loom_full_fence();
      return loom_bitcast<V>(old);
    }
  }
}
#endif
//@ loom_cmpxchg_u32 loom_cmpxchg_u64 loom_cmpxchg
// Compare and swap; returns what was there.
template <int S, class P, class T> LOOM_FN T loom_cmpxchg(P *p, T want, T next, int ok, int fail) {
  (void)ok, (void)fail, (void)LOOM_SCOPE_DEVICE;
#if defined(LOOM_AMDGPU)
  // The orders must be literal: the strongest success order covers the others.
  if (ok == __ATOMIC_RELAXED)
    __hip_atomic_compare_exchange_strong(p, &want, next, __ATOMIC_RELAXED, __ATOMIC_RELAXED, S);
  else if (ok == __ATOMIC_ACQUIRE)
    __hip_atomic_compare_exchange_strong(p, &want, next, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE, S);
  else if (ok == __ATOMIC_RELEASE)
    __hip_atomic_compare_exchange_strong(p, &want, next, __ATOMIC_RELEASE, __ATOMIC_RELAXED, S);
  else if (ok == __ATOMIC_ACQ_REL)
    __hip_atomic_compare_exchange_strong(p, &want, next, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE, S);
  else
    __hip_atomic_compare_exchange_strong(p, &want, next, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST, S);
  return want;
#else
  T seen = want;
  loom_full_fence();
  while (!loom_cas((T *)p, seen, next) && seen == want) {
  }
  loom_full_fence();
  return seen;
#endif
}
template <int S, class P> LOOM_FN loom_u32 loom_cmpxchg_u32(P *p, loom_u32 want, loom_u32 next, int ok, int fail) { return loom_cmpxchg<S>(p, want, next, ok, fail); }
template <int S, class P> LOOM_FN loom_u64 loom_cmpxchg_u64(P *p, loom_u64 want, loom_u64 next, int ok, int fail) { return loom_cmpxchg<S>(p, want, next, ok, fail); }
//@ loom_atomic_loop
// A combination the hardware has no instruction for, by compare and swap.
template <int S, class P, class V, class F> LOOM_FN V loom_atomic_loop(P *p, V v, int order, F f) {
  typedef typename loom_uint_of<sizeof(V)>::type U;
  U *q = (U *)p;
  U old = *(volatile U *)q;
  for (;;) {
    const U seen = loom_cmpxchg<S>(q, old, loom_bitcast<U>(f(loom_bitcast<V>(old), v)), order, __ATOMIC_RELAXED);
    if (seen == old) return loom_bitcast<V>(old);
    old = seen;
  }
}
//@ loom_atomic_add_f32 loom_atomic_add_f64
template <int S, class P> LOOM_FN loom_f32 loom_atomic_add_f32(P *p, loom_f32 v, int order) {
  return loom_atomic_loop<S>(p, v, order, [](loom_f32 a, loom_f32 b) { return a + b; });
}
template <int S, class P> LOOM_FN loom_f64 loom_atomic_add_f64(P *p, loom_f64 v, int order) {
  return loom_atomic_loop<S>(p, v, order, [](loom_f64 a, loom_f64 b) { return a + b; });
}
//@ loom_atomic_minnum_f32 loom_atomic_maxnum_f32 loom_atomic_minimum_f32 loom_atomic_maximum_f32
template <int S, class P> LOOM_FN loom_f32 loom_atomic_minnum_f32(P *p, loom_f32 v, int order) {
  return loom_atomic_loop<S>(p, v, order, [](loom_f32 a, loom_f32 b) { return loom_minnum_f32(a, b); });
}
template <int S, class P> LOOM_FN loom_f32 loom_atomic_maxnum_f32(P *p, loom_f32 v, int order) {
  return loom_atomic_loop<S>(p, v, order, [](loom_f32 a, loom_f32 b) { return loom_maxnum_f32(a, b); });
}
template <int S, class P> LOOM_FN loom_f32 loom_atomic_minimum_f32(P *p, loom_f32 v, int order) {
  return loom_atomic_loop<S>(p, v, order, [](loom_f32 a, loom_f32 b) { return loom_minimum_f32(a, b); });
}
template <int S, class P> LOOM_FN loom_f32 loom_atomic_maximum_f32(P *p, loom_f32 v, int order) {
  return loom_atomic_loop<S>(p, v, order, [](loom_f32 a, loom_f32 b) { return loom_maximum_f32(a, b); });
}
//@ loom_atomic_minnum_f64 loom_atomic_maxnum_f64 loom_atomic_minimum_f64 loom_atomic_maximum_f64
template <int S, class P> LOOM_FN loom_f64 loom_atomic_minnum_f64(P *p, loom_f64 v, int order) {
  return loom_atomic_loop<S>(p, v, order, [](loom_f64 a, loom_f64 b) { return loom_minnum_f64(a, b); });
}
template <int S, class P> LOOM_FN loom_f64 loom_atomic_maxnum_f64(P *p, loom_f64 v, int order) {
  return loom_atomic_loop<S>(p, v, order, [](loom_f64 a, loom_f64 b) { return loom_maxnum_f64(a, b); });
}
template <int S, class P> LOOM_FN loom_f64 loom_atomic_minimum_f64(P *p, loom_f64 v, int order) {
  return loom_atomic_loop<S>(p, v, order, [](loom_f64 a, loom_f64 b) { return loom_minimum_f64(a, b); });
}
template <int S, class P> LOOM_FN loom_f64 loom_atomic_maximum_f64(P *p, loom_f64 v, int order) {
  return loom_atomic_loop<S>(p, v, order, [](loom_f64 a, loom_f64 b) { return loom_maximum_f64(a, b); });
}
