package target

// rows lists every selector an amdgpu.target record may name, plus the
// reference target. It is the one place where processors are described.
func rows() []row {
	gfx9 := limits{lds: 64 << 10, waves: []int{64}}
	gfx950 := limits{lds: 160 << 10, waves: []int{64}}
	rdna := limits{lds: 64 << 10, waves: []int{32, 64}}
	gfx125 := limits{lds: 320 << 10, waves: []int{32}}

	// MI300 dropped the short i8 shapes of MI200 for ones of twice the depth.
	mi200 := append(mfma(), mfma90a()...)
	mi300 := append(mfma(), mfma942()...)
	mi350 := append(append(mfma(), mfma942()...), mfma950()...)

	return []row{
		{name: "gfx90a", family: "gfx9", limits: gfx9, matrix: mi200},
		{name: "gfx942", family: "gfx9", limits: gfx9, matrix: mi300, generics: []string{"gfx9-4-generic"}},
		{name: "gfx950", family: "gfx9", limits: gfx950, matrix: mi350, generics: []string{"gfx9-4-generic"}},
		{name: "gfx9-4-generic", family: "gfx9", limits: gfx9, matrix: mi300, generic: true},

		{name: "gfx1100", family: "gfx11", limits: rdna, matrix: wmma11(), generics: []string{"gfx11-generic"}},
		{name: "gfx1101", family: "gfx11", limits: rdna, matrix: wmma11(), generics: []string{"gfx11-generic"}},
		{name: "gfx1102", family: "gfx11", limits: rdna, matrix: wmma11(), generics: []string{"gfx11-generic"}},
		{name: "gfx1103", family: "gfx11", limits: rdna, matrix: wmma11(), generics: []string{"gfx11-generic"}},
		{name: "gfx1150", family: "gfx11", limits: rdna, matrix: wmma11(), generics: []string{"gfx11-generic"}},
		{name: "gfx1151", family: "gfx11", limits: rdna, matrix: wmma11(), generics: []string{"gfx11-generic"}},
		{name: "gfx1152", family: "gfx11", limits: rdna, matrix: wmma11(), generics: []string{"gfx11-generic"}},
		{name: "gfx1153", family: "gfx11", limits: rdna, matrix: wmma11(), generics: []string{"gfx11-generic"}},
		{name: "gfx11-generic", family: "gfx11", limits: rdna, matrix: wmma11(), generic: true},

		// gfx1170 is an RDNA 4 derivative that keeps a gfx11 number.
		{name: "gfx1170", family: "gfx12", limits: rdna, matrix: wmma12()},
		{name: "gfx1200", family: "gfx12", limits: rdna, matrix: wmma12(), generics: []string{"gfx12-generic"}},
		{name: "gfx1201", family: "gfx12", limits: rdna, matrix: wmma12(), generics: []string{"gfx12-generic"}},
		{name: "gfx12-generic", family: "gfx12", limits: rdna, matrix: wmma12(), generic: true},

		{name: "gfx1250", family: "gfx12.5", limits: gfx125, matrix: wmma125(), generics: []string{"gfx12-5-generic"}},
		{name: "gfx12-5-generic", family: "gfx12.5", limits: gfx125, matrix: wmma125(), generic: true},

		// The reference executor runs any wave size and any matrix shape of the
		// table; it takes gfx11's because that is what the corpora are written for.
		{name: Reference, family: Reference, limits: rdna, matrix: wmma11()},
	}
}

type limits struct {
	lds   int
	waves []int // default first
}

type row struct {
	name, family string
	limits
	matrix   []MatrixShape
	generic  bool
	generics []string // generic selectors whose code runs here
}

// Lanes per vector follow the way the language writes fragments: sub-byte and
// byte codes count as elements, whatever registers carry them.

