package advise

// rule is one cause that can be found. What it says in general is data; find looks for it in a run.
type rule struct {
	id       string
	group    Group
	kind     Kind
	level    Level
	why      string  // why that level
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
	action  []string
	first   string
}

// rules are all rules. Those of one group are in the order in which a tie is broken; of general ones each gets what it
// adds to those before it.
var rules = []*rule{
	&slowHostOps,

	&dataNoWorkers,
	&copyPageableH2D, &copyD2H, &copyManySmall,
	&syncPythonCondition, &syncItem, &syncDynamicSize, &syncHostTensor, &syncExplicit, &syncEvent, &syncCopy, &syncOther,
	&launchBlocking,
	&coldStart,
	&optimizerLoop, &optimizerForeach, &zeroGrad,
	&attentionUnfused, &fp32Matmul, &fp64, &layout, &graphInputCopies, &ddpBucketCopies, &elementwiseChain,
	&commWait,

	&syncAll, &commExposed, &launchGaps, &pythonOverhead, &hostBound,

	&unseenTime, &recordsLostLaunch,
}

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
