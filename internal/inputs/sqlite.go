//go:build !quick

package inputs

import (
	"fmt"
	"path/filepath"

	"overlay/internal/fromsqlite"
)

// sqliteFormat is the databases of profilers.
var sqliteFormat = otherFormat{fromsqlite.Is, fromsqlite.Parse, refuseLog}

// refuseLog refuses a database beside which a write-ahead log stands: what was recorded last, or all of it, is there.
func refuseLog(name string) error {
	if log, err := Disk.Stat(name + "-wal"); err != nil || log.Size() == 0 {
		return nil
	}
	word, ok := ShellWord(name)
	if !ok {
		word = "FILE"
	}
	return fmt.Errorf("%s: what was recorded last is in %s-wal beside it, which is not read: put it into the database with: sqlite3 %s 'pragma wal_checkpoint(truncate)'", Name(name), filepath.Base(name), word)
}
