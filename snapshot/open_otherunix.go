//go:build unix && !linux

package snapshot

func openBeneath(dir int, path string) (int, error) { return openByStep(dir, path) }
