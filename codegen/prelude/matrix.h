Matrix multiply-accumulate on fragments. Each helper is one instruction where the
compiler's target has it; elsewhere the same lane layout in plain C++, with the
products summed in f32 (or i32) along k and the accumulator added last.

//@ loom_get_f16
struct loom_get_f16 { typedef loom_f32 sum; template <class V> LOOM_FN loom_f32 get(const V &v, int i) { return (loom_f32)v[i]; } };
//@ loom_get_bf16
struct loom_get_bf16 { typedef loom_f32 sum; template <class V> LOOM_FN loom_f32 get(const V &v, int i) { return loom_bf16_f32(v[i]); } };
//@ loom_get_f32
struct loom_get_f32 { typedef loom_f32 sum; template <class V> LOOM_FN loom_f32 get(const V &v, int i) { return v[i]; } };
//@ loom_get_f64
struct loom_get_f64 { typedef loom_f64 sum; template <class V> LOOM_FN loom_f64 get(const V &v, int i) { return v[i]; } };
//@ loom_get_f8e4m3
struct loom_get_f8e4m3 { typedef loom_f32 sum; template <class V> LOOM_FN loom_f32 get(const V &v, int i) { return loom_f8e4m3_f32((loom_u8)(v[i / 4] >> (8 * (i % 4)))); } };
//@ loom_get_f8e5m2
struct loom_get_f8e5m2 { typedef loom_f32 sum; template <class V> LOOM_FN loom_f32 get(const V &v, int i) { return loom_f8e5m2_f32((loom_u8)(v[i / 4] >> (8 * (i % 4)))); } };
//@ loom_get_i8
template <bool S> struct loom_get_i8 {
  typedef loom_u32 sum;
  template <class V> LOOM_FN loom_u32 get(const V &v, int i) {
    const loom_u32 b = (v[i / 4] >> (8 * (i % 4))) & 0xffu;
    return S ? (loom_u32)(loom_i32)(loom_i8)b : b;
  }
};
//@ loom_get_i4
template <bool S> struct loom_get_i4 {
  typedef loom_u32 sum;
  template <class V> LOOM_FN loom_u32 get(const V &v, int i) {
    const loom_u32 b = (v[i / 8] >> (4 * (i % 8))) & 15u;
    return S && b > 7u ? b - 16u : b;
  }
};
//@ loom_mul_add
LOOM_FN loom_f32 loom_mul_add(loom_f32 a, loom_f32 b, loom_f32 c) { return loom_fma_f32(a, b, c); }
LOOM_FN loom_f64 loom_mul_add(loom_f64 a, loom_f64 b, loom_f64 c) { return loom_fma_f64(a, b, c); }
LOOM_FN loom_u32 loom_mul_add(loom_u32 a, loom_u32 b, loom_u32 c) { return a * b + c; }
//@ loom_add_last
LOOM_FN loom_f32 loom_add_last(loom_f32 s, loom_f32 c) { return s + c; }
LOOM_FN loom_f64 loom_add_last(loom_f64 s, loom_f64 c) { return s + c; }
LOOM_FN loom_u32 loom_add_last(loom_u32 s, loom_u32 c) { return s + c; }
LOOM_FN loom_f16 loom_add_last(loom_f32 s, loom_f16 c) { return (loom_f16)(s + (loom_f32)c); }
LOOM_FN loom_bf16 loom_add_last(loom_f32 s, loom_bf16 c) { return loom_f32_bf16(s + loom_bf16_f32(c)); }
//@ loom_mma_plain
// The tile product in plain C++. M is the tile's width, K its depth, R the
// accumulator rows per lane, MODE how rows are spread over lane groups: 0 in turn,
// with replicated operands (gfx11); 1 adjacent; 2 in blocks of four (32 x 32); 3
// adjacent, with the groups in the order 0, 2, 1, 3 (gfx12, 64 lanes); 4 in turn,
// with k spread over the groups (f64 matrix cores).
// Only every STEP-th component of the accumulator is used.
template <int M, int K, int R, int MODE, int STEP, class GA, class GB, class A, class B, class C>
LOOM_FN C loom_mma_plain(const A &a, const B &b, const C &c) {
  typedef typename GA::sum T;
  const int W = M * M / R, G = W / M, N = MODE == 0 ? K : K / G;
  const loom_i32 lane = loom_this_lane(), col = lane % M;
  const loom_i32 group = MODE == 3 ? lane / 32 + lane / 16 % 2 * 2 : lane / M;
#if defined(LOOM_HOST)
  const A *const *as = (const A *const *)loom_host_share(0, &a);
  const B *const *bs = (const B *const *)loom_host_share(1, &b);
#endif
  C r = c;
#if defined(__CUDACC__) || defined(__clang__)
#pragma unroll
#endif
  for (int i = 0; i < R; ++i) {
    const loom_i32 row = MODE == 2 ? 8 * (i / 4) + 4 * group + i % 4 : MODE % 2 ? R * group + i : G * i + group;
    T s = 0;
#if defined(__CUDACC__) || defined(__clang__)
#pragma unroll
#endif
    for (int k = 0; k < K; ++k) {
      const int share = k / N, e = k % N;
      const int from = MODE == 0 ? 0 : MODE == 3 ? M * (share / 2 + share % 2 * 2) : M * share;
#if defined(LOOM_HOST)
      const T x = GA::get(*as[row + from], e), y = GB::get(*bs[MODE == 0 ? lane : col + from], e);
#else
      const T x = loom_shuffle(GA::get(a, e), row + from);
      const T y = MODE == 0 ? GB::get(b, e) : loom_shuffle(GB::get(b, e), col + from);
#endif
      s = loom_mul_add(x, y, s);
    }
    r[i * STEP] = loom_add_last(s, c[i * STEP]);
  }
#if defined(LOOM_HOST)
  loom_host_wave_barrier();
#endif
  return r;
}
//@ loom_wmma11_f32_16x16x16_f16_w32
LOOM_FN loom_f32x8 loom_wmma11_f32_16x16x16_f16_w32(loom_f16x16 a, loom_f16x16 b, loom_f32x8 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX11__)
  return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c);
