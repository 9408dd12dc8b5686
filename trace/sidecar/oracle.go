package sidecar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// OracleSchema is the form of the files that ReadOracle reads: inputs of training loops
// and the gradients that each loop must produce.
const OracleSchema = "gaprof-oracle/1"

// Floats is a flat list of numbers, row-major where it is a tensor; null is NaN.
type Floats []float64

// UnmarshalJSON reads an array of numbers and nulls.
func (f *Floats) UnmarshalJSON(text []byte) error {
	text = bytes.TrimSpace(text)
	if string(text) == "null" {
		return nil
	}
	if len(text) < 2 || text[0] != '[' {
		return fmt.Errorf("%.20s is not an array of numbers", text)
	}
	text = bytes.TrimSpace(text[1 : len(text)-1])
	list := make(Floats, 0, bytes.Count(text, []byte(","))+1)
	for len(text) > 0 {
		word, rest, _ := bytes.Cut(text, []byte(","))
		v, err := parseNumber(string(bytes.TrimSpace(word)))
		if err != nil {
			return err
		}
		list, text = append(list, v), rest
	}
	*f = list
	return nil
}

// Number is a number; null and absent are NaN.
type Number struct {
	set   bool
	value float64
}

// UnmarshalJSON reads a number or null.
func (n *Number) UnmarshalJSON(text []byte) error {
	v, err := parseNumber(string(text))
	n.set, n.value = err == nil, v
	return err
}

// Float is the number, NaN where it is not known.
func (n Number) Float() float64 {
	if !n.set {
		return math.NaN()
	}
	return n.value
}

func parseNumber(word string) (float64, error) {
	if word == "null" {
		return math.NaN(), nil
	}
	v, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return 0, fmt.Errorf("%.20s is not a number", word)
	}
	return v, nil
}

// OracleParam is a parameter: its name and shape.
type OracleParam struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
}

// Numel is the number of elements.
func (p OracleParam) Numel() int {
	n := 1
	for _, d := range p.Shape {
		n *= d
	}
	return n
}

// OracleConfig is the size of a model: V vocabulary, D width, H heads, L layers, F hidden
// width, T positions, B rows of a micro-batch. H and L are 0 for the mlp.
type OracleConfig struct {
	V, D, H, L, F, T, B int
	LNEps               float64 `json:"ln_eps"`
	Gelu                string  `json:"gelu"`
	IgnoreIndex         int     `json:"ignore_index"`
	TiedHead            bool    `json:"tied_head"`
}

// OracleHead is what all files of a case begin with.
type OracleHead struct {
	Schema       string        `json:"schema"`
	Case         string        `json:"case"`
	Model        string        `json:"model"` // mlp or transformer
	Kind         string        `json:"kind"`  // inputs or expected
	Dtype        string        `json:"dtype"` // f64 or f32, of expected
	Config       OracleConfig  `json:"config"`
	WorldSize    int           `json:"world_size"`
	Accumulation int           `json:"accumulation_steps"`
	ValidTokens  int64         `json:"total_valid_tokens"`
	Params       []OracleParam `json:"param_order"` // the order of gradients
}

// OracleBatch is one micro-batch of one rank. Targets are shifted labels: position t
// predicts Targets[t], or nothing where that is the ignore index.
type OracleBatch struct {
	Tokens   [][]int `json:"tokens"`
	Labels   [][]int `json:"labels"`
	Targets  [][]int `json:"targets"`
	Valid    int64   `json:"n_valid"`    // targets that count
	Preshift int64   `json:"n_preshift"` // labels that would
}

// OracleInputs is what a loop starts from; Data is by rank and micro-batch.
type OracleInputs struct {
	OracleHead
	Weights map[string]Floats `json:"weights"`
	Data    [][]OracleBatch   `json:"data"`
}

// OracleMicro is what one micro-batch gives: the summed loss and, in f64, its gradient.
type OracleMicro struct {
	Valid    int64             `json:"n_valid"`
	Preshift int64             `json:"n_preshift"`
	LossSum  Number            `json:"loss_sum"`
	LossMean Number            `json:"loss_mean"`
	GradL2   Number            `json:"grad_l2"`
	Grads    map[string]Floats `json:"grads"`
}

// OracleDeviation is a gradient against the right one, which Reference names. The
// figures are those of normalization.Compare.
type OracleDeviation struct {
	Reference string  `json:"reference"`
	NormRatio float64 `json:"norm_ratio"`
	Cosine    float64 `json:"cosine"`
	MaxRel    float64 `json:"max_rel"`
	RelL2     float64 `json:"rel_l2"`
	AdamW     float64 `json:"adamw_first_update_rel_l2"`
}

