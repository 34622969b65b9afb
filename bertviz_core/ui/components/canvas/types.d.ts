// What the server sends to the canvas (ui/views/overview_canvas.py), and what the picture is made of.

import type { Canvas } from "./canvas.js";
import type { Sketch } from "./sketch.js";

export type Level = "pass" | "layer" | "head";

/** Where in the pass one is: what the URL says of it. stop: of the walk, 0 for none; strip: seen whole. */
export interface Place {
  level: Level;
  layer: number;
  head: number;
  token: number;
  component: number | null;
  stop: number;
  strip: string | null;
}

export interface Token {
  index: number;
  text: string;
  special: boolean;
  piece: boolean;
  second: boolean;
  pad: boolean;
}

/** What was typed where a token stands. apart: whether blanks, or the other text, lie before it. */
export interface Typed {
  text: string;
  apart: boolean;
}

/** The kinds of numbers, each with its colour for ink and for cells. */
export type Kind = string;

export interface Palette {
  text: string;
  faint: string;
  line: string;
  surface: string;
  paper: string;
  accent: string;
  first: string;
  second: string;
  zero: string;
  negative: string;
  kinds: Record<Kind, [ink: string, cell: string]>;
}

/** A tensor, or a part of one, as far as it is drawn. at, mark, put: where its bytes begin; limit: where its scale ends. */
export interface SentStage {
  id: string;
  title: string;
  short: string;
  kind: Kind;
  layer: number | null;
  level: Level;
  address: string;
  columns: number[];
  total: number;
  size: number[];
  at: number;
  mark: number | null;
  put: number | null;
  limit: number;
  signed: boolean;
  formula: string;
  from: string;
  used: string;
  reads: string[];
}

/** A stage with its numbers. axes: [axis, index or placeholder]. */
export interface Stage extends SentStage {
  path: string;
  axes: [axis: string, said: string][];
  values: Float32Array;
  marks: Uint8Array | null;
  puts: Uint8Array | null;
}

/** A cell of a stage, as far as it has it: places in the window of tokens, among the stage's columns, and the head. */
export interface Where {
  row: number;
  column?: number;
  key?: number;
  head?: number;
}

/** What stands at a point of the picture. */
export interface Target {
  part: string;
  where?: Where;
  stage?: Stage;
  layer?: number;
  word?: number;
  strip?: string;
}

/** Where the keyboard is. index: among the places of its part along a row. */
export interface Cursor extends Target {
  index: number;
  where: Where;
}

/** A cell that is drawn. */
export interface Cell {
  stage: Stage;
  where: Where;
}

/** What is not dimmed, ringed or outlined: a part, or rows, columns and cells of it. */
export interface Region extends Partial<Where> {
  part: string;
}

export interface Word {
  word: string;
  share: number;
  id: number;
  address: string;
}

/** The likeliest word at a token, and how many are as likely. */
export interface FirstWord extends Word {
  tied: number;
}

export interface Share {
  before: number;
  after: number;
}

/** How many decimals the numbers of a calculation are written with. */
export interface Digits {
  total: number;
  terms: number;
  factors: number;
  exact: boolean;
}

/** Component, two factors, their product, and the decimals that make it right. */
export type Term = [component: number, one: number, other: number, product: number, finer?: number];

export type Neuron = [index: number, before: number, after: number];

export interface Stop {
  name: string;
  title: string;
  kind: Kind;
  level: Level;
  sentence: [text: string, part: string | null][];
  plain: [term: string, meaning: string][];
  lights: string[];
  worked: any; // one of stops/types.d.ts, by the stop's place
}

export interface CanvasData {
  key: string;
  sentence: string;
  pair: string;
  place: Place;
  changed: boolean;
  why: string;
  whole: string[];
  lesson: string;
  letters: (Typed | null)[];
  colors: Palette;
  examples: { name: string; text: string; pair: string }[];
  size: { layers: number; heads: number; width: number; head_width: number; neurons: number };
  window: { start: number; stop: number; total: number };
  tokens: Token[];
  cell: string;
  operands: string[];
  face: string;
  stages: SentStage[];
  most: { layer: number; head: number; token: number; key: number; text: string; share: number; nowhere: boolean };
  outside: Record<string, Share>;
  words: { top: FirstWord[]; best: Word[]; tied: number } | null;
  stops: Stop[];
  bytes: string | Uint8Array;
}

/** In pixels of the picture. */
export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Where a part stands. a: how opaque it is. */
export interface PartBox extends Box {
  a: number;
}

/** How the cells of a strip stand (`layStrip`). */
export interface StripPlace {
  columns: number[];
  w: number;
  h: number;
  box(row: number, i: number): Box;
  find(row: number, x: number, y: number): number | undefined;
}

