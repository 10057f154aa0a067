package page

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"text/template/parse"
)

// Markup is a text that stands in a page as it is. Everything else is escaped.
type Markup string

// asJSON is a value for a script of the page: what would end the script is escaped by the library.
func asJSON(v any) Markup {
	b, err := json.Marshal(v)
	if err != nil {
		panic("page: internal error: " + err.Error())
	}
	return Markup(b)
}

// templates is a set of templates in the language of text/template, but for methods, which are functions here. The library's own executor
// finds methods by name, so that a program with it keeps every exported method of all its packages: a fifth of the size of the web page.
// Values are escaped for text and for attributes in quotes; no template has them anywhere else, but for numbers in styles and JSON in scripts.
type templates struct {
	trees map[string]*parse.Tree
	funcs map[string]any
}

// add parses a text that defines templates. Texts are part of the program.
func (t *templates) add(text string) {
	trees, err := parse.Parse("page", text, "", "", t.funcs)
	if err != nil {
		panic("page: internal error: " + err.Error())
	}
	for name, tree := range trees {
		t.trees[name] = tree
	}
}

// execution is the work on one page: the variables of the template that is being executed, the innermost last.
type execution struct {
	*templates
	out  strings.Builder
	vars []variable
}

type variable struct {
	name  string
	value reflect.Value
}

func (x *execution) template(name string, dot reflect.Value) {
	tree, ok := x.trees[name]
	if !ok {
		panic("page: internal error: no template " + name)
	}
	outer := x.vars
	x.vars = []variable{{"$", dot}}
	x.walk(tree.Root, dot)
	x.vars = outer
}

func (x *execution) walk(n parse.Node, dot reflect.Value) {
	defer func(depth int) { x.vars = x.vars[:depth] }(len(x.vars))
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, child := range n.Nodes {
			if action, ok := child.(*parse.ActionNode); ok { // its variables live as long as the list
				if v := x.pipe(action.Pipe, dot); len(action.Pipe.Decl) == 0 {
					x.print(v)
				}
				continue
			}
			x.walk(child, dot)
		}
	case *parse.TextNode:
		x.out.Write(n.Text)
	case *parse.IfNode:
		x.walk(branch(n.BranchNode, full(x.pipe(n.Pipe, dot))), dot)
	case *parse.WithNode:
		v := x.pipe(n.Pipe, dot)
		if full(v) {
			dot = v
		}
		x.walk(branch(n.BranchNode, full(v)), dot)
	case *parse.RangeNode:
		v := x.eval(n.Pipe.Cmds[0], dot)
		for i := range v.Len() {
			depth := len(x.vars)
			if decl := n.Pipe.Decl; len(decl) == 2 {
				x.vars = append(x.vars, variable{decl[0].Ident[0], reflect.ValueOf(i)}, variable{decl[1].Ident[0], v.Index(i)})
			}
			x.walk(n.List, v.Index(i))
			x.vars = x.vars[:depth]
		}
	case *parse.TemplateNode:
		x.template(n.Name, x.pipe(n.Pipe, dot))
	case *parse.CommentNode:
	default:
		panic(fmt.Sprintf("page: internal error: a template has %T", n))
	}
}

// branch is the list of a node for a condition.
func branch(n parse.BranchNode, holds bool) parse.Node {
	if holds {
		return n.List
	}
	return n.ElseList
}

// full reports whether a value counts as true: neither zero nor empty.
func full(v reflect.Value) bool {
	switch v = bare(v); v.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len() > 0
	case reflect.Struct:
		return true
	}
	return !v.IsZero()
}

// bare is what a pointer points to and an interface holds.
func bare(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

func (x *execution) pipe(p *parse.PipeNode, dot reflect.Value) reflect.Value {
	if p == nil {
		return reflect.Value{}
	}
	v := x.eval(p.Cmds[0], dot)
	for _, d := range p.Decl {
		x.vars = append(x.vars, variable{d.Ident[0], v})
	}
	return v
}

// eval gives the value of a node.
func (x *execution) eval(n parse.Node, dot reflect.Value) reflect.Value {
	switch n := n.(type) {
	case *parse.CommandNode:
		if name, ok := n.Args[0].(*parse.IdentifierNode); ok {
			return x.call(name.Ident, n.Args[1:], dot)
		}
		return x.eval(n.Args[0], dot)
	case *parse.PipeNode:
		return x.pipe(n, dot)
	case *parse.IdentifierNode:
		return x.call(n.Ident, nil, dot)
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return fields(dot, n.Ident)
	case *parse.VariableNode:
		for i := len(x.vars) - 1; i >= 0; i-- {
			if x.vars[i].name == n.Ident[0] {
				return fields(x.vars[i].value, n.Ident[1:])
			}
		}
	case *parse.StringNode:
		return reflect.ValueOf(n.Text)
	case *parse.NumberNode:
		return reflect.ValueOf(int(n.Int64))
	}
	panic("page: internal error: a template has " + n.String())
}

func fields(v reflect.Value, names []string) reflect.Value {
	for _, name := range names {
		v = bare(v).FieldByName(name)
		if !v.IsValid() {
			panic("page: internal error: a template asks for " + name)
		}
	}
	return v
}

// call calls a function of the templates.
func (x *execution) call(name string, args []parse.Node, dot reflect.Value) reflect.Value {
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		in[i] = x.eval(a, dot)
	}
	v := reflect.ValueOf(x.funcs[name]).Call(in)[0]
	if v.Kind() == reflect.Interface {
		return v.Elem()
	}
	return v
}

// index is an element of a list, or of a map, where what is missing is zero.
func index(of, at any) any {
	v, i := bare(reflect.ValueOf(of)), reflect.ValueOf(at)
	if v.Kind() != reflect.Map {
		return v.Index(int(i.Int())).Interface()
	}
	if e := v.MapIndex(i); e.IsValid() {
		return e.Interface()
	}
	return reflect.Zero(v.Type().Elem()).Interface()
}

// text is a value as a page shows it.
func text(v reflect.Value) string {
	switch v = bare(v); v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Invalid:
		return ""
	}
	return fmt.Sprint(v.Interface())
}

// escaped is html.EscapeString. That package keeps its table of 2,231 entities in every program, for a function that is not used here.
var escaped = strings.NewReplacer("&", "&amp;", "'", "&#39;", "<", "&lt;", ">", "&gt;", `"`, "&#34;")

func (x *execution) print(v reflect.Value) {
	s := text(v)
	if !v.IsValid() || v.Type() != reflect.TypeFor[Markup]() {
		s = escaped.Replace(s)
	}
	x.out.WriteString(s)
}