#else
  return loom_mma_plain<16, 16, 8, 0, 1, loom_get_f16, loom_get_f16>(a, b, c);
#endif
}
//@ loom_wmma11_f16_16x16x16_f16_w32
LOOM_FN loom_f16x16 loom_wmma11_f16_16x16x16_f16_w32(loom_f16x16 a, loom_f16x16 b, loom_f16x16 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX11__)
  return __builtin_amdgcn_wmma_f16_16x16x16_f16_w32(a, b, c, false);
#else
  return loom_mma_plain<16, 16, 8, 0, 2, loom_get_f16, loom_get_f16>(a, b, c);
#endif
}
//@ loom_wmma11_f32_16x16x16_bf16_w32
LOOM_FN loom_f32x8 loom_wmma11_f32_16x16x16_bf16_w32(loom_bf16x16 a, loom_bf16x16 b, loom_f32x8 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX11__)
  return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(loom_bitcast<loom_i16x16>(a), loom_bitcast<loom_i16x16>(b), c);
#else
  return loom_mma_plain<16, 16, 8, 0, 1, loom_get_bf16, loom_get_bf16>(a, b, c);
#endif
}
//@ loom_wmma11_bf16_16x16x16_bf16_w32
LOOM_FN loom_bf16x16 loom_wmma11_bf16_16x16x16_bf16_w32(loom_bf16x16 a, loom_bf16x16 b, loom_bf16x16 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX11__)
  return loom_bitcast<loom_bf16x16>(__builtin_amdgcn_wmma_bf16_16x16x16_bf16_w32(loom_bitcast<loom_i16x16>(a), loom_bitcast<loom_i16x16>(b), loom_bitcast<loom_i16x16>(c), false));
#else
  return loom_mma_plain<16, 16, 8, 0, 2, loom_get_bf16, loom_get_bf16>(a, b, c);
#endif
}
//@ loom_wmma11_i32_16x16x16_i8_w32
template <bool SA, bool SB> LOOM_FN loom_u32x8 loom_wmma11_i32_16x16x16_i8_w32(loom_u32x4 a, loom_u32x4 b, loom_u32x8 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX11__)
  return loom_bitcast<loom_u32x8>(__builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(SA, loom_bitcast<loom_i32x4>(a), SB, loom_bitcast<loom_i32x4>(b), loom_bitcast<loom_i32x8>(c), false));
#else
  return loom_mma_plain<16, 16, 8, 0, 1, loom_get_i8<SA>, loom_get_i8<SB>>(a, b, c);
#endif
}
//@ loom_wmma11_i32_16x16x16_i4_w32
template <bool SA, bool SB> LOOM_FN loom_u32x8 loom_wmma11_i32_16x16x16_i4_w32(loom_u32x2 a, loom_u32x2 b, loom_u32x8 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX11__)
  return loom_bitcast<loom_u32x8>(__builtin_amdgcn_wmma_i32_16x16x16_iu4_w32(SA, loom_bitcast<loom_i32x2>(a), SB, loom_bitcast<loom_i32x2>(b), loom_bitcast<loom_i32x8>(c), false));
#else
  return loom_mma_plain<16, 16, 8, 0, 1, loom_get_i4<SA>, loom_get_i4<SB>>(a, b, c);
#endif
}
//@ loom_wmma12_f32_16x16x16_f16_w32
LOOM_FN loom_f32x8 loom_wmma12_f32_16x16x16_f16_w32(loom_f16x8 a, loom_f16x8 b, loom_f32x8 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c);
#else
  return loom_mma_plain<16, 16, 8, 1, 1, loom_get_f16, loom_get_f16>(a, b, c);
