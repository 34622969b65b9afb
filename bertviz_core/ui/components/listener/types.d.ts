// What the server sends to the listener (ui/walk/way.py), and what charts offer.

/** The address of what is drawn. link: with what decides about it where that is usual as well. */
export interface Said {
  page: string;
  pages: string[];
  query: Record<string, string>;
  link?: Record<string, string>;
}

/** The cell that is explained, its drawn operands and the walk to it, by address; the chosen token; the caption of pictures
 * that are taken away; the theme's colours; the address of all that is drawn (history.js); what ends with the session. */
export interface ListenerData {
  cell: string | null;
  operands: string[];
  way: string[];
  own: boolean;
  token: number;
  place: string;
  caption: { checkpoint?: string; sentence?: string };
  colors: Record<string, string>;
  address: Said | null;
  kept: Kept;
}

/** The session that drew the page; whether it has a training that has begun, and whether it says that one is gone. */
export interface Kept {
  session: string;
  trained: boolean;
  told: boolean;
}

/** A token whose row is lit, and one whose column as a key is. */
export interface Lit {
  row: number;
  key: number;
}

/** A cell of a chart; lists of bars or points have one column. */
export interface Spot {
  row: number;
  column: number;
}

/** In pixels from the chart's corner. */
export interface Mark {
  left: number;
  top: number;
  width: number;
  height: number;
  round?: boolean;
}

export interface Found {
  offer: import("./offer.js").Offer;
  place: Spot;
}

/** Finds where the focus goes on; running: while a script runs. */
export type Follow = (running?: boolean) => Element | null | undefined;
