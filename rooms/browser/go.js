// A teacher's link: gives each student one of its sentences, and leads to the lesson. What it says stands behind the #,
// which no server is told.

import { choose, read, write } from "./link.js";
import { make } from "./parts.js";

const link = read(location.hash);
if (link) {
  let kept = null;
  try {
    kept = sessionStorage.getItem(location.hash);
  } catch {
    // Without a store a reload may give another sentence.
  }
  const sentence = choose(link.sentences, kept, Math.random());
  try {
    sessionStorage.setItem(location.hash, sentence);
  } catch {
    // As above.
  }
  location.replace(write(link, sentence));
} else {
  document.getElementById("main")?.replaceChildren(make("h1", {}, "This link leads nowhere"), make("p", {}, "It was cut on its way. Ask for it again, or "),
    make("a", { class: "button", href: "../learn" }, "All lessons"));
}