#endif
}
//@ loom_wmma12_f16_16x16x16_f16_w32
LOOM_FN loom_f16x8 loom_wmma12_f16_16x16x16_f16_w32(loom_f16x8 a, loom_f16x8 b, loom_f16x8 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return __builtin_amdgcn_wmma_f16_16x16x16_f16_w32_gfx12(a, b, c);
#else
  return loom_mma_plain<16, 16, 8, 1, 1, loom_get_f16, loom_get_f16>(a, b, c);
#endif
}
//@ loom_wmma12_f32_16x16x16_bf16_w32
LOOM_FN loom_f32x8 loom_wmma12_f32_16x16x16_bf16_w32(loom_bf16x8 a, loom_bf16x8 b, loom_f32x8 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(loom_bitcast<loom_i16x8>(a), loom_bitcast<loom_i16x8>(b), c);
#else
  return loom_mma_plain<16, 16, 8, 1, 1, loom_get_bf16, loom_get_bf16>(a, b, c);
#endif
}
//@ loom_wmma12_bf16_16x16x16_bf16_w32
LOOM_FN loom_bf16x8 loom_wmma12_bf16_16x16x16_bf16_w32(loom_bf16x8 a, loom_bf16x8 b, loom_bf16x8 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return loom_bitcast<loom_bf16x8>(__builtin_amdgcn_wmma_bf16_16x16x16_bf16_w32_gfx12(loom_bitcast<loom_i16x8>(a), loom_bitcast<loom_i16x8>(b), loom_bitcast<loom_i16x8>(c)));
#else
  return loom_mma_plain<16, 16, 8, 1, 1, loom_get_bf16, loom_get_bf16>(a, b, c);
#endif
}
//@ loom_wmma12_i32_16x16x16_i8_w32
template <bool SA, bool SB> LOOM_FN loom_u32x8 loom_wmma12_i32_16x16x16_i8_w32(loom_u32x2 a, loom_u32x2 b, loom_u32x8 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return loom_bitcast<loom_u32x8>(__builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(SA, loom_bitcast<loom_i32x2>(a), SB, loom_bitcast<loom_i32x2>(b), loom_bitcast<loom_i32x8>(c), false));
#else
  return loom_mma_plain<16, 16, 8, 1, 1, loom_get_i8<SA>, loom_get_i8<SB>>(a, b, c);
#endif
}
//@ loom_wmma12_i32_16x16x16_i4_w32
template <bool SA, bool SB> LOOM_FN loom_u32x8 loom_wmma12_i32_16x16x16_i4_w32(loom_u32x1 a, loom_u32x1 b, loom_u32x8 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return loom_bitcast<loom_u32x8>(__builtin_amdgcn_wmma_i32_16x16x16_iu4_w32_gfx12(SA, loom_bitcast<loom_i32>(a), SB, loom_bitcast<loom_i32>(b), loom_bitcast<loom_i32x8>(c), false));
#else
  return loom_mma_plain<16, 16, 8, 1, 1, loom_get_i4<SA>, loom_get_i4<SB>>(a, b, c);
#endif
}
//@ loom_wmma12_i32_16x16x32_i4_w32
template <bool SA, bool SB> LOOM_FN loom_u32x8 loom_wmma12_i32_16x16x32_i4_w32(loom_u32x2 a, loom_u32x2 b, loom_u32x8 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return loom_bitcast<loom_u32x8>(__builtin_amdgcn_wmma_i32_16x16x32_iu4_w32_gfx12(SA, loom_bitcast<loom_i32x2>(a), SB, loom_bitcast<loom_i32x2>(b), loom_bitcast<loom_i32x8>(c), false));
#else
  return loom_mma_plain<16, 32, 8, 1, 1, loom_get_i4<SA>, loom_get_i4<SB>>(a, b, c);
#endif
}
//@ loom_wmma12_f32_16x16x16_f8e4m3_f8e4m3_w32
LOOM_FN loom_f32x8 loom_wmma12_f32_16x16x16_f8e4m3_f8e4m3_w32(loom_u32x2 a, loom_u32x2 b, loom_f32x8 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(loom_bitcast<loom_i32x2>(a), loom_bitcast<loom_i32x2>(b), c);
#else
  return loom_mma_plain<16, 16, 8, 1, 1, loom_get_f8e4m3, loom_get_f8e4m3>(a, b, c);
#endif
}
//@ loom_wmma12_f32_16x16x16_f8e4m3_f8e5m2_w32
LOOM_FN loom_f32x8 loom_wmma12_f32_16x16x16_f8e4m3_f8e5m2_w32(loom_u32x2 a, loom_u32x2 b, loom_f32x8 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return __builtin_amdgcn_wmma_f32_16x16x16_fp8_bf8_w32_gfx12(loom_bitcast<loom_i32x2>(a), loom_bitcast<loom_i32x2>(b), c);
#else
  return loom_mma_plain<16, 16, 8, 1, 1, loom_get_f8e4m3, loom_get_f8e5m2>(a, b, c);
#endif
}
//@ loom_wmma12_f32_16x16x16_f8e5m2_f8e4m3_w32
LOOM_FN loom_f32x8 loom_wmma12_f32_16x16x16_f8e5m2_f8e4m3_w32(loom_u32x2 a, loom_u32x2 b, loom_f32x8 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return __builtin_amdgcn_wmma_f32_16x16x16_bf8_fp8_w32_gfx12(loom_bitcast<loom_i32x2>(a), loom_bitcast<loom_i32x2>(b), c);
#else
  return loom_mma_plain<16, 16, 8, 1, 1, loom_get_f8e5m2, loom_get_f8e4m3>(a, b, c);
#endif
}
//@ loom_wmma12_f32_16x16x16_f8e5m2_f8e5m2_w32
LOOM_FN loom_f32x8 loom_wmma12_f32_16x16x16_f8e5m2_f8e5m2_w32(loom_u32x2 a, loom_u32x2 b, loom_f32x8 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return __builtin_amdgcn_wmma_f32_16x16x16_bf8_bf8_w32_gfx12(loom_bitcast<loom_i32x2>(a), loom_bitcast<loom_i32x2>(b), c);
#else
  return loom_mma_plain<16, 16, 8, 1, 1, loom_get_f8e5m2, loom_get_f8e5m2>(a, b, c);
#endif
}
//@ loom_wmma11_f32_16x16x16_f16_w64
LOOM_FN loom_f32x4 loom_wmma11_f32_16x16x16_f16_w64(loom_f16x16 a, loom_f16x16 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX11__)
  return __builtin_amdgcn_wmma_f32_16x16x16_f16_w64(a, b, c);
#else
  return loom_mma_plain<16, 16, 4, 0, 1, loom_get_f16, loom_get_f16>(a, b, c);
