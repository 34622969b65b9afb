// How a phone hears of its room: by events while they come, by asking while they do not.

import { ask } from "./parts.js";

/** @import { Room } from "./types.d.ts" */

const ASK_MS = 2000, SILENT_MS = 25_000;

/**
 * Tells of every change of a room until it has gone; begins at once.
 * @param {string} path of the room
 * @param {(room: Room) => void} hear
 * @param {(error: Error | null) => void} fail told what went wrong, and null when it is well again
 */
export function follow(path, hear, fail) {
  let heard = Date.now(), over = false;
  /** @type {EventSource | null} */
  let events = null;

  /** @param {Room} room */
  const tell = (room) => {
    heard = Date.now();
    fail(null);
    if (room.gone) end();
    hear(room);
  };
  const end = () => {
    over = true;
    events?.close();
  };
  const listen = () => {
    events?.close();
    events = new EventSource(`${path}/events`);
    events.onmessage = (event) => tell(JSON.parse(event.data));
  };
  const look = async () => {
    try {
      tell(await ask(`${path}/state`));
    } catch (error) {
      if (/** @type {{ status?: number }} */ (error).status === 404) tell(/** @type {Room} */ ({ gone: true }));
      else fail(/** @type {Error} */ (error));
    }
  };
  // A phone that slept has an end of a connection that leads nowhere: what it missed is asked for, and it listens anew.
  const wake = () => {
    if (over || document.visibilityState !== "visible") return;
    look();
    if (events?.readyState !== EventSource.OPEN || Date.now() - heard > SILENT_MS) listen();
  };
  const watch = async () => {
    if (over) return;
    if (events?.readyState === EventSource.CLOSED) listen();
    if (events?.readyState !== EventSource.OPEN && document.visibilityState === "visible") await look();
    setTimeout(watch, ASK_MS);
  };
  document.addEventListener("visibilitychange", wake);
  addEventListener("online", wake);
  addEventListener("pageshow", wake);
  listen();
  look().then(() => setTimeout(watch, ASK_MS));
}
