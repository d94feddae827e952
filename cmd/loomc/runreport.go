package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/loomc/loomc/corpus/require"
	hiprt "github.com/loomc/loomc/hip/runtime"
	"github.com/loomc/loomc/loom/kernel"
)

// runResult is what 'loomc run' says about a launch.
type runResult struct {
	kernel            *kernel.Kernel
	geometry          kernel.Geometry
	workload, scalars []int64
	traffic           require.Traffic

	device   string
	info     *hiprt.DeviceInfo // nil on the cpu
	elapsed  time.Duration     // on the cpu
	measured *hiprt.Measured   // on a device, with --time
}

const runSchema = "loomc-run-v1"

type runDocument struct {
	Schema         string            `json:"schema"`
	Export         string            `json:"export"`
	Symbol         string            `json:"symbol"`
	Device         string            `json:"device"`
	DeviceName     string            `json:"device_name,omitempty"`
	Arch           string            `json:"arch,omitempty"`
	Config         map[string]string `json:"config"`
	Workload       map[string]int64  `json:"workload"`
	Launch         map[string]int64  `json:"launch"`
	WorkgroupCount [3]int64          `json:"workgroup_count"`
	WorkgroupSize  [3]int64          `json:"workgroup_size"`
	BytesRead      int64             `json:"bytes_read"`
	BytesWritten   int64             `json:"bytes_written"`
	BytesExact     bool              `json:"bytes_exact"`
	Time           *runTime          `json:"time,omitempty"`
}

// runTime has times in nanoseconds and rates in 10⁹ bytes per second.
type runTime struct {
	Launches int      `json:"launches"`
	MinNS    int64    `json:"min_ns"`
	MedianNS int64    `json:"median_ns"`
	Rate     float64  `json:"gb_per_s,omitempty"` // of the median launch
	Best     float64  `json:"best_gb_per_s,omitempty"`
	Sets     int      `json:"buffer_sets,omitempty"`
	Copy     *runCopy `json:"copy,omitempty"`
	// Share is Rate over the copy's rate.
	Share float64 `json:"share_of_copy,omitempty"`
}

type runCopy struct {
	Bytes    int     `json:"bytes"` // copied: read once and written once
	Copies   int     `json:"copies"`
	MinNS    int64   `json:"min_ns"`
	MedianNS int64   `json:"median_ns"`
	Rate     float64 `json:"gb_per_s"`
	Best     float64 `json:"best_gb_per_s"`
	Sets     int     `json:"buffer_sets"`
}

// document collects the result.
func (r *runResult) document(timed bool) runDocument {
	k, g := r.kernel, r.geometry
	d := runDocument{
		Schema: runSchema, Export: k.Export, Symbol: k.Symbol, Device: r.device, Config: map[string]string{},
		Workload: map[string]int64{}, Launch: map[string]int64{}, WorkgroupCount: g.Count, WorkgroupSize: g.Size,
		BytesRead: r.traffic.Read, BytesWritten: r.traffic.Write, BytesExact: r.traffic.Known,
	}
	if r.info != nil {
		d.DeviceName, d.Arch = r.info.Name, r.info.Arch
	}
	for _, c := range k.Config {
		d.Config[c.Key] = c.Text
	}
	for i, s := range k.Workload {
		d.Workload[s.Name] = r.workload[i]
	}
	for i, s := range k.Launch {
		if !s.Param.Type.Kind.IsFloat() {
			d.Launch[s.Name] = r.scalars[i]
		}
	}
	switch {
	case !timed:
	case r.measured != nil:
		d.Time = timing(r.measured, float64(r.traffic.Read+r.traffic.Write))
	case r.info == nil:
		d.Time = &runTime{Launches: 1, MinNS: r.elapsed.Nanoseconds(), MedianNS: r.elapsed.Nanoseconds()}
	}
	return d
}

func timing(m *hiprt.Measured, bytes float64) *runTime {
	least, median := spread(m.Launches)
	t := &runTime{Launches: len(m.Launches), MinNS: least, MedianNS: median, Rate: rate(bytes, median), Best: rate(bytes, least), Sets: m.Sets}
	if len(m.Copies) > 0 {
		least, median := spread(m.Copies)
		moved := 2 * float64(m.CopyBytes)
		t.Copy = &runCopy{Bytes: m.CopyBytes, Copies: len(m.Copies), MinNS: least, MedianNS: median, Rate: rate(moved, median), Best: rate(moved, least), Sets: m.CopySets}
		if t.Copy.Rate > 0 {
			t.Share = t.Rate / t.Copy.Rate
		}
	}
	return t
}

// spread returns the least and the middle of some times, in nanoseconds.
func spread(times []time.Duration) (least, median int64) {
	if len(times) == 0 {
		return 0, 0
	}
	s := slices.Sorted(slices.Values(times))
	return s[0].Nanoseconds(), s[len(s)/2].Nanoseconds()
}

// rate is in 10⁹ bytes per second, which is bytes per nanosecond.
func rate(bytes float64, ns int64) float64 {
	if ns <= 0 {
		return 0
	}
	return bytes / float64(ns)
}

// printRun prints what was run, and how fast.
func (a *app) printRun(o *runOptions, r *runResult) error {
	d := r.document(o.timed)
	if o.format == "json" {
		text, err := marshalIndent(d)
		if err != nil {
			return err
		}
		if _, err := a.out.Write(text); err != nil {
			return failed(fmt.Errorf("write output: %w", err))
		}
		return nil
	}
	if !a.quiet {
		on := r.device
		if r.info != nil {
			on = fmt.Sprintf("%s (%s, %s)", r.device, r.info.Name, r.info.Arch)
		}
		fmt.Fprintf(a.out, "%s on %s: %d × %d × %d workgroups of %d × %d × %d\n", d.Export, on,
			d.WorkgroupCount[0], d.WorkgroupCount[1], d.WorkgroupCount[2], d.WorkgroupSize[0], d.WorkgroupSize[1], d.WorkgroupSize[2])
	}
	printTime(a.out, d)
	return nil
}

func printTime(w io.Writer, d runDocument) {
	t := d.Time
	switch {
	case t == nil:
		return
	case d.Arch == "":
		fmt.Fprintf(w, "time per launch: %v\n", time.Duration(t.MedianNS))
		return
	}
	fmt.Fprintf(w, "time per launch: median %v, least %v of %d by events\n", time.Duration(t.MedianNS), time.Duration(t.MinNS), t.Launches)
	note := ""
	if !d.BytesExact {
		note = "; where the extent of a view is not known, its whole buffer is counted"
	}
	fmt.Fprintf(w, "must move:       %d bytes read, %d written%s\n", d.BytesRead, d.BytesWritten, note)
	if t.Copy == nil {
		return
	}
	fmt.Fprintf(w, "rate:            %.1f GB/s, best %.1f%s\n", t.Rate, t.Best, inTurn(t.Sets))
	c := t.Copy
	fmt.Fprintf(w, "copy on device:  %.1f GB/s, best %.1f, copying %d bytes in %v%s\n", c.Rate, c.Best, c.Bytes, time.Duration(c.MedianNS), inTurn(c.Sets))
	fmt.Fprintf(w, "share of copy:   %.1f %%\n", 100*t.Share)
}

// inTurn says that buffers took turns.
func inTurn(sets int) string {
	if sets <= 1 {
		return ""
	}
	return fmt.Sprintf(", %d sets of buffers in turn", sets)
}
