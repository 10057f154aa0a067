package main

func (j *job) openInViewer() error { return errNotYet }
