/** What the server tells of a room: `tell_phones` and `tell_lead` of rooms/state.py. */

export type Kind = "choose" | "pick" | "number";

export interface Question {
  title: string; text: string; task: string; kind: Kind;
  answers: { label: string; token: number | null }[];
  tokens: string[]; here: number | null;
}

/** The answer, once it is told. says, shown: of each answer. */
export interface Told {
  key: number; within: number; headline: string; right: string; wrong: string; says: string[]; shown: string[]; below: string; was: string; link: string;
}

export interface Room {
  gone?: true;
  code: string; version: number; title: string; place: number; count: number; stage: "ask" | "shown" | "told"; vote: number; over: boolean;
  ends: number; question?: Question; told?: Told;
}

/** How often each answer was given; of numbers the number, how often, and whether it is right. */
export type Counts = number[] | [string, number, boolean][];

export interface Row {
  place: number; title: string; answers: number; right: number; wrong: string; times: number; of: number; misconception: string;
}

export interface Lead extends Room {
  line: string; link: string; locked: boolean; bars: boolean; phones: number; answered?: number; counts?: Counts; right?: number;
  first?: number; after?: Row[]; tops?: [string, string][]; why?: string; reach: string; alone: boolean;
}
