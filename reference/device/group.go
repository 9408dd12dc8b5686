package device

import "slices"

// Group is a set of ranks that communicate with each other: a process group.
type Group struct {
	Name    string // unique in a run: "0" for all ranks
	Comment string // what it is for: default_pg, mesh_dp_shard
	Ranks   []int  // ascending
}

// Everyone returns the group of all ranks.
func Everyone(world int) Group {
	g := Group{Name: "0", Comment: "default_pg", Ranks: make([]int, world)}
	for i := range g.Ranks {
		g.Ranks[i] = i
	}
	return g
}

// Index returns the position of a rank in the group, -1 if it is not a member.
func (g Group) Index(rank int) int { return slices.Index(g.Ranks, rank) }

// In returns the communicator of the first group of a member with the given comment; that
// of all ranks if there is none.
func (m Member) In(comment string) Communicator {
	i := slices.IndexFunc(m.Groups, func(c Communicator) bool { return c.Group().Comment == comment })
	if i < 0 {
		return m.Comm
	}
	return m.Groups[i]
}
