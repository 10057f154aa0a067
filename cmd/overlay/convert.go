package main

func checkConvert(r *flagReader, o *options) {
	r.needInput(o)
	if o.output == "" {
		r.problem("no output: give one with -o, or -o - for standard output")
		return
	}
	r.readFormat(o)
}

func (j *job) convert() error { return errNotYet }
