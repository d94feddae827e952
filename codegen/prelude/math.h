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
LOOM_FN loom_f32 loom_fma_f32(loom_f32 a, loom_f32 b, loom_f32 c) { return __builtin_fmaf(a, b, c); }
//@ loom_fma_f64
LOOM_FN loom_f64 loom_fma_f64(loom_f64 a, loom_f64 b, loom_f64 c) { return __builtin_fma(a, b, c); }
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
LOOM_FN loom_f32 loom_abs_f32(loom_f32 a) { return __builtin_fabsf(a); }
//@ loom_abs_f64
LOOM_FN loom_f64 loom_abs_f64(loom_f64 a) { return __builtin_fabs(a); }
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
LOOM_FN loom_f32 loom_ceil_f32(loom_f32 a) { return __builtin_ceilf(a); }
//@ loom_floor_f32
LOOM_FN loom_f32 loom_floor_f32(loom_f32 a) { return __builtin_floorf(a); }
//@ loom_trunc_f32
LOOM_FN loom_f32 loom_trunc_f32(loom_f32 a) { return __builtin_truncf(a); }
//@ loom_roundeven_f32
LOOM_FN loom_f32 loom_roundeven_f32(loom_f32 a) { return __builtin_rintf(a); }
//@ loom_round_f32
// Halves away from zero.
LOOM_FN loom_f32 loom_round_f32(loom_f32 a) {
  const loom_f32 t = __builtin_truncf(a);
  return loom_copysign_f32(__builtin_fabsf(a - t) >= 0.5f ? t + loom_copysign_f32(0.5f + 0.5f, a) : t, a);
}
//@ loom_minnum_f32
// A NaN operand is ignored.
LOOM_FN loom_f32 loom_minnum_f32(loom_f32 a, loom_f32 b) { return __builtin_fminf(a, b); }
//@ loom_maxnum_f32
LOOM_FN loom_f32 loom_maxnum_f32(loom_f32 a, loom_f32 b) { return __builtin_fmaxf(a, b); }
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
LOOM_FN loom_f64 loom_ceil_f64(loom_f64 a) { return __builtin_ceil(a); }
//@ loom_floor_f64
LOOM_FN loom_f64 loom_floor_f64(loom_f64 a) { return __builtin_floor(a); }
//@ loom_trunc_f64
LOOM_FN loom_f64 loom_trunc_f64(loom_f64 a) { return __builtin_trunc(a); }
//@ loom_roundeven_f64
LOOM_FN loom_f64 loom_roundeven_f64(loom_f64 a) { return __builtin_rint(a); }
//@ loom_round_f64
// Halves away from zero.
LOOM_FN loom_f64 loom_round_f64(loom_f64 a) {
  const loom_f64 t = __builtin_trunc(a);
  return loom_copysign_f64(__builtin_fabs(a - t) >= 0.5 ? t + loom_copysign_f64(0.5 + 0.5, a) : t, a);
}
//@ loom_minnum_f64
// A NaN operand is ignored.
LOOM_FN loom_f64 loom_minnum_f64(loom_f64 a, loom_f64 b) { return __builtin_fmin(a, b); }
//@ loom_maxnum_f64
LOOM_FN loom_f64 loom_maxnum_f64(loom_f64 a, loom_f64 b) { return __builtin_fmax(a, b); }
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
LOOM_FN loom_f32 loom_minnum_nnan_f32(loom_f32 a, loom_f32 b) { return __builtin_fminf(a, b); }
//@ loom_maxnum_nnan_f32
LOOM_FN loom_f32 loom_maxnum_nnan_f32(loom_f32 a, loom_f32 b) { return __builtin_fmaxf(a, b); }
//@ loom_minnum_nnan_f64
LOOM_FN loom_f64 loom_minnum_nnan_f64(loom_f64 a, loom_f64 b) { return __builtin_fmin(a, b); }
//@ loom_maxnum_nnan_f64
LOOM_FN loom_f64 loom_maxnum_nnan_f64(loom_f64 a, loom_f64 b) { return __builtin_fmax(a, b); }
//@ loom_minnum_f16
LOOM_FN loom_f16 loom_minnum_f16(loom_f16 a, loom_f16 b) {
#if defined(LOOM_AMDGPU)
  return __builtin_fminf16(a, b);
#else
  return (loom_f16)__builtin_fminf((loom_f32)a, (loom_f32)b);
#endif
}
//@ loom_maxnum_f16
LOOM_FN loom_f16 loom_maxnum_f16(loom_f16 a, loom_f16 b) {
#if defined(LOOM_AMDGPU)
  return __builtin_fmaxf16(a, b);
#else
  return (loom_f16)__builtin_fmaxf((loom_f32)a, (loom_f32)b);
#endif
}
//@ loom_minnum_nnan_f16
LOOM_FN loom_f16 loom_minnum_nnan_f16(loom_f16 a, loom_f16 b) {
#if defined(LOOM_AMDGPU)
  return __builtin_fminf16(a, b);
#else
  return (loom_f16)__builtin_fminf((loom_f32)a, (loom_f32)b);
#endif
}
//@ loom_maxnum_nnan_f16
LOOM_FN loom_f16 loom_maxnum_nnan_f16(loom_f16 a, loom_f16 b) {
#if defined(LOOM_AMDGPU)
  return __builtin_fmaxf16(a, b);
#else
  return (loom_f16)__builtin_fmaxf((loom_f32)a, (loom_f32)b);
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
// Widens an 8-bit float with E exponent bits in IEEE style: the top exponent is
// infinity and NaN.
template <int E> LOOM_FN loom_f32 loom_f8_f32(loom_u8 v) {
  const loom_i32 man = 7 - E, bias = (1 << (E - 1)) - 1;
  const loom_u32 s = (loom_u32)(v & 0x80) << 24, m = v & ((1u << man) - 1u);
  const loom_i32 e = (v >> man) & ((1 << E) - 1);
  if (e == (1 << E) - 1) return loom_bits_f32(s | 0x7f800000u | (m << (23 - man)) | (m != 0 ? 0x400000u : 0u));
  if (e == 0) {
    const loom_f32 f = (loom_f32)m * loom_bits_f32((loom_u32)(127 + 1 - bias - man) << 23);
    return loom_bits_f32(s | loom_f32_bits(f));
  }
  return loom_bits_f32(s | ((loom_u32)(e - bias + 127) << 23) | (m << (23 - man)));
}
//@ loom_f32_f8
// Narrows to an 8-bit float, nearest even; too large becomes infinity.
template <int E> LOOM_FN loom_u8 loom_f32_f8(loom_f32 f) {
  const loom_i32 man = 7 - E, bias = (1 << (E - 1)) - 1;
  const loom_u32 b = loom_f32_bits(f), s = (b >> 24) & 0x80u, a = b & 0x7fffffffu;
  const loom_u32 inf = ((1u << E) - 1u) << man;
  if (a > 0x7f800000u) return (loom_u8)(s | inf | (1u << (man - 1)));
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
LOOM_FN loom_f32 loom_sqrt(loom_f32 a) { return __builtin_sqrtf(a); }
//@ loom_sqrt_f64
LOOM_FN loom_f64 loom_sqrt_f64(loom_f64 a) { return __builtin_sqrt(a); }
//@ loom_sqrt_fast
// 1 ulp; subnormals count as zero.
LOOM_FN loom_f32 loom_sqrt_fast(loom_f32 a) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_sqrtf(a);
#else
  return __builtin_sqrtf(a);
#endif
}
//@ loom_rsqrt
// 1 ulp, subnormals included.
LOOM_FN loom_f32 loom_rsqrt(loom_f32 a) {
#if defined(LOOM_AMDGPU)
  const bool tiny = a < 0x1p-126f;
  return __builtin_amdgcn_rsqf(tiny ? a * 0x1p24f : a) * (tiny ? 0x1p12f : 1.0f);
#else
  return (loom_f32)(1.0 / __builtin_sqrt((loom_f64)a));
#endif
}
//@ loom_rsqrt_f64
LOOM_FN loom_f64 loom_rsqrt_f64(loom_f64 a) { return 1.0 / __builtin_sqrt(a); }
//@ loom_rsqrt_fast
LOOM_FN loom_f32 loom_rsqrt_fast(loom_f32 a) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_rsqf(a);
#else
  return (loom_f32)(1.0 / __builtin_sqrt((loom_f64)a));
#endif
}
//@ loom_exp
// 1 ulp.
LOOM_FN loom_f32 loom_exp(loom_f32 x) { return __builtin_expf(x); }
//@ loom_exp_fast
// 2 ulp near 0, relative error up to 2^-17 near the ends; subnormal results are 0.
LOOM_FN loom_f32 loom_exp_fast(loom_f32 x) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_exp2f(x * 0x1.715476p+0f);
#else
  return __builtin_exp2f(x * 0x1.715476p+0f);
