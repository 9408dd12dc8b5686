package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/reference/optim"
	"github.com/gaprof/gaprof/trace/sidecar"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// mostCheckpointRanks bounds what a damaged file can ask for.
const mostCheckpointRanks = 1 << 16

// readCheckpoint reads what writeCheckpoint wrote.
func readCheckpoint(file string) (*checkpoint, error) {
	s, err := sidecar.OpenSafetensors(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &tracefile.Error{File: file, Reason: "is not there: nothing to go on from",
			Hint: "train with --checkpoint-every N writes it", Err: err}
	}
	if err != nil {
		return nil, err
	}
	defer s.Close()
	bad := func(what string) error { return &tracefile.Error{File: file, Reason: "is no checkpoint: " + what} }
	c := &checkpoint{weights: make(map[string][]float64)}
	ranks, rankErr := strconv.Atoi(s.Meta["ranks"])
	c.steps, err = strconv.Atoi(s.Meta["steps"])
	if err = cmp.Or(err, rankErr); err != nil || s.Meta["format"] != checkpointFormat || c.steps < 1 || ranks < 1 ||
		ranks > mostCheckpointRanks {
		return nil, bad("its format is " + strconv.Quote(s.Meta["format"]))
	}
	updates := make(map[string]int)
	err = errors.Join(json.Unmarshal([]byte(s.Meta["options"]), &c.options),
		json.Unmarshal([]byte(s.Meta["updates"]), &updates))
	if err != nil {
		return nil, bad(err.Error())
	}
	c.moments = make([]map[string]optim.Kept, ranks)
	for i := range c.moments {
		c.moments[i] = make(map[string]optim.Kept)
	}
	for i := range s.Tensors {
		values, err := s.Values(&s.Tensors[i], nil)
		if err != nil {
			return nil, err
		}
		if err := c.take(s.Tensors[i].Name, slices.Clone(values), updates); err != nil {
			return nil, bad(err.Error())
		}
	}
	return c, nil
}

// take sorts in a tensor by its name.
func (c *checkpoint) take(name string, values []float64, updates map[string]int) error {
	what, at, _ := strings.Cut(name, "/")
	if what == "weights" {
		c.weights[at] = values
		return nil
	}
	number, param, _ := strings.Cut(at, "/")
	rank, err := strconv.Atoi(number)
	if err != nil || rank < 0 || rank >= len(c.moments) {
		return fmt.Errorf("tensor %q is of no rank", name)
	}
	kept := c.moments[rank][param]
	kept.Updates = updates[at]
	switch what {
	case "mean":
		kept.Mean = values
	case "square":
		kept.Square = values
	case "master":
		kept.Master = values
	default:
		return fmt.Errorf("tensor %q is unknown", name)
	}
	c.moments[rank][param] = kept
	return nil
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