#endif
}
//@ loom_wmma11_f16_16x16x16_f16_w64
LOOM_FN loom_f16x8 loom_wmma11_f16_16x16x16_f16_w64(loom_f16x16 a, loom_f16x16 b, loom_f16x8 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX11__)
  return __builtin_amdgcn_wmma_f16_16x16x16_f16_w64(a, b, c, false);
#else
  return loom_mma_plain<16, 16, 4, 0, 2, loom_get_f16, loom_get_f16>(a, b, c);
#endif
}
//@ loom_wmma11_f32_16x16x16_bf16_w64
LOOM_FN loom_f32x4 loom_wmma11_f32_16x16x16_bf16_w64(loom_bf16x16 a, loom_bf16x16 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX11__)
  return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w64(loom_bitcast<loom_i16x16>(a), loom_bitcast<loom_i16x16>(b), c);
#else
  return loom_mma_plain<16, 16, 4, 0, 1, loom_get_bf16, loom_get_bf16>(a, b, c);
#endif
}
//@ loom_wmma11_bf16_16x16x16_bf16_w64
LOOM_FN loom_bf16x8 loom_wmma11_bf16_16x16x16_bf16_w64(loom_bf16x16 a, loom_bf16x16 b, loom_bf16x8 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX11__)
  return loom_bitcast<loom_bf16x8>(__builtin_amdgcn_wmma_bf16_16x16x16_bf16_w64(loom_bitcast<loom_i16x16>(a), loom_bitcast<loom_i16x16>(b), loom_bitcast<loom_i16x8>(c), false));
#else
  return loom_mma_plain<16, 16, 4, 0, 2, loom_get_bf16, loom_get_bf16>(a, b, c);
#endif
}
//@ loom_wmma11_i32_16x16x16_i8_w64
template <bool SA, bool SB> LOOM_FN loom_u32x4 loom_wmma11_i32_16x16x16_i8_w64(loom_u32x4 a, loom_u32x4 b, loom_u32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX11__)
  return loom_bitcast<loom_u32x4>(__builtin_amdgcn_wmma_i32_16x16x16_iu8_w64(SA, loom_bitcast<loom_i32x4>(a), SB, loom_bitcast<loom_i32x4>(b), loom_bitcast<loom_i32x4>(c), false));
#else
  return loom_mma_plain<16, 16, 4, 0, 1, loom_get_i8<SA>, loom_get_i8<SB>>(a, b, c);
#endif
}
//@ loom_wmma11_i32_16x16x16_i4_w64
template <bool SA, bool SB> LOOM_FN loom_u32x4 loom_wmma11_i32_16x16x16_i4_w64(loom_u32x2 a, loom_u32x2 b, loom_u32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX11__)
  return loom_bitcast<loom_u32x4>(__builtin_amdgcn_wmma_i32_16x16x16_iu4_w64(SA, loom_bitcast<loom_i32x2>(a), SB, loom_bitcast<loom_i32x2>(b), loom_bitcast<loom_i32x4>(c), false));
#else
  return loom_mma_plain<16, 16, 4, 0, 1, loom_get_i4<SA>, loom_get_i4<SB>>(a, b, c);
