// What the server sends of all heads, before their shares (ui/views/heads.py).

/** shape: layers, heads, tokens; out: the heads that are not of the role that is looked for. */
export interface MapData {
  shape: [layers: number, heads: number, tokens: number];
  chosen: [layer: number, head: number];
  notes: string[][];
  out: boolean[];
  scale: [at: number, color: string][];
  colors: Record<string, string>;
}