/** Where everything stands. first: the first row that is drawn; count: how many; lines: that a row of a strip has. */
export interface Frame {
  top: number;
  ceiling: number;
  stubs: number;
  row: number;
  first: number;
  count: number;
  width: number;
  height: number;
  phone: boolean;
  lines: number;
  lifted: number;
  parts: Record<string, PartBox>;
  heads?: { x: number; y: number; size: number }[];
}

/** What the layout has to know (`Canvas.survey`). */
export interface Scene {
  width: number;
  height: number;
  place: Place;
  at: number;
  first?: number;
  rolled: boolean;
  group: number;
  size: CanvasData["size"];
  words: CanvasData["words"];
  rows: number;
  beside: number;
  total: number;
  open: number;
  phone: boolean;
  narrow: boolean;
  covered: number;
  numbers: number;
  shown: number;
  spoken: number[];
  frame?: Frame;
}

/** What is drawn at a level: hidden without width and flex. */
export interface Column<Width = number | ((frame: Frame) => number)> {
  id: string;
  width?: Width;
  flex?: number;
  gap?: number;
  spine?: boolean;
}

/** Attributes of an SVG element; without a value it has none. */
export type Paint = Record<string, string | number | null | undefined>;

export interface TextStyle {
  size?: number;
  at?: string; // start, middle or end
  bold?: boolean | number;
  mono?: boolean;
  fill?: string;
  opacity?: number;
  turn?: number;
  halo?: boolean;
}

/** A step of a calculation (stops/steps.js). */
export interface Step {
  name?: string;
  note?: string;
  sign?: string;
  operand?: number;
  from: number;
  to: number;
  kind: Kind;
  leap?: boolean;
  reached?: string;
}

/** One of what a softmax makes shares of. */
export interface Item {
  name: string;
  share: number;
  term: number;
  score: number;
  faint?: boolean;
  y: number;
}

/** All others together. Their place in the list and their powers of e: where they have one. */
export interface Others {
  name: string;
  share: number;
  listed: { term: number; y: number } | null;
}

/** A block of the stack that the shares make; without an item it is the others'. */
export interface Block {
  name: string;
  share: number;
  item: Item | null;
}

export type Send = (name: string, value: unknown) => void;
export type Draw = (canvas: Canvas, sketch: Sketch) => void;
export type Scale = (value: number) => number;
export type Columns = { factors: { share: number; value: number } | null; end: number };
export type Name = { x: number; y: number; wide: number };

/** The weights of a layer or a head as ribbons. marked: of which a change has moved; depth: how opaque they are. */
export interface Bundle {
  name: string;
  box: PartBox;
  weights: number[];
  marked: boolean[];
  outside?: Share;
  layer: number;
}

/** A bundle as it is drawn. */
export interface DrawnBundle extends Bundle {
  depth: number;
  rows: number[];
}

/** What numbers become shares, from top to bottom, others together as one more. decimals: of the scores. */
export interface Softmax {
  items: Item[];
  others: Others;
  denominator: number;
  kind: Kind;
  titles: [name: string, score: string];
  top: number;
  high: number;
  row: number;
  digits: Digits;
  decimals: number;
}

/** Where the columns of a softmax stand. */
export interface SoftmaxPlace {
  score: number;
  bar: number;
  wide: number;
  stack: number;
}

/** A power of e on its way to its share. */
export interface Power {
  stacked: number;
  tall: number;
  place: SoftmaxPlace;
  longest: number;
  row: number;
  kind: Kind;
  narrow: boolean;
  decimals: number;
  digits: Digits;
}

/** Where the steps of a calculation stand. */
export interface StepChart {
  steps: Step[];
  pitch: number;
  wide: number;
  y: Scale;
  x: Scale;
  names: number;
}

/** Where one step stands. */
export interface StepPlace {
  x: number;
  wide: number;
  pitch: number;
  y: Scale;
  names: number;
  next?: Step;
}

/** A neuron that is told of, and what is said of it. */
export interface ToldNeuron {
  neuron: Neuron;
  role: string;
}

/** A number that is added in a waterfall; wide: in pixels, where it is wider than the others. */
export interface Part {
  value: number;
  wide?: number;
}

/** An element of the page that remembers which HTML was written into it last. */
export type Written = HTMLElement & { written?: string };

/** What a sketch has put, and how. */
export interface Shape {
  element: SVGElement;
  attributes: Paint;
  text?: string;
}

/** What a file holds in a server's place (showing/live.py). colors: of both themes; spots: by layer, head and token. */
export interface Kept {
  theme: string;
  colors: Record<"light" | "dark", Palette>;
  place: Place;
  common: Omit<CanvasData, "stages" | "colors" | "place" | "key" | keyof Omit<Spot, "stages">>;
  stages: Omit<SentStage, "limit">[];
  spots: Record<string, Spot>;
}

/** What is drawn at one place. stages: each by its number in the list of all, and where its scale ends. */
export type Spot = Pick<CanvasData, "most" | "outside" | "words" | "stops" | "cell" | "operands"> & {
  stages: [number: number, limit: number][];
};