#endif
}
//@ loom_wmma12_f32_16x16x16_f16_w64
LOOM_FN loom_f32x4 loom_wmma12_f32_16x16x16_f16_w64(loom_f16x4 a, loom_f16x4 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return __builtin_amdgcn_wmma_f32_16x16x16_f16_w64_gfx12(a, b, c);
#else
  return loom_mma_plain<16, 16, 4, 3, 1, loom_get_f16, loom_get_f16>(a, b, c);
#endif
}
//@ loom_wmma12_f16_16x16x16_f16_w64
LOOM_FN loom_f16x4 loom_wmma12_f16_16x16x16_f16_w64(loom_f16x4 a, loom_f16x4 b, loom_f16x4 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return __builtin_amdgcn_wmma_f16_16x16x16_f16_w64_gfx12(a, b, c);
#else
  return loom_mma_plain<16, 16, 4, 3, 1, loom_get_f16, loom_get_f16>(a, b, c);
#endif
}
//@ loom_wmma12_f32_16x16x16_bf16_w64
LOOM_FN loom_f32x4 loom_wmma12_f32_16x16x16_bf16_w64(loom_bf16x4 a, loom_bf16x4 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w64_gfx12(loom_bitcast<loom_i16x4>(a), loom_bitcast<loom_i16x4>(b), c);
#else
  return loom_mma_plain<16, 16, 4, 3, 1, loom_get_bf16, loom_get_bf16>(a, b, c);
#endif
}
//@ loom_wmma12_bf16_16x16x16_bf16_w64
LOOM_FN loom_bf16x4 loom_wmma12_bf16_16x16x16_bf16_w64(loom_bf16x4 a, loom_bf16x4 b, loom_bf16x4 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return loom_bitcast<loom_bf16x4>(__builtin_amdgcn_wmma_bf16_16x16x16_bf16_w64_gfx12(loom_bitcast<loom_i16x4>(a), loom_bitcast<loom_i16x4>(b), loom_bitcast<loom_i16x4>(c)));
#else
  return loom_mma_plain<16, 16, 4, 3, 1, loom_get_bf16, loom_get_bf16>(a, b, c);
#endif
}
//@ loom_wmma12_i32_16x16x16_i8_w64
template <bool SA, bool SB> LOOM_FN loom_u32x4 loom_wmma12_i32_16x16x16_i8_w64(loom_u32x1 a, loom_u32x1 b, loom_u32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return loom_bitcast<loom_u32x4>(__builtin_amdgcn_wmma_i32_16x16x16_iu8_w64_gfx12(SA, loom_bitcast<loom_i32>(a), SB, loom_bitcast<loom_i32>(b), loom_bitcast<loom_i32x4>(c), false));
#else
  return loom_mma_plain<16, 16, 4, 3, 1, loom_get_i8<SA>, loom_get_i8<SB>>(a, b, c);
#endif
}
//@ loom_wmma12_f32_16x16x16_f8e4m3_f8e4m3_w64
LOOM_FN loom_f32x4 loom_wmma12_f32_16x16x16_f8e4m3_f8e4m3_w64(loom_u32x1 a, loom_u32x1 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w64_gfx12(loom_bitcast<loom_i32>(a), loom_bitcast<loom_i32>(b), c);
#else
  return loom_mma_plain<16, 16, 4, 3, 1, loom_get_f8e4m3, loom_get_f8e4m3>(a, b, c);
#endif
}
//@ loom_wmma12_f32_16x16x16_f8e4m3_f8e5m2_w64
LOOM_FN loom_f32x4 loom_wmma12_f32_16x16x16_f8e4m3_f8e5m2_w64(loom_u32x1 a, loom_u32x1 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return __builtin_amdgcn_wmma_f32_16x16x16_fp8_bf8_w64_gfx12(loom_bitcast<loom_i32>(a), loom_bitcast<loom_i32>(b), c);
#else
  return loom_mma_plain<16, 16, 4, 3, 1, loom_get_f8e4m3, loom_get_f8e5m2>(a, b, c);
#endif
}
//@ loom_wmma12_f32_16x16x16_f8e5m2_f8e4m3_w64
LOOM_FN loom_f32x4 loom_wmma12_f32_16x16x16_f8e5m2_f8e4m3_w64(loom_u32x1 a, loom_u32x1 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return __builtin_amdgcn_wmma_f32_16x16x16_bf8_fp8_w64_gfx12(loom_bitcast<loom_i32>(a), loom_bitcast<loom_i32>(b), c);
#else
  return loom_mma_plain<16, 16, 4, 3, 1, loom_get_f8e5m2, loom_get_f8e4m3>(a, b, c);
#endif
}
//@ loom_wmma12_f32_16x16x16_f8e5m2_f8e5m2_w64
LOOM_FN loom_f32x4 loom_wmma12_f32_16x16x16_f8e5m2_f8e5m2_w64(loom_u32x1 a, loom_u32x1 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return __builtin_amdgcn_wmma_f32_16x16x16_bf8_bf8_w64_gfx12(loom_bitcast<loom_i32>(a), loom_bitcast<loom_i32>(b), c);
#else
  return loom_mma_plain<16, 16, 4, 3, 1, loom_get_f8e5m2, loom_get_f8e5m2>(a, b, c);
#endif
}
//@ loom_wmma12_i32_16x16x32_i4_w64
template <bool SA, bool SB> LOOM_FN loom_u32x4 loom_wmma12_i32_16x16x32_i4_w64(loom_u32x1 a, loom_u32x1 b, loom_u32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__GFX12__)
  return loom_bitcast<loom_u32x4>(__builtin_amdgcn_wmma_i32_16x16x32_iu4_w64_gfx12(SA, loom_bitcast<loom_i32>(a), SB, loom_bitcast<loom_i32>(b), loom_bitcast<loom_i32x4>(c), false));
#else
  return loom_mma_plain<16, 32, 4, 3, 1, loom_get_i4<SA>, loom_get_i4<SB>>(a, b, c);
#endif
}
//@ loom_mfma_f32_16x16x16_f16
LOOM_FN loom_f32x4 loom_mfma_f32_16x16x16_f16(loom_f16x4 a, loom_f16x4 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && (defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__))
  return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
#else
  return loom_mma_plain<16, 16, 4, 1, 1, loom_get_f16, loom_get_f16>(a, b, c);
#endif
}
//@ loom_mfma_f32_32x32x8_f16
LOOM_FN loom_f32x16 loom_mfma_f32_32x32x8_f16(loom_f16x4 a, loom_f16x4 b, loom_f32x16 c) {
#if defined(LOOM_AMDGPU) && (defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__))
  return __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0);
#else
  return loom_mma_plain<32, 8, 16, 2, 1, loom_get_f16, loom_get_f16>(a, b, c);
#endif
}
//@ loom_mfma_f32_16x16x16_bf16
LOOM_FN loom_f32x4 loom_mfma_f32_16x16x16_bf16(loom_bf16x4 a, loom_bf16x4 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && (defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__))
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(loom_bitcast<loom_i16x4>(a), loom_bitcast<loom_i16x4>(b), c, 0, 0, 0);
#else
  return loom_mma_plain<16, 16, 4, 1, 1, loom_get_bf16, loom_get_bf16>(a, b, c);
#endif
}
//@ loom_mfma_f32_32x32x8_bf16
LOOM_FN loom_f32x16 loom_mfma_f32_32x32x8_bf16(loom_bf16x4 a, loom_bf16x4 b, loom_f32x16 c) {
#if defined(LOOM_AMDGPU) && (defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__))
  return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(loom_bitcast<loom_i16x4>(a), loom_bitcast<loom_i16x4>(b), c, 0, 0, 0);
#else
  return loom_mma_plain<32, 8, 16, 2, 1, loom_get_bf16, loom_get_bf16>(a, b, c);
#endif
}
//@ loom_mfma_f32_16x16x4_f32
LOOM_FN loom_f32x4 loom_mfma_f32_16x16x4_f32(loom_f32x1 a, loom_f32x1 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && (defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__))
  return __builtin_amdgcn_mfma_f32_16x16x4f32(a[0], b[0], c, 0, 0, 0);
