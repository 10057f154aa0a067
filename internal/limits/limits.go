// Package limits is the one home of the bounds on what the program produces: a small input, or a small question, may ask for an
// answer without end. Whoever makes something whose size or time follows from its input takes a bound from here, and says with
// it what the user can do. Sizes are bytes, if nothing else is said.
package limits

import "time"

// What a query in SQL may take, whoever asks it.
const (
	QueryValue  = 16_000_000       // of one text or blob, and of one row
	QueryMemory = 128_000_000      // of SQLite, beside the tables that it reads
	QueryHeld   = 64_000_000       // of an answer that has to be held whole, as a table for people is, to know the widths of its columns
	QueryTime   = 10 * time.Minute // until the answer is complete
)

// What a Parquet file may take in memory: some, and so many times its size. Tables of real traces take up to 22 times theirs.
const (
	TableAnyway int64 = 64_000_000
	TableRatio  int64 = 200
)

// What a call of an agent may take, and what it gives: more would fill the agent's memory with one look.
const (
	AgentCalls     = 4               // calls in work at once; a further one waits
	AgentTime      = 5 * time.Minute // of a call, with its waiting and with reading the trace
	AgentMemory    = 250_000_000     // that a query takes beside the trace
	AgentQueryTime = 8 * time.Second // of the SQL in a call
	AgentRows      = 50              // of an answer to a query in SQL
	AgentList      = 200             // rows of any other answer, and names in a list of traces
	AgentCounted   = 100_000         // rows that are counted behind those that are shown, to say how many there are
	AgentBytes     = 40_000          // of an answer
	AgentScenarios = 100             // of a replay
	AgentLine      = 4_000_000       // of a message from an agent
	AgentSeen      = 100_000         // files that are looked at for such a list
)
