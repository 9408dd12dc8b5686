// Package normalization says by which weights the tokens of a step got into the gradients,
// against 1/N, the weight that all N of them should have, and names what is wrong.
//
// Everything starts from one formula: the gradient that a rank holds before the
// optimizer's step is the sum over ranks r and micro-batches j of c[r][j] * g[r][j],
// where g[r][j] is the gradient of the summed loss of that micro-batch. The right c is
// 1/N. A normalization is a table of c. Functions are pure and give the same bytes for
// the same input; what is not known is NaN here, and null in JSON.
package normalization
