// Package fromsnapshot reads memory snapshots of PyTorch: what torch.cuda.memory._dump_snapshot writes, a pickle of the lists that
// torch.cuda.memory._snapshot describes (segments with their blocks as they are, device_traces with what the allocator did before, where
// _record_memory_history was on). Nothing of the pickle is executed.
package fromsnapshot

import (
	"errors"
	"fmt"
	"path"

	"overlay/internal/critpath"
	"overlay/internal/memory"
	"overlay/internal/unpickle"
)

// MostBytes is how large a snapshot may be.
const MostBytes = 1 << 30

// Parse reads a snapshot.
func Parse(src []byte) (*memory.Snapshot, error) {
	v, err := unpickle.Value(src)
	if err != nil {
		return nil, err
	}
	top, _ := v.(map[string]any)
	segments, ok := top["segments"].(*unpickle.List)
	traces, both := top["device_traces"].(*unpickle.List)
	if !ok || !both {
		return nil, errors.New("no segments and device_traces: expected a memory snapshot that PyTorch's _dump_snapshot wrote")
	}
	s := &memory.Snapshot{Devices: make([]memory.Recorded, len(traces.Items))}
	for _, x := range segments.Items {
		segment, _ := x.(map[string]any)
		if d := number(segment, "device"); d >= 0 && d < int64(len(s.Devices)) {
			s.Devices[d].Allocated += number(segment, "allocated_size")
			s.Devices[d].Reserved += number(segment, "total_size")
		}
	}
	lines := map[*unpickle.List]string{} // entries share their stacks
	timed := false
	for d, x := range traces.Items {
		list, _ := x.(*unpickle.List)
		if list == nil {
			return nil, fmt.Errorf("device_traces: what the allocator of device %d did is no list", d)
		}
		for _, x := range list.Items {
			e, _ := x.(map[string]any)
			c := memory.Change{At: 1000 * number(e, "time_us"), Addr: number(e, "addr")}
			timed = timed || c.At > 0
			switch size := number(e, "size"); e["action"] {
			case "alloc":
				c.Bytes = size
				if frames, ok := e["frames"].(*unpickle.List); ok {
					if _, known := lines[frames]; !known {
						lines[frames] = line(frames)
					}
					c.Line = lines[frames]
				}
			case "free_completed":
				c.Bytes = -size
			case "segment_alloc", "segment_map":
				c.Reserved = size
			case "segment_free", "segment_unmap":
				c.Reserved = -size
			default:
				continue
			}
			s.Devices[d].Changes = append(s.Devices[d].Changes, c)
		}
	}
	if !timed {
		return nil, errors.New("no entry of device_traces has a time: record it with _record_memory_history() and PyTorch 2.2 or later")
	}
	return s, nil
}

// number is a member that is a number, else 0.
func number(of map[string]any, key string) int64 {
	n, _ := of[key].(int64)
	return n
}

// line is the innermost frame of the user's code, as the profiler names frames: file.py(7): forward.
func line(frames *unpickle.List) string {
	for _, x := range frames.Items {
		f, _ := x.(map[string]any)
		file, _ := f["filename"].(string)
		name, _ := f["name"].(string)
		if full := fmt.Sprintf("%s(%d): %s", file, number(f, "line"), name); critpath.UserFrame(full) {
			return critpath.NormalName(fmt.Sprintf("%s(%d): %s", path.Base(file), number(f, "line"), name))
		}
	}
	return ""
}