#else
  return loom_mma_plain<16, 4, 4, 1, 1, loom_get_f32, loom_get_f32>(a, b, c);
#endif
}
//@ loom_mfma_f32_32x32x2_f32
LOOM_FN loom_f32x16 loom_mfma_f32_32x32x2_f32(loom_f32x1 a, loom_f32x1 b, loom_f32x16 c) {
#if defined(LOOM_AMDGPU) && (defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__))
  return __builtin_amdgcn_mfma_f32_32x32x2f32(a[0], b[0], c, 0, 0, 0);
#else
  return loom_mma_plain<32, 2, 16, 2, 1, loom_get_f32, loom_get_f32>(a, b, c);
#endif
}
//@ loom_mfma_i32_16x16x32_i8
LOOM_FN loom_u32x4 loom_mfma_i32_16x16x32_i8(loom_u32x2 a, loom_u32x2 b, loom_u32x4 c) {
#if defined(LOOM_AMDGPU) && (defined(__gfx942__) || defined(__gfx950__))
  return loom_bitcast<loom_u32x4>(__builtin_amdgcn_mfma_i32_16x16x32_i8(loom_bitcast<long>(a), loom_bitcast<long>(b), loom_bitcast<loom_i32x4>(c), 0, 0, 0));
#else
  return loom_mma_plain<16, 32, 4, 1, 1, loom_get_i8<true>, loom_get_i8<true>>(a, b, c);
#endif
}
//@ loom_mfma_f32_16x16x32_f8e4m3_f8e4m3
LOOM_FN loom_f32x4 loom_mfma_f32_16x16x32_f8e4m3_f8e4m3(loom_u32x2 a, loom_u32x2 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(loom_bitcast<long>(a), loom_bitcast<long>(b), c, 0, 0, 0);
#else
  return loom_mma_plain<16, 32, 4, 1, 1, loom_get_f8e4m3, loom_get_f8e4m3>(a, b, c);
#endif
}
//@ loom_mfma_f32_16x16x32_f8e4m3_f8e5m2
LOOM_FN loom_f32x4 loom_mfma_f32_16x16x32_f8e4m3_f8e5m2(loom_u32x2 a, loom_u32x2 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_f32_16x16x32_fp8_bf8(loom_bitcast<long>(a), loom_bitcast<long>(b), c, 0, 0, 0);
#else
  return loom_mma_plain<16, 32, 4, 1, 1, loom_get_f8e4m3, loom_get_f8e5m2>(a, b, c);
#endif
}
//@ loom_mfma_f32_16x16x32_f8e5m2_f8e4m3
LOOM_FN loom_f32x4 loom_mfma_f32_16x16x32_f8e5m2_f8e4m3(loom_u32x2 a, loom_u32x2 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_f32_16x16x32_bf8_fp8(loom_bitcast<long>(a), loom_bitcast<long>(b), c, 0, 0, 0);
#else
  return loom_mma_plain<16, 32, 4, 1, 1, loom_get_f8e5m2, loom_get_f8e4m3>(a, b, c);
#endif
}
//@ loom_mfma_f32_16x16x32_f8e5m2_f8e5m2
LOOM_FN loom_f32x4 loom_mfma_f32_16x16x32_f8e5m2_f8e5m2(loom_u32x2 a, loom_u32x2 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_f32_16x16x32_bf8_bf8(loom_bitcast<long>(a), loom_bitcast<long>(b), c, 0, 0, 0);
#else
  return loom_mma_plain<16, 32, 4, 1, 1, loom_get_f8e5m2, loom_get_f8e5m2>(a, b, c);
#endif
}
//@ loom_mfma_i32_32x32x16_i8
LOOM_FN loom_u32x16 loom_mfma_i32_32x32x16_i8(loom_u32x2 a, loom_u32x2 b, loom_u32x16 c) {
#if defined(LOOM_AMDGPU) && (defined(__gfx942__) || defined(__gfx950__))
  return loom_bitcast<loom_u32x16>(__builtin_amdgcn_mfma_i32_32x32x16_i8(loom_bitcast<long>(a), loom_bitcast<long>(b), loom_bitcast<loom_i32x16>(c), 0, 0, 0));
#else
  return loom_mma_plain<32, 16, 16, 2, 1, loom_get_i8<true>, loom_get_i8<true>>(a, b, c);
#endif
}
//@ loom_mfma_f32_32x32x16_f8e4m3_f8e4m3
LOOM_FN loom_f32x16 loom_mfma_f32_32x32x16_f8e4m3_f8e4m3(loom_u32x2 a, loom_u32x2 b, loom_f32x16 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(loom_bitcast<long>(a), loom_bitcast<long>(b), c, 0, 0, 0);
#else
  return loom_mma_plain<32, 16, 16, 2, 1, loom_get_f8e4m3, loom_get_f8e4m3>(a, b, c);
#endif
}
//@ loom_mfma_f32_32x32x16_f8e4m3_f8e5m2
LOOM_FN loom_f32x16 loom_mfma_f32_32x32x16_f8e4m3_f8e5m2(loom_u32x2 a, loom_u32x2 b, loom_f32x16 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_f32_32x32x16_fp8_bf8(loom_bitcast<long>(a), loom_bitcast<long>(b), c, 0, 0, 0);
#else
  return loom_mma_plain<32, 16, 16, 2, 1, loom_get_f8e4m3, loom_get_f8e5m2>(a, b, c);
#endif
}
//@ loom_mfma_f32_32x32x16_f8e5m2_f8e4m3
LOOM_FN loom_f32x16 loom_mfma_f32_32x32x16_f8e5m2_f8e4m3(loom_u32x2 a, loom_u32x2 b, loom_f32x16 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_f32_32x32x16_bf8_fp8(loom_bitcast<long>(a), loom_bitcast<long>(b), c, 0, 0, 0);
#else
  return loom_mma_plain<32, 16, 16, 2, 1, loom_get_f8e5m2, loom_get_f8e4m3>(a, b, c);
#endif
}
//@ loom_mfma_f32_32x32x16_f8e5m2_f8e5m2
LOOM_FN loom_f32x16 loom_mfma_f32_32x32x16_f8e5m2_f8e5m2(loom_u32x2 a, loom_u32x2 b, loom_f32x16 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8(loom_bitcast<long>(a), loom_bitcast<long>(b), c, 0, 0, 0);
#else
  return loom_mma_plain<32, 16, 16, 2, 1, loom_get_f8e5m2, loom_get_f8e5m2>(a, b, c);
#endif
}
//@ loom_mfma_i32_16x16x16_i8
LOOM_FN loom_u32x4 loom_mfma_i32_16x16x16_i8(loom_u32x1 a, loom_u32x1 b, loom_u32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx90a__)
  return loom_bitcast<loom_u32x4>(__builtin_amdgcn_mfma_i32_16x16x16i8(loom_bitcast<loom_i32>(a), loom_bitcast<loom_i32>(b), loom_bitcast<loom_i32x4>(c), 0, 0, 0));