// wmma11 holds the RDNA 3 and 3.5 shapes. Operands are replicated over the
// halves of the wave, so a lane always holds a whole row or column; 16-bit
// accumulators use one half of each 32-bit register, so they have twice the
// lanes of what they hold.
func wmma11() []MatrixShape {
	var out []MatrixShape
	for _, w := range []int{32, 64} {
		f32 := 16 * 16 / w
		out = append(out,
			MatrixShape{16, 16, 16, "f16", "f32", w, 16, f32},
			MatrixShape{16, 16, 16, "bf16", "f32", w, 16, f32},
			MatrixShape{16, 16, 16, "f16", "f16", w, 16, 2 * f32},
			MatrixShape{16, 16, 16, "bf16", "bf16", w, 16, 2 * f32},
			MatrixShape{16, 16, 16, "i8", "i32", w, 16, f32},
			MatrixShape{16, 16, 16, "i4", "i32", w, 16, f32},
		)
	}
	return out
}

// wmma12 holds the RDNA 4 shapes: no replication, packed 16-bit accumulators.
func wmma12() []MatrixShape {
	var out []MatrixShape
	for _, w := range []int{32, 64} {
		n := 16 * 16 / w
		for _, p := range [][2]string{{"f16", "f32"}, {"bf16", "f32"}, {"f16", "f16"}, {"bf16", "bf16"},
			{"f8E4M3", "f32"}, {"f8E5M2", "f32"}, {"i8", "i32"}, {"i4", "i32"}} {
			out = append(out, MatrixShape{16, 16, 16, p[0], p[1], w, n, n})
		}
		out = append(out, MatrixShape{16, 16, 32, "i4", "i32", w, 2 * n, n})
	}
	return out
}

func wmma125() []MatrixShape {
	return []MatrixShape{
		{16, 16, 4, "f32", "f32", 32, 2, 8},
		{16, 16, 32, "f16", "f32", 32, 16, 8},
		{16, 16, 32, "bf16", "f32", 32, 16, 8},
		{16, 16, 32, "f16", "f16", 32, 16, 8},
		{16, 16, 32, "bf16", "bf16", 32, 16, 8},
		{16, 16, 64, "f8E4M3", "f32", 32, 32, 8},
		{16, 16, 64, "f8E5M2", "f32", 32, 32, 8},
		{16, 16, 128, "f8E4M3", "f32", 32, 64, 8},
		{16, 16, 128, "f8E5M2", "f32", 32, 64, 8},
		{16, 16, 64, "i8", "i32", 32, 32, 8},
	}
}

// tile builds a matrix-core shape: every lane of the 64 holds M·K/64 elements of
// an operand and M·N/64 of the accumulator.
func tile(m, k int, lhs, acc string) MatrixShape {
	return MatrixShape{m, m, k, lhs, acc, 64, m * k / 64, m * m / 64}
}

// mfma holds the shapes all of them have.
func mfma() []MatrixShape {
	return []MatrixShape{
		tile(16, 4, "f32", "f32"), tile(32, 2, "f32", "f32"),
		tile(16, 16, "f16", "f32"), tile(32, 8, "f16", "f32"),
		tile(16, 16, "bf16", "f32"), tile(32, 8, "bf16", "f32"),
		tile(16, 4, "f64", "f64"),
	}
}

func mfma942() []MatrixShape {
	return []MatrixShape{
		tile(16, 32, "i8", "i32"), tile(32, 16, "i8", "i32"),
		tile(16, 32, "f8E4M3", "f32"), tile(32, 16, "f8E4M3", "f32"),
		tile(16, 32, "f8E5M2", "f32"), tile(32, 16, "f8E5M2", "f32"),
	}
}

func mfma950() []MatrixShape {
	return []MatrixShape{
		tile(16, 32, "f16", "f32"), tile(32, 16, "f16", "f32"),
		tile(16, 32, "bf16", "f32"), tile(32, 16, "bf16", "f32"),
		tile(16, 64, "i8", "i32"), tile(32, 32, "i8", "i32"),
		tile(16, 128, "f8E4M3", "f32"), tile(32, 64, "f8E4M3", "f32"),
		tile(16, 128, "f8E5M2", "f32"), tile(32, 64, "f8E5M2", "f32"),
	}
}

func mfma90a() []MatrixShape {
	return []MatrixShape{tile(16, 16, "i8", "i32"), tile(32, 8, "i8", "i32")}
}
