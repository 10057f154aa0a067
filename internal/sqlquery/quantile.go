package sqlquery

import (
	"slices"

	"github.com/ncruces/go-sqlite3"

	"overlay/internal/stat"
)

// quantile is quantile_cont(x, f) as DuckDB has it: the value below which the share f lies, between two values on the
// line through them. SQLite calls it percentile_cont, which other engines write otherwise.
type quantile struct {
	x []float64
	f float64
}

func newQuantile() sqlite3.AggregateFunction { return &quantile{} }

// Step takes a value; null is none.
func (q *quantile) Step(_ sqlite3.Context, arg ...sqlite3.Value) {
	if arg[0].NumericType() != sqlite3.NULL {
		q.x = append(q.x, arg[0].Float())
	}
	q.f = arg[1].Float()
}

// Value gives the quantile; null of no values.
func (q *quantile) Value(ctx sqlite3.Context) {
	if len(q.x) == 0 {
		return
	}
	if !(q.f >= 0 && q.f <= 1) {
		ctx.ResultError(errQuantile)
		return
	}
	slices.Sort(q.x)
	ctx.ResultFloat(stat.Quantile(q.x, q.f))
}

type quantileError string

func (e quantileError) Error() string { return string(e) }

const errQuantile = quantileError("quantile_cont(x, f): f is a share from 0 to 1")
