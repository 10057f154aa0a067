package overlay

import (
	"strings"

	"overlay/internal/chrome"
	"overlay/internal/kineto"
)

// document is what stands around the events of the input: its own bytes, or, where they are cut or broken, what
// can be kept of them.
func document(tr *kineto.Trace) chrome.Document {
	d := chrome.Document{Head: tr.Src[:tr.ListOff+1], Tail: tr.Src[tr.ListEnd:]}
	if !tr.Mended && d.Valid() {
		return d
	}
	if tr.ArrayForm {
		return chrome.Document{Head: []byte("["), Tail: []byte("]\n")}
	}
	var before, after []chrome.Field
	for _, f := range tr.Fields {
		field := chrome.Field{Key: f.Key, Value: tr.CleanField(f)}
		if f.Off < tr.ListOff {
			before = append(before, field)
		} else {
			after = append(after, field)
		}
	}
	return chrome.NewDocument(before, after)
}

// describe adds the attributes of the overlay to the document. The array form has no place for them and becomes the
// object form.
func (c *chromeJob) describe(d chrome.Document) chrome.Document {
	if c.tr.ArrayForm {
		d = chrome.NewDocument(nil, nil)
	}
	if d.Get("displayTimeUnit") == nil {
		d.Set("displayTimeUnit", []byte(`"ns"`)) // with "ms" the viewer draws slices below 1 µs one under the other
	}
	args := make([]chrome.Arg, len(c.ov.Attrs))
	for i, a := range c.ov.Attrs {
		args[i] = chrome.Arg{Key: a.Key, Int: a.Int, Str: a.Str, IsStr: a.IsStr}
		switch a.Key {
		case attrDrawn:
			args[i].Int = int64(c.stats.Arrows)
		case attrLeftOut:
			args[i].Int += int64(c.stats.Unbindable)
		}
	}
	old := d.Get("metadata")
	if len(old) == 0 || old[0] != '{' {
		old = []byte("{}")
	}
	earlier := func(key []byte) bool { return strings.HasPrefix(string(key), attrPrefix) }
	d.Set("metadata", chrome.AppendObject(nil, old, earlier, chrome.AppendMembers(nil, args)))
	return d
}
