// Has a part of the page run again after a while, as long as it is drawn: see frame/findings.py.

/** @import { Call } from "../shared/types.js" */

/** @param {Call<{ look: number, after: number }, Element & { again?: number }>} given */
export default function ({ data, parentElement, setTriggerValue }) {
  // This is called again for every look, mostly without the end of the one before: one timer an element.
  clearInterval(parentElement.again);
  // Of two parts that ask at once Streamlit hears one: so they ask at odd times, and until they are heard.
  const every = data.after * (1 + Math.random() / 3);
  const timer = setInterval(() => {
    if (parentElement.isConnected) setTriggerValue("again", data.look);
    else clearInterval(timer);
  }, every);
  parentElement.again = timer;
  return () => clearInterval(timer);
}