// OracleVariant is the gradient that every rank holds before the optimizer step of one
// loop. Coeff[r][j] is the weight of the gradient of the summed loss of micro-batch j
// of rank r. Grads is always filled, of multiples of another variant too.
type OracleVariant struct {
	Coeff    [][]float64       `json:"coeff"`
	GradL2   float64           `json:"grad_l2"`
	Logged   Number            `json:"loop_logged_loss"` // NaN: not logged, or NaN
	Grads    map[string]Floats `json:"grads"`
	Versus   OracleDeviation   `json:"vs_correct"`
	Multiple *OracleMultiple   `json:"multiple_of"`
}

// OracleMultiple says that a gradient is Factor times that of another variant.
type OracleMultiple struct {
	Variant string  `json:"variant"`
	Factor  float64 `json:"factor"`
}

// OracleLosses are the ways to average the losses of one step.
type OracleLosses struct {
	GlobalMean       Number `json:"global_mean"` // sum of losses / all tokens: the optimised one
	PerRankMean      Floats `json:"per_rank_mean"`
	MeanOfRankMeans  Number `json:"mean_of_rank_means"`
	SumOfRankMeans   Number `json:"sum_of_rank_means"`
	MeanOfMicroMeans Number `json:"mean_of_micro_means_skip_empty"`
}

// OracleClip is clip_grad_norm_ on the right gradient.
type OracleClip struct {
	MaxNorm   float64 `json:"max_norm"`
	TotalNorm float64 `json:"total_norm"`
	Coef      float64 `json:"coef"`
}

// OracleTrajectory is some steps of an optimizer on the same data with the right
// gradient. ParamsAfter is of f64 and AdamW only.
type OracleTrajectory struct {
	LossBefore  Floats            `json:"loss_before_step"`
	GradNorm    Floats            `json:"grad_norm"`
	ParamsAfter map[string]Floats `json:"params_after"`
}

// OracleOptimizer is the settings of an optimizer of Trajectory.
type OracleOptimizer struct {
	LR          float64 `json:"lr"`
	Beta1       float64 `json:"beta1"`
	Beta2       float64 `json:"beta2"`
	Eps         float64 `json:"eps"`
	WeightDecay float64 `json:"weight_decay"`
	Steps       int     `json:"steps"`
}

// OracleExpected is what all loops over one case give in one precision. Micro is by
// rank and micro-batch; Trajectory and Optimizers have the keys adamw and sgd.
type OracleExpected struct {
	OracleHead
	Variants   map[string]OracleVariant    `json:"variants"`
	Micro      [][]OracleMicro             `json:"micro"`
	Losses     OracleLosses                `json:"losses"`
	Clip       OracleClip                  `json:"clip"`
	Trajectory map[string]OracleTrajectory `json:"trajectory"`
	Optimizers map[string]OracleOptimizer  `json:"optimizers"`
}

// VariantNames are the names of the variants in order.
func (e *OracleExpected) VariantNames() []string {
	names := make([]string, 0, len(e.Variants))
	for name := range e.Variants {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// OracleCase is the three files of one case; F64 or F32 is nil where its file is absent.
type OracleCase struct {
	Name   string // of the files, before _inputs.json
	Inputs *OracleInputs
	F64    *OracleExpected
	F32    *OracleExpected
}

// ReadOracle reads all cases of a folder, NAME_inputs.json with NAME_expected_f64.json
// and NAME_expected_f32.json, in the order of their names. What contradicts itself is
// refused. Errors are *trace.FormatError or those of the file system.
func ReadOracle(dir string) ([]OracleCase, error) {
	files, err := filesIn(dir, "_inputs.json")
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		if _, err := os.Stat(dir); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s holds no *_inputs.json: %w", dir, os.ErrNotExist)
	}
	var cases []OracleCase
	for _, file := range files {
		c := OracleCase{Name: strings.TrimSuffix(filepath.Base(file), "_inputs.json")}
		if c.Inputs, err = readInputs(file); err != nil {
			return nil, err
		}
		for _, precision := range []struct {
			dtype string
			to    **OracleExpected
		}{{"f64", &c.F64}, {"f32", &c.F32}} {
			name := filepath.Join(dir, c.Name+"_expected_"+precision.dtype+".json")
			if *precision.to, err = readExpected(name, precision.dtype, c.Inputs); err != nil && !errors.Is(err, os.ErrNotExist) {
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

// readJSON reads one file into a value.
func readJSON(file string, into any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return &trace.FormatError{File: file, Offset: jsonOffset(err), Reason: err.Error()}
	}
	return nil
}

// jsonOffset is where an error of encoding/json stands, in bytes, 0 where it does not say.
func jsonOffset(err error) int64 {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return syntax.Offset
	case errors.As(err, &kind):
		return kind.Offset
	}
	return 0
}

func readInputs(file string) (*OracleInputs, error) {
	in := new(OracleInputs)
	if err := readJSON(file, in); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, &trace.FormatError{File: file, Reason: err.Error()}
	}
	return in, nil
}

func readExpected(file, dtype string, in *OracleInputs) (*OracleExpected, error) {
	e := new(OracleExpected)
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
