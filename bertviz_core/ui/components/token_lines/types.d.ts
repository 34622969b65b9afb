// What the server sends of one head, token to token (ui/panels/token_lines.py).

export type Side = "query" | "key";

export interface LinesToken {
  index: number;
  numbered: boolean;
  text: string;
  special: boolean;
  piece: boolean;
  pad: boolean;
  second: boolean;
}

/** shares, hidden: of each query and key, and of each query; single precision, base64. part: not of all tokens. */
export interface LinesData {
  query: LinesToken[];
  key: LinesToken[];
  shares: string;
  hidden: string;
  part: boolean;
  /** The head whose weights they are, "" where they are no one's. */
  of: string;
  chosen: number;
  captions: Record<Side, string>;
  full: number;
  top: number;
  row: number;
  colors: Record<string, string>;
}
