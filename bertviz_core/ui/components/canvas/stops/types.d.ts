// The numbers of each stop as the server works them out, as far as its picture uses them; what they mean is said in
// analysis/stop_numbers.py.

import type { Digits, Neuron, Term } from "../types.js";

export interface Cut {
  pieces: [index: number, text: string, id: number][];
  total: number;
  padding: number;
  vocabulary: number;
}

export interface LookedUp {
  component: number;
  rows: [table: string, index: number, value: number, put: boolean][];
  sum: number;
  normalized: number;
  adds_up: boolean;
  digits: Digits;
}

export interface Offered {
  query: number;
  key: number;
  value: number;
  of: number;
}

export interface Compared {
  key: number;
  terms: Term[];
  sum: number;
  scale: number;
  score: number;
  digits: Digits;
  adds_up: boolean;
}

export interface Divided {
  of: number[];
  scores: number[];
  exponentials: number[];
  shares: number[];
  denominator: number;
  others: number;
  digits: Digits;
}

export interface Collected {
  component: number;
  hidden: number;
  of: number[];
  shares: number[];
  values: number[];
  largest: number;
  others: number;
  sum: number;
  digits: Digits;
}

export interface Joined {
  component: number;
  head: number;
  heads: number;
  width: number;
  term: Term;
  vector: number[];
  weights: number[];
  parts: number[];
  product: number;
  bias: number;
  value: number;
  digits: Digits;
  adds_up: boolean;
}

export interface Normalized {
  component: number;
  residual: boolean;
  skip: number;
  added: number;
  sum: number;
  mean: number;
  centered: number;
  deviation: number;
  normal: number;
  gamma: number;
  scaled: number;
  beta: number;
  value: number;
  normal_put: boolean;
  put: boolean;
  digits: Digits;
  adds_up: boolean;
}

export interface Fired {
  strongest: Neuron[];
  alone: boolean;
  damped: Neuron | null;
  shut: Neuron | null;
  active: number;
  total: number;
  function: string;
  put: boolean;
  curve: [before: number, after: number][];
  onwards: Then;
}

export interface Then {
  whole: boolean;
  component: number;
  skip: number;
  written: number;
  sum: number;
  value: number;
  digits: Digits;
}

export interface Logit {
  terms: Term[];
  rest: number;
  width: number;
  product: number;
  bias: number;
  value: number;
  digits: Digits;
  adds_up: boolean;
}

export interface Answered {
  component: number;
  last: number;
  words: [word: string, score: number, term: number, share: number, id: number][];
  denominator: number;
  others: number;
  total: number;
  logit: Logit;
  digits: Digits;
}

export interface Ended {
  component: number;
  value: number;
  width: number;
}
