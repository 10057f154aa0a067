package chromejson

import (
	"strings"

	"overlay/internal/chrome"
	"overlay/internal/kineto"
	"overlay/internal/overlay"
)

// document is what stands around the events of the input: its own bytes, or, where they are cut or broken, what
// can be kept of them.
func document(x *kineto.Text) chrome.Document {
	d := chrome.Document{Head: x.Src[:x.ListOff+1], Tail: x.Src[x.ListEnd:]}
	if !x.Mended && d.Valid() {
		return d
	}
	if x.ArrayForm {
		return chrome.Document{Head: []byte("["), Tail: []byte("]\n")}
	}
	var before, after []chrome.Field
	for _, f := range x.Fields {
		field := chrome.Field{Key: f.Key, Value: x.CleanField(f)}
		if f.Off < x.ListOff {
			before = append(before, field)
		} else {
			after = append(after, field)
		}
	}
	return chrome.NewDocument(before, after)
}

// describe adds the attributes of the overlay to the document. The array form has no place for them and becomes the
// object form.
func (w *writer) describe(d chrome.Document) chrome.Document {
	if w.text.ArrayForm {
		d = chrome.NewDocument(nil, nil)
	}
	if d.Get("displayTimeUnit") == nil {
		d.Set("displayTimeUnit", []byte(`"ns"`)) // with "ms" the viewer draws slices below 1 µs one under the other
	}
	args := make([]chrome.Arg, len(w.drawing.Attrs))
	for i, a := range w.drawing.Attrs {
		args[i] = chrome.Arg{Key: a.Key, Int: a.Int, Str: a.Str, IsStr: a.IsStr}
		switch a.Key {
		case overlay.AttrDrawn:
			args[i].Int = int64(w.stats.Arrows)
		case overlay.AttrLeftOut:
			args[i].Int += int64(w.stats.Unbindable)
		}
	}
	old := d.Get("metadata")
	if len(old) == 0 || old[0] != '{' {
		old = []byte("{}")
	}
	earlier := func(key []byte) bool { return strings.HasPrefix(string(key), overlay.AttrPrefix) }
	d.Set("metadata", chrome.AppendObject(nil, old, earlier, chrome.AppendMembers(nil, args)))
	return d
}
