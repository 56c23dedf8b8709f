package kv

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A pack is zstd frames one after another, nothing else: where each stands is
// in graph.db. Workers compress into spools of their own while the snapshot is
// read; the pack is then copied together in the order of the manifest, so that
// its bytes do not depend on who was first.

// digest is a SHA-256, or an extraction key.
type digest [32]byte

func (d digest) String() string { return hex.EncodeToString(d[:]) }

func parseDigest(s string) (digest, error) {
	var d digest
	if len(s) != 2*len(d) {
		return d, fmt.Errorf("%q is not a SHA-256", s)
	}
	_, err := hex.Decode(d[:], []byte(s))
	return d, err
}

// frame is a compressed value that stands somewhere in an open file.
type frame struct {
	in     io.ReaderAt
	offset int64
	packed int64
	raw    int64
	sha256 digest // of the unpacked bytes
}

// frameSet collects frames by key from several workers.
type frameSet struct {
	mu     sync.Mutex
	frames map[digest]frame
	bytes  int64
}

func newFrameSet() *frameSet { return &frameSet{frames: map[digest]frame{}} }

// claim says whether the caller is the first to bring key, and reserves it.
func (s *frameSet) claim(key digest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.frames[key]; ok {
		return false
	}
	s.frames[key] = frame{}
	return true
}

func (s *frameSet) set(key digest, f frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames[key] = f
	s.bytes += f.packed
}

func (s *frameSet) get(key digest) (frame, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.frames[key]
	return f, ok && f.in != nil
}

func (s *frameSet) size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// spool is one worker's compressed output. It is used by one goroutine.
type spool struct {
	file    *os.File
	size    int64
	encoder *zstd.Encoder
	buf     []byte
}

func newSpool(path string) (*spool, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false))
	if err != nil {
		f.Close()
		return nil, err
	}
	return &spool{file: f, encoder: enc}, nil
}

// add compresses content and appends it.
func (s *spool) add(content []byte, sum digest) (frame, error) {
	s.buf = s.encoder.EncodeAll(content, s.buf[:0])
	f := frame{in: s.file, offset: s.size, packed: int64(len(s.buf)), raw: int64(len(content)), sha256: sum}
	if _, err := s.file.WriteAt(s.buf, s.size); err != nil {
		return frame{}, err
	}
	s.size += f.packed
	return f, nil
}

func (s *spool) close() error {
	return errors.Join(s.encoder.Close(), s.file.Close())
}

// packedFrame is a frame in its place in a pack.
type packedFrame struct {
	key    digest
	record frameRecord
}

// assemblePack copies the frames of keys, in that order and each key once, into
// a new file, syncs it, and gives where each stands with the file's own record.
func assemblePack(ctx context.Context, path, name string, keys []digest, set *frameSet) ([]packedFrame, fileDigest, error) {
	w, err := createHashed(path)
	if err != nil {
		return nil, fileDigest{}, err
	}
	defer w.close()
	seen := make(map[digest]bool, len(keys))
	list := make([]packedFrame, 0, len(keys))
	buf := make([]byte, 0, 1<<16)
	for _, key := range keys {
		if seen[key] {
			continue
		}
		seen[key] = true
		f, ok := set.get(key)
		if !ok {
			return nil, fileDigest{}, fmt.Errorf("%s: no frame for %s", name, key)
		}
		if int64(cap(buf)) < f.packed {
			buf = make([]byte, 0, f.packed)
		}
		buf = buf[:f.packed]
		if _, err := f.in.ReadAt(buf, f.offset); err != nil {
			return nil, fileDigest{}, fmt.Errorf("%s: copy a frame: %w", name, err)
		}
		list = append(list, packedFrame{key, frameRecord{offset: uint64(w.size), packed: uint64(f.packed), raw: uint64(f.raw), sha256: append([]byte(nil), f.sha256[:]...)}})
		if _, err := w.Write(buf); err != nil {
			return nil, fileDigest{}, err
		}
		if err := ctx.Err(); err != nil {
			return nil, fileDigest{}, err
		}
	}
	rec, err := w.finish(name)
	return list, rec, err
}

// hashedFile is a file that is hashed as it is written.
type hashedFile struct {
	file *os.File
	buf  *bufio.Writer
	sum  hash.Hash
	size int64
}

func createHashed(path string) (*hashedFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &hashedFile{file: f, buf: bufio.NewWriterSize(f, 1<<18), sum: sha256.New()}, nil
}

func (w *hashedFile) Write(p []byte) (int, error) {
	w.sum.Write(p)
	n, err := w.buf.Write(p)
	w.size += int64(n)
	return n, err
}

// finish flushes, syncs and closes the file.
func (w *hashedFile) finish(name string) (fileDigest, error) {
	err := errors.Join(w.buf.Flush(), w.file.Sync(), w.file.Close())
	w.file = nil
	return fileDigest{Name: name, Size: w.size, SHA256: hex.EncodeToString(w.sum.Sum(nil))}, err
}

// close abandons an unfinished file; after finish it does nothing.
func (w *hashedFile) close() {
	if w.file != nil {
		w.file.Close()
	}
}

// unpacker decompresses frames; it may be shared by goroutines.
type unpacker struct{ decoder *zstd.Decoder }

func newUnpacker() (*unpacker, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(1<<30))
	return &unpacker{d}, err
}

func (u *unpacker) close() { u.decoder.Close() }

// unpack reads a frame and checks its size and digest.
func (u *unpacker) unpack(in io.ReaderAt, limit int64, f *frameRecord) ([]byte, error) {
	if f.offset > uint64(limit) || f.packed > uint64(limit)-f.offset || f.raw > 1<<31 {
		return nil, errMalformed
	}
	packed := make([]byte, f.packed)
	if _, err := in.ReadAt(packed, int64(f.offset)); err != nil {
		return nil, err
	}
	// The frame's own claim of its size decides what the decoder allocates:
	// believe it only where it is what graph.db says.
	var h zstd.Header
	if err := h.Decode(packed); err != nil {
		return nil, err
	}
	if h.HasFCS && h.FrameContentSize != f.raw {
		return nil, errMalformed
	}
	raw, err := u.decoder.DecodeAll(packed, make([]byte, 0, f.raw))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(raw); uint64(len(raw)) != f.raw || string(sum[:]) != string(f.sha256) {
		return nil, errMalformed
	}
	return raw, nil
}
