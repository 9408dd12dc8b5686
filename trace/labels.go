package trace

// process is what a file says of a process as a whole.
type process struct {
	name, tags string
	sort       int64
}

// thread is what a file says of a track.
type thread struct {
	name string
	sort int64
}

// label is one thing that a file says of a process or a track; of two that say different
// things the later one counts. A Builder for parts keeps labels as such: only the one that
// the parts are appended to knows what was said before.
type label struct {
	what  labelKind
	pid   StringID // of a process
	track TrackID  // of a thread
	text  string   // a name, or tags
	num   int64    // where viewers put it
}

type labelKind uint8

const (
	processName labelKind = iota
	processTags
	processSort
	threadName
	threadSort
)

// ofThread reports whether labels of this kind are about a track and not a process.
func (k labelKind) ofThread() bool { return k == threadName || k == threadSort }

// labelTable holds what a file says of its processes and threads. Its zero value is empty.
type labelTable struct {
	processes map[StringID]process
	threads   []thread // by TrackID, as far as any was named
	text      int64    // bytes of all names and tags
}

// threadOf returns what the file says of a thread, if anything.
func (t *labelTable) threadOf(id TrackID) thread {
	if int(id) >= len(t.threads) {
		return thread{}
	}
	return t.threads[id]
}

// set makes l what counts.
func (t *labelTable) set(l label) {
	if l.what.ofThread() {
		t.setThread(l)
		return
	}
	if t.processes == nil {
		t.processes = make(map[StringID]process)
	}
	p := t.processes[l.pid]
	switch l.what {
	case processName:
		t.replace(&p.name, l.text)
	case processTags:
		t.replace(&p.tags, l.text)
	case processSort:
		p.sort = l.num
	}
	t.processes[l.pid] = p
}

func (t *labelTable) setThread(l label) {
	if n := int(l.track) + 1 - len(t.threads); n > 0 {
		t.threads = append(t.threads, make([]thread, n)...)
	}
	to := &t.threads[l.track]
	if l.what == threadSort {
		to.sort = l.num
		return
	}
	t.replace(&to.name, l.text)
}

// replace puts text in the place of what was said before.
func (t *labelTable) replace(to *string, text string) {
	t.text += int64(len(text) - len(*to))
	*to = text
}

// bytes is what the table takes in memory.
func (t *labelTable) bytes() int64 {
	return int64(len(t.threads))*threadBytes + int64(len(t.processes))*processBytes + t.text
}
