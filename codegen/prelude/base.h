The prelude: device helpers of generated kernels. Text before the first part is
documentation and is not printed.

A part starts with a line "//@ name …" that lists the names it defines; only the
parts a kernel uses (and the ones those use) reach its text, in this order. The
part "base" always does. Everything is written for three compilers:

  LOOM_AMDGPU  clang for AMDGPU: hipcc, amdclang++, hiprtc, plain clang -x hip
  LOOM_CUDA    NVRTC or nvcc, 32 lanes a warp
  LOOM_HOST    any C++17 compiler, with prelude/host.h in front

Integers are unsigned (they wrap); bf16 and the 8-bit floats are held as bits.

//@ base loom_i8 loom_u8 loom_i16 loom_u16 loom_i32 loom_u32 loom_i64 loom_u64 loom_f32 loom_f64 loom_bf16 loom_f8e4m3 loom_f8e5m2 loom_i1 loom_null loom_bitcast LOOM_FN
#if defined(__AMDGCN__) || defined(__HIP__)
#define LOOM_AMDGPU 1
#elif defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define LOOM_CUDA 1
#else
#define LOOM_HOST 1
#endif
#if defined(LOOM_AMDGPU)
#ifndef __global__
#define __global__ __attribute__((global))
#endif
#ifndef __device__
#define __device__ __attribute__((device))
#endif
#ifndef __shared__
#define __shared__ __attribute__((shared))
#endif
#ifndef __launch_bounds__
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))
#endif
#define LOOM_WORKGROUP(n) __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(n, n)))
#define LOOM_WORKGROUP_UPTO(n) __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
#define LOOM_FN static __device__ inline __attribute__((always_inline, unused))
#elif defined(LOOM_CUDA)
#pragma nv_diag_suppress 177 // helpers that a kernel does not call
#define LOOM_WORKGROUP(n) __launch_bounds__(n)
#define LOOM_WORKGROUP_UPTO(n) __launch_bounds__(n)
#define LOOM_FN static __device__ __forceinline__
#else
#define LOOM_WORKGROUP(n)
#define LOOM_WORKGROUP_UPTO(n)
#define LOOM_FN static inline __attribute__((always_inline, unused))
#endif
// Functions every compiler knows, by the name under which it does.
#if defined(LOOM_CUDA)
#define LOOM_BUILTIN(name) name
#else
#define LOOM_BUILTIN(name) __builtin_##name
#endif
typedef signed char loom_i8;
typedef unsigned char loom_u8;
typedef short loom_i16;
typedef unsigned short loom_u16;
typedef int loom_i32;
typedef unsigned int loom_u32;
typedef long long loom_i64;
typedef unsigned long long loom_u64;
typedef float loom_f32;
typedef double loom_f64;
typedef loom_u16 loom_bf16;
typedef loom_u8 loom_f8e4m3, loom_f8e5m2, loom_i1;
#ifndef LOOM_HOST
typedef unsigned int uint32_t; // also where a compiler brings its own
#endif
template <class T, class F> LOOM_FN T loom_bitcast(const F &f) {
  static_assert(sizeof(T) == sizeof(F), "a bit cast keeps the size");
  T t;
  LOOM_BUILTIN(memcpy)(&t, &f, sizeof(T));
  return t;
}
#ifndef __clang__
// What clang has as types of its own (vectors, memory that may alias, half) is
// written out for others.
#if defined(LOOM_CUDA)
#define LOOM_MEMBER __device__ __forceinline__
#else
#define LOOM_MEMBER inline
#endif
#endif
//@ LOOM_VEC loom_vec
#if defined(__clang__)
#define LOOM_VEC(T, N, NAME) typedef T NAME __attribute__((ext_vector_type(N)))
#else
template <class T, int N> struct loom_vec {
  T v[N];
  LOOM_MEMBER T &operator[](int i) { return v[i]; }
  LOOM_MEMBER const T &operator[](int i) const { return v[i]; }
};
#define LOOM_VEC_OP(OP)                                                                     \
  template <class T, int N> LOOM_FN loom_vec<T, N> operator OP(const loom_vec<T, N> &a, const loom_vec<T, N> &b) { \
    loom_vec<T, N> r;                                                                       \
    for (int i = 0; i < N; ++i) r.v[i] = (T)(a.v[i] OP b.v[i]);                             \
    return r;                                                                               \
  }
