// Package roofline says how close operators come to what their device can do: FLOPs and bytes follow from the shapes and
// types of their inputs, time from the kernels that they launched, and the rest from a table of devices.
//
// Nothing here is measured by counters. Bytes are the least that has to move, each input and each output once; an operator
// without a model, or with shapes that were not recorded, has no figures rather than guessed ones. FLOPs are those of the
// direct algorithm: a product of M×K and K×N takes 2·M·N·K.
//
// The model is that of S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for
// multicore architectures", CACM 52(4), 2009.
package roofline
