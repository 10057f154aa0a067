package trace

// Token is a pid or tid as written. Digit strings count as numbers, so "25738" and 25738 are one thread
// (Kineto of 2021 wrote both for one thread).
type Token struct {
	Raw   Sym   // JSON text as first seen: 7, -1, "stream 7"
	Num   int64 // value when IsNum
	IsNum bool
}

// Key is one value for all tokens that are the same: numbers are, however they are written.
func (t Token) Key() Token {
	if t.IsNum {
		t.Raw = 0
	} else {
		t.Num = 0
	}
	return t
}

// TrackClass separates rows that share a pid and tid but mean different things. Host or device is decided by
// category, never by pid: in containers the training process has a pid that is also a device number.
type TrackClass uint8

// The classes.
const (
	OtherTrack      TrackClass = iota // events of unknown category
	HostThread                        // CPU thread
	DeviceStream                      // kernels, copies, memsets
	AnnotationTrack                   // gpu_user_annotation
	SyncTrack                         // cuda_sync, cuda_event
	SpanTrack                         // Trace spans
	OverheadTrack                     // overhead
	DeviceTrack                       // DeviceOther
)

// Track is one row: a CPU thread, a GPU stream, or a row of pseudo events.
type Track struct {
	Proc    ProcID
	Class   TrackClass
	TID     Token
	Name    string // from thread_name, "" when absent
	Stream  int64  // stream number of a DeviceStream (args.stream, else the tid); -1 otherwise
	Sort    int64  // thread_sort_index when HasSort
	HasSort bool
}

// Process is a host process or a device.
type Process struct {
	PID      Token
	Device   int64 // device number of a device process, -1 for a host process
	IsDevice bool
	Name     string // process_name
	Labels   string // process_labels
	Sort     int64
}

// Bare is a token without the way in which a number is written.
func (k Token) Bare() Token {
	if k.IsNum {
		k.Raw = 0
	}
	return k
}

var classNames = [...]string{"other", "thread", "stream", "gpu_annotation", "sync", "span", "overhead", "device"}

func (c TrackClass) String() string { return classNames[c] }

// OnDevice reports whether rows of the class belong to a device.
func (c TrackClass) OnDevice() bool {
	return c == DeviceStream || c == AnnotationTrack || c == SyncTrack || c == DeviceTrack
}

// ClassOf is the class of the rows on which events of a kind lie.
func ClassOf(k Kind) TrackClass {
	switch {
	case k.Host():
		return HostThread
	case k.Device() || k == DeviceMark:
		return DeviceStream
	case k == GPUAnnotation:
		return AnnotationTrack
	case k == SyncRecord || k == EventRecord:
		return SyncTrack
	case k == Span:
		return SpanTrack
	case k == Overhead:
		return OverheadTrack
	case k == DeviceOther:
		return DeviceTrack
	}
	return OtherTrack
}