LOOM_VEC_OP(+)
LOOM_VEC_OP(-)
LOOM_VEC_OP(*)
LOOM_VEC_OP(/)
LOOM_VEC_OP(&)
LOOM_VEC_OP(|)
LOOM_VEC_OP(^)
#define LOOM_VEC(T, N, NAME) typedef loom_vec<T, N> NAME
#endif
//@ LOOM_MEM loom_mem
#if defined(__clang__)
#define LOOM_MEM(T, A, NAME) typedef T NAME __attribute__((aligned(A), may_alias))
#else
template <class T, int A> struct alignas(A) loom_mem {
  T v;
  LOOM_MEMBER operator T() const { return v; }
  LOOM_MEMBER loom_mem &operator=(const T &x) {
    v = x;
    return *this;
  }
};
#define LOOM_MEM(T, A, NAME) typedef loom_mem<T, A> NAME
#endif
//@ LOOM_LOAD_NT LOOM_STORE_NT
#if defined(LOOM_AMDGPU)
#define LOOM_LOAD_NT(T, p) __builtin_nontemporal_load((const T *)(p))
#define LOOM_STORE_NT(T, p, v) __builtin_nontemporal_store((v), (T *)(p))
#else
#define LOOM_LOAD_NT(T, p) (*(const T *)(p))
#define LOOM_STORE_NT(T, p, v) (*(T *)(p) = (v))
#endif
//@ loom_bits_f32 loom_f32_bits
LOOM_FN loom_f32 loom_bits_f32(loom_u32 b) { return loom_bitcast<loom_f32>(b); }
LOOM_FN loom_u32 loom_f32_bits(loom_f32 f) { return loom_bitcast<loom_u32>(f); }
//@ loom_bits_f64 loom_f64_bits
LOOM_FN loom_f64 loom_bits_f64(loom_u64 b) { return loom_bitcast<loom_f64>(b); }
LOOM_FN loom_u64 loom_f64_bits(loom_f64 f) { return loom_bitcast<loom_u64>(f); }
//@ loom_f16 loom_bits_f16 loom_f16_bits
#if defined(__clang__)
typedef _Float16 loom_f16;
#else
// Computes in f32, which rounds right for one operation.
struct loom_f16 {
  loom_u16 bits;
  loom_f16() = default;
  LOOM_MEMBER explicit loom_f16(loom_f32 f) : bits(narrow(f)) {}
  LOOM_MEMBER explicit loom_f16(loom_f64 d) : bits(narrow(odd(d))) {}
  LOOM_MEMBER explicit loom_f16(loom_i32 i) : bits(narrow((loom_f32)i)) {}
  LOOM_MEMBER explicit loom_f16(loom_u32 i) : bits(narrow((loom_f32)i)) {}
  LOOM_MEMBER explicit loom_f16(loom_i64 i) : bits(narrow((loom_f32)i)) {}
  LOOM_MEMBER explicit loom_f16(loom_u64 i) : bits(narrow((loom_f32)i)) {}
  LOOM_MEMBER explicit operator loom_f32() const { return widen(bits); }
  LOOM_MEMBER explicit operator loom_f64() const { return (loom_f64)widen(bits); }
  LOOM_MEMBER explicit operator loom_i32() const { return (loom_i32)widen(bits); }
  LOOM_MEMBER explicit operator loom_u32() const { return (loom_u32)widen(bits); }
  static LOOM_MEMBER loom_f32 odd(loom_f64 d) {
    const loom_f32 f = (loom_f32)d;
    loom_u32 b = loom_bitcast<loom_u32>(f);
    if ((loom_f64)f == d || d != d || (b & 1u) != 0u) return f;
    return loom_bitcast<loom_f32>(((loom_f64)f > d) == (d > 0.0) ? b - 1u : b + 1u);
  }
  static LOOM_MEMBER loom_u16 narrow(loom_f32 f) {
    const loom_u32 b = loom_bitcast<loom_u32>(f), s = (b >> 16) & 0x8000u, a = b & 0x7fffffffu;
    if (a > 0x7f800000u) return (loom_u16)(s | 0x7e00u | ((a >> 13) & 0x3ffu));
    if (a >= 0x477ff000u) return (loom_u16)(s | 0x7c00u);
    if (a < 0x33000000u) return (loom_u16)s;
    loom_u32 shift = 13u, m = a - 0x38000000u;
    if (a < 0x38800000u) {
      shift = 126u - (a >> 23);
      m = (a & 0x7fffffu) | 0x800000u;
    }
    const loom_u32 rest = m & ((1u << shift) - 1u), half = 1u << (shift - 1u), r = m >> shift;
    return (loom_u16)(s | (r + (rest > half || (rest == half && (r & 1u) != 0u) ? 1u : 0u)));
  }
  static LOOM_MEMBER loom_f32 widen(loom_u16 h) {
    const loom_u32 s = (loom_u32)(h & 0x8000u) << 16, e = (h >> 10) & 31u, m = h & 0x3ffu;
    if (e == 31u) return loom_bitcast<loom_f32>(s | 0x7f800000u | (m << 13) | (m != 0u ? 0x400000u : 0u));
    if (e == 0u) {
      const loom_f32 f = (loom_f32)m * 5.9604644775390625e-08f;
      return loom_bitcast<loom_f32>(s | loom_bitcast<loom_u32>(f));
    }
    return loom_bitcast<loom_f32>(s | ((e + 112u) << 23) | (m << 13));
  }
};
#define LOOM_HALF_OP(OP) LOOM_FN loom_f16 operator OP(loom_f16 a, loom_f16 b) { return (loom_f16)((loom_f32)a OP(loom_f32) b); }
LOOM_HALF_OP(+)
LOOM_HALF_OP(-)
LOOM_HALF_OP(*)
LOOM_HALF_OP(/)
#define LOOM_HALF_CMP(OP) LOOM_FN bool operator OP(loom_f16 a, loom_f16 b) { return (loom_f32)a OP(loom_f32) b; }
LOOM_HALF_CMP(==)
LOOM_HALF_CMP(!=)
LOOM_HALF_CMP(<)
LOOM_HALF_CMP(<=)
LOOM_HALF_CMP(>)
LOOM_HALF_CMP(>=)
LOOM_FN loom_f16 operator-(loom_f16 a) {
  a.bits ^= 0x8000u;
  return a;
}
#endif
LOOM_FN loom_f16 loom_bits_f16(loom_u16 b) { return loom_bitcast<loom_f16>(b); }
LOOM_FN loom_u16 loom_f16_bits(loom_f16 f) { return loom_bitcast<loom_u16>(f); }
