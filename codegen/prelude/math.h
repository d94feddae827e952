Arithmetic, conversions and mathematical functions.

//@ loom_min_i32
LOOM_FN loom_i32 loom_min_i32(loom_i32 a, loom_i32 b) { return a < b ? a : b; }
//@ loom_max_i32
LOOM_FN loom_i32 loom_max_i32(loom_i32 a, loom_i32 b) { return a > b ? a : b; }
//@ loom_min_u32
LOOM_FN loom_u32 loom_min_u32(loom_u32 a, loom_u32 b) { return a < b ? a : b; }
//@ loom_max_u32
LOOM_FN loom_u32 loom_max_u32(loom_u32 a, loom_u32 b) { return a > b ? a : b; }
//@ loom_min_i64
LOOM_FN loom_i64 loom_min_i64(loom_i64 a, loom_i64 b) { return a < b ? a : b; }
//@ loom_max_i64
LOOM_FN loom_i64 loom_max_i64(loom_i64 a, loom_i64 b) { return a > b ? a : b; }
//@ loom_min_u64
LOOM_FN loom_u64 loom_min_u64(loom_u64 a, loom_u64 b) { return a < b ? a : b; }
//@ loom_max_u64
LOOM_FN loom_u64 loom_max_u64(loom_u64 a, loom_u64 b) { return a > b ? a : b; }
//@ loom_div_i32
LOOM_FN loom_i32 loom_div_i32(loom_i32 a, loom_i32 b) { return b == -1 ? (loom_i32)(0 - (loom_u32)a) : a / b; }
//@ loom_rem_i32
LOOM_FN loom_i32 loom_rem_i32(loom_i32 a, loom_i32 b) { return b == -1 ? 0 : a % b; }
//@ loom_div_u32
LOOM_FN loom_u32 loom_div_u32(loom_u32 a, loom_u32 b) { return a / b; }
//@ loom_rem_u32
LOOM_FN loom_u32 loom_rem_u32(loom_u32 a, loom_u32 b) { return a % b; }
//@ loom_ceildiv_u32
LOOM_FN loom_u32 loom_ceildiv_u32(loom_u32 a, loom_u32 b) { return a / b + (a % b != 0); }
//@ loom_ceildiv_i32
LOOM_FN loom_i32 loom_ceildiv_i32(loom_i32 a, loom_i32 b) {
  if (b == -1) return (loom_i32)(0 - (loom_u32)a);
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}
//@ loom_floordiv_i32
LOOM_FN loom_i32 loom_floordiv_i32(loom_i32 a, loom_i32 b) {
  if (b == -1) return (loom_i32)(0 - (loom_u32)a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
//@ loom_div_i64
LOOM_FN loom_i64 loom_div_i64(loom_i64 a, loom_i64 b) { return b == -1 ? (loom_i64)(0 - (loom_u64)a) : a / b; }
//@ loom_rem_i64
LOOM_FN loom_i64 loom_rem_i64(loom_i64 a, loom_i64 b) { return b == -1 ? 0 : a % b; }
//@ loom_div_u64
LOOM_FN loom_u64 loom_div_u64(loom_u64 a, loom_u64 b) { return a / b; }
//@ loom_rem_u64
LOOM_FN loom_u64 loom_rem_u64(loom_u64 a, loom_u64 b) { return a % b; }
//@ loom_ceildiv_u64
LOOM_FN loom_u64 loom_ceildiv_u64(loom_u64 a, loom_u64 b) { return a / b + (a % b != 0); }
//@ loom_ceildiv_i64
LOOM_FN loom_i64 loom_ceildiv_i64(loom_i64 a, loom_i64 b) {
  if (b == -1) return (loom_i64)(0 - (loom_u64)a);
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}
//@ loom_floordiv_i64
LOOM_FN loom_i64 loom_floordiv_i64(loom_i64 a, loom_i64 b) {
  if (b == -1) return (loom_i64)(0 - (loom_u64)a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
//@ loom_opaque_u32
// The value, with nothing known about how it was made.
LOOM_FN loom_u32 loom_opaque_u32(loom_u32 a) {
#if defined(LOOM_AMDGPU)
  asm("" : "+v"(a));
#endif
  return a;
}
//@ loom_opaque_u64
LOOM_FN loom_u64 loom_opaque_u64(loom_u64 a) {
#if defined(LOOM_AMDGPU)
  asm("" : "+v"(a));
#endif
  return a;
}
//@ loom_rotl_u64
LOOM_FN loom_u64 loom_rotl_u64(loom_u64 a, loom_u32 n) { return (a << (n & 63)) | (a >> ((64 - n) & 63)); }
//@ loom_rotr_u64
LOOM_FN loom_u64 loom_rotr_u64(loom_u64 a, loom_u32 n) { return (a >> (n & 63)) | (a << ((64 - n) & 63)); }
//@ loom_ctlz_u32
LOOM_FN loom_u32 loom_ctlz_u32(loom_u32 a) {
#if defined(LOOM_CUDA)
  return (loom_u32)__clz((int)a);
#else
  return a == 0 ? 32u : (loom_u32)__builtin_clz(a);
#endif
}
//@ loom_ctlz_u64
LOOM_FN loom_u64 loom_ctlz_u64(loom_u64 a) {
#if defined(LOOM_CUDA)
  return (loom_u64)__clzll((long long)a);
#else
  return a == 0 ? 64u : (loom_u64)__builtin_clzll(a);
#endif
}
//@ loom_cttz_u32
LOOM_FN loom_u32 loom_cttz_u32(loom_u32 a) { return a == 0 ? 32u : 31u - loom_ctlz_u32(a & (0u - a)); }
//@ loom_cttz_u64
LOOM_FN loom_u64 loom_cttz_u64(loom_u64 a) { return a == 0 ? 64u : 63u - loom_ctlz_u64(a & (0ull - a)); }
//@ loom_ctpop_u32
LOOM_FN loom_u32 loom_ctpop_u32(loom_u32 a) {
#if defined(LOOM_CUDA)
  return (loom_u32)__popc(a);
#else
  return (loom_u32)__builtin_popcount(a);
#endif
}
//@ loom_ctpop_u64
LOOM_FN loom_u64 loom_ctpop_u64(loom_u64 a) {
#if defined(LOOM_CUDA)
  return (loom_u64)__popcll(a);
#else
  return (loom_u64)__builtin_popcountll(a);
#endif
}
//@ loom_add_contract
// Operators whose result may be fused with a neighbouring operation.
template <class T> LOOM_FN T loom_add_contract(T a, T b) {
#if defined(__clang__)
#pragma clang fp contract(fast)
#endif
  return a + b;
}
//@ loom_sub_contract
template <class T> LOOM_FN T loom_sub_contract(T a, T b) {
#if defined(__clang__)
#pragma clang fp contract(fast)
#endif
  return a - b;
}
//@ loom_mul_contract
template <class T> LOOM_FN T loom_mul_contract(T a, T b) {
#if defined(__clang__)
#pragma clang fp contract(fast)
#endif
  return a * b;
}
//@ loom_fma_f32
LOOM_FN loom_f32 loom_fma_f32(loom_f32 a, loom_f32 b, loom_f32 c) { return LOOM_BUILTIN(fmaf)(a, b, c); }
//@ loom_fma_f64
LOOM_FN loom_f64 loom_fma_f64(loom_f64 a, loom_f64 b, loom_f64 c) { return LOOM_BUILTIN(fma)(a, b, c); }
//@ loom_fma_f16
// Rounded once. Without the instruction: the product is exact in f64, and the sum
// is rounded to odd so that the last rounding is the only one that counts.
LOOM_FN loom_f16 loom_fma_f16(loom_f16 a, loom_f16 b, loom_f16 c) {
#if defined(LOOM_AMDGPU)
  return __builtin_fmaf16(a, b, c);
#else
  const loom_f64 p = (loom_f64)a * (loom_f64)b, z = (loom_f64)c, s = p + z;
  const loom_f64 t = s - p, err = (p - (s - t)) + (z - t);
  loom_u64 bits = loom_f64_bits(s);
  if (err != 0.0 && (bits & 1) == 0 && s == s && s - s == 0.0) {
    if ((err > 0.0) == (s > 0.0)) bits += 1;
    else bits -= 1;
  }
  return (loom_f16)loom_bits_f64(bits);
#endif
}
//@ loom_abs_f32
LOOM_FN loom_f32 loom_abs_f32(loom_f32 a) { return LOOM_BUILTIN(fabsf)(a); }
//@ loom_abs_f64
LOOM_FN loom_f64 loom_abs_f64(loom_f64 a) { return LOOM_BUILTIN(fabs)(a); }
//@ loom_abs_f16
LOOM_FN loom_f16 loom_abs_f16(loom_f16 a) { return loom_bits_f16((loom_u16)(loom_f16_bits(a) & 0x7fff)); }
//@ loom_copysign_f32
LOOM_FN loom_f32 loom_copysign_f32(loom_f32 a, loom_f32 b) { return loom_bits_f32((loom_f32_bits(a) & 0x7fffffffu) | (loom_f32_bits(b) & 0x80000000u)); }
//@ loom_copysign_f64
LOOM_FN loom_f64 loom_copysign_f64(loom_f64 a, loom_f64 b) { return loom_bits_f64((loom_f64_bits(a) & 0x7fffffffffffffffull) | (loom_f64_bits(b) & 0x8000000000000000ull)); }
//@ loom_copysign_f16
LOOM_FN loom_f16 loom_copysign_f16(loom_f16 a, loom_f16 b) { return loom_bits_f16((loom_u16)((loom_f16_bits(a) & 0x7fff) | (loom_f16_bits(b) & 0x8000))); }
//@ loom_sign_f32
LOOM_FN loom_f32 loom_sign_f32(loom_f32 a) { return a > 0.0f ? 1.0f : a < 0.0f ? -1.0f : a; }
//@ loom_sign_f64
LOOM_FN loom_f64 loom_sign_f64(loom_f64 a) { return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a; }
//@ loom_isnan
LOOM_FN bool loom_isnan(loom_f32 a) { return (loom_f32_bits(a) & 0x7fffffffu) > 0x7f800000u; }
//@ loom_isinf
LOOM_FN bool loom_isinf(loom_f32 a) { return (loom_f32_bits(a) & 0x7fffffffu) == 0x7f800000u; }
//@ loom_isfinite
LOOM_FN bool loom_isfinite(loom_f32 a) { return (loom_f32_bits(a) & 0x7fffffffu) < 0x7f800000u; }
//@ loom_isnan_f64
LOOM_FN bool loom_isnan_f64(loom_f64 a) { return (loom_f64_bits(a) & 0x7fffffffffffffffull) > 0x7ff0000000000000ull; }
//@ loom_isinf_f64
LOOM_FN bool loom_isinf_f64(loom_f64 a) { return (loom_f64_bits(a) & 0x7fffffffffffffffull) == 0x7ff0000000000000ull; }
//@ loom_isfinite_f64
LOOM_FN bool loom_isfinite_f64(loom_f64 a) { return (loom_f64_bits(a) & 0x7fffffffffffffffull) < 0x7ff0000000000000ull; }
//@ loom_one
// Ordered and unequal.
template <class T> LOOM_FN bool loom_one(T a, T b) { return a < b || a > b; }
//@ loom_ord
// Neither operand is a NaN.
template <class T> LOOM_FN bool loom_ord(T a, T b) { return a == a && b == b; }
//@ loom_ceil_f32
LOOM_FN loom_f32 loom_ceil_f32(loom_f32 a) { return LOOM_BUILTIN(ceilf)(a); }
//@ loom_floor_f32
LOOM_FN loom_f32 loom_floor_f32(loom_f32 a) { return LOOM_BUILTIN(floorf)(a); }
//@ loom_trunc_f32
LOOM_FN loom_f32 loom_trunc_f32(loom_f32 a) { return LOOM_BUILTIN(truncf)(a); }
//@ loom_roundeven_f32
LOOM_FN loom_f32 loom_roundeven_f32(loom_f32 a) { return LOOM_BUILTIN(rintf)(a); }
//@ loom_round_f32
// Halves away from zero.
LOOM_FN loom_f32 loom_round_f32(loom_f32 a) {
  const loom_f32 t = LOOM_BUILTIN(truncf)(a);
  return loom_copysign_f32(LOOM_BUILTIN(fabsf)(a - t) >= 0.5f ? t + loom_copysign_f32(0.5f + 0.5f, a) : t, a);
}
//@ loom_minnum_f32
// A NaN operand is ignored.
LOOM_FN loom_f32 loom_minnum_f32(loom_f32 a, loom_f32 b) {
#if defined(LOOM_HOST) // its library may treat signaling NaNs apart
  return a != a || b < a ? b : a;
#else
  return LOOM_BUILTIN(fminf)(a, b);
#endif
}
//@ loom_maxnum_f32
LOOM_FN loom_f32 loom_maxnum_f32(loom_f32 a, loom_f32 b) {
#if defined(LOOM_HOST) // its library may treat signaling NaNs apart
  return a != a || b > a ? b : a;
#else
  return LOOM_BUILTIN(fmaxf)(a, b);
#endif
}
//@ loom_minimum_f32
// A NaN operand gives NaN; -0 is below +0.
LOOM_FN loom_f32 loom_minimum_f32(loom_f32 a, loom_f32 b) {
  if (a != a || b != b) return a + b;
  if (a == b) return loom_bitcast<loom_f32>(loom_f32_bits(a) | loom_f32_bits(b));
  return a < b ? a : b;
}
//@ loom_maximum_f32
// A NaN operand gives NaN; +0 is above -0.
LOOM_FN loom_f32 loom_maximum_f32(loom_f32 a, loom_f32 b) {
  if (a != a || b != b) return a + b;
  if (a == b) return loom_bitcast<loom_f32>(loom_f32_bits(a) & loom_f32_bits(b));
  return a > b ? a : b;
}
//@ loom_clamp_ordered_f32
// Comparisons only: a NaN value stays, a NaN bound is never taken.
LOOM_FN loom_f32 loom_clamp_ordered_f32(loom_f32 v, loom_f32 lo, loom_f32 hi) {
  const loom_f32 a = v < lo ? lo : v;
  return a > hi ? hi : a;
}
//@ loom_clamp_number_f32
// A NaN value becomes the lower bound.
LOOM_FN loom_f32 loom_clamp_number_f32(loom_f32 v, loom_f32 lo, loom_f32 hi) { return loom_minnum_f32(loom_maxnum_f32(v, lo), hi); }
//@ loom_clamp_ieee_f32
// Any NaN operand gives NaN.
LOOM_FN loom_f32 loom_clamp_ieee_f32(loom_f32 v, loom_f32 lo, loom_f32 hi) { return loom_minimum_f32(loom_maximum_f32(v, lo), hi); }
//@ loom_ceil_f64
LOOM_FN loom_f64 loom_ceil_f64(loom_f64 a) { return LOOM_BUILTIN(ceil)(a); }
//@ loom_floor_f64
LOOM_FN loom_f64 loom_floor_f64(loom_f64 a) { return LOOM_BUILTIN(floor)(a); }
//@ loom_trunc_f64
LOOM_FN loom_f64 loom_trunc_f64(loom_f64 a) { return LOOM_BUILTIN(trunc)(a); }
//@ loom_roundeven_f64
LOOM_FN loom_f64 loom_roundeven_f64(loom_f64 a) { return LOOM_BUILTIN(rint)(a); }
//@ loom_round_f64
// Halves away from zero.
LOOM_FN loom_f64 loom_round_f64(loom_f64 a) {
  const loom_f64 t = LOOM_BUILTIN(trunc)(a);
  return loom_copysign_f64(LOOM_BUILTIN(fabs)(a - t) >= 0.5 ? t + loom_copysign_f64(0.5 + 0.5, a) : t, a);
}
//@ loom_minnum_f64
// A NaN operand is ignored.
LOOM_FN loom_f64 loom_minnum_f64(loom_f64 a, loom_f64 b) {
#if defined(LOOM_HOST) // its library may treat signaling NaNs apart
  return a != a || b < a ? b : a;
#else
  return LOOM_BUILTIN(fmin)(a, b);
#endif
}
//@ loom_maxnum_f64
LOOM_FN loom_f64 loom_maxnum_f64(loom_f64 a, loom_f64 b) {
#if defined(LOOM_HOST) // its library may treat signaling NaNs apart
  return a != a || b > a ? b : a;
#else
  return LOOM_BUILTIN(fmax)(a, b);
#endif
}
//@ loom_minimum_f64
// A NaN operand gives NaN; -0 is below +0.
LOOM_FN loom_f64 loom_minimum_f64(loom_f64 a, loom_f64 b) {
  if (a != a || b != b) return a + b;
  if (a == b) return loom_bitcast<loom_f64>(loom_f64_bits(a) | loom_f64_bits(b));
  return a < b ? a : b;
}
//@ loom_maximum_f64
// A NaN operand gives NaN; +0 is above -0.
LOOM_FN loom_f64 loom_maximum_f64(loom_f64 a, loom_f64 b) {
  if (a != a || b != b) return a + b;
  if (a == b) return loom_bitcast<loom_f64>(loom_f64_bits(a) & loom_f64_bits(b));
  return a > b ? a : b;
}
//@ loom_clamp_ordered_f64
// Comparisons only: a NaN value stays, a NaN bound is never taken.
LOOM_FN loom_f64 loom_clamp_ordered_f64(loom_f64 v, loom_f64 lo, loom_f64 hi) {
  const loom_f64 a = v < lo ? lo : v;
  return a > hi ? hi : a;
}
//@ loom_clamp_number_f64
// A NaN value becomes the lower bound.
LOOM_FN loom_f64 loom_clamp_number_f64(loom_f64 v, loom_f64 lo, loom_f64 hi) { return loom_minnum_f64(loom_maxnum_f64(v, lo), hi); }
//@ loom_clamp_ieee_f64
// Any NaN operand gives NaN.
LOOM_FN loom_f64 loom_clamp_ieee_f64(loom_f64 v, loom_f64 lo, loom_f64 hi) { return loom_minimum_f64(loom_maximum_f64(v, lo), hi); }
//@ loom_minnum_nnan_f32
// The source promises that no operand is a NaN.
LOOM_FN loom_f32 loom_minnum_nnan_f32(loom_f32 a, loom_f32 b) { return LOOM_BUILTIN(fminf)(a, b); }
//@ loom_maxnum_nnan_f32
LOOM_FN loom_f32 loom_maxnum_nnan_f32(loom_f32 a, loom_f32 b) { return LOOM_BUILTIN(fmaxf)(a, b); }
//@ loom_minnum_nnan_f64
LOOM_FN loom_f64 loom_minnum_nnan_f64(loom_f64 a, loom_f64 b) { return LOOM_BUILTIN(fmin)(a, b); }
//@ loom_maxnum_nnan_f64
LOOM_FN loom_f64 loom_maxnum_nnan_f64(loom_f64 a, loom_f64 b) { return LOOM_BUILTIN(fmax)(a, b); }
//@ loom_minnum_f16
LOOM_FN loom_f16 loom_minnum_f16(loom_f16 a, loom_f16 b) {
#if defined(LOOM_AMDGPU)
  return __builtin_fminf16(a, b);
#else
  return (loom_f16)loom_minnum_f32((loom_f32)a, (loom_f32)b);
#endif
}
//@ loom_maxnum_f16
LOOM_FN loom_f16 loom_maxnum_f16(loom_f16 a, loom_f16 b) {
#if defined(LOOM_AMDGPU)
  return __builtin_fmaxf16(a, b);
#else
  return (loom_f16)loom_maxnum_f32((loom_f32)a, (loom_f32)b);
#endif
}
//@ loom_minnum_nnan_f16
LOOM_FN loom_f16 loom_minnum_nnan_f16(loom_f16 a, loom_f16 b) {
#if defined(LOOM_AMDGPU)
  return __builtin_fminf16(a, b);
#else
  return (loom_f16)LOOM_BUILTIN(fminf)((loom_f32)a, (loom_f32)b);
#endif
}
//@ loom_maxnum_nnan_f16
LOOM_FN loom_f16 loom_maxnum_nnan_f16(loom_f16 a, loom_f16 b) {
#if defined(LOOM_AMDGPU)
  return __builtin_fmaxf16(a, b);
#else
  return (loom_f16)LOOM_BUILTIN(fmaxf)((loom_f32)a, (loom_f32)b);
#endif
}
//@ loom_minimum_f16
LOOM_FN loom_f16 loom_minimum_f16(loom_f16 a, loom_f16 b) { return (loom_f16)loom_minimum_f32((loom_f32)a, (loom_f32)b); }
//@ loom_maximum_f16
LOOM_FN loom_f16 loom_maximum_f16(loom_f16 a, loom_f16 b) { return (loom_f16)loom_maximum_f32((loom_f32)a, (loom_f32)b); }
//@ loom_bf16_f32
LOOM_FN loom_f32 loom_bf16_f32(loom_bf16 b) { return loom_bits_f32((loom_u32)b << 16); }
//@ loom_f32_bf16
// Nearest even; a NaN stays a quiet NaN.
LOOM_FN loom_bf16 loom_f32_bf16(loom_f32 f) {
  const loom_u32 b = loom_f32_bits(f);
  const loom_u32 r = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
  return (loom_bf16)((b & 0x7fffffffu) > 0x7f800000u ? (b >> 16) | 0x40u : r);
}
//@ loom_f64_odd_f32
// To f32 with the last bit telling that something was cut off, so that rounding
// further down is as good as rounding once.
LOOM_FN loom_f32 loom_f64_odd_f32(loom_f64 d) {
  const loom_f32 f = (loom_f32)d;
  const loom_f64 back = (loom_f64)f;
  loom_u32 b = loom_f32_bits(f);
  if (back == d || d != d || (b & 1u) != 0u) return f;
  const bool up = (back > d) == (d > 0.0);
  return loom_bits_f32(up ? b - 1u : b + 1u);
}
//@ loom_f64_bf16
LOOM_FN loom_bf16 loom_f64_bf16(loom_f64 d) { return loom_f32_bf16(loom_f64_odd_f32(d)); }
//@ loom_f8_f32
// Widens an 8-bit float with E exponent bits. e5m2 is IEEE style; e4m3 is the FN
// format: no infinities, one NaN per sign, values up to 448.
template <int E> LOOM_FN loom_f32 loom_f8_f32(loom_u8 v) {
  const loom_i32 man = 7 - E, bias = (1 << (E - 1)) - 1;
  const loom_u32 s = (loom_u32)(v & 0x80) << 24, m = v & ((1u << man) - 1u);
  const loom_i32 e = (v >> man) & ((1 << E) - 1);
  if (E == 4 ? (v & 0x7f) == 0x7f : e == (1 << E) - 1) return loom_bits_f32(s | 0x7f800000u | (m << (23 - man)) | (m != 0 ? 0x400000u : 0u));
  if (e == 0) {
    const loom_f32 f = (loom_f32)m * loom_bits_f32((loom_u32)(127 + 1 - bias - man) << 23);
    return loom_bits_f32(s | loom_f32_bits(f));
  }
  return loom_bits_f32(s | ((loom_u32)(e - bias + 127) << 23) | (m << (23 - man)));
}
//@ loom_f32_f8
// Narrows to an 8-bit float, nearest even; too large becomes infinity, or NaN where
// the format has none.
template <int E> LOOM_FN loom_u8 loom_f32_f8(loom_f32 f) {
  const loom_i32 man = 7 - E, bias = (1 << (E - 1)) - 1;
  const loom_u32 b = loom_f32_bits(f), s = (b >> 24) & 0x80u, a = b & 0x7fffffffu;
  const loom_u32 inf = E == 4 ? 0x7fu : ((1u << E) - 1u) << man;
  if (a > 0x7f800000u) return (loom_u8)(s | inf | (1u << (man - 1)));
  if (a == 0x7f800000u) return (loom_u8)(s | inf);
  const loom_i32 e = (loom_i32)(a >> 23) - 127;
  loom_i32 shift = 23 - man;
  loom_u32 m = (a & 0x7fffffu) | 0x800000u, r;
  if (e < 1 - bias) {
    shift += 1 - bias - e;
    if (shift > 25 || a < 0x800000u) return (loom_u8)s;
    r = m >> shift;
  } else {
    r = ((loom_u32)(e + bias - 1) << man) + (m >> shift);
  }
  const loom_u32 rest = m & ((1u << shift) - 1u), half = 1u << (shift - 1);
  r += rest > half || (rest == half && (r & 1u)) ? 1u : 0u;
  return (loom_u8)(s | (r > inf ? inf : r));
}
//@ loom_f8e4m3_f32
LOOM_FN loom_f32 loom_f8e4m3_f32(loom_f8e4m3 v) { return loom_f8_f32<4>(v); }
//@ loom_f8e5m2_f32
LOOM_FN loom_f32 loom_f8e5m2_f32(loom_f8e5m2 v) { return loom_f8_f32<5>(v); }
//@ loom_f32_f8e4m3
LOOM_FN loom_f8e4m3 loom_f32_f8e4m3(loom_f32 f) { return loom_f32_f8<4>(f); }
//@ loom_f32_f8e5m2
LOOM_FN loom_f8e5m2 loom_f32_f8e5m2(loom_f32 f) { return loom_f32_f8<5>(f); }
//@ loom_f64_f8e4m3
LOOM_FN loom_f8e4m3 loom_f64_f8e4m3(loom_f64 d) { return loom_f32_f8<4>(loom_f64_odd_f32(d)); }
//@ loom_f64_f8e5m2
LOOM_FN loom_f8e5m2 loom_f64_f8e5m2(loom_f64 d) { return loom_f32_f8<5>(loom_f64_odd_f32(d)); }
//@ loom_pack_u8
LOOM_FN loom_u32 loom_pack_u8(loom_u8 a, loom_u8 b, loom_u8 c, loom_u8 d) {
  return (loom_u32)a | ((loom_u32)b << 8) | ((loom_u32)c << 16) | ((loom_u32)d << 24);
}
//@ loom_dot2_f16
// Two products of half floats added to an f32.
LOOM_FN loom_f32 loom_dot2_f16(loom_f16 a0, loom_f16 a1, loom_f16 b0, loom_f16 b1, loom_f32 c) {
#if defined(LOOM_AMDGPU) && (defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__) || defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__))
  typedef _Float16 pair __attribute__((ext_vector_type(2)));
  return __builtin_amdgcn_fdot2(pair{a0, a1}, pair{b0, b1}, c, false);
#else
  return ((loom_f32)a0 * (loom_f32)b0 + (loom_f32)a1 * (loom_f32)b1) + c;
#endif
}
//@ loom_dot2_bf16
LOOM_FN loom_f32 loom_dot2_bf16(loom_bf16 a0, loom_bf16 a1, loom_bf16 b0, loom_bf16 b1, loom_f32 c) {
  return (loom_bf16_f32(a0) * loom_bf16_f32(b0) + loom_bf16_f32(a1) * loom_bf16_f32(b1)) + c;
}
//@ loom_dot4_generic
// Four byte products; SA and SB say which side is signed.
template <bool SA, bool SB> LOOM_FN loom_u32 loom_dot4_generic(loom_u32 a, loom_u32 b, loom_u32 c) {
  for (int i = 0; i < 32; i += 8) {
    const loom_i32 x = SA ? (loom_i32)(loom_i8)(a >> i) : (loom_i32)(loom_u8)(a >> i);
    const loom_i32 y = SB ? (loom_i32)(loom_i8)(b >> i) : (loom_i32)(loom_u8)(b >> i);
    c += (loom_u32)(x * y);
  }
  return c;
}
//@ loom_dot4_s8s8
LOOM_FN loom_u32 loom_dot4_s8s8(loom_u32 a, loom_u32 b, loom_u32 c) {
#if defined(LOOM_AMDGPU) && (defined(__GFX11__) || defined(__GFX12__))
  return (loom_u32)__builtin_amdgcn_sudot4(true, (int)a, true, (int)b, (int)c, false);
#elif defined(LOOM_AMDGPU) && (defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__))
  return (loom_u32)__builtin_amdgcn_sdot4((int)a, (int)b, (int)c, false);
#elif defined(LOOM_CUDA)
  return (loom_u32)__dp4a((int)a, (int)b, (int)c);
#else
  return loom_dot4_generic<true, true>(a, b, c);
#endif
}
//@ loom_dot4_u8s8
LOOM_FN loom_u32 loom_dot4_u8s8(loom_u32 a, loom_u32 b, loom_u32 c) {
#if defined(LOOM_AMDGPU) && (defined(__GFX11__) || defined(__GFX12__))
  return (loom_u32)__builtin_amdgcn_sudot4(false, (int)a, true, (int)b, (int)c, false);
#else
  return loom_dot4_generic<false, true>(a, b, c);
#endif
}
//@ loom_dot4_s8u8
LOOM_FN loom_u32 loom_dot4_s8u8(loom_u32 a, loom_u32 b, loom_u32 c) {
#if defined(LOOM_AMDGPU) && (defined(__GFX11__) || defined(__GFX12__))
  return (loom_u32)__builtin_amdgcn_sudot4(true, (int)a, false, (int)b, (int)c, false);
#else
  return loom_dot4_generic<true, false>(a, b, c);
#endif
}
//@ loom_dot4_u8u8
LOOM_FN loom_u32 loom_dot4_u8u8(loom_u32 a, loom_u32 b, loom_u32 c) {
#if defined(LOOM_AMDGPU)
  return (loom_u32)__builtin_amdgcn_udot4(a, b, c, false);
#else
  return loom_dot4_generic<false, false>(a, b, c);
#endif
}
//@ loom_dot8_generic
template <bool SA, bool SB> LOOM_FN loom_u32 loom_dot8_generic(loom_u32 a, loom_u32 b, loom_u32 c) {
  for (int i = 0; i < 32; i += 4) {
    const loom_i32 x = SA ? (loom_i32)(a << (28 - i)) >> 28 : (loom_i32)((a >> i) & 15u);
    const loom_i32 y = SB ? (loom_i32)(b << (28 - i)) >> 28 : (loom_i32)((b >> i) & 15u);
    c += (loom_u32)(x * y);
  }
  return c;
}
//@ loom_dot8_s4s4
LOOM_FN loom_u32 loom_dot8_s4s4(loom_u32 a, loom_u32 b, loom_u32 c) {
#if defined(LOOM_AMDGPU) && (defined(__GFX11__) || defined(__GFX12__))
  return (loom_u32)__builtin_amdgcn_sudot8(true, (int)a, true, (int)b, (int)c, false);
#else
  return loom_dot8_generic<true, true>(a, b, c);
#endif
}
//@ loom_dot8_u4s4
LOOM_FN loom_u32 loom_dot8_u4s4(loom_u32 a, loom_u32 b, loom_u32 c) {
#if defined(LOOM_AMDGPU) && (defined(__GFX11__) || defined(__GFX12__))
  return (loom_u32)__builtin_amdgcn_sudot8(false, (int)a, true, (int)b, (int)c, false);
#else
  return loom_dot8_generic<false, true>(a, b, c);
#endif
}
//@ loom_dot8_s4u4
LOOM_FN loom_u32 loom_dot8_s4u4(loom_u32 a, loom_u32 b, loom_u32 c) {
#if defined(LOOM_AMDGPU) && (defined(__GFX11__) || defined(__GFX12__))
  return (loom_u32)__builtin_amdgcn_sudot8(true, (int)a, false, (int)b, (int)c, false);
#else
  return loom_dot8_generic<true, false>(a, b, c);
#endif
}
//@ loom_dot8_u4u4
LOOM_FN loom_u32 loom_dot8_u4u4(loom_u32 a, loom_u32 b, loom_u32 c) {
#if defined(LOOM_AMDGPU) && !defined(__GFX9__)
  return (loom_u32)__builtin_amdgcn_udot8(a, b, c, false);
#else
  return loom_dot8_generic<false, false>(a, b, c);
#endif
}
//@ loom_dot4_f8e4m3_f8e4m3
LOOM_FN loom_f32 loom_dot4_f8e4m3_f8e4m3(loom_u32 a, loom_u32 b, loom_f32 c) {
  for (int i = 0; i < 32; i += 8) c += loom_f8e4m3_f32((loom_u8)(a >> i)) * loom_f8e4m3_f32((loom_u8)(b >> i));
  return c;
}
//@ loom_dot4_f8e4m3_f8e5m2
LOOM_FN loom_f32 loom_dot4_f8e4m3_f8e5m2(loom_u32 a, loom_u32 b, loom_f32 c) {
  for (int i = 0; i < 32; i += 8) c += loom_f8e4m3_f32((loom_u8)(a >> i)) * loom_f8e5m2_f32((loom_u8)(b >> i));
  return c;
}
//@ loom_dot4_f8e5m2_f8e4m3
LOOM_FN loom_f32 loom_dot4_f8e5m2_f8e4m3(loom_u32 a, loom_u32 b, loom_f32 c) {
  for (int i = 0; i < 32; i += 8) c += loom_f8e5m2_f32((loom_u8)(a >> i)) * loom_f8e4m3_f32((loom_u8)(b >> i));
  return c;
}
//@ loom_dot4_f8e5m2_f8e5m2
LOOM_FN loom_f32 loom_dot4_f8e5m2_f8e5m2(loom_u32 a, loom_u32 b, loom_f32 c) {
  for (int i = 0; i < 32; i += 8) c += loom_f8e5m2_f32((loom_u8)(a >> i)) * loom_f8e5m2_f32((loom_u8)(b >> i));
  return c;
}
//@ loom_perm
// Bytes of the pair (hi, lo) chosen by selectors 0 to 7.
LOOM_FN loom_u32 loom_perm(loom_u32 hi, loom_u32 lo, loom_u32 sel) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_perm(hi, lo, sel);
#else
  const loom_u64 v = ((loom_u64)hi << 32) | lo;
  loom_u32 r = 0;
  for (int i = 0; i < 32; i += 8) r |= (loom_u32)((v >> (8 * ((sel >> i) & 7u))) & 0xffu) << i;
  return r;
#endif
}
//@ loom_seed_sign
// The low bit of SplitMix64: a sign that seed plus lane number determines.
LOOM_FN bool loom_seed_sign(loom_u64 s) {
  s += 0x9e3779b97f4a7c15ull;
  s = (s ^ (s >> 30)) * 0xbf58476d1ce4e5b9ull;
  s = (s ^ (s >> 27)) * 0x94d049bb133111ebull;
  return ((s ^ (s >> 31)) & 1u) != 0u;
}
//@ loom_table4
// Four lookups at once in a table of bytes held in words.
LOOM_FN loom_u32 loom_table4(loom_u32 t0, loom_u32 codes) { return loom_perm(t0, t0, codes & 0x03030303u); }
//@ loom_table8
LOOM_FN loom_u32 loom_table8(loom_u32 t0, loom_u32 t1, loom_u32 codes) { return loom_perm(t1, t0, codes & 0x07070707u); }
//@ loom_table16
LOOM_FN loom_u32 loom_table16(loom_u32 t0, loom_u32 t1, loom_u32 t2, loom_u32 t3, loom_u32 codes) {
  const loom_u32 sel = codes & 0x07070707u;
  const loom_u32 lo = loom_perm(t1, t0, sel), hi = loom_perm(t3, t2, sel);
  // Bit 3 of each code chooses the half: selectors 0..3 take lo, 4..7 take hi.
  return loom_perm(hi, lo, ((codes & 0x08080808u) >> 1) | 0x03020100u);
}
//@ loom_div_fast
// a times an approximate reciprocal: 2.5 ulp; b or 1/b subnormal may give 0 or infinity.
LOOM_FN loom_f32 loom_div_fast(loom_f32 a, loom_f32 b) {
#if defined(LOOM_AMDGPU)
  return a * __builtin_amdgcn_rcpf(b);
#else
  return a * (1.0f / b);
#endif
}
//@ loom_div_f32
LOOM_FN loom_f32 loom_div_f32(loom_f32 a, loom_f32 b) { return a / b; }
//@ loom_sqrt
// Correctly rounded.
LOOM_FN loom_f32 loom_sqrt(loom_f32 a) { return LOOM_BUILTIN(sqrtf)(a); }
//@ loom_sqrt_f64
LOOM_FN loom_f64 loom_sqrt_f64(loom_f64 a) { return LOOM_BUILTIN(sqrt)(a); }
//@ loom_sqrt_fast
// 1 ulp; subnormals count as zero.
LOOM_FN loom_f32 loom_sqrt_fast(loom_f32 a) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_sqrtf(a);
#else
  return LOOM_BUILTIN(sqrtf)(a);
#endif
}
//@ loom_rsqrt
// 1 ulp, subnormals included.
LOOM_FN loom_f32 loom_rsqrt(loom_f32 a) {
#if defined(LOOM_AMDGPU)
  const bool tiny = a < 0x1p-126f;
  return __builtin_amdgcn_rsqf(tiny ? a * 0x1p24f : a) * (tiny ? 0x1p12f : 1.0f);
#else
  return (loom_f32)(1.0 / LOOM_BUILTIN(sqrt)((loom_f64)a));
#endif
}
//@ loom_rsqrt_f64
LOOM_FN loom_f64 loom_rsqrt_f64(loom_f64 a) { return 1.0 / LOOM_BUILTIN(sqrt)(a); }
//@ loom_rsqrt_fast
LOOM_FN loom_f32 loom_rsqrt_fast(loom_f32 a) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_rsqf(a);
#else
  return (loom_f32)(1.0 / LOOM_BUILTIN(sqrt)((loom_f64)a));
#endif
}
//@ loom_exp
// 1 ulp.
LOOM_FN loom_f32 loom_exp(loom_f32 x) { return LOOM_BUILTIN(expf)(x); }
//@ loom_exp_fast
// 2 ulp near 0, relative error up to 2^-17 near the ends; subnormal results are 0.
LOOM_FN loom_f32 loom_exp_fast(loom_f32 x) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_exp2f(x * 0x1.715476p+0f);
#else
  return LOOM_BUILTIN(exp2f)(x * 0x1.715476p+0f);
#endif
}
//@ loom_exp2
LOOM_FN loom_f32 loom_exp2(loom_f32 x) { return LOOM_BUILTIN(exp2f)(x); }
//@ loom_exp2_fast
LOOM_FN loom_f32 loom_exp2_fast(loom_f32 x) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_exp2f(x);
#else
  return LOOM_BUILTIN(exp2f)(x);
