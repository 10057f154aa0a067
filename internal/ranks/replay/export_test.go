package replay

// Touches reports whether a question changes anything of a member.
func (m *Model) Touches(ask Question, member int32) bool {
	f := ask(m, member)
	return f.work != nil || f.transfers != nil
}
