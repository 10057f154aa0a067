package critpath

// Class groups segment kinds into what a person would say bounds the run.
type Class uint8

// The classes, in table order (the order that breaks ties). NumClasses stands for no class at all.
const (
	ClassCPU Class = iota
	ClassCompute
	ClassComm
	ClassCopy
	ClassLaunch
	ClassSync
	ClassHandoff
	ClassUnexplained
	ClassUntraced
	ClassIdle
	NumClasses
)

// classTable is how each class is called and shown everywhere; no class at all is nothing but empty.
var classTable = [NumClasses + 1]struct {
	name   string // in reports and in bound_by
	words  string // for people
	letter string // in a strip without colours
	ansi   string // colour on a terminal
	hex    string // colour on a page: the one that the viewer gives
	viewer string // a string whose hash the viewer takes as the colour
}{
	ClassCPU:         {"cpu", "CPU", "C", "34", "#2d6288", "cpu#966"},
	ClassCompute:     {"gpu_compute", "GPU compute", "G", "32", "#398f6f", "compute#14732"},
	ClassComm:        {"communication", "communication", "M", "35", "#a13bcc", "communication#16346"},
	ClassCopy:        {"copy", "copy", "P", "33", "#cdc757", "copy#42447"},
	ClassLaunch:      {"launch", "launch latency", "L", "93", "#f4ad90", "launch#25195"},
	ClassSync:        {"sync", "sync", "S", "36", "#7acef3", "sync.7896"},
	ClassHandoff:     {"handoff", "hand-off", "H", "94", "#488dde", "handoff#4756"},
	ClassUnexplained: {"unexplained", "unexplained", "?", "95", "#e645bf", "unexplained#19312"},
	ClassUntraced:    {"untraced", "untraced", ".", "90", "#795826", "untraced#2259"},
	ClassIdle:        {"idle", "idle", "_", "37", "#59cdc6", "idle#913"},
}

// String is the class as reports and bound_by write it; ClassNamed reads it.
func (c Class) String() string { return classTable[c].name }

// Words is the class in the words of the viewer.
func (c Class) Words() string { return classTable[c].words }

// Letter is the class where a column has one letter.
func (c Class) Letter() string { return classTable[c].letter }

// ANSI is the code of its colour on a terminal.
func (c Class) ANSI() string { return classTable[c].ansi }

// Hex is its colour on a page, that of the viewer.
func (c Class) Hex() string { return classTable[c].hex }

// ViewerColor is a string that the viewer makes the same colour of, by its hash (see pftrace.CriticalColor).
func (c Class) ViewerColor() string { return classTable[c].viewer }

// ClassNamed is the class of a name as reports write it, NumClasses where there is none.
func ClassNamed(name string) Class {
	for c := range NumClasses {
		if classTable[c].name == name {
			return c
		}
	}
	return NumClasses
}
