package main

import (
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/exhibit-dev/exhibit/kv"
)

// What a build's heap may always use, in bytes, before collections become
// frequent: less while the parsers hold trees outside it.
const (
	heapWhileParsing = 185 << 20
	heapAfterwards   = 245 << 20
)

// boundHeap keeps the heap of a build close to what it holds: facts are arrays
// without pointers, so that collecting often costs little, while twice the live
// heap would not fit beside the parsers' memory. The bound follows the live heap
// of a repository that needs more. It gives the function that learns of stages
// and the one that ends it.
func boundHeap() (stage func(string), stop func()) {
	debug.SetGCPercent(200)
	var least atomic.Int64
	least.Store(heapWhileParsing)
	debug.SetMemoryLimit(heapWhileParsing)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		limit := int64(heapWhileParsing)
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				metrics.Read(live)
				if need := max(int64(live[0].Value.Uint64())*9/8, least.Load()); need > limit {
					limit = need
					debug.SetMemoryLimit(limit)
				}
			}
		}
	}()
	return func(name string) {
		if name == kv.StageResolve {
			least.Store(heapAfterwards)
		}
	}, func() { close(done); <-ended }
}
