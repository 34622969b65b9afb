// What the server sends of a lesson (ui/frame/lesson_guide.py).

/** visit: tells visits apart; answers: all of them as text, empty for none; longest: characters of such a text; forgotten: how
 * often all were forgotten in this visit; step: which one is open, as its lesson's name and its
 * number, empty for none; at: what is asked about, as a part of the addresses that a card names, or "tokens" or "map"; stage:
 * "asks", "wrong" or "over"; picks: whether a part of the picture is the answer; proposed: how many answers were proposed by now. */
export interface LessonData {
  visit: string;
  answers: string;
  longest: number;
  forgotten: number;
  step: string;
  number: number;
  at: string;
  stage: string;
  picks: boolean;
  proposed: number;
}
