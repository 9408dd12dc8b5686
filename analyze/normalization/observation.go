package normalization

// Answer is yes, no or unknown.
type Answer int8

// The answers.
const (
	NotKnown Answer = iota
	Yes
	No
)

// Observation is what traces and logs show of how one step is normalized. What is not
// known has its zero value, numbers NaN.
type Observation struct {
	// What is declared and counted.
	Declared Mode    // by the user; "" not
	Counts   *Counts // nil without token counts
	Whole    bool    // Counts are of whole steps: one number a rank for all its micro-batches

	// What the trace shows of the loop, which is alike for all steps.
	Micro    int     // micro-batches of a full step; 0 unknown
	Ranks    int     // ranks that reduce gradients together; 0 unknown
	Mean     Answer  // the loss of a micro-batch is a mean that nothing multiplies by a count
	Divided  Answer  // that loss is divided by a number
	Divisor  float64 // the number, NaN where the trace does not hold it
	Scaled   Answer  // a pass multiplies the gradients
	Hidden   bool    // a factor may hide where traces do not show it: in a fused optimizer, in FSDP's reduction
	Reduced  Answer  // the count of tokens is reduced over ranks, or known otherwise
	Inverted Answer  // something is divided by a count

	// What logs and gradients say of the step.
	Sums      [][]float64 // the summed losses of micro-batches, in the shape of Counts.Tokens; nil unknown
	Optimised float64     // the number whose gradient the step follows, as the run logs it
	Logged    float64     // what the run prints
	Gradients *Cause      // nil where none were compared
}
