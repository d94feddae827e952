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
//@ LOOM_INLINE
// Marks a lambda in which lanes meet: each use of it is a place of its own.
#if defined(LOOM_CUDA)
#define LOOM_INLINE
#else
#define LOOM_INLINE __attribute__((always_inline))
#endif
//@ loom_to_word
// A payload of up to a word, widened for exchange.
template <class T> LOOM_FN loom_u32 loom_to_word(T v) {
  if constexpr (sizeof(T) == 4)
    return loom_bitcast<loom_u32>(v);
  else if constexpr (sizeof(T) == 2)
    return loom_bitcast<loom_u16>(v);
  else
    return loom_bitcast<loom_u8>(v);
}
//@ loom_from_word loom_is_bool
template <class T> struct loom_is_bool { enum { yes = 0 }; };
template <> struct loom_is_bool<bool> { enum { yes = 1 }; };
template <class T> LOOM_FN T loom_from_word(loom_u32 w) {
  if constexpr (loom_is_bool<T>::yes != 0)
    return (w & 1) != 0;
  else if constexpr (sizeof(T) == 4)
    return loom_bitcast<T>(w);
  else if constexpr (sizeof(T) == 2)
    return loom_bitcast<T>((loom_u16)w);
  else
    return loom_bitcast<T>((loom_u8)w);
}
//@ loom_each_word
// Applies a word operation to a payload of any size; 8 bytes take two words.
template <class T, class F> LOOM_FN T loom_each_word(T v, F f) {
  if constexpr (sizeof(T) == 8) {
    const loom_u64 w = loom_bitcast<loom_u64>(v);
    const loom_u32 lo = f((loom_u32)w), hi = f((loom_u32)(w >> 32));
    return loom_bitcast<T>(lo | ((loom_u64)hi << 32));
  } else {
    return loom_from_word<T>(f(loom_to_word(v)));
  }
}
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
//@ loom_set_inactive loom_strict_wwm
#if defined(LOOM_AMDGPU)
// Instructions between these two run on every lane of the wave, also on lanes that
// do not exist; the first says what the lanes hold that were not active.
__device__ loom_u32 loom_set_inactive(loom_u32 v, loom_u32 inactive) __asm("llvm.amdgcn.set.inactive.i32");
__device__ loom_u32 loom_strict_wwm(loom_u32 v) __asm("llvm.amdgcn.strict.wwm.i32");
#endif
//@ LOOM_WAVE64
// Clang before 20 folds the builtin too late to drop the other form.
#if defined(LOOM_AMDGPU)
#if __clang_major__ < 20 && defined(__AMDGCN_WAVEFRONT_SIZE__)
#define LOOM_WAVE64 (__AMDGCN_WAVEFRONT_SIZE__ == 64)
#else
#define LOOM_WAVE64 (__builtin_amdgcn_wavefrontsize() == 64)
#endif
#endif
//@ loom_keep
// A value that is computed here, whoever uses it.
template <class T> LOOM_FN T loom_keep(T v) {
  return loom_each_word(v, [](loom_u32 w) LOOM_INLINE { return loom_pin(w); });
}
//@ loom_half_wave
#if defined(LOOM_AMDGPU) && (defined(__GFX11__) || defined(__GFX12__))
// The word of another lane of a wave64 in which every lane runs: the permute stays
// inside a half of the wave, so a lane also reads from its twin's half.
LOOM_FN loom_u32 loom_half_wave(loom_u32 w, loom_i32 lane, loom_i32 self) {
  const int at = lane << 2;
  const loom_u32 own = (loom_u32)__builtin_amdgcn_ds_bpermute(at, (int)w);
  const loom_u32 far = (loom_u32)__builtin_amdgcn_ds_bpermute(at, __builtin_amdgcn_permlane64((int)w));
  return ((lane ^ self) & 32) == 0 ? own : far;
}
#endif
//@ loom_shuffle_word
// The word of another lane, which may differ per lane. Every lane of the wave runs.
LOOM_FN loom_u32 loom_shuffle_word(loom_u32 w, loom_i32 lane) {
#if defined(LOOM_AMDGPU)
#if defined(__GFX11__) || defined(__GFX12__)
  if (LOOM_WAVE64) return loom_pin(loom_half_wave(w, lane, loom_this_lane()));
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
  return loom_each_word(v, [lane](loom_u32 w) LOOM_INLINE { return loom_shuffle_word(w, lane); });
}
//@ loom_shuffle_some
// The value of another active lane, where lanes may be missing.
template <class T> LOOM_FN T loom_shuffle_some(T v, loom_i32 lane) {
  return loom_each_word(v, [lane](loom_u32 w) LOOM_INLINE {
#if defined(LOOM_AMDGPU)
#if defined(__GFX11__) || defined(__GFX12__)
    if (LOOM_WAVE64) {
      // Twins of active lanes carry values across the halves, so they run too.
      const loom_u32 self = loom_set_inactive((loom_u32)loom_this_lane(), 0u);
      const loom_u32 from = loom_set_inactive((loom_u32)lane, 0u);
      return loom_pin(loom_strict_wwm(loom_half_wave(loom_set_inactive(w, 0u), (loom_i32)from, (loom_i32)self)));
    }
#endif
    return (loom_u32)__builtin_amdgcn_ds_bpermute(lane << 2, (int)w);
#elif defined(LOOM_CUDA)
    return __shfl_sync(__activemask(), w, lane);
#else
    return loom_host_shuffle(w, lane);
#endif
  });
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
  return loom_each_word(v, [lane](loom_u32 w) LOOM_INLINE { return (loom_u32)__builtin_amdgcn_readlane((int)w, lane); });
#else
  return loom_shuffle_some(v, lane);
#endif
}
//@ loom_first_lane
// The value of the first active lane.
template <class T> LOOM_FN T loom_first_lane(T v) {
#if defined(LOOM_AMDGPU)
  return loom_each_word(v, [](loom_u32 w) LOOM_INLINE { return (loom_u32)__builtin_amdgcn_readfirstlane((int)w); });
#elif defined(LOOM_CUDA)
  const loom_i32 first = __ffs((int)__activemask()) - 1;
  return loom_each_word(v, [first](loom_u32 w) LOOM_INLINE { return __shfl_sync(__activemask(), w, first); });
#else
  return loom_each_word(v, [](loom_u32 w) LOOM_INLINE { return loom_host_first(w); });
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
//@ loom_zip_word
// Applies an operation on two words to two payloads of any size.
template <class T, class F> LOOM_FN T loom_zip_word(T a, T b, F f) {
  if constexpr (sizeof(T) == 8) {
    const loom_u64 x = loom_bitcast<loom_u64>(a), y = loom_bitcast<loom_u64>(b);
    const loom_u32 lo = f((loom_u32)x, (loom_u32)y), hi = f((loom_u32)(x >> 32), (loom_u32)(y >> 32));
    return loom_bitcast<T>(lo | ((loom_u64)hi << 32));
  } else {
    return loom_from_word<T>(f(loom_to_word(a), loom_to_word(b)));
  }
}
//@ loom_dpp loom_next_row loom_next_row_or loom_next_row_word loom_row_xor loom_row_turn
#if defined(LOOM_AMDGPU)
// What the data-parallel control C fetches from another lane of the row of 16, in
// the rows of the mask ROWS; old elsewhere, and where the other lane is not active
// or outside the row.
template <int C, int ROWS = 0xf> LOOM_FN loom_u32 loom_dpp_word(loom_u32 old, loom_u32 w) {
  return (loom_u32)__builtin_amdgcn_update_dpp((int)old, (int)w, C, ROWS, 0xf, false);
}
template <int C, int ROWS = 0xf, class T> LOOM_FN T loom_dpp(T old, T v) {
  return loom_zip_word(old, v, [](loom_u32 o, loom_u32 w) LOOM_INLINE { return loom_dpp_word<C, ROWS>(o, w); });
}
// The lane of the neighbouring row (16 lanes) that the nibbles of P name per lane.
template <loom_u64 P> LOOM_FN loom_u32 loom_next_row_word(loom_u32 w) {
#if defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
  return loom_pin((loom_u32)__builtin_amdgcn_permlanex16((int)w, (int)w, (int)(loom_u32)P, (int)(loom_u32)(P >> 32), true, false));
#else
  return w;
#endif
}
template <loom_u64 P, class T> LOOM_FN T loom_next_row(T v) {
  return loom_each_word(v, [](loom_u32 w) LOOM_INLINE { return loom_next_row_word<P>(w); });
}
// The same, old where that lane is not active.
template <loom_u64 P, class T> LOOM_FN T loom_next_row_or(T old, T v) {
  return loom_zip_word(old, v, [](loom_u32 o, loom_u32 w) LOOM_INLINE {
#if defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
    return loom_pin((loom_u32)__builtin_amdgcn_permlanex16((int)o, (int)w, (int)(loom_u32)P, (int)(loom_u32)(P >> 32), false, false));
#else
    return o | w;
#endif
  });
}
// Lane numbers of a row, exclusive-or M, or D places on.
constexpr loom_u64 loom_row_xor(int m) {
  loom_u64 p = 0;
  for (int i = 0; i < 16; ++i) p |= (loom_u64)(i ^ m) << (4 * i);
  return p;
}
constexpr loom_u64 loom_row_turn(int d) {
  loom_u64 p = 0;
  for (int i = 0; i < 16; ++i) p |= (loom_u64)((i + d) & 15) << (4 * i);
  return p;
}
#endif
//@ loom_lane_xor loom_lane_xor_word
// The value of the lane whose number differs by exclusive-or with M. Every lane of
// the wave runs.
#if defined(LOOM_AMDGPU)
template <int M> LOOM_FN loom_u32 loom_lane_xor_word(loom_u32 w) {
  if constexpr (M == 0) {
    return w;
#if defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
  } else if constexpr (M < 16) {
    return (loom_u32)__builtin_amdgcn_update_dpp((int)w, (int)w, 0x160 | M, 0xf, 0xf, true);
  } else if constexpr (M < 32) {
    return loom_next_row_word<loom_row_xor(M & 15)>(w);
#if defined(__GFX11__) || defined(__GFX12__)
  } else {
    return loom_lane_xor_word<M & 31>(loom_pin((loom_u32)__builtin_amdgcn_permlane64((int)w)));
#else
  } else {
    return loom_shuffle_word(w, loom_this_lane() ^ M);
#endif
#else
  } else if constexpr (M < 4) { // quad_perm
    return (loom_u32)__builtin_amdgcn_update_dpp((int)w, (int)w, (0 ^ M) | (1 ^ M) << 2 | (2 ^ M) << 4 | (3 ^ M) << 6, 0xf, 0xf, true);
  } else if constexpr (M < 8) { // row_half_mirror is exclusive-or with 7
    return loom_lane_xor_word<M ^ 7>((loom_u32)__builtin_amdgcn_update_dpp((int)w, (int)w, 0x141, 0xf, 0xf, true));
  } else if constexpr (M < 12) { // row_ror:8 with 8
    return loom_lane_xor_word<M ^ 8>((loom_u32)__builtin_amdgcn_update_dpp((int)w, (int)w, 0x128, 0xf, 0xf, true));
  } else if constexpr (M < 16) { // row_mirror with 15
    return loom_lane_xor_word<M ^ 15>((loom_u32)__builtin_amdgcn_update_dpp((int)w, (int)w, 0x140, 0xf, 0xf, true));
  } else if constexpr (M < 32) {
    return (loom_u32)__builtin_amdgcn_ds_swizzle((int)w, (M << 10) | 0x1f);
  } else {
    return loom_shuffle_word(w, loom_this_lane() ^ M);
#endif
  }
}
#endif
template <int M, class T> LOOM_FN T loom_lane_xor(T v) {
#if defined(LOOM_AMDGPU)
  return loom_each_word(v, [](loom_u32 w) LOOM_INLINE { return loom_lane_xor_word<M>(w); });
#elif defined(LOOM_CUDA)
  return loom_each_word(v, [](loom_u32 w) LOOM_INLINE { return __shfl_xor_sync(0xffffffffu, w, M); });
#else
  return loom_shuffle(v, loom_this_lane() ^ M);
#endif
}
//@ loom_lane_up
// The value of the lane D below, in a wave of 32 where every lane runs; another
// lane's in the first D lanes.
template <int D, class T> LOOM_FN T loom_lane_up(T v) {
#if defined(LOOM_AMDGPU) && (defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__))
  if constexpr (D < 16)
    return loom_dpp<0x110 | D>(loom_next_row<loom_row_turn(-D)>(v), v);
  else
    return loom_next_row<loom_row_turn(-(D & 15))>(v);
#else
  return loom_shuffle(v, (loom_this_lane() - D) & 31);
#endif
}
//@ loom_lane_down
// The value of the lane D above, in a wave of 32 where every lane runs; another
// lane's in the last D lanes.
template <int D, class T> LOOM_FN T loom_lane_down(T v) {
#if defined(LOOM_AMDGPU) && (defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__))
  if constexpr (D < 16)
    return loom_dpp<0x100 | D>(loom_next_row<loom_row_turn(D)>(v), v);
  else
    return loom_next_row<loom_row_turn(D & 15)>(v);
#else
  return loom_shuffle(v, (loom_this_lane() + D) & 31);
#endif
}
//@ loom_join_rows
// Combines the four rows of 16 lanes of a wave64, each of which holds one value.
template <class T, class F> LOOM_FN T loom_join_rows(T v, F f) {
#if defined(LOOM_AMDGPU) && defined(__GFX9__)
  // row_bcast:15 and :31 bring the total of the rows before; the last row has all.
  v = f(loom_each_word(v, [](loom_u32 w) LOOM_INLINE { return (loom_u32)__builtin_amdgcn_update_dpp((int)w, (int)w, 0x142, 0xf, 0xf, true); }), v);
  v = f(loom_each_word(v, [](loom_u32 w) LOOM_INLINE { return (loom_u32)__builtin_amdgcn_update_dpp((int)w, (int)w, 0x143, 0xf, 0xf, true); }), v);
  return loom_read_lane(v, 63);
#else
  v = f(v, loom_lane_xor<16>(v));
  return f(v, loom_lane_xor<32>(v));
#endif
}
//@ loom_low_bit loom_high_bit
// The number of the lowest and of the highest bit that is set; one is.
#if defined(LOOM_CUDA)
LOOM_FN loom_i32 loom_low_bit(loom_u32 m) { return __ffs((int)m) - 1; }
LOOM_FN loom_i32 loom_low_bit(loom_u64 m) { return __ffsll((loom_i64)m) - 1; }
LOOM_FN loom_i32 loom_high_bit(loom_u32 m) { return 31 - __clz((int)m); }
LOOM_FN loom_i32 loom_high_bit(loom_u64 m) { return 63 - __clzll((loom_i64)m); }
#else
LOOM_FN loom_i32 loom_low_bit(loom_u32 m) { return __builtin_ctz(m); }
LOOM_FN loom_i32 loom_low_bit(loom_u64 m) { return __builtin_ctzll(m); }
LOOM_FN loom_i32 loom_high_bit(loom_u32 m) { return 31 - __builtin_clz(m); }
LOOM_FN loom_i32 loom_high_bit(loom_u64 m) { return 63 - __builtin_clzll(m); }
#endif
//@ loom_lane_mask
// One bit per lane of a wave of W.
template <int W> struct loom_lane_mask { typedef loom_u32 type; };
template <> struct loom_lane_mask<64> { typedef loom_u64 type; };
//@ loom_cluster_place loom_cluster_first loom_cluster_active loom_cluster_lanes
// Clusters of SIZE lanes, STRIDE apart: the lane's place, the first lane, and the
// active lanes as bits 0, STRIDE, 2·STRIDE …
template <int SIZE, int STRIDE> LOOM_FN loom_i32 loom_cluster_place(loom_i32 lane) { return (lane / STRIDE) & (SIZE - 1); }
template <int SIZE, int STRIDE> LOOM_FN loom_i32 loom_cluster_first(loom_i32 lane) { return lane & ~((SIZE - 1) * STRIDE); }
template <int SIZE, int STRIDE> LOOM_FN constexpr loom_u64 loom_cluster_lanes() {
  loom_u64 all = 0;
  for (int i = 0; i < SIZE; ++i) all |= (loom_u64)1 << (i * STRIDE);
  return all;
}
template <int W, int SIZE, int STRIDE> LOOM_FN typename loom_lane_mask<W>::type loom_cluster_active(loom_i32 lane) {
  typedef typename loom_lane_mask<W>::type M;
  constexpr M all = (M)loom_cluster_lanes<SIZE, STRIDE>();
  const M on = (M)loom_ballot<W>(true);
  if constexpr (SIZE == W) return on;
  return (on >> loom_cluster_first<SIZE, STRIDE>(lane)) & all;
}
//@ loom_reduce_some
// Combines v over the active lanes of each cluster, where any may be missing. Lanes
// first combine with their neighbour, then pairs with pairs, and so on: a lane
// takes the value of the first active lane of the block beside its own.
template <int W, int SIZE, int STRIDE, int D, class M, class T, class F> LOOM_FN T loom_reduce_blocks(T v, loom_i32 lane, M on, F f) {
  if constexpr (D >= SIZE) {
    return v;
  } else {
    const loom_i32 place = loom_cluster_place<SIZE, STRIDE>(lane), block = (place & ~(D - 1)) ^ D;
    const M beside = (on >> (block * STRIDE)) & (M)loom_cluster_lanes<D, STRIDE>();
    T t;
    if constexpr (W == 64 && STRIDE == 1 && D == 32) { // both halves of the wave
      const loom_u32 lo = (loom_u32)on, hi = (loom_u32)(on >> 32);
      const T below = loom_read_lane(v, lo != 0 ? loom_low_bit(lo) : 0);
      const T above = loom_read_lane(v, hi != 0 ? 32 + loom_low_bit(hi) : 0);
      t = lane < 32 ? above : below;
    } else {
      const loom_i32 from = loom_cluster_first<SIZE, STRIDE>(lane) + block * STRIDE;
      t = loom_shuffle_some(v, beside != 0 ? from + loom_low_bit(beside) : lane);
    }
    return loom_reduce_blocks<W, SIZE, STRIDE, 2 * D>(beside != 0 ? f(v, t) : v, lane, on, f);
  }
}
template <int W, int SIZE, int STRIDE, class T, class F> LOOM_FN T loom_reduce_some(T v, F f) {
  const loom_i32 lane = loom_this_lane();
  return loom_reduce_blocks<W, SIZE, STRIDE, 1>(v, lane, loom_cluster_active<W, SIZE, STRIDE>(lane), f);
}
//@ loom_reduce_rows
// Combines groups of C lanes, 16 or 32, each of one value; lanes is the number of
// lanes that exist, and f with none changes nothing.
template <int W, int C, class T, class F> LOOM_FN T loom_reduce_rows(T v, loom_i32 lanes, T none, F f) {
  T sum = loom_read_lane(v, 0);
  if constexpr (C == 16) {
    const T second = loom_read_lane(v, 16);
    sum = f(sum, lanes > 16 ? second : none);
  }
  if constexpr (W == 64) {
    T high = loom_read_lane(v, 32);
    if constexpr (C == 16) {
      const T fourth = loom_read_lane(v, 48);
      high = f(high, lanes > 48 ? fourth : none);
    }
    sum = f(sum, lanes > 32 ? high : none);
  }
  return sum;
}
//@ loom_reduce_low
// Combines v over the first lanes of a wave, those that exist and run.
template <int W, class T, class F> LOOM_FN T loom_reduce_low(T v, loom_i32 lanes, T none, F f) {
#if defined(LOOM_AMDGPU)
  // Towards the first lane of each row of 16: row_shl.
  v = f(v, loom_dpp<0x101>(none, v));
  v = f(v, loom_dpp<0x102>(none, v));
  v = f(v, loom_dpp<0x104>(none, v));
  v = f(v, loom_dpp<0x108>(none, v));
  return loom_reduce_rows<W, 16>(v, lanes, none, f);
#else
  return (void)lanes, (void)none, loom_reduce_some<W, W, 1>(v, f);
#endif
}
//@ loom_scan_some loom_scan_before_some loom_active_before
// Inclusive and exclusive scan over the active lanes of each cluster, in lane order
// or, with REV, from the end; any lane may be missing. Each lane adds what the next
// active lane before it has, then what is twice as far, and so on.
// The lane before (after), or the own one where there is none.
template <int W, int SIZE, int STRIDE, bool REV> LOOM_FN loom_i32 loom_active_before(loom_i32 lane) {
  typedef typename loom_lane_mask<W>::type M;
  const M on = loom_cluster_active<W, SIZE, STRIDE>(lane);
  const loom_i32 first = loom_cluster_first<SIZE, STRIDE>(lane), at = lane - first;
  if constexpr (REV) {
    const M after = (on >> at) >> 1;
    return after != 0 ? lane + 1 + loom_low_bit(after) : lane;
  } else {
    const M before = on & (((M)1 << at) - 1);
    return before != 0 ? first + loom_high_bit(before) : lane;
  }
}
template <int W, int SIZE, int STRIDE, bool REV, class T, class F> LOOM_FN T loom_scan_some(T v, F f) {
  const loom_i32 lane = loom_this_lane();
  loom_i32 from = loom_active_before<W, SIZE, STRIDE, REV>(lane);
  for (int d = 1; d < SIZE; d *= 2) {
    const T t = loom_shuffle_some(v, from);
    const loom_i32 next = loom_shuffle_some(from, from);
    v = from != lane ? f(t, v) : v;
    from = next == from ? lane : next;
  }
  return v;
}
template <int W, int SIZE, int STRIDE, bool REV, class T, class F> LOOM_FN T loom_scan_before_some(T v, T first, F f) {
  v = loom_scan_some<W, SIZE, STRIDE, REV>(v, f);
  const loom_i32 lane = loom_this_lane(), from = loom_active_before<W, SIZE, STRIDE, REV>(lane);
  const T t = loom_shuffle_some(v, from);
  return from != lane ? t : first;
}
//@ loom_scan_lanes
#if defined(LOOM_AMDGPU)
// The scan of v over clusters, from the step over D lanes on. LOW says that the
// last lanes of the wave may be missing.
template <int D, int SIZE, int STRIDE, bool REV, bool LOW, class T, class F> LOOM_FN T loom_scan_lanes(T v, T none, F f) {
  constexpr int span = SIZE * STRIDE;
  if constexpr (D >= SIZE) {
    return v;
  } else if constexpr (STRIDE == 1 && D == 16) { // rows join the row before
    T t;
#if defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
    if constexpr (REV && LOW)
      t = loom_dpp<0xe4, 0x5>(none, loom_next_row_or<0ull>(none, v));
    else
      t = loom_dpp<0xe4, REV ? 0x5 : 0xa>(none, loom_next_row<REV ? 0ull : ~0ull>(v));
#else
    if constexpr (REV) {
      const loom_u64 on = LOW ? loom_ballot<64>(true) : ~0ull;
      const T second = loom_read_lane(v, 16), fourth = loom_read_lane(v, 48);
      t = loom_dpp<0xe4, 0x1>(none, (on >> 16) != 0 ? second : none);
      t = loom_dpp<0xe4, 0x4>(t, (on >> 48) != 0 ? fourth : none);
    } else {
      t = loom_dpp<0x142, 0xa>(none, v); // row_bcast:15
    }
#endif
    return loom_scan_lanes<2 * D, SIZE, STRIDE, REV, LOW>(f(t, v), none, f);
  } else if constexpr (STRIDE == 1 && D == 32) {
    T t = loom_read_lane(v, REV ? 32 : 31);
    if constexpr (REV && LOW) t = (loom_ballot<64>(true) >> 32) != 0 ? t : none;
    return f(loom_dpp<0xe4, REV ? 0x3 : 0xc>(none, t), v);
  } else if constexpr (STRIDE == 1 || span <= 16) { // row_shl or row_shr
    T t = loom_dpp<(REV ? 0x100 : 0x110) | (D * STRIDE)>(none, v);
    if constexpr (span < 16) {
      const loom_i32 place = loom_cluster_place<SIZE, STRIDE>(loom_this_lane());
      t = (REV ? place + D < SIZE : place >= D) ? t : none;
    }
    return loom_scan_lanes<2 * D, SIZE, STRIDE, REV, LOW>(f(t, v), none, f);
  } else {
    const loom_i32 lane = loom_this_lane(), place = loom_cluster_place<SIZE, STRIDE>(lane);
    const T x = loom_shuffle(v, REV ? lane + D * STRIDE : lane - D * STRIDE);
    const T t = (REV ? place + D < SIZE : place >= D) ? x : none;
    return loom_scan_lanes<2 * D, SIZE, STRIDE, REV, LOW>(f(t, v), none, f);
  }
}
#endif
//@ loom_lane_before
// The value of the lane before (after) in the cluster, first in the first (last).
template <int W, int SIZE, int STRIDE, bool REV, bool LOW, class T> LOOM_FN T loom_lane_before(T v, T first) {
  constexpr int span = SIZE * STRIDE;
#if defined(LOOM_AMDGPU)
  T t;
  if constexpr (span <= 16) {
    t = loom_dpp<(REV ? 0x100 : 0x110) | STRIDE>(first, v);
    if constexpr (span == 16) return t;
#if defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
  } else if constexpr (STRIDE == 1) {
    T edge;
    if constexpr (REV && LOW)
      edge = loom_dpp<0xe4, 0x5>(first, loom_next_row_or<0ull>(first, v));
    else
      edge = loom_dpp<0xe4, REV ? 0x5 : 0xa>(first, loom_next_row<REV ? 0ull : ~0ull>(v));
    if constexpr (SIZE == 64) {
      T half = loom_read_lane(v, REV ? 32 : 31);
      if constexpr (REV && LOW) half = (loom_ballot<64>(true) >> 32) != 0 ? half : first;
      edge = loom_dpp<0xe4, REV ? 0x2 : 0x4>(edge, half);
    }
    return loom_dpp<(REV ? 0x100 : 0x110) | 1>(edge, v);
#else
  } else if constexpr (STRIDE == 1) { // wave_shl:1 or wave_shr:1
    t = loom_dpp<REV ? 0x130 : 0x138>(first, v);
    if constexpr (SIZE == W) return t;
#endif
  } else {
    const loom_i32 lane = loom_this_lane();
    t = loom_shuffle(v, REV ? lane + STRIDE : lane - STRIDE);
  }
  return loom_cluster_place<SIZE, STRIDE>(loom_this_lane()) == (REV ? SIZE - 1 : 0) ? first : t;
#else
  const loom_i32 lane = loom_this_lane(), from = loom_active_before<W, SIZE, STRIDE, REV>(lane);
  const T t = loom_shuffle_some(v, from);
  return (void)span, from != lane ? t : first;
#endif
}
//@ loom_scan loom_scan_before
// Inclusive and exclusive scan over clusters in lane order, REV from the end. Every
// lane of the wave runs or, where LOW, every lane below some number.
template <int W, int SIZE, int STRIDE, bool REV, bool LOW, class T, class F> LOOM_FN T loom_scan(T v, T none, F f) {
#if defined(LOOM_AMDGPU)
  return loom_scan_lanes<1, SIZE, STRIDE, REV, LOW>(v, none, f);
#else
  return (void)none, loom_scan_some<W, SIZE, STRIDE, REV>(v, f);
#endif
}
template <int W, int SIZE, int STRIDE, bool REV, bool LOW, class T, class F> LOOM_FN T loom_scan_before(T v, T none, T first, F f) {
  return loom_lane_before<W, SIZE, STRIDE, REV, LOW>(loom_scan<W, SIZE, STRIDE, REV, LOW>(v, none, f), first);
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
