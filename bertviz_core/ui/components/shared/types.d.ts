// Plotly.js as far as we look into it (plotly_inside.js), and what Streamlit calls a component with.

declare global {
  var Plotly: { update(chart: Element, data: object, layout: object, traces?: number[]): unknown } | undefined;
}

export interface Axis {
  _id: string;
  _offset: number;
  _length: number;
  c2p(value: unknown, clipped?: boolean): number;
  c2d(value: unknown): any;
  type?: string;
  side?: string;
  tickmode?: string;
  tickvals?: any[];
  ticktext?: ArrayLike<string>;
  tickangle?: number;
  title?: { text?: string };
}

/** A trace as it is drawn. meta: the address of its cells, or one for each row or point. */
export interface Trace {
  index: number;
  type: string;
  visible: boolean | string;
  meta?: string | string[];
  customdata?: any[];
  text?: string | string[];
  orientation?: string;
  xaxis?: string;
  yaxis?: string;
}

/** A bar or point, or the whole of a heat map, in Plotly's own words. */
export interface Point {
  trace?: Trace;
  [name: string]: any;
}

export interface Drawn {
  trace: Trace;
  points: Point[];
  xaxis: Axis;
  yaxis: Axis;
}

/** The element of a chart. */
export interface Chart extends Element {
  _ev?: { listeners(event: string): Function[] };
  _fullLayout?: any;
  layout?: any;
  data?: any;
  calcdata?: Point[][];
  on?(event: string, handler: Function): void;
  removeListener?(event: string, handler: Function): void;
}

/** The parts of an address, or of a template of one. */
export interface Address {
  path: string;
  index: Map<string, string>;
}

export interface Call<Data, Root = Element> {
  data: Data;
  parentElement: Root;
  setTriggerValue: (name: string, value: unknown) => void;
}

export interface PlotlyPoint {
  curveNumber: number;
  pointNumber: any;
}

export interface PlotlyEvent {
  points: PlotlyPoint[];
  event?: Event;
}

/** A heat map as it is drawn. x, y: where columns and rows begin, and where the last ones end; z: row by row. */
export interface HeatMap {
  trace: { colorscale: [number, string][]; zmin: number; zmax: number; xgap?: number; ygap?: number };
  x: number[];
  y: number[];
  z: (number | undefined)[][];
  xaxis: Axis;
  yaxis: Axis;
}
