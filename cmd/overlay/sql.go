package main

import _ "embed"

// sqlText is what `overlay sql` prints.
//
//go:embed overlay.sql
var sqlText string
