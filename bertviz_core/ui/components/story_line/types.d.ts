// What the server sends of a story (ui/views/story.py).

/** part, share: of the value, what leads on from there. */
export interface StoryStop {
  name: string;
  place: string;
  value: string;
  part: string;
  share: number;
  lane: number;
  color: string;
}

export interface StoryData {
  lanes: string[];
  stops: StoryStop[];
  chosen: number;
  colors: Record<string, string>;
}
