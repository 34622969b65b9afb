// What the server sends of something at eleven strengths (ui/frame/strip.py).

/** An answer: its share at every step as part of the longest bar, and that and the difference as they are written;
 * null where a step is not known yet. */
export interface Answer {
  name: string;
  parts: (number | null)[];
  texts: string[];
  differences: string[];
}

/** where: the address that is changed; slides: whether it can be scaled; step: where the slider stands at first, of ten. */
export interface StripData {
  where: string;
  slides: boolean;
  what: string;
  step: number;
  answers: Answer[];
  note: string;
  colors: Record<string, string>;
}
