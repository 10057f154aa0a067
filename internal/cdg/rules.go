package cdg

// aloneRules read nothing that others find, and run beside them.
var aloneRules = []rule{polledRule}

// waitRules are applied in this order, each after those whose results it reads; the delays of waits between streams are
// measured between the two halves.
var waitRules = [2][]rule{
	{recordedWaitsRule, deviceMarksRule, graphsRule, eventWaitsRule},
	{fullQueuesRule, lostLaunchesRule, unrecordedRule, blockingRule, copiesRule, lostCopiesRule},
}