#endif
}
//@ loom_log
// 1 ulp.
LOOM_FN loom_f32 loom_log(loom_f32 x) { return LOOM_BUILTIN(logf)(x); }
//@ loom_log_fast
LOOM_FN loom_f32 loom_log_fast(loom_f32 x) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_logf(x) * 0x1.62e430p-1f;
#else
  return LOOM_BUILTIN(log2f)(x) * 0x1.62e430p-1f;
#endif
}
//@ loom_log2
LOOM_FN loom_f32 loom_log2(loom_f32 x) { return LOOM_BUILTIN(log2f)(x); }
//@ loom_log2_fast
LOOM_FN loom_f32 loom_log2_fast(loom_f32 x) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_logf(x);
#else
  return LOOM_BUILTIN(log2f)(x);
#endif
}
//@ loom_log10
LOOM_FN loom_f32 loom_log10(loom_f32 x) { return LOOM_BUILTIN(log10f)(x); }
//@ loom_log10_fast
LOOM_FN loom_f32 loom_log10_fast(loom_f32 x) { return loom_log2_fast(x) * 0x1.344136p-2f; }
//@ loom_ldexp
LOOM_FN loom_f32 loom_ldexp(loom_f32 x, loom_i32 n) { return LOOM_BUILTIN(ldexpf)(x, n); }
//@ loom_poly
// Horner's rule with fused steps, highest coefficient first.
LOOM_FN loom_f32 loom_poly(loom_f32, loom_f32 c) { return c; }
template <class... R> LOOM_FN loom_f32 loom_poly(loom_f32 x, loom_f32 c, loom_f32 d, R... rest) { return loom_poly(x, loom_fma_f32(c, x, d), rest...); }
//@ loom_expm1
// e^x - 1, 1.5 ulp: k·ln2 is taken off, the rest by polynomial.
LOOM_FN loom_f32 loom_expm1(loom_f32 x) {
  if (!(x < 89.5f)) return x + loom_bits_f32(0x7f800000u);
  if (x < -18.0f) return -1.0f;
  const loom_f32 k = LOOM_BUILTIN(rintf)(x * 0x1.715476p+0f);
  const loom_f32 r0 = loom_fma_f32(k, -0x1.62e430p-1f, x), lo = k * 0x1.05c610p-29f;
  const loom_f32 r = r0 + lo, c = (r0 - r) + lo;
  const loom_f32 q = loom_poly(r, 0x1.a1a176p-13f, 0x1.6d74b6p-10f, 0x1.111090p-7f, 0x1.5554aep-5f, 0x1.555556p-3f, 0.5f);
  const loom_f32 t = r * r * q + c, p = r + t;
  const loom_i32 n = (loom_i32)k;
  if (n == 0) return x == 0.0f ? x : p;
  const loom_f32 half = loom_ldexp(1.0f, n - 1);
  const loom_f32 h = half - 0.5f;
  return (h + loom_fma_f32(half, r, half * t)) * 2.0f;
}
//@ loom_log1p
// ln(1 + x), 1.5 ulp.
LOOM_FN loom_f32 loom_log1p(loom_f32 x) {
  if (x > -0.2929f && x < 0.4142f) {
    const loom_f32 q = loom_poly(x, -0x1.f8472ap-5f, 0x1.bc0baep-4f, -0x1.bc80e0p-4f, 0x1.c26710p-4f, -0x1.fc6540p-4f, 0x1.249c40p-3f,
                                 -0x1.55693ep-3f, 0x1.9999ccp-3f, -0x1.ffffa6p-3f, 0x1.555554p-2f, -0.5f);
    return x == 0.0f ? x : loom_fma_f32(x * x, q, x);
  }
  const loom_f32 u = 1.0f + x;
  if (!(u > 0.0f) || u == loom_bits_f32(0x7f800000u)) return loom_log(u);
  const loom_f32 lost = x > 1.0f ? 1.0f - (u - x) : x - (u - 1.0f);
  return loom_log(u) + lost / u;
}
//@ loom_sinh
// 2.5 ulp.
LOOM_FN loom_f32 loom_sinh(loom_f32 x) {
  const loom_f32 a = LOOM_BUILTIN(fabsf)(x);
  if (a < 1.0f) {
    const loom_f32 z = x * x;
    return loom_fma_f32(x * z, loom_poly(z, 0x1.7a2676p-19f, 0x1.9ffe12p-13f, 0x1.111136p-7f, 0x1.555556p-3f), x);
  }
  loom_f32 r;
  if (a < 88.0f) {
    const loom_f32 e = loom_expm1(a);
    r = 0.5f * (e + e / (e + 1.0f));
  } else {
    const loom_f32 h = loom_exp(a * 0.5f);
    r = (0.5f * h) * h;
  }
  return x != x ? x : loom_copysign_f32(r, x);
}
//@ loom_cosh
// 2 ulp.
LOOM_FN loom_f32 loom_cosh(loom_f32 x) {
  const loom_f32 a = LOOM_BUILTIN(fabsf)(x);
  if (a < 88.0f) {
    const loom_f32 e = loom_exp(a);
    return 0.5f * e + 0.5f / e;
  }
  const loom_f32 h = loom_exp(a * 0.5f);
  return (0.5f * h) * h;
}
//@ loom_quotient
// n/d for d between 2^-60 and 2^60 and a quotient that is not close to the ends of
// the range: 1 ulp, without the scaling of a full division.
LOOM_FN loom_f32 loom_quotient(loom_f32 n, loom_f32 d) {
#if defined(LOOM_AMDGPU)
  const loom_f32 r = __builtin_amdgcn_rcpf(d), q = n * r;
  return loom_fma_f32(loom_fma_f32(-d, q, n), r, q);
#else
  return n / d;
#endif
}
//@ loom_tanh
// 2 ulp.
LOOM_FN loom_f32 loom_tanh(loom_f32 x) {
  const loom_f32 a = LOOM_BUILTIN(fabsf)(x), z = x * x;
  const loom_f32 q = loom_poly(z, 0x1.197ba0p-9f, -0x1.0c2150p-7f, 0x1.6394dcp-6f, -0x1.b9ef7ep-5f, 0x1.11106cp-3f, -0x1.555554p-2f);
  const loom_f32 e = loom_exp(a < 10.0f ? a + a : 20.0f);
  const loom_f32 r = loom_copysign_f32(1.0f - loom_quotient(2.0f, e + 1.0f), x);
  return a < 0.625f ? loom_fma_f32(x * z, q, x) : x != x ? x : r;
}
//@ loom_tanh_fast
// Through the fast exponential: absolute error 2^-22.
LOOM_FN loom_f32 loom_tanh_fast(loom_f32 x) {
  const loom_f32 e = loom_exp2_fast(LOOM_BUILTIN(fabsf)(x) * 0x1.715476p+1f);
  return loom_copysign_f32(1.0f - loom_div_fast(2.0f, e + 1.0f), x);
}
//@ loom_asinh
// 2.5 ulp.
LOOM_FN loom_f32 loom_asinh(loom_f32 x) {
  const loom_f32 a = LOOM_BUILTIN(fabsf)(x);
  loom_f32 r;
  if (a > 0x1p28f) {
    r = loom_log(a) + 0x1.62e430p-1f;
  } else {
    const loom_f32 z = a * a;
    r = loom_log1p(a + z / (1.0f + LOOM_BUILTIN(sqrtf)(1.0f + z)));
  }
  return x != x ? x : loom_copysign_f32(r, x);
}
//@ loom_acosh
// 2.5 ulp.
LOOM_FN loom_f32 loom_acosh(loom_f32 x) {
  if (x > 0x1p28f) return loom_log(x) + 0x1.62e430p-1f;
  if (!(x >= 1.0f)) return loom_bits_f32(0x7fc00000u);
  const loom_f32 t = x - 1.0f;
  return loom_log1p(t + LOOM_BUILTIN(sqrtf)(loom_fma_f32(t, t, 2.0f * t)));
}
//@ loom_atanh
// 2.5 ulp.
LOOM_FN loom_f32 loom_atanh(loom_f32 x) {
  const loom_f32 a = LOOM_BUILTIN(fabsf)(x);
  const loom_f32 r = 0.5f * loom_log1p((a + a) / (1.0f - a));
  return x != x ? x : loom_copysign_f32(a < 0x1p-12f ? a : r, x);
}
//@ loom_erf
// 1.5 ulp.
LOOM_FN loom_f32 loom_erf(loom_f32 x) {
  const loom_f32 a = LOOM_BUILTIN(fabsf)(x), z = x * x;
  const loom_f32 s = loom_fma_f32(x, loom_poly(z, -0x1.44cfc4p-17f, 0x1.d8b88ep-14f, -0x1.bcd7dep-11f, 0x1.562b1ap-8f, -0x1.b829d8p-6f,
                                               0x1.ce2f0ap-4f, -0x1.812746p-2f, 0x1.06eba8p-3f), x);
  const loom_f32 t = a < 4.0f ? a : 4.0f;
  const loom_f32 p = loom_poly(t, -0x1.72a540p-23f, 0x1.958e1ap-16f, -0x1.dedee4p-12f, 0x1.170756p-8f, -0x1.9edac2p-6f, 0x1.bcb1eep-4f,
                               0x1.44256ap-1f, 0x1.212fb6p+0f, -0x1.a15c44p-13f);
  const loom_f32 r = loom_copysign_f32(1.0f - loom_exp(-p), x);
  return a < 1.0f ? s : x != x ? x : r;
}
//@ loom_erfc_tail
// erfc(a) for a from 0 to 10.1: e^(-a^2) times a polynomial in (a - 3)/(a + 3).
LOOM_FN loom_f32 loom_erfc_tail(loom_f32 a) {
  const loom_f32 n = a - 3.0f, d = a + 3.0f, t = loom_quotient(n, d);
  const loom_f32 q = loom_poly(t, -0x1.19278ap-12f, -0x1.97ae20p-11f, 0x1.066196p-9f, 0x1.5082f0p-9f, -0x1.85e612p-6f, 0x1.17bd4ep-4f,
                               -0x1.e888aep-4f, 0x1.098410p-3f, -0x1.85a194p-5f, -0x1.15c08ap-3f, 0x1.40c522p+0f);
  const loom_f32 h = a * a, l = loom_fma_f32(a, a, -h);
  const loom_f32 e = loom_exp(-h * 0.5f);
  return (loom_quotient(q, loom_fma_f32(2.0f, a, 1.0f)) * loom_fma_f32(-l, e, e)) * e;
}
//@ loom_erfc
// 6 ulp, tails included.
LOOM_FN loom_f32 loom_erfc(loom_f32 x) {
  const loom_f32 a = LOOM_BUILTIN(fabsf)(x);
  const loom_f32 r = a < 10.1f ? loom_erfc_tail(a < 10.1f ? a : 0.0f) : 0.0f;
  return x != x ? x : x >= 0.0f ? r : 2.0f - r;
}
//@ loom_asin_core
LOOM_FN loom_f32 loom_asin_core(loom_f32 x, loom_f32 z) {
  return loom_fma_f32(x * z, loom_poly(z, 0x1.33bbb0p-5f, 0x1.d7f280p-7f, 0x1.04a652p-5f, 0x1.6cac3cp-5f, 0x1.33388ep-4f, 0x1.55554cp-3f), x);
}
//@ loom_asin
// 2 ulp.
LOOM_FN loom_f32 loom_asin(loom_f32 x) {
  const loom_f32 a = LOOM_BUILTIN(fabsf)(x);
  if (a < 0.5f) return loom_asin_core(x, x * x);
  const loom_f32 z = 0.5f * (1.0f - a), s = LOOM_BUILTIN(sqrtf)(z);
  const loom_f32 r = loom_fma_f32(-2.0f, loom_asin_core(s, z), 0x1.921fb6p+0f) - 0x1.777a5cp-25f;
  return x != x ? x : loom_copysign_f32(r, x);
}
//@ loom_acos
// 1.5 ulp.
LOOM_FN loom_f32 loom_acos(loom_f32 x) {
  const loom_f32 a = LOOM_BUILTIN(fabsf)(x);
  if (a < 0.5f) return 0x1.921fb6p+0f - (loom_asin_core(x, x * x) + 0x1.777a5cp-25f);
  const loom_f32 z = 0.5f * (1.0f - a), s = LOOM_BUILTIN(sqrtf)(z);
  const loom_f32 r = 2.0f * loom_asin_core(s, z);
  return x > 0.0f ? r : (0x1.921fb6p+1f - r) - 0x1.777a5cp-24f;
}
//@ loom_atan
// 2 ulp.
LOOM_FN loom_f32 loom_atan(loom_f32 x) {
  const loom_f32 a = LOOM_BUILTIN(fabsf)(x);
  const bool inv = a > 1.0f;
  loom_f32 t = inv ? 1.0f / a : a, base = 0.0f, low = 0.0f;
  if (t > 0x1.a8279ap-2f) {
    t = (t - 1.0f) / (t + 1.0f);
    base = 0x1.921fb6p-1f;
    low = -0x1.777a5cp-26f;
  }
  const loom_f32 z = t * t;
  const loom_f32 q = loom_fma_f32(t * z, loom_poly(z, -0x1.f25a30p-5f, 0x1.b202eep-4f, -0x1.23b6c6p-3f, 0x1.9991aep-3f, -0x1.55554ap-2f), t);
  loom_f32 r = base + (q + low);
  if (inv) r = base == 0.0f ? 0x1.921fb6p+0f - (q + 0x1.777a5cp-25f) : 0x1.921fb6p-1f - (q - low);
  return x != x ? x : loom_copysign_f32(r, x);
}
//@ loom_atan2
// 3 ulp.
LOOM_FN loom_f32 loom_atan2(loom_f32 y, loom_f32 x) {
  if (x != x || y != y) return x + y;
  const loom_f32 ax = LOOM_BUILTIN(fabsf)(x), ay = LOOM_BUILTIN(fabsf)(y);
  const loom_f32 inf = loom_bits_f32(0x7f800000u);
  loom_f32 r;
  if (ax == inf && ay == inf) r = 0x1.921fb6p-1f;
  else if (ax == 0.0f && ay == 0.0f) r = 0.0f;
  else if (ay > ax) {
    // The angle from the other axis keeps the quotient below one.
    const loom_f32 s = ay > 0x1p100f ? 0x1p-30f : 1.0f;
    r = 0x1.921fb6p+0f - (loom_atan((ax * s) / (ay * s)) + 0x1.777a5cp-25f);
  } else {
    r = loom_atan(ay / ax);
  }
  if (loom_f32_bits(x) >> 31) r = 0x1.921fb6p+1f - (r + 0x1.777a5cp-24f);
  return loom_copysign_f32(r, y);
}
//@ loom_cbrt
// 1 ulp.
LOOM_FN loom_f32 loom_cbrt(loom_f32 x) {
  const loom_f32 a = LOOM_BUILTIN(fabsf)(x);
  if (!(a < loom_bits_f32(0x7f800000u)) || a == 0.0f) return x;
  const bool tiny = a < 0x1p-102f, huge = a > 0x1p102f;
  const loom_f32 m = tiny ? a * 0x1p24f : huge ? a * 0x1p-24f : a;
  loom_f32 y = loom_bits_f32(loom_f32_bits(m) / 3u + 0x2a5119f2u);
  for (int i = 0; i < 2; ++i) {
    const loom_f32 c = y * y * y;
    y = y * ((c + m + m) / (c + c + m));
  }
  const loom_f32 y2 = y * y, e = loom_fma_f32(y, y, -y2);
  const loom_f32 c = y2 * y, d = loom_fma_f32(y2, y, -c) + e * y;
  y = y - ((c - m) + d) / (3.0f * y2);
  return loom_copysign_f32(tiny ? y * 0x1p-8f : huge ? y * 0x1p8f : y, x);
}
//@ loom_pow
// x^y, 2 ulp: log2 of x in two floats, times y, then exp2.
LOOM_FN loom_f32 loom_pow(loom_f32 x, loom_f32 y) {
  const loom_f32 inf = loom_bits_f32(0x7f800000u);
  if (y == 0.0f || x == 1.0f) return 1.0f;
  if (x != x || y != y) return x + y;
  const loom_f32 ay = LOOM_BUILTIN(fabsf)(y), ax = LOOM_BUILTIN(fabsf)(x);
  const bool whole = ay >= 0x1p23f || LOOM_BUILTIN(truncf)(y) == y;
  const bool odd = whole && ay < 0x1p24f && ((loom_u32)ay & 1u) != 0u;
  const loom_f32 sign = odd ? loom_copysign_f32(1.0f, x) : 1.0f;
  if (ay == inf) return ax == 1.0f ? 1.0f : (ax > 1.0f) == (y > 0.0f) ? inf : 0.0f;
  if (ax == 0.0f || ax == inf) return sign * ((ax == 0.0f) == (y > 0.0f) ? 0.0f : inf);
  if (x < 0.0f && !whole) return loom_bits_f32(0x7fc00000u);
  const bool tiny = ax < 0x1p-126f;
  const loom_u32 b = loom_f32_bits(tiny ? ax * 0x1p24f : ax);
  // m in [sqrt(1/2), sqrt(2)), x = m·2^e
  const loom_i32 e = ((loom_i32)(b - 0x3f3504f3u) >> 23) - (tiny ? 24 : 0);
  const loom_f32 m = loom_bits_f32(b - ((loom_u32)((loom_i32)(b - 0x3f3504f3u) >> 23) << 23));
  const loom_f32 f = m - 1.0f, d = m + 1.0f, dl = m - (d - 1.0f);
  const loom_f32 inv = 1.0f / d, s = f * inv;
  const loom_f32 sl = (loom_fma_f32(-s, d, f) - s * dl) * inv;
  const loom_f32 z = s * s, zl = loom_fma_f32(s, s, -z) + 2.0f * s * sl;
  const loom_f32 q = z * loom_poly(z, 0x1.911620p-4f, 0x1.c62b0ep-4f, 0x1.249412p-3f, 0x1.999996p-3f);
  const loom_f32 th = 0x1.555556p-2f + q, tl = (q - (th - 0x1.555556p-2f)) - 0x1.555556p-27f;
  const loom_f32 w = z * th, wl = loom_fma_f32(z, th, -w) + (z * tl + zl * th);
  const loom_f32 v = s * w, vl = loom_fma_f32(s, w, -v) + (s * wl + sl * w);
  const loom_f32 a = s + v, al = ((s - a) + v) + (sl + vl);
  // log2(m) = 2·log2(e)·(a + al)
  const loom_f32 C = 0x1.715476p+1f, Cl = 0x1.4ae0c0p-25f;
  const loom_f32 g = a * C, gl = loom_fma_f32(a, C, -g) + (a * Cl + al * C);
  const loom_f32 ef = (loom_f32)e, H = ef + g, L = (e == 0 ? 0.0f : g - (H - ef)) + gl;
  const loom_f32 p = y * H;
  if (p > 128.5f) return sign * inf;
  if (p < -151.0f) return sign * 0.0f;
  const loom_f32 pl = loom_fma_f32(y, H, -p) + y * L;
  const loom_f32 n = LOOM_BUILTIN(rintf)(p), r = (p - n) + pl;
  const loom_f32 t = loom_poly(r, 0x1.00f13ap-16f, 0x1.445e6ap-13f, 0x1.5d8724p-10f, 0x1.3b29f0p-7f, 0x1.c6b08ep-5f, 0x1.ebfbe0p-3f, 0x1.62e430p-1f);
  return sign * loom_ldexp(loom_fma_f32(r, t, 1.0f), (loom_i32)n);
}
//@ loom_pow_fast
// Through log2 and exp2: the relative error grows with |y·log2(x)| up to 2^-16. x is not negative.
LOOM_FN loom_f32 loom_pow_fast(loom_f32 x, loom_f32 y) { return loom_exp2_fast(y * loom_log2_fast(x)); }
//@ loom_reduce_big
// The quadrant and remainder of a large angle: x·2/pi from a window of the bits of
// 2/pi, as wide as the result needs.
LOOM_FN loom_f32 loom_reduce_big(loom_f32 a, loom_u32 &quadrant) {
  const loom_u32 b = loom_f32_bits(a), m = (b & 0x7fffffu) | 0x800000u;
  const loom_u32 sh = (b >> 23) - 150u + 32u; // how far the bits of 2/pi move left, plus 32
  const loom_u32 T1 = 0xa2f9836eu, T2 = 0x4e441529u, T3 = 0xfc2757d1u, T4 = 0xf534ddc0u, T5 = 0xdb629599u, T6 = 0x3c439041u;
  const loom_u32 i = sh >> 5, k = sh & 31u;
  const loom_u32 a0 = i < 2 ? 0u : i == 2 ? T1 : i == 3 ? T2 : T3;
  const loom_u32 a1 = i == 0 ? 0u : i == 1 ? T1 : i == 2 ? T2 : i == 3 ? T3 : T4;
  const loom_u32 a2 = i == 0 ? T1 : i == 1 ? T2 : i == 2 ? T3 : i == 3 ? T4 : T5;
  const loom_u32 a3 = i == 0 ? T2 : i == 1 ? T3 : i == 2 ? T4 : i == 3 ? T5 : T6;
  const loom_u32 w0 = k == 0 ? a0 : (a0 << k) | (a1 >> (32 - k));
  const loom_u32 w1 = k == 0 ? a1 : (a1 << k) | (a2 >> (32 - k));
  const loom_u32 w2 = k == 0 ? a2 : (a2 << k) | (a3 >> (32 - k));
  // The value is m·(w0.w1w2…) with the binary point after w0; only its low two
  // integer bits and the fraction matter.
  const loom_u64 lo = (loom_u64)m * w2, mid = (loom_u64)m * w1 + (lo >> 32);
  const loom_u32 hi = m * w0 + (loom_u32)(mid >> 32);
  loom_u64 frac = (mid << 32) | (loom_u32)lo;
  quadrant = hi & 3u;
  if (frac >> 63) ++quadrant;
  const loom_i64 sf = (loom_i64)frac;
  return (loom_f32)sf * 0x1.921fb6p-64f;
}
//@ loom_reduce_angle
// x = quadrant·pi/2 + r, |r| at most pi/4 and a little.
LOOM_FN loom_f32 loom_reduce_angle(loom_f32 x, loom_u32 &quadrant) {
  const loom_f32 a = LOOM_BUILTIN(fabsf)(x);
  if (a < 65536.0f) {
    const loom_f32 n = LOOM_BUILTIN(rintf)(x * 0x1.45f306p-1f);
    quadrant = (loom_u32)(loom_i32)n;
    loom_f32 r = loom_fma_f32(n, -0x1.921fb6p+0f, x);
    r = loom_fma_f32(n, 0x1.777a5cp-25f, r);
    return loom_fma_f32(n, 0x1.ee59dap-50f, r);
  }
  if (!(a < loom_bits_f32(0x7f800000u))) {
    quadrant = 0;
    return x - x;
  }
  const loom_f32 r = loom_reduce_big(a, quadrant);
  if (x < 0.0f) {
    quadrant = 0u - quadrant;
    return -r;
  }
  return r;
}
//@ loom_sin_core
LOOM_FN loom_f32 loom_sin_core(loom_f32 r) {
  const loom_f32 z = r * r;
  return loom_fma_f32(r * z, loom_poly(z, 0x1.6cd87cp-19f, -0x1.a00f9ep-13f, 0x1.111108p-7f, -0x1.555556p-3f), r);
}
//@ loom_cos_core
LOOM_FN loom_f32 loom_cos_core(loom_f32 r) {
  const loom_f32 z = r * r;
  const loom_f32 q = loom_poly(z, -0x1.242aeep-22f, 0x1.a01120p-16f, -0x1.6c16b8p-10f, 0x1.555556p-5f);
  return 1.0f - (0.5f * z - z * z * q);
}
//@ loom_sin
// 1.5 ulp up to 65536, 2.5 beyond.
LOOM_FN loom_f32 loom_sin(loom_f32 x) {
  loom_u32 q;
  const loom_f32 r = loom_reduce_angle(x, q);
  const loom_f32 s = (q & 1u) ? loom_cos_core(r) : x == 0.0f ? x : loom_sin_core(r);
  return (q & 2u) ? -s : s;
}
//@ loom_cos
// 1.5 ulp up to 65536, 2.5 beyond.
LOOM_FN loom_f32 loom_cos(loom_f32 x) {
  loom_u32 q;
  const loom_f32 r = loom_reduce_angle(x, q);
  const loom_f32 s = (q & 1u) ? loom_sin_core(r) : loom_cos_core(r);
  return ((q + 1u) & 2u) ? -s : s;
}
//@ loom_tan
// 3 ulp up to 65536, 4 beyond.
LOOM_FN loom_f32 loom_tan(loom_f32 x) {
  loom_u32 q;
  const loom_f32 r = loom_reduce_angle(x, q);
  const loom_f32 s = x == 0.0f ? x : loom_sin_core(r), c = loom_cos_core(r);
  return (q & 1u) ? -c / s : s / c;
}
//@ loom_sin_fast
// Absolute error 2^-18 for |x| up to 256.
LOOM_FN loom_f32 loom_sin_fast(loom_f32 x) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_sinf(__builtin_amdgcn_fractf(x * 0x1.45f306p-3f));
#else
  return loom_sin(x);
