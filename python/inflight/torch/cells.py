"""Implementations, from plain operations, of those that differ between CUDA and CPU: recurrent cells, and operations
that keep less for backward."""

import torch


def _gates(input_gates, hidden_gates, input_bias, hidden_bias):
    if input_bias is not None:
        input_gates = input_gates + input_bias
        hidden_gates = hidden_gates + hidden_bias
    return input_gates, hidden_gates


def lstm_cell(input_gates, hidden_gates, cx, input_bias=None, hidden_bias=None):
    ours, theirs = _gates(input_gates, hidden_gates, input_bias, hidden_bias)
    i, f, g, o = (ours + theirs).chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    return o * cy.tanh(), cy, torch.cat((i, f, g, o), 1)


def lstm_cell_backward(grad_hy, grad_cy, cx, cy, workspace, has_bias):
    i, f, g, o = workspace.chunk(4, 1)
    grad_hy = torch.zeros_like(cy) if grad_hy is None else grad_hy
    t = cy.tanh()
    grad_c = grad_hy * o * (1 - t * t)
    if grad_cy is not None:
        grad_c = grad_c + grad_cy
    gates = torch.cat((grad_c * g * i * (1 - i), grad_c * cx * f * (1 - f), grad_c * i * (1 - g * g),
                       grad_hy * t * o * (1 - o)), 1)
    return gates, grad_c * f, gates.sum(0) if has_bias else None


def gru_cell(input_gates, hidden_gates, hx, input_bias=None, hidden_bias=None):
    ours, theirs = _gates(input_gates, hidden_gates, input_bias, hidden_bias)
    ir, iz, inew = ours.chunk(3, 1)
    hr, hz, hn = theirs.chunk(3, 1)
    r, z = (ir + hr).sigmoid(), (iz + hz).sigmoid()
    n = (inew + r * hn).tanh()
    return n + z * (hx - n), torch.cat((r, z, n, hx, hn), 1)


def gru_cell_backward(grad_hy, workspace, has_bias):
    r, z, n, hx, hn = workspace.chunk(5, 1)
    grad_n = grad_hy * (1 - z) * (1 - n * n)
    grad_r = grad_n * hn * r * (1 - r)
    grad_z = grad_hy * (hx - n) * z * (1 - z)
    ours, theirs = torch.cat((grad_r, grad_z, grad_n), 1), torch.cat((grad_r, grad_z, grad_n * r), 1)
    biases = (ours.sum(0), theirs.sum(0)) if has_bias else (None, None)
    return ours, theirs, grad_hy * z, *biases


def log_sigmoid_backward(grad, x, buffer):
    """The CPU's kernel expects the forward result in `buffer`, which CUDA's forward leaves empty."""
    return grad * (-x).sigmoid()


CELLS = {"_thnn_fused_lstm_cell": lstm_cell, "_thnn_fused_lstm_cell_backward_impl": lstm_cell_backward,
         "_thnn_fused_gru_cell": gru_cell, "_thnn_fused_gru_cell_backward": gru_cell_backward,
         "log_sigmoid_backward": log_sigmoid_backward}