#endif
}
//@ loom_exp2
LOOM_FN loom_f32 loom_exp2(loom_f32 x) { return __builtin_exp2f(x); }
//@ loom_exp2_fast
LOOM_FN loom_f32 loom_exp2_fast(loom_f32 x) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_exp2f(x);
#else
  return __builtin_exp2f(x);
#endif
}
//@ loom_log
// 1 ulp.
LOOM_FN loom_f32 loom_log(loom_f32 x) { return __builtin_logf(x); }
//@ loom_log_fast
LOOM_FN loom_f32 loom_log_fast(loom_f32 x) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_logf(x) * 0x1.62e430p-1f;
#else
  return __builtin_log2f(x) * 0x1.62e430p-1f;
#endif
}
//@ loom_log2
LOOM_FN loom_f32 loom_log2(loom_f32 x) { return __builtin_log2f(x); }
//@ loom_log2_fast
LOOM_FN loom_f32 loom_log2_fast(loom_f32 x) {
#if defined(LOOM_AMDGPU)
  return __builtin_amdgcn_logf(x);
#else
  return __builtin_log2f(x);
#endif
}
//@ loom_log10
LOOM_FN loom_f32 loom_log10(loom_f32 x) { return __builtin_log10f(x); }
//@ loom_log10_fast
LOOM_FN loom_f32 loom_log10_fast(loom_f32 x) { return loom_log2_fast(x) * 0x1.344136p-2f; }