#endif
}
//@ loom_cos_fast
LOOM_FN loom_f32 loom_cos_fast(loom_f32 x) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_cosf(__builtin_amdgcn_fractf(x * 0x1.45f306p-3f));
#else
  return loom_cos(x);
#endif
}
//@ loom_turn_sin
LOOM_FN loom_f32 loom_turn_sin(loom_f32 r) {
  const loom_f32 z = r * r;
  return loom_fma_f32(r, 0x1.921fb6p+2f, r * loom_fma_f32(z, loom_poly(z, 0x1.4be692p+5f, -0x1.32cb24p+6f, 0x1.466bbcp+6f, -0x1.4abbcep+5f), -0x1.777a5cp-23f));
}
//@ loom_turn_cos
LOOM_FN loom_f32 loom_turn_cos(loom_f32 r) {
  const loom_f32 z = r * r;
  return loom_fma_f32(z, loom_poly(z, -0x1.a0ee22p+4f, 0x1.e1e80ap+5f, -0x1.55d3bcp+6f, 0x1.03c1f0p+6f, -0x1.3bd3ccp+4f), 1.0f);
}
//@ loom_sinturns
// sin(2·pi·x), 1.5 ulp.
LOOM_FN loom_f32 loom_sinturns(loom_f32 x) {
  const loom_f32 t = x - LOOM_BUILTIN(rintf)(x), n = LOOM_BUILTIN(rintf)(4.0f * t), r = loom_fma_f32(-0.25f, n, t);
  const loom_u32 q = (loom_u32)(loom_i32)n;
  const loom_f32 s = (q & 1u) ? loom_turn_cos(r) : loom_turn_sin(r);
  return r == 0.0f && (q & 1u) == 0u ? loom_copysign_f32(0.0f, x) : (q & 2u) ? -s : s;
}
//@ loom_costurns
// cos(2·pi·x), 1.5 ulp.
LOOM_FN loom_f32 loom_costurns(loom_f32 x) {
  const loom_f32 t = x - LOOM_BUILTIN(rintf)(x), n = LOOM_BUILTIN(rintf)(4.0f * t), r = loom_fma_f32(-0.25f, n, t);
  const loom_u32 q = (loom_u32)(loom_i32)n;
  const loom_f32 s = (q & 1u) ? loom_turn_sin(r) : loom_turn_cos(r);
  return (((q + 1u) & 2u) ? -s : s) + 0.0f;
}
//@ loom_sinturns_fast
LOOM_FN loom_f32 loom_sinturns_fast(loom_f32 x) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_sinf(__builtin_amdgcn_fractf(x));
#else
  return loom_sinturns(x);
