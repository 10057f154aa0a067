package anonymize

import (
	"encoding/json"
	"strings"

	"overlay/internal/chrome"
	"overlay/internal/kineto"
)

// rowToken is a pid or tid as JSON. One that is neither a number nor a text becomes a text.
func rowToken(raw []byte) []byte {
	switch {
	case len(raw) == 0 || isScalar(raw):
		return raw
	case raw[0] == '"':
		return chrome.AppendString(nil, rowText(kineto.Unquoted(raw)))
	}
	return chrome.AppendString(nil, pseudonym("row_", string(raw)))
}

// isScalar reports whether a value is a number or one of JSON's words.
func isScalar(v []byte) bool {
	return len(v) > 0 && strings.IndexByte("-0123456789ntf", v[0]) >= 0 && json.Valid(v)
}

// values copies JSON values with what is not known replaced.
type values struct {
	known   func(key string) bool             // keys that stay
	text    func(known bool, s string) string // of a text under a key that is known or not
	numbers bool                              // numbers stay under unknown keys too
}

// append appends a value. Of a value under an unknown key numbers of up to four characters stay: longer ones can be
// numbers of jobs, runs and people.
func (o *values) append(dst []byte, known bool, v []byte) []byte {
	switch {
	case len(v) == 0:
		return append(dst, "null"...)
	case v[0] == '"':
		return chrome.AppendString(dst, o.text(known, kineto.Unquoted(v)))
	case v[0] == '{':
		return o.object(dst, known, v)
	case v[0] == '[':
		return o.list(dst, known, v)
	case !isScalar(v):
		return append(dst, "null"...)
	case !known && !o.numbers && len(v) > 4 && string(v) != "false":
		return chrome.AppendString(dst, pseudonym("n_", string(v)))
	}
	return append(dst, v...)
}

func (o *values) object(dst []byte, known bool, v []byte) []byte {
	dst = append(dst, '{')
	for i, n := 1, 0; ; n++ {
		m, ok := chrome.NextMember(v, i)
		if !ok {
			return append(dst, '}')
		}
		i = m.End
		if n > 0 {
			dst = append(dst, ", "...)
		}
		k := o.known(string(m.Key))
		dst = append(appendKey(dst, k, m.Key), ": "...)
		value := v[m.At:m.End]
		if named[string(m.Key)] && len(value) > 0 && value[0] == '"' {
			dst = chrome.AppendString(dst, nameText(kineto.Unquoted(value)))
			continue
		}
		dst = o.append(dst, known && k, value)
	}
}

func (o *values) list(dst []byte, known bool, v []byte) []byte {
	dst = append(dst, '[')
	for i, n := 1, 0; ; n++ {
		i = chrome.SkipSpace(v, i)
		if i < len(v) && v[i] == ',' {
			i = chrome.SkipSpace(v, i+1)
		}
		if i >= len(v) || v[i] == ']' {
			return append(dst, ']')
		}
		end := chrome.SkipValue(v, i)
		if end <= i {
			return append(dst, ']')
		}
		if n > 0 {
			dst = append(dst, ", "...)
		}
		dst = o.append(dst, known, v[i:end])
		i = end
	}
}

// appendKey appends a key as it is written, or its pseudonym.
func appendKey(dst []byte, known bool, key []byte) []byte {
	if known {
		return append(append(append(dst, '"'), key...), '"')
	}
	return chrome.AppendString(dst, pseudonym("k_", string(key)))
}

// inMeta are values that describe devices and the processes of the run.
var inMeta = values{known: func(key string) bool { return knownMeta[key] }, text: metaText}

// named are keys of texts that users and their systems choose. Known words prove nothing there.
var named = keySet(`Call stack, Module Hierarchy, kernel_file, kernel_hash, uuid, executable_name, cmd_name, Trace name, Trace id, debug
Process Group Name, Process Group Description, pg_name, pg_desc`)

// nameText is a text under such a key: numbers stay, and what PyTorch calls things by itself.
func nameText(s string) string {
	switch s {
	case "", "default_pg", "undefined", "PyTorch Profiler":
		return s
	}
	if isNumbers(s) && len(s) < 5 {
		return s
	}
	return pseudonym("s_", s)
}

// metaText is a text that describes a device or the processes of the run.
func metaText(known bool, s string) string {
	if known && (shortVersion(s) || isPublic(s) || isNumbers(s) && len(s) < 5) {
		return s
	}
	return pseudonym("s_", s)
}

// shortVersion reports whether a text is a version such as 2.21.5.
func shortVersion(s string) bool {
	return len(s) <= 8 && strings.Trim(s, "0123456789.") == ""
}

// fieldValue is a top-level value that is safe to share. Of objects and lists only those stay that are known: others
// hold whole environments, and the profiler's logs hold paths and hosts.
func fieldValue(key string, value []byte) []byte {
	switch {
	case key == "displayTimeUnit" && (string(value) == `"ms"` || string(value) == `"ns"`):
		return value
	case key == "deviceProperties" || key == "distributedInfo":
		return inMeta.append(nil, true, value)
	case len(value) > 0 && value[0] == '{': // an overlay in "metadata" is described anew
		return []byte("{}")
	case len(value) > 0 && value[0] == '[':
		return []byte("[]")
	}
	if len(value) > 0 && value[0] == '"' { // names of hosts, users and jobs, whatever their words
		return chrome.AppendString(nil, pseudonym("s_", kineto.Unquoted(value)))
	}
	return inMeta.append(nil, knownFields[key], value)
}
