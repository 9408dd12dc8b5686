package oracle

// Schema names the form of the files that Read reads.
const Schema = "gaprof-oracle/1"

// Head is what all files of a case begin with.
type Head struct {
	Schema       string  `json:"schema"`             // Schema; anything else is refused
	Case         string  `json:"case"`               // its name
	Model        string  `json:"model"`              // mlp or transformer
	Kind         string  `json:"kind"`               // inputs or expected
	Dtype        string  `json:"dtype"`              // f64 or f32; "" in inputs
	Config       Config  `json:"config"`             // the size of the model
	WorldSize    int     `json:"world_size"`         // ranks, at least 1
	Accumulation int     `json:"accumulation_steps"` // micro-batches of a step on each rank, at least 1
	ValidTokens  int64   `json:"total_valid_tokens"` // N: targets that count, of all ranks and micro-batches
	Params       []Param `json:"param_order"`        // in the order of gradients
}

// Param is a parameter of the model.
type Param struct {
	Name  string `json:"name"`  // unique in the model
	Shape []int  `json:"shape"` // empty for a scalar
}

// Numel is the number of elements.
func (p Param) Numel() int {
	n := 1
	for _, d := range p.Shape {
		n *= d
	}
	return n
}

// Config is the size of a model: V vocabulary, D width, H heads, L layers, F hidden
// width, T positions, B rows of a micro-batch. H and L are 0 for the mlp.
type Config struct {
	V, D, H, L, F, T, B int
	LNEps               float64 `json:"ln_eps"`       // epsilon of layer norm
	Gelu                string  `json:"gelu"`         // its approximation, "" without a gelu
	IgnoreIndex         int     `json:"ignore_index"` // the target that does not count
	TiedHead            bool    `json:"tied_head"`    // the head shares the weights of the embedding
}

// Inputs is what a loop starts from.
type Inputs struct {
	Head
	Weights map[string]Floats `json:"weights"` // by parameter, each of Param.Numel elements
	Data    [][]Batch         `json:"data"`    // by rank and micro-batch
}

// Batch is one micro-batch of one rank: B rows of T positions each. Targets are shifted
// labels: position t predicts Targets[t], or nothing where that is the ignore index.
type Batch struct {
	Tokens   [][]int `json:"tokens"`     // what the model reads
	Labels   [][]int `json:"labels"`     // of the same positions, before the shift
	Targets  [][]int `json:"targets"`    // labels of the positions after them
	Valid    int64   `json:"n_valid"`    // targets that count
	Preshift int64   `json:"n_preshift"` // labels that would count without the shift
}
