package main

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// leastHeap is what a build may always use before collections become frequent.
const leastHeap = 225 << 20 // bytes

// boundHeap keeps the heap of a build close to what it holds: facts are arrays
// without pointers, so that collecting often costs little, while twice the live
// heap would not fit beside the parsers' memory. The bound follows the live heap
// of a repository that needs more. It gives the function that ends it.
func boundHeap() (stop func()) {
	debug.SetGCPercent(200)
	limit := int64(leastHeap)
	debug.SetMemoryLimit(limit)
	done := make(chan struct{})
	go func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				metrics.Read(live)
				if need := int64(live[0].Value.Uint64()) * 9 / 8; need > limit {
					limit = need
					debug.SetMemoryLimit(limit)
				}
			}
		}
	}()
	return func() { close(done) }
}
