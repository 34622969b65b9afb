// Has a part of the page run again after a while, as long as it is drawn: see frame/findings.py.

/** @import { Call } from "../shared/types.js" */

/** @param {Call<{ look: number, after: number }>} given */
export default function ({ data, setTriggerValue }) {
  // Of two parts that ask at once Streamlit hears one: so they ask at odd times, and until they are heard.
  const every = data.after * (1 + Math.random() / 3);
  const timer = setInterval(() => setTriggerValue("again", data.look), every);
  return () => clearInterval(timer);
}
