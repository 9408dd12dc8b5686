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

// naming is one thing that a file says of a process or a track; of two that say
// different things the later one counts.
type naming struct {
	what  namingKind
	pid   StringID
	track TrackID
	text  string
	num   int64
}

type namingKind uint8

const (
	processName namingKind = iota
	processTags
	processSort
	threadName
	threadSort
)

// NameProcess sets the name of a process on all of its tracks, present and to come.
func (b *Builder) NameProcess(pid StringID, name string) {
	b.name(naming{what: processName, pid: pid, text: name})
}

// TagProcess sets the labels of a process, such as "GPU 0".
func (b *Builder) TagProcess(pid StringID, tags string) {
	b.name(naming{what: processTags, pid: pid, text: tags})
}

// SortProcess sets where viewers put a process.
func (b *Builder) SortProcess(pid StringID, index int64) {
	b.name(naming{what: processSort, pid: pid, num: index})
}

// SortThread sets where viewers put a track within its process.
func (b *Builder) SortThread(id TrackID, index int64) {
	b.name(naming{what: threadSort, track: id, num: index})
}

// NameThread sets the name of a track.
func (b *Builder) NameThread(id TrackID, name string) {
	b.name(naming{what: threadName, track: id, text: name})
}

// name sets what n says; a Builder for parts leaves that to the one that they are
// appended to, because only that one knows what was said before.
func (b *Builder) name(n naming) {
	if b.ids != nil {
		b.named = append(b.named, n)
		return
	}
	switch n.what {
	case threadName:
		b.say(&b.tracks.thread(n.track).name, n.text)
		return
	case threadSort:
		b.tracks.thread(n.track).sort = n.num
		return
	}
	p := b.procs[n.pid]
	switch n.what {
	case processName:
		b.say(&p.name, n.text)
	case processTags:
		b.say(&p.tags, n.text)
	case processSort:
		p.sort = n.num
	}
	b.procs[n.pid] = p
}

// say puts text in the place of what was said before.
func (b *Builder) say(to *string, text string) {
	b.nameText += int64(len(text) - len(*to))
	*to = text
}