#else
  return loom_mma_plain<16, 16, 4, 1, 1, loom_get_i8<true>, loom_get_i8<true>>(a, b, c);
#endif
}
//@ loom_mfma_i32_32x32x8_i8
LOOM_FN loom_u32x16 loom_mfma_i32_32x32x8_i8(loom_u32x1 a, loom_u32x1 b, loom_u32x16 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx90a__)
  return loom_bitcast<loom_u32x16>(__builtin_amdgcn_mfma_i32_32x32x8i8(loom_bitcast<loom_i32>(a), loom_bitcast<loom_i32>(b), loom_bitcast<loom_i32x16>(c), 0, 0, 0));
#else
  return loom_mma_plain<32, 8, 16, 2, 1, loom_get_i8<true>, loom_get_i8<true>>(a, b, c);
#endif
}
//@ loom_mfma_f32_16x16x32_f16
LOOM_FN loom_f32x4 loom_mfma_f32_16x16x32_f16(loom_f16x8 a, loom_f16x8 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_f32_16x16x32_f16(a, b, c, 0, 0, 0);
#else
  return loom_mma_plain<16, 32, 4, 1, 1, loom_get_f16, loom_get_f16>(a, b, c);
#endif
}
//@ loom_mfma_f32_32x32x16_f16
LOOM_FN loom_f32x16 loom_mfma_f32_32x32x16_f16(loom_f16x8 a, loom_f16x8 b, loom_f32x16 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_f32_32x32x16_f16(a, b, c, 0, 0, 0);
#else
  return loom_mma_plain<32, 16, 16, 2, 1, loom_get_f16, loom_get_f16>(a, b, c);
#endif
}
//@ loom_mfma_f32_16x16x32_bf16
LOOM_FN loom_f32x4 loom_mfma_f32_16x16x32_bf16(loom_bf16x8 a, loom_bf16x8 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_f32_16x16x32_bf16(__builtin_bit_cast(__bf16 __attribute__((ext_vector_type(8))), a), __builtin_bit_cast(__bf16 __attribute__((ext_vector_type(8))), b), c, 0, 0, 0);
#else
  return loom_mma_plain<16, 32, 4, 1, 1, loom_get_bf16, loom_get_bf16>(a, b, c);
#endif
}
//@ loom_mfma_f32_32x32x16_bf16
LOOM_FN loom_f32x16 loom_mfma_f32_32x32x16_bf16(loom_bf16x8 a, loom_bf16x8 b, loom_f32x16 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_f32_32x32x16_bf16(__builtin_bit_cast(__bf16 __attribute__((ext_vector_type(8))), a), __builtin_bit_cast(__bf16 __attribute__((ext_vector_type(8))), b), c, 0, 0, 0);
#else
  return loom_mma_plain<32, 16, 16, 2, 1, loom_get_bf16, loom_get_bf16>(a, b, c);
#endif
}
//@ loom_mfma_i32_16x16x64_i8
LOOM_FN loom_u32x4 loom_mfma_i32_16x16x64_i8(loom_u32x4 a, loom_u32x4 b, loom_u32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return loom_bitcast<loom_u32x4>(__builtin_amdgcn_mfma_i32_16x16x64_i8(loom_bitcast<loom_i32x4>(a), loom_bitcast<loom_i32x4>(b), loom_bitcast<loom_i32x4>(c), 0, 0, 0));
#else
  return loom_mma_plain<16, 64, 4, 1, 1, loom_get_i8<true>, loom_get_i8<true>>(a, b, c);
#endif
}
//@ loom_mfma_i32_32x32x32_i8
LOOM_FN loom_u32x16 loom_mfma_i32_32x32x32_i8(loom_u32x4 a, loom_u32x4 b, loom_u32x16 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return loom_bitcast<loom_u32x16>(__builtin_amdgcn_mfma_i32_32x32x32_i8(loom_bitcast<loom_i32x4>(a), loom_bitcast<loom_i32x4>(b), loom_bitcast<loom_i32x16>(c), 0, 0, 0));
#else
  return loom_mma_plain<32, 32, 16, 2, 1, loom_get_i8<true>, loom_get_i8<true>>(a, b, c);
#endif
}
//@ loom_mfma_f64_16x16x4_f64
LOOM_FN loom_f64x4 loom_mfma_f64_16x16x4_f64(loom_f64x1 a, loom_f64x1 b, loom_f64x4 c) {
#if defined(LOOM_AMDGPU) && (defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__))
  return __builtin_amdgcn_mfma_f64_16x16x4f64(a[0], b[0], c, 0, 0, 0);
#else
  return loom_mma_plain<16, 4, 4, 4, 1, loom_get_f64, loom_get_f64>(a, b, c);
#endif
}
//@ loom_mfma_f32_16x16x128_f8e4m3_f8e4m3
LOOM_FN loom_f32x4 loom_mfma_f32_16x16x128_f8e4m3_f8e4m3(loom_u32x8 a, loom_u32x8 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(loom_bitcast<loom_i32x8>(a), loom_bitcast<loom_i32x8>(b), c, 0, 0, 0, 0, 0, 0);
#else
  return loom_mma_plain<16, 128, 4, 1, 1, loom_get_f8e4m3, loom_get_f8e4m3>(a, b, c);
#endif
}
//@ loom_mfma_f32_16x16x128_f8e4m3_f8e5m2
LOOM_FN loom_f32x4 loom_mfma_f32_16x16x128_f8e4m3_f8e5m2(loom_u32x8 a, loom_u32x8 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(loom_bitcast<loom_i32x8>(a), loom_bitcast<loom_i32x8>(b), c, 0, 1, 0, 0, 0, 0);
#else
  return loom_mma_plain<16, 128, 4, 1, 1, loom_get_f8e4m3, loom_get_f8e5m2>(a, b, c);
#endif
}
//@ loom_mfma_f32_16x16x128_f8e5m2_f8e4m3
LOOM_FN loom_f32x4 loom_mfma_f32_16x16x128_f8e5m2_f8e4m3(loom_u32x8 a, loom_u32x8 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(loom_bitcast<loom_i32x8>(a), loom_bitcast<loom_i32x8>(b), c, 1, 0, 0, 0, 0, 0);
#else
  return loom_mma_plain<16, 128, 4, 1, 1, loom_get_f8e5m2, loom_get_f8e4m3>(a, b, c);
#endif
}
//@ loom_mfma_f32_16x16x128_f8e5m2_f8e5m2
LOOM_FN loom_f32x4 loom_mfma_f32_16x16x128_f8e5m2_f8e5m2(loom_u32x8 a, loom_u32x8 b, loom_f32x4 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(loom_bitcast<loom_i32x8>(a), loom_bitcast<loom_i32x8>(b), c, 1, 1, 0, 0, 0, 0);
#else
  return loom_mma_plain<16, 128, 4, 1, 1, loom_get_f8e5m2, loom_get_f8e5m2>(a, b, c);
#endif
}
//@ loom_mfma_f32_32x32x64_f8e4m3_f8e4m3
LOOM_FN loom_f32x16 loom_mfma_f32_32x32x64_f8e4m3_f8e4m3(loom_u32x8 a, loom_u32x8 b, loom_f32x16 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(loom_bitcast<loom_i32x8>(a), loom_bitcast<loom_i32x8>(b), c, 0, 0, 0, 0, 0, 0);
#else
  return loom_mma_plain<32, 64, 16, 2, 1, loom_get_f8e4m3, loom_get_f8e4m3>(a, b, c);
#endif
}
//@ loom_mfma_f32_32x32x64_f8e4m3_f8e5m2
LOOM_FN loom_f32x16 loom_mfma_f32_32x32x64_f8e4m3_f8e5m2(loom_u32x8 a, loom_u32x8 b, loom_f32x16 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(loom_bitcast<loom_i32x8>(a), loom_bitcast<loom_i32x8>(b), c, 0, 1, 0, 0, 0, 0);
#else
  return loom_mma_plain<32, 64, 16, 2, 1, loom_get_f8e4m3, loom_get_f8e5m2>(a, b, c);
#endif
}
//@ loom_mfma_f32_32x32x64_f8e5m2_f8e4m3
LOOM_FN loom_f32x16 loom_mfma_f32_32x32x64_f8e5m2_f8e4m3(loom_u32x8 a, loom_u32x8 b, loom_f32x16 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(loom_bitcast<loom_i32x8>(a), loom_bitcast<loom_i32x8>(b), c, 1, 0, 0, 0, 0, 0);
#else
  return loom_mma_plain<32, 64, 16, 2, 1, loom_get_f8e5m2, loom_get_f8e4m3>(a, b, c);
#endif
}
//@ loom_mfma_f32_32x32x64_f8e5m2_f8e5m2
LOOM_FN loom_f32x16 loom_mfma_f32_32x32x64_f8e5m2_f8e5m2(loom_u32x8 a, loom_u32x8 b, loom_f32x16 c) {
#if defined(LOOM_AMDGPU) && defined(__gfx950__)
  return __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(loom_bitcast<loom_i32x8>(a), loom_bitcast<loom_i32x8>(b), c, 1, 1, 0, 0, 0, 0);
#else
  return loom_mma_plain<32, 64, 16, 2, 1, loom_get_f8e5m2, loom_get_f8e5m2>(a, b, c);
#endif
}
