package advise

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/critpath"
)

// rule is one cause that can be found. What it says in general is data; find looks for it in a run.
type rule struct {
	id       string
	group    Group
	rank     int            // of general ones: the place in the order in which they add up
	class    critpath.Class // of the time that it is about; for colours
	kind     Kind
	level    Level
	why      string  // why that level
	torch    bool    // what to do is a setting or a function of PyTorch: silent on traces of other programs
	limit    float64 // share of the window below which it is not listed; 0: 1 %
	title    string  // what is wrong, without numbers
	cause    string  // the mechanism
	scenario string  // what the replay changes
	action   []string
	verify   string
	find     func(*run) *found
}

// found is what a rule found in a run. Fields that are empty are as the rule says.
type found struct {
	numbers []Number
	events  events
	change  scenario
	do, saw string
	kind    Kind
	level   Level
	why     string
	title   string
	cause   string
	action  []string
}

// rules are all rules: by group, in the order of rank, then by id. Of general ones each gets what it adds to those before it.
var rules []*rule

// add puts a rule into the list. A file with a rule calls it, and nothing else has to know of the rule but its cases in a
// test.
func add(r rule) *rule {
	at, found := slices.BinarySearchFunc(rules, &r, func(a, b *rule) int {
		return cmp.Or(cmp.Compare(groups[a.group], groups[b.group]), cmp.Compare(a.rank, b.rank), strings.Compare(a.id, b.id))
	})
	if found {
		panic("advise: internal error: two rules of one name: " + r.id)
	}
	rules = slices.Insert(rules, at, &r)
	return &r
}

// groups is the order of the groups.
var groups = map[Group]int{Measurement: 0, Specific: 1, General: 2, Note: 3}

// minShare is the share of the window below which a finding is not listed: steps of one run differ by about as much,
// so that nobody could see a smaller gain.
const minShare = 0.01

// IDs are the names of all rules.
func IDs() []string {
	var ids []string
	for _, r := range rules {
		ids = append(ids, r.id)
	}
	return ids
}

// Replaced are names of rules that were, with the rule that finds the cause now; "" where nothing does.
var Replaced = map[string]string{"alloc": "", "clock-drop": "", "comm-small": "comm-exposed", "compile-in-window": "cold-start", "contention": "", "conv-autotune": "cold-start",
	"copy-many-small": "sync-host-tensor", "cpu-contention": "", "data-parallel": "", "data-wait": "", "data-workers-start": "data-workers-late",
	"first-step-slow": "cold-start", "gloo-on-gpu": "comm-exposed", "launch-blocking": "host-bound", "launch-gaps": "host-bound", "optimizer-foreach": "optimizer-loop", "python-overhead": "host-bound",
	"python-preprocessing": "host-code", "records-lost-gpu": "records-lost-launch", "server-eager-islands": "host-bound", "small-grid": "", "sync-all": "sync-explicit",
	"sync-batchnorm": "comm-exposed", "sync-copy": "copy-d2h", "sync-event": "", "sync-other": "sync-explicit", "unaligned-matmul": "",
	"step-outlier": "", "wave-tail": ""}
