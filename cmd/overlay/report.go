package main

func (j *job) printReport() error { return errNotYet }

func (j *job) diff() error { return errNotYet }
