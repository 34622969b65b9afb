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

/** hidden: what becomes of the story's number with the lane's token hidden, in words; "" where nobody asks. */
export interface StoryLane {
  name: string;
  hidden: string;
}

export interface StoryData {
  lanes: StoryLane[];
  stops: StoryStop[];
  chosen: number;
  colors: Record<string, string>;
}
