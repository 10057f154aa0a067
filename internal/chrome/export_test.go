package chrome

// All returns the rows in order of first appearance.
func (r *Threads) All() []*Thread { return r.order }
