Mathematical functions in double precision. Neither the device compilers nor the
free-standing text have a library for them, so the same code runs everywhere. The
bounds hold for all arguments, subnormal ones and results included.

//@ loom_poly_f64
// Horner's rule with fused steps, highest coefficient first.
LOOM_FN loom_f64 loom_poly_f64(loom_f64, loom_f64 c) { return c; }
template <class... R> LOOM_FN loom_f64 loom_poly_f64(loom_f64 x, loom_f64 c, loom_f64 d, R... rest) { return loom_poly_f64(x, loom_fma_f64(c, x, d), rest...); }
//@ loom_ldexp_f64
LOOM_FN loom_f64 loom_ldexp_f64(loom_f64 x, loom_i32 n) { return LOOM_BUILTIN(ldexp)(x, n); }
//@ loom_inf_f64
LOOM_FN loom_f64 loom_inf_f64() { return loom_bits_f64(0x7ff0000000000000ull); }
//@ loom_nan_f64
LOOM_FN loom_f64 loom_nan_f64() { return loom_bits_f64(0x7ff8000000000000ull); }
//@ loom_exp_rest_f64
// x + l = n·ln2 + r + c with r at most ln2/2 and c a correction to it. |x| below 2^20.
LOOM_FN loom_i32 loom_exp_rest_f64(loom_f64 x, loom_f64 l, loom_f64 &r, loom_f64 &c) {
  const loom_f64 n = LOOM_BUILTIN(rint)(x * 0x1.71547652b82fep+0);
  const loom_f64 s = loom_fma_f64(n, -0x1.62e42fefp-1, x), t = n * 0x1.473de6af278edp-34, d = s - t;
  const loom_f64 b = ((s - d) - t) + loom_fma_f64(n, 0x1.9ff0342542fc3p-90, l);
  r = d + b;
  c = (d - r) + b;
  return (loom_i32)n;
}
//@ loom_exp_tail_f64
// e^(r + c) - 1 - r.
LOOM_FN loom_f64 loom_exp_tail_f64(loom_f64 r, loom_f64 c) {
  const loom_f64 q = loom_poly_f64(r, 0x1.61c2c1ba3877dp-33, 0x1.1f820dbf5e732p-29, 0x1.ae642ad2afd38p-26, 0x1.27e4d2841fc93p-22,
                                   0x1.71de3a5af94e9p-19, 0x1.a01a01aa828e2p-16, 0x1.a01a01a0195e6p-13, 0x1.6c16c16c158f5p-10,
                                   0x1.1111111111111p-7, 0x1.5555555555557p-5, 0x1.5555555555555p-3, 0.5);
  return loom_fma_f64(r * r, q, loom_fma_f64(r, c, c));
}
//@ loom_exp_parts_f64
// e^(x + l) = m·2^n with m near 1.
LOOM_FN loom_f64 loom_exp_parts_f64(loom_f64 x, loom_f64 l, loom_i32 &n) {
  loom_f64 r, c;
  n = loom_exp_rest_f64(x, l, r, c);
  return 1.0 + (r + loom_exp_tail_f64(r, c));
}
//@ loom_exp_f64
// 1 ulp.
LOOM_FN loom_f64 loom_exp_f64(loom_f64 x) {
  loom_i32 n;
  const loom_f64 m = loom_exp_parts_f64(x > -800.0 ? (x < 800.0 ? x : 800.0) : -800.0, 0.0, n);
  return x != x ? x : loom_ldexp_f64(m, n);
}
//@ loom_exp2_f64
// 1 ulp.
LOOM_FN loom_f64 loom_exp2_f64(loom_f64 x) {
  const loom_f64 y = x > -1100.0 ? (x < 1100.0 ? x : 1100.0) : -1100.0, n = LOOM_BUILTIN(rint)(y), f = y - n;
  const loom_f64 r = f * 0x1.62e42fefa39efp-1, c = loom_fma_f64(f, 0x1.62e42fefa39efp-1, -r) + f * 0x1.abc9e3b39803fp-56;
  return x != x ? x : loom_ldexp_f64(1.0 + (r + loom_exp_tail_f64(r, c)), (loom_i32)n);
}
//@ loom_expm1_f64
// e^x - 1, 1.5 ulp.
LOOM_FN loom_f64 loom_expm1_f64(loom_f64 x) {
  if (!(x < 710.0)) return x + loom_inf_f64();
  if (x < -45.0) return -1.0;
  loom_f64 r, c;
  const loom_i32 n = loom_exp_rest_f64(x, 0.0, r, c);
  const loom_f64 t = loom_exp_tail_f64(r, c);
  if (n == 0) return x == 0.0 ? x : r + t;
  const loom_f64 half = loom_ldexp_f64(1.0, n - 1);
  return ((half - 0.5) + loom_fma_f64(half, r, half * t)) * 2.0;
}
//@ loom_log_parts_f64
// ln(x) = e·ln2 + h + l for a positive finite x, h + l good to 2^-65 of itself and
// at most ln2/2.
LOOM_FN loom_i32 loom_log_parts_f64(loom_f64 x, loom_f64 &h, loom_f64 &l) {
  const bool tiny = x < 0x1p-1022;
  const loom_u64 b = loom_f64_bits(tiny ? x * 0x1p54 : x);
  const loom_i64 e = (loom_i64)(b - 0x3fe6a09e667f3bcdull) >> 52;
  const loom_f64 m = loom_bits_f64(b - ((loom_u64)e << 52));
  const loom_f64 f = m - 1.0, d = m + 1.0, dl = m - (d - 1.0), inv = 1.0 / d;
  const loom_f64 s = f * inv, sl = (loom_fma_f64(-s, d, f) - s * dl) * inv;
  const loom_f64 z = s * s, zl = loom_fma_f64(s, s, -z) + 2.0 * s * sl;
  const loom_f64 q = z * loom_poly_f64(z, 0x1.7de1ab5231d15p-5, 0x1.603c6be1a0367p-5, 0x1.86412c9991ce2p-5, 0x1.af2766ea4146fp-5,
                                       0x1.e1e1e60e64141p-5, 0x1.1111110b963e2p-4, 0x1.3b13b13b1ca6ep-4, 0x1.745d1745d16bdp-4,
                                       0x1.c71c71c71c71dp-4, 0x1.2492492492492p-3, 0x1.999999999999ap-3);
  const loom_f64 th = 0x1.5555555555555p-2 + q, tl = (q - (th - 0x1.5555555555555p-2)) + 0x1.5555555555555p-56;
  const loom_f64 w = z * th, wl = loom_fma_f64(z, th, -w) + (z * tl + zl * th);
  const loom_f64 v = s * w, vl = loom_fma_f64(s, w, -v) + (s * wl + sl * w);
  const loom_f64 a = s + v;
  h = 2.0 * a;
  l = 2.0 * (((s - a) + v) + (sl + vl));
  return (loom_i32)e - (tiny ? 54 : 0);
}
//@ loom_log_sum_f64
// ln(x) as a sum of two.
LOOM_FN void loom_log_sum_f64(loom_f64 x, loom_f64 &h, loom_f64 &l) {
  loom_f64 a, b;
  const loom_f64 e = (loom_f64)loom_log_parts_f64(x, a, b), s = e * 0x1.62e42fefp-1;
  const loom_f64 t = s + a, u = (e == 0.0 ? 0.0 : (s - t) + a) + loom_fma_f64(e, 0x1.473de6af278edp-34, b);
  h = t + u;
  l = (t - h) + u;
}
//@ loom_log_edge_f64
// The logarithm of what is not positive and finite.
LOOM_FN loom_f64 loom_log_edge_f64(loom_f64 x) { return x == 0.0 ? -loom_inf_f64() : x < 0.0 ? loom_nan_f64() : x; }
//@ loom_log_f64
// 1 ulp.
LOOM_FN loom_f64 loom_log_f64(loom_f64 x) {
  if (!(x > 0.0 && x < loom_inf_f64())) return loom_log_edge_f64(x);
  loom_f64 h, l;
  loom_log_sum_f64(x, h, l);
  return h + l;
}
//@ loom_log2_f64
// 1 ulp.
LOOM_FN loom_f64 loom_log2_f64(loom_f64 x) {
  if (!(x > 0.0 && x < loom_inf_f64())) return loom_log_edge_f64(x);
  loom_f64 h, l;
  const loom_f64 e = (loom_f64)loom_log_parts_f64(x, h, l);
  const loom_f64 g = h * 0x1.71547652b82fep+0;
  const loom_f64 gl = loom_fma_f64(h, 0x1.71547652b82fep+0, -g) + (h * 0x1.777d0ffda0d24p-56 + l * 0x1.71547652b82fep+0);
  const loom_f64 s = e + g;
  return s + ((e == 0.0 ? 0.0 : (e - s) + g) + gl);
}
//@ loom_log10_f64
// 1 ulp.
LOOM_FN loom_f64 loom_log10_f64(loom_f64 x) {
  if (!(x > 0.0 && x < loom_inf_f64())) return loom_log_edge_f64(x);
  loom_f64 h, l;
  loom_log_sum_f64(x, h, l);
  const loom_f64 g = h * 0x1.bcb7b1526e50ep-2;
  return g + (loom_fma_f64(h, 0x1.bcb7b1526e50ep-2, -g) + (h * 0x1.95355baaafad3p-57 + l * 0x1.bcb7b1526e50ep-2));
}
//@ loom_log1p_f64
// ln(1 + x), 1.5 ulp.
LOOM_FN loom_f64 loom_log1p_f64(loom_f64 x) {
  if (!(x > -1.0 && x < loom_inf_f64())) return loom_log_edge_f64(x == -1.0 ? 0.0 : x);
  if (loom_abs_f64(x) < 0x1p-54) return x;
  const loom_f64 u = 1.0 + x, lost = x > 1.0 ? 1.0 - (u - x) : x - (u - 1.0);
  loom_f64 h, l;
  loom_log_sum_f64(u, h, l);
  return h + (l + lost / u);
}
//@ loom_pow_f64
// x^y, 1 ulp.
LOOM_FN loom_f64 loom_pow_f64(loom_f64 x, loom_f64 y) {
  const loom_f64 inf = loom_inf_f64();
  if (y == 0.0 || x == 1.0) return 1.0;
  if (x != x || y != y) return x + y;
  const loom_f64 ay = loom_abs_f64(y), ax = loom_abs_f64(x);
  const bool whole = ay >= 0x1p52 || LOOM_BUILTIN(trunc)(y) == y;
  const bool odd = whole && ay < 0x1p53 && ((loom_u64)ay & 1u) != 0u;
  const loom_f64 sign = odd ? loom_copysign_f64(1.0, x) : 1.0;
  if (ay == inf) return ax == 1.0 ? 1.0 : (ax > 1.0) == (y > 0.0) ? inf : 0.0;
  if (ax == 0.0 || ax == inf) return sign * ((ax == 0.0) == (y > 0.0) ? 0.0 : inf);
  if (x < 0.0 && !whole) return loom_nan_f64();
  loom_f64 h, l;
  loom_log_sum_f64(ax, h, l);
  const loom_f64 p = y * h;
  if (p > 710.0) return sign * inf;
  if (p < -746.0) return sign * 0.0;
  loom_i32 n;
  const loom_f64 m = loom_exp_parts_f64(p, loom_fma_f64(y, h, -p) + y * l, n);
  return sign * loom_ldexp_f64(m, n);
}
//@ loom_cbrt_f64
// 1 ulp.
LOOM_FN loom_f64 loom_cbrt_f64(loom_f64 x) {
  const loom_f64 a = loom_abs_f64(x);
  if (!(a < loom_inf_f64()) || a == 0.0) return x;
  const bool tiny = a < 0x1p-900, huge = a > 0x1p900;
  const loom_f64 m = tiny ? a * 0x1p150 : huge ? a * 0x1p-150 : a;
  loom_f64 y = loom_bits_f64(loom_f64_bits(m) / 3u + 0x2a9f789300000000ull);
  for (int i = 0; i < 3; ++i) {
    const loom_f64 c = y * y * y;
    y = y * ((c + m + m) / (c + c + m));
  }
  const loom_f64 y2 = y * y, e = loom_fma_f64(y, y, -y2);
  const loom_f64 c = y2 * y, d = loom_fma_f64(y2, y, -c) + e * y;
  y = y - ((c - m) + d) / (3.0 * y2);
  return loom_copysign_f64(tiny ? y * 0x1p-50 : huge ? y * 0x1p50 : y, x);
}
//@ loom_sinh_f64
// 2.5 ulp.
LOOM_FN loom_f64 loom_sinh_f64(loom_f64 x) {
  const loom_f64 a = loom_abs_f64(x);
  loom_f64 r;
  if (a < 22.0) {
    const loom_f64 t = loom_expm1_f64(a);
    r = a < 1.0 ? 0.5 * (2.0 * t - t * t / (t + 1.0)) : 0.5 * (t + t / (t + 1.0));
  } else {
    loom_i32 n;
    const loom_f64 m = loom_exp_parts_f64(a < 800.0 ? a : 800.0, 0.0, n);
    r = loom_ldexp_f64(m, n - 1);
  }
  return x != x || a < 0x1p-28 ? x : loom_copysign_f64(r, x);
}
//@ loom_cosh_f64
// 2 ulp.
LOOM_FN loom_f64 loom_cosh_f64(loom_f64 x) {
  const loom_f64 a = loom_abs_f64(x);
  loom_i32 n;
  const loom_f64 m = loom_exp_parts_f64(a < 800.0 ? a : 800.0, 0.0, n);
  const loom_f64 h = loom_ldexp_f64(m, n - 1);
  return x != x ? x : a < 22.0 ? h + 0.25 / h : h;
}
//@ loom_tanh_f64
// 2.5 ulp.
LOOM_FN loom_f64 loom_tanh_f64(loom_f64 x) {
  const loom_f64 a = loom_abs_f64(x);
  const loom_f64 t = loom_expm1_f64(a < 1.0 ? -2.0 * a : a < 22.0 ? 2.0 * a : 44.0);
  const loom_f64 r = a < 1.0 ? -t / (t + 2.0) : 1.0 - 2.0 / (t + 2.0);
  return x != x || a < 0x1p-28 ? x : loom_copysign_f64(r, x);
}
//@ loom_asinh_f64
// 2.5 ulp.
LOOM_FN loom_f64 loom_asinh_f64(loom_f64 x) {
  const loom_f64 a = loom_abs_f64(x);
  loom_f64 r;
  if (a > 0x1p28) {
    r = loom_log_f64(a) + 0x1.62e42fefa39efp-1;
  } else if (a > 2.0) {
    r = loom_log_f64(2.0 * a + 1.0 / (LOOM_BUILTIN(sqrt)(a * a + 1.0) + a));
  } else {
    const loom_f64 z = a * a;
    r = loom_log1p_f64(a + z / (1.0 + LOOM_BUILTIN(sqrt)(1.0 + z)));
  }
  return x != x || a < 0x1p-28 ? x : loom_copysign_f64(r, x);
}
//@ loom_acosh_f64
// 2.5 ulp.
LOOM_FN loom_f64 loom_acosh_f64(loom_f64 x) {
  if (x > 0x1p28) return loom_log_f64(x) + 0x1.62e42fefa39efp-1;
  if (!(x >= 1.0)) return loom_nan_f64();
  if (x > 2.0) return loom_log_f64(2.0 * x - 1.0 / (x + LOOM_BUILTIN(sqrt)(x * x - 1.0)));
  const loom_f64 t = x - 1.0;
  return loom_log1p_f64(t + LOOM_BUILTIN(sqrt)(loom_fma_f64(t, t, 2.0 * t)));
}
//@ loom_atanh_f64
// 2.5 ulp.
LOOM_FN loom_f64 loom_atanh_f64(loom_f64 x) {
  const loom_f64 a = loom_abs_f64(x), t = a + a;
  const loom_f64 r = 0.5 * loom_log1p_f64(a < 0.5 ? t + t * a / (1.0 - a) : t / (1.0 - a));
  return x != x || a < 0x1p-28 ? x : loom_copysign_f64(r, x);
}
//@ loom_asin_core_f64
// asin(x) - x for |x| at most 1/2, z = x².
LOOM_FN loom_f64 loom_asin_core_f64(loom_f64 x, loom_f64 z) {
  return x * z * loom_poly_f64(z, 0x1.e58a4f278e007p-6, -0x1.3bd7e353ddbc2p-6, 0x1.40c91fa8deb7ep-6, 0x1.8dcdf11997e0fp-9, 0x1.31777489dfd29p-7,
                               0x1.3b462d121c5d2p-7, 0x1.7b02ef007d23ep-7, 0x1.c990a42b32b03p-7, 0x1.1c4efd20ebb99p-6, 0x1.6e8ba121b9d5fp-6,
                               0x1.f1c71c7a5e151p-6, 0x1.6db6db6dac0eap-5, 0x1.3333333333389p-4, 0x1.5555555555555p-3);
}
//@ loom_asin_half_f64
// asin of the root of z = (1 - |x|)/2, as a sum.
LOOM_FN loom_f64 loom_asin_half_f64(loom_f64 z, loom_f64 &low) {
  const loom_f64 s = LOOM_BUILTIN(sqrt)(z);
  low = loom_asin_core_f64(s, z) + (s > 0.0 ? loom_fma_f64(-s, s, z) / (s + s) : 0.0);
  return s;
}
//@ loom_asin_f64
// 1.5 ulp.
LOOM_FN loom_f64 loom_asin_f64(loom_f64 x) {
  const loom_f64 a = loom_abs_f64(x);
  if (a < 0.5) return x + loom_asin_core_f64(x, x * x);
  loom_f64 l;
  const loom_f64 s = loom_asin_half_f64(0.5 * (1.0 - a), l);
  const loom_f64 r = (0x1.921fb54442d18p+0 - 2.0 * s) - (2.0 * l - 0x1.1a62633145c07p-54);
  return x != x ? x : loom_copysign_f64(r, x);
}
//@ loom_acos_f64
// 1.5 ulp.
LOOM_FN loom_f64 loom_acos_f64(loom_f64 x) {
  const loom_f64 a = loom_abs_f64(x);
  if (a < 0.5) return 0x1.921fb54442d18p+0 - (x - (0x1.1a62633145c07p-54 - loom_asin_core_f64(x, x * x)));
  loom_f64 l;
  const loom_f64 s = loom_asin_half_f64(0.5 * (1.0 - a), l);
  return x > 0.0 ? 2.0 * (s + l) : 2.0 * (0x1.921fb54442d18p+0 - (s + (l - 0x1.1a62633145c07p-54)));
}
//@ loom_atan_f64
// 1 ulp.
LOOM_FN loom_f64 loom_atan_f64(loom_f64 x) {
  const loom_f64 a = loom_abs_f64(x);
  loom_f64 t, h, l;
  if (a < 0.4375) t = a, h = 0.0, l = 0.0;
  else if (a < 0.6875) t = (2.0 * a - 1.0) / (2.0 + a), h = 0x1.dac670561bb4fp-2, l = 0x1.a2b7f222f65e2p-56;
  else if (a < 1.1875) t = (a - 1.0) / (a + 1.0), h = 0x1.921fb54442d18p-1, l = 0x1.1a62633145c07p-55;
  else if (a < 2.4375) t = (a - 1.5) / (1.0 + 1.5 * a), h = 0x1.f730bd281f69bp-1, l = 0x1.007887af0cbbdp-56;
  else t = -1.0 / a, h = 0x1.921fb54442d18p+0, l = 0x1.1a62633145c07p-54;
  const loom_f64 z = t * t;
  const loom_f64 p = t * z * loom_poly_f64(z, 0x1.e3a13d4845b1dp-7, -0x1.0f4536c8e1d9bp-5, 0x1.6ff4b115a6e54p-5, -0x1.ab56913db3abbp-5,
                                           0x1.e1700656c4be8p-5, -0x1.110c96ff0da2ap-4, 0x1.3b13757053bf2p-4, -0x1.745d1548e3594p-4,
                                           0x1.c71c71bd16af7p-4, -0x1.249249248531ap-3, 0x1.99999999998c3p-3, -0x1.5555555555555p-2);
  return x != x ? x : loom_copysign_f64(h == 0.0 ? t + p : h + ((p + l) + t), x);
}
//@ loom_atan2_f64
// 2 ulp.
LOOM_FN loom_f64 loom_atan2_f64(loom_f64 y, loom_f64 x) {
  if (x != x || y != y) return x + y;
  const loom_f64 ax = loom_abs_f64(x), ay = loom_abs_f64(y), inf = loom_inf_f64();
  loom_f64 r = ax == inf && ay == inf ? 0x1.921fb54442d18p-1 : ay == 0.0 ? 0.0 : loom_atan_f64(ay / ax);
  if (loom_f64_bits(x) >> 63) r = 0x1.921fb54442d18p+1 - (r - 0x1.1a62633145c07p-53);
  return loom_copysign_f64(r, y);
}
//@ loom_mulhi_u64
LOOM_FN loom_u64 loom_mulhi_u64(loom_u64 a, loom_u64 b) {
#if defined(LOOM_CUDA)
  return __umul64hi(a, b);
#else
  return (loom_u64)(((unsigned __int128)a * b) >> 64);
#endif
}
//@ loom_two_over_pi
// Word i of the bits of 2/pi after the binary point; word 0 is zero.
LOOM_FN loom_u64 loom_two_over_pi(loom_u32 i) {
  static const loom_u64 word[21] = {
      0ull, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull,
      0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull,
      0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
      0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull};
  return word[i];
}
//@ loom_reduce_big_f64
// Quadrant and remainder, as a sum, of an angle of at least 2^30: m·2^e times a
// window of the bits of 2/pi whose first bit weighs 2.
LOOM_FN loom_u32 loom_reduce_big_f64(loom_f64 a, loom_f64 &h, loom_f64 &l) {
  const loom_u64 b = loom_f64_bits(a), m = (b & 0xfffffffffffffull) | 0x10000000000000ull;
  const loom_u32 skip = (loom_u32)(b >> 52) - 1075u - 2u + 64u, i = skip >> 6, k = skip & 63u;
  const loom_u64 t0 = loom_two_over_pi(i), t1 = loom_two_over_pi(i + 1u), t2 = loom_two_over_pi(i + 2u), t3 = loom_two_over_pi(i + 3u);
  const loom_u64 w0 = k == 0u ? t0 : (t0 << k) | (t1 >> (64u - k));
  const loom_u64 w1 = k == 0u ? t1 : (t1 << k) | (t2 >> (64u - k));
  const loom_u64 w2 = k == 0u ? t2 : (t2 << k) | (t3 >> (64u - k));
  const loom_u64 low = m * w2, mid = m * w1 + loom_mulhi_u64(m, w2);
  const loom_u64 top = m * w0 + loom_mulhi_u64(m, w1) + (mid < m * w1 ? 1u : 0u);
  loom_u32 q = (loom_u32)(top >> 62);
  loom_u64 f1 = (top << 2) | (mid >> 62), f0 = (mid << 2) | (low >> 62);
  const bool neg = (f1 >> 63) != 0u;
  if (neg) {
    ++q;
    f0 = 0u - f0;
    f1 = ~f1 + (f0 == 0u ? 1u : 0u);
  }
  const loom_u32 c = (loom_u32)loom_ctlz_u64(f1 | 1u);
  if (c != 0u) {
    f1 = (f1 << c) | (f0 >> (64u - c));
    f0 <<= c;
  }
  const loom_f64 scale = loom_bits_f64((loom_u64)(1023u - c + (neg ? 2048u : 0u)) << 52);
  const loom_f64 fh = (loom_f64)(f1 >> 11) * 0x1p-53, fl = (loom_f64)((f1 << 53) | (f0 >> 11)) * 0x1p-117;
  const loom_f64 r = fh * 0x1.921fb54442d18p+0;
  l = scale * (loom_fma_f64(fh, 0x1.921fb54442d18p+0, -r) + (fh * 0x1.1a62633145c07p-54 + fl * 0x1.921fb54442d18p+0));
  h = scale * r;
  return q;
}
//@ loom_reduce_angle_f64
// x = q·pi/2 + h + l, |h| at most pi/4 and a little.
LOOM_FN loom_u32 loom_reduce_angle_f64(loom_f64 x, loom_f64 &h, loom_f64 &l) {
  const loom_f64 a = loom_abs_f64(x);
  if (a < 0x1p30) {
    const loom_f64 n = LOOM_BUILTIN(rint)(x * 0x1.45f306dc9c883p-1);
    const loom_f64 s = loom_fma_f64(n, -0x1.921fb54442d18p+0, x); // exact
    const loom_f64 t = n * 0x1.1a62633145c07p-54, tl = loom_fma_f64(n, 0x1.1a62633145c07p-54, -t);
    h = s - t;
    const loom_f64 back = h - s;
    l = ((s - (h - back)) - (t + back)) - (tl - n * 0x1.f1976b7ed8fbcp-110);
    return (loom_u32)(loom_i32)n;
  }
  if (!(a < loom_inf_f64())) {
    h = x - x;
    l = 0.0;
    return 0u;
  }
  const loom_u32 q = loom_reduce_big_f64(a, h, l);
  if (x > 0.0) return q;
  h = -h;
  l = -l;
  return 0u - q;
}
//@ loom_sin_core_f64
LOOM_FN loom_f64 loom_sin_core_f64(loom_f64 h, loom_f64 l) {
  const loom_f64 z = h * h;
  const loom_f64 q = loom_poly_f64(z, -0x1.ab066192d3e8fp-41, 0x1.612161267019ep-33, -0x1.ae6453ecab5c4p-26, 0x1.71de3a544a6cep-19,
                                   -0x1.a01a01a01988p-13, 0x1.111111111111p-7, -0x1.5555555555555p-3);
  return h + loom_fma_f64(h * z, q, loom_fma_f64(-0.5 * z, l, l));
}
//@ loom_cos_core_f64
LOOM_FN loom_f64 loom_cos_core_f64(loom_f64 h, loom_f64 l) {
  const loom_f64 z = h * h, half = 0.5 * z, w = 1.0 - half;
  const loom_f64 q = loom_poly_f64(z, 0x1.ab68d5c08a457p-45, -0x1.93949f74df9adp-37, 0x1.1eed8ddaa539p-29, -0x1.27e4fb7708fb2p-22,
                                   0x1.a01a01a019cb8p-16, -0x1.6c16c16c16c16p-10, 0x1.5555555555555p-5);
  return w + (((1.0 - w) - half) + loom_fma_f64(z * z, q, -h * l));
}
//@ loom_sin_f64
// 1 ulp.
LOOM_FN loom_f64 loom_sin_f64(loom_f64 x) {
  loom_f64 h, l;
  const loom_u32 q = loom_reduce_angle_f64(x, h, l);
  const loom_f64 s = (q & 1u) ? loom_cos_core_f64(h, l) : x == 0.0 ? x : loom_sin_core_f64(h, l);
  return (q & 2u) ? -s : s;
}
//@ loom_cos_f64
// 1 ulp.
LOOM_FN loom_f64 loom_cos_f64(loom_f64 x) {
  loom_f64 h, l;
  const loom_u32 q = loom_reduce_angle_f64(x, h, l);
  const loom_f64 s = (q & 1u) ? loom_sin_core_f64(h, l) : loom_cos_core_f64(h, l);
  return ((q + 1u) & 2u) ? -s : s;
}
//@ loom_tan_f64
// 2 ulp.
LOOM_FN loom_f64 loom_tan_f64(loom_f64 x) {
  loom_f64 h, l;
  const loom_u32 q = loom_reduce_angle_f64(x, h, l);
  const loom_f64 s = loom_sin_core_f64(h, l), c = loom_cos_core_f64(h, l);
  return x == 0.0 ? x : (q & 1u) ? -c / s : s / c;
}
//@ loom_turn_parts_f64
// 2·pi·x = q·pi/2 + h + l.
LOOM_FN loom_u32 loom_turn_parts_f64(loom_f64 x, loom_f64 &h, loom_f64 &l) {
  const loom_f64 t = x - LOOM_BUILTIN(rint)(x), n = LOOM_BUILTIN(rint)(4.0 * t), r = loom_fma_f64(-0.25, n, t);
  h = r * 0x1.921fb54442d18p+2;
  l = loom_fma_f64(r, 0x1.921fb54442d18p+2, -h) + r * 0x1.1a62633145c07p-52;
  return (loom_u32)(loom_i32)n;
}
//@ loom_sinturns_f64
// sin(2·pi·x), 1 ulp.
LOOM_FN loom_f64 loom_sinturns_f64(loom_f64 x) {
  loom_f64 h, l;
  const loom_u32 q = loom_turn_parts_f64(x, h, l);
  const loom_f64 s = (q & 1u) ? loom_cos_core_f64(h, l) : loom_sin_core_f64(h, l);
  return h == 0.0 && (q & 1u) == 0u ? loom_copysign_f64(0.0, x) : (q & 2u) ? -s : s;
}
//@ loom_costurns_f64
// cos(2·pi·x), 1 ulp.
LOOM_FN loom_f64 loom_costurns_f64(loom_f64 x) {
  loom_f64 h, l;
  const loom_u32 q = loom_turn_parts_f64(x, h, l);
  const loom_f64 s = (q & 1u) ? loom_sin_core_f64(h, l) : loom_cos_core_f64(h, l);
  return (((q + 1u) & 2u) ? -s : s) + 0.0;
}
//@ loom_erfcx_f64
// e^(a²)·erfc(a) for a from 0 to 28.5.
LOOM_FN loom_f64 loom_erfcx_f64(loom_f64 a) {
  const loom_f64 t = (a - 4.0) / (a + 4.0);
  const loom_f64 q = loom_poly_f64(t, 0x1.58a12a6de32b3p-30, 0x1.f8e6ce33532f4p-30, -0x1.e45a279d29f94p-27, -0x1.33de9402c1f5dp-26,
                                   0x1.d8f553235570ep-24, 0x1.4093bbdb2244ap-24, -0x1.bb383d84837e4p-21, 0x1.3b7bf198a88ddp-22,
                                   0x1.7f2e89022af89p-18, -0x1.788cb6125d278p-17, -0x1.995a165bfb90ap-16, 0x1.3be068468cff1p-13,
                                   -0x1.a1df1d0157977p-13, -0x1.8d4a9c358d161p-11, 0x1.49c672795ae39p-8, -0x1.096238829a103p-6,
                                   0x1.3079edf6afb72p-5, -0x1.0fb06dfe55b64p-4, 0x1.7fee004e11047p-4, -0x1.9ddb23c3e88bdp-4,
                                   0x1.16ecefcfa542p-4, 0x1.f7f5df66fd6b2p-7, -0x1.1df1ad154a28fp-3, 0x1.3ba5916e9fd7fp+0);
  return q / loom_fma_f64(2.0, a, 1.0);
}
//@ loom_erfc_tail_f64
// c·erfc(a) for a from 0 to 27.5.
LOOM_FN loom_f64 loom_erfc_tail_f64(loom_f64 a, loom_f64 c) {
  const loom_f64 s = a * a;
  loom_i32 n;
  const loom_f64 m = loom_exp_parts_f64(-s, -loom_fma_f64(a, a, -s), n);
  return loom_ldexp_f64(c * (m * loom_erfcx_f64(a)), n);
}
//@ loom_erf_f64
// 1.5 ulp.
LOOM_FN loom_f64 loom_erf_f64(loom_f64 x) {
  const loom_f64 a = loom_abs_f64(x), z = x * x;
  if (a < 1.0)
    return loom_fma_f64(x, loom_poly_f64(z, -0x1.29b9f1b3df556p-38, 0x1.7f072188e194dp-34, -0x1.4e607b41a6416p-30, 0x1.fc4356498c2d9p-27,
                                         -0x1.5f6d925a0bc7ap-23, 0x1.b9e6509b9867dp-20, -0x1.f4d2561aeafd4p-17, 0x1.f9a326c233146p-14,
                                         -0x1.c02db3feeb579p-11, 0x1.565bcd0e6502dp-8, -0x1.b82ce312889bap-6, 0x1.ce2f21a042bdep-4,
                                         -0x1.812746b0379e7p-2, 0x1.06eba8214db69p-3), x);
  return x != x ? x : loom_copysign_f64(1.0 - loom_erfc_tail_f64(a < 6.0 ? a : 6.0, 1.0), x);
}
//@ loom_erfc_f64
// 4 ulp, tails included.
LOOM_FN loom_f64 loom_erfc_f64(loom_f64 x) {
  const loom_f64 a = loom_abs_f64(x), r = loom_erfc_tail_f64(a < 27.5 ? a : 27.5, 1.0);
  return x != x ? x : a < 0.5 ? 1.0 - loom_erf_f64(x) : x >= 0.0 ? r : 2.0 - r;
}
//@ loom_gate_f64
// x/(1 + e^-(u + l)); x itself or zero where u is large.
LOOM_FN loom_f64 loom_gate_f64(loom_f64 x, loom_f64 u, loom_f64 l) {
  const loom_f64 a = loom_abs_f64(u);
  loom_i32 n;
  const loom_f64 m = loom_exp_parts_f64(a < 1500.0 ? -a : -1500.0, u > 0.0 ? -l : l, n), e = loom_ldexp_f64(m, n);
  if (a >= 1500.0) return u > 0.0 ? x : loom_copysign_f64(0.0, x);
  return u >= 0.0 ? x / (1.0 + e) : loom_ldexp_f64((x * m) / (1.0 + e), n);
}
//@ loom_logistic_f64
// 1/(1 + e^-x), 2 ulp.
LOOM_FN loom_f64 loom_logistic_f64(loom_f64 x) { return x != x ? x : loom_gate_f64(1.0, x, 0.0); }
//@ loom_silu_f64
// x/(1 + e^-x), 2.5 ulp; -infinity gives -0.
LOOM_FN loom_f64 loom_silu_f64(loom_f64 x) { return x != x ? x : loom_gate_f64(x, x, 0.0); }
//@ loom_softplus_f64
// ln(1 + e^x), 2 ulp.
LOOM_FN loom_f64 loom_softplus_f64(loom_f64 x) {
  const loom_f64 l = loom_log1p_f64(loom_exp_f64(-loom_abs_f64(x)));
  return x != x ? x : (x > 0.0 ? x : 0.0) + l;
}
//@ loom_gelu_erf_f64
// x·(1 + erf(x/sqrt 2))/2, 5 ulp, tail included.
LOOM_FN loom_f64 loom_gelu_erf_f64(loom_f64 x) {
  const loom_f64 a = loom_abs_f64(x), g = a < 40.0 ? a : 40.0, z = g * 0x1.6a09e667f3bcdp-1;
  // e^(-z²) is e^(-a²/2), whose argument needs no root.
  const loom_f64 s = 0.5 * g * g;
  loom_i32 n;
  const loom_f64 m = loom_exp_parts_f64(-s, -loom_fma_f64(0.5 * g, g, -s), n) * loom_erfcx_f64(z);
  const loom_f64 r = x > 0.0 ? 0.5 * x * (2.0 - loom_ldexp_f64(m, n)) : loom_ldexp_f64(0.5 * x * m, n);
  return x != x || x > 40.0 ? x : x < -40.0 ? -0.0 : r;
}
//@ loom_gelu_tanh_f64
// x·(1 + tanh(sqrt(2/pi)·(x + 0.044715·x^3)))/2, 2.5 ulp, tail included.
LOOM_FN loom_f64 loom_gelu_tanh_f64(loom_f64 x) {
  const loom_f64 C = 0x1.2444f2a4d8b4bp-4, Cl = -0x1.6c843a29d1c7p-61, D = 0x1.9884533d43651p+0, Dl = -0x1.cbc0d30ebfd15p-54;
  const loom_f64 z = x * x, zl = loom_fma_f64(x, x, -z);
  const loom_f64 p = z * C, pl = loom_fma_f64(z, C, -p) + (z * Cl + zl * C);
  const loom_f64 w = p + D, b = w - p, wl = ((p - (w - b)) + (D - b)) + (pl + Dl);
  const loom_f64 u = x * w, ul = loom_fma_f64(x, w, -u) + x * wl;
  return x != x || x > 64.0 ? x : x < -64.0 ? -0.0 : loom_gate_f64(x, u, ul);
}
//@ loom_gelu_logistic_f64
// x/(1 + e^(-scale·x)), 2.5 ulp.
LOOM_FN loom_f64 loom_gelu_logistic_f64(loom_f64 x, loom_f64 scale) {
  const loom_f64 u = scale * x;
  return x != x ? x : loom_gate_f64(x, u, loom_abs_f64(u) < 2000.0 ? loom_fma_f64(scale, x, -u) : 0.0);
}
