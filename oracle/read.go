package oracle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/internal/jsonerr"
	"github.com/gaprof/gaprof/trace"
)

// Case is the three files of one case; F64 or F32 is nil where its file is absent.
type Case struct {
	Name   string // of the files, before _inputs.json
	Inputs *Inputs
	F64    *Expected // computed in float64
	F32    *Expected // computed in float32
}

// Read reads all cases of a folder, NAME_inputs.json with NAME_expected_f64.json
// and NAME_expected_f32.json, in the order of their names. What contradicts itself is
// refused. Errors are *trace.FormatError or those of the file system.
func Read(dir string) ([]Case, error) {
	files, err := inputsIn(dir)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		if _, err := os.Stat(dir); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s holds no *_inputs.json: %w", dir, os.ErrNotExist)
	}
	var cases []Case
	for _, file := range files {
		c := Case{Name: strings.TrimSuffix(filepath.Base(file), "_inputs.json")}
		if c.Inputs, err = readInputs(file); err != nil {
			return nil, err
		}
		for _, precision := range []struct {
			dtype string
			to    **Expected
		}{{"f64", &c.F64}, {"f32", &c.F32}} {
			name := filepath.Join(dir, c.Name+"_expected_"+precision.dtype+".json")
			*precision.to, err = readExpected(name, precision.dtype, c.Inputs)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, err
			}
		}
		if c.F64 == nil && c.F32 == nil {
			return nil, fmt.Errorf("%s has no *_expected_*.json beside it: %w", file, os.ErrNotExist)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// inputsIn lists the inputs in a folder, by name; none where there is no such folder. The
// folder may have any name, so it is not used as a pattern.
func inputsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var files []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), "_inputs.json") {
			files = append(files, filepath.Join(dir, entry.Name()))
		}
	}
	return files, err
}

// limit bounds one file, and mostMemory what it takes when it is decoded, in bytes: the
// models are small enough to be written as text.
var limit = bounded.Limit{What: "a file of an oracle", Bytes: 64 << 20, Hint: "oracles hold small models"}

const mostMemory = 1 << 30

// readJSON reads one file into a value.
func readJSON(file string, into any) error {
	data, err := bounded.ReadFile(file, limit)
	if err != nil {
		return err
	}
	if err := bounded.Unmarshal(data, into, mostMemory); err != nil {
		return &trace.FormatError{File: file, Offset: jsonerr.Offset(err), Reason: err.Error()}
	}
	return nil
}

func readInputs(file string) (*Inputs, error) {
	in := new(Inputs)
	if err := readJSON(file, in); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, &trace.FormatError{File: file, Reason: err.Error()}
	}
	return in, nil
}

func readExpected(file, dtype string, in *Inputs) (*Expected, error) {
	e := new(Expected)
	if err := readJSON(file, e); err != nil {
		return nil, err
	}
	err := e.check(dtype, in)
	if err == nil {
		err = e.fill()
	}
	if err != nil {
		return nil, &trace.FormatError{File: file, Reason: err.Error()}
	}
	return e, nil
}
