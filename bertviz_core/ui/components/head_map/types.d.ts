// What the server sends of all heads, before their shares (ui/views/heads.py).

/** What a head is worth, as it is written, and the colours of its cell; no text as long as it is not known. */
export interface Mark {
  text: string;
  back: string;
  ink: string;
}

/** shape: layers, heads, tokens; ends: of the scale of what heads are worth, and its unit; none where there is none. */
export interface MapData {
  shape: [layers: number, heads: number, tokens: number];
  chosen: [layer: number, head: number];
  notes: string[][];
  worth: Mark[] | null;
  ends: string[];
  scale: [at: number, color: string][];
  negative: string;
  zero: string;
  colors: Record<string, string>;
}