#endif
}
//@ loom_costurns_fast
LOOM_FN loom_f32 loom_costurns_fast(loom_f32 x) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_cosf(__builtin_amdgcn_fractf(x));
#else
  return loom_costurns(x);
#endif
}
//@ loom_fmod
// Exact, sign of x.
LOOM_FN loom_f32 loom_fmod(loom_f32 x, loom_f32 y) {
  const loom_u32 sx = loom_f32_bits(x) & 0x80000000u, ax = loom_f32_bits(x) & 0x7fffffffu, ay = loom_f32_bits(y) & 0x7fffffffu;
  if (ay == 0u || ax >= 0x7f800000u || ay > 0x7f800000u) return (x * y) / (x * y);
  if (ax < ay) return x;
  loom_i32 ex = (loom_i32)(ax >> 23), ey = (loom_i32)(ay >> 23);
  loom_u32 mx = ax & 0x7fffffu, my = ay & 0x7fffffu;
  if (ex == 0) ex = 1;
  else mx |= 0x800000u;
  if (ey == 0) ey = 1;
  else my |= 0x800000u;
  loom_i32 n = ex - ey;
  mx = loom_opaque_u32(mx) % my; // clang 19 divides 24 bits inexactly
  while (n > 0 && mx != 0u) {
    const loom_i32 s = n < 8 ? n : 8;
    mx = (mx << s) % my;
    n -= s;
  }
  // mx·2^(ey-150), which may be subnormal, and is exact.
  return loom_bits_f32(loom_f32_bits(loom_ldexp((loom_f32)mx, ey - 150)) | sx);
}
//@ loom_fmod_f64
// Exact, sign of x.
LOOM_FN loom_f64 loom_fmod_f64(loom_f64 x, loom_f64 y) {
  const loom_u64 M = 0x7fffffffffffffffull, I = 0x7ff0000000000000ull, B = 0x10000000000000ull;
  const loom_u64 sx = loom_f64_bits(x) & ~M, ax = loom_f64_bits(x) & M, ay = loom_f64_bits(y) & M;
  if (ay == 0u || ax >= I || ay > I) return (x * y) / (x * y);
  if (ax < ay) return x;
  loom_i32 ex = (loom_i32)(ax >> 52), ey = (loom_i32)(ay >> 52);
  loom_u64 mx = ax & (B - 1), my = ay & (B - 1);
  if (ex == 0) ex = 1;
  else mx |= B;
  if (ey == 0) ey = 1;
  else my |= B;
  loom_i32 n = ex - ey;
  mx %= my;
  while (n > 0 && mx != 0u) {
    const loom_i32 s = n < 11 ? n : 11;
    mx = (mx << s) % my;
    n -= s;
  }
  // mx·2^(ey-1075): normalise by hand.
  if (mx == 0u) return loom_bits_f64(sx);
  loom_i32 e = ey;
  while (e > 1 && mx < B) {
    mx <<= 1;
    --e;
  }
  return loom_bits_f64(sx | (mx < B ? mx : ((loom_u64)e << 52) | (mx & (B - 1))));
}
//@ loom_logistic
// 1/(1 + e^-x), 2 ulp, subnormal results included.
LOOM_FN loom_f32 loom_logistic(loom_f32 x) {
  const loom_f32 e = loom_exp(-LOOM_BUILTIN(fabsf)(x));
  return loom_quotient(x >= 0.0f ? 1.0f : e, 1.0f + e);
}
//@ loom_logistic_fast
LOOM_FN loom_f32 loom_logistic_fast(loom_f32 x) { return loom_div_fast(1.0f, 1.0f + loom_exp_fast(-x)); }
//@ loom_silu
// x/(1 + e^-x), 3.5 ulp; -infinity gives -0. Two factors keep the tail exact where
// e^x alone would be subnormal.
LOOM_FN loom_f32 loom_silu(loom_f32 x) {
  const loom_f32 h = loom_exp(-0.5f * LOOM_BUILTIN(fabsf)(x)), e = h * h;
  const loom_f32 r = loom_quotient(x >= 0.0f ? x : (x * h) * h, 1.0f + e);
  return x > 64.0f ? x : x < -256.0f ? -0.0f : r;
}
//@ loom_silu_fast
LOOM_FN loom_f32 loom_silu_fast(loom_f32 x) { return loom_div_fast(x, 1.0f + loom_exp_fast(-x)); }
//@ loom_softplus
// ln(1 + e^x), 2.5 ulp.
LOOM_FN loom_f32 loom_softplus(loom_f32 x) {
  const loom_f32 l = loom_log1p(loom_exp(-LOOM_BUILTIN(fabsf)(x)));
  return x != x ? x : (x > 0.0f ? x : 0.0f) + l;
}
//@ loom_softplus_fast
LOOM_FN loom_f32 loom_softplus_fast(loom_f32 x) {
  return (x > 0.0f ? x : 0.0f) + loom_log_fast(1.0f + loom_exp_fast(-LOOM_BUILTIN(fabsf)(x)));
}
//@ loom_gelu_erf
// x·(1 + erf(x/sqrt 2))/2; the tail keeps 8 ulp down to the smallest normal result.
LOOM_FN loom_f32 loom_gelu_erf(loom_f32 x) {
  const loom_f32 a = LOOM_BUILTIN(fabsf)(x), h = 0.5f * x;
  // erfc's argument is rounded; its derivative corrects for what was lost.
  const loom_f32 z = a * 0x1.6a09e6p-1f, lost = loom_fma_f32(a, 0x1.6a09e6p-1f, -z) + a * 0x1.9fcef4p-27f;
  const loom_f32 c0 = loom_erfc_tail(z < 10.0f ? z : 10.0f), c = loom_fma_f32(-2.0f * z * lost, c0, c0);
  return x > 14.0f ? x : x < -14.0f ? -0.0f : x >= 0.0f ? h * (2.0f - c) : h * c;
}
//@ loom_gelu_tanh
// x·(1 + tanh(sqrt(2/pi)·(x + 0.044715·x^3)))/2 = x·logistic of twice the argument.
// 4 ulp: the argument is kept in two floats, because its error is magnified in the tail.
LOOM_FN loom_f32 loom_gelu_tanh(loom_f32 x) {
  const loom_f32 z = x * x, zl = loom_fma_f32(x, x, -z);
  const loom_f32 C = 0x1.2444f2p-4f, Cl = 0x1.49b16ap-29f, D = 0x1.988454p+0f, Dl = -0x1.857936p-25f;
  const loom_f32 p = z * C, pl = loom_fma_f32(z, C, -p) + (zl * C + z * Cl);
  const loom_f32 w = p + D, b = w - p, wl = ((p - (w - b)) + (D - b)) + (pl + Dl);
  const loom_f32 u = x * w, ul = loom_fma_f32(x, w, -u) + x * wl;
  const loom_f32 h = loom_exp(-0.5f * LOOM_BUILTIN(fabsf)(u)), lost = loom_copysign_f32(1.0f, x) * ul;
  const loom_f32 e1 = loom_fma_f32(-lost, h, h);
  const loom_f32 r = loom_quotient(x >= 0.0f ? x : (x * e1) * h, loom_fma_f32(e1, h, 1.0f));
  return x != x || x > 16.0f ? x : x < -16.0f ? -0.0f : r;
}
//@ loom_gelu_logistic
LOOM_FN loom_f32 loom_gelu_logistic(loom_f32 x, loom_f32 scale) { return x * loom_logistic(scale * x); }
