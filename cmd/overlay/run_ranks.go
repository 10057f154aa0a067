package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/overlay/manyranks"
	"overlay/internal/ranks/roster"
	"overlay/internal/tables"
)

// rankList reads --ranks.
func (r *flagReader) rankList() string {
	v := r.String("ranks")
	if v == "" || v == "all" || v == "representative" {
		if v == "" && r.IsSet("ranks") {
			r.problem("--ranks is empty: all, representative, or a list such as 0,3,8-11")
		}
		return v
	}
	if err := eachRankOf(v, func(int) error { return nil }); err != nil {
		r.problem("%v", err)
	}
	return v
}

// eachRankOf visits the ranks of a list such as 0,3,8-11.
func eachRankOf(list string, visit func(rank int) error) error {
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, errA := strconv.ParseInt(first, 10, 32)
		b, errB := strconv.ParseInt(last, 10, 32)
		if errA != nil || errB != nil || a < 0 || b < a || b-a > 1<<20 {
			return fmt.Errorf("--ranks %s is neither all, nor representative, nor a list such as 0,3,8-11", quote(list))
		}
		for k := a; k <= b; k++ {
			if err := visit(int(k)); err != nil {
				return err
			}
		}
	}
	return nil
}

// choose decides which ranks are drawn event by event, and notes what is left out.
func (p *jobPicture) choose() error {
	members := p.r.job.Members
	all := slices.Repeat([]bool{true}, len(members))
	switch p.opts.ranks {
	case "all":
		p.drawn = all
	case "":
		p.drawn = manyranks.Choose(p.r.job, p.r.verdict, false)
	case "representative":
		p.drawn = manyranks.Choose(p.r.job, p.r.verdict, true)
	default:
		p.drawn = make([]bool, len(members))
		err := eachRankOf(p.opts.ranks, func(rank int) error {
			for m := range members {
				if int(members[m].Rank) == rank {
					p.drawn[m] = true
					return nil
				}
			}
			return p.usage("--ranks %s: there is no trace of rank %d; those of %s are there", p.opts.ranks, rank, p.ranksThere())
		})
		if err != nil {
			return err
		}
	}
	var list []int64
	events, whole := 0, 0
	for m := range members {
		whole += members[m].Events
		if p.drawn[m] {
			list = append(list, int64(members[m].Rank))
			events += members[m].Events
		}
	}
	if len(list) < len(members) {
		p.notes.notes = append(p.notes.notes, fmt.Sprintf("drawn with their events: %s, %s of %s events; of every rank there is a strip (--ranks all draws all)",
			tables.Counted(len(list), "rank")+" of "+tables.Plain(int64(len(members)))+" ("+rankNumbers(list)+")", tables.Grouped(int64(events)), tables.Grouped(int64(whole))))
	}
	return nil
}

func (p *jobPicture) ranksThere() string {
	var list []int64
	for m := range p.r.job.Members {
		list = append(list, int64(p.r.job.Members[m].Rank))
	}
	return "rank " + rankNumbers(list)
}

// rankNumbers writes ascending ranks as 0-2, 5.
func rankNumbers(list []int64) string {
	if len(list) == 0 {
		return "none"
	}
	return roster.List(list)
}
